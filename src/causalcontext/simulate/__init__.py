"""The former place of `causalcontext_lab.simulate`, whose names are found here, too."""

from __future__ import annotations

from typing import Any

from causalcontext.satellites import named


def __getattr__(name: str) -> Any:
    place = named("simulate")
    if not hasattr(place, name):
        raise AttributeError(
            f"causalcontext.simulate has no {name!r}; simulators are in {place.__name__}, and the"
            " systems of cc.examples in causalcontext.examples"
        )
    return getattr(place, name)

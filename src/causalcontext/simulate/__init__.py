"""The former place of `causalcontext_lab.simulate`, whose names are found here, too."""

from __future__ import annotations

from typing import Any

from causalcontext.satellites import named


def __getattr__(name: str) -> Any:
    simulators = named("simulate")
    if not hasattr(simulators, name):
        raise AttributeError(
            f"causalcontext.simulate has no {name!r}; simulators are in {simulators.__name__}, and"
            " the systems of cc.examples in causalcontext.examples"
        )
    return getattr(simulators, name)

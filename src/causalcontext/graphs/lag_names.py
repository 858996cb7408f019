"""The names of variables at earlier times: `X(t-1)`; at time t they keep their names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from causalcontext.errors import DataError

_LAGGED = re.compile(r"^(.*)\(t-(\d+)\)$", re.DOTALL)


def at(name: str, lag: int) -> str:
    """The name of a variable so many steps ago.

    >>> at("rain", 2), at("rain", 0)
    ('rain(t-2)', 'rain')
    """
    return name if lag == 0 else f"{name}(t-{lag})"


def split(name: str) -> tuple[str, int]:
    """The variable and the lag of a name.

    >>> split("rain(t-2)"), split("rain")
    (('rain', 2), ('rain', 0))
    """
    match = _LAGGED.match(name)
    return (match[1], int(match[2])) if match else (name, 0)


def window_names(names: Sequence[str], lags: int) -> tuple[str, ...]:
    """All variables at all times of a window, the earliest first."""
    return tuple(at(name, lag) for lag in range(lags, -1, -1) for name in names)


def times(names: Sequence[str]) -> dict[str, dict[str, str | int]]:
    """The variable and the lag of every name of a window graph, as attributes; nothing where no
    name has a lag.

    >>> times(["X(t-1)", "X"])
    {'X(t-1)': {'variable': 'X', 'lag': 1}, 'X': {'variable': 'X', 'lag': 0}}
    """
    if not any(split(name)[1] for name in names):
        return {}
    return {name: {"variable": split(name)[0], "lag": split(name)[1]} for name in names}


def check_plain(names: Sequence[str]) -> None:
    """Return if no name looks like that of a variable at an earlier time."""
    for name in names:
        if split(name)[1]:
            raise DataError(
                f"column {name!r} is named like an earlier value; with lags=... such columns are"
                f" made out of {split(name)[0]!r}: drop or rename it"
            )

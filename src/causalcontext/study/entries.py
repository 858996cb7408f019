"""What the entries of a design may be: every one is checked when the design is made, before anything runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from causalcontext.errors import OptionError, check_level, check_whole

LONGEST_NAME = 100


def check_name(name: object) -> None:
    """Return if a name can be the name of a file in any folder, and of nothing outside of it."""
    if not isinstance(name, str) or not re.fullmatch(r"\w[\w .+=-]*", name) or len(name) > LONGEST_NAME:
        raise OptionError(f"the name of a design is {name!r}, expected letters, digits, spaces and . + = - _, since "
                          "files are called by it")  # fmt: skip


def check_entries(entries: dict[str, Any], checks: dict[str, Callable[[str, object], None]]) -> None:
    """Return if every entry passes its check."""
    for name, check in checks.items():
        check(name, entries[name])


def whole(least: int | None = None) -> Callable[[str, object], None]:
    """A check for whole numbers."""
    return lambda name, value: check_whole(name, value, least)


def whole_or_none(name: str, value: object) -> None:
    """Return if `value` is a whole number from 2, or None."""
    if value is not None:
        check_whole(name, value, 2)


def share(name: str, value: object) -> None:
    """Return if `value` is a number above 0, up to 1."""
    if value != 1 or isinstance(value, bool):
        check_level(name, value)


def number(name: str, value: object) -> None:
    """Return if `value` is a finite number from 0."""
    plain = isinstance(value, int | float | np.floating) and not isinstance(value, bool)
    if not plain or not 0.0 <= value < np.inf:  # type: ignore[operator]
        raise OptionError(f"{name} is {value!r}, expected a number from 0")


def truth(name: str, value: object) -> None:
    """Return if `value` is true or false."""
    if not isinstance(value, bool):
        raise OptionError(f"{name} is {value!r}, expected true or false")


def texts(name: str, value: object) -> None:
    """Return if `value` is a list of words."""
    if not isinstance(value, tuple) or not all(isinstance(entry, str) for entry in value):
        raise OptionError(f"{name} is {value!r}, expected a list of names")


SETTING: dict[str, Callable[[str, object], None]] = {
    "nodes": whole(2), "density": share, "samples": whole(1), "contexts": whole(2), "changes": whole(1), "edits": texts,
    "cycle_length": whole_or_none, "balance": number, "context_noise": number, "exogenous": truth,
    "hidden": whole(0),
}  # fmt: skip
DESIGN: dict[str, Callable[[str, object], None]] = {
    "methods": texts, "knowledge": texts, "repeats": whole(), "seed": whole(0), "alpha": check_level,
}  # fmt: skip

"""Is a value what it should be? Checks of values that were read from a file, to be put together.

A check is a function of a value and of the words for its place, and raises `ValueError` with one sentence:
`each(whole(0))` is a list of whole numbers from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, isfinite
from typing import Any

from causalcontext.kernels.arrays import Values

Check = Callable[[Any, str], None]


def check_range(array: Values, low: float, high: float, where: str) -> None:
    """Return if all numbers of an array lie within a range."""
    if array.size and not (low <= array.min() and array.max() <= high):
        raise ValueError(f"{where} holds a number that is not from {low} to {high}")


def anything(value: Any, where: str) -> None:
    """Whatever it is."""


def text(value: Any, where: str) -> None:
    """A text."""
    demand(isinstance(value, str), value, where, "a text")


def truth(value: Any, where: str) -> None:
    """True or false."""
    demand(isinstance(value, bool), value, where, "true or false")


def whole(low: int | None = None, high: int | None = None) -> Check:
    """A whole number in a range."""

    def check(value: Any, where: str) -> None:
        right = isinstance(value, int) and not isinstance(value, bool)
        right = right and (low is None or value >= low) and (high is None or value <= high)
        endpoints = f" from {low}" if high is None else f" from {low} to {high}"
        demand(right, value, where, f"a whole number{'' if low is None else endpoints}")

    return check


def number(low: float, high: float) -> Check:
    """A number between two others."""

    def check(value: Any, where: str) -> None:
        right = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
        demand(right and low < value < high, value, where, f"a number between {low} and {high}")

    return check


finite = number(-inf, inf)
"""Any number."""


def one_of(*allowed: str) -> Check:
    """One of some texts."""
    known = frozenset(allowed)

    def check(value: Any, where: str) -> None:
        demand(isinstance(value, str) and value in known, value, where, "one of the known words")

    return check


def none_or(inner: Check) -> Check:
    """Nothing, or what another check allows."""
    return lambda value, where: None if value is None else inner(value, where)


def each(inner: Check, least: int = 0, most: int | None = None) -> Check:
    """A list of so many entries, all of one kind."""

    def check(value: Any, where: str) -> None:
        right = isinstance(value, list) and len(value) >= least and (most is None or len(value) <= most)
        demand(right, value, where, f"a list of {least if most == least else f'{least} or more'}")
        for place, entry in enumerate(value):
            inner(entry, f"{where}[{place}]")

    return check


def tuple_of(*inner: Check) -> Check:
    """A list with an entry of its own kind at every place."""

    def check(value: Any, where: str) -> None:
        demand(isinstance(value, list) and len(value) == len(inner), value, where, f"a list of {len(inner)}")
        for place, (entry, entry_check) in enumerate(zip(value, inner, strict=True)):
            entry_check(entry, f"{where}[{place}]")

    return check


def mapping(inner: Check) -> Check:
    """A mapping whose values are all of one kind."""

    def check(value: Any, where: str) -> None:
        demand(isinstance(value, dict), value, where, "a mapping")
        for key, entry in value.items():
            inner(entry, f"{where}.{key}")

    return check


def keys(inner: Mapping[str, Check]) -> Check:
    """A mapping with at least these keys."""

    def check(value: Any, where: str) -> None:
        demand(isinstance(value, dict), value, where or "the file", "a mapping")
        for key, entry_check in inner.items():
            path = f"{where}.{key}" if where else key
            if key not in value:
                raise ValueError(f"{path} is missing")
            entry_check(value[key], path)

    return check


def known_keys(inner: Mapping[str, Check]) -> Check:
    """A mapping of which these keys are as they should be, where it has them."""

    def check(value: Any, where: str) -> None:
        mapping(anything)(value, where)
        keys({key: entry_check for key, entry_check in inner.items() if key in value})(value, where)

    return check


def demand(right: bool, value: Any, where: str, expected: str) -> None:
    """Return if a value is right; else the sentence says what was expected."""
    if not right:
        shown = repr(value)
        raise ValueError(f"{where} is {shown if len(shown) <= 40 else shown[:37] + '...'}, expected {expected}")

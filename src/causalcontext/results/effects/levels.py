"""Which levels an effect compares: a category has no unit, so a cause goes from one level to another.

An effect on a category is the difference of the probability of one of its levels; on an ordered column, of that level
or a higher one. Every number of a table has its levels by name beside it, and in its note.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from causalcontext.data.kinds import Kind
from causalcontext.errors import OptionError, did_you_mean, shortly
from causalcontext.results.effects.estimates import Estimate
from causalcontext.results.effects.mechanics import Mechanics

MOST_LEVELS = 20
"""A cause or an effect with more levels than this is asked about one level at a time."""


class Contrast(NamedTuple):
    """The levels of the cause before and after, and the level of the effect that counts, as codes; -1 for numbers."""

    before: int = -1
    after: int = -1
    of: int = -1

    def signed(self, estimate: Estimate) -> Estimate:
        """The coefficient of a cause with two levels, in the direction that is asked for."""
        return estimate.scaled(-1.0) if self.after < self.before else estimate


def contrasts(mechanics: Mechanics, x: int, y: int, reference: Any = None, of_level: Any = None) -> list[Contrast]:
    """What is compared for one pair: every level of x with its reference, for every level of y."""
    causes, own = mechanics.levels(x), mechanics.levels(y)
    if x in mechanics.contexts or not causes:
        _check_unused(mechanics, x, "reference", reference)
        moves = [(-1, -1)]
    else:
        first = 0 if reference is None else _code(mechanics, x, "reference", reference)
        moves = [(first, code) for code in range(len(causes)) if code != first]
    if not own:
        _check_unused(mechanics, y, "of_level", of_level)
        counted = [-1]
    elif of_level is not None:
        counted = [_code(mechanics, y, "of_level", of_level)]
    else:
        counted = list(range(1 if len(own) == 2 or mechanics.kind(y) is Kind.ORDERED else 0, len(own)))
    if mechanics.kind(y) is Kind.ORDERED and counted == [0]:
        raise OptionError(f"of_level is {of_level!r}, the lowest level of {mechanics.name(y)}: all cases have it or a "
                          "higher one; name a higher level")  # fmt: skip
    for name, option, found in ((mechanics.name(x), "reference", moves), (mechanics.name(y), "of_level", counted)):
        if len(found) > MOST_LEVELS:
            raise OptionError(f"{name} has more than {MOST_LEVELS} levels, too many to compare them all"
                              + (f"; name one by {option}=..." if option == "of_level" else ""))  # fmt: skip
    return [Contrast(*move, of) for move in moves for of in counted]


def named_levels(mechanics: Mechanics, x: int, y: int, contrast: Contrast) -> tuple[Any, Any, Any]:
    """The level of x, the one that it is compared with, and that of y, by name; None for numbers."""
    causes, own = mechanics.levels(x), mechanics.levels(y)
    before, after = (causes[code] if code >= 0 else None for code in (contrast.before, contrast.after))
    return after, before, own[contrast.of] if contrast.of >= 0 else None


def level_words(mechanics: Mechanics, x: int, y: int, contrast: Contrast) -> str:
    """The levels in words; empty for numbers."""
    return "; ".join(_words(mechanics, x, y, contrast))


def _words(mechanics: Mechanics, x: int, y: int, contrast: Contrast) -> Iterator[str]:
    after, before, of = named_levels(mechanics, x, y, contrast)
    if contrast.of >= 0:
        higher = mechanics.kind(y) is Kind.ORDERED and contrast.of < len(mechanics.levels(y)) - 1
        yield f"the probability of {mechanics.name(y)} = {of}" + (" or higher" if higher else "")
    if contrast.after >= 0:
        yield f"{mechanics.name(x)} = {after} instead of {before}"


def _code(mechanics: Mechanics, variable: int, option: str, level: Any) -> int:
    """The code of a level that is named, by its value or by the text of it."""
    levels = mechanics.levels(variable)
    found = [code for code, own in enumerate(levels) if own == level or str(own) == level]
    if len(found) != 1:
        known = did_you_mean(str(level), [str(one) for one in levels])
        raise OptionError(f"{option} is {shortly(level)}, which is no level of {mechanics.name(variable)}{known}")
    return found[0]


def _check_unused(mechanics: Mechanics, variable: int, option: str, level: Any) -> None:
    if level is not None:
        what = "a context, whose values are compared in pairs" if variable in mechanics.contexts else "a number"
        raise OptionError(f"{option} is {shortly(level)}, but {mechanics.name(variable)} is {what}")

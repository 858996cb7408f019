"""Columns that take no part in a search, and why.

A table from a spreadsheet has columns that cannot be variables: a row number, a date, a total
beside its parts. They are left out before the search, with one warning that lists all of them;
`keep=["total"]` keeps one, `strict=True` stops. Of others the scale was made so that differences
between contexts at them are doubtful.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from causalcontext.errors import listed
from causalcontext.screening.settings import MOST_COLUMNS_OF_THE_WARNING


class Why(StrEnum):
    """The families of reasons why a column is left out."""

    CONSTANT = "constant"
    IDENTIFIER = "identifier"
    DATE = "date"
    TEXT = "free text"
    EMPTY = "empty"
    LEVELS = "too many levels"
    CONTEXT = "copy of the context"
    FUNCTION = "function of other columns"
    UNITS = "constant within units"


@dataclass(frozen=True)
class LeftOut:
    """A column that takes no part in the search.

    Attributes
    ----------
    column : str
    why : Why
    reason : str
        The rest of a sentence that begins with the column: "is the same in every row", "= fever +
        cough".
    of : tuple of str
        For a function, the columns that it is made of.
    """

    column: str
    why: Why
    reason: str
    of: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.column} {self.reason}"


@dataclass(frozen=True)
class DoubtfulScale:
    """Columns that are searched, but whose scale makes some differences between contexts that are
    none, and effects that have no honest interval.

    Attributes
    ----------
    columns : tuple of str
    kinds : tuple of str
        The kinds of change at these columns that are not claimed: "edge", "slope", "level",
        "spread".
    reason : str
        Why, as `changes` says it.
    by_ranks : bool
        Whether ranks in place of the numbers undo it, so that a search by ranks may claim these
        differences.
    near : bool
        Whether differences next to these columns are not claimed either, since links turn there.
    as_causes : bool
        Whether effects of these columns alone have no interval, and changes of what they may cause
        are not claimed beside them: those of the columns themselves may only be missed.
    """

    columns: tuple[str, ...]
    kinds: tuple[str, ...]
    reason: str
    by_ranks: bool = False
    near: bool = False
    as_causes: bool = False


def words_about_left_out(columns: Sequence[LeftOut], unused: Sequence[str] = ()) -> str:
    """One sentence on all columns that were left out; empty without any.

    It has the reason of each, up to `MOST_COLUMNS_OF_THE_WARNING` of them, and the way to keep
    them. Tiers, roots and sinks name the columns of `unused`.

    >>> print(words_about_left_out([LeftOut("id", Why.IDENTIFIER, "numbers the rows")]))
    left out of the search: id numbers the rows; to keep it, pass keep=['id']
    """
    if not columns:
        return ""
    names = [left.column for left in columns]
    them = "it" if len(names) == 1 else "one of them"
    example = names if len(names) == 1 else names[-1:]
    functions = [left for left in columns if left.why is Why.FUNCTION]
    why = "; a function of other columns carries no information of its own" if functions else ""
    if unused:
        why += (
            "; your tiers, roots and sinks are used without"
            f" {listed(unused, MOST_COLUMNS_OF_THE_WARNING, 'column')}"
        )
    listing = listed(columns, MOST_COLUMNS_OF_THE_WARNING, "column")
    return f"left out of the search: {listing}{why}; to keep {them}, pass keep={example!r}"


def words_about_absence(left: LeftOut) -> str:
    """The rest of a sentence on a column that is named and was left out.

    >>> print(words_about_absence(LeftOut("id", Why.IDENTIFIER, "numbers the rows")))
    was left out of the search, since it numbers the rows; to keep it, pass keep=['id']
    >>> print(words_about_absence(LeftOut("sum", Why.FUNCTION, "= a + b")))
    was left out of the search, since it is a + b; to keep it, pass keep=['sum']
    """
    reason = f"is {left.reason[2:]}" if left.reason.startswith("= ") else left.reason
    return f"was left out of the search, since it {reason}; to keep it, pass keep=[{left.column!r}]"

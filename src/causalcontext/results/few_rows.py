"""The values of the context that have too few rows to say anything, and how they are told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from causalcontext.errors import listed
from causalcontext.results.settings import MOST_LEVELS_NAMED

LEVEL_TYPES = {"int": int, "float": float, "bool": bool, "str": str}
"""The types that values of a context have."""


@dataclass(frozen=True)
class ThinLevels:
    """The values of the context that took no part in the search.

    Attributes
    ----------
    context : str
        The name of the context variable, of several all of them.
    contexts : tuple
        All values of the context, in order, those that were left out among them.
    rows : tuple of (value, int)
        What was left out, each with its rows.
    untested : tuple of (name, position)
        Context variables with a single value left, and where they stood in the table: nothing tests
        their links.
    """

    context: str
    contexts: tuple[Any, ...]
    rows: tuple[tuple[Any, int], ...]
    untested: tuple[tuple[str, int], ...] = ()

    @property
    def values(self) -> tuple[Any, ...]:
        """The context values that were left out."""
        return tuple(value for value, _ in self.rows)

    @property
    def searched(self) -> tuple[Any, ...]:
        """The values that are left."""
        return tuple(value for value in self.contexts if value not in self.values)

    @property
    def warning(self) -> str:
        """One sentence with all levels and their rows.

        >>> print(ThinLevels("R", ("dry", "other", "wet"), (("other", 3),)).warning)
        R = 'other' has 3 rows, too few to say anything: left out of the search; its graph is the
        pooled one
        """
        values_and_rows = listed(
            [f"{self.context} = {value!r} has {row_words(count)}" for value, count in self.rows],
            MOST_LEVELS_NAMED,
        )
        its = (
            "its graph is the pooled one"
            if len(self.rows) == 1
            else "their graphs are the pooled one"
        )
        sentence = f"{values_and_rows}, too few to say anything: left out of the search; {its}"
        if not self.untested:
            return sentence
        alone = " and ".join(name for name, _ in self.untested)
        return (
            f"{sentence}; without them {alone} has a single value, so its links are untested and"
            " none is drawn"
        )

    @property
    def stories(self) -> tuple[str, ...]:
        """The sentences of `explain` about the values that were left out."""
        return tuple(
            f"in {value}: not searched, {row_words(count)} are too few to say anything; its graph"
            " is the pooled one."
            for value, count in self.rows
        )

    def to_dict(self) -> dict[str, Any]:
        """The values by their place, as files have them."""
        return {
            "context": self.context,
            "levels": [_kept(value) for value in self.contexts],
            "rows": [[self.contexts.index(value), count] for value, count in self.rows],
            "untested": [list(variable) for variable in self.untested],
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> ThinLevels:
        """The record that `to_dict` has written."""
        contexts = tuple(map(_value, content["levels"]))
        if len(set(contexts)) < len(contexts) or not 0 < len(content["rows"]) < len(contexts):
            raise ValueError("thin names a level twice, or leaves none to search")
        rows = tuple((contexts[index], count) for index, count in content["rows"])
        return cls(
            content["context"],
            contexts,
            rows,
            tuple((name, index) for name, index in content["untested"]),
        )


def _kept(value: Any) -> list[Any]:
    """A value of the context with the type of each of its parts, since JSON has fewer types."""
    parts = value if isinstance(value, tuple) else (value,)
    return [isinstance(value, tuple), [[type(part).__name__, part] for part in parts]]


def _value(kept: Any) -> Any:
    """A value of the context from its parts and their types, as a file has them."""
    several, parts = kept
    value = tuple(LEVEL_TYPES[kind](part) for kind, part in parts)
    return value if several else value[0]


def thin_words(count: int) -> str:
    """The mark of a value of few rows in titles.

    >>> thin_words(3)
    '3 rows: pooled graph'
    """
    return f"{row_words(count)}: pooled graph"


def row_words(count: int) -> str:
    """A number of rows in words."""
    return "1 row" if count == 1 else f"{count:,} rows"


def untested_words(thin: ThinLevels, x: str, y: str) -> str:
    """The reason why nothing is known of a pair with a context variable of which a single value is
    left; "" for other pairs.
    """
    for name, _ in thin.untested:
        if name in (x, y):
            counts = ", ".join(f"{value!r} has {row_words(count)}" for value, count in thin.rows)
            return (
                f"{x} and {y}: untested, and no link is drawn. {counts}, too few to say anything; a"
                f" single value of {name} is left without them, so nothing can be compared."
            )
    return ""

"""A table after accidents: what is passed to `discover`, and how to read the answer in the names of
the clean table.

Every accident is a function from a case to a case, so that two of them can follow each other. A
table stays in pandas until it is handed over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from bases import Base

import causalcontext as cc

Search = Callable[[pd.DataFrame, dict[str, Any]], cc.ContextGraphs]


def plainly(table: pd.DataFrame, how: dict[str, Any]) -> cc.ContextGraphs:
    """The result of a search of the table as it is."""
    return cc.discover(table, **how)


@dataclass(frozen=True, eq=False)
class Case:
    """A table, the question, and how both differ from those of the clean table.

    Attributes
    ----------
    names : mapping
        The new names of columns that were renamed, by their names in the clean table.
    values : mapping
        The new contexts, by the values of the clean context.
    stands_for : mapping
        For columns that were added, those of the clean table that they stand for: a link at a total
        is one at a part.
    affected : frozenset
        Columns of the clean table whose own links and claims may change.
    about : tuple of str
        A warning that has one of these words tells of the accidents; names of columns are added by
        themselves.
    everywhere : bool
        Another context is asked: in all its values the links of any clean context are true.
    hand_over : callable
        How the table gets to `discover`.
    """

    base: Base
    table: pd.DataFrame
    context: Any
    kinds: dict[str, str]
    options: dict[str, Any] = field(default_factory=dict)
    names: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    stands_for: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    affected: frozenset[str] = frozenset()
    about: tuple[str, ...] = ()
    alike: tuple[tuple[Any, Any], ...] = ()
    scale: Mapping[str, float] = field(default_factory=dict)
    everywhere: bool = False
    hand_over: Search = plainly

    def now(self, name: str) -> Any:
        """The name that a column of the clean table has now."""
        return self.names.get(name, name)

    def column(self, name: str) -> pd.Series:
        """A column of the clean table as it is now."""
        return self.table[self.now(name)]

    @property
    def cause(self) -> str:
        """A number without a cause."""
        return self.base.truth.cause

    @property
    def middle(self) -> str:
        """A number with a cause and an effect."""
        return self.base.truth.middle

    @property
    def sink(self) -> str:
        """A number that causes nothing."""
        return self.base.truth.sink

    @property
    def is_second(self) -> np.ndarray:
        """The rows where the context has its second value."""
        truth = self.base.truth
        assert truth.context is not None
        assert truth.values is not None
        return (
            self.column(truth.context) == self.values.get(truth.values[1], truth.values[1])
        ).to_numpy()

    def numbers(self) -> list[str]:
        """The columns of measurements that still are numbers, by their names in the clean table."""
        return [
            name for name in self.base.numbers if pd.api.types.is_float_dtype(self.column(name))
        ]

    def with_table(self, table: pd.DataFrame, *about: str) -> Case:
        """The case with other rows, or with columns in another order."""
        return replace(self, table=table, about=(*self.about, *about))

    def with_rows(self, order: np.ndarray, *about: str) -> Case:
        """The case with some of its rows, in an order."""
        return self.with_table(self.table.iloc[order].reset_index(drop=True), *about)

    def with_cells(self, name: str, cells: Any, *about: str) -> Case:
        """The case with other cells in a column of the clean table, whose own links may change."""
        table, now = self.table.copy(), self.now(name)
        table[now] = cells.to_numpy() if isinstance(cells, pd.Series) else np.asarray(cells)
        return replace(
            self,
            table=table,
            affected=self.affected | {name},
            about=(*self.about, str(now), *about),
        )

    def with_numbers(self, change: Callable[[pd.Series], Any], *about: str) -> Case:
        """The case with all measurements changed."""
        table = self.table.copy()
        for name in self.numbers():
            table[self.now(name)] = change(self.column(name))
        return replace(self, table=table, about=(*self.about, *about))

    def beside(self, *about: str, of: tuple[str, ...] = (), **columns: Any) -> Case:
        """The case with more columns, from the second place on; `of` are the columns that they
        stand for.
        """
        table = self.table.copy()
        for place, (name, cells) in enumerate(columns.items()):
            table.insert(min(1 + place, table.shape[1]), name, cells)
        more = dict.fromkeys(columns, of) if of else {}
        return replace(
            self,
            table=table,
            stands_for={**self.stands_for, **more},
            about=(*self.about, *columns, *about),
        )

    def asking(self, **options: Any) -> Case:
        """The case with more options."""
        return replace(self, options={**self.options, **options})


def untouched(base: Base) -> Case:
    """The clean table itself."""
    return Case(
        base, base.table, base.truth.context, dict(base.truth.kinds), alike=base.truth.alike
    )

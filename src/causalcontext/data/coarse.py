"""Numbers that hold few values: what kind of column it is by its values, where none is declared.

Most number columns of real tables are 0/1, graded, or heaped at a few values. Two values are a
category, three to five are ordered; more values of which few carry most rows are coarse: E = 1 /
sum p^2 effective values, p the shares. So is a column in which one value stands out, as zeros do
beside measurements, or the highest amount that was recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset, complete_rows
from causalcontext.errors import listed
from causalcontext.kernels.arrays import Floats, Values

MOST_ORDERED = 5
"""Numbers with so many values at most have levels: two are a category, more are ordered."""
COARSE_BELOW = 20.0
"""Effective values below which a number is coarse."""
LOOK = 1000
"""Rows that tell a column of many values, which is the usual case, without a look at the others."""
ATOM = 0.1
"""The share of one value from which on a number is coarse, whatever the others are: rounding gives
less, where `COARSE_BELOW` effective values are left."""
LIMIT_ATOM = 0.03
FEWEST_AT_LIMIT = 5
BEYOND_OTHERS = 4.0
NEAREST = 0.5
"""The share of the lowest or highest value from which on it is a limit that others were set to, if
it is so many rows, so many times oftener there than any other value, and within so many standard
deviations of the next one: a code for missing values is far away. With 5 % of a cause capped and
searched as it is, 2.8 of 10 arrows turn; by what is beyond the limit, none does."""
MANY_IN_A_LOOK = 1.5 / ATOM**2
AS_THEY_ARE = "as they are"
SCORES = "rank-transformed"
HEAPS = "spread around their values"
CENSORED = "as numbers beyond it (censored)"
REPLACED = "as numbers in whose place it is written (structural)"
HURDLES = "as whether there is another value, and which (a hurdle)"
"""The treatments of coarse columns."""


class FewValues(NamedTuple):
    """A number with few values."""

    name: str
    columns: tuple[int, ...]  # the positions of it and, in windows of a time series, of its lags
    # `values`, `shares`: shape (m,): the values that occur, sorted, and how often
    values: Floats
    shares: Floats
    finer: bool = (
        False  # whether three to five values are steps of a finer number, which acts in their place
    )

    @property
    def kind(self) -> Kind:
        """The kind that it is taken for; a coarse column stays a number."""
        if len(self.values) == 2:
            return Kind.CATEGORICAL
        return Kind.ORDERED if self.is_graded and not self.finer else Kind.CONTINUOUS

    @property
    def is_graded(self) -> bool:
        """True if it has so few values that these are levels, or steps of a finer number."""
        return len(self.values) <= MOST_ORDERED

    @property
    def spike(self) -> int:
        """The place of the value that stands out beside measurements; -1 if none does."""
        return (
            int(self.shares.argmax())
            if not self.is_graded and spike_of(self.shares, self.values) > 0.0
            else -1
        )

    @property
    def at_limit(self) -> bool:
        """True if the value that stands out is the lowest or the highest one."""
        return self.spike in (0, len(self.values) - 1)

    @property
    def levels(self) -> tuple[int | float, ...]:
        """The values as levels: whole numbers as integers."""
        whole = bool((self.values == np.floor(self.values)).all())
        return tuple(int(value) if whole else float(value) for value in self.values)


def few_valued(data: Dataset, variable_of: Callable[[str], str] = str) -> tuple[FewValues, ...]:
    """The numbers with few values whose kind is not declared."""
    # `variable_of` has the variable behind the name of a column; columns of one variable, its lags,
    # go together. A column that a context is made out of stays a number.
    groups: dict[str, list[int]] = {}
    for position in data.system:
        if data.kinds[position] is Kind.CONTINUOUS and data.names[position] not in data.declared:
            groups.setdefault(variable_of(data.names[position]), []).append(position)
    if not groups:
        return ()
    sources = {source for _, source in data.contexts.made}
    rows = np.flatnonzero(complete_rows(data))
    looked = (_look(name, data, places, rows) for name, places in groups.items())
    return tuple(
        few
        for few in looked
        if few is not None
        and (few.kind is Kind.CONTINUOUS or not sources.intersection(few.columns))
    )


def _look(name: str, data: Dataset, places: Sequence[int], rows: Values) -> FewValues | None:
    """A variable as one with few values; None if it has many."""
    columns = [np.asarray(data.columns[position]) for position in places]
    values_in_look, repeats_in_look = np.unique(
        columns[0][rows[:: max(1, len(rows) // LOOK)]], return_counts=True
    )
    if len(repeats_in_look) == 0 or (
        _effective(repeats_in_look) > MANY_IN_A_LOOK
        and not _is_limit(repeats_in_look, values_in_look, 0.5 * LIMIT_ATOM)
    ):
        return None
    everything = np.concatenate([column[rows] for column in columns]).astype(np.float64)
    values, counts = np.unique(everything, return_counts=True)
    graded = len(values) <= MOST_ORDERED
    effective = _effective(counts)
    at_limit = not graded and counts.max() >= FEWEST_AT_LIMIT and _is_limit(counts, values)
    repeats = at_limit or 2.0 * (len(values) if graded else effective) <= len(rows)
    few = graded or at_limit or effective < COARSE_BELOW or counts.max() > ATOM * len(everything)
    if len(values) < 2 or not repeats or not few:
        return None
    return FewValues(name, tuple(places), values, counts / len(everything))


def _effective(counts: Values) -> float:
    """The number of values of equal share that would be as often the same in two rows."""
    return float(counts.sum()) ** 2 / float(np.sum(counts.astype(np.float64) ** 2))


def spike_of(counts: Values, values: Values) -> float:
    """The share of the one value that stands out beside measurements, by how often values occur; 0
    if none does.

    >>> few = np.arange(4.0)
    >>> spiked = spike_of(np.array([40, *[1] * 60]), np.arange(61.0))
    >>> spiked, spike_of(np.array([40, 30, 20, 10]), few)
    (0.4, 0.0)
    >>> spiked = spike_of(np.array([5, *[1] * 95]), np.arange(96.0))
    >>> spiked, spike_of(np.ones(100), np.arange(100.0))
    (0.05, 0.0)
    """
    share = float(counts.max() / counts.sum())
    rest = np.delete(counts, int(counts.argmax()))
    stands_out = share > ATOM or _is_limit(counts, values)
    return share if stands_out and rest.size and _effective(rest) >= COARSE_BELOW else 0.0


def _is_limit(counts: Values, values: Values, share: float = LIMIT_ATOM) -> bool:
    """True if the lowest or the highest value has at least this share, and others beside it that
    occur far less.
    """
    end = int(counts.argmax())
    if end not in (0, len(counts) - 1) or len(counts) < 3:
        return False
    others = np.delete(counts, end)
    beside = values[1 if end == 0 else -2]
    if counts[end] < max(share * counts.sum(), BEYOND_OTHERS * others.max()):
        return False
    deviation = np.sqrt(np.cov(np.delete(values, end), aweights=others, ddof=0))
    return bool(abs(values[end] - beside) <= NEAREST * deviation)


def with_levels(data: Dataset, few_columns: Sequence[FewValues]) -> Dataset:
    """The table in which numbers of two to five values are categories and ordered columns."""
    kinds = list(data.kinds)
    columns = list(data.columns)
    categories = dict(data.categories)
    for few in (few for few in few_columns if few.kind is not Kind.CONTINUOUS):
        for position in few.columns:
            values = np.asarray(columns[position], dtype=np.float64)
            codes = np.searchsorted(few.values, values)
            known = np.isfinite(values)
            columns[position] = codes if known.all() else np.where(known, codes, np.nan)
            kinds[position] = few.kind
            categories[position] = few.levels
    return replace(data, kinds=tuple(kinds), columns=tuple(columns), categories=categories)


def words_for(
    few_columns: Sequence[FewValues], treatment: str, graded: str = "as ordered"
) -> list[str]:
    """A note on what columns of few values are taken for, if there are any: one sentence a kind.

    >>> from causalcontext.data.tables import read_table
    >>> table = {"smoker": [0, 1] * 4, "grade": [1, 2, 3, 2] * 2, "weight": np.arange(8.0) ** 2}
    >>> data = read_table(table, None)
    >>> print(words_for(few_valued(data), AS_THEY_ARE)[0])  # doctest: +ELLIPSIS
    few distinct values: smoker (two values) as a category; grade (three to five values) ...
    """
    few_columns = sorted(few_columns, key=lambda few: few.name)
    kinds = {
        "{} (two values) as a category": [
            few.name for few in few_columns if few.kind is Kind.CATEGORICAL
        ],
        f"{{}} (three to five values) {graded}": [
            few.name for few in few_columns if few.kind is Kind.ORDERED
        ],
        "{} (three to five values) as steps of a finer number": [
            few.name for few in few_columns if few.finer
        ],
    }
    for few in (few for few in few_columns if not few.is_graded):
        drawn = {CENSORED: few.at_limit, REPLACED: few.spike >= 0, HURDLES: few.spike >= 0}.get(
            treatment, True
        )
        treated = treatment if drawn else SCORES
        kinds.setdefault(f"{{}} {treated}", []).append(
            f"{few.name} ({100.0 * few.shares.max():.0f} % is one value)"
        )
    parts = [words.format(listed(names)) for words, names in kinds.items() if names]
    if not parts:
        return []
    return [
        f"few distinct values: {'; '.join(parts)}; to override, pass"
        f" kinds={{{few_columns[0].name!r}: 'continuous'}}"
    ]

"""Columns as numbers, in an order of trust, and a relation among them: the two records that every
search for functions of other columns works on.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.screening.settings import (
    LARGEST_TO_SQUARE,
    MOST_GRID_STEPS_PER_ROW,
    MOST_STEPS_OF_A_GRID,
    WHOLE_STEPS_WITHIN,
)

BETWEEN = re.compile(r"[\W_]")
"""Signs between the words of a name."""
MADE = re.compile(
    r"(?:^|[\W_])(?:total|sum|log|ln|exp|sqrt|sq|square|squared|pct|percent|percentage|share|ratio|rank|ranks|pred|predicted|"
    r"prediction|fitted|fit|hat|yhat|resid|residual|residuals|score|copy|code|codes|group|grp|bin|diff|difference|mean|avg|average|"
    r"bmi|std|scaled|normed|norm|normali[sz]ed|index|rounded|z|zscore|change|delta|max|maximum|min|minimum|"
    r"prob|probability|propensity|pca?|component|cluster|duplicate|dup|repeat|again|subtotal|composite|weighted|"
    r"cumulative|cum|margin|profit|balance|net|gap|per|median|decile|quartile|quantile|percentile)(?:$|[\W_\d])",
    re.IGNORECASE,
)
"""Words in the names of columns that were made out of others; they decide where scores do not."""


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of a table as numbers, those first that are likelier to be original.

    Attributes
    ----------
    places : tuple of int
        The position of every column in the table.
    values : Floats, shape (columns, rows)
        Numbers, or codes of levels; NaN where a cell is missing.
    is_number, may_go : Bools, shape (columns,)
        Whether values are numbers rather than codes, and whether a column may be left out.
    is_context : Bools, shape (columns,)
    steps : Floats, shape (columns,)
        The grid that all values of a number lie on; 0 where there is none.
    sounds_made : Bools, shape (columns,)
        Whether a name has a word such as total, or another column's name within it.
    is_named, is_linked : Bools, shape (columns,)
        Whether what is known of causes names a column, and whether it names a link of the column.
    standing : Ints, shape (columns,)
        The rank of a column by all that the order goes by but its name: the same for columns that
        their names alone put in an order.
    """

    names: tuple[str, ...]
    places: tuple[int, ...]
    values: Floats
    is_number: Bools
    may_go: Bools
    is_context: Bools
    steps: Floats
    sounds_made: Bools
    is_named: Bools
    is_linked: Bools
    standing: Ints

    def numbers(self, without: Collection[int] = ()) -> list[int]:
        """The numbers among the columns, but for those in `without`, in the order of trust."""
        return [j for j in np.flatnonzero(self.is_number).tolist() if j not in without]


@dataclass(frozen=True, eq=False)
class Relation:
    """A column that others determine.

    Attributes
    ----------
    value : int
        The column that is a function of others.
    parts : tuple of int
        Those that it is a function of.
    words : mapping from int to str
        The rest of a sentence that begins with a column, for every column that may be left out in
        place of the value.
    slopes : mapping from int to Floats, shape (rows,)
        For these, log |d value / d column| in every row; NaN where it is not known.
    plainness : mapping from int to int
        How plain the function is when it is solved for a column: 2 for short decimals, as people
        type them, and 1 for a sum without minus; a column with the plainer one is likelier to have
        been made.
    made : int or None
        The column that was certainly made, as the only one that was rounded.
    """

    value: int
    parts: tuple[int, ...]
    words: dict[int, str]
    slopes: dict[int, Floats] = field(default_factory=dict)
    plainness: dict[int, int] = field(default_factory=dict)
    made: int | None = None


def columns_of(
    data: Dataset, kept: Collection[str], named: Collection[str] = (), linked: Collection[str] = ()
) -> Columns:
    """The columns of a table in an order that depends on content and names alone, the likeliest
    originals first.

    `kept` are the names that the caller keeps, `named` those that knowledge names, and `linked`
    those of which it names a link. A column that may not be left out comes before those that may;
    then come categories, and the others by what the user says of them, their names and their grids.
    """
    held = _held(data, kept)
    values = {position: _as_numbers(data, position) for position in range(len(data.names))}
    names = frozenset(data.names)
    is_number = {
        position: data.kinds[position].is_number and position not in data.contexts.positions
        for position in values
    }
    steps = {
        position: step_of(values[position]) if is_number[position] else 0.0 for position in values
    }

    def trust(position: int) -> tuple[object, ...]:
        """The rank of a column, a tuple: what is False comes first."""
        name = data.names[position]
        return (
            position not in data.contexts.positions,
            position not in held,
            data.kinds[position] is not Kind.CATEGORICAL,
            name not in linked,
            name not in named,
            name not in data.declared,
            _sounds_made(name, names),
            _is_coarse(values[position], steps[position]),
            name,
        )

    order = sorted(values, key=trust)
    ordered_names = [data.names[position] for position in order]
    without_names = [trust(position)[:-1] for position in order]
    standing = [without_names.index(key) for key in without_names]
    table = np.array([values[position] for position in order], dtype=np.float64)
    return Columns(
        names=tuple(ordered_names),
        places=tuple(order),
        values=table.reshape(len(order), data.n_rows),
        is_number=np.array([is_number[position] for position in order], dtype=bool),
        may_go=~np.isin(order, list(held)),
        is_context=np.isin(order, list(data.contexts.positions)),
        steps=np.array([steps[position] for position in order]),
        sounds_made=np.array([_sounds_made(name, names) for name in ordered_names], dtype=bool),
        is_named=np.array([name in named for name in ordered_names], dtype=bool),
        is_linked=np.array([name in linked for name in ordered_names], dtype=bool),
        standing=np.array(standing, dtype=np.int64),
    )


def _held(data: Dataset, kept: Collection[str]) -> set[int]:
    """The positions of the columns that may not be left out: contexts, the columns that contexts
    are made of, and those that the caller keeps.
    """
    sources = {position for position in data.contexts.sources if position is not None}
    by_name = {position for position, name in enumerate(data.names) if name in kept}
    return {*data.contexts.positions} | sources | by_name


def _is_coarse(values: Floats, step: float) -> bool:
    """True if a column, shape (rows,), lies on a grid of few steps for its rows,
    `MOST_GRID_STEPS_PER_ROW` of them.
    """
    return bool(step) and bool(
        np.ptp(_finite(values)) < step * MOST_GRID_STEPS_PER_ROW * len(values)
    )


def some_rows(columns: Columns, most: int) -> Floats:
    """The values in about `most` rows, evenly over the table, shape (columns, rows)."""
    return np.ascontiguousarray(columns.values[:, :: max(1, -(-columns.values.shape[1] // most))])


def step_of(values: Floats) -> float:
    """The distance of neighbours on the grid of a column, 0 where its values lie on none.

    The smallest gap between different values is the step if all gaps are whole multiples of it to a
    hundredth, and there are at most `MOST_STEPS_OF_A_GRID` steps. Two values lie on any grid, so
    that there must be three.

    >>> round(step_of(np.array([1.5, 2.0, 7.5, 3.0])), 6), step_of(np.array([1.0, 2.0, 3.1416]))
    (0.5, 0.0)
    """
    distinct = np.unique(_finite(values))
    if distinct.size < 3:
        return 0.0
    gaps = np.diff(distinct)
    gaps = gaps[gaps > 1e-9 * max(float(np.ptp(distinct)), float(np.abs(distinct).max()))]
    if not gaps.size or np.ptp(distinct) / gaps.min() > MOST_STEPS_OF_A_GRID:
        return 0.0
    step = float(gaps.min())
    whole = gaps / step
    return step if np.abs(whole - np.round(whole)).max() < WHOLE_STEPS_WITHIN else 0.0


def complete(values: Floats, wanted: Sequence[int] | Ints) -> Floats:
    """Some columns in the rows that have all of them, shape (wanted columns, rows)."""
    chosen = values[list(wanted)]
    return np.asarray(chosen[:, np.isfinite(chosen).all(axis=0)])


def log_slopes(value: Floats, of: Floats) -> Floats:
    """log |d value / d of| in every row, shape (rows,), by rows that are near in the order of the
    other column; NaN where it is not known.

    Differences are those over a two-hundredth of the rows, written at the row in their middle. They
    turn the density of one of two columns into that of the other.
    """
    usable = np.flatnonzero(np.isfinite(value) & np.isfinite(of))
    order = usable[np.argsort(of[usable], kind="stable")]
    gap = max(1, order.size // 200)
    rise, run = (column[order][gap:] - column[order][:-gap] for column in (value, of))
    moved = (rise != 0.0) & (run != 0.0)
    slopes = np.full(value.shape, np.nan)
    slopes[order[gap // 2 : gap // 2 + rise.size][moved]] = np.log(np.abs(rise[moved] / run[moved]))
    return slopes


def is_short(number: float) -> bool:
    """True if a number has two digits at most, as 0.25, 30 and 1.8.

    >>> is_short(0.25), is_short(1.8), is_short(0.6667)
    (True, True, False)
    """
    return bool(np.isclose(number, float(f"{number:.1e}"), rtol=1e-6))


def number_words(number: float, digits: int = 4) -> str:
    """A number for a sentence, with four digits or as many as are asked for; whole where it nearly
    is.

    >>> number_words(1.80000001), number_words(-0.5), number_words(123.456)
    ('1.8', '-0.5', '123.5')
    """
    near = round(number)
    return (
        str(near)
        if near and abs(number - near) < 1e-4 * abs(near) and abs(near) < 1e6
        else f"{number:.{digits}g}"
    )


def _as_numbers(data: Dataset, position: int) -> Floats:
    """The values of a column, or the codes of its levels, shape (rows,), NaN where a cell is
    missing, or everywhere if values are too large to be squared.
    """
    values = np.array(data.columns[position], dtype=np.float64)
    if position in data.contexts.positions:
        values[values < 0] = np.nan
    values[~np.isfinite(values)] = np.nan
    return (
        values
        if np.nanmax(np.abs(values), initial=0.0) < LARGEST_TO_SQUARE
        else np.full(values.shape, np.nan)
    )


def _finite(values: Floats) -> Floats:
    """The values of a column without missing ones."""
    return values[np.isfinite(values)]


def _sounds_made(name: str, names: Collection[str]) -> bool:
    """True if a name has a word such as total, or another column's name within it.

    >>> names = {"dose", "log(dose)", "dosed", "body weight", "mean body weight"}
    >>> sorted(name for name in names if _sounds_made(name, names))
    ['log(dose)', 'mean body weight']
    """
    starts = [0, *(match.end() for match in BETWEEN.finditer(name))]
    ends = [*(match.start() for match in BETWEEN.finditer(name)), len(name)]
    pieces = {
        name[start:end]
        for start in starts
        for end in ends
        if start + 1 < end and end - start < len(name)
    }
    return not pieces.isdisjoint(names) or bool(MADE.search(name))

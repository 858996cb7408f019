"""Contexts made out of a column, by a threshold or by bins, and columns of which a context is such
a function.

A search must be told of such a context: given the column it carries no information.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.columns import Kind, number_text
from causalcontext.data.dataset import Dataset
from causalcontext.data.tables import cells_of, read_table
from causalcontext.errors import (
    DataError,
    NotYetError,
    OptionError,
    check_are_columns,
    check_whole,
    shortly,
)
from causalcontext.kernels.arrays import Codes, Floats, Values
from causalcontext.settings import LARGEST_NUMBER
from causalcontext.views import Contexts

MOST_BINS = 1000
MOST_FOUND = 2
"""Cuts that are looked for."""
FEWEST_ROWS = 20
"""Rows that every context needs before a fit without error means anything."""
FEWEST_ROWS_OF_A_STEP = 10
ROWS_OF_A_GLANCE = 40
ROWS_OF_A_LOOK = 200
MOST_CUTS = 3
"""Cuts of a small tree (depth 2), unless more contexts need more."""


@dataclass(frozen=True)
class Indicator:
    """A context that is a step function of one column; made by `threshold` and `bins`."""

    column: str
    name: str  # what the context is called among the results
    # where the steps are, ascending; a value on a cut belongs to the step below
    cuts: tuple[float, ...] = ()
    quantiles: int = 0  # instead of cuts: that many steps of about equal size
    # what the steps are called, if not by the cuts; steps of one name are one level
    called: tuple[str, ...] = ()
    best: int = 0  # instead of cuts: that many are to be found, by what mechanisms say

    def at(self, cuts: Sequence[float]) -> Indicator:
        """The same with cuts that were found, and named by them unless it has a name of its own."""
        has_name = self.name != _best_name(self.column)
        by_cuts = (
            f"{self.column} > {number_text(cuts[0])}" if len(cuts) == 1 else f"{self.column} bin"
        )
        return Indicator(
            self.column, self.name if has_name else by_cuts, tuple(sorted(map(float, cuts)))
        )

    def with_cuts_of(self, data: Dataset) -> Indicator:
        """The same with cuts in place of quantiles, those of a table."""
        values = np.asarray(data.columns[data.position(self.column)], dtype=np.float64)
        cuts = self.cuts or _quantile_cuts(values, self.quantiles, self.column)
        return replace(self, cuts=tuple(map(float, cuts)), quantiles=0)

    def applied(self, data: Dataset) -> Dataset:
        """The table with the context as its last column, beside the context variables that it
        has.
        """
        sources = data.contexts.sources or (None,) * len(data.contexts.positions)
        source = self.source(data.names, data.kinds, sources)
        values = np.asarray(data.columns[source], dtype=np.float64)
        if self.best:
            raise NotYetError(
                f"not yet: the best cut of {self.column!r} is not searched for here; cc.discover"
                " finds it, and result.cut has its value"
            )
        if not self.cuts:
            return replace(self, cuts=_quantile_cuts(values, self.quantiles, self.column)).applied(
                data
            )
        codes = self.codes(values)
        if np.unique(codes[codes >= 0]).size < 2:
            raise self.one_level()
        positions = (*data.contexts.positions, len(data.names))
        cells: tuple[tuple[int, ...], ...] = tuple((level,) for level in range(len(self.levels)))
        joined = codes
        if len(positions) > 1:
            known = {
                data.names[position]: data.columns[position] for position in data.contexts.positions
            }
            cells, joined = cells_of(known | {self.name: codes}, data.n_rows)
        return replace(
            data,
            names=(*data.names, self.name),
            kinds=(*data.kinds, Kind.CATEGORICAL),
            columns=(*data.columns, codes),
            dtypes=(*data.dtypes, "int32"),
            levels=(*data.levels, self.levels),
            contexts=Contexts(positions, cells, (*sources, source)),
            codes=joined,
        )

    def source(
        self, names: Sequence[str], kinds: Sequence[Kind], sources: Sequence[int | None]
    ) -> int:
        """The position of its column in a table, with the columns that other contexts are made out
        of; checked.
        """
        check_are_columns([self.column], names)
        position = names.index(self.column)
        if position in sources:
            raise DataError(
                f"two contexts are made out of {self.column!r}; put all cuts into one: "
                f"cc.bins({self.column!r}, edges=[...])"
            )
        if self.name in names:
            raise DataError(
                f"the table has a column {self.name!r} already; pass name=... for the new context"
            )
        if not kinds[position].is_number:
            raise DataError(
                f"column {self.column!r} is {kinds[position].value}; a threshold needs numbers, and"
                f" a categorical column is a context itself: context={self.column!r}"
            )
        return position

    def codes(self, values: Floats) -> Codes:
        """The level of every value, -1 where it is not finite."""
        steps = self._steps
        levels = self.levels
        level = np.array([levels.index(step) for step in steps], dtype=np.int32)
        return np.where(
            np.isfinite(values), level[np.searchsorted(self.cuts, values, side="left")], -1
        )

    @property
    def levels(self) -> tuple[str, ...]:
        """The names of the values of the context."""
        return tuple(dict.fromkeys(self._steps))

    @property
    def _steps(self) -> tuple[str, ...]:
        """The names of the steps: `<= 0.3`, `(0.3, 0.7]`, `> 0.7`."""
        if self.called:
            return self.called
        texts = [number_text(cut) for cut in self.cuts]
        middle = [f"({low}, {high}]" for low, high in pairwise(texts)]
        return (f"<= {texts[0]}", *middle, f"> {texts[-1]}")

    def one_level(self) -> DataError:
        """The error where all values are in one step."""
        return DataError(
            f"context {self.name!r} has 1 level; at least 2 are needed: all values of"
            f" {self.column!r} lie on one side of the cuts"
        )


def split_context(context: Any) -> tuple[Any, tuple[Indicator, ...]]:
    """The context variables that are columns, and those that are made out of one.

    >>> columns, made = split_context(["day", threshold("VPD", 1.0)])
    >>> columns, [one.name for one in made]
    (['day'], ['VPD > 1'])
    """
    asked = list(context) if isinstance(context, list | tuple) else [context]
    made = tuple(item for item in asked if isinstance(item, Indicator))
    return (
        ([item for item in asked if not isinstance(item, Indicator)] or None, made)
        if made
        else (context, ())
    )


def contexts_of(context: Any) -> list[Any]:
    """The contexts of a search one by one; none for None."""
    return (
        list(context) if isinstance(context, list | tuple) else [] if context is None else [context]
    )


def read_with_functions(
    table: Any,
    context: Any,
    kinds: Mapping[str, str] | None = None,
    names: Sequence[str] | None = None,
) -> Dataset:
    """A table in memory, with the contexts that are its columns and, after its last column, those
    made out of one.
    """
    return with_functions(
        read_table(table, split_context(context)[0], kinds=kinds, names=names), context
    )


def with_functions(data: Dataset, context: Any) -> Dataset:
    """The same table with contexts that are made out of its columns, after its last one; itself if
    it has them.
    """
    had = [data.names[position] for position in data.contexts.positions]
    made = [indicator for indicator in split_context(context)[1] if indicator.name not in had]
    for indicator in made:
        data = indicator.applied(data)
    if not had or not made:
        return data
    # contexts in the order in which they were named
    named = [
        data.position(indicator.name if isinstance(indicator, Indicator) else indicator)
        for indicator in context
    ]
    order = [data.contexts.positions.index(position) for position in named]
    turned = [tuple(cell[j] for j in order) for cell in data.contexts.cells]
    cells = sorted(turned)
    codes = np.array([*(cells.index(cell) for cell in turned), -1], dtype=data.codes.dtype)[
        data.codes
    ]
    contexts = Contexts(tuple(named), tuple(cells), tuple(data.contexts.sources[j] for j in order))
    return replace(
        data, contexts=contexts, levels=tuple(data.levels[j] for j in order), codes=codes
    )


def threshold(
    column: str, value: float | str, *, cuts: int = 1, name: str | None = None
) -> Indicator:
    """The context "is this column larger than a value?", to be passed as `context`.

    Parameters
    ----------
    column : str
    value : float or "best"
        "best" lets `discover` find the value at which mechanisms change; `result.cut` says whether
        there is one.
    cuts : int
        With "best": how many values are looked for, 1 or 2.
    name : str, optional
        What the context is called; "<column> > <value>" by default.

    Examples
    --------
    >>> threshold("soil_moisture", 0.3).name
    'soil_moisture > 0.3'
    """
    _check_column(column)
    check_whole("cuts", cuts, 1)
    wanted = isinstance(value, str) and value == "best"
    if cuts > (MOST_FOUND if wanted else 1):
        raise OptionError(
            f"cuts is {cuts}, expected at most {MOST_FOUND} with value 'best', else 1; for several "
            f"known ones use cc.bins({column!r}, edges=[...])"
        )
    if wanted:
        return Indicator(column, name or _best_name(column), best=int(cuts))
    if (
        not isinstance(value, int | float | np.floating | np.integer)
        or not abs(value) <= LARGEST_NUMBER
    ):
        raise OptionError(
            f"the threshold of {column!r} is {shortly(value)}, expected a number, or 'best'"
        )
    return Indicator(column, name or f"{column} > {number_text(float(value))}", (float(value),))


def _best_name(column: str) -> str:
    """The name of a context until its cut is found."""
    return f"{column} > best"


_BINS = re.compile(r"(?P<column>.+?)\s+bins\s+(?P<edges>.+)")
_BEST = re.compile(r"(?P<column>.+?)\s*>\s*best(?:\s+(?P<cuts>[0-9]+))?")
_NUMBER = r"[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?"
_COMPARED = re.compile(rf"(?P<column>.+?)\s*(?P<sign>>=|<=|>|<)\s*(?P<value>{_NUMBER})")
_BETWEEN = re.compile(
    rf"(?P<low>{_NUMBER})\s*(?P<above><=?)\s*(?P<column>.+?)\s*(?P<below><=?)\s*(?P<high>{_NUMBER})"
)


def condition(text: str) -> Indicator | None:
    """The context that a comparison, or bins, make out of a column; None if the text says none.

    >>> [one.cuts or one.quantiles for one in map(condition, ("VPD bins 0.3, 0.6", "T bins 4"))]
    [(0.3, 0.6), 4]
    >>> [condition(text).levels for text in ("VPD > 1", "VPD >= 1", "VPD < 1", "1 < VPD <= 2")]
    [('<= 1', '> 1'), ('< 1', '>= 1'), ('< 1', '>= 1'), ('not 1 < VPD <= 2', '1 < VPD <= 2')]
    """
    if match := _BINS.fullmatch(text):
        edges = [part.strip() for part in match["edges"].split(",") if part.strip()]
        if len(edges) == 1 and edges[0].isdecimal():
            return bins(match["column"], quantiles=int(edges[0]))
        return bins(match["column"], [_number(edge, text) for edge in edges])
    if match := _BEST.fullmatch(text):
        return threshold(match["column"], "best", cuts=int(match["cuts"] or 1))
    if match := _BETWEEN.fullmatch(text):
        column = match["column"]
        low = _number(match["low"], text)
        high = _number(match["high"], text)
        if not low < high:
            raise OptionError(f"context is {text!r}, expected the smaller number first")
        name = f"{number_text(low)} {match['above']} {column} {match['below']} {number_text(high)}"
        cuts = (
            _below(low) if match["above"] == "<=" else low,
            _below(high) if match["below"] == "<" else high,
        )
        return Indicator(column, name, cuts, called=(f"not {name}", name, f"not {name}"))
    if match := _COMPARED.fullmatch(text):
        column = match["column"]
        sign = match["sign"]
        value = _number(match["value"], text)
        if sign == ">":
            return threshold(column, value)
        written = number_text(value)  # whether the value itself is on the upper side
        is_above = sign in ("<", ">=")
        called = (
            (f"< {written}", f">= {written}") if is_above else (f"<= {written}", f"> {written}")
        )
        return Indicator(
            column,
            f"{column} {sign} {written}",
            (_below(value) if is_above else value,),
            called=called,
        )
    return None


def _number(text: str, whole: str) -> float:
    """The number of a part of a condition; `whole` is the condition, for the error."""
    try:
        return float(text)
    except ValueError as error:
        raise OptionError(f"{text!r} in context {whole!r} is not a number") from error


def _below(value: float) -> float:
    """The largest number that is smaller: a value on a cut belongs to the step below."""
    return float(np.nextafter(value, -np.inf))


def bins(
    column: str,
    edges: Iterable[float] | None = None,
    *,
    quantiles: int | None = None,
    name: str | None = None,
) -> Indicator:
    """The context "in which range does this column lie?", to be passed as `context`.

    Parameters
    ----------
    column : str
    edges : sequence, array or series of float, optional
        The inner edges of the bins.
    quantiles : int, optional
        Instead of edges: the number of bins of equal size.
    name : str, optional
        What the context is called; "<column> bin" by default.

    Examples
    --------
    >>> bins("X", quantiles=4).name
    'X bin'
    """
    _check_column(column)
    if (edges is None) == (quantiles is None):
        raise OptionError(f"bins({column!r}) needs either edges=[...] or quantiles=...")
    if quantiles is not None:
        number = f"the number of bins of {column!r}"
        check_whole(number, quantiles, 2)
        if quantiles > MOST_BINS:
            raise OptionError(f"{number} is {quantiles}, expected at most {MOST_BINS}")
        return Indicator(column, name or f"{column} bin", quantiles=int(quantiles))
    assert edges is not None
    try:
        edges = list(edges)
        cuts = tuple(float(edge) for edge in edges)
    except (TypeError, ValueError) as error:
        raise OptionError(
            f"the edges of {column!r} are {shortly(edges)}, expected several numbers in a list"
        ) from error
    if not cuts or not np.isfinite(cuts).all() or any(a >= b for a, b in pairwise(cuts)):
        raise OptionError(
            f"the edges of {column!r} are {shortly(edges)}, expected ascending numbers"
        )
    return Indicator(column, name or f"{column} bin", cuts)


def _check_column(column: object) -> None:
    if not isinstance(column, str):
        raise OptionError(f"the column of a context is {shortly(column)}, expected its name")


def _quantile_cuts(values: Floats, quantiles: int, column: str) -> tuple[float, ...]:
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        raise DataError(f"column {column!r} has no value to make bins of")
    ordered = np.unique(finite)
    last = (
        np.searchsorted(
            ordered, np.quantile(finite, np.arange(1, quantiles) / quantiles), side="right"
        )
        - 1
    )
    last = np.unique(last[last < ordered.size - 1])  # the last value of every bin but the highest
    if last.size == 0:
        raise DataError(f"column {column!r} has one value only; no bins can be made of it")
    return tuple(short_cut(float(ordered[row]), float(ordered[row + 1])) for row in last)


def short_cut(below: float, above: float) -> float:
    """The number with the fewest digits that is at least `below` and less than `above`.

    >>> short_cut(0.2999817, 0.3012)
    0.3
    >>> short_cut(1700000003.0, 1700000004.0)
    1700000003.0
    """
    middle = below + (above - below) / 2.0
    for digits in range(1, 18):
        for value in (middle, below):
            rounded = float(f"{value:.{digits - 1}e}")
            if below <= rounded < above:
                return rounded
    return below


class StepFunction(NamedTuple):
    """The context variable is this function of a column: `levels[i]` between the cuts i - 1 and
    i.
    """

    context: str
    column: str
    cuts: tuple[float, ...]
    levels: tuple[int, ...]

    def call(self) -> str:
        """The call that declares it."""
        column = json.dumps(self.column, ensure_ascii=False)  # a quote in a name is no end of it
        if len(self.cuts) == 1:
            return f"cc.threshold({column}, {number_text(self.cuts[0])})"
        return f"cc.bins({column}, edges=[{', '.join(number_text(cut) for cut in self.cuts)}])"

    def advice(self, alone: bool = True) -> str:
        """Advice if the column made the context, which must not stay beside what is
        declared.
        """
        declared = f"context={self.call()}" if alone else f"{self.call()} among the contexts"
        return f"{declared}, without the column {self.context}"


def step_functions(data: Dataset) -> list[StepFunction]:
    """The columns of which a context variable, not declared so, is a function with few cuts,
    without an exception.
    """
    functions = []
    # so many rows, or up to twice as many
    few = slice(None, None, max(1, data.n_rows // ROWS_OF_A_LOOK))
    for position in (
        column_position
        for column_position in data.contexts.positions
        if data.contexts.source_of(column_position) is None
    ):
        codes = np.asarray(data.columns[position])
        counts = np.bincount(codes[codes >= 0])
        most = max(MOST_CUTS, len(counts) - 1)
        for i in _at_a_glance(data, codes, most) if counts.min() >= FEWEST_ROWS else ():
            column = np.asarray(data.columns[i])
            if _switches(column[few], codes[few])[2].size <= most:
                steps = _steps(column, codes, most)
                if steps is not None and not _is_beside_a_constant(column, codes, steps[1]):
                    functions.append(StepFunction(data.names[position], data.names[i], *steps))
    return functions


def _is_beside_a_constant(column: Values, codes: Codes, levels: Sequence[int]) -> bool:
    """True if a number has one value at a level of the context and others, on both sides of it,
    elsewhere.

    Nobody cuts a column like that: a device is off where the context has that level.
    """
    away = {level for level in levels if list(levels).count(level) > 1}
    constant = [
        level for level in set(levels) - away if np.unique(column[codes == level]).size == 1
    ]
    return bool(away) and bool(constant)


def _at_a_glance(data: Dataset, codes: Codes, most: int) -> list[int]:
    """The numbers that may take few cuts: what takes too many on some of the rows takes no fewer on
    all of them.
    """
    numbers = [i for i in data.system if data.kinds[i].is_number]
    few = slice(None, None, max(1, data.n_rows // ROWS_OF_A_GLANCE))
    rows = np.argsort(codes[few], kind="stable")
    rows = rows[codes[few][rows] >= 0]
    values = np.array([data.columns[i][few] for i in numbers], dtype=np.float64).reshape(
        len(numbers), codes[few].size
    )
    values = values[:, rows]
    order = np.argsort(values, axis=1, kind="stable")
    switches = np.count_nonzero(np.diff(codes[few][rows][order], axis=1), axis=1)
    possible = (switches <= most) | ~np.isfinite(values).all(axis=1)
    return [numbers[number] for number in np.flatnonzero(possible)]


def _steps(
    values: Values, codes: Codes, most: int
) -> tuple[tuple[float, ...], tuple[int, ...]] | None:
    """The cuts and levels of a step function of the values; None with an exception, too many steps
    or tiny ones.
    """
    column, codes, switch = _switches(values, codes)
    if switch.size > most or (column[switch] == column[switch + 1]).any():
        return None
    if np.diff([-1, *switch.tolist(), len(codes) - 1]).min() < FEWEST_ROWS_OF_A_STEP:
        return None
    cuts = tuple(short_cut(float(column[row]), float(column[row + 1])) for row in switch)
    return cuts, tuple(int(codes[row]) for row in (*switch.tolist(), len(codes) - 1))


def _switches(values: Values, codes: Codes) -> tuple[Floats, Codes, NDArray[np.intp]]:
    """The usable rows sorted by value, and the places after which the context changes."""
    column = values.astype(np.float64)
    usable = np.flatnonzero((codes >= 0) & np.isfinite(column))
    order = usable[np.lexsort((codes[usable], column[usable]))]
    return column[order], codes[order], np.flatnonzero(np.diff(codes[order]))

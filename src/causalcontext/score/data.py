"""The table as the score sees it: rows in standard units, sorted by context, in a canonical order
of columns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset, complete_rows, gaussian_ranks
from causalcontext.data.sufficient_statistics import SufficientStatistics
from causalcontext.graphs.lag_names import split
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.orders.fit_arrays import CLASS, NUMBER, ORDERED
from causalcontext.kernels.orders.slots import MOST_CELLS_EXACT
from causalcontext.kernels.rows.likelihoods import NO_NUMBER, NUMBERS_FROM, UNIT
from causalcontext.knowledge import Links
from causalcontext.score.alike_levels import alike_levels

MOST_VALUES = 24_000_000
"""Tables with more values keep every m-th row for what needs rows; moments are always those of all
rows.
"""
MOST_ROWS = 100_000
MOST_DISTINCT = 0.5
"""A number with fewer values than this share of the rows is one that was counted or rounded."""
SMALLEST_GAP = 0.03
KINDS = {
    Kind.CONTINUOUS: NUMBER,
    Kind.COUNT: NUMBER,
    Kind.ORDERED: ORDERED,
    Kind.CATEGORICAL: CLASS,
}


class Treated(NamedTuple):
    """How a coarse column is scored: its values in the table of the search, and the width that each
    stands for.

    Without widths it has no noise density. If cells at a limit were drawn, `limit` has the limit,
    beyond which they lie unless they lie `anywhere`. `hurdle` is a value that is written where
    there is no number: as an effect the column is a logit of that, and a regression of the numbers;
    as a cause it acts as it is written.
    """

    values: Floats
    widths: Floats
    limit: float = np.nan
    anywhere: bool = False
    hurdle: float = np.nan


class Reader(NamedTuple):
    """What a mechanism may change with: one context variable, or two."""

    variables: tuple[int, ...]  # the context variables
    # the nodes that come before every node that uses it: these variables, or the column that one is
    # made out of; none for what is given
    needs: tuple[int, ...]
    groups: Ints  # shape (K,): its level in every cell
    levels: int  # how many levels it has

    def cells(self, mask: int) -> int:
        """The cells in which it has some of its values, both as bit masks."""
        return sum(
            1 << cell for cell, value in enumerate(self.groups.tolist()) if mask >> value & 1
        )


@dataclass(frozen=True, eq=False)
class ScoreData:
    """The variables in an order that depends on content alone, their rows, and the cell of every
    row.

    p system variables, numbered 0 .. p - 1, then context variables: these are the nodes, each with
    a mechanism and a place in the order. Then come the givens, which may be causes and have
    neither, since nothing may cause them: the past of a time series, or roots; system variables
    first. Nodes and givens are the C candidates. A context that is made out of a column (a
    threshold) is no candidate: it is the last variable. Rows are coded into K cells, in which
    mechanisms may differ: the combinations of the contexts, one cell without any.
    """

    table: Dataset
    links: Links  # what is known, in the numbers of the table
    position: Ints  # shape (variables,): the place of every variable among the table's columns
    # `kind`, `classes`: shape (C,): `NUMBER`, `CLASS` or `ORDERED`, and how many classes there are
    kind: Ints
    classes: Ints
    # `centre`, `scale`: shape (C,): the units of numbers; 0 and 1 for the context
    centre: Floats
    scale: Floats
    n: Floats  # shape (K,): the rows of the table in every cell
    # shape (C,): the distance of neighbouring values, in standard units, of counts and other
    # numbers with few values; else 0
    gap: Floats
    # shape (C, rows): of all rows, or of part of a long table, sorted by cell: numbers in standard
    # units, normal scores of ordered classes; zeros for categories
    values: Floats
    codes: Ints  # shape (C, rows): classes of categories and ordered variables
    cells: Ints  # shape (rows,)
    weight: float  # how many rows of the table each of these stands for
    # `responses`, `nodes`: the system variables p with a mechanism, and all variables with one
    responses: int
    nodes: int
    # whether rows are windows of a time series: names have lags, and one order serves all cells
    is_window: bool
    # by position, what is done with coarse columns
    treated: Mapping[int, Treated] = field(default_factory=dict)
    # by variable, the group of every level of a context whose levels are partly alike: as an effect
    # the context has these groups for classes
    groups: Mapping[int, Ints] = field(default_factory=dict)

    @property
    def variables(self) -> int:
        """All variables."""
        return len(self.position)

    @property
    def candidates(self) -> int:
        """C: the variables that may be causes."""
        return len(self.kind)

    @property
    def causes(self) -> int:
        """The number of candidates that system variables have: these change with a context instead
        of taking it for a parent.
        """
        return len(self.table.system)

    @cached_property
    def context_variables(self) -> tuple[int, ...]:
        """The numbers of the context variables, in the order of the table's contexts."""
        return tuple(
            int(np.flatnonzero(self.position == column)[0])
            for column in self.table.contexts.positions
        )

    @cached_property
    def made_of(self) -> dict[int, int]:
        """The variable of which a context variable is a step function, where there is one."""
        own = self.table.contexts
        place = np.argsort(self.position)
        sources = ((v, own.source_of(int(self.position[v]))) for v in self.context_variables)
        return {v: int(place[source]) for v, source in sources if source is not None}

    @cached_property
    def must_read(self) -> tuple[tuple[int, ...], ...]:
        """The context variables that the mechanism of every variable must change with by
        knowledge.
        """
        must = self.links.must
        position = self.position
        return tuple(
            tuple(v for v in self.context_variables if must[position[v], own]) for own in position
        )

    @cached_property
    def may_be_ordered(self) -> tuple[str, ...]:
        """Contexts of three or more numbers that nobody declared, and that are not in order yet,
        whatever their lag.
        """
        found = [
            self._context_name(v)
            for v, levels in zip(self.context_variables, self.table.levels, strict=True)
            if v < self.candidates
            and self.kind[v] == CLASS
            and len(levels) > 2
            and all(isinstance(value, int | float) for value in levels)
            and not self.table.dtypes[self.position[v]].lower().startswith(("categorical", "enum"))
            and self.table.names[self.position[v]] not in self.table.declared
        ]
        return tuple(sorted(set(found)))

    @cached_property
    def ordered_contexts(self) -> tuple[str, ...]:
        """Contexts whose values are in order: what causes them moves them up or down."""
        own = [v for v in self.context_variables if v < self.candidates and self.kind[v] == ORDERED]
        return tuple(sorted(set(map(self._context_name, own))))

    def _context_name(self, variable: int) -> str:
        """The name of a context variable without its lag."""
        name = self.table.names[self.position[variable]]
        return split(name)[0] if self.is_window else name

    def with_ordered_contexts(self, names: Collection[str]) -> ScoreData:
        """The same, where those of these contexts that may be in order are."""
        kind = self.kind.copy()
        chosen = set(names) & set(self.may_be_ordered)
        own = [
            v
            for v in self.context_variables
            if v < self.candidates and self._context_name(v) in chosen
        ]
        kind[own] = ORDERED
        return replace(self, kind=kind).with_rows() if own else self

    @cached_property
    def is_system(self) -> Bools:
        """Which candidates are system variables."""
        return ~np.isin(np.arange(self.candidates), self.context_variables)

    @property
    def contexts(self) -> int:
        """The cells K; 1 without a context variable."""
        return len(self.n)

    @cached_property
    def readers(self) -> tuple[Reader, ...]:
        """Every context variable, then every pair of them, but for two lags of one variable."""
        codes = self.table.contexts.cells
        names = self.table.names
        found = []
        for some in (
            some
            for size in (1, 2)
            for some in combinations(range(len(self.context_variables)), size)
        ):
            variables = tuple(self.context_variables[j] for j in some)
            if self.is_window and len({split(names[self.position[v]])[0] for v in variables}) < len(
                variables
            ):
                continue
            values = sorted({tuple(cell[j] for j in some) for cell in codes})
            groups = np.array(
                [values.index(tuple(cell[j] for j in some)) for cell in codes], dtype=np.int64
            )
            needs = tuple(
                node for node in (self.made_of.get(v, v) for v in variables) if node < self.nodes
            )
            found.append(Reader(variables, needs, groups, len(values)))
        return tuple(found)

    @cached_property
    def merged(self) -> tuple[tuple[int, Reader], ...]:
        """Readers of three or four values, merged into two in every way that is no other reader's,
        by their numbers.
        """
        known = {_split(reader.groups) for reader in self.readers if reader.levels == 2}
        found = []
        for q, reader in enumerate(self.readers):
            few = reader.levels if 2 < reader.levels <= MOST_CELLS_EXACT else 0
            for mask in range(1, (1 << few) // 2):
                groups = (reader.groups[:, None] == members(mask, few)).any(axis=1).astype(np.int64)
                if _split(groups) not in known:
                    found.append((q, reader._replace(groups=groups, levels=2)))
        return tuple(found)

    @cached_property
    def codings(self) -> tuple[Reader, ...]:
        """All readers, then those with merged values."""
        return (*self.readers, *(reader for _, reader in self.merged))

    @property
    def orders(self) -> int:
        """The number of orders; one for all windows of a time series."""
        return 1 if self.is_window else orders_of(self.contexts, len(self.context_variables))

    @property
    def total(self) -> float:
        """All rows."""
        return float(self.n.sum())

    def has_density(self, variable: int) -> bool:
        """True if the noise of a number may have another density than the Gaussian one."""
        own = self.treated.get(int(self.position[variable]))
        return own is None or own.widths.size > 0

    def bin_widths(self, variable: int) -> Floats | float:
        """What a value stands for, row by row, of numbers that were counted, rounded or heaped;
        else 0.
        """
        own = self.treated.get(int(self.position[variable]))
        if own is None:
            return float(self.gap[variable])
        if not own.widths.size:
            return 0.0
        values = self.values[variable] * self.scale[variable] + self.centre[variable]
        return np.asarray(
            own.widths[np.searchsorted(0.5 * (own.values[1:] + own.values[:-1]), values)]
            / self.scale[variable]
        )

    def rows_of(self, mask: int) -> float:
        """The rows of some cells, given as a bit mask."""
        return float(sum(self.n[r] for r in members(mask, self.contexts)))

    def selected(self, mask: int) -> Bools:
        """Which rows lie in some cells."""
        return np.asarray(np.isin(self.cells, members(mask, self.contexts)))

    def all_rows(self) -> Iterator[tuple[Floats, Ints, Ints]]:
        """Values, codes and cells of all rows of the table, in parts that fit into memory."""
        if self.weight == self.table.share:
            yield self.values, self.codes, self.cells
            return
        usable = np.flatnonzero(complete_rows(self.table))
        size = max(1000, MOST_VALUES // (20 * max(self.causes, 1)))
        for start in range(0, len(usable), size):
            yield self._rows(usable[start : start + size])

    def _rows(self, rows: Ints) -> tuple[Floats, Ints, Ints]:
        """Values, codes and cells of some rows of the table, sorted by cell."""
        table = self.table
        rows = rows[np.argsort(table.codes[rows], kind="stable")]
        values = np.zeros((self.candidates, len(rows)))
        codes = np.zeros(values.shape, dtype=np.int64)
        for place, column in enumerate(self.position[: self.candidates].tolist()):
            own = np.asarray(table.columns[column])[rows]
            if self.kind[place] == NUMBER:
                x = values[place] = (own - self.centre[place]) / self.scale[place]
                if not np.isnan(empty := self.hurdle(place)):
                    numbers = NUMBERS_FROM + np.rint(x * UNIT).astype(int)
                    codes[place] = np.where(np.isclose(x, empty, 0.0, 1e-9), NO_NUMBER, numbers)
            else:
                codes[place] = self.groups[place][own] if place in self.groups else own
            if self.kind[place] == ORDERED:
                # normal scores of the levels over all rows, in standard units
                levels = np.asarray(table.columns[column], dtype=np.float64)[complete_rows(table)]
                scores = gaussian_ranks(levels)
                by_level = np.zeros(int(self.classes[place]))
                by_level[levels.astype(np.int64)] = (scores - scores.mean()) / max(
                    float(scores.std()), 1e-300
                )
                values[place] = by_level[codes[place]]
        return values, codes, table.codes[rows].astype(np.int64)

    def hurdle(self, variable: int) -> float:
        """What is written where there is no number, in standard units; NaN for columns that are no
        hurdles.
        """
        own = self.treated.get(int(self.position[variable]))
        return (
            np.nan
            if own is None
            else float((own.hurdle - self.centre[variable]) / self.scale[variable])
        )

    def with_groups(self) -> ScoreData:
        """The same, where levels of the only context that nothing tells apart are one class."""
        context = self.context_variables
        if len(context) != 1 or self.is_window or context[0] >= self.nodes:
            return self
        place = context[0]
        if place in self.made_of or self.kind[place] != CLASS or self.may_be_ordered:
            return self
        levels = int(self.classes[place])
        indicators = [
            self.codes[j] == level
            for j in range(self.candidates)
            if self.kind[j] == CLASS and j != place
            for level in range(int(self.classes[j]))
        ]
        columns = np.vstack([self.values[self.kind != CLASS], *indicators])
        group = alike_levels(columns, self.codes[place], levels)
        if len(np.unique(group)) == levels:
            return self
        classes = self.classes.copy()
        classes[place] = len(np.unique(group))
        codes = self.codes.copy()
        codes[place] = group[codes[place]]
        return replace(self, classes=classes, codes=codes, groups={place: group})

    def with_rows(self) -> ScoreData:
        """The same with its rows, or with every m-th row of a long table."""
        usable = np.flatnonzero(complete_rows(self.table))
        step = max(1, -(-len(usable) // MOST_ROWS), -(-len(usable) * self.causes // MOST_VALUES))
        values, codes, cells = self._rows(usable[::step])
        gap = np.zeros(len(self.kind))
        for j in np.flatnonzero(self.kind == NUMBER).tolist():
            gaps = np.diff(np.sort(values[j]))
            gaps = gaps[gaps > 0.0]
            if 0 < len(gaps) < MOST_DISTINCT * values.shape[1] - 1 and gaps.min() > SMALLEST_GAP:
                # values repeat
                gap[j] = gaps.min()
        weight = self.table.share * (len(usable) / max(len(usable[::step]), 1))
        return replace(self, values=values, codes=codes, cells=cells, gap=gap, weight=weight)


def by_name(table: Dataset) -> tuple[Dataset, Ints]:
    """The table with context variables sorted by name, so that their order cannot matter; the new
    number of a cell.
    """
    old = table.contexts
    places = sorted(range(len(old.positions)), key=lambda j: table.names[old.positions[j]])
    moved = [tuple(cell[j] for j in places) for cell in old.cells]
    if places == sorted(places):
        return table, np.arange(len(moved))
    cells = sorted(moved)
    number = np.array([cells.index(cell) for cell in moved])
    sources = tuple(old.sources[j] for j in places) if old.sources else ()
    contexts = replace(
        old, positions=tuple(old.positions[j] for j in places), cells=tuple(cells), sources=sources
    )
    codes = np.where(table.codes >= 0, number[table.codes], -1).astype(table.codes.dtype)
    levels = tuple(table.levels[j] for j in places)
    return replace(table, contexts=contexts, codes=codes, levels=levels), number


def score_data(
    table: Dataset,
    statistics: SufficientStatistics,
    links: Links,
    is_window: bool = False,
    treated: Mapping[int, Treated] | None = None,
) -> ScoreData:
    """A table in the units and the order of the score; what nothing may cause is given."""
    whole = statistics.moments.merged()
    centre = whole.mean[0]
    pooled = whole.scatter[0]
    scale = np.sqrt(np.diagonal(pooled) / whole.rows[0])
    scale = np.where(scale > 0.0, scale, 1.0)
    # by what columns hold, so that their order cannot matter; names break ties
    correlation = pooled / scale[:, None] / scale / statistics.moments.rows.sum()
    keys = np.round(
        np.stack([np.sum(correlation**2, axis=1), np.sum(np.abs(correlation), axis=1)]), 7
    )
    order = np.array(
        sorted(range(len(scale)), key=lambda j: (keys[0, j], keys[1, j], statistics.names[j])),
        np.int64,
    )
    system = np.array(table.system)[order]
    own = [
        position
        for position in table.contexts.positions
        if table.contexts.source_of(position) is None
    ]
    contexts = np.array(own, dtype=np.int64)
    given = np.asarray(~links.may.any(axis=0))
    given &= not given[system].all()  # a table without effects has mechanisms all the same
    parts = [
        system[~given[system]],
        contexts[~given[contexts]],
        system[given[system]],
        contexts[given[contexts]],
    ]
    candidates = np.concatenate(parts)
    levels = dict(zip(table.contexts.positions, map(len, table.levels), strict=True))
    kinds = [
        (
            KINDS[table.kinds[c]]
            if c not in levels or (levels[c] > 2 and table.kinds[c] is Kind.ORDERED)
            else CLASS
        )
        for c in candidates.tolist()
    ]
    classes = [
        levels.get(c, 0 if table.kinds[c].is_number else len(table.categories.get(c, ())))
        for c in candidates.tolist()
    ]
    place = dict(zip(system.tolist(), order.tolist(), strict=True))
    units = [
        (centre[place[c]], scale[place[c]]) if c in place else (0.0, 1.0)
        for c in candidates.tolist()
    ]
    position = np.concatenate(
        [candidates, [c for c in table.contexts.positions if c not in own]]
    ).astype(np.int64)
    nothing = np.empty(0, dtype=np.int64)
    return (
        ScoreData(
            table,
            links,
            position,
            np.array(kinds, dtype=np.int64),
            np.array(classes, dtype=np.int64),
            np.array([one for one, _ in units]),
            np.array([other for _, other in units]),
            statistics.moments.rows.astype(np.float64),
            np.zeros(len(kinds)),
            np.empty((0, 0)),
            nothing[None],
            nothing,
            1.0,
            len(parts[0]),
            len(parts[0]) + len(parts[1]),
            is_window,
            treated or {},
        )
        .with_rows()
        .with_groups()
    )


def orders_of(cells: int, contexts: int) -> int:
    """The number of orders of a table: one per cell, but of many combinations of several contexts
    one for all.
    """
    return cells if contexts <= 1 or cells <= MOST_CELLS_EXACT else 1


def _split(groups: Ints) -> tuple[bool, ...]:
    """Two groups of cells, whichever is called 0."""
    return tuple((groups != groups[0]).tolist())


def members(mask: int, contexts: int) -> list[int]:
    """The contexts of a bit mask."""
    return [r for r in range(contexts) if mask >> r & 1]

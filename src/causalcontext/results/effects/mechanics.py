"""Which rows are right for a mechanism, and its fit on them: the adaptive rule for mechanisms.

A mechanism is fitted where its noise is independent of what selects the rows. An ancestor of the
context has one mechanism in all contexts, and any choice of rows by the context would select by its
own noise: it is fitted on all rows. So is a variable that no context causes: its mechanism is the
same everywhere. A variable that a context causes is fitted on the rows of its own context; it
cannot be an ancestor of that context, so its noise knows nothing of it. Several contexts are the
same rule: a variable is fitted on the rows that agree with its graph's cell on the context
variables that cause it. A score-based result says itself which contexts share a mechanism.

With lags the rows are windows, R(t), R(t-1), ... are context variables of them, and a graph holds
all of these at one value.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from causalcontext.data.columns import Kind
from causalcontext.data.moments import Moments
from causalcontext.errors import NotYetError, OptionError, check_choice
from causalcontext.graphs.dags import Family, LocalFamilies, OpenGraphs
from causalcontext.graphs.endpoints import Endpoint, GraphKind
from causalcontext.graphs.lag_names import at, window_names
from causalcontext.kernels.arrays import Floats
from causalcontext.progress import Count
from causalcontext.results.curve_difference import rows_in_units
from causalcontext.results.effects.estimates import Estimate, Parameters
from causalcontext.results.effects.fits import (
    CellGroups,
    CompleteRows,
    MechanismFit,
    SharedFit,
    fit,
    shared_fits,
)
from causalcontext.results.effects.unrolled import UnrolledGraphs
from causalcontext.results.effects.window_pags import WindowPag
from causalcontext.results.log import Decision
from causalcontext.results.series import context_nodes, copies_in, series_of
from causalcontext.search.lagged.plan import Window
from causalcontext.views import Contexts, View, adaptive, described

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

ERRORS = ("auto", "sandwich", "classical")
INTERVALS = ("auto", "mixture", "graph")
GIVEN = "given this graph"


class NoAnswer(Exception):
    """A number that the graphs or the rows do not give; the text says why."""

    @property
    def note(self) -> str:
        """The reason as a table of effects has it."""
        return f"not identified: {self}"


class Refused(NoAnswer):
    """The same, where the text is the note already: "not yet", or what another number was refused
    for.
    """

    @property
    def note(self) -> str:
        """The text as it is."""
        return str(self)


class NotLinear(Refused):
    """A mechanism that is no linear regression."""


class RowChoice(NamedTuple):
    """The rows of a mechanism: groups of cells, each with its own level; the contexts of every
    group; why these.

    `fixed` are the context variables that select them; `together` says that slopes which contexts
    share are fitted on the rows of all of them.
    """

    graphs: CellGroups
    groups: CellGroups
    why: str
    fixed: tuple[int, ...] = ()
    together: bool = False


@dataclass(frozen=True, eq=False)
class Means(Parameters):
    """The means of all columns on the rows of some contexts, as parameters."""

    values: Floats


LARGEST_Z = 3.3
"""Residuals of neighbouring windows that are correlated more clearly than this are named."""


class Mechanics(UnrolledGraphs):
    """The graphs of a result with the fits of their mechanisms, each made once.

    With `errors` "auto" they are those of the sandwich where the result has rows; with `intervals`
    "auto" intervals are over draws of graphs where there are any.
    """

    def __init__(
        self,
        result: ContextGraphs,
        errors: str = "auto",
        intervals: str = "graph",
        progress: bool | Count = False,
    ) -> None:
        check_choice("errors", errors, ERRORS)
        check_choice("intervals", intervals, INTERVALS)
        self.result = result
        series = result.series
        self.row_contexts, self.moments = _sufficient_statistics(result)
        window = (
            Window(len(result.names), 0)
            if series is None
            else Window(len(series.variables), series.lags, len(series.covariates))
        )
        endpoints = np.stack([graph.endpoints for graph in result.graphs.values()])
        super().__init__(endpoints, window, context_nodes(result))
        self.held = result.cells if series is None else _held(result, self.window)
        self.undecided = (
            ()
            if series is None or result.evidence is None
            else tuple(_undecided(result, self.window))
        )
        # Tests would have seen a collider, a score of windows need not have.
        colliders_ruled_out = (
            (True,) if series is None else (True, False) if result.evidence is None else (False,)
        )
        triples = () if result.evidence is None else result.evidence.undecided
        self.graphs = OpenGraphs(
            self.endpoints, self.held, self.undecided, colliders_ruled_out, triples
        )
        self.is_pag = result.union.kind is GraphKind.PAG
        if errors == "sandwich" and result.table is None:
            what = "rows" if series is None else "windows"
            raise OptionError(
                f"errors is 'sandwich', which needs the {what} of the table; this result has none"
            )
        self._robust = errors != "classical" and result.table is not None
        self._fits: dict[tuple[object, ...], MechanismFit] = {}
        self._in_families: dict[tuple[Family, int, int], MechanismFit] = {}
        self._joint: dict[tuple[object, ...], tuple[SharedFit, ...] | str] = {}
        self._means: dict[tuple[int, ...], Means] = {}
        self._agreeing: dict[View, tuple[int, ...]] = {}
        self._follows: dict[MechanismFit, float] = {}
        self._longer: dict[int, CompleteRows] = {}
        self.standardised: dict[tuple[object, ...], Estimate] = {}
        self.totals: dict[tuple[object, ...], Estimate] = {}
        self.orders: dict[tuple[Family, int], dict[int, int]] = {}
        self.asked_places: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
        # answers of the local method, or why there are none
        self.local: dict[tuple[int, int, int], Any] = {}
        self.local_ways: dict[tuple[tuple[int, ...], tuple[int, ...]], LocalFamilies] = {}
        self.window_pags: dict[int, WindowPag] = {}
        self.edge_texts: dict[tuple[int, int, int], str] = {}
        self.open_texts: dict[tuple[tuple[int, ...], frozenset[tuple[int, int]]], str] = {}
        # The first edge in conflict of every variable in every graph, where there is one.
        contested = self.endpoints == Endpoint.CONFLICT
        places = np.argwhere(contested | contested.swapaxes(1, 2)).tolist()
        self.contested = {(g, v): (g, min(u, v), max(u, v)) for g, v, u in reversed(places)}
        self.draws = None
        self.intervals = GIVEN
        if intervals != "graph":
            self._take_draws(intervals == "mixture", errors, progress)

    def _take_draws(self, insists: bool, errors: str, progress: bool | Count) -> None:
        """Have intervals over draws of graphs, if there are any; else `intervals` says why not."""
        result = self.result
        reason: Any = f"errors are {errors}" if errors != "auto" else result._effect_draws(progress)
        if insists and isinstance(reason, str):
            raise OptionError(f"intervals is 'mixture', which this result does not have: {reason}")
        if not isinstance(reason, str):
            self.draws = reason
            self.intervals = "mixture"
        elif result.evidence is not None:
            self.intervals = f"{GIVEN}: {reason}"

    @cached_property
    def rows(self) -> CompleteRows | None:
        """The complete rows of the table, or its windows, if the result still has them."""
        windowed = self.result.windowed
        units = (
            None if windowed is None or windowed.sample is not None else windowed.units_of_windows
        )
        return None if self.result.table is None else CompleteRows(self.result.table, units)

    def rows_back_to(self, lag: int) -> CompleteRows | None:
        """The rows with columns as long ago as that."""
        windowed = self.result.windowed
        if windowed is None or lag <= self.window.lags:
            return self.rows
        if lag not in self._longer:
            data = windowed.back_to(lag)
            cells = {cell: number for number, cell in enumerate(self.row_contexts.cells)}
            code = np.array([cells[cell] for cell in data.contexts.cells], dtype=np.int32)
            self._longer[lag] = CompleteRows(
                replace(data, contexts=self.row_contexts, codes=code[data.codes])
            )
        return self._longer[lag]

    def fit(self, family: Family, g: int, node: int) -> MechanismFit:
        """The mechanism of a variable in a context of a family of graphs: that of its value at time
        t.
        """
        variable = self.now(node)
        key = (family, g, variable)
        if key not in self._in_families:
            choice = self.rows_for(family, g, variable)
            causes = self.parents(family, g, variable)
            self.check_linear(variable, causes)
            self._in_families[key] = (
                self._shared(family, g, variable, choice)
                if choice.together
                else self.regression(variable, causes, choice.groups, choice.graphs)
            )
        return self._in_families[key]

    def regression(
        self, effect: int, causes: tuple[int, ...], groups: CellGroups, graphs: CellGroups = ()
    ) -> MechanismFit:
        """Least squares of one variable on others, on the rows of some groups of cells.

        If these are the rows of a mechanism in some contexts, `graphs`, they are weighted as its
        spread asks for.
        """
        self.check_linear(effect, causes)
        key = (effect, causes, groups, bool(graphs))
        if key not in self._fits:
            weights = self._weights(effect, causes, groups, graphs)
            rows = self.rows if self._robust else None
            self._fits[key] = fit(self.moments, effect, causes, groups, rows, graphs, weights)
        found = self._fits[key]
        if found.problem:
            where = "" if self.result.context is None else f" (rows: {self.rows_text(groups)})"
            raise NoAnswer(f"{self.name(effect)} cannot be fitted{where}: {found.problem}")
        return found

    def _shared(self, family: Family, g: int, variable: int, choice: RowChoice) -> MechanismFit:
        """The mechanism in one context of a regression for all of them."""
        series = series_of(self.result)
        values = self.result.contexts
        # names may be shown otherwise
        nodes = [*window_names(series.variables, series.lags), *series.covariates]
        slopes = {
            (nodes.index(row.source), row.context): row.slope
            for row in series.slopes
            if row.target == nodes[variable]
        }
        blocks: dict[tuple[int, float], list[int]] = {}
        for number, (r, *_) in enumerate(choice.graphs):
            for cause in self.parents(family, r, variable):
                blocks.setdefault(
                    (cause, slopes.get((cause, values[r]), float(number))), []
                ).append(number)
        terms = tuple((cause, tuple(members)) for (cause, _), members in blocks.items())
        key = (variable, terms, choice.groups)
        if key not in self._joint:
            rows = self.rows if self._robust else None
            weights = self._weights(
                variable, [cause for cause, _ in terms], choice.groups, choice.graphs
            )
            self._joint[key] = shared_fits(
                self.moments, variable, terms, rows, choice.groups, choice.graphs, weights
            )
        found = self._joint[key]
        if isinstance(found, str):
            raise NoAnswer(f"{self.name(variable)} cannot be fitted: {found}")
        return next(one for one in found if g in one.graphs[0])

    def _weights(
        self, effect: int, causes: Sequence[int], groups: CellGroups, graphs: CellGroups
    ) -> Floats | None:
        """One over the variance of the noise in every row, by the equations of a score-based model;
        None if it is even.

        Lines alone are weighted: of a bent mechanism weights would make another line. So are the
        rows of a mechanism whose noise depends on the causes it has here, and none that the result
        has a sample of alone.
        """
        evidence = self.result.evidence
        if not (
            graphs and self._robust and evidence is not None and np.isfinite(evidence.scales_gain)
        ):
            return None
        assert self.rows is not None
        assert evidence.mechanisms is not None
        equations = [evidence.mechanisms.equation(effect, own[0]) for own in graphs]
        wide = {term.cause for equation in equations for term in equation.spread}
        lines = all(term.kind == "linear" for equation in equations for term in equation.terms)
        # windows lie between graphs
        known = {*causes} if self.result.series is not None else {-1, *causes}
        if not wide or not lines or not wide <= known or evidence.mechanisms.scales[effect].scores:
            return None
        here, place = self.rows.inside(groups)
        counted = self.moments.rows[[cell for cells in groups for cell in cells]]
        if abs(len(here) * self.rows.data.share - counted.sum()) > len(counted):
            # up to a row in every cell
            return None
        log_scale = np.zeros(len(here))
        codes = self.rows.codes[here]
        values, _ = rows_in_units(evidence.mechanisms, self.rows.data)
        for term, own in (
            (term, place == k) for k, equation in enumerate(equations) for term in equation.spread
        ):
            if term.cause < 0:
                log_scale[own] += term.slope * (np.isin(codes[own], term.contexts) - term.average)
            else:
                log_scale[own] += term.values(values[term.cause][here[own]], -1)
        return np.asarray(np.exp(-2.0 * (log_scale - log_scale.mean())))

    def means(self, cells: Sequence[int]) -> Means:
        """The means of all columns on the rows of some contexts."""
        key = tuple(cells)
        if key not in self._means:
            whole = self.moments.merged(key)
            n = int(whole.rows[0])
            self._means[key] = Means(
                whole.scatter[0] / max(n * (n - 1), 1), max(n - 1, 1), whole.mean[0]
            )
        return self._means[key]

    @cached_property
    def correlation(self) -> Floats:
        """The correlations of all columns over all rows, whatever their signs."""
        return np.abs(self.moments.merged().correlation())

    def rows_for(self, family: Family, g: int, variable: int) -> RowChoice:
        """Whose rows a mechanism is fitted on: the adaptive rule."""
        if not self.contexts:
            return RowChoice(((0,),), ((0,),), "there is no context")
        now = self.result.cells.positions
        known = self.row_contexts.positions
        evidence = self.result.evidence
        parents = family.parents(g, variable)
        named = [cause for cause in parents if cause in self.contexts]
        for cause in named:
            if cause not in known:
                raise NoAnswer(
                    f"{self.name(variable)} reads {self.name(cause)}, which is none of context_lags"
                )
        if named and evidence is not None and not self.graphs.touching([(g, variable)]):
            return self._by_model(g, variable, named)
        read = {self.place(cause)[0] for cause in named}
        others = [position for position in now if self.place(position)[0] not in read]
        above = [position for position in others if variable in family.ancestors(g, position)]
        unknown = [
            position
            for position in others
            if position not in above and self._not_searched(g, position, variable)
        ]
        listed = " and ".join(map(self.name, named))
        why = [f"{listed} {'causes' if len(named) == 1 else 'cause'} it"] if named else []
        if unknown:
            why += [f"links at {' and '.join(map(self.name, unknown))} were not searched"]
            return self._choice(self._like(g, fixed := [*named, *unknown]), fixed, "; ".join(why))
        agreeing = self._like(g, named)
        if above:
            why += [f"ancestor of {self.name(above[0])}: one mechanism in all contexts"]
            return self._choice(agreeing, named, "; ".join(why))
        free = (
            f"{' and '.join(map(self.name, now))} {'does' if len(now) == 1 else 'do'} not cause it"
        )
        words = why[0] if why else f"{free}: one mechanism in all contexts"
        alike = [h for h in agreeing if family.parents(h, variable) == parents]
        if alike == agreeing:
            return self._choice(agreeing, named, words)
        # What tells the contexts apart where a mechanism names none: with lags the latest context
        # of the past.
        latest = {
            self.place(position)[0]: position
            for position in sorted(known)
            if self.lag(position) > 0
        }
        selecting = now if self.result.series is None else latest.values()
        return self._choice(
            alike, [*named, *selecting], f"{words}, but its causes differ between contexts"
        )

    def _like(self, g: int, named: Collection[int]) -> list[int]:
        """The contexts that agree with one on some context variables."""
        own = adaptive(self.held.cell(g), named)
        return [h for h in self.cells if adaptive(self.held.cell(h), named) == own]

    def _choice(
        self,
        graphs: Sequence[int],
        fixed: Collection[int],
        why: str,
        shifted: bool = False,
        together: bool = False,
    ) -> RowChoice:
        """The rows that agree with some contexts on some context variables; if shifted, in
        groups.
        """
        by_rows: dict[tuple[int, ...], list[int]] = {}
        for h in graphs:
            by_rows.setdefault(self.rows_of(h, fixed), []).append(h)
        if shifted or together:
            return RowChoice(
                tuple(map(tuple, by_rows.values())), tuple(by_rows), why, tuple(fixed), together
            )
        cells = tuple(sorted({cell for cells in by_rows for cell in cells}))
        return RowChoice((tuple(graphs),), (cells,), why, tuple(fixed))

    def rows_of(self, g: int, fixed: Collection[int] | None = None) -> tuple[int, ...]:
        """The cells of rows that agree with a context on some context variables, or on all."""
        view = self.held.cell(g) if fixed is None else adaptive(self.held.cell(g), fixed)
        if view not in self._agreeing:
            wanted = dict(view)
            self._agreeing[view] = tuple(
                c
                for c in self.everyone
                if all(
                    wanted.get(position, level) == level
                    for position, level in self.row_contexts.cell(c)
                )
            )
        return self._agreeing[view]

    @property
    def everyone(self) -> tuple[int, ...]:
        """The cells of all rows."""
        return tuple(range(len(self.row_contexts.cells)))

    def bends(
        self, g: int, effects: Sequence[int], causes: Sequence[int] | None = None
    ) -> list[tuple[int, int, str]]:
        """The links between some variables that a score-based model found to be no straight lines,
        with their shape.
        """
        evidence = self.result.evidence
        if evidence is None or not evidence.curved:
            return []
        found = []
        for v in effects:
            for cause in (
                np.flatnonzero(self.endpoints[g, :, v]).tolist() if causes is None else causes
            ):
                judged = cause != v and int(evidence.effect[g, evidence.slot(cause, v)]) == v
                if judged and evidence.shape(cause, v, g) not in ("", "linear", "by category"):
                    found.append((cause, v, evidence.shape(cause, v, g)))
        return found

    def check_linear(self, effect: int, causes: Sequence[int]) -> None:
        """Return if a mechanism can be a linear regression; the one place that says when it
        cannot.
        """
        if causes and (kind := self.kind(effect)) is not Kind.CONTINUOUS:
            what = "a count" if kind is Kind.COUNT else kind.value
            raise NotLinear(f"not yet: {self.name(effect)} is {what}, without a linear mechanism")
        for cause in causes:
            if not ((kind := self.kind(cause)).is_number or self.is_binary(cause)):
                raise NotLinear(
                    f"not yet: {self.name(cause)} is {kind.value}, without a single coefficient"
                )

    def kind(self, variable: int) -> Kind:
        """The kind of a column."""
        return self._kinds[self.column(variable)]

    @cached_property
    def _kinds(self) -> list[Kind]:
        return [Kind(kind) for kind in self.result.data.kinds]

    @cached_property
    def all_continuous(self) -> bool:
        """True if all columns but those of contexts are continuous: then nothing is asked column by
        column.
        """
        contexts = {self.column(v) for v in self.contexts}
        return all(
            kind is Kind.CONTINUOUS for c, kind in enumerate(self._kinds) if c not in contexts
        )

    def levels(self, variable: int) -> tuple[Any, ...]:
        """What the codes of a category, an ordered column or a context stand for; nothing for a
        number.
        """
        if variable in self.contexts:
            own = [self.place(position)[0] for position in self.result.cells.positions]
            return self.result.levels[own.index(self.place(variable)[0])]
        known = self.result.data.levels
        return known[self.column(variable)] if known else ()

    def is_binary(self, variable: int) -> bool:
        """True if a column has two categories: the moments hold them as 0 and 1, and more than two
        not at all.
        """
        some = self.moments.merged().scatter[0, self.column(variable), self.column(variable)] > 0.0
        return self.kind(variable) is Kind.CATEGORICAL and bool(some)

    def name(self, node: int) -> str:
        """The name of a variable, or of its value so many steps ago."""
        names = self.result.names
        return names[node] if node < len(names) else at(names[self.now(node)], self.lag(node))

    def rows_text(self, groups: CellGroups) -> str:
        """Rows in words: "all", "R=wet", "R=dry or R=wet"."""
        contexts = self.row_contexts
        wanted = {cell for cells in groups for cell in cells}
        if not contexts.positions:
            return "all"
        own = [self.place(position)[0] for position in self.result.cells.positions]
        levels = [
            self.result.levels[own.index(self.place(position)[0])]
            for position in contexts.positions
        ]
        inside: dict[tuple[int, ...], list[int]] = {}
        for view in range(len(contexts.views)):
            if wanted.issuperset(contexts.members(view)):
                inside.setdefault(contexts.fixed(view), []).append(view)
        for views in inside.values():
            if wanted == {cell for view in views for cell in contexts.members(view)}:
                found = (described(contexts, view, self.result.names, levels) for view in views)
                return " or ".join(
                    ", ".join(f"{name}={value}" for name, value in one.items()) or "all"
                    for one in found
                )
        return "none"

    def follows(self, found: MechanismFit) -> float:
        """The correlation of residuals of neighbouring windows where it is clear; else 0."""
        windowed = self.result.windowed
        if self.rows is None or windowed is None:
            return 0.0
        if found not in self._follows:
            values, place = self.rows.values([found.effect, *found.causes], found.groups)
            fitted = found.levels[place] + np.sum(
                (values[:, 1:] - found.centres[place]) * found.slopes, axis=1
            )
            residual = values[:, 0] - fitted
            after = np.flatnonzero(
                np.diff(windowed.table.row[self.rows.inside(found.groups)[0]]) == 1
            )
            spread = float(residual.var()) * len(after)
            correlation = (
                float(residual[after] @ residual[after + 1]) / spread if spread > 0.0 else 0.0
            )
            self._follows[found] = (
                correlation if abs(correlation) * np.sqrt(len(after)) > LARGEST_Z else 0.0
            )
        return self._follows[found]

    def _by_model(self, g: int, variable: int, named: Sequence[int]) -> RowChoice:
        """The contexts that share a mechanism in a score-based model."""
        evidence = self.result.evidence
        series = self.result.series
        assert evidence is not None
        mask = int(evidence.block[g, variable])
        model = evidence.model[variable]
        why = f"the model of {self.name(variable)} is {model}"
        if model == "mixed" and series is not None and series.slopes and len(named) == 1:
            return self._choice(
                self.cells, named, f"{why}: slopes that stay are fitted together", together=True
            )
        graphs = (
            self._like(g, named) if model == "mixed" else [r for r in self.cells if mask >> r & 1]
        )
        return self._choice(graphs, named, why, model == "shifted")

    def _not_searched(self, g: int, position: int, variable: int) -> bool:
        """True if nothing was asked about a context and a variable: by pc-m, and of contexts made
        out of a column.

        Graphs that were given and have links at the context say all that there is to know about it.
        """
        context = self.place(position)[0]
        log = self.result.log
        if context in self._linked_contexts:
            return False
        searched = log.decision[g] != Decision.NOT_SEARCHED
        nodes = (self.at(context, lag) for lag in range(self.window.lags + 1))
        slots = [log.slot(node, variable) for node in nodes if node != variable]
        # A score has no log at all.
        return self.result.evidence is None and bool(searched.any() and not searched[slots].any())

    @cached_property
    def _linked_contexts(self) -> frozenset[int]:
        """The context variables with links in some graph, other than those to the column that they
        are made of.
        """
        sources = dict(self.result.cells.made)
        nodes = (
            (position, c)
            for position in self.result.cells.positions
            for c in self.contexts
            if self.place(c)[0] == self.place(position)[0]
        )
        found = set()
        for position, node in nodes:
            linked = (self.endpoints[:, node] != Endpoint.NONE) | (
                self.endpoints[:, :, node] != Endpoint.NONE
            )
            beside = np.ones(linked.shape[1], dtype=bool)
            if position in sources:
                own = self.place(sources[position])[0]
                beside = np.array([self.place(v)[0] != own for v in range(linked.shape[1])])
            if (linked & beside).any():
                found.add(self.place(position)[0])
        return frozenset(found)


def _sufficient_statistics(result: ContextGraphs) -> tuple[Contexts, Moments]:
    """The context variables of the rows or windows, and the moments of all columns in their
    cells.
    """
    known = result.window_moments
    found = (
        known
        if result.series is not None or result.moments is None
        else (result.cells, result.moments)
    )
    if found is None:
        raise NotYetError(
            "not yet: coefficients and effects need the moments of every context, which this result"
            " has not"
        )
    if not result.final:
        raise OptionError(
            "the search was interrupted, so its graphs are not final; run discover again"
        )
    return found


def _held(result: ContextGraphs, window: Window) -> Contexts:
    """The context variables at all times of a window, each at its value in every graph."""
    columns = [
        (window.at(found[0], lag), j)
        for j, position in enumerate(result.cells.positions)
        if (found := window.place(position))
        for lag in range(window.lags + 1)
    ]
    return Contexts(
        tuple(position for position, _ in columns),
        tuple(tuple(cell[j] for _, j in columns) for cell in result.cells.cells),
    )


def _undecided(result: ContextGraphs, window: Window) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Variables for which a score does not decide between context lags, with these, as nodes."""
    series = series_of(result)
    for v, name in enumerate(series.variables):
        for context, lags in copies_in(series.reads.get(name)):
            if len(lags) > 1:
                yield (
                    window.at(v, 0),
                    tuple(window.at(series.variables.index(context), lag) for lag in lags),
                )

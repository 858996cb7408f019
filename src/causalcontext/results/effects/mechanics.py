"""Which rows are right for a mechanism, and its fit on them: the adaptive rule for mechanisms.

A mechanism is fitted where its noise is independent of what selects the rows. An ancestor of the context has one
mechanism in all contexts, and any choice of rows by the context would select by its own noise: it is fitted on all
rows. So is a variable that no context causes: its mechanism is the same everywhere. A variable that a context causes is
fitted on the rows of its own context; it cannot be an ancestor of that context, so its noise knows nothing of it.
Several contexts are the same rule: a variable is fitted on the rows that agree with its graph's cell on the context
variables that cause it. A score-based result says itself which contexts share a mechanism.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from causalcontext.data.kinds import Kind
from causalcontext.data.moments import Moments
from causalcontext.errors import NotYetError, OptionError, check_choice
from causalcontext.graphs import endpoints
from causalcontext.graphs.dags import Family, OpenGraphs
from causalcontext.graphs.endpoints import Endpoints, may_cause
from causalcontext.graphs.paths import reach
from causalcontext.kernels.arrays import Bools, Floats
from causalcontext.results.effects.estimates import Estimate, Parameters
from causalcontext.results.effects.fits import CompleteRows, MechanismFit, fit
from causalcontext.results.entries import Decision
from causalcontext.views import adaptive

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

ERRORS = ("auto", "sandwich", "classical")


class NoAnswer(Exception):
    """A number that the graphs or the rows do not give; the text says why."""

    @property
    def note(self) -> str:
        """The reason as a table of effects has it."""
        return f"not identified: {self}"


class Refused(NoAnswer):
    """The same, where the text is the note already: "not yet", or what another number was refused for."""

    @property
    def note(self) -> str:
        """The text as it is."""
        return str(self)


class NotLinear(Refused):
    """A mechanism that is no linear regression."""


class RowChoice(NamedTuple):
    """The contexts on whose rows a mechanism is fitted, whether each has its own level, and why these."""

    cells: tuple[int, ...]
    shifted: bool
    why: str


@dataclass(frozen=True, eq=False)
class Means(Parameters):
    """The means of all columns on the rows of some contexts, as parameters."""

    values: Floats


class Mechanics:
    """The graphs of a result with the fits of their mechanisms, each made once.

    Parameters
    ----------
    result : ContextGraphs
    errors : {"auto", "sandwich", "classical"}
        "auto" takes the sandwich where the result has rows.
    """

    def __init__(self, result: ContextGraphs, errors: str = "auto") -> None:
        check_choice("errors", errors, ERRORS)
        self.result = result
        self.moments = _moments(result)
        self.endpoints: Endpoints = np.stack([graph.endpoints for graph in result.graphs.values()])
        self.graphs = OpenGraphs(self.endpoints, result.cells)
        self.contexts = frozenset(result.cells.positions)
        self.is_pag = result.union.kind is endpoints.GraphKind.PAG
        if errors == "sandwich" and result.rows is None:
            raise OptionError("errors is 'sandwich', which needs the rows of the table; this result has none")
        self._robust = errors == "sandwich" or (errors == "auto" and result.rows is not None)
        self._fits: dict[tuple[object, ...], MechanismFit] = {}
        self._means: dict[tuple[int, ...], Means] = {}
        self.standardised: dict[tuple[object, ...], Estimate] = {}
        self.totals: dict[tuple[Family, int, int, int], Estimate] = {}

    @property
    def cells(self) -> range:
        """The contexts, by number."""
        return range(len(self.endpoints))

    @cached_property
    def rows(self) -> CompleteRows | None:
        """The complete rows of the table, if the result still has it."""
        return None if self.result.rows is None else CompleteRows(self.result.rows)

    @cached_property
    def reach(self) -> Bools:
        """`reach[g, x, y]`: x may lead to y in a graph along edges between system variables; shape (graphs, N, N)."""
        links = may_cause(self.endpoints)
        links[:, list(self.contexts), :] = links[:, :, list(self.contexts)] = False
        return reach(links)

    @cached_property
    def from_contexts(self) -> Bools:
        """`from_contexts[g, y]`: a context variable may lead to y; shape (graphs, N)."""
        children: Bools = np.asarray(may_cause(self.endpoints)[:, list(self.contexts), :].any(axis=1))
        return np.asarray(children | (children[:, :, None] & self.reach).any(axis=1))

    @cached_property
    def into_contexts(self) -> Bools:
        """`into_contexts[g, x]`: x may lead to a context variable; shape (graphs, N)."""
        parents: Bools = np.asarray(may_cause(self.endpoints)[:, :, list(self.contexts)].any(axis=2))
        return np.asarray(parents | (parents[:, None, :] & self.reach).any(axis=2))

    def between(self, g: int, x: int, y: int) -> list[int]:
        """What may lie on a directed path from x to y, y included and x not."""
        found = self.reach[g, x] & self.reach[g, :, y]
        found[y] = self.reach[g, x, y]
        found[x] = False
        return np.flatnonzero(found).tolist()

    def fit(self, family: Family, g: int, variable: int) -> MechanismFit:
        """The mechanism of a variable in a context of a family of graphs."""
        causes = tuple(cause for cause in family.parents(g, variable) if cause not in self.contexts)
        choice = self.rows_for(family, g, variable)
        return self.regression(variable, causes, choice.cells, choice.shifted)

    def regression(
        self, effect: int, causes: tuple[int, ...], cells: tuple[int, ...], shifted: bool = False
    ) -> MechanismFit:
        """Least squares of one variable on others, on the rows of some contexts."""
        self.check_linear(effect, causes)
        shifted = shifted and len(cells) > 1
        key = (effect, causes, cells, shifted)
        if key not in self._fits:
            self._fits[key] = fit(self.moments, effect, causes, cells, shifted, self.rows if self._robust else None)
        found = self._fits[key]
        if found.problem:
            where = "" if self.result.context is None else f" (rows: {self.rows_text(cells)})"
            raise NoAnswer(f"{self.name(effect)} cannot be fitted{where}: {found.problem}")
        return found

    def means(self, cells: Sequence[int]) -> Means:
        """The means of all columns on the rows of some contexts."""
        key = tuple(cells)
        if key not in self._means:
            whole = self.moments.merged(key)
            n = int(whole.rows[0])
            self._means[key] = Means(whole.scatter[0] / max(n * (n - 1), 1), max(n - 1, 1), whole.mean[0])
        return self._means[key]

    def rows_for(self, family: Family, g: int, variable: int) -> RowChoice:
        """Whose rows a mechanism is fitted on: the adaptive rule."""
        contexts = self.result.cells
        if not contexts.positions:
            return RowChoice((0,), False, "there is no context")
        named = [cause for cause in family.parents(g, variable) if cause in self.contexts]
        if named and self.result.evidence is not None and not self.graphs.touching([(g, variable)]):
            return self._by_model(g, variable)
        if self.result.evidence is None and self._not_searched(g, variable):
            return RowChoice((g,), False, f"links at {self.result.context} were not searched")
        cells = contexts.members(contexts.number(adaptive(contexts.cell(g), named)))
        listed = ", ".join(self.name(cause) for cause in named)
        others = [context for context in contexts.positions if context not in named]
        above = next((c for c in others if variable in family.ancestors(g, c)), None)
        if above is not None:
            why = f"ancestor of {self.name(above)}: one mechanism in all contexts"
            return RowChoice(cells, False, f"{listed} causes it; {why}" if listed else why)
        alike = tuple(h for h in cells if family.parents(h, variable) == family.parents(g, variable))
        free = f"{self._all_contexts} does not cause it: one mechanism in all contexts"
        why = f"{listed} causes it" if listed else free
        return RowChoice(alike, False, why if alike == cells else f"{why}, but its causes differ between contexts")

    def bends(self, g: int, effects: Sequence[int], causes: Sequence[int] | None = None) -> list[tuple[int, int, str]]:
        """The links between some variables that a score-based model found to be no straight lines, with their shape."""
        evidence = self.result.evidence
        if evidence is None or not evidence.curved:
            return []
        found = []
        for v in effects:
            for cause in np.flatnonzero(self.endpoints[g, :, v]).tolist() if causes is None else causes:
                judged = cause != v and int(evidence.effect[g, evidence.slot(cause, v)]) == v
                if judged and evidence.shape(cause, v, g) not in ("", "linear", "by category"):
                    found.append((cause, v, evidence.shape(cause, v, g)))
        return found

    def check_linear(self, effect: int, causes: Sequence[int]) -> None:
        """Return if a mechanism can be a linear regression; the one place that says when it cannot."""
        if causes and self.kind(effect) is not Kind.CONTINUOUS:
            raise NotLinear(f"not yet: {self.name(effect)} is {self.kind_text(effect)}, without a linear mechanism")
        for cause in causes:
            if not (self.kind(cause).is_number or self.is_binary(cause)):
                raise NotLinear(f"not yet: {self.name(cause)} is {self.kind_text(cause)}, without a single coefficient")

    def kind(self, variable: int) -> Kind:
        """The kind of a column."""
        return Kind(self.result.data.kinds[variable])

    def kind_text(self, variable: int) -> str:
        """The kind of a column after "is"."""
        return "a count" if self.kind(variable) is Kind.COUNT else self.kind(variable).value

    def is_binary(self, variable: int) -> bool:
        """Whether a column has two categories: the moments hold them as 0 and 1, and more than two not at all."""
        some = self.moments.merged().scatter[0, variable, variable] > 0.0
        return self.kind(variable) is Kind.CATEGORICAL and bool(some)

    def name(self, variable: int) -> str:
        """The name of a variable."""
        return self.result.names[variable]

    def rows_text(self, cells: Sequence[int]) -> str:
        """Rows in words: "all", "R=wet", "R=dry or R=wet"."""
        contexts = self.result.cells
        for view in range(len(contexts.views)):
            if contexts.members(view) == tuple(cells):
                return ", ".join(f"{name}={value}" for name, value in self.result.fixed(view).items()) or "all"
        return " or ".join(self.rows_text([cell]) for cell in cells)

    @property
    def _all_contexts(self) -> str:
        return " and ".join(self.name(position) for position in self.result.cells.positions)

    def _by_model(self, g: int, variable: int) -> RowChoice:
        """The contexts that share a mechanism in a score-based model."""
        evidence = self.result.evidence
        assert evidence is not None
        mask, model = int(evidence.block[g, variable]), evidence.model[variable]
        cells = (g,) if model == "mixed" else tuple(r for r in self.cells if mask >> r & 1)
        return RowChoice(cells, model == "shifted", f"the model of {self.name(variable)} is {model}")

    def _not_searched(self, g: int, variable: int) -> bool:
        """Whether a method that looks at every context by itself asked nothing about the context."""
        log = self.result.log
        slots = [log.slot(position, variable) for position in self.result.cells.positions if position != variable]
        return bool((log.decision[g, slots] == Decision.NOT_SEARCHED).all())


def _moments(result: ContextGraphs) -> Moments:
    if result.moments is None:
        raise NotYetError("not yet: coefficients and effects need the moments of every context, which this result has "
                          "not")  # fmt: skip
    if not result.complete:
        raise OptionError("the search was interrupted, so nothing is oriented; run discover again")
    return result.moments

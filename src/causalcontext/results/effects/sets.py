"""All values that a number can have over the graphs that are left open: never one of them picked in
silence.

Where few families of graphs are left, each is asked (exact). Else the local method (after Maathuis,
Kalisch and Bühlmann 2009) asks for the causes of x and of the context alone: in the rows of the
context, the coefficient of x given the causes of x is its effect if x does not lead to the context;
if it does, the causes of the context are held fixed, and what x does through them is added, with
their dependence on x taken from all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from causalcontext.errors import listed
from causalcontext.graphs.dags import Family, LocalFamilies
from causalcontext.graphs.endpoints import mark_of
from causalcontext.results.effects.estimates import Estimate, total
from causalcontext.results.effects.mechanics import Mechanics, NoAnswer

MOST_FAMILIES = 256
FEWEST_FAMILIES = 16
"""More families than the first number are not listed, of large open graphs fewer, but the second;
the local method takes over."""
MOST_ANSWERS = 120_000
"""Answers of families to all pairs of a result, in all contexts and of all differences between two.
"""
MOST_LOCAL = 256
FEWEST_LOCAL = 2
"""The local method asks no more choices of causes than the first number; of large open graphs
fewer. If not even the second can be asked of every pair, it answers only where there are no others.
"""
MOST_FITS = 4096
"""Regressions by the local method for all pairs of a result."""
SAME = 1e-9
"""Values that differ by less, as a share of their size and error, are one."""
Place = tuple[int, int]
"""(graph, variable)"""


class Possible(NamedTuple):
    """The different values of a number over all graphs that are left open, in order; or none, and
    why.
    """

    estimates: tuple[Estimate, ...]
    note: str = ""

    @property
    def identified(self) -> bool:
        """True if there is just one value."""
        return len(self.estimates) == 1

    def interval(self, level: float) -> tuple[float, float]:
        """What encloses the intervals of all values; NaN where there is none."""
        found = [estimate.interval(level) for estimate in self.estimates] or [(np.nan, np.nan)]
        return min(low for low, _ in found), max(high for _, high in found)


class LocalAnswers(NamedTuple):
    """The values by the local method, and whether not all choices of causes were asked."""

    estimates: Sequence[Estimate]
    cut: bool = False


def possible(
    mechanics: Mechanics,
    places: Sequence[Place],
    ask: Callable[[Family], Estimate],
    local: Callable[[], LocalAnswers] | None = None,
) -> Possible:
    """The values of a number over all families of graphs: `ask` has it in one family, `local` by
    the local method.

    `places` are the variables whose causes the number depends on.
    """
    blamed = next((ends for place in places if (ends := mechanics.contested.get(place))), None)
    if blamed is not None:  # the first edge in conflict at some variables
        return Possible((), f"not identified, because of {edge_text(mechanics, *blamed)}")
    components = mechanics.graphs.touching(places)
    families = mechanics.graphs.families(components, most_families(mechanics))
    try:
        if families is None:
            if local is None:
                raise too_many_families(mechanics)
            answers = local()
            return collected(
                answers.estimates,
                lambda: f"(local method) {_open_edges(mechanics, components, places)}",
                answers.cut,
            )
        if not families:
            raise NoAnswer(
                "no directed acyclic graph agrees with the directions that were found and any"
                " directions of " + _open_edges(mechanics, components, places)
            )
        return collected(map(ask, families), lambda: _open_edges(mechanics, components, places))
    except NoAnswer as reason:
        return Possible((), reason.note)


def most_families(mechanics: Mechanics) -> int:
    """How many families are asked: by the sizes of the open graphs alone, not by the order of
    columns or questions.
    """
    contexts = len(mechanics.cells)
    variables = len(mechanics.graphs.endpoints[0])
    asked = len(mechanics.graphs.open_variables) * variables * contexts * (contexts + 1) // 2
    share = MOST_ANSWERS // max(asked, 1)
    return min(MOST_FAMILIES, max(FEWEST_FAMILIES, share))


def too_many_families(mechanics: Mechanics) -> NoAnswer:
    """The reason why there is no answer where not even the local method has one."""
    return NoAnswer(
        f"more than {most_families(mechanics)} directed graphs are possible; add knowledge"
    )


def local_effects(mechanics: Mechanics, g: int, x: int, y: int) -> LocalAnswers:
    """The effect of x on y in a context, for all causes that x and the context may have; asked
    once, or refused.
    """
    if (g, x, y) not in mechanics.local:
        try:
            mechanics.local[g, x, y] = _local_effects(mechanics, g, x, y)
        except NoAnswer as reason:
            mechanics.local[g, x, y] = reason
    found: LocalAnswers | NoAnswer = mechanics.local[g, x, y]
    if isinstance(found, NoAnswer):
        raise found.with_traceback(None)
    return found


def _local_effects(mechanics: Mechanics, g: int, x: int, y: int) -> LocalAnswers:
    if mechanics.lag(x):  # its own causes lie partly before the window
        raise too_many_families(mechanics)
    near = [x, *sorted(mechanics.contexts - {x})]
    ways = local_families(mechanics, [g], near)
    asked = {}
    if ways.cut and _choices_of_each(mechanics) < FEWEST_LOCAL:
        raise _too_many_choices(mechanics, near)
    for family in ways.families:
        towards = sorted({c for context in mechanics.contexts for c in family.parents(g, context)})
        causes, into = (
            tuple(v for v in some if v not in mechanics.contexts)
            for some in (family.parents(g, x), towards)
        )
        if (causes, into) not in asked:
            asked[causes, into] = _local_effect(mechanics, g, x, y, causes, into)
    return LocalAnswers(list(asked.values()), ways.cut)


def local_families(
    mechanics: Mechanics, cells: Sequence[int], variables: Sequence[int]
) -> LocalFamilies:
    """The ways to direct the open edges at some variables in some contexts; `NoAnswer` if there are
    none.

    How many are listed depends on the sizes of the open graphs alone, and which on the correlations
    of the columns, not on the order of columns or of questions: those with few causes, the most
    correlated ones first.
    """
    key = tuple(cells), tuple(variables)
    if key not in mechanics.local_ways:
        graphs = mechanics.graphs
        near = {v: place for place, v in enumerate(variables)}
        edges = [
            (g, i, j) if near.get(i, len(near)) <= near.get(j, len(near)) else (g, j, i)
            for part in graphs.components
            for g, i, j in part
            if g in cells and (i in near or j in near)
        ]
        edges.sort(key=lambda edge: mechanics.correlation[tuple(map(mechanics.column, edge[1:]))])
        most = min(MOST_LOCAL, max(FEWEST_LOCAL, _choices_of_each(mechanics)))
        mechanics.local_ways[key] = graphs.local(edges, most)
    found = mechanics.local_ways[key]
    if not found.families and found.cut:
        raise _too_many_choices(mechanics, variables)
    if not found.families:
        raise NoAnswer(
            "no directed acyclic graph agrees with the directions that were found, whichever way"
            f" the open edges at {listed(map(mechanics.name, variables), 3)} point"
        )
    return found


def _too_many_choices(mechanics: Mechanics, variables: Sequence[int]) -> NoAnswer:
    names = listed(map(mechanics.name, variables), 3)
    return NoAnswer(f"open edges leave too many choices of the causes of {names}; add knowledge")


def _choices_of_each(mechanics: Mechanics) -> int:
    """How many choices of causes every pair may ask for, so that all of them together stay below
    `MOST_FITS`.
    """
    graphs = mechanics.graphs
    return MOST_FITS // max(len(graphs.open_places) * int(graphs.endpoints.shape[1]), 1)


def _local_effect(
    mechanics: Mechanics, g: int, x: int, y: int, causes: tuple[int, ...], into: tuple[int, ...]
) -> Estimate:
    """The effect of x on y in a context, with given causes of x and of the context."""
    if y in causes:
        return Estimate(0.0)
    here = (mechanics.rows_of(g),)
    everywhere = (mechanics.everyone,)
    if not mechanics.into_contexts[g, mechanics.place(x)[0]]:
        return mechanics.regression(y, (x, *causes), here).slope(x)
    if len(mechanics.contexts) > 1:
        raise NoAnswer(
            f"{mechanics.name(x)} may lead to a context, and too many directed graphs are possible"
        )
    if y in into:
        return mechanics.regression(y, (x, *causes), everywhere).slope(x)
    between = tuple(c for c in into if c != x and c not in causes)
    inside = mechanics.regression(y, (x, *causes, *between), here)
    parts = [inside.slope(x)]
    for cause in between:
        onto = mechanics.regression(cause, (x, *causes), everywhere).slope(x)
        onward = inside.slope(cause)
        through = total([onto.scaled(onward.value), onward.scaled(onto.value)])
        parts.append(Estimate(onto.value * onward.value, through.gradient))
    return total(parts)


def collected(
    estimates: Iterable[Estimate], open_edges: Callable[[], str], cut: bool = False
) -> Possible:
    """The different values; where there are several, what leaves them open, in words that take
    their time.

    `cut` says that there may be others.
    """
    found: list[Estimate] = []
    for estimate in sorted(estimates, key=lambda one: (one.value, -one.error)):
        if not np.isfinite(estimate.value):
            raise NoAnswer("a coefficient is not a number")
        if not found or estimate.value - found[-1].value > SAME * (
            abs(estimate.value) + estimate.error
        ):
            found.append(estimate)
    if len(found) == 1 and not cut:
        return Possible(tuple(found))
    if len(found) == 1:
        raise NoAnswer(
            f"there are too many directed graphs to evaluate them all: left open by {open_edges()}"
        )
    span = f"{'at least ' if cut else ''}between {found[0].value:.3g} and {found[-1].value:.3g}"
    return Possible(tuple(found), f"{span}: left open by {open_edges()}")


def _open_edges(mechanics: Mechanics, components: Sequence[int], places: Sequence[Place]) -> str:
    """The open edges at some variables, in words."""
    key = tuple(components), frozenset(places)
    if key not in mechanics.open_texts:
        read = {(cause, v) for v, causes in mechanics.undecided for cause in causes}
        near = [
            (g, i, j)
            for number in components
            for g, i, j in mechanics.graphs.components[number]
            if (g, i) in key[1] or (g, j) in key[1]
        ]
        edges = [
            (
                f"the lag at which {mechanics.name(mechanics.now(i))} acts on {mechanics.name(j)}"
                if (i, j) in read
                else edge_text(mechanics, g, i, j)
            )
            for g, i, j in near
        ]
        mechanics.open_texts[key] = listed(dict.fromkeys(edges), 3)
    return mechanics.open_texts[key]


def edge_text(mechanics: Mechanics, g: int, i: int, j: int) -> str:
    """An edge as it is written, with its context where it differs between contexts."""
    if (g, i, j) not in mechanics.edge_texts:
        endpoints = mechanics.endpoints
        text = f"{mechanics.name(i)} {mark_of(endpoints[g], i, j)} {mechanics.name(j)}"
        if not (
            (endpoints[:, i, j] == endpoints[g, i, j]) & (endpoints[:, j, i] == endpoints[g, j, i])
        ).all():
            rows = mechanics.rows_of(g, mechanics.result.cells.positions)
            text += f" in {mechanics.rows_text((rows,))}"
        mechanics.edge_texts[g, i, j] = text
    return mechanics.edge_texts[g, i, j]

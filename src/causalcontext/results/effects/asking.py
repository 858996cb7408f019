"""One question at a time: the effect of x on y in a context, the difference between two, the effect
of a context.

Every answer is a `Possible`: one number, several that the graph leaves open, or none and the
reason.

Under do(R = a) every case has the mechanisms of context a. What lies upstream of R keeps its mean
over all rows; what R leads to follows from the mechanisms of a, fitted where they can be
(`mechanics`). So the difference between two contexts is an effect of R, not of what makes cases
land in one context or the other.

In PAGs, where variables may be hidden, effects are found by adjustment where the ends allow it. The
context is held at its value by the choice of rows where it may lead to y. Then it must not be
downstream of x: what x does past a context that it moves itself is not a matter of adjustment. A
context that is a function of a column may lead wherever the column leads, drawn or not. Its rows
are chosen where the column is adjusted for, or is x itself: then they select nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import scipy

from causalcontext.data.columns import Kind
from causalcontext.errors import OptionError, listed
from causalcontext.graphs.dags import Family
from causalcontext.graphs.endpoints import Endpoint, Endpoints, directed, mark_of, may_cause
from causalcontext.graphs.lag_names import split
from causalcontext.graphs.paths import adjustment, ancestors, connection, possible_descendants
from causalcontext.results.effects import composition
from causalcontext.results.effects.composition import Contrast
from causalcontext.results.effects.estimates import Estimate
from causalcontext.results.effects.mechanics import Mechanics, NoAnswer, NotLinear
from causalcontext.results.effects.sets import (
    LocalAnswers,
    Place,
    Possible,
    edge_text,
    local_effects,
    local_families,
    most_families,
    possible,
    too_many_families,
)
from causalcontext.results.effects.window_pags import LoggedSeparations, WindowPag, window_pag

MOST_STEPS = 200
NUMBERS = Contrast()
NO_PATH = Possible((Estimate(0.0),), "no directed path")


def asked_node(mechanics: Mechanics, name: str) -> tuple[int, int | None]:
    """The variable that a name says as a node of time t, and the lag; a plain name says no lag."""
    if mechanics.result.series is None or not isinstance(name, str):
        return mechanics.result.position(name), None
    window = mechanics.window
    names = mechanics.result.names
    known = [names[mechanics.at(v)] for v in range(window.variables + window.covariates)]
    plain, lag = (name, None) if name in known else split(name)
    if plain not in (known if lag is None else known[: window.variables]):
        raise mechanics.result.no_variable(name, known)
    return mechanics.at(known.index(plain)), None if lag is None else check_steps(lag)


def check_steps(steps: int) -> int:
    """The number, if it can be one of steps."""
    if isinstance(steps, bool) or not isinstance(steps, int) or not 0 <= steps <= MOST_STEPS:
        raise OptionError(f"steps is {steps!r}, expected a whole number from 0 to {MOST_STEPS}")
    return steps


def effect_in(mechanics: Mechanics, g: int, x: int, y: int, levels: Contrast = NUMBERS) -> Possible:
    """The effect of x on y in a context."""
    if mechanics.is_pag:
        return adjusted(lambda: levels.signed(adjusted_effect(mechanics, g, x, y)))
    if y in mechanics.contexts:
        # By how much the probability of one of its values moves with x: on all rows, since no
        # context is held.
        if not mechanics.into_contexts[:, mechanics.place(x)[0]].any():
            return NO_PATH
        first = mechanics.cells[0]
        nodes = range(mechanics.endpoints.shape[1])
        asked = [
            (first, v)
            for v in nodes
            if v == y or mechanics.into_contexts[first, mechanics.place(v)[0]]
        ]
        return possible(
            mechanics,
            asked,
            lambda family: composition.standardised_effect(mechanics, family, first, x, y, levels),
        )
    if not mechanics.leads(g, x, y):
        return NO_PATH
    return possible(
        mechanics,
        places(mechanics, g, x, y),
        lambda family: in_family(mechanics, family, g, x, y, levels),
        lambda: _signed(levels, local_effects(mechanics, g, x, y)),
    )


def _signed(levels: Contrast, found: LocalAnswers) -> LocalAnswers:
    return LocalAnswers([levels.signed(one) for one in found.estimates], found.cut)


def difference(
    mechanics: Mechanics, g: int, h: int, x: int, y: int, levels: Contrast = NUMBERS
) -> Possible:
    """The effect of x on y in context g minus that in context h."""
    if mechanics.is_pag:
        return adjusted(
            lambda: levels.signed(
                adjusted_effect(mechanics, g, x, y) - adjusted_effect(mechanics, h, x, y)
            )
        )
    if not (mechanics.leads(g, x, y) or mechanics.leads(h, x, y)):
        return NO_PATH

    def ask(family: Family) -> Estimate:
        return in_family(mechanics, family, g, x, y, levels) - in_family(
            mechanics, family, h, x, y, levels
        )

    def local() -> LocalAnswers:
        found = [_signed(levels, local_effects(mechanics, place, x, y)) for place in (g, h)]
        here, there = (sorted(some.estimates, key=lambda one: one.value) for some in found)
        return LocalAnswers(
            (here[0] - there[-1], here[-1] - there[0]), any(some.cut for some in found)
        )

    return possible(
        mechanics, [*places(mechanics, g, x, y), *places(mechanics, h, x, y)], ask, local
    )


def in_family(
    mechanics: Mechanics, family: Family, g: int, x: int, y: int, levels: Contrast = NUMBERS
) -> Estimate:
    """The effect in one family of graphs: composed from linear mechanisms, or standardised where
    one is not linear.
    """
    key = (family, g, x, y, levels)
    if key not in mechanics.totals:
        if mechanics.cyclic[g].any():
            for v in mechanics.between(g, x, y):
                if mechanics.cyclic[g, v]:
                    raise NoAnswer(f"directed edges form a cycle through {mechanics.name(v)}")
        try:
            mechanics.totals[key] = levels.signed(
                composition.total_effect(mechanics, family, g, x, y)
            )
        except NotLinear:
            mechanics.totals[key] = composition.standardised_effect(
                mechanics, family, g, x, y, levels
            )
    return mechanics.totals[key]


def by_path(
    mechanics: Mechanics, g: int, x: int, y: int, levels: Contrast
) -> dict[tuple[int, ...], Possible]:
    """What every directed path from x to y carries in a context; paths that only some graphs have
    carry 0 in others.
    """
    if mechanics.is_pag:
        raise NoAnswer("a PAG leaves room for hidden variables, so it has no effects by path")
    whole = effect_in(mechanics, g, x, y, levels)
    asked = places(mechanics, g, x, y)
    families = mechanics.graphs.families(mechanics.graphs.touching(asked), most_families(mechanics))
    if not whole.estimates or families is None:
        raise NoAnswer(whole.note) if whole.note else too_many_families(mechanics)
    found: dict[tuple[int, ...], Possible] = {}
    for path in (
        path
        for family in families
        for path in composition.paths_between(mechanics, family, g, x, y)
    ):
        if path not in found:
            found[path] = possible(
                mechanics, asked, partial(composition.path_effect, mechanics, g, path, levels)
            )
        if len(found) > composition.MOST_PATHS:
            ends = f"{mechanics.name(x)} to {mechanics.name(y)}"
            raise NoAnswer(f"more than {composition.MOST_PATHS} paths lead from {ends}")
    return found


def places(mechanics: Mechanics, g: int, x: int, y: int) -> list[Place]:
    """The variables whose causes the effect of x on y depends on; differences of contexts ask again
    and again.
    """
    if (g, x, y) not in mechanics.asked_places:
        on_the_way = mechanics.between(g, x, y)
        if not mechanics.all_continuous:
            all_of_it = (mechanics.now(x), *on_the_way)
            if not all(mechanics.kind(v) is Kind.CONTINUOUS for v in all_of_it):
                on_the_way = [*all_of_it, *mechanics.contexts]
        mechanics.asked_places[g, x, y] = [(g, v) for v in on_the_way]
    return mechanics.asked_places[g, x, y]


def adjusted(ask: Callable[[], Estimate]) -> Possible:
    """The answer of a PAG: one number, or the mark that is to blame."""
    try:
        return Possible((ask(),))
    except NoAnswer as reason:
        return Possible((), f"not identified, because of {reason}")


def approximations(
    mechanics: Mechanics, g: int, effects: Sequence[int], causes: Sequence[int] | None = None
) -> list[str]:
    """Where linear approximation of something else in the mechanisms of some effects, in words."""
    evidence = mechanics.result.evidence
    ranked = evidence is not None and evidence.transform == "ranks"
    found = ["the search used ranks; effects are linear in the original columns"] * ranked
    bends = [
        f"{mechanics.name(cause)} --> {mechanics.name(v)} ({shape})"
        for cause, v, shape in mechanics.bends(g, effects, causes)
    ]
    found += ["linear approximation of " + ", ".join(bends[:3])] * bool(bends)
    if mechanics.result.windowed is None or mechanics.is_pag:
        return found
    for v in effects:  # residuals that follow each other make errors too small
        families = mechanics.graphs.families(
            mechanics.graphs.touching([(g, v)]), most_families(mechanics)
        )
        try:
            correlation = mechanics.follows(mechanics.fit(families[0], g, v)) if families else 0.0
        except NoAnswer:
            continue
        if correlation:
            found.append(
                f"residuals of {mechanics.name(v)} follow each other (correlation"
                f" {correlation:.2f}), so that its coefficients and errors are in doubt: pass more"
                " lags"
            )
    return found


def no_interval(mechanics: Mechanics, causes: Sequence[int], y: int) -> str:
    """The reason in words why effects of some causes on y have no honest interval; "" if they have
    one.

    An effect rests on the mechanisms of y and of what lies on the way to it, and these on their
    causes: of all of them no column may have a doubtful scale (`DoubtfulScale`). One that is in
    doubt as a cause alone may be an effect.
    """
    scales = mechanics.result.doubtful_scales
    if not scales:
        return ""
    on_the_way = {y}
    for g in mechanics.cells:
        for x in causes:
            if x in mechanics.contexts:
                on_the_way.update(v for _, v in downstream(mechanics, g, y))
            else:
                on_the_way.update(mechanics.between(g, x, y))
    possible_causes = np.any(may_cause(mechanics.endpoints), axis=0)
    adjusted_for = set(causes)
    for v in on_the_way:
        adjusted_for.update(np.flatnonzero(possible_causes[:, v]).tolist())
    as_causes = {mechanics.name(mechanics.now(v)) for v in adjusted_for}
    anywhere = as_causes | {mechanics.name(mechanics.now(v)) for v in on_the_way}
    for scale in scales:
        if not (as_causes if scale.as_causes else anywhere).isdisjoint(scale.columns):
            return f"no interval: {scale.reason}"
    return ""


def context_effect(
    mechanics: Mechanics, context: int, g: int, h: int, y: int, levels: Contrast = NUMBERS
) -> Possible:
    """The mean of y with a context set to its value in g, minus that with its value in h."""
    if mechanics.is_pag:
        return adjusted(lambda: adjusted_difference(mechanics, context, g, h, y))
    if not (mechanics.from_contexts[g, y] or mechanics.from_contexts[h, y]):
        return NO_PATH
    everyone = mechanics.means(mechanics.everyone)

    def ask(family: Family) -> Estimate:
        try:
            return composition.mean_under(
                mechanics, family, g, y, {}, everyone
            ) - composition.mean_under(mechanics, family, h, y, {}, everyone)
        except NotLinear:
            return composition.standardised_context_effect(mechanics, family, g, h, y, levels)

    def local() -> LocalAnswers:
        """By the causes of the context alone: the mean of y given them, averaged over all rows."""
        if len(mechanics.contexts) > 1:
            raise NoAnswer("too many directed graphs are possible; add knowledge")
        (only,), found = mechanics.contexts, []
        ways = local_families(mechanics, [g], [only])
        for causes in (family.parents(g, only) for family in ways.families):
            means = (
                ()
                if y in causes
                else [
                    composition.standardised_mean(mechanics, y, causes, place) for place in (g, h)
                ]
            )
            found.append(means[0] - means[1] if means else Estimate(0.0))
        return LocalAnswers(found, ways.cut)

    asked = [*downstream(mechanics, g, y), *downstream(mechanics, h, y)]
    if any(mechanics.kind(v) is not Kind.CONTINUOUS for _, v in asked):
        asked += [(g, position) for position in mechanics.contexts]
    return possible(mechanics, asked, ask, local)


def downstream(mechanics: Mechanics, g: int, y: int) -> list[Place]:
    """What a context may lead to on the way to y."""
    on_the_way = mechanics.reach[g, :, y].copy()
    on_the_way[y] = True
    return [
        (g, v)
        for v in range(len(on_the_way))
        if on_the_way[v] and mechanics.from_contexts[g, v] and mechanics.lag(v) == 0
    ]


def adjusted_effect(mechanics: Mechanics, g: int, x: int, y: int) -> Estimate:
    """The effect of x on y in a context; `NoAnswer` has the mark that is to blame."""
    if mechanics.result.series is not None:
        return _effect_over_time(mechanics, g, x, y)
    if not possible_descendants(_without_functions(mechanics, g), x)[y]:
        return Estimate(0.0)
    contexts = mechanics.result.cells
    links = may_cause(_without_functions(mechanics, g))
    links[x] = links[:, x] = False
    # other than through x; for contexts, the columns that they are made of count
    leading = ancestors(links, y)
    sources = ((position, contexts.source_of(position)) for position in contexts.positions)
    held = (position if source is None else source for position, source in sources)
    given = _given(mechanics, g, x, y, tuple(v for v in held if leading[v]))
    functions = {position: source for position, source in contexts.made if source in (x, *given)}
    named = [v for v in contexts.positions if v in given or v in functions]
    system = tuple(v for v in given if v not in mechanics.contexts)
    return mechanics.regression(y, (x, *system), (mechanics.rows_of(g, named),)).slope(x)


def adjusted_difference(mechanics: Mechanics, context: int, g: int, h: int, y: int) -> Estimate:
    """The mean of y if a context variable is set as in one graph, minus that if it is set as in
    another.
    """
    if mechanics.result.series is not None:
        return _effect_over_time(mechanics, g, context, y) - _effect_over_time(
            mechanics, h, context, y
        )
    if not any(possible_descendants(mechanics.endpoints[place], context)[y] for place in (g, h)):
        return Estimate(0.0)
    if len(mechanics.contexts) > 1:
        raise NoAnswer("several contexts together with hidden variables")
    first, second = (
        composition.standardised_mean(mechanics, y, _given(mechanics, place, context, y, ()), place)
        for place in (g, h)
    )
    return first - second


def _effect_over_time(mechanics: Mechanics, g: int, x: int, y: int) -> Estimate:
    """The effect of an earlier column by adjustment in the window; 0 where x leads nowhere near y.

    What lies before the window is hidden and confounds its first columns: `window_pags` says which
    edges may be there. With contexts there is no answer but 0: before the window they are free, and
    mechanisms may be others.
    """
    (variable, lag), name, window = mechanics.place(x), mechanics.name, mechanics.window
    if lag > window.lags:
        raise NoAnswer(
            f"its lag: hidden variables may connect {name(x)} and {name(y)} without any link of at"
            f" most {window.lags} lags"
        )
    into = x in mechanics.contexts or bool(mechanics.into_contexts[g, variable])
    if not mechanics.leads(g, x, y) and not (into and mechanics.from_contexts[g, y]):
        return Estimate(0.0)
    if mechanics.contexts:
        raise NoAnswer(
            "the context: it may have had another value before, and links that only that value has"
            f" may confound {name(x)} and {name(y)}"
        )
    if g not in mechanics.window_pags:
        mechanics.window_pags[g] = window_pag(mechanics, g, LoggedSeparations(mechanics, g))
    known = mechanics.window_pags[g]
    found = adjustment(known.endpoints, x, y, sure=known.sure)
    if found.given is not None:
        blamed = _contradicting(mechanics, known, x, y, found.given)
        if blamed:
            raise NoAnswer(
                f"the rows, which contradict the graph: given {name(x)} and the adjustment set, "
                f"{listed(map(name, blamed), 3)} should be independent of {name(y)}"
            )
        return mechanics.regression(y, (x, *found.given), (mechanics.rows_of(g, ()),)).slope(x)
    a, b = found.blamed or (x, y)
    advice = "; pass more lags" if max(lag, mechanics.lag(b)) == window.lags else ""
    if not known.sure[a, b]:
        raise NoAnswer(
            f"{name(a)} and {name(b)}, which may share a cause before the window{advice}"
        )
    hides = ", which may hide a common cause" if known.endpoints[b, a] != Endpoint.ARROW else ""
    raise NoAnswer(f"{name(a)} {mark_of(known.endpoints, a, b)} {name(b)}{hides}{advice}")


CONTRADICTED = 0.01
"""Rows contradict a graph that separates columns if these have coefficients other than 0 at this
level.
"""


def _contradicting(
    mechanics: Mechanics, known: WindowPag, x: int, y: int, given: tuple[int, ...]
) -> list[int]:
    """Columns among those to adjust for that the graph separates from y given the rest, if the rows
    do not.
    """
    rest = {v: [x, *(w for w in given if w != v)] for v in given}
    apart = [v for v in given if connection(known.endpoints, v, y, rest[v], definite=False) is None]
    rows = mechanics.moments.merged(mechanics.everyone)
    whole, kept = (
        rows.regression(y, [x, *some]) for some in (given, [v for v in given if v not in apart])
    )
    if not apart or whole is None or kept is None or whole.df < 1:
        return []
    ratio = (kept.left - whole.left) / len(apart) / (whole.left / whole.df)
    return (
        apart if scipy.special.fdtrc(len(apart), whole.df, max(ratio, 0.0)) < CONTRADICTED else []
    )


def _given(mechanics: Mechanics, g: int, x: int, y: int, held: tuple[int, ...]) -> tuple[int, ...]:
    endpoints = _without_functions(mechanics, g)
    crossed = np.argwhere(
        np.triu((endpoints == Endpoint.CONFLICT) | (endpoints.T == Endpoint.CONFLICT))
    )
    if len(crossed):
        raise NoAnswer(edge_text(mechanics, g, *crossed[0].tolist()))
    found = adjustment(endpoints, x, y, held)
    if found.given is not None:
        return found.given
    assert found.blamed is not None
    (a, b), name = found.blamed, mechanics.name
    if a == b:
        raise NoAnswer(
            f"{name(a)}, which is held: {name(x)} may lead to it, and it may lead to {name(y)}"
        )
    hides = ", which may hide a common cause" if directed(endpoints)[a, b] else ""
    raise NoAnswer(edge_text(mechanics, g, a, b) + hides)


def _without_functions(mechanics: Mechanics, g: int) -> Endpoints:
    """The ends of a graph without the contexts that are functions of a column."""
    endpoints: Endpoints = mechanics.endpoints[g].copy()
    functions = [position for position, _ in mechanics.result.cells.made]
    endpoints[functions] = Endpoint.NONE
    endpoints[:, functions] = Endpoint.NONE
    return endpoints

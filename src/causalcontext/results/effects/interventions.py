"""What happens if the context, or some variables, are set: means composed from the mechanisms of each context.

Under do(R = a) every case has the mechanisms of context a. What lies upstream of R keeps its mean over all rows; what
R leads to follows from the mechanisms of a, fitted where they can be (`mechanics`). So the difference between two
contexts is an effect of R, not of what makes cases land in one context or the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from causalcontext.data.kinds import Kind
from causalcontext.errors import NotYetError, OptionError, check_choice, check_level
from causalcontext.graphs.dags import Family
from causalcontext.results.changes import context_place
from causalcontext.results.effects.asking import NO_PATH, adjusted, approximations, asked_node
from causalcontext.results.effects.composition import mean_under, standardised_mean
from causalcontext.results.effects.estimates import Estimate
from causalcontext.results.effects.frames import framed
from causalcontext.results.effects.mechanics import Mechanics, NoAnswer, NotLinear
from causalcontext.results.effects.pags import adjusted_difference
from causalcontext.results.effects.sets import Place, Possible, possible
from causalcontext.results.effects.standardise import standardised_context_effect

if TYPE_CHECKING:
    import pandas as pd

AMONG = ("everyone", "context")


def context_effect(mechanics: Mechanics, context: int, g: int, h: int, y: int) -> Possible:
    """The mean of y with a context set to its value in g, minus that with its value in h."""
    if mechanics.is_pag:
        return adjusted(lambda: adjusted_difference(mechanics, context, g, h, y))
    if not (mechanics.from_contexts[g, y] or mechanics.from_contexts[h, y]):
        return NO_PATH
    everyone = mechanics.means(mechanics.everyone)

    def ask(family: Family) -> Estimate:
        try:
            return mean_under(mechanics, family, g, y, {}, everyone) - mean_under(mechanics, family, h, y, {}, everyone)
        except NotLinear:
            return standardised_context_effect(mechanics, family, g, h, y)

    asked = [*downstream(mechanics, g, y), *downstream(mechanics, h, y)]
    if any(mechanics.kind(v) is not Kind.CONTINUOUS for _, v in asked):
        asked += [(g, position) for position in mechanics.contexts]
    return possible(mechanics, asked, ask, lambda: list(_local_context_effects(mechanics, g, h, y)))


def context_direct(mechanics: Mechanics, family: Family, g: int, h: int, y: int) -> float:
    """What the change of the own mechanism of y does, all its causes as they are under do(context of h)."""
    if mechanics.contexts.isdisjoint(family.parents(g, y)):
        return 0.0
    everyone = mechanics.means(mechanics.everyone)
    fit = mechanics.fit(family, g, y)
    place = fit.level_place(g)
    causes = [mean_under(mechanics, family, h, cause, {}, everyone).value for cause in fit.causes]
    with_own = float(fit.levels[place] + fit.slopes @ (causes - fit.centres[place]))
    return with_own - mean_under(mechanics, family, h, y, {}, everyone).value


def predict_intervention(mechanics: Mechanics, values: Mapping[str, float], context: Any, among: str, level: float
                         ) -> pd.DataFrame:  # fmt: skip
    """The means of everything downstream of some variables that are set; see `ContextGraphs.predict_intervention`."""
    result = mechanics.result
    check_choice("among", among, AMONG)
    check_level("level", level)
    if mechanics.is_pag:
        raise NotYetError("not yet: means under an intervention in a PAG; effects() says what one leaves identified")
    fixed = _fixed(mechanics, values)
    places = range(len(result.contexts)) if context is None else [context_place(result, context)]
    rows = [_prediction(mechanics, g, y, fixed, among, level) for g in places for y in _moved(mechanics, g, fixed)]
    return framed(rows, ["context", "variable", "mean", "se", "low", "high", "now", "identified", "note"])


def _prediction(mechanics: Mechanics, g: int, y: int, fixed: Mapping[int, float], among: str, level: float
                ) -> tuple[Any, ...]:  # fmt: skip
    inside = among == "context"
    own = mechanics.rows_of(g)
    start = mechanics.means(own if inside else mechanics.everyone)
    found = possible(
        mechanics,
        _between(mechanics, g, y, fixed, inside),
        lambda family: mean_under(mechanics, family, g, y, fixed, start, inside),
    )
    numbers = [estimate.interval(level) for estimate in found.estimates]
    low, high = (min(n[0] for n in numbers), max(n[1] for n in numbers)) if numbers else (float("nan"),) * 2
    single = found.estimates[0] if found.identified else Estimate(float("nan"))
    error = single.error if found.identified else float("nan")
    now = float(mechanics.means(own).values[y])
    fitted = [v for _, v in _between(mechanics, g, y, fixed, inside)]
    note = found.note or "; ".join(approximations(mechanics, g, fitted))
    return (mechanics.result.contexts[g], mechanics.name(y), single.value, error, low, high, now, found.identified,
            note)  # fmt: skip


def _fixed(mechanics: Mechanics, values: Mapping[str, float]) -> dict[int, float]:
    """The values that are set, by position."""
    if not isinstance(values, Mapping) or not values:
        raise OptionError(f"values is {values!r}, expected a mapping such as {{'precipitation': 3.0}}")
    fixed = {}
    for name, value in values.items():
        variable, lag = asked_node(mechanics, name)
        position = mechanics.at(mechanics.place(variable)[0], lag or 0)
        if variable in mechanics.contexts:
            raise OptionError(f"{name!r} is a context: set it by context=...")
        if not isinstance(value, int | float) or value != value:
            raise OptionError(f"{name!r} is set to {value!r}, expected a number")
        fixed[position] = float(value)
    return fixed


def _moved(mechanics: Mechanics, g: int, fixed: Mapping[int, float]) -> list[int]:
    """What may lie downstream of the variables that are set, at time t."""
    now = [v for v in range(mechanics.endpoints.shape[1]) if mechanics.lag(v) == 0 and v not in fixed]
    return [v for v in now if any(mechanics.leads(g, x, v) for x in fixed)]


def _between(mechanics: Mechanics, g: int, y: int, fixed: Mapping[int, float], inside: bool) -> list[Place]:
    """The variables whose causes a mean depends on."""
    found = [v for x in fixed for v in mechanics.between(g, x, y)]
    return [(g, v) for v in dict.fromkeys(found)] + ([] if inside else downstream(mechanics, g, y))


def downstream(mechanics: Mechanics, g: int, y: int) -> list[Place]:
    """What a context may lead to on the way to y."""
    on_the_way = mechanics.reach[g, :, y].copy()
    on_the_way[y] = True
    return [(g, v) for v in range(len(on_the_way)) if on_the_way[v] and mechanics.from_contexts[g, v]]


def _local_context_effects(mechanics: Mechanics, g: int, h: int, y: int) -> Iterator[Estimate]:
    """The same by the causes of the context alone: the mean of y given them, averaged over all rows."""
    if len(mechanics.contexts) > 1:
        raise NoAnswer("too many directed graphs are possible; add knowledge")
    (context,) = mechanics.contexts
    edges = [edge for part in mechanics.graphs.components for edge in part if edge[0] == g and context in edge[1:]]
    for family in mechanics.graphs.local(edges):
        causes = family.parents(g, context)
        if y in causes:
            yield Estimate(0.0)
        else:
            yield standardised_mean(mechanics, y, causes, g) - standardised_mean(mechanics, y, causes, h)

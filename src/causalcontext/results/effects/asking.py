"""One question at a time: the effect of x on y in a context, the difference between two, the same along a path.

Every answer is a `Possible`: one number, several that the graph leaves open, or none and the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from causalcontext.data.kinds import Kind
from causalcontext.errors import OptionError, did_you_mean, shortly
from causalcontext.graphs.dags import Family
from causalcontext.graphs.lag_names import split
from causalcontext.results.effects.composition import MOST_PATHS, path_effect, paths_between, total_effect
from causalcontext.results.effects.estimates import Estimate
from causalcontext.results.effects.mechanics import Mechanics, NoAnswer, NotLinear
from causalcontext.results.effects.pags import adjusted_effect
from causalcontext.results.effects.sets import MOST_FAMILIES, Place, Possible, local_effects, possible
from causalcontext.results.effects.standardise import standardised_effect

MOST_STEPS = 200
NO_PATH = Possible((Estimate(0.0),), "no directed path")


def asked_node(mechanics: Mechanics, name: str) -> tuple[int, int | None]:
    """The variable that a name says as a node of time t, and the lag; a plain name says no lag."""
    if mechanics.result.series is None or not isinstance(name, str):
        return mechanics.result.position(name), None
    window, names = mechanics.window, mechanics.result.names
    known = [names[mechanics.at(v)] for v in range(window.variables + window.covariates)]
    plain, lag = (name, None) if name in known else split(name)
    if plain not in (known if lag is None else known[: window.variables]):
        raise OptionError(f"there is no variable {shortly(name)}{did_you_mean(name, known)}")
    return mechanics.at(known.index(plain)), None if lag is None else check_steps(lag)


def check_steps(steps: int) -> int:
    """The number, if it can be one of steps."""
    if isinstance(steps, bool) or not isinstance(steps, int) or not 0 <= steps <= MOST_STEPS:
        raise OptionError(f"steps is {steps!r}, expected a whole number from 0 to {MOST_STEPS}")
    return steps


def effect_in(mechanics: Mechanics, g: int, x: int, y: int) -> Possible:
    """The effect of x on y in a context."""
    if mechanics.is_pag:
        return adjusted(lambda: adjusted_effect(mechanics, g, x, y))
    if not mechanics.leads(g, x, y):
        return NO_PATH
    return possible(mechanics, places(mechanics, g, x, y), lambda family: in_family(mechanics, family, g, x, y),
                    lambda: local_effects(mechanics, g, x, y))  # fmt: skip


def difference(mechanics: Mechanics, g: int, h: int, x: int, y: int) -> Possible:
    """The effect of x on y in context g minus that in context h."""
    if mechanics.is_pag:
        return adjusted(lambda: adjusted_effect(mechanics, g, x, y) - adjusted_effect(mechanics, h, x, y))
    if not (mechanics.leads(g, x, y) or mechanics.leads(h, x, y)):
        return NO_PATH

    def ask(family: Family) -> Estimate:
        return in_family(mechanics, family, g, x, y) - in_family(mechanics, family, h, x, y)

    def local() -> Iterator[Estimate]:
        here, there = (sorted(local_effects(mechanics, place, x, y), key=lambda one: one.value) for place in (g, h))
        yield from (here[0] - there[-1], here[-1] - there[0])

    return possible(mechanics, [*places(mechanics, g, x, y), *places(mechanics, h, x, y)], ask, local)


def in_family(mechanics: Mechanics, family: Family, g: int, x: int, y: int) -> Estimate:
    """The effect in one family of graphs: composed from linear mechanisms, or standardised where one is not linear."""
    key = (family, g, x, y)
    if key not in mechanics.totals:
        if mechanics.cyclic[g].any():
            for v in mechanics.between(g, x, y):
                if mechanics.cyclic[g, v]:
                    raise NoAnswer(f"directed edges form a cycle through {mechanics.name(v)}")
        try:
            mechanics.totals[key] = total_effect(mechanics, family, g, x, y)
        except NotLinear:
            mechanics.totals[key] = standardised_effect(mechanics, family, g, x, y)
    return mechanics.totals[key]


def by_path(mechanics: Mechanics, g: int, x: int, y: int) -> dict[tuple[int, ...], Possible]:
    """What every directed path from x to y carries in a context; paths that only some graphs have carry 0 in others."""
    if mechanics.is_pag:
        raise NoAnswer("a PAG leaves room for hidden variables, so it has no effects by path")
    whole, asked = effect_in(mechanics, g, x, y), places(mechanics, g, x, y)
    families = mechanics.graphs.families(mechanics.graphs.touching(asked), MOST_FAMILIES)
    if not whole.estimates or families is None:
        raise NoAnswer(whole.note or f"more than {MOST_FAMILIES} directed graphs are possible; add knowledge")
    found: dict[tuple[int, ...], Possible] = {}
    for path in (path for family in families for path in paths_between(mechanics, family, g, x, y)):
        if path not in found:
            found[path] = possible(mechanics, asked, partial(path_effect, mechanics, g=g, path=path))
        if len(found) > MOST_PATHS:
            raise NoAnswer(f"more than {MOST_PATHS} paths lead from {mechanics.name(x)} to {mechanics.name(y)}")
    return found


def places(mechanics: Mechanics, g: int, x: int, y: int) -> list[Place]:
    """The variables whose causes the effect of x on y depends on."""
    between = mechanics.between(g, x, y)
    if all(mechanics.kind(v) is Kind.CONTINUOUS for v in (mechanics.now(x), *between)):
        return [(g, v) for v in between]
    return [(g, v) for v in (mechanics.now(x), *between, *mechanics.contexts)]


def adjusted(ask: Callable[[], Estimate]) -> Possible:
    """The answer of a PAG: one number, or the mark that is to blame."""
    try:
        return Possible((ask(),))
    except NoAnswer as reason:
        return Possible((), f"not identified, because of {reason}")


def approximations(mechanics: Mechanics, g: int, effects: Sequence[int], causes: Sequence[int] | None = None
                   ) -> list[str]:  # fmt: skip
    """Where linear approximation of something else in the mechanisms of some effects, in words."""
    evidence = mechanics.result.evidence
    ranked = evidence is not None and evidence.transform == "ranks"
    found = ["the search used ranks; effects are linear in the original columns"] * ranked
    bends = [f"{mechanics.name(cause)} --> {mechanics.name(v)} ({shape})"
             for cause, v, shape in mechanics.bends(g, effects, causes)]  # fmt: skip
    found += ["linear approximation of " + ", ".join(bends[:3])] * bool(bends)
    return found + list(_followed(mechanics, g, effects))


def _followed(mechanics: Mechanics, g: int, effects: Sequence[int]) -> Iterator[str]:
    """Mechanisms with lags whose residuals follow each other, which makes errors too small."""
    if mechanics.result.windowed is None:
        return
    for v in effects:
        families = mechanics.graphs.families(mechanics.graphs.touching([(g, v)]), MOST_FAMILIES)
        try:
            correlation = mechanics.follows(mechanics.fit(families[0], g, v)) if families else 0.0
        except NoAnswer:
            continue
        if correlation:
            yield (f"residuals of {mechanics.name(v)} follow each other (correlation {correlation:.2f}), so that its "
                   "coefficients and errors are in doubt: pass more lags")  # fmt: skip

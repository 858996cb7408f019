"""Which links may stand for a hidden common cause, after a search by scores, which assumes that nothing is hidden?

What the table can say depends on the equations of a pair (docs/hidden-causes.md has the measurements):

- straight lines and Gaussian noise: models with correlated errors are compared (`correlated_errors`);
- straight lines and other noise: the residual of the cause is held against that of the effect (p < .01), which a hidden
  common cause leaves dependent, however well a line describes the effect;
- curves and Gaussian noise: the same, at p < .001, since a curve that is not fully followed leaves a trace, too;
- with lags: models with a hidden process are compared (`hidden_drivers`), after a search by tests as well;
- curves with other noise, columns that are no numbers, an uneven spread: nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.stats import chi2, rankdata

from causalcontext.data.dataset import Dataset, complete_rows
from causalcontext.data.moments import Moments
from causalcontext.diagnostics.correlated_errors import ENOUGH, Columns, StraightEquations, compare_hidden_causes
from causalcontext.diagnostics.hidden_drivers import suspected_drivers
from causalcontext.graphs.endpoints import GraphKind
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.results.equations import NUMBER, Equation, Mechanisms
from causalcontext.results.evidence import HiddenSuspicion, ScoreEvidence
from causalcontext.score.options import ScoreOptions

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

STRAIGHT_LEVEL, CURVED_LEVEL = 0.01, 0.001
FEW_BENT = 1.0 / 3.0
"""With a larger share of equations with curves, beside noise that is not Gaussian, nothing is asked."""
MISFIT = 0.01
"""Where a residual depends on a cause of its own variable at this level, a curve was not followed."""
FUNCTIONS = 4
"""Polynomials of the ranks of a residual."""
MOST_ROWS = 20_000
"""Of longer tables every m-th row is compared: beyond, any misfit of a curve shows."""
MOST_VARIABLES = 25
"""With more variables models with correlated errors take long."""

Pair = tuple[str, str]


class _Shape(NamedTuple):
    """What the equations of a variable are like."""

    is_number: bool
    straight: bool
    gaussian: bool


def hidden_suspicion(result: ContextGraphs) -> HiddenSuspicion:
    """The links that may stand for a hidden common cause, and those that could be asked about."""
    evidence = result.evidence
    over_time = result.series is not None and result.union.kind is GraphKind.CPDAG
    if not over_time and (evidence is None or evidence.mechanisms is None):
        return HiddenSuspicion(why_not="hidden common causes are suspected after score-ac only; fci-ac allows for them")
    if not result.complete:
        return HiddenSuspicion(why_not="the search was cut short, so its links were not asked about hidden causes")
    if over_time:
        return suspected_drivers(result)
    assert evidence is not None
    assert evidence.mechanisms is not None
    shapes = {node: _shape(evidence.mechanisms, node) for node in range(len(result.names))}
    links = [(x, y) for x, y in np.argwhere(np.triu(result.union.adjacency)).tolist()
             if not {x, y} & set(result.cells.positions)]  # fmt: skip
    bent = np.mean([not shapes[v].straight for v in shapes if shapes[v].is_number] or [False])
    kinds = {(x, y): _kind(shapes[x], shapes[y], float(bent)) for x, y in links}
    suspected, asked, missing = set(), set(), set()
    likely = [pair for pair, kind in kinds.items() if kind == "likelihood"]
    if likely and (own := _straight_equations(result, evidence, shapes)) is not None:
        found, left = _by_likelihood(*own)
        asked |= set(likely) - left
        suspected |= found & set(links)
        if left:
            missing.add(f"{len(left)} links were not asked about, since all of them would take too long")
    elif likely:
        missing.add(f"models of more than {MOST_VARIABLES} variables, or of ranks, are not compared")
    rows = result.rows
    levels = {"straight": STRAIGHT_LEVEL, "curved": CURVED_LEVEL}
    for pair, kind in kinds.items():
        if kind in levels and rows is not None:
            p = _depend(rows, evidence.mechanisms, pair, kind == "curved")
            if np.isnan(p):
                missing.add("links whose curves do not fit the data are not asked about")
                continue
            asked.add(pair)
            if p < levels[kind]:
                suspected.add(pair)
        elif kind in levels:
            missing.add("residuals need rows, which this result does not have")
        elif not kind:
            missing.add(
                "curves with noise that is not Gaussian, categories, counts and uneven spreads are not asked about"
            )
    return HiddenSuspicion(_named(result, suspected), _named(result, asked), "; ".join(sorted(missing)))


def _named(result: ContextGraphs, pairs: set[tuple[int, int]]) -> tuple[Pair, ...]:
    ends = (sorted((result.names[x], result.names[y])) for x, y in sorted(pairs))
    return tuple((first, second) for first, second in ends)


def _kind(x: _Shape, y: _Shape, bent: float) -> str:
    """How a link is asked; "" if it is not. `bent` is the share of equations with curves.

    Beside other noise a hidden cause leaves a curve in an equation or two.
    """
    if not (x.is_number and y.is_number):
        return ""
    if not (x.gaussian and y.gaussian):
        return "straight" if bent <= FEW_BENT else ""
    return "likelihood" if bent == 0.0 else "curved"


def _shape(mechanisms: Mechanisms, node: int) -> _Shape:
    own = [one for one in mechanisms.equations if one.effect == node]
    number = bool(own) and mechanisms.scales[node].kind == NUMBER and all(
        one.kind == NUMBER and all(term.shape == "context" for term in one.spread)
        and all(mechanisms.scales[cause].is_number for cause in one.causes) for one in own)  # fmt: skip
    straight = all(term.kind == "linear" for one in own for term in one.terms)
    return _Shape(number, straight, all(one.density[0] == 0.0 for one in own))


def _straight_equations(result: ContextGraphs, evidence: ScoreEvidence, shapes: dict[int, _Shape]
                        ) -> tuple[StraightEquations, list[int]] | None:  # fmt: skip
    """The equations in the numbers of the system variables, then the context; which variables these are."""
    moments, mechanisms, contexts = result.moments, evidence.mechanisms, list(result.cells.positions)
    numbers = [v for v in range(len(result.names)) if v not in contexts and shapes[v].is_number]
    ranked = mechanisms is None or any(mechanisms.scales[v].scores for v in numbers)
    if moments is None or mechanisms is None or ranked or len(numbers) > MOST_VARIABLES:
        return None
    others = [v for v in range(len(result.names)) if v not in contexts and v not in numbers]
    p, k, nodes = len(numbers), len(result.contexts), [*numbers, *contexts, *others]
    if not contexts:
        nodes.insert(p, -1)  # the place of a context
    known, place = result.settings.knowledge.links(result.names), {v: i for i, v in enumerate(nodes)}
    links = np.zeros((k, len(nodes), len(nodes)), dtype=bool)
    columns: list[Columns] = []
    free, noise = np.zeros(p + 1, dtype=bool), np.ones((p + 1, k))
    for equation in mechanisms.equations:
        for term in equation.terms:
            for cause in term.causes:
                links[np.ix_(list(term.contexts), [place[cause]], [place[equation.effect]])] = True
    for i, v in enumerate(numbers):
        own = [one for one in mechanisms.equations if one.effect == v]
        reads = len(own) > 1 or len(set(own[0].intercepts)) > 1
        links[:, p, i] = reads
        in_numbers = shapes[v].straight and all(cause in numbers for one in own for cause in one.causes)
        free[i] = in_numbers and shapes[v].gaussian and (not reads or len(contexts) == 1)
        shifts = {(p, 1 << r) for r in range(1, k)} if reads else set()
        columns.append(frozenset(shifts | {(place[term.causes[0]], sum(1 << r for r in term.contexts))
                                           for one in own for term in one.terms if in_numbers}))  # fmt: skip
        for one in own:
            noise[i, list(one.contexts)] = [_noise(one, r) for r in one.contexts]
    columns.append(frozenset())
    may, must = np.zeros((p + 1, p + 1), dtype=bool), np.zeros((p + 1, p + 1), dtype=bool)
    some = nodes[: p + 1] if len(contexts) == 1 else numbers
    for made, all_of in ((may, known.may), (must, known.must)):
        made[: len(some), : len(some)] = all_of[np.ix_(some, some)]
    chosen = Moments(moments.rows, moments.mean[:, numbers], moments.scatter[:, numbers][:, :, numbers])
    extra = ScoreOptions().parent_price(p)
    return StraightEquations(
        chosen, tuple(columns), free, may, must, links, noise, 0.5 * evidence.penalty, extra
    ), numbers


def _noise(equation: Equation, context: int) -> float:
    """The standard deviation of the noise in a context."""
    scale = sum(float(term.values(np.zeros(1), context)[0]) for term in equation.spread)
    return max(equation.noise, 1e-6) * float(np.exp(scale))


def _by_likelihood(given: StraightEquations, numbers: list[int]) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """Pairs with correlated errors, and links that vanish or turn round, in the clearly better models near the best.

    Beside them, the pairs that were not asked.
    """
    found: set[tuple[int, int]] = set()
    _, better, left = compare_hidden_causes(given)
    for model in better:
        if model.score < better[0].score - ENOUGH:
            break
        found |= {(x, y) for x in model.children for y in model.children if x < y}
        for effect, own in enumerate(given.columns):
            kept = {cause for cause, _ in model.columns[effect]}
            found |= {(min(cause, effect), max(cause, effect)) for cause, _ in own if cause not in kept}

    def ordered(pairs: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
        return {(min(ends), max(ends)) for x, y in pairs if max(x, y) < len(numbers)
                for ends in [(numbers[x], numbers[y])]}  # fmt: skip

    return ordered(found), ordered(left)


def _depend(rows: Dataset, mechanisms: Mechanisms, pair: tuple[int, int], curved: bool) -> float:
    """The p-value of independent residuals of a pair, the cause being the one that stands in the other's equation."""
    x, y = pair
    cause, effect = (x, y) if any(x in one.causes for one in mechanisms.equations if one.effect == y) else (y, x)
    used = np.flatnonzero(complete_rows(rows))
    used = used[:: max(1, -(-len(used) // MOST_ROWS))]

    def values(node: int) -> Floats:
        return mechanisms.scales[node].standard(np.asarray(rows.columns[node])[used])

    designs = [design_matrix(rows, mechanisms, node, used) for node in (cause, effect)]
    left = [_residual(design, values(node)) for design, node in zip(designs, (cause, effect), strict=True)]
    if curved:
        for node, design, residual in zip((cause, effect), designs, left, strict=True):
            own = {one for equation in mechanisms.equations if equation.effect == node for one in equation.causes}
            if any(residual_dependence(values(one), residual, design) < MISFIT for one in own):
                return np.nan
    return residual_dependence(left[0], left[1], designs[1])


def design_matrix(rows: Dataset, mechanisms: Mechanisms, node: int, used: Ints) -> Floats:
    """The columns of the equations of a number: intercepts, and terms where they live; shape (rows, columns)."""
    codes, columns = rows.codes[used] if len(rows.contexts.positions) else np.zeros(len(used), dtype=np.int64), []
    for equation in (one for one in mechanisms.equations if one.effect == node):
        for intercept in sorted(set(equation.intercepts)):
            here = [r for r, own in zip(equation.contexts, equation.intercepts, strict=True) if own == intercept]
            columns.append(np.isin(codes, here).astype(np.float64))
        standard = {cause: mechanisms.scales[cause].standard(np.asarray(rows.columns[cause])[used])
                    for cause in equation.causes}  # fmt: skip
        columns += [term.values(standard) * np.isin(codes, term.contexts) for term in equation.terms]
    return np.stack(columns, axis=1)


def _residual(design: Floats, values: Floats) -> Floats:
    return np.asarray(values - design @ np.linalg.lstsq(design, values, rcond=None)[0])


def residual_dependence(of_cause: Floats, of_effect: Floats, design: Floats) -> float:
    """The p-value of independent residuals: polynomials of the ranks of either, those of the cause without the design.

    Legendre polynomials of degree 1 to 4 of the ranks. Those of the cause are projected off the columns of the effect's
    equation, so that it does not matter that its slopes were fitted; 16 covariances, whitened, are chi-squared.
    """
    first, second = (_legendre(residual) for residual in (of_cause, of_effect))
    first = first - design @ np.linalg.lstsq(design, first, rcond=None)[0]
    n, across = len(first), first.T @ second
    inside = first.T @ first / n
    kept = np.linalg.eigvalsh(inside) > 1e-8
    white = np.linalg.pinv(inside, rcond=1e-8, hermitian=True)
    statistic = np.einsum("ab,cd,ac,bd->", across, across, white, np.linalg.inv(second.T @ second / n)) / n
    return float(chi2.sf(statistic, int(kept.sum()) * FUNCTIONS))


def _legendre(residual: Floats) -> Floats:
    """Legendre polynomials of the ranks, from -1 to 1, around their means; shape (rows, 4)."""
    place = (2.0 * rankdata(residual) - 1.0) / len(residual) - 1.0
    found = np.polynomial.legendre.legvander(place, FUNCTIONS)[:, 1:]
    return np.asarray(found - found.mean(axis=0))

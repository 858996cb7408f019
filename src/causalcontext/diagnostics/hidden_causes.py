"""Which links may stand for a hidden common cause, after a search by scores, which assumes that
nothing is hidden?

What the table can say depends on the equations of a pair (docs/hidden-causes.md has the
measurements):

- straight lines and Gaussian noise: models with a hidden cause are compared (`hidden_node`);
- curves, other noise, uneven spreads: the residual of the cause is held against that of the effect,
  which a hidden common cause leaves dependent, however well a line or a curve describes the effect.
  What depends on a cause of the effect that is known to act along a curve or on the spread counts
  for nothing: any such curve explains it. But where the mean and the spread of the noise follow
  such a cause, its shape should not: a hidden common cause changes it;
- with lags: models with a hidden process are compared (`hidden_drivers`), after a search by tests
  as well;
- columns that are no numbers: nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.stats import chi2, rankdata

from causalcontext.data.dataset import Dataset, complete_rows
from causalcontext.data.moments import Moments
from causalcontext.diagnostics.correlated_errors import Columns, StraightEquations
from causalcontext.diagnostics.hidden_drivers import suspected_drivers
from causalcontext.diagnostics.hidden_node import compare_hidden_causes
from causalcontext.graphs.endpoints import GraphKind
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.results.equations import NUMBER, Equation, Mechanisms
from causalcontext.results.evidence import HiddenSuspicion, ScoreEvidence
from causalcontext.results.kept import answers_of
from causalcontext.score.options import ScoreOptions

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

LEVEL = 0.005
"""Of the residuals of a link: of ten links, a twentieth of the tables where nothing is hidden has
one below.
"""
LEVEL_OF_SHAPE = 0.01
"""Of the shape of the noise; that of the residuals is half as large where both are asked."""
FEWEST_FOR_SHAPE = 500
"""With fewer rows the p-values of the shape are too small where noise is skewed and its spread
uneven.
"""
OF_CAUSE = 3
OF_EFFECT = 4
"""Polynomials of the ranks of the two residuals."""
LEAST_LEFT = 0.1
"""Functions of the cause that the equation of the effect leaves less of, of their variance, are not
compared.
"""
FREQUENCIES = (0.7, 1.4, 2.1)
LEAST_WAVE = 0.005
"""Of the waves of a noise of standard deviation 1 that its shape is compared by. Directions with
less than so much of their variance are left out, for they show errors of the fitted mean and
spread."""
ROUNDS = 5
STEPS = 3
LARGEST_SQUARE = 30.0
"""Fits of a mean and a spread: rounds, steps of the spread in each, and how much one row counts for
it at most.
"""
MOST_ROWS = 20_000
"""Of longer tables every m-th row is compared: beyond, any misfit of a curve shows."""
MOST_VARIABLES = 25
"""With more variables models with a hidden cause take long."""

Pair = tuple[str, str]


class _Shape(NamedTuple):
    """What the equations of a variable are like."""

    is_number: bool
    straight: bool
    even: bool
    gaussian: bool


def suspicion_of(result: ContextGraphs) -> HiddenSuspicion:
    """The links that may stand for a hidden common cause, asked once and kept by the result."""
    kept = answers_of(result)
    if kept.suspicion is None:
        kept.suspicion = hidden_suspicion(result)
    return kept.suspicion


def hidden_suspicion(result: ContextGraphs) -> HiddenSuspicion:
    """The links that may stand for a hidden common cause, and those that could be asked about."""
    evidence = result.evidence
    over_time = result.series is not None and result.union.kind is GraphKind.CPDAG
    if not over_time and (evidence is None or evidence.mechanisms is None):
        return HiddenSuspicion(
            why_not="hidden common causes are suspected after score-ac only; fci-ac allows for them"
        )
    if not result.complete:
        return HiddenSuspicion(
            why_not="the search was cut short, so its links were not asked about hidden causes"
        )
    if over_time:
        return suspected_drivers(result)
    assert evidence is not None
    assert evidence.mechanisms is not None
    shapes = {node: _shape(evidence.mechanisms, node) for node in range(len(result.names))}
    links = [
        (x, y)
        for x, y in np.argwhere(np.triu(result.union.adjacency)).tolist()
        if not {x, y} & set(result.cells.positions)
    ]
    straight = all(shape.straight for shape in shapes.values() if shape.is_number and shape.even)
    kinds = {(x, y): _kind(shapes[x], shapes[y], straight) for x, y in links}
    suspected = set()
    asked = set()
    missing = set()
    likely = [pair for pair, kind in kinds.items() if kind == "likelihood"]
    if likely and (own := _straight_equations(result, evidence, shapes)) is not None:
        (equations, numbers), (found, left) = own, _by_likelihood(*own)
        free = {numbers[i] for i in np.flatnonzero(equations.free[: len(numbers)])}
        compared = {pair for pair in likely if free.issuperset(pair)}
        asked |= compared - left
        if len(compared) < len(likely):
            missing.add(
                "links into equations that change with one of several contexts, or whose causes"
                " have an uneven spread, are not compared"
            )
        suspected |= found & set(links)
        if left:
            missing.add(
                f"{len(left)} links were not asked about, since all of them would take too long"
            )
    elif likely:
        missing.add(
            f"models of more than {MOST_VARIABLES} variables, or of ranks, are not compared"
        )
    rows = result.rows
    for pair, kind in kinds.items():
        if kind == "residuals" and rows is not None:
            depend = _depend(rows, evidence.mechanisms, pair)
            if depend is None:
                missing.add(
                    "links are not asked about where a curve or an uneven spread would explain all"
                    " dependence"
                )
                continue
            asked.add(pair)
            if depend:
                suspected.add(pair)
        elif kind == "residuals":
            missing.add("residuals need rows, which this result does not have")
        elif not kind:
            missing.add("links at categories and counts are not asked about")
    return HiddenSuspicion(
        _named(result, suspected), _named(result, asked), "; ".join(sorted(missing))
    )


def _named(result: ContextGraphs, pairs: set[tuple[int, int]]) -> tuple[Pair, ...]:
    ends = (sorted((result.names[x], result.names[y])) for x, y in sorted(pairs))
    return tuple((first, second) for first, second in ends)


def _kind(x: _Shape, y: _Shape, straight: bool) -> str:
    """How a link is asked; "" if it is not. `straight` is whether no equation of the table has a
    curve.
    """
    if not (x.is_number and y.is_number):
        return ""
    plain = straight and x.even and y.even and x.gaussian and y.gaussian
    return "likelihood" if plain else "residuals"


def _shape(mechanisms: Mechanisms, node: int) -> _Shape:
    own = [one for one in mechanisms.equations if one.effect == node]
    uneven = [term.cause for one in own for term in one.spread if term.shape != "context"]
    causes = [*uneven, *(cause for one in own for cause in one.causes)]
    number = (
        bool(own)
        and mechanisms.scales[node].kind == NUMBER
        and all(one.kind == NUMBER for one in own)
        and all(mechanisms.scales[cause].is_number for cause in causes)
    )
    straight = all(term.kind == "linear" for one in own for term in one.terms)
    return _Shape(number, straight, not uneven, all(one.density[0] == 0.0 for one in own))


def _straight_equations(
    result: ContextGraphs, evidence: ScoreEvidence, shapes: dict[int, _Shape]
) -> tuple[StraightEquations, list[int]] | None:
    """The equations in the numbers of the system variables, then the context; which variables these
    are.
    """
    moments = result.moments
    mechanisms = evidence.mechanisms
    contexts = list(result.cells.positions)
    numbers = [
        v
        for v in range(len(result.names))
        if v not in contexts and shapes[v].is_number and shapes[v].even
    ]
    ranked = mechanisms is None or any(mechanisms.scales[v].scores for v in numbers)
    if moments is None or mechanisms is None or ranked or len(numbers) > MOST_VARIABLES:
        return None
    others = [v for v in range(len(result.names)) if v not in contexts and v not in numbers]
    p = len(numbers)
    k = len(result.contexts)
    nodes = [*numbers, *contexts, *others]
    if not contexts:
        nodes.insert(p, -1)  # the place of a context
    known = result.settings.knowledge.links(result.names)
    place = {v: i for i, v in enumerate(nodes)}
    links = np.zeros((k, len(nodes), len(nodes)), dtype=bool)
    columns: list[Columns] = []
    free = np.zeros(p + 1, dtype=bool)
    noise = np.ones((p + 1, k))
    for equation in mechanisms.equations:
        for term in equation.terms:
            for cause in term.causes:
                links[np.ix_(list(term.contexts), [place[cause]], [place[equation.effect]])] = True
    for i, v in enumerate(numbers):
        own = [one for one in mechanisms.equations if one.effect == v]
        reads = len(own) > 1 or len(set(own[0].intercepts)) > 1
        links[:, p, i] = reads
        in_numbers = shapes[v].straight and all(
            cause in numbers for one in own for cause in one.causes
        )
        free[i] = in_numbers and shapes[v].gaussian and (not reads or len(contexts) == 1)
        shifts = {(p, 1 << r) for r in range(1, k)} if reads else set()
        columns.append(
            frozenset(
                shifts
                | {
                    (place[term.causes[0]], sum(1 << r for r in term.contexts))
                    for one in own
                    for term in one.terms
                    if in_numbers
                }
            )
        )
        for one in own:
            noise[i, list(one.contexts)] = [_noise(one, r) for r in one.contexts]
    columns.append(frozenset())
    may = np.zeros((p + 1, p + 1), dtype=bool)
    must = np.zeros((p + 1, p + 1), dtype=bool)
    some = nodes[: p + 1] if len(contexts) == 1 else numbers
    for made, all_of in ((may, known.may), (must, known.must)):
        made[: len(some), : len(some)] = all_of[np.ix_(some, some)]
    chosen = Moments(
        moments.rows, moments.mean[:, numbers], moments.scatter[:, numbers][:, :, numbers]
    )
    extra = ScoreOptions().parent_price(p)
    return (
        StraightEquations(
            chosen, tuple(columns), free, may, must, links, noise, 0.5 * evidence.penalty, extra
        ),
        numbers,
    )


def _noise(equation: Equation, context: int) -> float:
    """The standard deviation of the noise in a context."""
    scale = sum(float(term.values(np.zeros(1), context)[0]) for term in equation.spread)
    return max(equation.noise, 1e-6) * float(np.exp(scale))


def _by_likelihood(
    given: StraightEquations, numbers: list[int]
) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """Pairs of children of a hidden cause in the clearly better models, and links that the strong
    ones drop or turn.

    The others save a parameter, perhaps by chance, and which links they drop says little. And the
    pairs not asked.
    """
    found: set[tuple[int, int]] = set()
    base, strong, better, left = compare_hidden_causes(given)
    for model in better:
        found |= set(combinations(model.children, 2))
        for effect, own in enumerate(given.columns if model.score > base + strong else ()):
            kept = {cause for cause, _ in model.columns[effect]}
            found |= {(cause, effect) for cause, _ in own if cause not in kept}

    def ordered(pairs: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
        return {
            (min(ends), max(ends))
            for x, y in pairs
            if max(x, y) < len(numbers)
            for ends in [(numbers[x], numbers[y])]
        }

    return ordered(found), ordered(left)


def _depend(rows: Dataset, mechanisms: Mechanisms, pair: tuple[int, int]) -> bool | None:
    """Whether the residuals of a pair depend, the cause being the one that stands in the other's
    equation.

    None if nothing can be asked.
    """
    x, y = pair
    into = [one for one in mechanisms.equations if one.effect == y]
    ends = (
        (x, y)
        if any(x in one.causes or x in {term.cause for term in one.spread} for one in into)
        else (y, x)
    )
    used = np.flatnonzero(complete_rows(rows))
    used = used[:: max(1, -(-len(used) // MOST_ROWS))]
    designs = [design_matrix(rows, mechanisms, node, used) for node in ends]
    values = [
        mechanisms.scales[node].standard(np.asarray(rows.columns[node])[used]) for node in ends
    ]
    left = [_residual(design, value) for design, value in zip(designs, values, strict=True)]
    tests = [(residual_dependence(left[0], left[1], designs[1]), LEVEL)]
    if len(values[1]) >= FEWEST_FOR_SHAPE and _shape_is_asked(mechanisms, *ends):
        spread = design_matrix(rows, mechanisms, ends[1], used, terms=False)
        of_shape = shape_dependence(left[0], standard_noise(values[1], designs[1], spread))
        tests = [(tests[0][0], LEVEL / 2.0), (of_shape, LEVEL_OF_SHAPE)]
    below = [p < level for p, level in tests if not np.isnan(p)]
    return any(below) if below else None


def _shape_is_asked(mechanisms: Mechanisms, cause: int, effect: int) -> bool:
    """Whether the shape of the noise of an effect with curves or an uneven spread can tell of a
    hidden cause.

    Not if the effect follows a curve of the cause, and the noise is not Gaussian: where its density
    has a sharp edge, what a fitted curve does not follow looks like another shape. Nor if a cause
    acts on the spread alone: what a search takes a hidden cause for moves the mean as well.
    """
    own = [one for one in mechanisms.equations if one.effect == effect]
    gaussian = all(one.density[0] == 0.0 for one in own)
    curved = any(cause in term.causes for one in own for term in one.terms if term.kind != "linear")
    alone = any(
        term.shape != "context" and term.cause not in one.causes
        for one in own
        for term in one.spread
    )
    return any(_bends(one) for one in own) and (gaussian or not curved) and not alone


def _bends(equation: Equation) -> list[tuple[int, tuple[int, ...]]]:
    """The causes that act along curves or on the spread, and in which contexts."""
    uneven = {
        (term.cause, equation.contexts) for term in equation.spread if term.shape != "context"
    }
    curved = {
        (cause, term.contexts)
        for term in equation.terms
        if term.kind != "linear"
        for cause in term.causes
    }
    return sorted(uneven | curved)


def design_matrix(
    rows: Dataset, mechanisms: Mechanisms, node: int, used: Ints, terms: bool = True
) -> Floats:
    """What may move a number: shape (rows, columns).

    Intercepts, and terms of its equations where they live; any smooth curve of a cause that is
    known to act along a curve or on the spread; contexts, if the spread differs between them.
    Without `terms`, what may move its spread.
    """
    codes = (
        rows.codes[used] if len(rows.contexts.positions) else np.zeros(len(used), dtype=np.int64)
    )
    columns = []
    for equation in (one for one in mechanisms.equations if one.effect == node):
        for intercept in sorted(set(equation.intercepts)):
            here = [
                r
                for r, own in zip(equation.contexts, equation.intercepts, strict=True)
                if own == intercept
            ]
            columns.append(np.isin(codes, here).astype(np.float64))
        columns += [
            np.isin(codes, term.contexts).astype(np.float64)
            for term in equation.spread
            if term.contexts
        ]
        bends = _bends(equation)
        standard = {
            cause: mechanisms.scales[cause].standard(np.asarray(rows.columns[cause])[used])
            for cause in {*equation.causes, *(cause for cause, _ in bends)}
        }
        if terms:
            columns += [
                term.values(standard) * np.isin(codes, term.contexts) for term in equation.terms
            ]
        for cause, contexts in bends:
            columns += [curve * np.isin(codes, contexts) for curve in cubic_spline(standard[cause])]
    return np.stack(columns, axis=1)


def cubic_spline(x: Floats) -> list[Floats]:
    """Six functions that, beside a constant, span all cubic splines with knots at the quartiles."""
    return [
        x,
        x**2,
        x**3,
        *(np.maximum(x - knot, 0.0) ** 3 for knot in np.quantile(x, (0.25, 0.5, 0.75))),
    ]


def _residual(design: Floats, values: Floats) -> Floats:
    return np.asarray(values - design @ np.linalg.lstsq(design, values, rcond=None)[0])


def residual_dependence(of_cause: Floats, of_effect: Floats, design: Floats) -> float:
    """The p-value of independent residuals: polynomials of the ranks of either, those of the cause
    without the design.

    Legendre polynomials of degree 1 to 3, and 1 to 4. Those of the cause are projected off the
    columns of the effect's equation, so that it does not matter that its slopes were fitted, nor
    what else the effect does along them. Of the rest, directions with enough variance are whitened,
    and their covariances with those of the effect are chi-squared. NaN if there are none.
    """
    whole = _legendre(of_cause, OF_CAUSE)
    effect = _legendre(of_effect, OF_EFFECT)
    left = _whitened(_residual(design, whole), LEAST_LEFT * whole.var(axis=0).mean())
    return _independent(left, _whitened(effect))


def _independent(first: Floats, second: Floats) -> float:
    """The p-value of no covariance between whitened functions of two independent variables; NaN if
    one has none.
    """
    across = first.T @ second / np.sqrt(len(first))
    return float(chi2.sf(np.sum(across**2), across.size)) if across.size else np.nan


def _whitened(functions: Floats, least: float = 1e-9) -> Floats:
    """Principal components of functions of mean 0 with more than so much variance, divided by their
    deviations.
    """
    variances, axes = np.linalg.eigh(functions.T @ functions / len(functions))
    kept = variances > least
    return np.asarray(functions @ axes[:, kept] / np.sqrt(variances[kept]))


def standard_noise(values: Floats, design: Floats, spread: Floats) -> Floats:
    """The noise of values with a mean along `design`, divided by a spread whose logarithm is along
    `spread`.
    """
    basis, sizes, _ = np.linalg.svd(
        spread / np.abs(spread).max(axis=0).clip(1e-12), full_matrices=False
    )
    basis = basis[:, sizes > 1e-9 * sizes[0]]
    left = _residual(design, values)
    log_scale = basis @ (basis.T @ np.log(np.abs(left) + 1e-3 * left.std() + 1e-12))
    for _ in range(ROUNDS):
        for _ in range(STEPS):
            excess = np.minimum((left / _scale(log_scale)) ** 2, LARGEST_SQUARE) - 1.0
            log_scale = log_scale + 0.5 * basis @ (basis.T @ excess)
        scale = _scale(log_scale)
        left = scale * _residual(design / scale[:, None], values / scale)
    return np.asarray(left / scale)


def _scale(log_scale: Floats) -> Floats:
    return np.asarray(np.exp(log_scale.clip(-8.0, 8.0)))


def shape_dependence(of_cause: Floats, noise: Floats) -> float:
    """The p-value of a noise whose shape does not depend on the residual of a cause.

    Polynomials of the ranks of the residual, against those waves of the noise, of standard
    deviation 1, whose mean does not move to first order where the noise is shifted or stretched: so
    a mean and a spread that were fitted, along any curves, do not matter.
    """
    noise = noise / max(float(noise.std()), 1e-12)
    sizes = np.array(FREQUENCIES)
    sines = np.sin(noise[:, None] * sizes)
    cosines = np.cos(noise[:, None] * sizes)
    waves = np.hstack([sines, cosines])
    slopes = np.hstack([sizes * cosines, -sizes * sines])
    moved = np.stack([slopes.mean(axis=0), (noise[:, None] * slopes).mean(axis=0)])
    waves = (waves - waves.mean(axis=0)) @ np.linalg.svd(moved)[2][2:].T
    least = LEAST_WAVE * waves.var(axis=0).sum()
    return _independent(_whitened(_legendre(of_cause, OF_CAUSE)), _whitened(waves, least))


def _legendre(residual: Floats, degree: int) -> Floats:
    """Legendre polynomials of the ranks, from -1 to 1, around their means; shape (rows, degree)."""
    place = (2.0 * rankdata(residual) - 1.0) / len(residual) - 1.0
    found = np.polynomial.legendre.legvander(place, degree)[:, 1:]
    return np.asarray(found - found.mean(axis=0))

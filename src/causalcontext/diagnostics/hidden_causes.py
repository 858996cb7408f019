"""Links that may stand for a hidden common cause, after a search by scores, which assumes that
nothing is hidden.

The answer that a table can give depends on the equations of a pair (docs/hidden-causes.md has the
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
from causalcontext.diagnostics.correlated_errors import EquationColumns, StraightEquations
from causalcontext.diagnostics.hidden_drivers import suspected_drivers
from causalcontext.diagnostics.hidden_node import compare_hidden_causes
from causalcontext.diagnostics.settings import (
    CAUSE_POLYNOMIALS,
    EFFECT_POLYNOMIALS,
    FEWEST_FOR_SHAPE,
    LARGEST_LOG_SPREAD,
    LARGEST_SQUARE,
    LEAST_COMPARED_SHARE,
    LEAST_WAVE_SHARE,
    MOST_HIDDEN_VARIABLES,
    MOST_RESIDUAL_ROWS,
    RESIDUAL_LEVEL,
    SHAPE_LEVEL,
    SPREAD_ROUNDS,
    SPREAD_STEPS,
    WAVE_FREQUENCIES,
)
from causalcontext.graphs.endpoints import GraphKind
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.results.equations import NUMBER, Equation, Mechanisms
from causalcontext.results.evidence import HiddenSuspicion, ScoreEvidence
from causalcontext.results.kept import answers_of
from causalcontext.score.options import ScoreOptions

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs


NamePair = tuple[str, str]


class _Shape(NamedTuple):
    """The shape of the equations of a variable: a number, without curves, with noise of one spread,
    Gaussian.

    Each is true if it holds for all its equations. `even` means that no cause moves the spread; a
    spread that differs between contexts is even.
    """

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
    """The links that may stand for a hidden common cause, those that could be asked about, and why
    not all.

    Every link between numbers is asked in the way that fits its equations (`_kind`). The search
    must be complete: a link of half a search is no claim yet.
    """
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
    kinds = _kinds_of_links(result, shapes)
    asked = _Asked(set(), set(), set())
    likely = [pair for pair, kind in kinds.items() if kind == "likelihood"]
    if likely:
        _ask_by_likelihood(result, evidence, shapes, likely, set(kinds), asked)
    for pair, kind in kinds.items():
        if kind == "residuals":
            _ask_by_residuals(result.rows, evidence.mechanisms, pair, asked)
        elif not kind:
            asked.missing.add("links at categories and counts are not asked about")
    return HiddenSuspicion(
        _named(result, asked.suspected),
        _named(result, asked.pairs),
        "; ".join(sorted(asked.missing)),
    )


class _Asked(NamedTuple):
    """The links that are suspected, those that were asked about, and sentences on those that were
    not.
    """

    suspected: set[tuple[int, int]]
    pairs: set[tuple[int, int]]
    missing: set[str]


def _kinds_of_links(result: ContextGraphs, shapes: dict[int, _Shape]) -> dict[tuple[int, int], str]:
    """The way in which every link between system variables is asked about: "likelihood",
    "residuals" or "".
    """
    contexts = set(result.cells.positions)
    numbers = [shape for shape in shapes.values() if shape.is_number]
    straight = all(shape.straight for shape in numbers if shape.even)
    links = np.argwhere(np.triu(result.union.adjacency)).tolist()
    return {
        (x, y): _kind(shapes[x], shapes[y], straight)
        for x, y in links
        if contexts.isdisjoint((x, y))
    }


def _ask_by_likelihood(
    result: ContextGraphs,
    evidence: ScoreEvidence,
    shapes: dict[int, _Shape],
    likely: list[tuple[int, int]],
    links: set[tuple[int, int]],
    asked: _Asked,
) -> None:
    """Compare models with a hidden cause for the links of straight equations; what they say goes to
    `asked`.

    `likely` are these links, `links` all that the result has: a model with a hidden cause may drop
    others than those that were asked.
    """
    straight = _straight_equations(result, evidence, shapes)
    if straight is None:
        asked.missing.add(
            f"models of more than {MOST_HIDDEN_VARIABLES} variables, or of ranks, are not compared"
        )
        return
    equations, numbers = straight
    suspected, left = _by_likelihood(equations, numbers)
    free = {numbers[i] for i in np.flatnonzero(equations.free[: len(numbers)])}
    compared = {pair for pair in likely if free.issuperset(pair)}
    asked.pairs.update(compared - left)
    asked.suspected.update(suspected & links)
    if len(compared) < len(likely):
        asked.missing.add(
            "links into equations that change with one of several contexts, or whose causes"
            " have an uneven spread, are not compared"
        )
    if left:
        asked.missing.add(
            f"{len(left)} links were not asked about, since all of them would take too long"
        )


def _ask_by_residuals(
    rows: Dataset | None, mechanisms: Mechanisms, pair: tuple[int, int], asked: _Asked
) -> None:
    """Compare the residuals of a link; what they say goes to `asked`."""
    if rows is None:
        asked.missing.add("residuals need rows, which this result does not have")
        return
    depend = _depend(rows, mechanisms, pair)
    if depend is None:
        asked.missing.add(
            "links are not asked about where a curve or an uneven spread would explain all"
            " dependence"
        )
        return
    asked.pairs.add(pair)
    if depend:
        asked.suspected.add(pair)


def _named(result: ContextGraphs, pairs: set[tuple[int, int]]) -> tuple[NamePair, ...]:
    """The pairs by name, each in the order of the alphabet."""
    ends = (sorted((result.names[x], result.names[y])) for x, y in sorted(pairs))
    return tuple((first, second) for first, second in ends)


def _kind(x: _Shape, y: _Shape, straight: bool) -> str:
    """The way in which a link is asked about; "" if it is not.

    Models are compared where both ends are numbers with straight, even, Gaussian equations and no
    equation of the table has a curve (`straight`). Other links of numbers are asked by their
    residuals.
    """
    if not (x.is_number and y.is_number):
        return ""
    plain = straight and x.even and y.even and x.gaussian and y.gaussian
    return "likelihood" if plain else "residuals"


def _shape(mechanisms: Mechanisms, node: int) -> _Shape:
    """The shape of the equations of a variable; a number only if all its causes are numbers,
    too.
    """
    equations = _equations_of(mechanisms, node)
    uneven = [
        term.cause for equation in equations for term in equation.spread if term.shape != "context"
    ]
    causes = [*uneven, *(cause for equation in equations for cause in equation.causes)]
    number = (
        bool(equations)
        and mechanisms.scales[node].kind == NUMBER
        and all(equation.kind == NUMBER for equation in equations)
        and all(mechanisms.scales[cause].is_number for cause in causes)
    )
    straight = all(term.kind == "linear" for equation in equations for term in equation.terms)
    gaussian = all(equation.density[0] == 0.0 for equation in equations)
    return _Shape(number, straight, not uneven, gaussian)


def _straight_equations(
    result: ContextGraphs, evidence: ScoreEvidence, shapes: dict[int, _Shape]
) -> tuple[StraightEquations, list[int]] | None:
    """The equations in the numbers of the system variables, then the context; and these variables.

    None where there are too many, or where they are ranks.
    """
    moments = result.moments
    mechanisms = evidence.mechanisms
    if moments is None or mechanisms is None:
        return None
    contexts = list(result.cells.positions)
    system = [v for v in range(len(result.names)) if v not in contexts]
    numbers = [v for v in system if shapes[v].is_number and shapes[v].even]
    if _are_ranked(mechanisms, numbers) or len(numbers) > MOST_HIDDEN_VARIABLES:
        return None
    others = [v for v in system if v not in numbers]
    p = len(numbers)
    nodes = [*numbers, *(contexts or [-1]), *others]  # p is the place of a context, if there is one
    position = {v: i for i, v in enumerate(nodes)}
    k = len(result.contexts)
    links = _links_of_terms(mechanisms, position, k)
    columns: list[EquationColumns] = [frozenset()] * (p + 1)
    free = np.zeros(p + 1, dtype=bool)
    noise = np.ones((p + 1, k))
    for i, v in enumerate(numbers):
        of_number = _of_number(mechanisms, v, shapes[v], position, numbers, k)
        links[:, p, i] = of_number.reads
        free[i] = of_number.is_known and (not of_number.reads or len(contexts) == 1)
        columns[i] = of_number.columns
        noise[i] = of_number.noise
    may, must = _known_links(result, nodes[: p + 1] if len(contexts) == 1 else numbers, p + 1)
    scatter = moments.scatter[:, numbers][:, :, numbers]
    chosen = Moments(moments.rows, moments.mean[:, numbers], scatter)
    price = 0.5 * evidence.penalty
    extra = ScoreOptions().parent_price(p)
    given = StraightEquations(chosen, tuple(columns), free, may, must, links, noise, price, extra)
    return given, numbers


class _OfNumber(NamedTuple):
    """The equations of a number, as one with slopes and shifts by context."""

    reads: bool  # whether contexts differ in intercepts or equations
    is_known: bool  # whether it is straight and Gaussian, with numbers alone as causes
    columns: EquationColumns
    noise: Floats  # shape (contexts,): standard deviations


def _of_number(
    mechanisms: Mechanisms,
    node: int,
    shape: _Shape,
    position: dict[int, int],
    numbers: list[int],
    contexts: int,
) -> _OfNumber:
    """The equations of a number; slopes are left out where a cause is no number of `numbers`.

    `position` has the place of every column of the table; the context is behind the numbers, and a
    shift of the intercept is a column of it for every value but the first.
    """
    equations = _equations_of(mechanisms, node)
    reads = len(equations) > 1 or len(set(equations[0].intercepts)) > 1
    in_numbers = shape.straight and _causes(equations).issubset(numbers)
    shifts = {(len(numbers), 1 << r) for r in range(1, contexts)} if reads else set()
    slopes = _slopes(equations, position) if in_numbers else set()
    return _OfNumber(
        reads,
        in_numbers and shape.gaussian,
        frozenset(shifts | slopes),
        _noise_by_context(equations, contexts),
    )


def _are_ranked(mechanisms: Mechanisms, numbers: list[int]) -> bool:
    """True if the search replaced any of these columns by normal scores."""
    return any(mechanisms.scales[v].scores for v in numbers)


def _causes(equations: list[Equation]) -> set[int]:
    """The causes of a variable in any of its equations."""
    return {cause for equation in equations for cause in equation.causes}


def _noise_by_context(equations: list[Equation], contexts: int) -> Floats:
    """The standard deviation of the noise of a variable, shape (contexts,); 1 without an equation
    there.
    """
    noise = np.ones(contexts)
    for equation in equations:
        noise[list(equation.contexts)] = [_noise(equation, r) for r in equation.contexts]
    return noise


def _links_of_terms(mechanisms: Mechanisms, position: dict[int, int], contexts: int) -> Bools:
    """True for causes (row) of effects (column) in the equations of every context.

    Shape (contexts, nodes, nodes); `position` has the place of every column of the table among the
    nodes.
    """
    links = np.zeros((contexts, len(position), len(position)), dtype=bool)
    for equation in mechanisms.equations:
        effect = position[equation.effect]
        for term in equation.terms:
            for cause in term.causes:
                links[list(term.contexts), position[cause], effect] = True
    return links


def _equations_of(mechanisms: Mechanisms, effect: int) -> list[Equation]:
    """The equations of a variable, one for every group of contexts with its own."""
    return [equation for equation in mechanisms.equations if equation.effect == effect]


def _slopes(equations: list[Equation], position: dict[int, int]) -> set[tuple[int, int]]:
    """The columns of straight equations: a cause, and the contexts of a slope as bits.

    `position` has the place of every column of the table among the nodes.
    """
    return {
        (position[term.causes[0]], sum(1 << r for r in term.contexts))
        for equation in equations
        for term in equation.terms
    }


def _known_links(result: ContextGraphs, variables: list[int], size: int) -> tuple[Bools, Bools]:
    """The links between variables that may and that must exist, shape (size, size) each; none at
    others.
    """
    known = result.settings.knowledge.links(result.names)
    may = np.zeros((size, size), dtype=bool)
    must = np.zeros((size, size), dtype=bool)
    count = len(variables)
    may[:count, :count] = known.may[np.ix_(variables, variables)]
    must[:count, :count] = known.must[np.ix_(variables, variables)]
    return may, must


def _noise(equation: Equation, context: int) -> float:
    """The standard deviation of the noise in a context: that of the equation times exp of the
    spread's terms.
    """
    scale = sum(float(term.values(np.zeros(1), context)[0]) for term in equation.spread)
    return max(equation.noise, 1e-6) * float(np.exp(scale))


def _by_likelihood(
    given: StraightEquations, numbers: list[int]
) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """Pairs of children of a hidden cause in the clearly better models, with links that the strong
    ones drop or turn; and the pairs that were not asked about.

    The other models save a parameter, perhaps by chance, and the links that they drop say little.
    """
    pairs: set[tuple[int, int]] = set()
    base, strong, better, left = compare_hidden_causes(given)
    for model in better:
        pairs |= set(combinations(model.children, 2))
        if model.score <= base + strong:
            continue
        for effect, columns in enumerate(given.columns):
            kept = {cause for cause, _ in model.columns[effect]}
            pairs |= {(cause, effect) for cause, _ in columns if cause not in kept}

    def of_the_table(places: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
        """The pairs of numbers among these, as columns of the table, the lower one first."""
        between_numbers = [pair for pair in places if max(pair) < len(numbers)]
        ends = [(numbers[x], numbers[y]) for x, y in between_numbers]
        return {(min(pair), max(pair)) for pair in ends}

    return of_the_table(pairs), of_the_table(left)


def _depend(rows: Dataset, mechanisms: Mechanisms, pair: tuple[int, int]) -> bool | None:
    """True if the residuals of a pair depend; None if nothing can be asked.

    The cause is the end that stands in the other's equation. Two tests share a level: of the
    residuals, and, for equations with curves or uneven spreads in long tables, of the shape of the
    effect's noise. Of many rows every m-th is used.
    """
    cause, effect = _ends_in_order(mechanisms, pair)
    used = np.flatnonzero(complete_rows(rows))
    used = used[:: max(1, -(-len(used) // MOST_RESIDUAL_ROWS))]
    cause_design = design_matrix(rows, mechanisms, cause, used)
    effect_design = design_matrix(rows, mechanisms, effect, used)
    cause_values = mechanisms.scales[cause].standard(np.asarray(rows.columns[cause])[used])
    effect_values = mechanisms.scales[effect].standard(np.asarray(rows.columns[effect])[used])
    cause_residual = _residual(cause_design, cause_values)
    effect_residual = _residual(effect_design, effect_values)
    of_residuals = residual_dependence(cause_residual, effect_residual, effect_design)
    tests = [(of_residuals, RESIDUAL_LEVEL)]
    if len(used) >= FEWEST_FOR_SHAPE and _shape_is_asked(mechanisms, cause, effect):
        spread = design_matrix(rows, mechanisms, effect, used, terms=False)
        noise = standard_noise(effect_values, effect_design, spread)
        of_shape = shape_dependence(cause_residual, noise)
        tests = [(of_residuals, RESIDUAL_LEVEL / 2.0), (of_shape, SHAPE_LEVEL)]
    below = [p < level for p, level in tests if not np.isnan(p)]
    return any(below) if below else None


def _ends_in_order(mechanisms: Mechanisms, pair: tuple[int, int]) -> tuple[int, int]:
    """The cause and the effect of a link, by the equations; the second one is the cause if no
    equation says so.
    """
    x, y = pair
    for equation in _equations_of(mechanisms, y):
        if x in equation.causes or x in {term.cause for term in equation.spread}:
            return x, y
    return y, x


def _shape_is_asked(mechanisms: Mechanisms, cause: int, effect: int) -> bool:
    """True if the shape of the noise of an effect with curves or an uneven spread can tell of a
    hidden cause.

    Not if the effect follows a curve of the cause, and the noise is not Gaussian: where its density
    has a sharp edge, what a fitted curve does not follow looks like another shape. Nor if a cause
    acts on the spread alone: what a search takes a hidden cause for moves the mean as well.
    """
    equations = _equations_of(mechanisms, effect)
    gaussian = all(equation.density[0] == 0.0 for equation in equations)
    curves = [term for equation in equations for term in equation.terms if term.kind != "linear"]
    curved = any(cause in term.causes for term in curves)
    alone = any(
        term.shape != "context" and term.cause not in equation.causes
        for equation in equations
        for term in equation.spread
    )
    bends = any(_bends(equation) for equation in equations)
    return bends and (gaussian or not curved) and not alone


def _bends(equation: Equation) -> list[tuple[int, tuple[int, ...]]]:
    """The causes that act along curves or on the spread, with the contexts in which they do."""
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
    """The columns that may move a number: shape (rows, columns).

    Intercepts, and terms of its equations where they live; any smooth curve of a cause that is
    known to act along a curve or on the spread; contexts, if the spread differs between them.
    Without `terms`, what may move its spread.
    """
    codes = (
        rows.codes[used] if len(rows.contexts.positions) else np.zeros(len(used), dtype=np.int64)
    )
    columns: list[Floats] = []
    for equation in _equations_of(mechanisms, node):
        contexts_of: dict[tuple[float, ...], list[int]] = {}
        for r, intercept in zip(equation.contexts, equation.intercepts, strict=True):
            contexts_of.setdefault(intercept, []).append(r)
        groups = [tuple(contexts_of[intercept]) for intercept in sorted(contexts_of)]
        groups += [term.contexts for term in equation.spread if term.contexts]
        columns += [np.isin(codes, group).astype(np.float64) for group in groups]
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
    """Six functions of x that, beside a constant, span all cubic splines with knots at the
    quartiles.

    They are x, x^2, x^3 and max(x - q, 0)^3 for each quartile q, shape (rows,) each.
    """
    return [
        x,
        x**2,
        x**3,
        *(np.maximum(x - knot, 0.0) ** 3 for knot in np.quantile(x, (0.25, 0.5, 0.75))),
    ]


def _residual(design: Floats, values: Floats) -> Floats:
    """The part of the values that least squares on the design leaves, of the shape of the
    values.
    """
    return np.asarray(values - design @ np.linalg.lstsq(design, values, rcond=None)[0])


def residual_dependence(of_cause: Floats, of_effect: Floats, design: Floats) -> float:
    """The p-value of independent residuals: polynomials of the ranks of either, those of the cause
    without the design.

    Legendre polynomials of degree 1 to 3, and 1 to 4. Those of the cause are projected off the
    columns of the effect's equation, so that it does not matter that its slopes were fitted, nor
    what else the effect does along them. Of the rest, directions with enough variance are whitened,
    and their covariances with those of the effect are chi-squared. NaN if there are none.
    """
    whole = _legendre(of_cause, CAUSE_POLYNOMIALS)
    effect = _legendre(of_effect, EFFECT_POLYNOMIALS)
    left = _whitened(_residual(design, whole), LEAST_COMPARED_SHARE * whole.var(axis=0).mean())
    return _independent(left, _whitened(effect))


def _independent(first: Floats, second: Floats) -> float:
    """The p-value of no covariance between whitened functions of two independent variables.

    The sum of n r^2 over all pairs is chi-squared with as many degrees of freedom as there are
    pairs; NaN if there are none.
    """
    across = first.T @ second / np.sqrt(len(first))
    return float(chi2.sf(np.sum(across**2), across.size)) if across.size else np.nan


def _whitened(functions: Floats, least: float = 1e-9) -> Floats:
    """The principal components of functions with more than `least` variance, divided by their
    deviations.

    Functions have mean 0 and shape (rows, functions); the answer has shape (rows, kept) and the
    identity as covariance.
    """
    variances, axes = np.linalg.eigh(functions.T @ functions / len(functions))
    kept = variances > least
    return np.asarray(functions @ axes[:, kept] / np.sqrt(variances[kept]))


def standard_noise(values: Floats, design: Floats, spread: Floats) -> Floats:
    """The noise of values with a mean along `design`, divided by a spread whose logarithm is along
    `spread`.

    Mean and spread are fitted in turns: weighted least squares, then steps of the log spread along
    its columns by half of (residual / spread)^2 - 1, in which no row counts more than
    `LARGEST_SQUARE`. The answer has shape (rows,).
    """
    basis, sizes, _ = np.linalg.svd(
        spread / np.abs(spread).max(axis=0).clip(1e-12), full_matrices=False
    )
    basis = basis[:, sizes > 1e-9 * sizes[0]]
    left = _residual(design, values)
    log_scale = basis @ (basis.T @ np.log(np.abs(left) + 1e-3 * left.std() + 1e-12))
    for _ in range(SPREAD_ROUNDS):
        for _ in range(SPREAD_STEPS):
            excess = np.minimum((left / _scale(log_scale)) ** 2, LARGEST_SQUARE) - 1.0
            log_scale = log_scale + 0.5 * basis @ (basis.T @ excess)
        scale = _scale(log_scale)
        left = scale * _residual(design / scale[:, None], values / scale)
    return np.asarray(left / scale)


def _scale(log_scale: Floats) -> Floats:
    """The spread of a log spread, kept between exp(-`LARGEST_LOG_SPREAD`) and its inverse."""
    return np.asarray(np.exp(log_scale.clip(-LARGEST_LOG_SPREAD, LARGEST_LOG_SPREAD)))


def shape_dependence(of_cause: Floats, noise: Floats) -> float:
    """The p-value of a noise whose shape does not depend on the residual of a cause.

    Polynomials of the ranks of the residual, against those waves of the noise, of standard
    deviation 1, whose mean does not move to first order where the noise is shifted or stretched: so
    a mean and a spread that were fitted, along any curves, do not matter.
    """
    noise = noise / max(float(noise.std()), 1e-12)
    sizes = np.array(WAVE_FREQUENCIES)
    sines = np.sin(noise[:, None] * sizes)
    cosines = np.cos(noise[:, None] * sizes)
    waves = np.hstack([sines, cosines])
    slopes = np.hstack([sizes * cosines, -sizes * sines])
    moved = np.stack([slopes.mean(axis=0), (noise[:, None] * slopes).mean(axis=0)])
    waves = (waves - waves.mean(axis=0)) @ np.linalg.svd(moved)[2][2:].T
    least = LEAST_WAVE_SHARE * waves.var(axis=0).sum()
    return _independent(_whitened(_legendre(of_cause, CAUSE_POLYNOMIALS)), _whitened(waves, least))


def _legendre(residual: Floats, degree: int) -> Floats:
    """Legendre polynomials of the ranks, from -1 to 1, around their means; shape (rows, degree)."""
    ranks = (2.0 * rankdata(residual) - 1.0) / len(residual) - 1.0
    polynomials = np.polynomial.legendre.legvander(ranks, degree)[:, 1:]
    return np.asarray(polynomials - polynomials.mean(axis=0))

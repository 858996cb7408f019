"""Would a hidden cause describe straight lines and Gaussian noise better, with effects of its own
in every context?

Correlated errors (`correlated_errors`) are a hidden cause of two or three variables that acts alike
in all contexts. Here it may be a node, too, with a column in the equation of every child; children
of the context may have it in some contexts only, as any cause. In context r the errors of the
children have the covariance of one factor, L_r L_r' + D_r, and the node is expected where they say,
so that its expected moments need moments only. Models are climbed by structural EM (Friedman 1997),
with the same moves and prices as without; the mean and the variance of the node are fitted in every
step, which changes no likelihood and is faster (Liu, Rubin and Wu 1998), and cost nothing.

The comparison is fair where both sides are searched alike. So equations are climbed anew without a
hidden cause (the base), then, near every adjacent pair, with correlated errors, then with a node;
what these climbs have found starts climbs without a hidden cause, which may raise the base.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.moments import Moments
from causalcontext.diagnostics.correlated_errors import (
    EquationClimb,
    EquationColumns,
    HiddenCauseModel,
    StraightEquations,
    unlinked,
    with_equations,
)
from causalcontext.diagnostics.settings import (
    CLEARLY_BETTER,
    CLIMB_CONVERGED,
    EXTENDED_MODELS,
    FEW_SLOPE_CONTEXTS,
    MOST_COMPARISON_WORK,
    MOST_EXTENSIONS,
    MOST_LOST,
    MOST_NODE_CLIMBS,
    MOST_NODE_STEPS,
    NEAR_BEST,
    SMALLEST_GAIN,
    SMALLEST_VARIANCE,
    START_LOADINGS,
)
from causalcontext.kernels.arrays import Floats

Scalar = TypeVar("Scalar", bound=np.generic)


class HiddenCauseComparison(NamedTuple):
    """The best score without a hidden cause, the clearly better models near the best, and the pairs
    not asked.

    `strong`: a model that gains more does not only save a parameter.
    """

    base: float
    strong: float
    better: tuple[HiddenCauseModel, ...]
    left: tuple[tuple[int, int], ...] = ()


class Loaded(NamedTuple):
    """The m children of the hidden node, and their equations."""

    children: list[int]
    errors: Floats  # shape (K, m, p + 1): by variables and 1, without the node
    loading: Floats  # shape (K, m)
    left: Floats  # shape (m,): the variance of the noise in the first context


def compare_hidden_causes(given: StraightEquations) -> HiddenCauseComparison:
    """The models with a hidden cause of connected variables that beat every model without one.

    Two ways lead to them: correlated errors of each linked pair, perhaps with a third child, and a
    hidden node by structural EM. A model with a hidden cause that was found becomes a start for
    models without one, so that what its links alone gain is no sign of a hidden cause.

    A model is clearly better by `CLEARLY_BETTER` nats, or by the price of a column less
    `MOST_LOST`, if that is more.
    """
    climb = EquationClimb(with_hidden_node(given))
    base = climb.up(climb.given.columns, ())
    models: list[HiddenCauseModel] = []
    left: list[tuple[int, int]] = []
    for pair in climb.adjacent(base.columns):
        if climb.work > MOST_COMPARISON_WORK:
            left.append(pair)
            continue
        best = base
        for start, correlation in climb.starts(base.columns, pair):
            if climb.acyclic(start):
                best = max(best, climb.up(start, pair, correlation), key=lambda model: model.score)
        for third in climb.near(base.columns, pair):
            if best.children == pair:
                larger = climb.up(
                    unlinked(best.columns, (*pair, third)), tuple(sorted((*pair, third)))
                )
                best = max(best, larger, key=lambda model: model.score)
        if best.score > base.score + SMALLEST_GAIN:
            models.append(best)
            base = max(base, *climb.without_hidden_cause(best), key=lambda model: model.score)
    models += HiddenNode(climb).search(base, models)
    models.sort(key=lambda model: -model.score)
    strong = climb.cost[climb.everywhere]
    least = max(CLEARLY_BETTER, strong - MOST_LOST)
    near = [
        model
        for model in models
        if model.score > max(models[0].score - NEAR_BEST, base.score + least)
    ]
    for model in near:
        base = max(base, *climb.without_hidden_cause(model), key=lambda model: model.score)
    better = (
        _without_node(model, climb.p - 1) for model in near if model.score > base.score + least
    )
    return HiddenCauseComparison(base.score, strong, tuple(better), tuple(left))


def _without_node(model: HiddenCauseModel, node: int) -> HiddenCauseModel:
    """The model by the numbers of the table: the node's equation is gone, and the context
    moves up.
    """
    columns = tuple(
        frozenset((cause - (cause > node), mask) for cause, mask in equation)
        for effect, equation in enumerate(model.columns)
        if effect != node
    )
    return model._replace(columns=columns)


def with_hidden_node(given: StraightEquations) -> StraightEquations:
    """The equations with one number more, of which nothing is known and which causes nothing.

    It stands behind the other numbers and before the context; its moments are 0 until they are
    expected.
    """
    p = len(given.columns) - 1
    moments = given.moments
    columns = [
        frozenset((v + (v == p), mask) for v, mask in equation) for equation in given.columns
    ]
    mean = np.insert(moments.mean, p, 0.0, axis=1)
    scatter = _padded(moments.scatter, p)
    return replace(
        given,
        moments=Moments(moments.rows, mean, scatter),
        columns=(*columns[:p], frozenset(), columns[p]),
        free=np.insert(given.free, p, False),
        may=_padded(given.may, p),
        must=_padded(given.must, p),
        links=_padded(given.links, p),
        noise=np.insert(given.noise, p, 1.0, axis=0),
    )


def _padded(table: NDArray[Scalar], position: int) -> NDArray[Scalar]:
    """The array with a row and a column of zeros more at `position`, in its last two axes."""
    return np.insert(np.insert(table, position, 0, axis=-1), position, 0, axis=-2)


class HiddenNode:
    """Structural EM with a hidden node, the last number of `without`, a climb in which it causes
    nothing.

    Here a model has the columns of the node among those of its children. In turns, the node's cross
    products are expected given the equations (`expect`), and equations are moved and fitted with
    these (`climb`).

    Attributes
    ----------
    climb : the climb in which the node may cause any variable
    noise : shape (p + 1, K), standard deviations of the noise, up to a factor
    rows : shape (K,), the rows of every context
    visited : the equations that a climb has been at, where another one ends
    """

    def __init__(self, without: EquationClimb) -> None:
        self.without = without
        self.node = without.p - 1
        may = without.given.may.copy()
        may[self.node, without.nodes] = True
        self.climb = EquationClimb(replace(without.given, may=may), without, [self.node])
        self.noise = without.scales[without.scale_of]
        self.rows = without.given.moments.rows.astype(np.float64)
        self.visited: set[tuple[EquationColumns, ...]] = set()

    def search(
        self, base: HiddenCauseModel, correlated: Sequence[HiddenCauseModel]
    ) -> list[HiddenCauseModel]:
        """The models that climbs reach, by the numbers of the table with the node.

        They start from connected triples of `base` and from models with correlated errors; the
        `EXTENDED_MODELS` best then gain or lose children as long as that helps.
        """
        starts = [
            *self._connected(base.columns),
            *(self._loaded(reached.columns, reached.children) for reached in correlated),
        ]
        models = self._climbed(starts)
        best = {
            reached.children: reached
            for reached in sorted(models, key=lambda reached: reached.score)
        }
        for model in sorted(best.values(), key=lambda reached: -reached.score)[:EXTENDED_MODELS]:
            for _ in range(MOST_EXTENSIONS):
                others = self._climbed(self._other_children(model))
                models += others
                other = max(others, key=lambda reached: reached.score, default=model)
                if other.score < model.score + CLIMB_CONVERGED:
                    break
                model = other
        return [reached._replace(columns=self._unloaded(reached.columns)) for reached in models]

    def _connected(
        self, columns: tuple[EquationColumns, ...]
    ) -> Iterator[tuple[EquationColumns, ...]]:
        """The starts with a hidden cause of three connected variables, or of one and all its
        effects.

        The links among these are taken away: the hidden cause stands for them.
        """
        near = self.without.near
        nodes = self.climb.nodes
        groups: set[tuple[int, ...]] = {
            (*pair, third)
            for pair in self.without.adjacent(columns)
            for third in near(columns, pair)
        }
        groups |= {
            (v, *(w for w in nodes if any(cause == v for cause, _ in columns[w]))) for v in nodes
        }
        for children in sorted({tuple(sorted(group)) for group in groups if len(group) > 2}):
            yield self._loaded(unlinked(columns, children), children)

    def _other_children(self, model: HiddenCauseModel) -> Iterator[tuple[EquationColumns, ...]]:
        """The starts with a neighbour of the children as a further one, or with a child less.

        A neighbour joins in place of its links to the children; where few contexts are, also with a
        loading in one of them alone.
        """
        for v in self.climb.near(model.columns, model.children):
            rest = model.columns
            for child in model.children:
                rest = unlinked(rest, (v, child))
            yield self._loaded(rest, [v])
            if (
                any(cause == self.climb.p for cause, _ in rest[v])
                and self.climb.k <= FEW_SLOPE_CONTEXTS
            ):
                for r in range(self.climb.k):
                    yield with_equations(rest, (v, rest[v] | {(self.node, 1 << r)}))
        for v in model.children if len(model.children) > 2 else ():
            yield with_equations(model.columns, (v, self._unloaded(model.columns)[v]))

    def _loaded(
        self, columns: tuple[EquationColumns, ...], children: Sequence[int]
    ) -> tuple[EquationColumns, ...]:
        """The equations with the node as a cause of these children, alike in all contexts."""
        return with_equations(
            columns, *((v, columns[v] | {(self.node, self.climb.everywhere)}) for v in children)
        )

    def _unloaded(self, columns: tuple[EquationColumns, ...]) -> tuple[EquationColumns, ...]:
        """The equations without the node."""
        return tuple(
            frozenset(column for column in equation if column[0] != self.node)
            for equation in columns
        )

    def children(self, columns: Sequence[EquationColumns]) -> list[int]:
        """The variables that the node acts on."""
        return [v for v in self.climb.nodes if any(cause == self.node for cause, _ in columns[v])]

    def _climbed(self, starts: Iterable[tuple[EquationColumns, ...]]) -> list[HiddenCauseModel]:
        """The models that climbs reach from the starts that have all links that
        knowledge requires.
        """
        required = np.argwhere(self.climb.given.must).tolist()
        models = (
            self.up(start)
            for start in starts
            if self.without.work < MOST_COMPARISON_WORK
            and self.climb.acyclic(start)
            and all(
                any(own_cause == cause for own_cause, _ in start[effect])
                for cause, effect in required
                if effect in self.climb.nodes
            )
        )
        return [model for model in models if model is not None]

    def up(self, columns: tuple[EquationColumns, ...]) -> HiddenCauseModel | None:
        """The best model that structural EM leads to; None if it leads to where it was before.

        A round ends in other equations, by the expected moments of the node; the score counts, as
        it is without the node in the rows.
        """
        best = None
        fit = self.started(columns)
        for _ in range(MOST_NODE_CLIMBS):
            if columns in self.visited or len(fit.children) < 2:
                break
            self.visited.add(columns)
            fit, likelihood = self.converge(columns, fit)
            score = self.score(columns, fit.children, likelihood)
            if best is not None and not score > best.score + CLIMB_CONVERGED:
                break
            best = HiddenCauseModel(columns, tuple(fit.children), score)
            columns = self.climb.up(columns, ()).columns
            fit = self.fitted(columns, self.children(columns))
        return best

    def converge(self, columns: tuple[EquationColumns, ...], fit: Loaded) -> tuple[Loaded, float]:
        """The equations of the children and their log-likelihood, by EM with the same columns.

        The climb is left with the node as these equations expect it.
        """
        likelihood = self.expect(fit)
        for _ in range(MOST_NODE_STEPS):
            fit = self.fitted(columns, fit.children)
            before = likelihood
            likelihood = self.expect(fit)
            if not likelihood > before + CLIMB_CONVERGED:
                break
        return fit, likelihood

    def score(
        self, columns: Sequence[EquationColumns], children: Sequence[int], likelihood: float
    ) -> float:
        """The log-likelihood less prices; loadings of two children in all contexts are one
        correlation.
        """
        climb = self.without
        every = self.climb.everywhere
        alone = sum(climb.score_alone(v, columns[v]) for v in climb.nodes if v not in children)
        priced = sum(climb.price(columns[child]) for child in children)
        loadings = [
            mask for child in children for cause, mask in columns[child] if cause == self.node
        ]
        if loadings == [every, every]:
            priced -= climb.cost[every]
        return float(alone + likelihood - priced)

    def started(self, columns: tuple[EquationColumns, ...]) -> Loaded:
        """The loadings to start from: the first principal axis of the correlations of the errors.

        With the largest eigenvalue v of C - 1, C being the correlations, a child of weight u gets
        |u| sqrt(v) of its deviation, within `START_LOADINGS`, with the sign of u, in the contexts
        where the node acts on it.
        """
        children = self.children(columns)
        fit = self.fitted(self._unloaded(columns), children)
        covariance = (fit.errors @ self.without.raw @ fit.errors.transpose(0, 2, 1)).sum(
            axis=0
        ) / self.without.n
        spread = np.sqrt(np.maximum(np.diagonal(covariance), SMALLEST_VARIANCE))
        values, axes = np.linalg.eigh(covariance / spread[:, None] / spread - np.eye(len(children)))
        share = np.clip(np.abs(axes[:, -1]) * np.sqrt(max(values[-1], 0.0)), *START_LOADINGS)
        lives = [
            [
                any(cause == self.node and mask >> r & 1 for cause, mask in columns[v])
                for v in children
            ]
            for r in range(self.climb.k)
        ]
        loading = np.where(axes[:, -1] < 0.0, -1.0, 1.0) * share * spread * np.array(lives)
        return Loaded(children, fit.errors, loading, fit.left * (1.0 - share**2))

    def fitted(self, columns: Sequence[EquationColumns], children: Sequence[int]) -> Loaded:
        """The equations of the children by least squares, with what is expected of the node."""
        climb = self.climb
        fits = [climb.fit_alone(child, columns[child]) for child in children]
        scores = [
            score + climb.price(columns[v]) for v, (score, _) in zip(children, fits, strict=True)
        ]
        errors = np.zeros((climb.k, len(children), climb.p + 1))
        for i, (_, error) in enumerate(fits):
            errors[:, i] = (error.reshape(climb.p + 1, -1) @ climb.lives).T
        loading = -errors[:, :, self.node]
        errors[:, :, self.node] = 0.0
        return Loaded(list(children), errors, loading, np.exp(-2.0 / climb.n * np.array(scores)))

    def expect(self, fit: Loaded) -> float:
        """Give the climb the expected products of the node; the log-likelihood of the children.

        In context r the node has a posterior with precision 1 + sum l^2 / v, its mean being the
        errors weighted by l / v over that, for loadings l and variances v. It gets a mean of 0 and
        a variance of 1 over all rows. What no model changes is left out of the likelihood.
        """
        climb = self.without
        raw = self.without.raw
        variances = fit.left * self.noise[fit.children].T ** 2
        information = 1.0 + (fit.loading**2 / variances).sum(axis=1)
        weights = fit.loading / variances / information[:, None]
        of_errors = fit.errors @ raw
        squares = (of_errors * fit.errors).sum(axis=2)
        products = (weights[:, None] @ of_errors)[:, 0]
        mean_squares = ((weights[:, None] @ fit.errors)[:, 0] * products).sum(axis=1)
        logs = climb.n * float(np.log(fit.left).sum() - len(fit.left)) + float(
            self.rows @ np.log(information)
        )
        likelihood = -0.5 * (logs + float((squares / variances).sum() - information @ mean_squares))
        square = mean_squares + self.rows / information
        mean = products[:, -1].sum() / climb.n
        spread = np.sqrt(max(square.sum() / climb.n - mean**2, SMALLEST_VARIANCE))
        square = (square - 2.0 * mean * products[:, -1] + mean**2 * self.rows) / spread**2
        products = (products - mean * raw[:, -1]) / spread
        products[:, self.node] = square
        self.climb.replace_products(self.node, products)
        return likelihood

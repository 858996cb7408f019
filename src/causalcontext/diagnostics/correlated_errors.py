"""Would correlated errors, the trace of a hidden common cause, describe straight lines with
Gaussian noise better?

A model is a set of straight equations; the errors of two or three of them, the children of a hidden
cause, may be correlated, as with a hidden node that acts alike in all contexts (`hidden_node` has
the others). Its likelihood needs moments only: those of the errors, summed over contexts, since a
context picks an equation and the Jacobian of a system without cycles is 1. It is maximised by
residual iterative conditional fitting (Drton, Eichler and Richardson 2009): least squares of one
equation at a time, with the errors of its siblings beside its causes. Prices are those of score-ac;
a correlation costs one parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product
from math import log
from typing import NamedTuple

import numpy as np

from causalcontext.data.moments import Moments
from causalcontext.diagnostics.settings import (
    CORRELATION_CONVERGED,
    FEW_SLOPE_CONTEXTS,
    LEAST_LOG_DETERMINANT,
    LOOKS_PER_FIT,
    MOST_CORRELATION_STEPS,
    MOST_MOVES,
    SMALLEST_GAIN,
    SMALLEST_VARIANCE,
    START_CORRELATION,
)
from causalcontext.kernels.arrays import Bools, Floats

EquationColumn = tuple[int, int]
"""A cause, and the contexts in which it acts as a bit mask; p, the context, shifts the intercept
there.
"""
EquationColumns = frozenset[EquationColumn]


@dataclass(frozen=True)
class StraightEquations:
    """Straight equations of p numbers, and of a context as number p, in K contexts."""

    moments: Moments  # of the numbers in every context, in any units
    columns: tuple[EquationColumns, ...]  # p + 1 of them
    free: Bools  # shape (p + 1,): whose equations may be changed
    # `may`, `must`: shape (p + 1, p + 1): what knowledge allows and requires, row -> column
    may: Bools
    must: Bools
    # shape (K, m, m): all links of the m variables of the table, of which these are the first
    links: Bools
    noise: Floats  # shape (p + 1, K): standard deviations of the noise, up to a factor
    # `price`, `extra`: a column costs `price` times the logarithm of its rows, and so much more
    price: float
    extra: float = 0.0


class HiddenCauseModel(NamedTuple):
    """Equations, the children of a hidden cause (none without one), and the score."""

    columns: tuple[EquationColumns, ...]
    children: tuple[int, ...]
    score: float


def unlinked(
    columns: tuple[EquationColumns, ...], variables: Sequence[int]
) -> tuple[EquationColumns, ...]:
    """The equations without links between `variables`, in either direction."""
    return tuple(
        frozenset(column for column in equation if column[0] not in variables)
        if effect in variables
        else equation
        for effect, equation in enumerate(columns)
    )


class _Fit:
    """Correlated errors of the equations of children: a fit by residual iterative conditional
    fitting.

    In a round, each equation is fitted by least squares on its columns and on the errors of the
    others, weighted by the inverse of their covariance (its "siblings"). Every round raises the
    likelihood; it ends when that gains less than `CORRELATION_CONVERGED`.

    Attributes
    ----------
    errors : shape (children, columns), each error as a sum of the columns of all equations
    omega : shape (children, children), their covariance a row
    table : by pair of children, cross products of all columns, weighted by both noises
    value : the log-likelihood, less what no model changes
    """

    def __init__(
        self,
        climb: EquationClimb,
        children: Sequence[int],
        columns: Sequence[EquationColumns],
        correlation: float,
    ) -> None:
        self.climb = climb
        self.children = children
        self.designs = [climb.design(columns[child]) for child in children]
        self.own = [climb.response[child] for child in children]
        self.table = [
            [climb.products[climb.scale_of[a], climb.scale_of[b]] for b in children]
            for a in children
        ]
        self.errors = np.stack([climb.fit_alone(child, columns[child])[1] for child in children])
        self.omega = self.cross()
        if not (np.diagonal(self.omega) > SMALLEST_VARIANCE).all():
            raise np.linalg.LinAlgError("nothing is left of an error")
        spread = np.sqrt(np.diagonal(self.omega))
        self.omega = np.where(
            np.eye(len(children), dtype=bool), self.omega, correlation * spread[:, None] * spread
        )
        self.value = -np.inf
        for _ in range(MOST_CORRELATION_STEPS):
            for i in range(len(children)):
                self.update(i)
            before = self.value
            self.value = self.likelihood()
            if not self.value - before > CORRELATION_CONVERGED:
                break

    def cross(self) -> Floats:
        """The mean cross products of the errors, shape (children, children): e_i' T_ij e_j / n."""
        e = self.errors
        m = range(len(self.errors))
        return np.array([[e[i] @ self.table[i][j] @ e[j] for j in m] for i in m]) / self.climb.n

    def likelihood(self) -> float:
        """The log-likelihood, less what no model changes; -inf where errors are tied.

        That is -n / 2 (log |omega| + tr(omega^-1 S) - m), S being the cross products of m errors.
        """
        sign, determinant = np.linalg.slogdet(self.omega)
        if sign <= 0 or determinant < LEAST_LOG_DETERMINANT:
            return -np.inf
        inside = float(np.trace(np.linalg.solve(self.omega, self.cross()))) - len(self.omega)
        return float(-0.5 * self.climb.n * (determinant + inside))

    def siblings(self, i: int) -> tuple[Floats, Floats, Floats]:
        """For equation i: the other errors times the inverse of their covariance.

        Products of these with all columns, among each other, and that inverse.
        """
        others = [j for j in range(len(self.errors)) if j != i]
        inverse: Floats = np.asarray(
            np.linalg.inv(self.omega[np.ix_(others, others)]), dtype=np.float64
        )
        towards = np.stack([self.table[i][j] @ self.errors[j] for j in others])
        between = np.array(
            [[self.errors[j] @ self.table[j][k] @ self.errors[k] for k in others] for j in others]
        )
        return inverse @ towards, inverse @ between @ inverse, inverse

    def regression(
        self, i: int, design: Sequence[int], near: tuple[Floats, Floats, Floats]
    ) -> tuple[Floats, float]:
        """The slopes of equation i, those of its siblings last, and the variance that is left, a
        row.

        `design` are the places of its columns, `near` what `siblings` has for it. The normal
        equations hold cross products only, so that no fit reads rows.
        """
        self.climb.work += LOOKS_PER_FIT
        table = self.table[i][i]
        response = self.own[i]
        d = len(design)
        gram = np.empty((d + len(near[0]), d + len(near[0])))
        gram[:d, :d] = table[np.ix_(design, design)]
        gram[d:, :d] = near[0][:, design]
        gram[:d, d:] = gram[d:, :d].T
        gram[d:, d:] = near[1]
        right = np.concatenate([table[design, response], near[0][:, response]])
        slopes = _solved(gram, right)
        return slopes, max(
            float(table[response, response] - slopes @ right) / self.climb.n, SMALLEST_VARIANCE
        )

    def update(self, i: int) -> None:
        """Fit equation i anew, given the errors of the others, and write its error and covariances.

        With b the slopes of the siblings, and their inverse covariance W, the variance of the error
        is the part that is left plus b' W b.
        """
        near = self.siblings(i)
        design = self.designs[i]
        m = len(self.errors)
        slopes, left = self.regression(i, design, near)
        others = [j for j in range(m) if j != i]
        self.errors[i] = 0.0
        self.errors[i, design] = -slopes[: len(design)]
        self.errors[i, self.own[i]] += 1.0
        self.omega[i, others] = self.omega[others, i] = slopes[len(design) :]
        self.omega[i, i] = left + slopes[len(design) :] @ near[2] @ slopes[len(design) :]

    def gain(
        self, i: int, columns: EquationColumns, near: tuple[Floats, Floats, Floats], left: float
    ) -> float:
        """The least gain in log-likelihood by other causes of equation i, the others being as they
        are.

        That is -n / 2 log(v / left), v being the variance that the new columns leave: a bound,
        since a full fit would change the other equations as well.
        """
        return (
            -0.5
            * self.climb.n
            * log(self.regression(i, self.climb.design(columns), near)[1] / left)
        )


class EquationClimb:
    """A climb over straight equations by single moves, with every fit that was made.

    A column of an equation is a cause and a bit mask of contexts in which it acts; number p is the
    context, whose columns are shifts of the intercept. All fits read cross products of columns,
    which are kept for every pair of noise profiles; `fit_alone` results are kept by equation.

    Parameters
    ----------
    given : the equations, moments, and knowledge to start from
    like : a climb with the same moments but for those of some numbers; equations without these
        are the same as there
    moved : these numbers

    Attributes
    ----------
    work : what was done for both climbs, in looks at equations (`MOST_COMPARISON_WORK` bounds it)
    masks : the bit masks of contexts that a column may have
    place : by column, its place in cross products
    products : by pair of noise profiles, cross products of all columns
    cost : by mask, the price of one column there (nats)
    """

    def __init__(
        self, given: StraightEquations, like: EquationClimb | None = None, moved: Sequence[int] = ()
    ) -> None:
        self._first = like or self
        self._moved = frozenset(moved)
        self.work = 0
        self.given = given
        self.p = len(given.columns) - 1
        self.k = given.noise.shape[1]
        self.n = float(given.moments.rows.sum())
        self.everywhere = (1 << self.k) - 1
        self.nodes = np.flatnonzero(given.free).tolist()
        self.masks = self._masks()
        every_column = product(range(self.p + 1), self.masks)
        self.place = {column: i for i, column in enumerate(every_column)}
        self.response = [self.place[v, self.everywhere] for v in range(self.p)]
        self.response.append(self.place[self.p, 1 << (self.k - 1)])
        acts = [[mask >> r & 1 for r in range(self.k)] for mask in self.masks]
        self.lives = np.array(acts, dtype=np.float64)
        self.scales, of = np.unique(
            np.round(given.noise / given.noise[:, :1], 6), axis=0, return_inverse=True
        )
        self.scale_of = of.ravel().tolist()
        self.raw = _raw_products(given.moments)
        self.products = self._products_by_noise(bool(moved))
        self.cost = {mask: self._cost(mask) for mask in self.masks}
        self.fixed = [self._fixed(links) for links in given.links]
        self.alone: dict[tuple[int, EquationColumns], float] = {}
        self._better: dict[tuple[int, EquationColumns], list[tuple[float, EquationColumns]]] = {}

    def _masks(self) -> list[int]:
        """The masks of all contexts, of each one, and of the columns to start from, in order."""
        masks = {self.everywhere, *(1 << r for r in range(self.k))}
        for columns in self.given.columns:
            masks.update(mask for _, mask in columns)
        return sorted(masks)

    def _cost(self, mask: int) -> float:
        """The price of a column in the contexts of a mask: `price` times the log of their rows."""
        rows = float(self.given.moments.rows[_bits(mask)].sum())
        return self.given.price * log(max(rows, 2.0))

    def _products_by_noise(self, only_alike: bool) -> dict[tuple[int, int], Floats]:
        """The cross products of all columns for every pair of noise profiles.

        With `only_alike` a profile is paired with itself alone: without correlated errors no fit
        needs others.
        """
        numbers = range(len(self.scales))
        pairs = [(a, b) for a, b in product(numbers, numbers) if a == b or not only_alike]
        return {(a, b): self._products(self.raw, self.scales[a] * self.scales[b]) for a, b in pairs}

    def _products(self, raw: Floats, weights: Floats) -> Floats:
        """The cross products of columns, each row divided by the noise of two variables in its
        context.

        `raw` has shape (K, a, p + 1), for a of the variables; `weights`, shape (K,), are products
        of two profiles of the noise. The answer has shape (a masks, columns): a row of it is a
        column of one of these variables.
        """
        m = len(self.masks)
        both = (self.lives[:, None] * self.lives / weights).reshape(-1, self.k) @ raw.reshape(
            self.k, -1
        )
        return np.asarray(
            both.reshape(m, m, -1, self.p + 1).transpose(2, 0, 3, 1).reshape(-1, len(self.place))
        )

    def replace_products(self, number: int, raw: Floats) -> None:
        """Take other cross products of a moved number with all variables and 1, shape (K, p + 1).

        What was kept of equations with this number is forgotten.
        """
        of_number = [self.place[number, mask] for mask in self.masks]
        self._first.work += LOOKS_PER_FIT * len(self.products)
        for (a, b), table in self.products.items():
            table[of_number] = self._products(raw[:, None], self.scales[a] * self.scales[b])
            table[:, of_number] = table[of_number].T
        self.alone.clear()
        self._better.clear()

    def _fixed(self, links: Bools) -> list[int]:
        """The causes of every variable in a context that no move changes, as bit masks."""
        kept = links.copy()
        kept[: self.p + 1, self.nodes] = False
        return [sum(1 << int(cause) for cause in np.flatnonzero(of_effect)) for of_effect in kept.T]

    def price(self, columns: EquationColumns) -> float:
        """The price of the columns of an equation (nats)."""
        return sum(
            self.cost[self.everywhere] if cause == self.p else self.cost[mask] + self.given.extra
            for cause, mask in columns
        )

    def design(self, columns: EquationColumns) -> list[int]:
        """The places of an intercept and of the columns."""
        return [
            self.place[self.p, self.everywhere],
            *(self.place[column] for column in sorted(columns)),
        ]

    def fit_alone(self, node: int, columns: EquationColumns) -> tuple[float, Floats]:
        """The score of an equation whose error is correlated with no other, and the error by
        columns.

        The score is -n / 2 log v less the price of the columns, v being the residual variance a
        row. The error has shape (columns,): 1 at the response, minus the slopes at its columns, 0
        elsewhere.
        """
        self._first.work += LOOKS_PER_FIT
        table = self.products[self.scale_of[node], self.scale_of[node]]
        response = self.response[node]
        used = [*self.design(columns), response]
        among = table[np.ix_(used, used)]
        own_error = np.append(-_solved(among[:-1, :-1], among[:-1, -1]), 1.0)
        left = max(float(own_error @ among @ own_error) / self.n, SMALLEST_VARIANCE)
        error = np.zeros(len(table))
        error[used] = own_error
        return -0.5 * self.n * log(left) - self.price(columns), error

    def score_alone(self, node: int, columns: EquationColumns) -> float:
        """The score of such an equation, fitted once."""
        self._first.work += 1
        same = not self._moved or self._moved.isdisjoint([cause for cause, _ in columns])
        key = (node, columns)
        known = self._first.alone if same else self.alone
        if key not in known:
            known[key] = self.fit_alone(node, columns)[0]
        return known[key]

    def up(
        self,
        columns: tuple[EquationColumns, ...],
        children: tuple[int, ...],
        correlation: float = 0.0,
        around: Sequence[int] = (),
    ) -> HiddenCauseModel:
        """The best model that single moves lead to.

        In each step the move with the largest promised gain among those without a directed cycle is
        made, then the model is fitted in full; it ends where that gains nothing.

        Parameters
        ----------
        columns : the equations to start from
        children : the variables with correlated errors, none without a hidden cause
        correlation : that of their errors to start from
        around : without children, variables whose equations and neighbours alone may be changed
        """
        score, fit = self.scored(columns, children, correlation)
        centres = children or around
        among = [*centres, *self.near(columns, centres)] if centres else self.nodes
        for _ in range(MOST_MOVES):
            ranked = sorted(self.moves(columns, fit, among), key=lambda move: -move[0])
            moved = (with_equations(columns, *changed) for _, changed in ranked)
            other = next((other for other in moved if self.acyclic(other)), None)
            if other is None:
                break
            value, other_fit = self.scored(other, children, correlation)
            if value < score + SMALLEST_GAIN:
                break
            columns = other
            score = value
            fit = other_fit
        return HiddenCauseModel(columns, children, score)

    def without_hidden_cause(self, model: HiddenCauseModel) -> Iterator[HiddenCauseModel]:
        """The best models that a climb without correlations reaches from a model.

        It starts with its equations, and with either link between two of its children: a hidden
        cause must beat the link that it stands for.
        """
        yield self.up(model.columns, ())
        for cause, effect in permutations(model.children, 2):
            linked = with_equations(
                model.columns, (effect, self._caused(model.columns[effect], cause))
            )
            if self.given.may[cause, effect] and self.acyclic(linked):
                yield self.up(linked, ())

    def scored(
        self, columns: tuple[EquationColumns, ...], children: tuple[int, ...], correlation: float
    ) -> tuple[float, _Fit | None]:
        """The score of a model and the fit of its correlated errors; -inf where errors are tied.

        A correlation costs as much as a column in all contexts.
        """
        total = sum(self.score_alone(v, columns[v]) for v in self.nodes if v not in children)
        if not children:
            return total, None
        try:
            fit = _Fit(self, children, columns, correlation)
        except np.linalg.LinAlgError:
            return -np.inf, None
        pairs = len(children) * (len(children) - 1) // 2
        priced = (
            sum(self.price(columns[child]) for child in children)
            + pairs * self.cost[self.everywhere]
        )
        return total + fit.value - priced, fit

    def near(self, columns: Sequence[EquationColumns], variables: Sequence[int]) -> list[int]:
        """The other free variables with a link to `variables`."""
        causes = {cause for v in variables for cause, _ in columns[v]}
        return [
            v
            for v in self.nodes
            if v not in variables and (v in causes or any(c in variables for c, _ in columns[v]))
        ]

    def moves(
        self, columns: tuple[EquationColumns, ...], fit: _Fit | None, among: Sequence[int]
    ) -> Iterator[tuple[float, tuple[tuple[int, EquationColumns], ...]]]:
        """The changed equations that gain something, each with its gain.

        A move gives an equation a cause more or less, gives a cause other contexts, or turns a link
        round, which changes two equations. `among` are the variables whose equations may change.
        """
        gains = {node: self._gains(node, columns[node], fit) for node in among}
        for effect in among:
            for gain, other in self._better_columns(effect, columns[effect], fit, gains[effect]):
                yield gain, ((effect, other),)
            for cause in {cause for cause, _ in columns[effect]} & set(among):
                if self.given.may[effect, cause] and not self.given.must[cause, effect]:
                    rest = _without(columns[effect], cause, self.p, self.everywhere)
                    turned = self._caused(columns[cause], effect)
                    gain = gains[effect](rest) + gains[cause](turned)
                    if gain >= SMALLEST_GAIN:
                        yield gain, ((effect, rest), (cause, turned))

    def _better_columns(
        self,
        node: int,
        now: EquationColumns,
        fit: _Fit | None,
        gain: Callable[[EquationColumns], float],
    ) -> list[tuple[float, EquationColumns]]:
        """The columns of an equation after a move of its own that gains something, with these
        gains.

        They are looked for once if the equation is alone: then they do not depend on the others.
        """
        key = (node, now)
        alone = fit is None or node not in fit.children
        if alone and key in self._better:
            return self._better[key]
        better = [
            (gained, other)
            for other in self.other_columns(node, now)
            if (gained := gain(other)) >= SMALLEST_GAIN
        ]
        if alone:
            self._better[key] = better
        return better

    def _gains(
        self, node: int, now: EquationColumns, fit: _Fit | None
    ) -> Callable[[EquationColumns], float]:
        """A function of other columns of an equation: the score that they gain (nats)."""
        price = self.price(now)
        if fit is None or node not in fit.children:
            before = self.score_alone(node, now)
            return lambda columns: self.score_alone(node, columns) - before
        i = fit.children.index(node)
        near = fit.siblings(i)
        left = fit.regression(i, fit.designs[i], near)[1]
        return lambda columns: fit.gain(i, columns, near, left) - self.price(columns) + price

    def _every(self, cause: int) -> EquationColumns:
        """The columns of a cause that acts alike in all contexts."""
        if cause == self.p:
            return frozenset((cause, 1 << r) for r in range(1, self.k))
        return frozenset({(cause, self.everywhere)})

    def _caused(self, columns: EquationColumns, cause: int) -> EquationColumns:
        """The columns with a cause that acts alike in all contexts, in place of what it did in
        some.
        """
        return frozenset(column for column in columns if column[0] != cause) | self._every(cause)

    def other_columns(self, effect: int, now: EquationColumns) -> Iterator[EquationColumns]:
        """The columns of an equation after each move.

        A cause may be taken in or out, act alike in all contexts, with a slope of its own in each,
        or, up to `FEW_SLOPE_CONTEXTS` contexts, in one alone. Slopes by context ask for an equation
        with the context among its causes; without it, all others act everywhere.
        """
        reads = any(cause == self.p for cause, _ in now)
        for cause in range(self.p + 1):
            if cause == effect or not self.given.may[cause, effect]:
                continue
            of_cause = frozenset(column for column in now if column[0] == cause)
            options = [self._every(cause)]
            if not self.given.must[cause, effect]:
                options.append(frozenset())
            if reads and cause != self.p:
                options += [
                    frozenset({(cause, 1 << r)})
                    for r in range(self.k)
                    if self.k <= FEW_SLOPE_CONTEXTS
                ]
                options.append(frozenset((cause, 1 << r) for r in range(self.k)))
            for option in options:
                if option != of_cause:
                    yield option | (
                        now - of_cause if option else _without(now, cause, self.p, self.everywhere)
                    )

    def starts(
        self, columns: tuple[EquationColumns, ...], pair: tuple[int, int]
    ) -> Iterator[tuple[tuple[EquationColumns, ...], float]]:
        """Equations to climb from, with the correlation of a pair.

        Without the link of the pair; so, too, with a common neighbour that causes only one of them;
        and with the link, where the correlation starts on either side of 0. Where the two have
        common causes, all of these may be causes of the first one alone, instruments for its effect
        on the second. Single moves do not lead there: the effect and the correlation are not both
        identified as long as the second one keeps all of these causes.
        """
        apart = unlinked(columns, pair)
        yield apart, 0.0
        for common in sorted({*self.near(columns, pair[:1])} & {*self.near(columns, pair[1:])}):
            alone = unlinked(unlinked(apart, (pair[0], common)), (pair[1], common))
            for effect in pair:
                if self.given.may[common, effect]:
                    yield with_equations(alone, (effect, alone[effect] | self._every(common))), 0.0
        both = [columns]
        for cause, effect in (pair, pair[::-1]):
            causes_of_effect = {shared_cause for shared_cause, _ in columns[effect]}
            shared = sorted(
                {
                    shared_cause
                    for shared_cause, _ in columns[cause]
                    if shared_cause in causes_of_effect
                    and not self.given.must[shared_cause, effect]
                }
            )
            if shared and cause in causes_of_effect:
                rest = columns[effect]
                for shared_cause in shared:
                    rest = _without(rest, shared_cause, self.p, self.everywhere)
                both.append(with_equations(columns, (effect, rest)))
        yield from product(both, (-START_CORRELATION, START_CORRELATION))

    def adjacent(self, columns: tuple[EquationColumns, ...]) -> list[tuple[int, int]]:
        """The pairs of numbers with a link in some context."""
        linked = {
            frozenset((cause, effect))
            for effect, equation in enumerate(columns)
            for cause, _ in equation
        }
        return [
            pair
            for pair in combinations(self.nodes, 2)
            if frozenset(pair) in linked and self.p not in pair
        ]

    def acyclic(self, columns: Sequence[EquationColumns]) -> bool:
        """True if no context has a directed cycle, links of other variables and of the context
        included.

        Causes are bit masks, by context: a link counts where its column acts.
        """
        for r, fixed in enumerate(self.fixed):
            causes = list(fixed)
            for effect in self.nodes:
                for cause, mask in columns[effect]:
                    if cause == self.p or mask >> r & 1:
                        causes[effect] |= 1 << cause
            if _has_cycle(causes):
                return False
        return True


def with_equations(
    columns: tuple[EquationColumns, ...], *changed: tuple[int, EquationColumns]
) -> tuple[EquationColumns, ...]:
    """The equations with some of them replaced, each given as (variable, columns)."""
    made = list(columns)
    for node, equation in changed:
        made[node] = equation
    return tuple(made)


def _without(
    columns: EquationColumns, cause: int, context: int, everywhere: int
) -> EquationColumns:
    """The columns without a cause; without the context all others act everywhere."""
    if cause != context:
        return frozenset(column for column in columns if column[0] != cause)
    return frozenset((other, everywhere) for other, _ in columns if other != context)


def _raw_products(moments: Moments) -> Floats:
    """The cross products of the variables in pooled standard units, and of 1, by context.

    Shape (K, p + 1, p + 1). With scatter S, mean m and n rows of a context they are S + n m m', the
    means taken around the pooled ones.
    """
    whole = moments.merged()
    spread = np.sqrt(np.maximum(np.diagonal(whole.scatter[0]) / whole.rows[0], SMALLEST_VARIANCE))
    k, p = moments.mean.shape
    mean = np.concatenate([(moments.mean - whole.mean[0]) / spread, np.ones((k, 1))], axis=1)
    raw = moments.rows[:, None, None] * mean[:, :, None] * mean[:, None, :]
    raw[:, :p, :p] += moments.scatter / spread[:, None] / spread
    return np.asarray(raw)


def _bits(mask: int) -> list[int]:
    """The places of the bits of a mask."""
    return [r for r in range(mask.bit_length()) if mask >> r & 1]


def _solved(gram: Floats, right: Floats) -> Floats:
    """The solution of normal equations; the shortest one where columns are tied."""
    try:
        return np.asarray(np.linalg.solve(gram, right))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(gram, right, rcond=None)[0])


def _has_cycle(causes: Sequence[int]) -> bool:
    """True if causes, as bit masks, lead round in a circle."""
    left = (1 << len(causes)) - 1
    while left:
        roots = sum(
            1 << v for v, of_effect in enumerate(causes) if left >> v & 1 and not of_effect & left
        )
        if not roots:
            return True
        left &= ~roots
    return False

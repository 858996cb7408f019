"""The fitted mechanisms of a score-based result, in plain numbers: what every cause does to every
effect.

An effect has one equation for every block of contexts that share it: an intercept, and terms that
are functions of one cause, or products of two. Numbers are in standard units, `(value - centre) /
spread`, or normal scores where the search replaced columns by those; partial curves, one for every
cause and context, are in the units of the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from causalcontext.errors import OptionError
from causalcontext.kernels.arrays import Floats
from causalcontext.results.settings import (
    CURVE_POINTS,
    FARTHEST_SPREAD,
    OUTER_SPREAD,
    ROOT_SHIFT,
    STEP_SHARE,
)

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

KINDS = ("linear", "square", "hinge", "step", "level", "own step", "product", "kink")
"""Kinds of terms: x, x^2, max(x - place, 0)^2, 1[x > place], 1[x is level], 1[x > place], x times
the partner, and max(x - place, 0)."""
SCALES = NUMBER, COUNT, CATEGORY, ORDERED = "number", "count", "category", "ordered"
SPREADS = ("line", "size", "sign", "above", "below", "level", "context")
"""Shapes of what a cause does to the spread of the noise."""


@dataclass(frozen=True)
class Scale:
    """The scale by which a column is measured.

    Attributes
    ----------
    kind : str
        One of `SCALES`. A count is a number, but where it is the effect, its equation is one of its
        root.
    centre, spread : float
        The units of a number: its value less the centre, divided by the spread.
    places : tuple of float
        Evenly spaced quantiles of a number, in its own units.
    scores : tuple of float
        Normal scores at `places`, where columns were replaced by them, or of the levels.
    levels : tuple
        The levels of a category or an ordered column.
    spike : float
        Of a number of no declared kind: the share of one value that stands out, such as 0.
    """

    kind: str
    centre: float = 0.0
    spread: float = 1.0
    places: tuple[float, ...] = ()
    scores: tuple[float, ...] = ()
    levels: tuple[Any, ...] = ()
    spike: float = 0.0

    @property
    def is_number(self) -> bool:
        """True where the values of the column are numbers."""
        return self.kind in (NUMBER, COUNT)

    def standard(self, values: Sequence[Any] | NDArray[Any]) -> Floats:
        """Values of the table in the units of the equations; codes of a category, scores of an
        ordered column.
        """
        if self.is_number:
            numbers = np.asarray(values, dtype=np.float64)
            if self.scores:
                return np.interp(numbers, self.places, self.scores)
            return np.asarray((numbers - self.centre) / self.spread)
        code_of_level = {level: number for number, level in enumerate(self.levels)}
        codes = np.array([code_of_level[value] for value in values], dtype=np.float64)
        return np.asarray(self.scores)[codes.astype(int)] if self.kind == ORDERED else codes

    def own(self, standard: Floats) -> Floats:
        """The way back, for numbers that an equation explains."""
        if self.kind == COUNT:
            return np.asarray(np.maximum(standard, 0.0) ** 2 * self.spread - ROOT_SHIFT)
        if self.scores:
            return np.interp(standard, self.scores, self.places)
        return np.asarray(self.centre + self.spread * standard)


@dataclass(frozen=True)
class Term:
    """A function of one cause, or a product of two, with its slopes.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    causes : tuple of int
        The places of the variables in the table: one, or two of a product.
    place : float
        A knot in standard units, or the number of a level; -1 for a product of two numbers.
    slopes : tuple of float
        One, or one for every level of an effect that is a category, the last one being 0.
    average : float
        The mean of the function over the rows of the equation.
    contexts : tuple of int
        The contexts in which the term lives.
    second : float
        Of a product with a level of a category, the number of that level.
    shares : tuple of float
        Of a product of two levels, the share of the rows that has each.
    """

    kind: str
    causes: tuple[int, ...]
    place: float
    slopes: tuple[float, ...]
    average: float
    contexts: tuple[int, ...]
    second: float = -1.0
    shares: tuple[float, ...] = ()

    @property
    def function(self) -> tuple[str, tuple[int, ...], float, float]:
        """The kind, causes and place of a term: its function, whatever its slopes."""
        return self.kind, self.causes, self.place, self.second

    def values(self, standard: dict[int, Floats]) -> Floats:
        """The function at values in standard units of its causes."""
        x = standard[self.causes[0]]
        if self.kind == "linear":
            return x
        if self.kind == "square":
            return np.asarray(x * x)
        if self.kind == "hinge":
            return np.asarray(np.maximum(x - self.place, 0.0) ** 2)
        if self.kind == "kink":
            return np.asarray(np.maximum(x - self.place, 0.0))
        if self.kind in ("step", "own step"):
            return np.asarray(x > self.place, dtype=np.float64)
        level = np.asarray(x == self.place, dtype=np.float64)
        if self.kind == "level":
            return level
        other = standard[self.causes[1]]
        return np.asarray(
            (x if self.place < 0 else level) * (other if self.second < 0 else other == self.second)
        )


@dataclass(frozen=True)
class SpreadTerm:
    """The effect of a cause, or a context, on the logarithm of the standard deviation of the noise.

    By its shape it is, of z = (cause - centre) / unit, cut off at 3 and -3, z itself, its size,
    whether it is positive, what it is above and below the middle half; whether the cause is a
    level; whether the context is one of `contexts`.

    Attributes
    ----------
    shape : str
        One of `SPREADS`.
    cause : int
        The place of the variable in the table, -1 for a context.
    centre, unit : float
        In the units of the equations; the centre of a level is its number.
    slope : float
        What one unit of the shape adds to the logarithm.
    average : float
        The mean of the shape over the rows of the equation.
    contexts : tuple of int
        The contexts in which a term of the context is 1, none for others.
    """

    shape: str
    cause: int
    centre: float
    unit: float
    slope: float
    average: float
    contexts: tuple[int, ...] = ()

    def values(self, x: Floats, context: int) -> Floats:
        """Its part of the logarithm at values of the cause in the units of the equations."""
        if self.shape == "context":
            shape_values = np.full(len(x), float(context in self.contexts))
        elif self.shape == "level":
            shape_values = np.asarray(x == self.centre, dtype=np.float64)
        else:
            z = np.clip((x - self.centre) / self.unit, -FARTHEST_SPREAD, FARTHEST_SPREAD)
            shapes = (
                z,
                np.abs(z),
                z > 0.0,
                np.maximum(z - OUTER_SPREAD, 0.0),
                np.maximum(-z - OUTER_SPREAD, 0.0),
            )
            shape_values = np.asarray(shapes[SPREADS.index(self.shape)], dtype=np.float64)
        return self.slope * (shape_values - self.average)


@dataclass(frozen=True)
class Equation:
    """The mechanism of an effect in some contexts.

    Attributes
    ----------
    effect : int
        Its place in the table.
    contexts : tuple of int
        The contexts that share the equation.
    kind : str
        "number", "category" (log odds of levels against the last one), or "ordered" (cuts of a
        latent number).
    intercepts : tuple of tuples of float
        For every context one number, or one for every level but the last.
    terms : tuple of Term
        What the causes add to it.
    noise : float
        The standard deviation of the noise of a number, in standard units; 0 for others.
    density : tuple of float
        The noise density: the number of features (0: Gaussian), the lowest and the highest place of
        its support in units of `noise`, and the coefficients of the features.
    spread : tuple of SpreadTerm
        What `noise` is multiplied with, where the spread of the noise is uneven.
    """

    effect: int
    contexts: tuple[int, ...]
    kind: str
    intercepts: tuple[tuple[float, ...], ...]
    terms: tuple[Term, ...]
    noise: float
    density: tuple[float, ...]
    spread: tuple[SpreadTerm, ...] = ()

    @property
    def causes(self) -> tuple[int, ...]:
        """Everything in a term, sorted."""
        return tuple(sorted({cause for term in self.terms for cause in term.causes}))

    def slope(self, cause: int, context: int) -> float:
        """The slope of a cause in a context, 0 where it has none."""
        terms = (
            term for term in self.terms if term.causes == (cause,) and context in term.contexts
        )
        return sum(term.slopes[0] for term in terms if term.kind == "linear")


@dataclass(frozen=True)
class Mechanisms:
    """All equations of a result, and how the columns are measured."""

    scales: tuple[Scale, ...]
    equations: tuple[Equation, ...]

    def renumbered(self, number: Sequence[int]) -> Mechanisms:
        """The same for contexts with other numbers, or some of them: context r was number
        `number[r]` so far.
        """
        equations = []
        for equation in self.equations:
            contexts = tuple(r for r, old in enumerate(number) if old in equation.contexts)
            terms, spread = (
                [tuple(r for r in contexts if number[r] in term.contexts) for term in parts]
                for parts in (equation.terms, equation.spread)
            )
            equations.append(
                replace(
                    equation,
                    contexts=contexts,
                    intercepts=tuple(
                        equation.intercepts[equation.contexts.index(number[r])] for r in contexts
                    ),
                    terms=tuple(
                        replace(term, contexts=c)
                        for term, c in zip(equation.terms, terms, strict=True)
                        if c
                    ),
                    spread=tuple(
                        replace(term, contexts=c)
                        for term, c in zip(equation.spread, spread, strict=True)
                    ),
                )
            )
        return Mechanisms(
            self.scales, tuple(equation for equation in equations if equation.contexts)
        )

    def equation(self, effect: int, context: int) -> Equation:
        """The equation of an effect in a context."""
        return next(
            equation
            for equation in self.equations
            if equation.effect == effect and context in equation.contexts
        )

    def differs(self, effect: int, a: int, b: int) -> bool:
        """True where the equation of an effect differs between two contexts, in its intercept, a
        term or its spread.
        """
        first_equation = self.equation(effect, a)
        if b not in first_equation.contexts:
            return True
        lives = [
            *(term.contexts for term in first_equation.terms),
            *(term.contexts for term in first_equation.spread),
        ]
        first, second = (
            first_equation.intercepts[first_equation.contexts.index(r)] for r in (a, b)
        )
        return first != second or any((a in contexts) != (b in contexts) for contexts in lives)

    def partial_curve(
        self, effect: int, cause: int, at: Sequence[Any] | NDArray[Any], context: int
    ) -> Floats:
        """The values of an effect as one cause takes some values, in the units of the table, all
        else being at its average.

        They are expected values (for normal scores, the value at the expected score), shape
        (values,); if the effect has levels, their probabilities, shape (levels, values).
        """
        equation = self.equation(effect, context)
        standard = self.scales[cause].standard(at)
        total = np.array(equation.intercepts[equation.contexts.index(context)])[:, None] + np.zeros(
            (1, len(standard))
        )
        sign = -1.0 if equation.kind == ORDERED else 1.0
        for term in equation.terms:
            if context not in term.contexts:
                continue
            slopes = np.array(term.slopes)[:, None]
            known: Floats | float = term.average
            if term.shares and cause in term.causes:
                share_index, level = (
                    (1, term.place) if cause == term.causes[0] else (0, term.second)
                )
                known = np.asarray(term.shares[share_index] * (standard == level))
            elif len(term.causes) == 2 and term.place >= 0 and cause == term.causes[1]:
                known = np.asarray(standard * 0.0)
            elif cause in term.causes:  # in a product, the other one at its average
                zero = {other: np.zeros_like(standard) for other in term.causes}
                known = term.values(zero | {cause: standard})
            total = total + sign * slopes * known
        if equation.kind == NUMBER:
            return self.scales[effect].own(total[0])
        if equation.kind == CATEGORY:
            odds = np.exp(
                np.vstack([total, np.zeros(total.shape[1])]) - np.maximum(total.max(axis=0), 0.0)
            )
            return np.asarray(odds / odds.sum(axis=0))
        below = 1.0 / (1.0 + np.exp(-total))
        edges = np.vstack([np.zeros(total.shape[1]), below, np.ones(total.shape[1])])
        return np.asarray(np.diff(edges, axis=0))

    def expected(self, effect: int, values: dict[int, Any], context: int) -> Floats:
        """The expected value of a number, row by row, given the values of all its causes in the
        units of the table.
        """
        equation = self.equation(effect, context)
        standard = {cause: self.scales[cause].standard(values[cause]) for cause in equation.causes}
        total = np.full(
            len(values[effect]), equation.intercepts[equation.contexts.index(context)][0]
        )
        for term in equation.terms:
            if context in term.contexts:
                total = total + term.slopes[0] * term.values(standard)
        return self.scales[effect].own(total)

    def spread_curve(
        self, effect: int, cause: int, at: Sequence[Any] | NDArray[Any], context: int
    ) -> Floats:
        """The standard deviation of the noise of a number as one cause takes some values, the
        others on average.

        In units of the table, but of normal scores where columns were replaced by them.
        """
        equation = self.equation(effect, context)
        scale = self.scales[effect]
        standard = self.scales[cause].standard(at)
        total = np.zeros(len(standard))
        for term in equation.spread:
            if term.cause in (cause, -1):
                total = total + term.values(standard, context)
        return np.asarray(equation.noise * np.exp(total) * (1.0 if scale.scores else scale.spread))

    def is_spread(self, effect: int, cause: int, context: int) -> bool:
        """True where the spread of the noise of an effect depends on a cause."""
        return any(term.cause == cause for term in self.equation(effect, context).spread)

    @np.errstate(over="ignore", invalid="ignore")  # a file may hold any numbers
    def shape(self, effect: int, cause: int, context: int) -> str:
        """The shape of a link: "linear", "curved", "step", "by category", "product"; "" where there
        is none.

        "spread": the cause changes nothing but the spread of the noise.
        """
        equation = self.equation(effect, context)
        terms = [
            term for term in equation.terms if cause in term.causes and context in term.contexts
        ]
        if not terms:
            return "spread" if self.is_spread(effect, cause, context) else ""
        if all(term.kind == "product" for term in terms):
            return "product"
        if self.scales[cause].kind == CATEGORY:
            return "by category"
        if all(term.kind == "linear" for term in terms):
            return "linear"
        scale = self.scales[cause]
        alone = [term for term in terms if term.kind != "product"]
        places = scale.standard(scale.levels if scale.kind == ORDERED else scale.places)
        curve = np.sum([term.slopes[0] * term.values({cause: places}) for term in alone], axis=0)
        return "step" if _is_step(curve) else "curved"

    def to_dict(self) -> dict[str, Any]:
        """The same as lists, numbers and text."""
        return {
            "scales": [asdict(record) for record in self.scales],
            "equations": [asdict(record) for record in self.equations],
        }

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Mechanisms:
        """The mechanisms of `to_dict`."""
        scales = tuple(Scale(**_with_tuples(stored)) for stored in content["scales"])
        equations = []
        for stored in content["equations"]:
            terms = tuple(Term(**_with_tuples(term)) for term in stored["terms"])
            spread = tuple(SpreadTerm(**_with_tuples(term)) for term in stored["spread"])
            equations.append(Equation(**_with_tuples(stored) | {"terms": terms, "spread": spread}))
        return cls(scales, tuple(equations))


def _is_step(curve: Floats) -> bool:
    """True if two flat parts explain `STEP_SHARE` of the squares of a curve, shape (places,)."""
    total = _squares_from_mean(curve)
    losses = [
        _squares_from_mean(curve[:cut]) + _squares_from_mean(curve[cut:])
        for cut in range(1, len(curve))
    ]
    return total > 0.0 and min(losses, default=total) < (1.0 - STEP_SHARE) * total


def _squares_from_mean(values: Floats) -> float:
    """The sum of squares of values around their mean."""
    return float(np.sum((values - np.mean(values)) ** 2))


def tuples(value: Any) -> Any:
    """A value of a file, with tuples in place of its lists, at any depth."""
    return tuple(map(tuples, value)) if isinstance(value, list) else value


def _with_tuples(content: dict[str, Any]) -> dict[str, Any]:
    """The fields of a record with tuples in place of lists, as a file has them."""
    return {name: tuples(value) for name, value in content.items()}


@dataclass(frozen=True, eq=False)
class PartialCurve:
    """The expected effect in some contexts as one cause takes its values, everything else being at
    its average.
    """

    cause: str
    effect: str
    contexts: tuple[int, ...]  # the places of those that share the curve
    # values of the cause: places between its 1st and 99th percentile, or its levels
    at: tuple[Any, ...]
    numeric: bool  # whether these are numbers
    level: Any  # whose probability it is, where the effect has levels; None otherwise
    values: Floats  # one number for every value of the cause
    spread: Floats | None = (
        None  # the standard deviation of the noise there, where it depends on the cause
    )


def mechanisms_of(result: ContextGraphs) -> Mechanisms:
    """The equations of a result; an error if it has none."""
    mechanisms = None if result.evidence is None else result.evidence.mechanisms
    if mechanisms is None:
        raise OptionError(
            f"a result of {result.settings.method} has no mechanisms; use method='score-ac'"
        )
    return mechanisms


def causes_of(result: ContextGraphs, effect: str) -> tuple[str, ...]:
    """The causes in the equations of an effect, in any context, in the order of the table; the
    context is none.
    """
    mechanisms = mechanisms_of(result)
    effect_position = result.position(effect)
    causes = {
        cause
        for equation in mechanisms.equations
        if equation.effect == effect_position
        for cause in (*equation.causes, *(term.cause for term in equation.spread))
    }
    return tuple(name for position, name in enumerate(result.names) if position in causes)


def partial_curves(result: ContextGraphs, effect: str) -> Iterator[PartialCurve]:
    """The curves of an effect by its causes, one for each group of contexts that share it.

    A numeric cause has `CURVE_POINTS` values between its .01 and .99 quantiles, another one its
    levels; all other causes are at their average. Of an effect with levels there is a curve for
    each, of two levels for the second one alone. The spread of the noise comes with the curve where
    the cause acts on it.
    """
    mechanisms = mechanisms_of(result)
    position_of_effect = result.position(effect)
    levels = mechanisms.scales[position_of_effect].levels
    for cause in causes_of(result, effect):
        position = result.position(cause)
        scale = mechanisms.scales[position]
        at = scale.levels
        if scale.is_number:
            edges = np.interp([0.01, 0.99], np.linspace(0.0, 1.0, len(scale.places)), scale.places)
            at = tuple(np.linspace(edges[0], edges[1], CURVE_POINTS).tolist())
        living = [
            r
            for r in range(len(result.contexts))
            if mechanisms.shape(position_of_effect, position, r)
        ]
        curves = {
            r: np.atleast_2d(mechanisms.partial_curve(position_of_effect, position, at, r))
            for r in living
        }
        spread = {
            r: mechanisms.spread_curve(position_of_effect, position, at, r)
            for r in living
            if mechanisms.is_spread(position_of_effect, position, r)
        }
        for contexts in _sharing(
            {r: np.vstack([rows, spread.get(r, rows[:0])]) for r, rows in curves.items()}
        ):
            named = list(zip(levels or (None,), curves[contexts[0]], strict=True))
            for level, values in named[1 if len(levels) == 2 else 0 :]:
                yield PartialCurve(
                    cause,
                    effect,
                    contexts,
                    at,
                    scale.is_number,
                    level,
                    values,
                    spread.get(contexts[0]),
                )


def _sharing(curves: dict[int, Floats]) -> list[tuple[int, ...]]:
    """The contexts whose curves are equal, as groups in the order of their first context.

    Equal means within rounding (1e-9 of the values), and of the same shape: a curve and its spread
    are compared together.
    """
    groups: list[list[int]] = []
    for r, values in curves.items():
        same = [
            group
            for group in groups
            if curves[group[0]].shape == values.shape
            and np.allclose(curves[group[0]], values, rtol=1e-9, atol=1e-12)
        ]
        if same:
            same[0].append(r)
        else:
            groups.append([r])
    return [tuple(group) for group in groups]

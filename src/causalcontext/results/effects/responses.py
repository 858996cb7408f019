"""What a unit of X does to Y so many steps later, the context held: mechanisms composed over repeated links.

With B(l) the slopes of the present on the values l steps ago, the responses are P(0) = (I - B(0))^-1 and
P(k) = P(0) Σ_l B(l) P(k - l). A window is as long as the lags; links repeat, so responses reach as far as one asks, and
no adjustment set is needed: every slope comes from a regression on all parents. P(k) moves with the slope of
c(t-l) --> v by Σ_a P(a)[y, v] P(k - l - a)[c, x]; a mechanism that is passed several times is one block of parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from causalcontext.kernels.arrays import Floats
from causalcontext.results.effects.asking import NO_PATH
from causalcontext.results.effects.composition import MOST_PATHS
from causalcontext.results.effects.estimates import Estimate, Parameters
from causalcontext.results.effects.fits import MechanismFit
from causalcontext.results.effects.lagged_mechanics import MOST_CHOICES, LaggedMechanics, LinkChoice
from causalcontext.results.effects.mechanics import NoAnswer
from causalcontext.results.effects.sets import Possible, collected

Path = tuple[tuple[int, int], ...]
"""(variable, steps ago), the cause first."""


class Responses:
    """Effects over time from the mechanisms of a result.

    Parameters
    ----------
    mechanics : LaggedMechanics
    steps : int
        The longest time between cause and effect that may be asked for.
    """

    def __init__(self, mechanics: LaggedMechanics, steps: int) -> None:
        self.mechanics, self.steps = mechanics, steps
        self.reach = [mechanics.reach(g, steps) for g in mechanics.cells]
        self._composed: dict[tuple[LinkChoice, int], tuple[Floats, dict[int, MechanismFit | NoAnswer]]] = {}

    def effect_in(self, g: int, x: int, y: int, lag: int) -> Possible:
        """The effect of x so many steps ago on y, in a context."""
        if not self.reach[g][lag, x, y]:
            return NO_PATH
        return self._possible((g,), self.between(g, x, y, lag), lambda choice: self._estimate(choice, g, x, y, lag))

    def difference(self, g: int, h: int, x: int, y: int, lag: int) -> Possible:
        """The effect in context g minus that in context h."""
        if not (self.reach[g][lag, x, y] or self.reach[h][lag, x, y]):
            return NO_PATH

        def ask(choice: LinkChoice) -> Estimate:
            return self._estimate(choice, g, x, y, lag) - self._estimate(choice, h, x, y, lag)

        return self._possible((g, h), [*self.between(g, x, y, lag), *self.between(h, x, y, lag)], ask)

    def direct(self, g: int, x: int, y: int, lag: int) -> float:
        """The coefficient of x so many steps ago in the mechanism of y, if what is open agrees on it; else NaN."""
        if lag > self.mechanics.lags or not self.mechanics.may[g, lag, x, y]:
            return 0.0
        try:
            values = {self._direct(choice, g, x, y, lag) for choice in self.mechanics.choices([y]) or ()}
        except NoAnswer:
            return np.nan
        return values.pop() if len(values) == 1 else np.nan

    def between(self, g: int, x: int, y: int, lag: int) -> list[int]:
        """The variables whose mechanisms may carry the effect."""
        found, back = self.reach[g][: lag + 1, x], self.reach[g][lag::-1, :, y]
        on_the_way = found & back
        on_the_way[0, x] = False
        return np.flatnonzero(on_the_way.any(axis=0)).tolist()

    def by_path(self, g: int, x: int, y: int, lag: int) -> dict[Path, Possible]:
        """What every directed path carries; paths that only some choices have carry 0 in others."""
        asked = self.between(g, x, y, lag)
        whole = self.effect_in(g, x, y, lag)
        choices = self.mechanics.choices(asked)
        if not whole.estimates or choices is None:
            raise NoAnswer(whole.note)
        found: dict[Path, Possible] = {}
        for path in (path for choice in choices for path in self._paths(choice, g, x, y, lag)):
            if path not in found:
                found[path] = self._possible((g,), asked, partial(self._along, g, path))
            if len(found) > MOST_PATHS:
                raise NoAnswer(f"more than {MOST_PATHS} paths lead from {self.mechanics.name(x)} to "
                               f"{self.mechanics.name(y)}; ask for fewer steps")  # fmt: skip
        return found

    def _possible(self, cells: Sequence[int], asked: Sequence[int], ask: Callable[[LinkChoice], Estimate]) -> Possible:
        blamed = self.mechanics.conflict(asked, cells)
        if blamed:
            return Possible((), f"not identified, because of {blamed}")
        if any(self.mechanics.cyclic(g) for g in cells):
            return Possible((), "not identified: directed edges inside the time step form a cycle")
        choices, words = self.mechanics.choices(asked), self.mechanics.open_words(list(dict.fromkeys(asked)))
        if choices is None:
            return Possible((), f"not identified: more than {MOST_CHOICES} graphs are left open by {words}")
        if not choices:
            return Possible((), f"not identified: no directed acyclic graph has any of {words}")
        try:
            return collected(map(ask, choices), words)
        except NoAnswer as reason:
            return Possible((), reason.note)

    def _estimate(self, choice: LinkChoice, g: int, x: int, y: int, lag: int) -> Estimate:
        moved, fits = self._responses(choice, g)
        gradient: dict[Parameters, Floats] = {}
        for v in self.between(g, x, y, lag):
            found = _found(fits[v])
            slopes = [self._moving(moved, v, column, x, y, lag) for column in found.causes]
            if any(slopes):
                gradient[found.block] = found.moving(slopes)
        return Estimate(float(moved[lag, y, x]), gradient)

    def _moving(self, moved: Floats, v: int, column: int, x: int, y: int, lag: int) -> float:
        """How the response moves with one slope of the mechanism of v."""
        place = self.mechanics.place(column)
        if place is None or place[1] > lag:
            return 0.0
        cause, steps = place
        return float(moved[: lag - steps + 1, y, v] @ moved[lag - steps :: -1, cause, x])

    def _responses(self, choice: LinkChoice, g: int) -> tuple[Floats, dict[int, MechanismFit | NoAnswer]]:
        """`responses[k, effect, cause]`, and the mechanisms they are composed of."""
        if (choice, g) not in self._composed:
            fits = {v: self._fit(choice, g, v) for v in self.mechanics.system}
            self._composed[choice, g] = composed(self._slopes(fits), self.steps), fits
        return self._composed[choice, g]

    def _slopes(self, fits: dict[int, MechanismFit | NoAnswer]) -> Floats:
        """`slopes[lag, effect, cause]`."""
        mechanics = self.mechanics
        slopes = np.zeros((mechanics.lags + 1, mechanics.variables, mechanics.variables))
        for v, found in fits.items():
            if isinstance(found, MechanismFit):
                for column, slope in zip(found.causes, found.slopes.tolist(), strict=True):
                    place = mechanics.place(column)
                    if place is not None:
                        slopes[place[1], v, place[0]] = slope
        return slopes

    def _fit(self, choice: LinkChoice, g: int, v: int) -> MechanismFit | NoAnswer:
        try:
            return self.mechanics.fit(choice, g, v)
        except NoAnswer as reason:
            return reason

    def _direct(self, choice: LinkChoice, g: int, x: int, y: int, lag: int) -> float:
        found, column = self.mechanics.fit(choice, g, y), self.mechanics.column(x, lag)
        return float(found.slope(column).value) if column in found.causes else 0.0

    def _paths(self, choice: LinkChoice, g: int, x: int, y: int, lag: int) -> Iterator[Path]:
        """The directed paths of a context, from the effect back to the cause."""
        stack: list[Path] = [((y, 0),)]
        while stack:
            path = stack.pop()
            v, ago = path[0]
            if (v, ago) == (x, lag):
                yield path
                continue
            for column in self.mechanics.causes(choice, g, v):
                place = self.mechanics.place(column)
                if place is not None and ago + place[1] <= lag and self.reach[g][lag - ago - place[1], x, place[0]]:
                    stack.append(((place[0], ago + place[1]), *path))

    def _along(self, g: int, path: Path, choice: LinkChoice) -> Estimate:
        """The product of the coefficients along a path; 0 where it is none."""
        steps = []
        for (cause, before), (v, after) in pairwise(path):
            found, column = self.mechanics.fit(choice, g, v), self.mechanics.column(cause, before - after)
            if column not in found.causes:
                return Estimate(0.0)
            steps.append((found, found.causes.index(column)))
        values = np.array([found.slopes[place] for found, place in steps])
        gradient: dict[Parameters, Floats] = {}
        for number, (found, place) in enumerate(steps):
            rest = np.zeros(len(found.causes))
            rest[place] = float(np.prod(np.delete(values, number)))
            already = gradient.get(found.block)
            gradient[found.block] = found.moving(rest) if already is None else already + found.moving(rest)
        return Estimate(float(values.prod()), gradient)


def composed(slopes: Floats, steps: int) -> Floats:
    """The responses to a unit of every variable after 0, 1, ... steps, from `slopes[lag, effect, cause]`.

    Examples
    --------
    >>> own = np.array([[[0.0]], [[0.5]]])
    >>> composed(own, 3).ravel().tolist()
    [1.0, 0.5, 0.25, 0.125]
    """
    lags, size = len(slopes) - 1, slopes.shape[1]
    present = np.linalg.inv(np.eye(size) - slopes[0])
    moved = np.zeros((steps + 1, size, size))
    moved[0] = present
    for k in range(1, steps + 1):
        moved[k] = present @ sum((slopes[lag] @ moved[k - lag] for lag in range(1, min(k, lags) + 1)),
                                 np.zeros((size, size)))  # fmt: skip
    return moved


def _found(fit: MechanismFit | NoAnswer) -> MechanismFit:
    if isinstance(fit, NoAnswer):
        raise fit
    return fit

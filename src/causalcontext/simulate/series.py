"""Systems in time whose mechanisms change with a context that is caused by the system.

X(t) depends linearly on X(t), X(t-1), ... and reads one copy of the context, R(t) or R(t-1); the context is a step
function of a noisy sum of variables and of its own past. A radius below 1 in every context does not make such a system
stationary, so `stationary` also looks at a long run.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from causalcontext.data.frames import frame_of
from causalcontext.graphs.graph import Graph
from causalcontext.graphs.lag_names import at, window_names
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.compiling import kernel

if TYPE_CHECKING:
    import pandas as pd

BURN_IN = 300
PILOT = 4000
LARGEST_RADIUS = 0.97
LARGEST_VALUE = 500.0
BENDS = {"linear": 0, "tanh": 1, "quadratic": 2}
NOISES = ("normal", "t4", "exponential")
NO_COPY = -1


@dataclass(frozen=True, eq=False)
class SeriesModel:
    """d variables, K contexts, L lags.

    Attributes
    ----------
    names : tuple of str
        The system variables.
    context : str
    labels : tuple
        The values of the context.
    slopes : array, shape (K, d, L + 1, d)
        `slopes[r, effect, lag, cause]`, for the context that the effect reads.
    intercepts : array, shape (K, d)
    reads : array of int, shape (d,)
        The lag of the copy of the context that a variable reads; -1 for none.
    order : array of int, shape (d + 1,)
        The order of the present; d is the context.
    into_context : array, shape (L + 1, d)
    centre : array, shape (d,)
        Taken away from the variables before they act on the context.
    persistence, context_noise : float
    cuts : array, shape (K - 1,)
        Where the context goes from one value to the next.
    spread : array, shape (d,)
        Standard deviations of the noise.
    noise, bend : str
    """

    names: tuple[str, ...]
    context: str
    labels: tuple[Any, ...]
    slopes: Floats
    intercepts: Floats
    reads: Ints
    order: Ints
    into_context: Floats
    centre: Floats
    persistence: float
    context_noise: float
    cuts: Floats
    spread: Floats
    noise: str = "normal"
    bend: str = "linear"

    @property
    def lags(self) -> int:
        """The longest lag."""
        return int(self.slopes.shape[2]) - 1

    def sample(self, rows: int, seed: int | np.random.Generator) -> pd.DataFrame:
        """A table of so many consecutive times, after a burn-in."""
        values, codes = self.run(rows, np.random.default_rng(seed))[:2]
        columns = {name: values[:, i] for i, name in enumerate(self.names)}
        return frame_of({**columns, self.context: [self.labels[code] for code in codes.tolist()]})

    def run(self, rows: int, random: np.random.Generator) -> tuple[Floats, Ints, Floats]:
        """Variables, contexts, and what the context was cut from."""
        total = rows + BURN_IN
        noise = _noise(self.noise, random, (total, len(self.names))) * self.spread
        driver = self.context_noise * random.normal(size=total) - float((self.into_context @ self.centre).sum())
        codes = np.zeros(total, dtype=np.int64)
        _steps(noise, driver, codes, self.slopes, self.intercepts, np.append(self.reads, self.order), self.into_context,
               self.persistence, self.cuts, BENDS[self.bend])  # fmt: skip
        return noise[BURN_IN:], codes[BURN_IN:], driver[BURN_IN:]

    @cached_property
    def truth(self) -> dict[Any, Graph]:
        """The window graph of every context: links into time t."""
        everyone = (*self.names, self.context)
        names = window_names(everyone, self.lags)
        return {label: Graph.from_edges(names, self._edges(r)) for r, label in enumerate(self.labels)}

    def _edges(self, r: int) -> list[tuple[str, str, str]]:
        found = [
            (at(self.names[cause], lag), self.names[effect], "-->")
            for effect, lag, cause in zip(*np.nonzero(self.slopes[r]), strict=True)
        ]
        found += [(at(self.context, int(lag)), self.names[j], "-->") for j, lag in enumerate(self.reads) if lag >= 0]
        found += [
            (at(self.names[cause], lag), self.context, "-->")
            for lag, cause in zip(*np.nonzero(self.into_context), strict=True)
        ]
        if self.persistence:
            found.append((at(self.context, 1), self.context, "-->"))
        return found

    def stationary(self, seed: int = 0, least_share: float = 0.5) -> bool:
        """Whether every context by itself is stable, and a long run stays finite, small, even and in every context."""
        if max(self.radius(r) for r in range(len(self.labels))) > LARGEST_RADIUS:
            return False
        values, codes, _ = self.run(PILOT, np.random.default_rng(seed))
        if not np.isfinite(values).all() or np.abs(values).max() > LARGEST_VALUE:
            return False
        halves = values[: PILOT // 2].var(axis=0) / values[PILOT // 2 :].var(axis=0)
        shares = np.bincount(codes, minlength=len(self.labels)) / PILOT
        even = ((halves > 0.25) & (halves < 4.0)).all()
        return bool(even and (shares >= least_share / len(self.labels)).all())

    def radius(self, r: int) -> float:
        """The largest eigenvalue of the system with all variables in one context."""
        d, lags = len(self.names), self.lags
        present = np.linalg.inv(np.eye(d) - self.slopes[r, :, 0])
        companion = np.eye(d * lags, k=-d)
        companion[:d] = np.hstack([present @ self.slopes[r, :, lag] for lag in range(1, lags + 1)])
        return float(np.abs(np.linalg.eigvals(companion)).max())


def _noise(kind: str, random: np.random.Generator, shape: tuple[int, int]) -> Floats:
    if kind == "t4":
        return np.asarray(random.standard_t(4, size=shape) / np.sqrt(2.0))
    return np.asarray(random.exponential(size=shape) - 1.0 if kind == "exponential" else random.normal(size=shape))


@kernel
def _steps(values: Floats, driver: Floats, codes: Ints, slopes: Floats, intercepts: Floats, plan: Ints,
           into_context: Floats, persistence: float, cuts: Floats, bend: int) -> None:  # fmt: skip
    """Noise becomes values, that of the context what it is cut from; `plan` is who reads what, then the order."""
    total, d = values.shape
    lags, reads, order = slopes.shape[2] - 1, plan[:d], plan[d:]
    values[:lags] = 0.0
    for t in range(lags, total):
        for node in order:
            if node == d:
                driver[t] += persistence * (2.0 * codes[t - 1] / cuts.size - 1.0)
                for lag in range(lags + 1):
                    for i in range(d):
                        driver[t] += into_context[lag, i] * values[t - lag, i]
                for cut in cuts:
                    codes[t] += driver[t] > cut
                continue
            r = codes[t - reads[node]] if reads[node] >= 0 else 0
            values[t, node] += intercepts[r, node]
            for lag in range(lags + 1):
                for i in range(d):
                    if slopes[r, node, lag, i] != 0.0:
                        x = values[t - lag, i]
                        if i != node and bend == 1:
                            x = 2.0 * np.tanh(x / 2.0)
                        elif i != node and bend == 2:
                            x = x + 0.3 * x * x * np.exp(-x * x / 20.0)
                        values[t, node] += slopes[r, node, lag, i] * x

"""Systems in time whose mechanisms change with a context that is caused by the system, given and
random.

X(t) depends linearly on X(t), X(t-1), ... and reads one copy of the context, R(t) or R(t-1); the
context is a step function of a noisy sum of variables and of its own past. A radius below 1 in
every context does not make such a system stationary, so `stationary` also looks at a long run.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from causalcontext import _kernels
from causalcontext.data.frames import frame_of, pd
from causalcontext.examples.noise import NoiseLaw, exponential, normal
from causalcontext.examples.settings import (
    BURN_IN,
    LARGEST_RADIUS,
    LARGEST_SERIES_VALUE,
    MOST_UNEVEN,
    PILOT,
)
from causalcontext.graphs.graph import Graph
from causalcontext.graphs.lag_names import at, window_names
from causalcontext.kernels.arrays import Floats, Ints

BENDS = {"linear": 0, "tanh": 1, "quadratic": 2}
NOISES: dict[str, NoiseLaw] = {
    "normal": normal,
    "t4": lambda generator, shape: np.asarray(generator.standard_t(4, size=shape) / np.sqrt(2.0)),
    "exponential": exponential,
}
NO_COPY = -1
"""In place of the lag at which the context acts on a variable: it does not."""


@dataclass(frozen=True, eq=False)
class SeriesModel:
    """d variables, K contexts, L lags."""

    names: tuple[str, ...]  # the system variables
    context: str
    labels: tuple[Any, ...]  # the values of the context
    # shape (K, d, L + 1, d): [r, effect, lag, cause], for the context that acts on the effect
    slopes: Floats
    intercepts: Floats  # shape (K, d)
    reads: Ints  # shape (d,): the lag at which the context acts on a variable; -1 for none
    order: Ints  # shape (d + 1,): the order of the present; d is the context
    into_context: Floats  # shape (L + 1, d)
    centre: Floats  # shape (d,): taken away from the variables before they act on the context
    persistence: float
    context_noise: float
    cuts: Floats  # shape (K - 1,): where the context goes from one value to the next
    spread: Floats  # shape (d,): standard deviations of the noise
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
        noise = NOISES[self.noise](random, (total, len(self.names))) * self.spread
        driver = self.context_noise * random.normal(size=total) - float(
            (self.into_context @ self.centre).sum()
        )
        codes = np.zeros(total, dtype=np.int64)
        _kernels.run_series(
            noise,
            driver,
            codes,
            self.slopes,
            self.intercepts,
            np.append(self.reads, self.order),
            self.into_context,
            self.persistence,
            self.cuts,
            BENDS[self.bend],
        )
        return noise[BURN_IN:], codes[BURN_IN:], driver[BURN_IN:]

    @cached_property
    def truth(self) -> dict[Any, Graph]:
        """The window graph of every context: links into time t."""
        names = window_names((*self.names, self.context), self.lags)
        graphs = {}
        shared = [
            (at(self.context, int(lag)), self.names[j], "-->")
            for j, lag in enumerate(self.reads)
            if lag >= 0
        ]
        shared += [
            (at(self.names[cause], lag), self.context, "-->")
            for lag, cause in np.argwhere(self.into_context)
        ]
        shared += [(at(self.context, 1), self.context, "-->")] if self.persistence else []
        for r, label in enumerate(self.labels):
            lagged_links = [
                (at(self.names[cause], lag), self.names[effect], "-->")
                for effect, lag, cause in np.argwhere(self.slopes[r])
            ]
            graphs[label] = Graph.from_edges(names, lagged_links + shared)
        return graphs

    def stationary(self, seed: int = 0, least_share: float = 0.5) -> bool:
        """True if every context by itself is stable, and a long run stays finite, small, even and
        in every context.

        A context has enough rows with a share of `least_share` of what all would have if they were
        equally frequent.
        """
        if max(self.radius(r) for r in range(len(self.labels))) > LARGEST_RADIUS:
            return False
        values, codes, _ = self.run(PILOT, np.random.default_rng(seed))
        if not np.isfinite(values).all() or np.abs(values).max() > LARGEST_SERIES_VALUE:
            return False
        halves = values[: PILOT // 2].var(axis=0) / values[PILOT // 2 :].var(axis=0)
        shares = np.bincount(codes, minlength=len(self.labels)) / PILOT
        even = ((halves > 1.0 / MOST_UNEVEN) & (halves < MOST_UNEVEN)).all()
        return bool(even and (shares >= least_share / len(self.labels)).all())

    def radius(self, r: int) -> float:
        """The largest eigenvalue of the system with all variables in one context."""
        d = len(self.names)
        lags = self.lags
        present = np.linalg.inv(np.eye(d) - self.slopes[r, :, 0])
        companion = np.eye(d * lags, k=-d)
        companion[:d] = np.hstack([present @ self.slopes[r, :, lag] for lag in range(1, lags + 1)])
        return float(np.abs(np.linalg.eigvals(companion)).max())

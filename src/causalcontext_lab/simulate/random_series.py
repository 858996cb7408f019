"""Random systems in time whose mechanisms change with a context that is caused by the system."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from causalcontext.errors import OptionError, check_choice, check_whole
from causalcontext.examples import BENDS, LARGEST_SERIES_VALUE, NO_COPY, NOISES, PILOT, SeriesModel
from causalcontext.graphs.paths import reach
from causalcontext_lab.arrays import Floats, Ints


@dataclass(frozen=True)
class SeriesDesign:
    """How random systems are drawn; `random_series_model` says what happens with it."""

    variables: int = 6
    lags: int = 2
    contexts: int = 2
    autocorrelation: float = 0.6
    into_context: str = "contemporaneous"
    coefficients: tuple[float, float] = (0.3, 0.6)
    changes: int = 2
    persistence: float = 0.5
    context_noise: float = 0.5
    context_parents: int | None = None
    shift: bool = False
    noise: str = "normal"
    bend: str = "linear"

    def __post_init__(self) -> None:
        check_whole("variables", self.variables, 2)
        check_whole("lags", self.lags, 1)
        check_whole("contexts", self.contexts, 2)
        check_choice("into_context", self.into_context, ("contemporaneous", "lagged", "none"))
        check_choice("noise", self.noise, NOISES)
        check_choice("bend", self.bend, BENDS)


def random_series_model(design: SeriesDesign, seed: int | np.random.Generator) -> SeriesModel:
    """A stationary random system.

    Every variable depends on its own last value, and on others at random lags; the context has one
    or two parents; some variables lose or flip a link in one context, by the copy of the context
    that each of them reads.

    >>> model = random_series_model(SeriesDesign(variables=3), seed=1)
    >>> model.sample(4, seed=0).columns.tolist()
    ['X1', 'X2', 'X3', 'R']
    """
    random = np.random.default_rng(seed)
    for _ in range(1000):
        model = _drawn(design, random)
        if model is not None and model.stationary(int(random.integers(1 << 31))):
            return model
    raise OptionError(
        "no stationary system of this design was found in 1000 draws; lower the coefficients"
    )


def _drawn(design: SeriesDesign, random: np.random.Generator) -> SeriesModel | None:
    d = design.variables
    lags = design.lags
    k = design.contexts
    place = np.argsort(random.permutation(d))
    slopes = np.zeros((k, d, lags + 1, d))
    level = design.autocorrelation
    slopes[:, np.arange(d), 1, np.arange(d)] = random.uniform(max(level - 0.2, 0.05), level, size=d)
    _cross_links(design, slopes, place, random)
    parents = random.permutation(d)[: design.context_parents or int(random.integers(1, 3))]
    weights = np.zeros((lags + 1, d))
    if design.into_context != "none":
        lag = 0 if design.into_context == "contemporaneous" else 1
        weights[lag, parents] = random.choice([-1.0, 1.0], size=len(parents))
    before = (weights[0] != 0) | reach(slopes[0, :, 0].T != 0)[:, weights[0] != 0].any(axis=1)
    order = np.array(
        [
            *sorted(np.flatnonzero(before), key=lambda i: place[i]),
            d,
            *sorted(np.flatnonzero(~before), key=lambda i: place[i]),
        ]
    )
    spread = random.uniform(0.7, 1.3, size=d)
    reads = np.full(d, NO_COPY)
    intercepts = np.zeros((k, d))
    for j in random.permutation(d)[: design.changes]:
        reads[j] = 1 if before[j] else int(random.integers(2))
        if design.shift:
            intercepts[int(random.integers(k)), j] = 1.0
        else:
            _change(design, slopes, int(j), random)
    model = SeriesModel(
        tuple(f"X{i + 1}" for i in range(d)),
        "R",
        tuple(range(k)),
        slopes,
        intercepts,
        reads,
        order,
        weights,
        np.zeros(d),
        design.persistence,
        design.context_noise,
        np.zeros(k - 1),
        spread,
        design.noise,
        design.bend,
    )
    return _scaled(model, random)


def _cross_links(
    design: SeriesDesign, slopes: Floats, place: Ints, random: np.random.Generator
) -> None:
    """Links between different variables, at most one for an ordered pair."""
    d = design.variables
    count = 0
    pairs = [(i, j) for i in range(d) for j in range(d) if i != j]
    for number in random.permutation(len(pairs)):
        if count == round(1.25 * d):
            return
        cause, effect = pairs[number]
        lag = 0 if random.random() < 0.4 else int(random.integers(1, design.lags + 1))
        if lag == 0 and (place[cause] > place[effect] or slopes[0, cause, 0, effect] != 0):
            continue
        slopes[:, effect, lag, cause] = _coefficient(design, random)
        count += 1


def _change(design: SeriesDesign, slopes: Floats, j: int, random: np.random.Generator) -> None:
    """Remove one incoming link in a random context, or turn its sign there."""
    d = design.variables
    links = [
        (lag, i)
        for lag in range(design.lags + 1)
        for i in range(d)
        if i != j and slopes[:, j, lag, i].all()
    ]
    if not links:
        lag = int(random.integers(1, design.lags + 1))
        i = int(random.choice([i for i in range(d) if i != j]))
        slopes[:, j, lag, i] = _coefficient(design, random)
        links = [(lag, i)]
    lag, i = links[int(random.integers(len(links)))]
    slopes[int(random.integers(design.contexts)), j, lag, i] *= (
        0.0 if random.random() < 0.5 else -1.0
    )


def _coefficient(design: SeriesDesign, random: np.random.Generator) -> float:
    return float(random.uniform(*design.coefficients) * random.choice([-1.0, 1.0]))


def _scaled(model: SeriesModel, random: np.random.Generator) -> SeriesModel | None:
    """The model with the drive of the context in standard units, and cuts that make contexts even,
    by pilot runs.
    """
    for _ in range(4):
        values, _, driver = model.run(PILOT, random)
        if not np.isfinite(values).all() or np.abs(values).max() > LARGEST_SERIES_VALUE:
            return None
        scale = values.std(axis=0)
        weights = np.sign(model.into_context) / scale
        k = len(model.labels)
        cuts = np.zeros(1) if k == 2 else np.quantile(driver, np.arange(1, k) / k)
        model = replace(model, centre=values.mean(axis=0), into_context=weights, cuts=cuts)
    return model

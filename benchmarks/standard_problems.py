"""Tables with a known answer, as the papers of the peers draw them, for `compare.py`.

Networks are those that pgmpy ships as BIF files; its code is not used. Every other table is drawn
here from the description in a paper: NOTEARS (Zheng et al. 2018), BOSS (Andrews et al. 2023), CAM
(Bühlmann et al. 2014), PCMCI+ (Runge 2020) and J-PCMCI+ (Günther et al. 2023).
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import NamedTuple

import networkx as nx
import numpy as np
import pandas as pd
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Random = np.random.Generator

BURN_IN, LARGEST_RADIUS = 300, 0.97


class Problem(NamedTuple):
    """A table and its answer.

    `links` has shape (lags + 1, variables, variables): lag, cause, effect, in the order of `names`.
    `targets` says which variables have another mechanism in some environment, a column `E`. A
    `unit` numbers data sets of a panel.
    """

    table: pd.DataFrame
    names: tuple[str, ...]
    links: Bools
    identified: bool = False
    """Whether directions are determined; otherwise the structural Hamming distance is to the
    equivalence class.
    """
    targets: Bools | None = None
    exogenous: bool = True
    panel: bool = False


def network(name: str, rows: int, seed: int) -> Problem:
    """Rows of a network that pgmpy ships; columns hold names of levels, and one with a single level
    is left out.
    """
    levels, tables = _read_bif(name)
    names, random = tuple(levels), np.random.default_rng([seed, rows])
    graph = nx.DiGraph(
        [(cause, effect) for effect, (causes, _) in tables.items() for cause in causes]
    )
    graph.add_nodes_from(names)
    codes: dict[str, NDArray[np.int64]] = {}
    for effect in nx.topological_sort(graph):
        causes, shares = tables[effect]
        row = np.zeros(rows, dtype=int)
        for cause in causes:
            row = row * len(levels[cause]) + codes[cause]
        steps = shares[row].cumsum(axis=1)
        codes[effect] = (random.random(rows)[:, None] * steps[:, -1:] > steps).sum(axis=1)
    names = tuple(name for name in random.permutation(list(names)).tolist() if np.ptp(codes[name]))
    table = pd.DataFrame(
        {name: np.array(levels[name], dtype=object)[codes[name]] for name in names}
    )
    links = np.array([[[graph.has_edge(cause, effect) for effect in names] for cause in names]])
    return Problem(table, names, links)


@cache
def _read_bif(name: str) -> tuple[dict[str, list[str]], dict[str, tuple[list[str], Floats]]]:
    """The levels of every variable; its causes and, by their levels (the last cause fastest), its
    shares.
    """
    package = find_spec("pgmpy")
    assert package is not None, (
        "pgmpy 0.1.26 ships the networks: pip install --no-deps pgmpy==0.1.26"
    )
    file = Path(str(package.origin)).parent / f"utils/example_models/{name}.bif.gz"
    text = gzip.decompress(file.read_bytes()).decode()
    levels = {
        found[1]: [level.strip() for level in found[2].split(",")]
        for found in re.finditer(r"variable (\S+) \{\s*type discrete \[ *\d+ *\] \{([^}]*)\}", text)
    }
    tables = {}
    for found in re.finditer(
        r"probability \(([^)|]+)(?:\|([^)]*))?\) \{(.*?)\n\}", text, re.DOTALL
    ):
        effect, causes = (
            found[1].strip(),
            [cause.strip() for cause in (found[2] or "").split(",") if cause.strip()],
        )
        shares = np.zeros((*(len(levels[cause]) for cause in causes), len(levels[effect])))
        for given, numbers in re.findall(r"(?:\(([^)]*)\)|table)\s*([-\d., eE]+);", found[3]):
            place = [
                levels[c].index(level.strip())
                for c, level in zip(causes, given.split(","), strict=bool(causes))
            ]
            shares[tuple(place) if causes else ...] = [
                float(number) for number in numbers.split(",")
            ]
        assert np.allclose(shares.sum(axis=-1), 1.0, atol=0.02), (name, effect)
        tables[effect] = causes, shares.reshape(-1, len(levels[effect]))
    assert set(tables) == set(levels), name
    return levels, tables


def erdos_renyi(variables: int, links: float, random: Random) -> Bools:
    """A directed acyclic graph with so many links on average, its order a random one."""
    chance = min(1.0, links / (variables * (variables - 1) / 2))
    upper = np.triu(random.random((variables, variables)) < chance, 1)
    order = random.permutation(variables)
    return np.asarray(upper[np.ix_(order, order)])


def causal_order(graph: Bools) -> list[int]:
    return list(
        nx.topological_sort(nx.from_numpy_array(graph.astype(int), create_using=nx.DiGraph))
    )


def linear(
    variables: int,
    links_each: float,
    rows: int,
    seed: int,
    *,
    law: str = "notears",
    noise: str = "normal",
    standardised: bool = True,
) -> Problem:
    """NOTEARS: weights of .5 to 2 with either sign and unit noise. BOSS: weights U(-1, 1) and
    variances U(1, 2).
    """
    random = np.random.default_rng([seed, variables, rows])
    graph = erdos_renyi(variables, links_each * variables, random)
    if law == "notears":
        weights, spread = (
            random.choice((-1, 1), graph.shape) * random.uniform(0.5, 2, graph.shape),
            np.ones(variables),
        )
    else:
        weights, spread = (
            random.uniform(-1, 1, graph.shape),
            np.sqrt(random.uniform(1, 2, variables)),
        )
    values = getattr(random, noise)(size=(rows, variables)) * spread
    for j in causal_order(graph):
        values[:, j] += values @ (weights * graph)[:, j]
    return _numbers(values, graph, standardised, identified=noise != "normal" or not standardised)


def cam(variables: int, rows: int, seed: int, *, standardised: bool = True) -> Problem:
    """CAM: as many links as variables, sums of smooth functions drawn from a Gaussian process,
    noise of .2 to .28.
    """
    random = np.random.default_rng([seed, variables, rows])
    graph = erdos_renyi(variables, variables, random)
    values = np.zeros((rows, variables))
    for j in causal_order(graph):
        causes = np.flatnonzero(graph[:, j])
        spread = (
            random.uniform(0.2, np.sqrt(2) / 5) if len(causes) else np.sqrt(random.uniform(1, 2))
        )
        values[:, j] = spread * random.normal(size=rows) + sum(
            _smooth(values[:, i], random) for i in causes
        )
    return _numbers(values, graph, standardised, identified=True)


def _smooth(x: Floats, random: Random) -> Floats:
    """A draw from a Gaussian process with a Gaussian kernel of width 1, by 300 random
    frequencies.
    """
    waves = np.cos(np.outer(x, random.normal(size=300)) + random.uniform(0, 2 * np.pi, 300))
    return np.asarray(waves @ random.normal(size=300) * np.sqrt(2 / 300))


def _numbers(values: Floats, graph: Bools, standardised: bool, **known: bool) -> Problem:
    values = (values - values.mean(axis=0)) / values.std(axis=0) if standardised else values
    names = tuple(f"X{j}" for j in range(values.shape[1]))
    return Problem(pd.DataFrame(values, columns=list(names)), names, graph[np.newaxis], **known)


def environments(
    variables: int, rows_each: int, seed: int, *, noise: str = "normal", others: int = 4
) -> Problem:
    """An environment without, and others with an intervention on one variable: other slopes and
    another intercept.
    """
    random = np.random.default_rng([seed, variables, rows_each])
    graph = erdos_renyi(variables, 1.5 * variables, random)
    weights = graph * random.choice((-1, 1), graph.shape) * random.uniform(0.4, 1.2, graph.shape)
    targets, parts = np.zeros(variables, dtype=bool), []
    for environment in range(others + 1):
        here, shift = weights.copy(), np.zeros(variables)
        if environment:
            j = random.integers(variables)
            here[:, j] *= random.uniform(-0.5, 0.5, variables)
            shift[j], targets[j] = random.choice((-1, 1)) * random.uniform(1, 2), True
        values = _law(random, noise, (rows_each, variables)) + shift
        for j in causal_order(graph):
            values[:, j] += values @ here[:, j]
        parts.append(values)
    problem = _numbers(np.concatenate(parts), graph, True, identified=True)
    numbered = problem.table.assign(
        E=[f"e{e}" for e in range(others + 1) for _ in range(rows_each)]
    )
    return problem._replace(table=numbered, targets=targets)


def endogenous(variables: int, rows: int, seed: int) -> Problem:
    """Two contexts, which follow from a variable early in the order; two later ones lose or turn
    their slopes.
    """
    random = np.random.default_rng([seed, variables, rows])
    while True:
        graph = erdos_renyi(variables, 1.5 * variables, random)
        order = causal_order(graph)
        cause, later = (
            order[variables // 3],
            [j for j in order[variables // 3 + 1 :] if graph[:, j].any()],
        )
        if len(later) >= 2:
            break
    weights = graph * random.choice((-1, 1), graph.shape) * random.uniform(0.4, 1.2, graph.shape)
    targets = np.isin(np.arange(variables), random.choice(later, 2, replace=False))
    values, second = random.normal(size=(rows, variables)), np.zeros(rows, dtype=bool)
    for j in order:
        there = weights[:, j] * random.uniform(-0.5, 0.0)
        values[:, j] += np.where(second & targets[j], values @ there + 1.0, values @ weights[:, j])
        if j == cause:
            second = values[:, j] / values[:, j].std() + 0.5 * random.normal(size=rows) > 0
    problem = _numbers(values, graph, True, identified=True)
    named = problem.table.assign(E=np.where(second, "e1", "e0"))
    return problem._replace(table=named, targets=targets, exogenous=False)


def _law(random: Random, noise: str, shape: tuple[int, ...]) -> Floats:
    return (
        random.uniform(-np.sqrt(3), np.sqrt(3), shape)
        if noise == "uniform"
        else random.normal(size=shape)
    )


def series(
    variables: int,
    rows: int,
    seed: int,
    *,
    lags: int = 5,
    weibull: bool = False,
    autocorrelation: float = 0.95,
) -> Problem:
    """PCMCI+: 1.5 links a variable, three tenths of them without a lag, coefficients .1 to .5, high
    autocorrelation.
    """
    random = np.random.default_rng([seed, variables, rows, lags])
    links = _series_links(variables, lags, autocorrelation, random)
    noise = random.uniform(0.5, 2, variables) * _series_noise(
        rows + BURN_IN, variables, weibull, random
    )
    names = tuple(f"X{j}" for j in range(variables))
    table = pd.DataFrame(_run(links, noise)[BURN_IN:], columns=list(names))
    return Problem(table, names, links != 0, identified=True)


def panel(variables: int, sets: int, rows: int, seed: int, *, lags: int = 2) -> Problem:
    """J-PCMCI+: data sets of one system, a context of time and one of place that are seen, one of
    place hidden.
    """
    random = np.random.default_rng([seed, variables, sets, rows])
    links = _series_links(variables, lags, 0.6, random)
    over_time, places, hidden = (
        random.normal(size=rows + BURN_IN),
        random.normal(size=sets),
        random.normal(size=sets),
    )
    strength = {name: _on_some(variables, random) for name in ("time", "place", "hidden")}
    names, tables = tuple(f"X{j}" for j in range(variables)), []
    for m in range(sets):
        noise = random.normal(size=(rows + BURN_IN, variables)) + np.outer(
            over_time, strength["time"]
        )
        noise += places[m] * strength["place"] + hidden[m] * strength["hidden"]
        table = pd.DataFrame(_run(links, noise)[BURN_IN:], columns=list(names))
        tables.append(
            table.assign(
                time_context=over_time[BURN_IN:], place_context=places[m], unit=m, t=range(rows)
            )
        )
    return Problem(
        pd.concat(tables, ignore_index=True), names, links != 0, identified=True, panel=True
    )


def _on_some(variables: int, random: Random) -> Floats:
    """Coefficients on two of the variables."""
    chosen = np.isin(np.arange(variables), random.choice(variables, 2, replace=False))
    return np.asarray(
        chosen * random.choice((-1, 1), variables) * random.uniform(0.4, 1.0, variables)
    )


def _series_links(variables: int, lags: int, autocorrelation: float, random: Random) -> Floats:
    while True:
        links, order = np.zeros((lags + 1, variables, variables)), random.permutation(variables)
        pairs = [(i, j) for i, j in product(range(variables), repeat=2) if i != j]
        for i, j in (
            pairs[k] for k in random.choice(len(pairs), int(1.5 * variables), replace=False)
        ):
            lag = 0 if random.random() < 0.3 else int(random.integers(1, lags + 1))
            early, late = (i, j) if lag or np.argmax(order == i) < np.argmax(order == j) else (j, i)
            links[lag, early, late] = random.choice((-1, 1)) * random.uniform(0.1, 0.5)
        own = random.uniform(max(0.0, autocorrelation - 0.3), autocorrelation, variables)
        links[1, range(variables), range(variables)] = own
        if _radius(links) < LARGEST_RADIUS:
            return links


def _radius(links: Floats) -> float:
    """The largest absolute eigenvalue of the process."""
    lags, size = len(links) - 1, links.shape[1]
    now, companion = np.linalg.inv(np.eye(size) - links[0]), np.eye(size * lags, k=-size)
    companion[:size] = np.concatenate([(lagged @ now).T for lagged in links[1:]], axis=1)
    return float(np.abs(np.linalg.eigvals(companion)).max())


def _series_noise(rows: int, variables: int, weibull: bool, random: Random) -> Floats:
    """Gaussian, or a Weibull law of shape 2 with mean 0 and variance 1 for every second
    variable.
    """
    noise = random.normal(size=(rows, variables))
    if weibull:
        skewed = random.weibull(2.0, size=(rows, variables))
        noise[:, ::2] = ((skewed - skewed.mean(axis=0)) / skewed.std(axis=0))[:, ::2]
    return noise


def _run(links: Floats, noise: Floats) -> Floats:
    lags, now, values = (
        len(links) - 1,
        np.linalg.inv(np.eye(links.shape[1]) - links[0]),
        np.zeros(noise.shape),
    )
    for t in range(lags, len(noise)):
        values[t] = (
            sum(values[t - lag] @ links[lag] for lag in range(1, lags + 1)) + noise[t]
        ) @ now
    return values


Draw = Callable[[int], Problem]

NETWORKS = {
    "cancer": 5,
    "asia": 8,
    "sachs": 11,
    "child": 20,
    "insurance": 27,
    "alarm": 37,
    "hailfinder": 56,
}
"""The variables of every network."""
FAMILIES: dict[str, dict[str, Draw]] = {
    "Networks of categories": {
        f"{name} ({size}), n = {rows}": partial(network, name, rows)
        for name, size in NETWORKS.items()
        for rows in (500, 2000)
    },
    "Linear graphs": {
        "BOSS law, 8 variables, degree 3, n = 500": partial(linear, 8, 1.5, 500, law="boss"),
        "NOTEARS law, 8 variables, degree 3, n = 500": partial(linear, 8, 1.5, 500),
        "BOSS law, 20 variables, degree 6, n = 1000": partial(linear, 20, 3, 1000, law="boss"),
        "BOSS law, 60 variables, degree 6, n = 1000": partial(linear, 60, 3, 1000, law="boss"),
        "NOTEARS ER2, 20, raw, n = 1000": partial(linear, 20, 2, 1000, standardised=False),
        "NOTEARS ER2, 20, standardised": partial(linear, 20, 2, 1000),
        "NOTEARS ER4, 20, standardised": partial(linear, 20, 4, 1000),
        "NOTEARS ER2, 20, exponential noise, standardised": partial(
            linear, 20, 2, 1000, noise="exponential"
        ),
        "NOTEARS ER2, 100, standardised": partial(linear, 100, 2, 1000),
    },
    "Curved graphs": {
        "CAM, 10 variables, n = 200, as published": partial(cam, 10, 200, standardised=False),
        "CAM, 20 variables, n = 500, standardised": partial(cam, 20, 500),
        "CAM, 50 variables, n = 500, standardised": partial(cam, 50, 500),
    },
    "Environments": {
        "5 environments, 10 variables, n = 1000": partial(environments, 10, 200),
        "5 environments, 10 variables, uniform noise": partial(
            environments, 10, 200, noise="uniform"
        ),
        "5 environments, 20 variables, n = 2000": partial(environments, 20, 400),
        "the context is an effect, 10 variables, n = 1000": partial(endogenous, 10, 1000),
    },
    "Series": {
        "PCMCI+, 5 variables, T = 500, 5 lags": partial(series, 5, 500),
        "PCMCI+, 5 variables, half of the noise Weibull": partial(series, 5, 500, weibull=True),
        "PCMCI+, 10 variables, T = 500, 5 lags": partial(series, 10, 500),
        "J-PCMCI+, 5 variables, 10 data sets, T = 100, 2 lags": partial(panel, 5, 10, 100),
    },
}
SHORT = (
    "cancer (5), n = 500",
    "asia (8), n = 2000",
    "sachs (11), n = 500",
    "child (20), n = 500",
    "BOSS law, 8 variables, degree 3, n = 500",
    "NOTEARS ER2, 20, standardised",
    "CAM, 10 variables, n = 200, as published",
    "5 environments, 10 variables, n = 1000",
    "the context is an effect, 10 variables, n = 1000",
    "PCMCI+, 5 variables, T = 500, 5 lags",
)
"""What the short form looks at."""

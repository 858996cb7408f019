"""Random systems with curved mechanisms, any noise and some categorical columns, and what a result
says about them.

Eight nodes by default, the context R one of them, links along a random order with weights of 1.2,
1.5 or 1.8 in size. Every context lacks one link of the base graph; the context is a parent of each
node whose mechanism differs, and such a node is never an ancestor of R. A child is a weighted sum
of curves of its parents, each standardised by a pilot sample (never by context or by the sample
itself), plus noise of variance 1. R is such a sum with little noise, cut at quantiles of the pilot.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

import causalcontext as cc
from causalcontext.examples import NOISE_LAWS
from causalcontext.graphs.endpoints import Endpoint, Endpoints, directed

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Curve = Callable[[Floats, float], Floats]

PILOT = 4000
LARGEST_EXPONENT = 20.0
"""Spreads that feed on spreads end here, before they are infinite."""
LEVEL_EFFECTS = (-np.sqrt(1.5), 0.0, np.sqrt(1.5))
Coarsening = Callable[[Floats, np.random.Generator], Floats]
COARSE_NODES = 4


def _in_levels(levels: int) -> Coarsening:
    cuts = scipy.special.ndtri(np.arange(1, levels) / levels)
    return lambda x, generator: np.searchsorted(cuts, x).astype(np.float64)


def _heaped(
    centre: float, spread: float, steps: tuple[int, ...], shares: tuple[float, ...]
) -> Coarsening:
    """Whole numbers from 0, each rounded to a multiple of one of some steps, drawn by their
    shares.
    """

    def written(x: Floats, generator: np.random.Generator) -> Floats:
        step = generator.choice(steps, x.size, p=shares)
        return np.asarray(np.maximum(np.round((centre + spread * x) / step) * step, 0.0))

    return written


def _hurdle(x: Floats, generator: np.random.Generator) -> Floats:
    """Zero where something else decides so, the more often the lower x is; else a number around
    3.
    """
    return np.where(generator.random(x.size) < scipy.special.expit(-0.6 - 1.2 * x), 0.0, 3.0 + x)


def _poisson(mean: float) -> Coarsening:
    steps = scipy.special.ndtri(
        scipy.stats.poisson.cdf(np.arange(int(mean + 20 * np.sqrt(mean))), mean)
    )
    return lambda x, generator: np.searchsorted(steps, x).astype(np.float64)


COARSE: dict[str, Coarsening] = {
    "0/1": _in_levels(2),
    "3 levels": _in_levels(3),
    "5 levels": _in_levels(5),
    "10 levels": _in_levels(10),
    "cigarettes": _heaped(20.0, 12.0, (10, 5, 1), (0.7, 0.2, 0.1)),
    "heaped": _heaped(50.0, 10.0, (5, 1), (0.6, 0.4)),
    "rounded": lambda x, generator: np.round(2.0 * x) / 2.0,
    "zeros": lambda x, generator: np.maximum(x + 0.25, 0.0),
    "structural zeros": _hurdle,
    "counts 2": _poisson(2.0),
    "counts 20": _poisson(20.0),
}
"""What is written of a number with mean 0 and standard deviation 1."""
MIXTURE = ("0/1", "5 levels", "cigarettes", "zeros")


def _of_unit_variance(curve: Curve) -> Curve:
    """The curve, centred and scaled for a standard normal argument."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    share = weights / weights.sum()

    def scaled(x: Floats, place: float) -> Floats:
        at_nodes = curve(nodes, place)
        mean = share @ at_nodes
        return np.asarray((curve(x, place) - mean) / np.sqrt(share @ (at_nodes - mean) ** 2))

    return scaled


def student_t3(generator: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Three degrees of freedom, variance 1."""
    return np.asarray(generator.standard_t(3, shape) / np.sqrt(3.0))


def following(generator: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Every noise term follows the one in the row before: autocorrelation .8, variance 1."""
    noise = generator.standard_normal(shape)
    for row in range(1, shape[-1]):
        noise[..., row] = 0.8 * noise[..., row - 1] + 0.6 * noise[..., row]
    return noise


LAWS = NOISE_LAWS | {"student-t3": student_t3, "following": following}
CURVES: dict[str, Curve] = {
    "linear": lambda x, place: x,
    "tanh": _of_unit_variance(lambda x, place: np.tanh(x)),
    "square": _of_unit_variance(lambda x, place: x**2),
    "abs": _of_unit_variance(lambda x, place: np.abs(x)),
    "sine": _of_unit_variance(lambda x, place: np.sin(2.0 * x)),
    "step": _of_unit_variance(lambda x, place: np.sign(x - place)),
}
SIX = tuple(CURVES)


@dataclass(frozen=True)
class Design:
    """What is drawn: curves to choose from, noise, the share of categorical columns, sizes, how
    nodes combine parents.

    `products` is the share of nodes with two or more parents that multiply two of them; `weights`
    are sizes of effects; with `uneven` the noise of a node depends on its first parent z in all
    contexts, so much a standard deviation: its log grows with z ("exp"), for one node alone
    ("one"), it grows with the size of z ("abs"), or as with "exp" and z does nothing else
    ("alone"); "context": that of nodes that the context changes is larger in every second context.
    Four nodes are written as `coarse` says, one entry of `COARSE` for all or one for each; if it
    `acts`, their effects see what is written, else what is behind it.
    """

    curves: tuple[str, ...] = SIX
    noise: str = "normal"
    categorical: float = 0.0
    nodes: int = 8
    links: int = 11
    contexts: int = 2
    products: float = 0.0
    weights: tuple[float, ...] = (1.2, 1.5, 1.8)
    warp: Callable[[Floats], Floats] | None = None
    uneven: float = 0.0
    coarse: tuple[str, ...] = ()
    acts: bool = False
    spread: str = "exp"


@dataclass
class CurvedModel:
    """A drawn model: `links[r, i, j]` says whether i is a parent of j in context r; R is node
    `context`.
    """

    design: Design
    order: NDArray[np.int64]
    context: int
    links: Bools
    weight: Floats
    curve: NDArray[np.str_]
    place: Floats
    categorical: Bools
    effects: Floats
    multiplies: Bools
    written: dict[int, Coarsening] = field(default_factory=dict)
    centre: Floats = field(init=False)
    spread: Floats = field(init=False)
    cuts: dict[int, Floats] = field(init=False)
    behind: dict[int, tuple[float, float]] = field(default_factory=dict)

    def sample(self, rows: int, generator: np.random.Generator) -> pd.DataFrame:
        """A table; categorical columns hold text."""
        values, codes = self._draw(rows, generator, pilot=False)
        columns: dict[str, NDArray[np.generic]] = {}
        for node in range(self.design.nodes):
            if node == self.context:
                columns["R"] = codes[node]
            elif self.categorical[node]:
                columns[f"V{node}"] = np.array(["a", "b", "c"], dtype=object)[codes[node]]
            else:
                warp = self.design.warp
                own = values[node]
                columns[f"V{node}"] = (
                    own if warp is None else warp((own - self.centre[node]) / self.spread[node])
                )
                if node in self.written and not self.design.acts:
                    columns[f"V{node}"] = self.written[node](
                        (own - self.centre[node]) / self.spread[node], generator
                    )
        return pd.DataFrame(columns)

    def fix_by_pilot(self, generator: np.random.Generator) -> None:
        """Means, scales and cuts from a pilot sample."""
        self.centre, self.spread, self.cuts = (
            np.zeros(self.design.nodes),
            np.ones(self.design.nodes),
            {},
        )
        self._draw(PILOT, generator, pilot=True)

    def _draw(
        self, rows: int, generator: np.random.Generator, pilot: bool
    ) -> tuple[Floats, NDArray[np.int64]]:
        nodes = self.design.nodes
        noise = LAWS[self.design.noise](generator, (nodes, rows))
        values, codes = np.zeros((nodes, rows)), np.zeros((nodes, rows), dtype=np.int64)
        for node in self._sequence():
            level = codes[self.context]
            total = self._signal(node, values, codes, level)
            if self.design.uneven and node != self.context:
                noise[node] *= self._unevenness(node, values, level)
            alone = node == self.context and not self.links[:, :, node].any()
            values[node] = total + noise[node] * (
                0.2 if node == self.context and not alone else 1.0
            )
            if node in self.written and self.design.acts:
                values[node] = self._acting(node, values[node], generator, pilot)
            if pilot:
                self._fix(node, values[node])
            if node in self.cuts:
                codes[node] = np.searchsorted(self.cuts[node], values[node])
        return values, codes

    def _acting(
        self, node: int, latent: Floats, generator: np.random.Generator, pilot: bool
    ) -> Floats:
        """What is written of a node, in units that a pilot sample fixes before it is written."""
        if pilot:
            self.behind[node] = float(latent.mean()), float(latent.std())
        centre, spread = self.behind[node]
        return self.written[node]((latent - centre) / spread, generator)

    def _sequence(self) -> list[int]:
        """Ancestors of the context, the context, then the rest."""
        ancestors = ancestors_of(self.links.any(axis=0), self.context)
        late = np.where(self.order == self.context, 1, np.where(ancestors[self.order], 0, 2))
        return [int(node) for node in self.order[np.argsort(late, kind="stable")]]

    def _signal(
        self, node: int, values: Floats, codes: NDArray[np.int64], level: NDArray[np.int64]
    ) -> Floats:
        total = np.zeros(values.shape[1])
        parents = np.flatnonzero(self.links[:, :, node].any(axis=0))
        parts = {
            int(parent): self._part(int(parent), node, values, codes, level) for parent in parents
        }
        if self.multiplies[node]:
            first, second = sorted(parts)[:2]
            both = self.links[:, first, node] & self.links[:, second, node]
            pure = [self._shape(parent, node, values, codes) for parent in (first, second)]
            product = self.weight[first, node] * pure[0] * pure[1]
            total += np.where(both[level], product, parts.pop(first) + parts.pop(second))
        return total + sum(parts.values(), np.zeros(values.shape[1]))

    def _spreading(self, node: int) -> int:
        """The parent that the noise of a node depends on, -1 for none: its first number that is one
        in all contexts.
        """
        parents = np.flatnonzero(self.links[:, :, node].all(axis=0))
        return next((int(parent) for parent in parents if not self.categorical[parent]), -1)

    def _unevenness(self, node: int, values: Floats, level: NDArray[np.int64]) -> Floats:
        """The scale of the noise of a node in every row, of mean square 1 for a normal parent."""
        size, parent = self.design.uneven, self._spreading(node)
        if self.design.spread == "context":
            return np.where((level % 2 == 0) | ~self.children()[node], 1.0, np.exp(size))
        fit = (
            other
            for other in range(len(self.order))
            if other != self.context and self._spreading(other) >= 0
        )
        if parent < 0 or (self.design.spread == "one" and node != next(fit)):
            return np.ones(values.shape[1])
        standard = (values[parent] - self.centre[parent]) / self.spread[parent]
        if self.design.spread == "abs":
            return np.asarray(
                (0.25 + np.abs(standard)) / np.sqrt(0.25**2 + 0.5 * np.sqrt(2.0 / np.pi) + 1.0)
            )
        return np.asarray(np.exp(np.minimum(size * standard, LARGEST_EXPONENT) - size**2))

    def _part(
        self,
        parent: int,
        node: int,
        values: Floats,
        codes: NDArray[np.int64],
        level: NDArray[np.int64],
    ) -> Floats:
        there = self.links[level, parent, node] if node != self.context else True
        if (
            self.design.spread == "alone"
            and node != self.context
            and parent == self._spreading(node)
        ):
            return np.zeros(values.shape[1])
        return np.asarray(
            self.weight[parent, node] * there * self._shape(parent, node, values, codes)
        )

    def _shape(self, parent: int, node: int, values: Floats, codes: NDArray[np.int64]) -> Floats:
        if self.categorical[parent]:
            return np.asarray(self.effects[parent, node, codes[parent]])
        standard = (values[parent] - self.centre[parent]) / self.spread[parent]
        return CURVES[str(self.curve[parent, node])](standard, float(self.place[parent, node]))

    def _fix(self, node: int, values: Floats) -> None:
        self.centre[node], self.spread[node] = values.mean(), values.std()
        if node == self.context:
            count = self.design.contexts
            self.cuts[node] = np.quantile(values, np.arange(1, count) / count)
        elif self.categorical[node]:
            self.cuts[node] = np.quantile(values, [1 / 3, 2 / 3])

    def truth(self) -> Bools:
        """Directed links of every context, names in the order of `sample`'s columns, links from R
        included.
        """
        links = self.links.copy()
        links[:, self.context, :] = self.children()
        return links

    def children(self) -> Bools:
        """Nodes whose mechanism differs between contexts."""
        differ = (self.links != self.links[:1]).any(axis=(0, 1))
        differ[self.context] = False
        return np.asarray(differ)


def draw_model(design: Design, seed: int) -> CurvedModel:
    """The first acceptable model of a seed."""
    generator = np.random.default_rng([seed, 8])
    while True:
        model = _try_model(design, generator)
        if model is not None:
            model.fix_by_pilot(generator)
            return model


def _try_model(design: Design, generator: np.random.Generator) -> CurvedModel | None:
    n, k = design.nodes, design.contexts
    order, context = generator.permutation(n), int(generator.integers(n))
    base = np.zeros((n, n), dtype=bool)
    first, second = np.triu_indices(n, 1)
    chosen = generator.choice(len(first), design.links, replace=False)
    base[order[first[chosen]], order[second[chosen]]] = True
    base[context, :] = False
    links = np.repeat(base[None], k, axis=0)
    free = [
        node
        for node in range(n)
        if base[:, node].any() and node != context and not ancestors_of(base, context)[node]
    ]
    if not free:
        return None
    for r in range(k):
        node = int(generator.choice(free))
        links[r, generator.choice(np.flatnonzero(base[:, node])), node] = False
    if len({graph.tobytes() for graph in links}) < k:
        return None
    weight = generator.choice(design.weights, (n, n)) * generator.choice([-1.0, 1.0], (n, n))
    curve = generator.choice(design.curves, (n, n))
    place = generator.uniform(-0.7, 0.7, (n, n))
    categorical = generator.random(n) < design.categorical
    categorical[context] = False
    effects = np.array([[generator.permutation(LEVEL_EFFECTS) for _ in range(n)] for _ in range(n)])
    multiplies = (generator.random(n) < design.products) & (base.sum(axis=0) > 1)
    multiplies[context] = False
    model = CurvedModel(
        design, order, context, links, weight, curve, place, categorical, effects, multiplies
    )
    if design.coarse:
        chosen = generator.permutation(np.delete(np.arange(n), context))[:COARSE_NODES].tolist()
        model.written = {
            node: COARSE[design.coarse[k % len(design.coarse)]] for k, node in enumerate(chosen)
        }
    return model


def ancestors_of(links: Bools, node: int) -> Bools:
    """Everything with a directed path to a node."""
    found = links[:, node].copy()
    while True:
        more = found | links[:, found].any(axis=1)
        if np.array_equal(more, found):
            return found
        found = more


class Counts(NamedTuple):
    """What a result got right and wrong, in numbers of unordered pairs."""

    hits: int
    links: int
    extra: int
    pairs: int
    context_hits: int
    context_links: int
    context_extra: int
    context_pairs: int
    right: int
    wrong: int
    context_right: int
    context_wrong: int
    false_changes: int
    changes_found: int
    changes: int


def count(model: CurvedModel, result: cc.ContextGraphs) -> Counts:
    """Compare a result with the truth: system pairs over all context graphs, pairs with R once."""
    truth = model.truth()
    names = [f"V{i}" if i != model.context else "R" for i in range(model.design.nodes)]
    place = [result.names.index(name) for name in names]
    endpoints = np.stack([result.graphs[level].endpoints for level in result.contexts])[:, place][
        :, :, place
    ]
    return count_endpoints(truth, endpoints, model.context)


def count_endpoints(truth: Bools, endpoints: Endpoints, context: int) -> Counts:
    """The same from ends in the order of the truth."""
    nodes = truth.shape[1]
    first, second = np.triu_indices(nodes, 1)
    at_context = (first == context) | (second == context)
    there = (truth | truth.transpose(0, 2, 1))[:, first, second]
    found = (endpoints != Endpoint.NONE)[:, first, second]
    forward = directed(endpoints)
    right, wrong = (
        (either | either.transpose(0, 2, 1))[:, first, second]
        for either in (truth & forward, truth & forward.transpose(0, 2, 1))
    )
    s, r = ~at_context, at_context
    changed, claimed = (there != there[:1]).any(axis=0), (found != found[:1]).any(axis=0)
    return Counts(
        int((found & there)[:, s].sum()),
        int(there[:, s].sum()),
        int((found & ~there)[:, s].sum()),
        int((~there)[:, s].sum()),
        int((found & there)[0, r].sum()),
        int(there[0, r].sum()),
        int((found & ~there)[0, r].sum()),
        int((~there)[0, r].sum()),
        int(right[:, s].sum()),
        int(wrong[:, s].sum()),
        int(right[0, r].sum()),
        int(wrong[0, r].sum()),
        int((claimed & ~changed)[s].sum()),
        int((claimed & changed)[s].sum()),
        int(changed[s].sum()),
    )


def summary(counts: list[Counts]) -> str:
    """System TPR / FPR, the same at R, directions right / wrong, the same at R, false changes per
    model.
    """
    total = Counts(*np.sum(np.array(counts), axis=0).tolist())
    return (
        f"{_rate(total.hits, total.links)}/{_rate(total.extra, total.pairs)}"
        f" {_rate(total.context_hits, total.context_links, 2)}/{_rate(total.context_extra, total.context_pairs)}"
        f" {_rate(total.right, total.hits, 2)}/{_rate(total.wrong, total.hits, 3)}"
        f" {_rate(total.context_right, total.context_hits, 2)}/{_rate(total.context_wrong, total.context_hits, 2)}"
        f" {total.false_changes / len(counts):.2f}"
    )


def _rate(part: int, whole: int, digits: int = 3) -> str:
    if whole == 0:
        return "-"
    text = f"{part / whole:.{digits}f}"
    return text.removeprefix("0") if text.startswith("0") else text

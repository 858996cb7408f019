"""Designs for tests of a categorical R against a number y given Z: cells with their truth known,
drawn once by a seed.

In a null cell R and y are independent given Z: R is a coin, or bins of a function of Z, or bins of
an effect of y that is among Z. In a cell with a change the mean, one slope or the spread of y
differs between the values of R. A second seed splits the cells into two halves: one to choose a
test on, one held back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np

NOISES = ("gaussian", "t5", "laplace", "exponential", "skewed mixture")
MECHANISMS = ("linear", "tanh", "quadratic")
ORIGINS = ("exogenous", "threshold", "descendant")
SHIFT_OF_MEANS = 2.0
CORRELATION = 0.3
HALVES = ("exploration", "held-back")


@dataclass(frozen=True)
class Cell:
    """One design: `sharp` bins have no noise of their own; `discrete` makes one condition a
    category of three.
    """

    k: int
    size: int
    noise: str
    mechanism: str
    balanced: bool
    origin: str
    sharp: bool
    discrete: bool
    n: int
    change: str = "none"
    effect: float = 0.0
    seed: int = 0

    def __str__(self) -> str:
        origin = self.origin + (" (sharp)" if self.sharp else "")
        shares = "balanced" if self.balanced else "85/15"
        parts = [
            f"k={self.k}",
            f"{self.size} conditions",
            self.noise,
            self.mechanism,
            shares,
            origin,
            f"n={self.n}",
        ]
        return ", ".join(parts + (["discrete z"] if self.discrete else []))


class Table(NamedTuple):
    """One data set: conditions as columns (dummies for a category), y, and the codes of R."""

    conditions: np.ndarray
    y: np.ndarray
    codes: np.ndarray


def null_cells(count: int = 200, seed: int = 4) -> list[Cell]:
    """Cells in which nothing changes; every level of every factor occurs about equally often where
    it makes sense.
    """
    generator = np.random.default_rng(seed)

    def evenly(*levels: object) -> list:
        return [levels[i] for i in generator.permutation(np.arange(count) % len(levels))]

    columns = zip(
        evenly(2, 3, 5),
        evenly(0, 1, 2, 4, 6),
        evenly(*NOISES),
        evenly(*MECHANISMS),
        evenly(True, False),
        evenly(*ORIGINS),
        evenly(True, False),
        evenly(True, False, False),
        evenly(100, 200, 500, 1000),
        strict=True,
    )
    return [sensible(Cell(*values, seed=1000 + i)) for i, values in enumerate(columns)]


def sensible(cell: Cell) -> Cell:
    """The cell without the factors that have no meaning in it."""
    if cell.size == 0:
        return replace(cell, origin="exogenous", mechanism="linear", sharp=False, discrete=False)
    if cell.origin == "exogenous":
        return replace(cell, sharp=False)
    return replace(cell, discrete=cell.discrete and cell.size > 1)


def changing_cells() -> list[Cell]:
    """Cells with a change of mean, slope or spread, all at n = 200, some at 100 and 500; linear
    mechanisms.
    """
    cells = []
    factors = product(
        ("mean", "slope", "spread"),
        (0, 1, 3),
        (2, 3),
        ("gaussian", "t5", "laplace", "exponential"),
        (True, False),
        ("exogenous", "threshold"),
        (100, 200, 500),
    )
    for change, size, k, noise, balanced, origin, n in factors:
        plain = k == 2 and balanced and origin == "exogenous"
        if (n != 200 and not plain) or (size == 0 and (change == "slope" or origin == "threshold")):
            continue
        effect = {"mean": 0.4, "slope": 0.5, "spread": 0.45}[change] * (200 / n) ** 0.5
        effect *= (
            (1 if balanced else 1.4)
            * (1.25 if k == 3 else 1)
            * (1.25 if origin == "threshold" else 1)
        )
        cells.append(
            Cell(
                k,
                size,
                noise,
                "linear",
                balanced,
                origin,
                False,
                False,
                n,
                change,
                effect,
                5000 + len(cells),
            )
        )
    return cells


def half_of(cells: list[Cell], half: str, seed: int = 44) -> list[Cell]:
    """The cells on one side of a seeded coin."""
    coins = np.random.default_rng(seed).integers(2, size=len(cells))
    return [cell for cell, coin in zip(cells, coins, strict=True) if HALVES[coin] == half]


def draw(cell: Cell, generator: np.random.Generator) -> Table:
    """One data set of the cell."""
    fixed = np.random.default_rng(cell.seed)
    own = cell.size - (cell.origin == "descendant")
    causes, columns = _conditions(cell, own, generator)
    signal = _mechanism(cell, _index(causes, columns, fixed)) if own else np.zeros(cell.n)
    noise = draw_noise(cell.noise, cell.n, generator)
    if cell.origin == "descendant":
        y = signal + noise
        effect = _mechanism(cell, (y - y.mean()) / y.std()) + 0.7 * draw_noise(
            cell.noise, cell.n, generator
        )
        codes = _bins(cell, effect / effect.std(), fixed, generator)
        return Table(np.column_stack([effect, columns]), y, codes)
    latent = (
        _index(causes, columns, fixed)
        if cell.origin == "threshold"
        else generator.standard_normal(cell.n)
    )
    codes = _bins(cell, latent, fixed, generator)
    return Table(columns, signal + _changed(cell, codes, causes, noise), codes)


def draw_noise(law: str, n: int, generator: np.random.Generator) -> np.ndarray:
    """Noise with mean 0 and variance 1."""
    if law == "gaussian":
        return generator.standard_normal(n)
    if law == "t5":
        return generator.standard_t(5, n) / (5 / 3) ** 0.5
    if law == "laplace":
        return generator.laplace(size=n) / 2**0.5
    if law == "exponential":
        return generator.exponential(size=n) - 1
    rare = generator.random(n) < 0.15
    values = np.where(
        rare, 2 + generator.standard_normal(n), -0.3 + 0.5 * generator.standard_normal(n)
    )
    return (values - 0.045) / 1.0183


def _conditions(
    cell: Cell, own: int, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Numeric conditions, then all columns: numbers, and two dummies where one condition is a
    category.
    """
    common = generator.standard_normal((cell.n, 1))
    numbers = CORRELATION**0.5 * common + (1 - CORRELATION) ** 0.5 * generator.standard_normal(
        (cell.n, own)
    )
    if not cell.discrete:
        return numbers, numbers + SHIFT_OF_MEANS
    numbers = numbers[:, : own - 1]
    category = generator.choice(3, size=cell.n, p=(0.5, 0.3, 0.2))
    dummies = np.column_stack([category == 1, category == 2]).astype(float)
    return numbers, np.column_stack([numbers + SHIFT_OF_MEANS, dummies])


def _index(causes: np.ndarray, columns: np.ndarray, fixed: np.random.Generator) -> np.ndarray:
    """A weighted sum of the columns with mean 0 and variance 1; weights between .4 and 1, of both
    signs.
    """
    weights = fixed.uniform(0.4, 1, columns.shape[1]) * fixed.choice([-1, 1], columns.shape[1])
    total = columns @ weights
    return (total - total.mean()) / total.std()


def _mechanism(cell: Cell, index: np.ndarray) -> np.ndarray:
    if cell.mechanism == "tanh":
        return 1.5 * np.tanh(1.5 * index)
    return index if cell.mechanism == "linear" else 0.6 * index + 0.6 * (index**2 - 1)


def _bins(
    cell: Cell, latent: np.ndarray, fixed: np.random.Generator, generator: np.random.Generator
) -> np.ndarray:
    """Bins of the latent variable, blurred unless they are sharp, in shares that are even or have
    one of 15 %.
    """
    shares = (
        np.full(cell.k, 1 / cell.k)
        if cell.balanced
        else np.array([0.15] + [0.85 / (cell.k - 1)] * (cell.k - 1))
    )
    cuts = np.cumsum(fixed.permutation(shares))[:-1]
    blurred = latent if cell.sharp else latent + 0.5 * generator.standard_normal(cell.n)
    return np.searchsorted(np.quantile(blurred, cuts), blurred).astype(np.int64)


def _changed(cell: Cell, codes: np.ndarray, causes: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """The noise, with what the context adds to it."""
    score = np.linspace(-0.5, 0.5, cell.k)[codes] * cell.effect
    if cell.change == "mean":
        return noise + score
    if cell.change == "slope":
        return noise + score * causes[:, 0]
    return noise * np.exp(score) if cell.change == "spread" else noise

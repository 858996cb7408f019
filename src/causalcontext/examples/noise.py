"""Laws of the noise terms, all with mean 0 and variance 1."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from causalcontext.kernels.arrays import Floats

NoiseLaw = Callable[["np.random.Generator", tuple[int, ...]], Floats]
"""`law(generator, shape)`: independent draws in an array of that shape."""


def normal(generator: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Standard normal draws: the paper's choice."""
    return generator.standard_normal(shape)


def uniform(generator: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Uniform draws: bounded, light tails."""
    return generator.uniform(-np.sqrt(3.0), np.sqrt(3.0), shape)


def laplace(generator: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Laplace draws: symmetric, heavier tails."""
    return generator.laplace(0.0, np.sqrt(0.5), shape)


def exponential(generator: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Centred exponential draws: skewed."""
    return generator.standard_exponential(shape) - 1.0


def student_t5(generator: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Student draws with five degrees of freedom: heavy tails."""
    return np.asarray(generator.standard_t(5, shape) * np.sqrt(3.0 / 5.0))


NOISE_LAWS: dict[str, NoiseLaw] = {
    "normal": normal,
    "uniform": uniform,
    "laplace": laplace,
    "exponential": exponential,
    "student-t5": student_t5,
}
"""The laws by name."""

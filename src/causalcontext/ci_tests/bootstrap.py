"""Parametric bootstrap of a likelihood ratio of classes, for samples that are too small for its chi-squared law.

Classes are drawn from the smaller model with the conditions as they are, and both models are fitted again.
"""

from __future__ import annotations

import numpy as np

from causalcontext.ci_tests.likelihood_fits import NestedFits, shares
from causalcontext.ci_tests.permutation import sequential_p
from causalcontext.kernels.arrays import Floats
from causalcontext.kernels.rows.bootstrap import drawn_exceedances


def bootstrap_p(found: NestedFits, random: np.random.Generator) -> float:
    """The share of draws whose likelihood ratio reaches the observed one."""
    below = np.cumsum(shares(found.response, found.base, found.small.slopes), axis=1)

    def draw(uniforms: Floats, most: int) -> tuple[int, int]:
        return drawn_exceedances(found.response.family, found.base, found.design, below, found.small.slopes,
                                 found.start, found.ratio, uniforms, most)  # fmt: skip

    return sequential_p(draw, len(below), random)

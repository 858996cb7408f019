"""What a noise density adds to the score of a number (`src/kernels/number_scores.hpp`)."""

from __future__ import annotations

IN_A_BIN = 5
"""So many places in the bin of a count stand for it."""
NO_DENSITY = -2
"""In place of the first row of a bin: noise is Gaussian."""

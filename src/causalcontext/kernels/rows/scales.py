"""Mechanisms whose noise has an uneven spread: y = mu(x) + sigma(x) u, log sigma linear in some
columns (`src/kernels/scales.hpp`).
"""

from __future__ import annotations

MOST_SCALES = 4
"""The most columns of a scale."""
SHAPES = 5
"""The columns that every candidate offers to a scale: a line, a V, a step in the middle, and a
hinge on either side.
"""
LARGEST_LOG = 3.0
"""The largest logarithm of a scale."""

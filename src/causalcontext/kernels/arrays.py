"""Names for arrays, by what they hold."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Shorts = NDArray[np.int16]
Codes = NDArray[np.int32]
Words = NDArray[np.uint64]
Values = NDArray[Any]

NOBODY: Any = np.int64(-1)
NOTHING: Any = np.int64(0)
ONE: Any = np.int64(1)
"""Whole numbers of one type, so that compiled functions are not compiled again for a constant of
Python.
"""

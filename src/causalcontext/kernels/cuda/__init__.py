"""CUDA twins of kernels, with the same contracts: same sets, same statistics, whatever the order of
threads.

Nothing here is imported unless a card is asked for; `card.py` says whether there is one.
"""

from typing import Any

import numpy as np
from numba import config

settings: Any = config  # made when numba is imported, so type checkers know nothing of it
settings.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # small queries are no reason for a warning on every call
if not hasattr(np, "row_stack"):
    # numba-cuda up to 0.30 names an alias that numpy 2.5 has dropped; without it no kernel
    # compiles.
    np.row_stack = np.vstack

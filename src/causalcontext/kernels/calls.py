"""Compiled functions behind pointers.

A compiled function that calls another one contains its code, and is optimised together with it: in a long chain the
innermost code would be compiled once for every link. A call through a pointer ends the chain: what is behind it is
compiled once, what is before it without it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

from causalcontext.kernels.compiling import compiled_in_some_folder

Call = Any
"""A compiled function behind a pointer, which compiled code may call like any other."""


def pointer_to(function: Callable[..., Any], *samples: object) -> Call:
    """A compiled function of arguments with the types of `samples` that returns a float, behind a pointer."""
    signature = numba.types.float64(*(numba.typeof(sample) for sample in samples))
    inside = getattr(function, "py_func", function)
    return compiled_in_some_folder(numba.cfunc, (signature,), {"cache": True, "error_model": "numpy"}, inside)

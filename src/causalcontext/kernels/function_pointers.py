"""Compiled functions behind pointers.

A compiled function that calls another one contains its code, and is optimised together with it: in a long chain the
innermost code would be compiled once for every link. A call through a pointer ends the chain: what is behind it is
compiled once, what is before it without it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numba
import numpy as np

from causalcontext.kernels.compiling import compiled_by

FunctionPointer = Any
"""A compiled function behind a pointer, which compiled code may call like any other."""


class PointerTo:
    """A compiled function that returns a float, behind a pointer; calling this makes the pointer, once.

    `samples` gives values, or types, like those of its arguments.
    """

    def __init__(self, function: Callable[..., Any], samples: Callable[[], tuple[Any, ...]]) -> None:
        self._function, self._samples = getattr(function, "__wrapped__", function), samples
        self._pointer: FunctionPointer = None

    def __call__(self) -> FunctionPointer:
        if self._pointer is None:
            options = {"error_model": "numpy", "fastmath": False}
            self._pointer = compiled_by(partial(numba.cfunc, self.kind.signature), self._function, options)
        return self._pointer

    @property
    def kind(self) -> Any:
        """The type of the pointer, for which nothing has to be compiled."""
        return numba.types.FunctionType(numba.types.float64(*map(kind_of, self._samples())))


@cache
def no_function(kind: Any) -> FunctionPointer:
    """A pointer of some type to a function that returns NaN, in place of one that is never called."""
    signature = kind.signature
    return compiled_by(partial(numba.cfunc, signature), _NOTHING[len(signature.args)], {})


def kind_of(sample: Any) -> Any:
    """The numba type of a value; a type stands for itself, in a named tuple too."""
    if isinstance(sample, numba.types.Type):
        return sample
    if isinstance(sample, tuple) and hasattr(sample, "_fields"):
        return numba.types.BaseTuple.from_types([kind_of(part) for part in sample], type(sample))
    return numba.typeof(sample)


_NOTHING: dict[int, Callable[..., float]] = {
    4: lambda a, b, c, d: np.nan,
    5: lambda a, b, c, d, e: np.nan,
    6: lambda a, b, c, d, e, f: np.nan,
    9: lambda a, b, c, d, e, f, g, h, i: np.nan,
    10: lambda a, b, c, d, e, f, g, h, i, j: np.nan,
}
"""By the number of their arguments."""

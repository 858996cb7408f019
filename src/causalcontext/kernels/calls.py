"""Compiled functions behind pointers.

A compiled function that calls another one contains its code, and is optimised together with it: in a long chain the
innermost code would be compiled once for every link. A call through a pointer ends the chain: what is behind it is
compiled once, what is before it without it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

from causalcontext.kernels.beside import wait_for
from causalcontext.kernels.compiling import compiled_in_some_folder, is_on_disk

Call = Any
"""A compiled function behind a pointer, which compiled code may call like any other."""


def pointer_to(function: Callable[..., Any], *samples: object) -> Call:
    """A compiled function of arguments with the types of `samples` that returns a float, behind a pointer."""
    signature = _signature(samples)
    inside = getattr(function, "py_func", function)
    wait_for(inside, lambda: is_on_disk(function))
    return compiled_in_some_folder(numba.cfunc, (signature,), {"cache": True, "error_model": "numpy"}, inside)


def pointer_kind(*samples: object) -> Any:
    """The type of such a pointer, for which nothing has to be compiled."""
    return numba.types.FunctionType(_signature(samples))


def kind_of(sample: Any) -> Any:
    """The numba type of a value; a type stands for itself, in a named tuple too."""
    if isinstance(sample, numba.types.Type):
        return sample
    if isinstance(sample, tuple) and hasattr(sample, "_fields"):
        return numba.types.BaseTuple.from_types([kind_of(part) for part in sample], type(sample))
    return numba.typeof(sample)


def _signature(samples: tuple[object, ...]) -> Any:
    return numba.types.float64(*map(kind_of, samples))

"""Many arrays in one note.

A compiled function that takes many arrays passes each of them on as a handful of numbers, at every
call, through every layer; compiling that takes longer than compiling what the functions do. So the
arrays that a whole search shares are written down once, in a note, and the note is passed on. The
arrays live as long as their note.

The type of a note has a fingerprint of what it holds: compiled code from before a change is not
taken for it.

Compiled functions behind pointers are passed on alike. A compiled function that calls another one
contains its code, and is optimised together with it: in a long chain the innermost code would be
compiled once for every link. A call through a pointer ends the chain: what is behind it is compiled
once, what is before it without it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any
from weakref import finalize
from zlib import crc32

import numba
import numpy as np
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic
from numpy.typing import NDArray

from causalcontext.kernels.compiling import compiled_by, kernel

FunctionPointer = Any
"""A compiled function behind a pointer, which compiled code may call like any other."""


class PointerTo:
    """A compiled function that returns a float, behind a pointer; calling this makes the pointer,
    once.

    `samples` gives values, or types, like those of its arguments.
    """

    def __init__(
        self, function: Callable[..., Any], samples: Callable[[], tuple[Any, ...]]
    ) -> None:
        self._function = getattr(function, "__wrapped__", function)
        self._samples = samples
        self._pointer: FunctionPointer = None

    def __call__(self) -> FunctionPointer:
        if self._pointer is None:
            options = {"error_model": "numpy", "fastmath": False}
            self._pointer = compiled_by(
                partial(numba.cfunc, self.kind.signature), self._function, options
            )
        return self._pointer

    @property
    def kind(self) -> Any:
        """The type of the pointer, for which nothing has to be compiled."""
        return numba.types.FunctionType(numba.types.float64(*map(kind_of, self._samples())))


@cache
def no_function(kind: Any) -> FunctionPointer:
    """A pointer of some type to a function that returns NaN, in place of one that is never
    called.
    """
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

Note = NDArray[np.void]

ROOM = 4096
"""Words of a note."""


def empty_note(kind: Any) -> Note:
    """A note for values of a numba type."""
    return np.zeros(ROOM, dtype=[(f"holds_{ROOM}_{crc32(str(kind).encode()):08x}", np.int64)])


def note_of(value: Any, kind: Any) -> Note:
    """A note of arrays, given as a named tuple of a numba type."""
    note = empty_note(kind)
    _write(note, value)
    finalize(
        note, lambda value: None, value
    ).atexit = False  # until a note is gone, its finalizer holds the arrays
    return note


@kernel
def _write(note: Note, value: Any) -> None:
    _store(note, value)


def _fetch(typing_context: Any, note: Any, kind: Any, part: Any) -> Any:
    """A named tuple (class `part`) out of those in a note (numba type `kind`); no other one is
    loaded or compiled.
    """
    whole = kind.instance_type
    place = [each.instance_class for each in whole].index(part.instance_class)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start = _start(context, builder, note, arguments[0], whole)
        pointer = cgutils.gep_inbounds(builder, start, 0, place)
        return impl_ret_borrowed(
            context, builder, whole[place], context.unpack_value(builder, whole[place], pointer)
        )

    return whole[place](note, kind, part), generate


def _keep(typing_context: Any, note: Any, value: Any) -> Any:
    """Write a tuple to a note, its arrays without owners: they are not to be counted or freed."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _start(context, builder, note, arguments[0], value)
        context.pack_value(
            builder, value, _disowned(context, builder, value, arguments[1]), pointer
        )
        return context.get_dummy_value()

    return numba.types.void(note, value), generate


def _lend(typing_context: Any, value: Any) -> Any:
    """The same array, or tuple of arrays, without an owner: the caller keeps it alive."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _disowned(context, builder, value, arguments[0])

    return value(value), generate


fetch: Any = intrinsic(_fetch)
lent: Any = intrinsic(_lend)
"""For what is passed to other kernels: unless an array has no owner, each call counts its owners,
which takes long.
"""
_store: Any = intrinsic(_keep)


def _start(context: Any, builder: Any, note: Any, argument: Any, kind: Any) -> Any:
    """A pointer to the beginning of a note, which is large enough for values of this type."""
    size = context.get_abi_sizeof(context.get_data_type(kind))
    if size > 8 * ROOM:
        raise MemoryError(
            f"arrays of this type take {size} bytes of a note that has {8 * ROOM}; ROOM is too"
            " small"
        )
    array = context.make_array(note)(context, builder, argument)
    return builder.bitcast(array.data, context.get_data_type(kind).as_pointer())


def _disowned(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """The same value, no array of which has an owner."""
    if isinstance(kind, numba.types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        return array._getvalue()
    if isinstance(kind, numba.types.BaseTuple):
        parts: Any = kind
        for place, part in enumerate(parts):
            own = _disowned(context, builder, part, builder.extract_value(value, place))
            value = builder.insert_value(value, own, place)
    return value

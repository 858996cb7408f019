"""Many arrays in one note.

A compiled function that takes many arrays passes each of them on as a handful of numbers, at every call, through every
layer; compiling that takes longer than compiling what the functions do. So the arrays that a whole search shares are
written down once, in a note, and the note is passed on. The arrays live as long as their note.

The type of a note has a fingerprint of what it holds: compiled code from before a change is not taken for it.
"""

from __future__ import annotations

from typing import Any
from weakref import finalize
from zlib import crc32

import numba
import numpy as np
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic
from numpy.typing import NDArray

from causalcontext.kernels.compiling import kernel

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
    finalize(note, _let_go, value).atexit = False
    return note


def _let_go(value: Any) -> None:
    """Nothing: until a note is gone, its finalizer holds the arrays."""


@kernel
def _write(note: Note, value: Any) -> None:
    _store(note, value)


def _fetch(typing_context: Any, note: Any, kind: Any, part: Any) -> Any:
    """A named tuple out of those that a note holds; `kind` is the numba type of them all, `part` a class.

    What is not asked for is not loaded, and not compiled.
    """
    whole = kind.instance_type
    place = [each.instance_class for each in whole].index(part.instance_class)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start = _start(context, builder, note, arguments[0], whole)
        pointer = cgutils.gep_inbounds(builder, start, 0, place)
        return impl_ret_borrowed(context, builder, whole[place], context.unpack_value(builder, whole[place], pointer))

    return whole[place](note, kind, part), generate


def _keep(typing_context: Any, note: Any, value: Any) -> Any:
    """Write a tuple to a note, its arrays without owners: they are not to be counted or freed."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _start(context, builder, note, arguments[0], value)
        context.pack_value(builder, value, _disowned(context, builder, value, arguments[1]), pointer)
        return context.get_dummy_value()

    return numba.types.void(note, value), generate


def _lend(typing_context: Any, value: Any) -> Any:
    """The same array, or tuple of arrays, without an owner: the caller keeps it alive."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _disowned(context, builder, value, arguments[0])

    return value(value), generate


fetch: Any = intrinsic(_fetch)
lent: Any = intrinsic(_lend)
"""For what is passed to other kernels: unless an array has no owner, each call counts its owners, which takes long."""
_store: Any = intrinsic(_keep)


def _start(context: Any, builder: Any, note: Any, argument: Any, kind: Any) -> Any:
    """A pointer to the beginning of a note, which is large enough for values of this type."""
    size = context.get_abi_sizeof(context.get_data_type(kind))
    if size > 8 * ROOM:
        raise MemoryError(f"arrays of this type take {size} bytes of a note that has {8 * ROOM}; ROOM is too small")
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

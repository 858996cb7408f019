"""Numbers where they lie in memory, and the words that hold them: no array is made, copied or kept
alive.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.extending import intrinsic
from numpy.typing import NDArray

from causalcontext.kernels.arrays import Floats
from causalcontext.kernels.compiling import kernel

Words = NDArray[np.uint64]

_types: Any = numba.types
_array: Any = numba.carray  # type: ignore[attr-defined]


def _as_pointer(kind: Any) -> Any:
    """An intrinsic: an address as a pointer to numbers of some kind."""

    def pointed(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return _types.CPointer(kind)(_types.uint64), generate

    return intrinsic(pointed)


def _as_bits(of: Any, kind: Any) -> Any:
    """An intrinsic: the same 64 bits taken for a number of another kind."""

    def taken(typing_context: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.bitcast(arguments[0], context.get_value_type(signature.return_type))

        return kind(of), generate

    return intrinsic(taken)


def _fetch() -> Any:
    """An intrinsic: a hint that the line of memory at an address will be read soon; nothing happens
    if it cannot be.
    """

    def fetched(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            byte = context.get_value_type(_types.CPointer(_types.uint8))
            number = context.get_value_type(_types.int32)
            kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
            hint = builder.module.declare_intrinsic("llvm.prefetch", (byte,), kind)
            read, into_second_cache, data = (number(choice) for choice in (0, 2, 1))
            builder.call(
                hint, [builder.inttoptr(arguments[0], byte), read, into_second_cache, data]
            )
            return context.get_dummy_value()

        return _types.none(_types.uint64), generate

    return intrinsic(fetched)


fetch = _fetch()
_to_numbers = _as_pointer(_types.float64)
_to_words = _as_pointer(_types.uint64)
word_of = _as_bits(_types.float64, _types.int64)
value_of = _as_bits(_types.int64, _types.float64)


@kernel
def column_at(address: np.uint64, rows: int) -> Floats:
    """So many numbers that begin at an address; the caller keeps them alive."""
    found: Floats = _array(_to_numbers(address), (rows,))
    return found


@kernel
def words_at(address: np.uint64, rows: int) -> Words:
    """So many words that begin at an address."""
    found: Words = _array(_to_words(address), (rows,))
    return found

"""A process that only compiles: what numba can leave out where kernels go to the disk and none is called.

numba optimises every kernel and makes machine code of it, then does both again within each kernel that calls it. Here
only the outermost kernels become machine code. Those inside them are simplified, handed over, and optimised once, as
part of what contains them: as fast code in two thirds of the time.

This takes the place of some of numba's own code, so it is never done in a process that belongs to somebody else. Where
a version of numba differs, the process fails, and its kernels are compiled where they are called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from numba.core.caching import NullCache
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.targetconfig import TargetConfig

from causalcontext.kernels.compiling import kernels_made


class _Library(JITCodeLibrary):
    """The code of one kernel, which is machine code only if it is one of the outermost."""

    outermost: frozenset[str] = frozenset()

    def finalize(self) -> None:
        """The code is whole; it is optimised and made into machine code if it is outermost."""
        if self.name in self.outermost:
            super().finalize()
            return
        for library in dict.fromkeys(self._linking_libraries):
            if getattr(library, "_reload_init", None):  # versions of numba before 0.63 know no such thing
                self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True


def compile_only(kernels: Iterable[Any]) -> None:
    """From now on this process makes machine code of these kernels alone, and can call none but them."""
    chosen = frozenset(kernels)
    _Library.outermost = frozenset(kernel.py_func.__qualname__ for kernel in chosen)
    JITCPUCodegen._library_class = _Library
    _replace(JITCPUCodegen, "set_env", _set_env_if_defined)
    _replace(TargetConfig, "__eq__", _equal_at_a_glance)
    _replace(TargetConfig, "__hash__", _hash_of_class)
    for kernel in kernels_made:
        if kernel not in chosen:
            kernel._cache = NullCache()


def _replace(owner: type, name: str, made: Callable[[Any], Any]) -> None:
    """A method is replaced by one that is made of it."""
    setattr(owner, name, made(getattr(owner, name)))


def _set_env_if_defined(set_env: Any) -> Any:
    """How numba tells machine code where its constants are: for code that is there."""

    def set_if_defined(codegen: Any, name: str, constants: Any) -> None:
        if codegen._engine.is_symbol_defined(name):
            set_env(codegen, name, constants)

    return set_if_defined


def _equal_at_a_glance(equal: Any) -> Any:
    """How numba compares the options of kernels, tens of thousands of times: it writes all out, defaults too."""

    def equal_at_a_glance(one: Any, other: Any) -> Any:
        if type(one) is not type(other):
            return equal(one, other)
        given = one._values.keys() | other._values.keys()  # of the others both have the defaults
        return one._values == other._values or all(getattr(one, name) == getattr(other, name) for name in given)

    return equal_at_a_glance


def _hash_of_class(hash_of: Any) -> Any:
    """The hash of such options, which is that of their names: the same for all of a class."""
    known: dict[type, int] = {}

    def hash_of_class(options: Any) -> int:
        kind = type(options)
        if kind not in known:
            known[kind] = hash_of(options)
        return known[kind]

    return hash_of_class

"""How kernels are compiled, and where the compiled code is kept: `njit` of numba, that works without a writable home.

numba keeps compiled code beside the source, or else in the user's cache folder. Where neither can be written it refuses
to go on; here a private temporary folder follows, then no folder at all, and one warning says so.
"""

from __future__ import annotations

import os
import signal
import stat
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core.dispatcher import Dispatcher

from causalcontext.kernels.beside import wait_for

ADVICE = "set NUMBA_CACHE_DIR to a folder that can be written"
Function = TypeVar("Function", bound=Callable[..., Any])
_warned: set[str] = set()
settings: Any = numba.config  # made when numba is imported, so type checkers know nothing of it
types: Any = numba.types
kernels_made: list[Any] = []
"""Every kernel of the library."""


def njit(**options: Any) -> Callable[[Function], Function]:
    """numba's decorator, with a place for compiled code wherever there is one."""

    def compiled(function: Function) -> Function:
        made: Function = _undisturbed(compiled_in_some_folder(numba.njit, (), options, function))
        kernels_made.append(made)
        return _without_literals(made)

    return compiled


def inner(function: Function) -> Function:
    """numba's decorator for a kernel that other kernels call and Python never does: it has no door to Python.

    The door takes named tuples of arrays apart, which is more code than most kernels are.
    """
    return inner_njit()(function)


def inner_njit(**options: Any) -> Callable[[Function], Function]:
    """The same, with options of numba's."""
    return njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)


def is_on_disk(kernel: Any) -> bool:
    """Whether compiled code of a kernel, for this machine, is found on disk; True where nothing is kept."""
    file = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    if file is None:
        return True
    machine = kernel.targetctx.codegen().magic_tuple()
    try:
        return any(known == machine for _, known, *_ in file._load_index())
    except OSError:  # Windows lends no file that somebody else is writing
        return False


def _without_literals(made: Function) -> Function:
    """The kernel, compiled once for all numbers that other kernels call it with.

    numba takes a number that stands in the source, `search(0, x)`, for a type of its own, and compiles the kernel, and
    all that it calls, once more for it.
    """
    typed = getattr(made, "get_call_template", None)
    if typed is not None:  # not where compiling is switched off

        def template(args: Any, kws: Any) -> Any:
            plain = {name: types.unliteral(kind) for name, kind in kws.items()}
            return typed(tuple(types.unliteral(kind) for kind in args), plain)

        made.get_call_template = template  # type: ignore[attr-defined]
    return made


def compiled_in_some_folder(decorator: Any, arguments: tuple[Any, ...], options: dict[str, Any],
                            function: Callable[..., Any]) -> Any:  # fmt: skip
    """The function, compiled by a decorator of numba."""
    try:
        return decorator(*arguments, **options)(function)
    except RuntimeError:  # numba has no folder for the compiled code
        return _elsewhere(decorator, arguments, options, function)


def _undisturbed(made: Any) -> Any:
    """The same, compiled without interruption: a signal that raises inside numba or LLVM leaves wreckage or crashes."""
    if not isinstance(made, Dispatcher):  # NUMBA_DISABLE_JIT
        return made
    compile_now = made.compile

    def compile_undisturbed(*arguments: Any) -> Any:
        wait_for(made.py_func, lambda: is_on_disk(made))
        with held():
            return compile_now(*arguments)

    vars(made)["compile"] = compile_undisturbed  # numba asks the object, so its own comes first
    return made


@contextmanager
def held() -> Iterator[None]:
    """Ctrl-C waits until the block is done. Other threads than the main one never hear signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    if not callable(before):  # ignored, or not Python's business
        yield
        return
    waiting: list[tuple[int, Any]] = []
    signal.signal(signal.SIGINT, lambda number, frame: waiting.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if waiting:
        before(*waiting[0])


def _elsewhere(decorator: Any, arguments: tuple[Any, ...], options: dict[str, Any],
               function: Callable[..., Any]) -> Any:  # fmt: skip
    """The function, compiled with a temporary folder for the code, or without any."""
    folder, before = private_folder(), settings.CACHE_DIR
    if folder is not None:
        settings.CACHE_DIR = str(folder)  # read when a function is decorated, so only ours is affected
        try:
            made = decorator(*arguments, **options)(function)
        except RuntimeError:
            pass
        else:
            _warn(f"compiled code is kept in {folder}, since neither the library's folder nor yours can be written")
            return made
        finally:
            settings.CACHE_DIR = before
    _warn("compiled code is not kept, since no folder can be written: every process compiles anew, which takes long")
    return decorator(*arguments, **options | {"cache": False})(function)


def private_folder() -> Path | None:
    """A temporary folder that belongs to this user alone, or None: what is kept there is run later."""
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    try:
        folder = Path(tempfile.gettempdir(), f"causalcontext-{user}")
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    ours = not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not stat.S_IMODE(found.st_mode) & 0o077)
    return folder if ours and stat.S_ISDIR(found.st_mode) else None


def _warn(sentence: str) -> None:
    """Say it once."""
    if sentence not in _warned:
        _warned.add(sentence)
        warnings.warn(f"{sentence}; {ADVICE}", RuntimeWarning, stacklevel=2)

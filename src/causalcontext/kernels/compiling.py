"""How kernels are compiled, and where compiled code is kept.

`@kernel` marks a function that numba compiles. Python calls it through `numba.njit`, another kernel
through `numba.extending.overload`, as numba's documentation describes both; nothing inside numba is
replaced. What only kernels call is compiled as a part of them.

Compiled code is kept beside the source, else in the user's cache folder, else in a private
temporary folder, under a name made of the sources of all kernels: numba itself looks at the file of
the outermost kernel alone, and would go on using code in which another kernel has changed. Where
nothing can be written, every process compiles anew.
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import stat
import sys
import tempfile
import threading
from collections.abc import Callable
from functools import cache, partial, wraps
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, overload

import numba
import numba.extending
from numba.core import event

PACKAGE = Path(__file__).parents[1]
ADVICE = "set NUMBA_CACHE_DIR to a folder that can be written"
Function = TypeVar("Function", bound=Callable[..., Any])
settings: Any = numba.config  # made when numba is imported, so type checkers know nothing of it
_lock = threading.RLock()
logger = logging.getLogger("causalcontext.compiling")
only_for_disk = False
"""Whether this process compiles for others, and is of no use where nothing can be written."""
_given_up: list[str] = []
"""Why compiled code is no longer kept, once it could not be written."""
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": False,
    "no_cfunc_wrapper": True,
}
"""Said outright: numba lets a part take over what its caller has."""
_PART: dict[str, Any] = {"no_cpython_wrapper": True}
"""Of a part of other kernels: unpacking a named tuple of twenty arrays is more code than most
kernels are.
"""


@overload
def kernel(function: Function, /) -> Function: ...
@overload
def kernel(**options: Any) -> Callable[[Function], Function]: ...
def kernel(function: Any = None, /, **options: Any) -> Any:
    """A compiled function, for Python and for other kernels; `options` are those of `numba.njit`.

    Examples
    --------
    >>> @kernel
    ... def twice(x):
    ...     return 2.0 * x
    >>> @kernel(fastmath={"contract"})
    ... def thrice(x):
    ...     return twice(x) + x
    >>> thrice(1.5)
    4.5
    """
    if function is None:
        return partial(kernel, **options)
    options = _OPTIONS | options
    compiled: Any = None

    @wraps(function)
    def call(*arguments: Any) -> Any:
        nonlocal compiled
        if compiled is None:
            compiled = compiled_by(numba.njit, function, options)
        try:
            return compiled(*arguments)
        except OSError as error:  # raised while the code was written: no kernel opens a file itself
            give_up_keeping(error)
            compiled = compiled_by(numba.njit, function, options)
            return compiled(*arguments)

    jit_options: Any = options | _PART
    overload_of_call = numba.extending.overload(call, jit_options=jit_options, strict=False)
    overload_of_call(lambda *arguments: function)
    return call


def compiled_by(decorator: Any, function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """A function compiled by a decorator of numba, which keeps the code on disk if it can be
    written.
    """
    with _lock:
        folder = None if _given_up else code_folder()
        if folder is None:
            return decorator(**options)(function)
        before = settings.CACHE_DIR  # read while a function is decorated
        settings.CACHE_DIR = str(folder)
        try:
            return decorator(cache=True, **options)(function)
        except (OSError, RuntimeError) as error:  # the disk is full, or numba cannot use the folder
            give_up_keeping(error)
            return decorator(**options)(function)
        finally:
            settings.CACHE_DIR = before


def give_up_keeping(error: Exception) -> None:
    """From now on this process keeps no compiled code, and says so once; one that compiles for
    others ends here.
    """
    if only_for_disk:
        raise error
    if not _given_up:
        _given_up.append(str(error))
        logger.warning(
            "compiled code cannot be written (%s), so every process compiles anew, which takes"
            " long; %s",
            error,
            ADVICE,
        )


@cache
def code_folder() -> Path | None:
    """The folder of compiled code of these sources, or None if nothing can be written."""
    name = f"causalcontext-kernels-{sources()}"
    for base in _bases():
        folder = base / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder) as file:
                file.write(bytes(1 << 16))
        except OSError:
            continue
        if base == PACKAGE / "__pycache__":
            for other in folder.parent.glob("causalcontext-kernels-*"):
                if other != folder:
                    shutil.rmtree(other, ignore_errors=True)
        return folder
    give_up_keeping(OSError("no folder can be written"))
    return None


@cache
def sources() -> str:
    """A short name for the sources of all kernels."""
    found = sha256()
    for path in sorted((PACKAGE / "kernels").rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()[:12]


def _bases() -> list[Path]:
    """Where compiled code may be kept, the best place first; `NUMBA_CACHE_DIR` alone where that is
    set.
    """
    if settings.CACHE_DIR:
        return [Path(settings.CACHE_DIR)]
    home = {"win32": "~/AppData/Local", "darwin": "~/Library/Caches"}.get(sys.platform, "~/.cache")
    own = Path(os.environ.get("XDG_CACHE_HOME") or home).expanduser()
    private = private_folder()
    return [PACKAGE / "__pycache__", own, *([private] if private else [])]


def private_folder() -> Path | None:
    """A temporary folder that belongs to this user alone, or None: what is kept there is run
    later.
    """
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    try:
        folder = Path(tempfile.gettempdir(), f"causalcontext-{user}")
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    ours = not hasattr(os, "getuid") or (
        found.st_uid == os.getuid() and not stat.S_IMODE(found.st_mode) & 0o077
    )
    return folder if ours and stat.S_ISDIR(found.st_mode) else None


class CtrlCWaits(event.Listener):
    """Ctrl-C waits until numba is done: an exception raised inside the compiler leaves it broken,
    or crashes.

    Only the main thread receives signals.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._before: Any = None
        self._waiting: list[tuple[int, Any]] = []

    def on_start(self, happened: Any) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        self._depth += 1
        if self._depth == 1:
            self._before = signal.getsignal(signal.SIGINT)
            if callable(self._before):  # else it is ignored, or not Python's business
                signal.signal(
                    signal.SIGINT, lambda number, frame: self._waiting.append((number, frame))
                )

    def on_end(self, happened: Any) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        self._depth -= 1
        if self._depth == 0 and callable(self._before):
            signal.signal(signal.SIGINT, self._before)
            if self._waiting:
                first = self._waiting[0]
                self._waiting = []
                self._before(*first)


event.register("numba:compiler_lock", CtrlCWaits())

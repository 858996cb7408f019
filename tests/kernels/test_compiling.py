"""Kernels are compiled once for all numbers, for Python and for other kernels, and kept where that
is possible.
"""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core import event

import causalcontext
from causalcontext.kernels import compiling, handles
from causalcontext.kernels.compiling import kernel, private_folder, sources


class Compiled(event.Listener):
    """What is compiled, by name; `meanwhile` is called at the beginning of each."""

    def __init__(self, meanwhile: Any = lambda: None) -> None:
        self.names: list[str] = []
        self._meanwhile = meanwhile

    def on_start(self, happened: Any) -> None:
        self.names.append(happened.data["dispatcher"].py_func.__name__)
        self._meanwhile()

    def on_end(self, happened: Any) -> None:
        pass


@pytest.fixture
def kept_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an earlier run has compiled is compiled again."""
    monkeypatch.setattr(compiling, "code_folder", lambda: None)


@kernel
def times(count: int, value: float) -> float:
    return count * value


@kernel
def sum_of_three(count: int, value: float) -> float:
    return times(0, value) + times(1, value) + times(count, value)


@pytest.mark.usefixtures("kept_nowhere")
def test_a_kernel_inside_others_is_compiled_once_for_all_numbers() -> None:
    heard = Compiled()
    with event.install_listener("numba:compile", heard):
        assert sum_of_three(3, 2.0) == 8.0
    assert sorted(heard.names) == ["sum_of_three", "times"]


def test_python_may_call_what_is_inside_others() -> None:
    assert times(2, 3.0) == 6.0
    assert times.__name__ == "times"


def test_nothing_of_numba_is_replaced() -> None:
    """Our modules assign to no attribute of numba's classes and objects, but for its documented
    settings.
    """
    folder = Path(causalcontext.__file__).parent
    for path in [*(folder / "kernels").rglob("*.py"), folder / "methods" / "ahead.py"]:
        for line in path.read_text().splitlines():
            assert "setattr(" not in line, path
            assert "._cache" not in line, path
            assert "get_call_template" not in line, path
    assert type(numba.njit(times.__wrapped__)).compile.__module__ == "numba.core.dispatcher"  # type: ignore[attr-defined]


CODE = """
import tempfile
tempfile.tempdir = {temporary!r}
import causalcontext
from causalcontext.kernels.special import digamma
{more}
print(round(digamma(1.0), 4), round(digamma(2.0), 4))
"""


@pytest.fixture
def frozen(tmp_path: Path) -> Path:
    """A copy of the library that cannot be written, even by root: a file stands where the folder
    would be.
    """
    source = Path(causalcontext.__file__).parent
    shutil.copytree(
        source, tmp_path / "causalcontext", ignore=shutil.ignore_patterns("__pycache__")
    )
    for folder in [tmp_path / "causalcontext", *(tmp_path / "causalcontext").rglob("*/")]:
        (folder / "__pycache__").touch()
    (tmp_path / "home").touch()
    (tmp_path / "temporary").mkdir()
    return tmp_path


def run_without_home(
    folder: Path, temporary: Path, more: str = ""
) -> subprocess.CompletedProcess[str]:
    home = str(folder / "home")
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    environment |= {"HOME": home, "XDG_CACHE_HOME": home, "PYTHONPATH": str(folder)}
    code = CODE.format(temporary=str(temporary), more=more)
    return subprocess.run(
        [sys.executable, "-B", "-c", code], capture_output=True, text=True, env=environment
    )


@pytest.mark.slow
def test_compiled_code_goes_to_a_temporary_folder(frozen: Path) -> None:
    run = run_without_home(frozen, frozen / "temporary")
    assert run.stdout == "-0.5772 0.4228\n", run.stderr
    assert run.stderr == ""
    (made,) = (frozen / "temporary").iterdir()
    assert made.stat().st_mode & 0o077 == 0
    assert list(made.rglob("*.nbi"))


def test_or_nowhere(frozen: Path) -> None:
    run = run_without_home(frozen, frozen / "home")
    assert run.stdout == "-0.5772 0.4228\n", run.stderr
    assert (
        run.stderr
        == "compiled code cannot be written (no folder can be written), so every process compiles"
        " anew, which takes long; set NUMBA_CACHE_DIR to a folder that can be written\n"
    )


FULL = """
import resource
from causalcontext.kernels.compiling import code_folder
code_folder()
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_a_disk_that_becomes_full_costs_time_alone(frozen: Path) -> None:
    """No file can grow beyond a thousand bytes from some moment on."""
    run = run_without_home(frozen, frozen / "temporary", FULL)
    assert run.stdout == "-0.5772 0.4228\n", run.stderr
    assert len(run.stderr.splitlines()) == 1
    assert "compiled code cannot be written ([Errno 27] File too large)" in run.stderr


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs owners of files")
def test_a_folder_that_others_can_write_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    found = private_folder()
    assert found is not None
    found.chmod(0o777)
    assert private_folder() is None
    found.rmdir()
    found.symlink_to(tmp_path)
    assert private_folder() is None


def test_code_of_other_sources_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """numba looks at the file of the outermost kernel alone; a change of any kernel has another
    folder.
    """
    monkeypatch.setattr(compiling, "PACKAGE", tmp_path)
    monkeypatch.setattr(compiling.settings, "CACHE_DIR", "")
    (tmp_path / "kernels").mkdir()
    names = []
    for text in ("one", "two", "one"):
        (tmp_path / "kernels" / "inside.py").write_text(text)
        sources.cache_clear()
        compiling.code_folder.cache_clear()
        folder = compiling.code_folder()
        assert folder is not None
        assert [folder] == list((tmp_path / "__pycache__").iterdir()), (
            "what can be used no more is removed"
        )
        names.append(folder.name)
    sources.cache_clear()
    compiling.code_folder.cache_clear()
    assert names[0] == names[2] != names[1]


@pytest.fixture
def heard() -> Iterator[None]:
    """Ctrl-C is heard, also where a shell runs the tests in its background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("kept_nowhere")
@pytest.mark.usefixtures("heard")
def test_ctrl_c_waits_for_the_compiler() -> None:
    @kernel
    def twice(x: float) -> float:
        return 2.0 * x

    compiled = Compiled(lambda: os.kill(os.getpid(), signal.SIGINT))
    with event.install_listener("numba:compile", compiled), pytest.raises(KeyboardInterrupt):
        twice(1.5)
    assert compiled.names == ["twice"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert twice(1.5) == 3.0
    assert compiled.names == ["twice"], "what was compiled then is there"


def test_threads_compile_too() -> None:
    @kernel
    def thrice(x: float) -> float:
        return 3.0 * x

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(thrice, [1.0, 2.0, 3.0])) == [3.0, 6.0, 9.0]


def test_kernels_can_be_sent_to_other_processes() -> None:
    assert pickle.loads(pickle.dumps(times)) is times


def test_a_note_that_is_too_small_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rather than written beyond its end."""
    monkeypatch.setattr(handles, "ROOM", 2)
    kind = numba.typeof((np.zeros(1), np.zeros((1, 1))))
    with pytest.raises(Exception, match="ROOM is too small"):
        handles.note_of((np.zeros(1), np.zeros((1, 1))), kind)

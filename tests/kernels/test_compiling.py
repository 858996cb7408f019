"""Kernels are compiled once for all numbers, and kept: beside the source, elsewhere, or nowhere."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import causalcontext
from causalcontext.kernels.compiling import held, is_on_disk, njit, private_folder, settings

CODE = """
import tempfile
tempfile.tempdir = {temporary!r}
import causalcontext
from causalcontext.kernels.special import digamma
print(round(digamma(1.0), 4))
"""


@pytest.fixture
def frozen(tmp_path: Path) -> Path:
    """A copy of the library that cannot be written, even by root: a file stands where the folder would be."""
    source = Path(causalcontext.__file__).parent
    shutil.copytree(source, tmp_path / "causalcontext", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [tmp_path / "causalcontext", *(tmp_path / "causalcontext").rglob("*/")]:
        (folder / "__pycache__").touch()
    (tmp_path / "home").touch()
    (tmp_path / "temporary").mkdir()
    return tmp_path


def imported(folder: Path, temporary: Path) -> subprocess.CompletedProcess[str]:
    home = str(folder / "home")
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    environment |= {"HOME": home, "XDG_CACHE_HOME": home, "PYTHONPATH": str(folder)}
    code = CODE.format(temporary=str(temporary))
    return subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, env=environment)


def test_compiled_code_goes_to_a_temporary_folder(frozen: Path) -> None:
    run = imported(frozen, frozen / "temporary")
    assert run.stdout == "-0.5772\n", run.stderr
    assert run.stderr.count("RuntimeWarning") == 1
    assert "compiled code is kept in" in run.stderr
    (made,) = (frozen / "temporary").iterdir()
    assert made.stat().st_mode & 0o077 == 0
    assert list(made.rglob("*.nbi"))


def test_or_nowhere(frozen: Path) -> None:
    run = imported(frozen, frozen / "home")
    assert run.stdout == "-0.5772\n", run.stderr
    assert run.stderr.count("RuntimeWarning") == 1
    assert "compiled code is not kept" in run.stderr


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs owners of files")
def test_a_folder_that_others_can_write_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    found = private_folder()
    assert found is not None
    found.chmod(0o777)
    assert private_folder() is None
    found.rmdir()
    found.symlink_to(tmp_path)
    assert private_folder() is None


@njit(nogil=True)
def called(count: int, value: float) -> float:
    return count * value


@njit(nogil=True)
def calling(count: int, value: float) -> float:
    return called(0, value) + called(1, value) + called(count, value)


def test_numbers_in_the_source_are_no_types_of_their_own():
    assert calling(3, 2.0) == 8.0
    assert [str(kind) for kind in called.signatures[0]] == ["int64", "float64"]
    assert len(called.signatures) == 1


def test_kernels_on_disk_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "CACHE_DIR", str(tmp_path))
    kernel = njit(cache=True)(lambda x: x + 1.0)
    assert not is_on_disk(kernel)
    assert kernel(1.0) == 2.0
    assert is_on_disk(kernel)
    monkeypatch.setattr(kernel._cache._cache_file, "_version", "another one")
    assert not is_on_disk(kernel)
    assert is_on_disk(called)  # nothing is kept of it

    def busy() -> None:
        raise PermissionError("somebody else is writing")

    monkeypatch.setattr(kernel._cache._cache_file, "_load_index", busy)
    assert not is_on_disk(kernel)


@pytest.fixture
def heard() -> Iterator[None]:
    """Ctrl-C is heard, also where a shell runs the tests in its background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard")
def test_ctrl_c_waits_for_the_compiler() -> None:
    done = []

    def compiling() -> None:
        with held(), held():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
            done.append(True)

    with pytest.raises(KeyboardInterrupt):
        compiling()
    assert done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_every_kernel_is_compiled_undisturbed() -> None:
    @njit()
    def twice(x: float) -> float:
        return 2.0 * x

    handlers = []

    def noted(number: int, frame: object) -> None:
        handlers.append(number)

    before = signal.signal(signal.SIGINT, noted)
    try:
        assert twice(1.5) == 3.0
        assert signal.getsignal(signal.SIGINT) is noted, "the handler of the user is back"
    finally:
        signal.signal(signal.SIGINT, before)
    assert twice.compile.__name__ == "compile_undisturbed"  # type: ignore[attr-defined]
    assert pickle.loads(pickle.dumps(twice))(2.0) == 4.0


def test_threads_compile_too() -> None:
    @njit()
    def thrice(x: float) -> float:
        return 3.0 * x

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(thrice, 1.0).result() == 3.0

"""The library can be imported where nothing can be written; compiled code then goes elsewhere, or nowhere."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import causalcontext
from causalcontext.kernels.compiling import private_folder

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

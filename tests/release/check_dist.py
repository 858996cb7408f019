"""What `make dist` built: does it hold what it should, and does the wheel work where nothing else
is?

    python tests/release/check_dist.py out/dist [--lowest] [--only 3.11]

For every Python from 3.11 that is found, its wheel is installed in a new environment without a
compiler, and runs the demo there; with `--lowest` on the oldest Python once more with the lowest
versions of its requirements that pyproject.toml allows (by uv, `lowest-direct`): newer Pythons came
after some of these. Python 3.11 has a wheel of its own, all newer ones share one with the stable
ABI (abi3), which 3.11 lacks some functions of.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
NEEDED = (
    "causalcontext/py.typed",
    "causalcontext/report/page/report.js",
    "causalcontext/report/page/report.html",
    "causalcontext/report/page/report.css",
    "causalcontext/cli/app.py",
    "causalcontext/examples/csv/soil.csv",
    "causalcontext/examples/csv/wages.csv",
    "causalcontext/_kernels.pyi",
    "causalcontext_command/__init__.py",
)
FOREIGN = (".pyc", ".nbi", ".nbc", "__pycache__", ".ipynb_checkpoints", ".venv")


def check_contents(wheel: Path, source: Path) -> None:
    """Nothing is missing, and nothing is there that was made by running things."""
    inside = zipfile.ZipFile(wheel).namelist()
    for name in NEEDED:
        assert name in inside, f"{wheel.name} lacks {name}"
    kernels = [name for name in inside if name.startswith("causalcontext/_kernels.")]
    kernels.remove("causalcontext/_kernels.pyi")
    assert len(kernels) == 1, f"{wheel.name} has these modules of kernels: {kernels}"
    assert any(name.endswith("licenses/LICENSE") for name in inside), "the wheel lacks the licence"
    with tarfile.open(source) as archive:
        packed = archive.getnames()
    for name in ("tests/naive.py", "src/kernels/array.hpp", "CMakeLists.txt"):
        assert any(path.endswith(f"/{name}") for path in packed), f"the source lacks {name}"
    for name in (*inside, *packed):
        assert not any(part in name for part in FOREIGN), f"{name} does not belong there"


def wheel_for(version: str, wheels: list[Path]) -> Path | None:
    """The wheel that a Python takes: its own, or the one that all newer Pythons share."""
    tag = "-cp311-cp311-" if version == "3.11" else "-cp312-abi3-"
    return next((wheel for wheel in wheels if tag in wheel.name), None)


def find_python(version: str) -> str | None:
    """A Python of this version that runs: a command may be pyenv's, and stand for one that is not
    switched on.
    """
    name, pyenv = f"python{version}", Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = [shutil.which(name), *map(str, sorted(pyenv.glob(f"versions/{version}.*/bin/{name}")))]
    for python in found:
        if (
            python
            and subprocess.run(
                [python, "-c", "import ensurepip, venv"], capture_output=True
            ).returncode
            == 0
        ):
            return python
    return None


def check_wheel(wheel: Path, python: str, lowest: bool) -> str:
    """Install the wheel in a new environment, run the demo, read its result; returned is what was
    installed.
    """
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        _run(python, "-m", "venv", str(home / "venv"))
        own = str(home / "venv" / "bin" / "python")
        if lowest:
            _run(
                sys.executable,
                "-m",
                "uv",
                "pip",
                "install",
                "--quiet",
                "--python",
                own,
                "--resolution",
                "lowest-direct",
                f"{wheel}[parquet]",
                *_requirements(),
            )
        else:
            _run(
                own,
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                f"{wheel}[parquet]",
                bare=True,
            )
        _run(
            str(home / "venv" / "bin" / "causalcontext"),
            "demo",
            "--json",
            str(home / "demo.json"),
            "--report",
            str(home / "demo.html"),
            cwd=home,
            bare=True,
        )
        assert json.loads((home / "demo.json").read_text())["format"] == "causalcontext-result"
        wanted = ["numpy", "scipy", "pandas", "narwhals", "matplotlib", "typer"]
        code = (
            "from importlib.metadata import version as v; print(*(n + ' ' + v(n) for n in"
            f" {wanted!r}), sep=', ')"
        )
        return _run(own, "-c", code).strip()


def _requirements() -> list[str]:
    """What pyproject.toml asks for: named beside the wheel they are direct, so that the lowest
    versions are taken.
    """
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    return [*project["dependencies"], *project["optional-dependencies"]["parquet"]]


def _run(*words: str, cwd: Path | None = None, bare: bool = False) -> str:
    """What a command prints; a bare one finds no program but those of its own folder, so that it
    has no compiler.
    """
    environment = dict(os.environ)
    if bare:
        missing = "/nonexistent"
        environment |= {"PATH": str(Path(words[0]).parent), "CC": missing, "CXX": missing}
    run = subprocess.run(words, capture_output=True, text=True, cwd=cwd, env=environment)
    assert run.returncode == 0, f"{' '.join(words)}\n{run.stdout}\n{run.stderr}"
    return run.stdout


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument(
        "--lowest", action="store_true", help="once more with the lowest versions that are allowed"
    )
    options.add_argument("--only", choices=VERSIONS)
    chosen = options.parse_args()
    wheels = sorted(path.resolve() for path in chosen.folder.glob("*.whl"))
    (source,) = chosen.folder.glob("*.tar.gz")
    for wheel in wheels:
        check_contents(wheel, source)
        print(f"{wheel.name} and {source.name} hold what they should")
    for version in [chosen.only] if chosen.only else VERSIONS:
        python, fitting = find_python(version), wheel_for(version, wheels)
        if python is None:
            print(f"Python {version} is not here")
            continue
        assert fitting is not None, f"no wheel for Python {version} in {chosen.folder}"
        for lowest in (False, True) if chosen.lowest and version == VERSIONS[0] else (False,):
            print(
                f"Python {version}: without a compiler the demo runs with"
                f" {check_wheel(fitting, python, lowest)}",
                flush=True,
            )


if __name__ == "__main__":
    main()

"""Wheels of this machine, built from the source distribution as `pip install` would.

    python tests/release/build_wheels.py out/dist

One for Python 3.11 and one for all newer ones, where such a Python is found: from 3.12 on the
stable ABI (abi3) has what the bindings need. Those of other systems are built by
.github/workflows/wheels.yml.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from check_dist import VERSIONS, find_python


def build_wheel(python: str, source: Path, folder: Path) -> None:
    """A wheel of the source distribution, made for a Python by the build tools that pip gets it."""
    words = ["-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps"]
    subprocess.run([python, *words, "--wheel-dir", str(folder), str(source)], check=True)


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("folder", type=Path)
    folder = options.parse_args().folder
    (source,) = folder.glob("*.tar.gz")
    oldest, *newer = VERSIONS
    pythons = [find_python(oldest), next(filter(None, map(find_python, newer)), None)]
    for python in filter(None, pythons):
        build_wheel(python, source, folder)
    if not any(pythons):
        sys.exit(f"no Python of {', '.join(VERSIONS)} is found")


if __name__ == "__main__":
    main()

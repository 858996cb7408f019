"""The first minutes of a newcomer: the commands and code of the first pages, as they are typed, in
a minimal install.

    python tests/release/first_minutes.py [--pages README.md docs/getting-started.md docs/how-to.md]

What git has is cloned into a new folder; there the commands of a page run in one shell, in their
order, in the environment that they make themselves: no extras for developers, nothing activated but
by the page. Then its Python code runs in the same shell, and prints what the page says. Pages with
code that are not run here are listed at the end: `tests/test_docs.py` runs these, with everything
installed.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "docs/getting-started.md", "docs/how-to.md")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ACTIVATED = "source .venv/bin/activate"
"""Who reads on is in the terminal of the page before: a page that sets nothing up begins in its
environment.
"""
MARK = "---- end of block"
SECONDS = 900
"""A page takes a minute or two on two cores; what takes so long hangs."""


def blocks_of(page: Path) -> list[tuple[str, str]]:
    """Language and text of the code blocks of a page."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def expected_outputs(blocks: list[tuple[str, str]]) -> list[str | None]:
    """What the page says that each of its Python blocks prints; None where it says nothing."""
    outputs: list[str | None] = []
    last_is_python = False
    for language, text in blocks:
        if language == "python":
            outputs.append(None)
        elif language == "" and last_is_python:
            outputs[-1] = text.strip()
        last_is_python = language == "python"
    return outputs


def script_of(blocks: list[tuple[str, str]], code: Path) -> str:
    """The commands of a page as a script of the shell, and its Python code at their end."""
    commands = [text for language, text in blocks if language == "sh"]
    python = [text for language, text in blocks if language == "python"]
    code.write_text(
        "".join(f"{text}\nprint({MARK!r}, flush=True)\n" for text in python), encoding="utf-8"
    )
    if not any("activate" in text for text in commands):
        commands = [ACTIVATED, *commands]
    return "\n".join(
        ["set -e", *commands, f"echo '{MARK}'", *([f"python '{code}'"] if python else [])]
    )


def left_out(pages: Sequence[str]) -> tuple[list[str], list[str]]:
    """Pages with code that are not typed here: those whose Python other tests run, and those of
    which nothing is run.
    """
    installed: list[str] = []
    never: list[str] = []
    for page in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]):
        name = str(page.relative_to(ROOT))
        languages = {language for language, _ in blocks_of(page)}
        if name in pages or not languages:
            continue
        tested = name == "README.md" or name.startswith("docs/")
        (installed if "python" in languages and tested else never).append(name)
    return installed, never


def run_page(name: str, clone: Path, folder: Path) -> str:
    """Run a page in a clone; returned is a line about it, and what is wrong ends the program."""
    blocks = blocks_of(ROOT / name)
    script = script_of(blocks, folder / f"{Path(name).stem}.py")
    begin = monotonic()
    bare = {
        key: value
        for key, value in os.environ.items()
        if key not in ("PYTHONPATH", "VIRTUAL_ENV", "MAKEFLAGS")
    }
    done = subprocess.run(
        ["bash", "-c", script], cwd=clone, env=bare, capture_output=True, text=True, timeout=SECONDS
    )
    if done.returncode:
        sys.exit(
            f"{name} does not run as it is written (exit code"
            f" {done.returncode}):\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        )
    printed = [part.strip() for part in done.stdout.split(MARK)[1:-1]]
    for said, found in zip(expected_outputs(blocks), printed, strict=True):
        if said is not None and said != found:
            sys.exit(f"{name} says that this is printed:\n{said}\n\nbut it is:\n{found}")
    commands = sum(language == "sh" for language, _ in blocks)
    return (
        f"{name}: {commands} blocks of commands and {len(printed)} of Python in"
        f" {monotonic() - begin:.0f} s"
    )


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--pages", nargs="+", default=PAGES)
    pages = options.parse_args().pages
    with tempfile.TemporaryDirectory() as name:
        folder, clone = Path(name), Path(name, "clone")
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        for page in pages:
            print(run_page(page, clone, folder), flush=True)
    installed, never = left_out(pages)
    print(
        "not run as a newcomer would, but their Python with everything installed"
        f" (tests/test_docs.py): {', '.join(installed)}"
    )
    print(f"not run, commands and outputs alone: {', '.join(never)}")
    notebooks = sorted(path.name for path in (ROOT / "docs").rglob("*.ipynb"))
    print(f"run with everything installed (tests/test_tutorials.py): {', '.join(notebooks)}")


if __name__ == "__main__":
    main()

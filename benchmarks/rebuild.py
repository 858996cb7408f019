"""What an edit of a header costs: which files of bindings include it, and the seconds of compiling.

    python benchmarks/rebuild.py

Every file of bindings is compiled once, one after the other, as `make kernels` would; nothing is
left behind. Printed are processor seconds, and what two cores need for the files that include a
header: the sum in halves, but never less than the longest of them. Linking takes a second more.
"""

from __future__ import annotations

import json
import re
import resource
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring import machine, markdown_table

ROOT = Path(__file__).parents[1]
HEADERS = ROOT / "src" / "kernels"
INCLUDED = re.compile(r'^#include "(\w+)\.hpp"$', re.MULTILINE)


def main() -> None:
    """Print a row for every header, and one for everything."""
    print(f"{machine()}\n")
    seconds = {Path(file).stem: _seconds(words) for file, words in _commands().items()}
    rows = []
    for header in sorted(HEADERS.glob("*.hpp")):
        touched = [name for name in seconds if header.stem in _reached(name)]
        rows.append(_row(header.name, touched, seconds))
    rows.sort(key=lambda row: float(row[-1]), reverse=True)
    header_line = ["edited", "files of bindings", "processor s", "s on two cores"]
    print(markdown_table(header_line, [_row("everything", list(seconds), seconds), *rows]))


def _row(edited: str, touched: list[str], seconds: dict[str, float]) -> list[str]:
    spent = [seconds[name] for name in touched]
    on_two = max(sum(spent) / 2, max(spent))
    named = ", ".join(touched) if len(touched) <= 4 else str(len(touched))
    return [edited, named, f"{sum(spent):.1f}", f"{on_two:.1f}"]


def _commands() -> dict[str, list[str]]:
    """How ninja compiles every file of bindings, in the newest folder that it built in."""
    folders = sorted(ROOT.glob("build/cp*"), key=lambda path: path.stat().st_mtime)
    if not folders:
        sys.exit("nothing is built yet: run make kernels")
    ninja = Path(sys.executable).with_name("ninja")
    run = subprocess.run(
        [str(ninja), "-C", str(folders[-1]), "-t", "compdb"],
        check=True,
        capture_output=True,
        text=True,
    )
    entries = json.loads(run.stdout[run.stdout.index("[\n") :])
    return {
        entry["file"]: shlex.split(entry["command"])
        for entry in entries
        if entry["file"].endswith(".cpp") and "kernels/bindings" in entry["file"]
    }


def _seconds(words: list[str]) -> float:
    """Processor seconds of a call of the compiler that writes into a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        output = words.index("-o") + 1
        words = [*words[:output], f"{folder}/made.o", *words[output + 1 :]]
        if "-MF" in words:
            words[words.index("-MF") + 1] = f"{folder}/made.d"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(words, check=True, cwd=folder)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _reached(binding: str) -> set[str]:
    """The headers that a file of bindings includes, and what these include."""
    found: set[str] = set()
    open_texts = [(HEADERS / "bindings" / f"{binding}.cpp").read_text(encoding="utf-8")]
    while open_texts:
        for name in INCLUDED.findall(open_texts.pop()):
            path = HEADERS / f"{name}.hpp"
            if name not in found and path.exists():
                found.add(name)
                open_texts.append(path.read_text(encoding="utf-8"))
    return found


if __name__ == "__main__":
    main()

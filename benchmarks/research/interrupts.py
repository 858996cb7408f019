"""Ctrl-C at random moments, over every family of kernels, from Python and from the command line.

    python benchmarks/research/interrupts.py [--signals 240] [--family NAME] [--seed 0] [--longest 3]
    python benchmarks/research/interrupts.py --family "all commands" --signals 255 --longest 4

Every family runs in a process of its own, since a crash ends the process. A signal may find the
search before it began (KeyboardInterrupt), or in the middle (InterruptedSearch with what was
decided); anything else, a crash above all, is a failure. On the command line the exit code must be
130, or 0 where the signal came too late.

"all commands" sends signals to every command in turn, from the moment its process begins; then a
search must find the marks that it found before.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import causalcontext as cc
from causalcontext.examples import proteins

sys.path.insert(0, str(Path(__file__).parents[1]))

from measuring import machine, markdown_table

LONGEST = 3.0
"""Seconds after which a signal comes at the latest."""
AGAIN = 10.0
"""Seconds until a signal that was not heard is sent again."""
COMMAND_LINE = "command line"
ALL_COMMANDS = "all commands"


def small() -> pd.DataFrame:
    """A table of numbers of which a search with slow tests takes seconds."""
    return proteins(0, "log", 900)[["Raf", "Mek", "Erk", "PKA", "condition"]]


def wide() -> pd.DataFrame:
    """Everything depends on everything, so that there are sets without end."""
    generator = np.random.default_rng(0)
    values = generator.standard_normal((400, 40)) + generator.standard_normal((400, 1))
    return pd.DataFrame(values, columns=[f"V{i}" for i in range(40)]).assign(
        R=generator.integers(0, 2, 400)
    )


def categories() -> pd.DataFrame:
    """A table of categories alone."""
    table = cc.examples.clinic(4000, seed=0)
    levels = {
        name: pd.qcut(table[name], 4, labels=list("abcd")).astype(str)
        for name in ("age", "pressure", "dose")
    }
    return table[["smoker", "status"]].assign(**levels)


def searching(
    table: Callable[[], pd.DataFrame], context: str, **options: Any
) -> Callable[[], Callable[[], Any]]:
    return lambda: partial(cc.discover, table(), context, **options)


def calibrating() -> Callable[[], Any]:
    return partial(cc.calibrate, cc.examples.soil_moisture(300, seed=0), "soil")


def drawing_again() -> Callable[[], Any]:
    return partial(cc.discover(small(), "condition", method="pc-ac").stability, 20)


def asking() -> Callable[[], Any]:
    result = cc.discover(proteins(0, "log", 3000), "condition", max_given=1, method="pc-ac")
    pairs = [(x, y) for x in result.names for y in result.names if x < y]
    return lambda: [result.explain(*pair) for pair in pairs]


FAMILIES: dict[str, Callable[[], Callable[[], Any]]] = {
    "robust-change": searching(lambda: proteins(0), "condition", method="pc-ac", alpha=0.01),
    "robust-change, two threads": searching(
        lambda: proteins(0), "condition", method="pc-ac", alpha=0.01, n_jobs=2
    ),
    "partial-correlation": searching(wide, "R", method="pc-ac", test="partial-correlation"),
    "auto on mixed columns": searching(lambda: cc.examples.clinic(3000, seed=0), "status"),
    "g-squared": searching(categories, "status", method="pc-ac", test="g-squared"),
    "cmi-knn": searching(small, "condition", method="pc-ac", test="cmi-knn"),
    "sandwich": searching(small, "condition", method="pc-ac", test="sandwich"),
    "gaussian-ranks": searching(small, "condition", method="pc-ac", test="gaussian-ranks"),
    "score-ac": searching(lambda: proteins(0, "log", 3000), "condition", method="score-ac"),
    "score-ac, exact": searching(
        lambda: cc.examples.soil_moisture(2000, 0), "soil", method="score-ac", search="exact"
    ),
    "calibrate": calibrating,
    "stability": drawing_again,
    "explain": asking,
}


def outcome_of(call: Callable[[], Any]) -> str:
    """What became of a call, made again and again, when a signal met it."""
    try:
        while True:
            call()
    except cc.InterruptedSearch as stop:
        return "kept" if stop.result is not None else "FAILED: nothing is kept"
    except KeyboardInterrupt:
        return "nothing yet"


def interrupt(family: str, signals: int, seed: int, longest: float) -> None:
    """Send signals to this process while the family works; the outcomes are on stdout, and the
    seconds from every signal to the end of the call, which orients what is kept.
    """
    draw, call = random.Random(seed), FAMILIES[family]()
    found: Counter[str] = Counter()
    waits: list[float] = []
    for _ in range(signals):
        done, sent = threading.Event(), list[float]()
        after = draw.uniform(0.0, longest)
        sender = threading.Thread(target=_send, args=(after, done, found, sent))
        sender.start()
        outcome = outcome_of(call)
        waits.append(time.perf_counter() - sent[-1])
        done.set()
        sender.join()
        found[outcome] += 1
    print(json.dumps([found, waits]))


def _send(after: float, done: threading.Event, found: Counter[str], sent: list[float]) -> None:
    """A signal, and another one every few seconds where none was heard: Python drops an exception
    that is raised while an object is being deleted, or in a callback."""
    wait = after
    while not done.wait(wait):
        found["sent again"] += int(wait == AGAIN)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)
        wait = AGAIN


def interrupted_commands(signals: int, seed: int) -> Counter[str]:
    """Send a signal to commands that are searching."""
    draw, found = random.Random(seed), Counter()
    with tempfile.TemporaryDirectory() as folder:
        table, output = Path(folder, "table.parquet"), Path(folder, "out.json")
        proteins(0).to_parquet(table)
        for _ in range(signals):
            output.unlink(missing_ok=True)
            words = [
                "discover",
                str(table),
                "--context",
                "condition",
                "--method",
                "pc-ac",
                "--alpha",
                "0.01",
                "--json",
                str(output),
            ]
            with subprocess.Popen(
                [sys.executable, "-c", STARTED, *words],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            ) as process:
                assert process.stdout is not None
                assert process.stderr is not None
                process.stdout.readline()  # the library is imported
                time.sleep(draw.uniform(0.0, LONGEST))
                process.send_signal(signal.SIGINT)
                code = process.wait()
                error = process.stderr.read().decode()
            found[_judged(code, error, output)] += 1
    return found


def interrupted_in_turn(signals: int, seed: int, longest: float) -> Counter[str]:
    """Send a signal to every command in turn; a search afterwards finds what it found before."""
    draw, found = random.Random(seed), Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table, result = folder / "table.csv", folder / "result.json"
        cc.examples.soil_moisture(300, seed=1).to_csv(table, index=False)
        search = ["discover", str(table), "--context", "soil", "--json", str(result)]
        _run(search)
        expected, all_words = cc.load(result).graphs, _all_commands(table, result, folder)
        for number in range(signals):
            words = [
                sys.executable,
                "-m",
                "causalcontext",
                *all_words[number % len(all_words)],
            ]
            with subprocess.Popen(
                words,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            ) as process:
                time.sleep(draw.uniform(0.0, longest))
                process.send_signal(signal.SIGINT)
                error = process.communicate()[1].decode()
            found[
                _ending(process.returncode, error)
                or f"FAILED {words[3:5]} {process.returncode}: {error}"
            ] += 1
        result.unlink(missing_ok=True)
        _run(search)
        same = result.exists() and cc.load(result).graphs == expected
        found[
            "the next search finds the same marks" if same else "FAILED: the next search differs"
        ] += 1
    return found


def _ending(code: int, error: str) -> str:
    """How a command ended; empty if it should not have."""
    if "Traceback" not in error:
        return {
            0: "finished",
            130: "ended",
            -signal.SIGINT: "ended before Python could listen",
        }.get(code, "")
    own = [line for line in error.splitlines() if line.startswith("  File ") and '"<' not in line]
    return "" if own else "ended before Python had imported a line of the package"


def _run(words: list[str]) -> None:
    subprocess.run([sys.executable, "-m", "causalcontext", *words], capture_output=True)


def _all_commands(table: Path, result: Path, folder: Path) -> list[list[str]]:
    data, kept = [str(table), "--context", "soil"], folder / "kept.json"
    kept.write_bytes(result.read_bytes())
    x, y = cc.load(result).names[:2]
    a, b = map(str, cc.load(result).contexts[:2])
    return [
        ["discover", *data, "--json", str(folder / "out.json")],
        ["discover", *data, "--method", "pc-ac"],
        ["check", *data],
        ["contexts", str(table)],
        ["stability", *data, "--samples", "5"],
        ["calibrate", *data],
        ["demo"],
        ["explain", str(kept), x, y],
        ["changes", str(kept), a, b],
        ["effects", str(kept)],
        ["simulate", str(folder / "made.csv")],
        ["plot", str(kept), str(folder / "p.svg")],
        ["report", str(kept), str(folder / "p.html")],
        ["export", str(kept)],
        ["app", str(table), "--no-browser"],
    ]


STARTED = (
    "import causalcontext.cli.app; from causalcontext_command import main; print(flush=True);"
    " main()"
)


def _judged(code: int, error: str, output: Path) -> str:
    if code == 0:
        return "finished"
    if code != 130 or "Traceback" in error:
        return f"FAILED with {code}: {error.strip()[-200:]}"
    if not output.exists():
        return "nothing yet"
    return "kept" if not cc.load(output).complete else "FAILED: the file says that it is complete"


def _in_a_process(family: str, signals: int, seed: int, longest: float) -> Counter[str]:
    words = [
        sys.executable,
        __file__,
        "--family",
        family,
        "--signals",
        str(signals),
        "--seed",
        str(seed),
        "--longest",
        str(longest),
        "--here",
    ]
    run = subprocess.run(words, capture_output=True, text=True)
    if run.returncode:
        return Counter({f"FAILED with {run.returncode}: {run.stderr.strip()[-300:]}": signals})
    counts, waits = json.loads(run.stdout)
    slowest = f"of seconds until it ended: median {np.median(waits):.2f}, most {max(waits):.2f}"
    return Counter(counts) + Counter({slowest: len(waits)})


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument(
        "--signals", type=int, default=240, help="of all families together, or of one"
    )
    options.add_argument("--family", choices=[*FAMILIES, COMMAND_LINE, ALL_COMMANDS])
    options.add_argument("--seed", type=int, default=0)
    options.add_argument(
        "--longest", type=float, default=LONGEST, help="seconds until a signal comes, at most"
    )
    options.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a shell lets what runs in its background ignore Ctrl-C
    if chosen.here:
        interrupt(chosen.family, chosen.signals, chosen.seed, chosen.longest)
        return
    families = [chosen.family] if chosen.family else [*FAMILIES, COMMAND_LINE]
    each = -(-chosen.signals // len(families))
    print(machine())
    rows = []
    for family in families:
        found = (
            interrupted_in_turn(each, chosen.seed, chosen.longest)
            if family == ALL_COMMANDS
            else (
                interrupted_commands(each, chosen.seed)
                if family == COMMAND_LINE
                else _in_a_process(family, each, chosen.seed, chosen.longest)
            )
        )
        rows.append(
            [family, each, ", ".join(f"{name} {count}" for name, count in sorted(found.items()))]
        )
        print(*rows[-1], sep=": ", flush=True)
    print(markdown_table(["family", "signals", "what became of them"], rows))
    if any("FAILED" in row[2] for row in rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()

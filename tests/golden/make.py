"""The golden set: what the package says of 400 small tables, and whether it still does.

    python tests/golden/make.py                        # prints what differs from the files
    python tests/golden/make.py --only 'lags/pc-*'     # of some tables
    python tests/golden/make.py --write                # rewrites the files, after a change on purpose
    python tests/golden/make.py --write --part words   # one part of every record alone

A table is drawn from a seed that stands in its file. It is taken when it is new (or with `--draw`),
and has to be one at which no decision stands on the edge: with all numbers multiplied by 1 plus or
minus a billionth the record is the same, so that it is the same on another machine too. The files
hold a line for every part of a record; `differences.py` says what counts as equal.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any
from zlib import crc32

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

from differences import differences  # noqa: E402
from drawn import CASES, FILES, Case  # noqa: E402
from records import PARTS, Record, record  # noqa: E402

KEPT = FOLDER / "kept"
SHAKES = 4
"""How often a table is multiplied by noise; iterations that end a step sooner show in some."""
TRIES = 12
"""The seeds that are tried before a table counts as one that is always on an edge."""


def kept(file: str) -> dict[str, Record]:
    """The records of a file, by the names of their tables."""
    path = KEPT / f"{file}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def store(file: str, records: Mapping[str, Record]) -> None:
    """Write the records of a file, a line for every part."""
    tables = []
    for name in sorted(records):
        parts = [
            f"  {json.dumps(part)}: {compact(records[name][part])}"
            for part in ("seed", *PARTS)
            if part in records[name]
        ]
        tables.append(f" {json.dumps(name)}: {{\n" + ",\n".join(parts) + "\n }")
    KEPT.mkdir(exist_ok=True)
    whole = "{\n" + ",\n".join(tables) + "\n}\n"
    (KEPT / f"{file}.json").write_text(whole, encoding="utf-8")


def compact(value: Any) -> str:
    """A value in one line of JSON with sorted keys."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def compared(
    names: Iterable[str], parts: tuple[str, ...] = PARTS
) -> Iterator[tuple[str, list[str]]]:
    """Every table with the lines in which it differs from what is kept."""
    for name in names:
        case = CASES[name]
        before = kept(case.file).get(name)
        if before is None:
            yield name, ["not in the files: run make.py --write"]
            continue
        try:
            after = as_read(record(case, before["seed"]))
        except Exception as error:  # the other tables are compared all the same
            yield name, [f"raises {type(error).__name__}: {error}"]
            continue
        yield name, differences(before, after, parts)


def as_read(found: Record) -> Record:
    """The record as it is when it comes back from a file."""
    return json.loads(compact(found))


def report(found: Iterable[tuple[str, list[str]]]) -> str:
    """The differences of several tables as text; "" if there are none."""
    return "\n".join("\n    ".join((name, *lines)) for name, lines in found if lines)


def drawn_record(case: Case) -> Record:
    """The record of the first table of a case at which no decision stands on the edge."""
    first = crc32(case.name.encode()) % 100_000
    lines: list[str] = []
    for seed in range(first, first + TRIES):
        steady = as_read(record(case, seed))
        for shake in range(1, SHAKES + 1):
            lines = differences(steady, as_read(record(case, seed, shake)))
            if lines:
                break
        if not lines:
            return {"seed": seed, **steady}
        print(f"{case.name}, seed {seed} is on an edge: {lines[0]}", flush=True)
    raise SystemExit(f"{case.name}: every table is on an edge: {lines}")


def write(names: Iterable[str], parts: tuple[str, ...], draw: bool) -> None:
    """Rewrite the files: these parts of the records of these tables."""
    chosen = list(names)
    for file in FILES:
        before = kept(file)
        records = {name: before[name] for name in before if name in CASES}
        for name in chosen:
            case = CASES[name]
            if case.file != file:
                continue
            if draw or name not in records:
                records[name] = drawn_record(case)
                continue
            seed = records[name]["seed"]
            after = as_read(record(case, seed))
            for part in parts:
                lines = differences(records[name], after, (part,))
                if not lines:
                    continue  # the last digits stay as they are
                print("\n    ".join((name, *lines)), flush=True)
                records[name].pop(part, None)
                if part in after:
                    records[name][part] = after[part]
        store(file, records)


def main() -> int:
    """What is asked on the command line; 1 if anything differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="rewrite the files")
    parser.add_argument("--draw", action="store_true", help="with --write: draw the tables anew")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="tables by name: 'lags/*'")
    parser.add_argument("--part", choices=PARTS, action="append", help="these parts alone")
    given = parser.parse_args()
    names = [name for name in CASES if fnmatch(name, given.only)]
    parts = tuple(given.part or PARTS)
    if not names:
        parser.error(f"no table is called {given.only!r}; names are like {next(iter(CASES))!r}")
    if given.write:
        write(names, parts, given.draw)
        return 0
    differing = 0
    for name, lines in compared(names, parts):
        if lines:
            differing += 1
            print(report([(name, lines)]), flush=True)
    print(
        f"{differing} of {len(names)} tables differ"
        if differing
        else f"{len(names)} tables are as they were"
    )
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())

"""A seeded fuzzer: any table, any options, damaged files, and changes of a table that must change
nothing.

    python tests/fuzz/fuzzer.py [--seed 0] [--minutes 3] [--case 17]

Allowed outcomes are a result that can be used, or an error that the library raises on purpose; a
warning from below, any other exception, a crash or a case that takes longer than a minute is a
failure. Every case has a number, which runs it again.
"""

from __future__ import annotations

import argparse
import json
import pickle
import signal
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from ugly import (
    Random,
    good_options,
    hard_table,
    in_some_library,
    much_table,
    ordinary_table,
    question_table,
    some_options,
    ugly_table,
)

import causalcontext as cc
from causalcontext.data.table_files import read_file
from causalcontext.knowledge import Knowledge
from causalcontext_lab.simulate import random_model
from causalcontext_lab.study import Design

mpl.use("agg")
LONGEST = 60
"""Seconds of processor time that a case may take."""
SLOW = 20
"""Seconds of processor time beyond its limit that a search may take, and
effects of a pair.
"""


def any_table(random: Random) -> str:
    """A search on an ugly table, and everything that a result can show."""
    table, context = ugly_table(random)
    given, more = in_some_library(table, random)
    result = cc.discover(given, context, **more, **some_options(random))
    use(result)
    return "result"


def hard_table_well_asked(random: Random) -> str:
    """A search that should end in a result, on columns that are hard to compute with; now and then
    all its pictures.
    """
    table, context = hard_table(random)
    result = cc.discover(table, context, **good_options(random))
    use(result)
    if random.random() < 0.2:
        look(result, table)
    return "result"


def ordinary_columns(random: Random) -> str:
    """A search of columns as they are, with one or several contexts, thresholds and lags."""
    table, context = ordinary_table(random)
    options: dict[str, Any] = {
        "method": str(random.choice(["auto", "score-ac", "pc-ac"])),
        "time_limit": 20.0,
    }
    if random.random() < 0.3:
        options["lags"] = 1
    result = cc.discover(table, context, **options)
    use(result)
    if random.random() < 0.2:
        look(result, table)
    return "result"


def cut_short(random: Random) -> str:
    """A search of much more than there is time for, and all that can be asked of what it leaves
    open.
    """
    rows, columns, contexts = (
        int(random.integers(60, 600)),
        int(random.integers(3, 12)),
        int(random.integers(2, 20)),
    )
    values = random.standard_normal((rows, columns)) + random.standard_normal((rows, 1))
    table = pd.DataFrame(values, columns=[f"V{j}" for j in range(columns)])
    table["R"] = np.arange(rows) % contexts
    limit = float(random.choice([0.001, 0.1, 1.0]))
    begin = time.process_time()
    method = str(random.choice(["score-ac", "pc-ac", "pc-m", "pc-b", "fci-ac"]))
    lags = 1 if random.random() < 0.25 else None
    result = cc.discover(table, "R", method=method, time_limit=limit, lags=lags)
    assert time.process_time() - begin < limit + SLOW, (
        f"a limit of {limit} s took {time.process_time() - begin:.1f} s"
    )
    use(result)
    began = time.process_time()
    for ask in (
        result.mechanisms,
        partial(result.effects, "V0", "V1"),
        *[result.effects] * (columns < 6),
    ):
        with suppress(cc.CausalContextError):  # a few contexts leave no rows for coefficients
            ask()
    assert time.process_time() - began < SLOW, f"questions took {time.process_time() - began:.1f} s"
    return "result" if result.complete else "cut"


def much_asked(random: Random) -> str:
    """A search of up to 64 contexts, of holes that are modelled, of a cut that is to be found, or
    with hidden causes over time; extreme numbers as options; then the effects of one pair, and
    exporters."""
    table, context, options = much_table(random)
    limit = float(random.choice([0.5, 2.0, 20.0]))
    begin = time.process_time()
    result = cc.discover(table, context, time_limit=limit, **options)
    assert time.process_time() - begin < limit + SLOW, (
        f"a limit of {limit} s took {time.process_time() - begin:.1f} s"
    )
    use(result)
    began = time.process_time()
    with suppress(cc.CausalContextError):  # a few contexts leave no rows for coefficients
        result.effects(result.names[0], result.names[1])
    assert time.process_time() - began < SLOW, f"one pair took {time.process_time() - began:.1f} s"
    for write in (
        cc.export.to_mark_table,
        cc.export.to_gml,
        cc.export.to_graphml,
        cc.export.to_dot,
    ):
        write(result.union)
    return "result" if result.complete else "cut"


def questions(random: Random) -> str:
    """Contexts that are looked for, cuts with lags, holes in all columns, hidden causes over time
    in several contexts; and effects with every kind of interval, probabilities, and means of what
    follows from numbers that are set.
    """
    what = str(
        random.choice(
            ["draws", "contexts", "cut", "holes", "hidden"], p=[0.35, 0.2, 0.15, 0.2, 0.1]
        )
    )
    table, context, options = question_table(what, random)
    begin = time.process_time()
    if what == "contexts":
        found = cc.find_contexts(table, **options)
        assert time.process_time() - begin < 2 * SLOW, (
            f"finding contexts took {time.process_time() - begin:.1f} s"
        )
        return "found" if len(found) else "found none"
    result = cc.discover(table, context, time_limit=20.0, **options)
    use(result)
    began, pair = (
        time.process_time(),
        [str(name) for name in random.choice(result.names, 2, replace=False)],
    )
    probable = result.probabilities()
    assert probable[["edge", "cause", "ancestor"]].stack().between(0.0, 1.0).all()
    more: list[dict[str, Any]] = [
        {"intervals": "mixture"},
        {"intervals": "graph", "errors": "classical"},
        {"by_path": True},
    ]
    more += [{"level": 0.5}, {"samples": 3}, {"steps": 3}]
    for one in ({}, more[int(random.integers(len(more)))]):
        with suppress(cc.CausalContextError):  # no draws of graphs, or no slopes
            found = result.effects(*pair, **one)
            assert not (found["low"] > found["high"]).any(), "an interval is upside down"
    for value in (1.0, np.float32(1e30), np.inf, 10**400):
        with suppress(
            cc.CausalContextError
        ):  # a context, a category, a PAG; or the number cannot be computed with
            assert (
                not result.predict_intervention({pair[0]: value})["mean"]
                .isin([np.inf, -np.inf])
                .any()
            )
    assert time.process_time() - began < SLOW, f"one pair took {time.process_time() - began:.1f} s"
    if random.random() < 0.2:
        look(result, table)
    return "result" if result.complete else "cut"


def look(result: cc.ContextGraphs, table: pd.DataFrame) -> None:
    """The report, pictures, exports."""
    result._repr_html_(), result.diagnose()._repr_html_()
    with tempfile.TemporaryDirectory() as folder:
        result.report(Path(folder, "r.html"))
        result.plot(path=Path(folder, "r.svg"))
        with suppress(cc.CausalContextError):  # links have no slopes where columns are no numbers
            result.mechanisms(), result.effects(), result.effects(by_path=True)
        if result.evidence is not None:
            for name in result.names:
                with suppress(cc.CausalContextError):  # nothing causes it
                    result.plot_mechanism(name, table, path=Path(folder, "m.svg"))
    plt.close("all")
    for write in (
        cc.export.to_mark_table,
        cc.export.to_gml,
        cc.export.to_dot,
        cc.export.to_networkx,
    ):
        write(result.union)


def use(result: cc.ContextGraphs) -> None:
    """Look at everything."""
    (
        str(result),
        repr(result),
        result.edges(),
        result.tests(),
        result.scores(),
        str(result.diagnose()),
    )
    for x in result.names[:3]:
        for y in result.names[-2:]:
            if x != y:
                result.explain(x, y)
    if result.context is not None and len(result.contexts) > 1 and result.moments is not None:
        result.labels(), result.changes(*result.contexts[:2])
    assert pickle.loads(pickle.dumps(result)) == result
    with tempfile.TemporaryDirectory() as folder:
        result.save(Path(folder, "r.json"))
        assert cc.load(Path(folder, "r.json")) == result


def unchanged(random: Random) -> str:
    """Columns, rows, names, units, libraries, threads and files change nothing."""
    contexts = int(random.integers(2, 4))
    model = random_model(int(random.integers(4, 8)), 0.5, seed=random, contexts=contexts)
    table = model.sample(int(random.choice([200, 500])), random)
    options: dict[str, Any] = {
        "max_given": 2,
        "test": str(random.choice(["partial-correlation", "auto"])),
    }
    options["method"] = str(random.choice(["pc-ac", "auto", "pc-m", "pc-p", "pc-b"]))
    if options["method"] == "auto":
        options = {"method": "auto"}
    before = marks(cc.discover(table, "R", **options))
    name = str(random.choice(list(CHANGES)))
    if options["method"] == "auto" and name == "rows":
        # sums over rows in another order differ by rounding, and a climb over orders may end
        # elsewhere
        name = "columns"
    after = CHANGES[name](table, options, random)
    assert before == after, (
        f"{name}: {sorted(set(before.items()) ^ set(after.items()), key=str)[:4]}"
    )
    return name


def marks(result: cc.ContextGraphs, names: dict[str, str] | None = None) -> dict[Any, str]:
    """The mark of every pair in every context, by the names that the variables had."""
    was = {name: name for name in result.names} | {new: old for old, new in (names or {}).items()}
    return {
        (str(value), was[x], was[y]): graph.mark(x, y)
        for value, graph in result.graphs.items()
        for x in result.names
        for y in result.names
        if x != y
    }


def _columns(table: pd.DataFrame, options: dict[str, Any], random: Random) -> dict[Any, str]:
    return marks(cc.discover(table[random.permutation(table.columns).tolist()], "R", **options))


def _rows(table: pd.DataFrame, options: dict[str, Any], random: Random) -> dict[Any, str]:
    return marks(cc.discover(table.iloc[random.permutation(len(table))], "R", **options))


def _names(table: pd.DataFrame, options: dict[str, Any], random: Random) -> dict[Any, str]:
    new = {
        name: f"Z{name}" for name in table.columns
    }  # the order of the names stays: it seeds what tests draw
    if options.get("test") != "partial-correlation":
        new = {name: name for name in table.columns}
    return marks(cc.discover(table.rename(columns=new), new["R"], **options), new)


def _labels(table: pd.DataFrame, options: dict[str, Any], random: Random) -> dict[Any, str]:
    labelled = table.assign(R=[f"level {value}" for value in table["R"]])
    found = marks(cc.discover(labelled, "R", **options))
    return {(value.removeprefix("level "), x, y): mark for (value, x, y), mark in found.items()}


def _affine(table: pd.DataFrame, options: dict[str, Any], random: Random) -> dict[Any, str]:
    system = [name for name in table.columns if name != "R"]
    factors = 2.0 ** random.integers(-20, 20, len(system)) * random.choice([-1.0, 1.0], len(system))
    moved = table.assign(
        **{name: table[name] * factor for name, factor in zip(system, factors, strict=True)}
    )
    return marks(cc.discover(moved, "R", **options))


def _library(table: pd.DataFrame, options: dict[str, Any], random: Random) -> dict[Any, str]:
    form: Callable[[pd.DataFrame], Any] = [pl.from_pandas, pa.Table.from_pandas, dict][
        int(random.integers(3))
    ]
    return marks(cc.discover(form(table), "R", **options))


def _threads(table: pd.DataFrame, options: dict[str, Any], random: Random) -> dict[Any, str]:
    return marks(cc.discover(table, "R", n_jobs=2, **options))


def _files(table: pd.DataFrame, options: dict[str, Any], random: Random) -> dict[Any, str]:
    with tempfile.TemporaryDirectory() as folder:
        ending = str(random.choice(["csv", "tsv", "csv.gz", "parquet"]))
        path = Path(folder, f"t.{ending}")
        if ending == "parquet":
            table.to_parquet(path)
        else:
            table.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
        return marks(cc.discover(read_file(path), "R", **options))


CHANGES: dict[str, Callable[[pd.DataFrame, dict[str, Any], Random], dict[Any, str]]] = {
    "columns": _columns,
    "rows": _rows,
    "names": _names,
    "labels": _labels,
    "units": _affine,
    "library": _library,
    "threads": _threads,
    "files": _files,
}


def damaged_file(random: Random) -> str:
    """A result, table, knowledge or design whose bytes were changed."""
    with tempfile.TemporaryDirectory() as folder:
        kind = str(random.choice(["r.json", "t.csv", "t.csv.gz", "t.parquet", "k.toml", "d.toml"]))
        path = Path(folder, kind)
        _write(path)
        path.write_bytes(_damaged(path.read_bytes(), random))
        read: dict[str, Callable[[Path], Any]] = {
            "r.json": lambda file: use(cc.load(file)),
            "k.toml": Knowledge.from_toml,
            "d.toml": Design.from_toml,
        }
        read.get(kind, read_file)(path)
    return kind


def _write(path: Path) -> None:
    table = cc.examples.soil_moisture(60, seed=1)
    if path.name == "r.json":
        cc.discover(table, "soil", method="pc-ac", test="partial-correlation", max_given=1).save(
            path
        )
    elif path.suffix == ".toml":
        path.write_text(
            'roots = ["X"]\nrequired = [["X", "Y"]]\n'
            if path.name == "k.toml"
            else 'repeats = 3\nmethods = ["pc-ac"]\n[setting]\nsamples = [200, 500]\nnodes = 6\n'
        )
    elif path.suffix == ".parquet":
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False)


def _damaged(content: bytes, random: Random) -> bytes:
    """Bytes are flipped, cut off, doubled, or replaced by something that reads well."""
    place = int(random.integers(len(content)))
    action = int(random.integers(5))
    if action == 0:
        return content[:place]
    if action == 1:
        return content[:place] + random.bytes(int(random.integers(1, 9))) + content[place + 1 :]
    if action == 2:
        return content[:place] + content[max(place - 50, 0) :]
    if action == 3:
        return content.replace(
            b"1",
            random.choice([b"-1", b"NaN", b'"x"', b"1e999", b"[]"]),
            int(random.integers(1, 4)),
        )
    return json.dumps([content.decode("latin-1")]).encode()


KINDS: tuple[tuple[Callable[[Random], str], float], ...] = (
    (any_table, 0.1),
    (questions, 0.1),
    (hard_table_well_asked, 0.2),
    (ordinary_columns, 0.2),
    (cut_short, 0.1),
    (unchanged, 0.15),
    (damaged_file, 0.07),
    (much_asked, 0.08),
)
"""Shares; a further kind takes its share from its neighbour, so that the other cases keep their
numbers.
"""


class Took(Exception):
    """A case took too long."""


def chosen_kind(number: int) -> tuple[Callable[[Random], str], Random]:
    """What a case is, and the generator that everything else about it is drawn from."""
    random = np.random.default_rng([20, number])
    return KINDS[int(random.choice(len(KINDS), p=[share for _, share in KINDS]))][0], random


def run_case(number: int, longest: int = 0) -> tuple[str, str]:
    """The kind of a case and its outcome: what it was, `refused`, or a failure with its traceback.

    It may take `longest` seconds of processor time, if that is not 0.
    """
    kind, random = chosen_kind(number)
    signal.signal(signal.SIGPROF, _too_long)
    signal.setitimer(signal.ITIMER_PROF, longest)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return kind.__name__, kind(random)
    except cc.CausalContextError as error:
        text = str(error)
        return (
            kind.__name__,
            (
                "refused"
                if text and "\n" not in text.strip()
                else f"FAILED: a message of lines {text!r}"
            ),
        )
    except Exception:
        return kind.__name__, f"FAILED: {traceback.format_exc()}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _too_long(*_: object) -> None:
    raise Took


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument(
        "--seed", type=int, default=0, help="the first case is a million times this"
    )
    options.add_argument("--minutes", type=float, default=3.0)
    options.add_argument("--case", type=int, help="this one alone")
    chosen = options.parse_args()
    if chosen.case is not None:
        print(*run_case(chosen.case))
        return
    found: Counter[tuple[str, str]] = Counter()
    begin, number, failed = time.monotonic(), chosen.seed * 1_000_000, 0
    while time.monotonic() - begin < 60.0 * chosen.minutes:
        kind, outcome = run_case(number, LONGEST)
        if outcome.startswith("FAILED"):
            failed += 1
            print(f"case {number} ({kind}): {outcome}", flush=True)
        found[kind, outcome.split(":")[0]] += 1
        number += 1
    for (kind, outcome), count in sorted(found.items()):
        print(f"{kind:22} {outcome:16} {count}")
    calls = [
        (outcome, count)
        for (kind, outcome), count in found.items()
        if kind != damaged_file.__name__
    ]
    searched = sum(count for outcome, count in calls if outcome != "refused") / max(
        sum(count for _, count in calls), 1
    )
    print(f"{searched:.0%} of the calls of discover were not refused")
    print(f"{sum(found.values())} cases from {chosen.seed * 1_000_000}, {failed} failures")
    raise SystemExit(bool(failed))


if __name__ == "__main__":
    main()

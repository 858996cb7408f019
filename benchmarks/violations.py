"""How methods and their claims hold where assumptions break, which model checks say so, and what
`auto` chooses.

    python benchmarks/violations.py --models 40 --jobs 2
    python benchmarks/violations.py --cells tanh outliers --methods pc-ac auto

Eight nodes as in `curved_models`, 500 rows. Every cell breaks one assumption. TPR and FPR are those
of pairs over all context graphs, R among them; "arrows" is the share of directed links found that
point the right way. A claim is a row of `changes()` that may be claimed, R apart: its false
discovery rate, and the share of true changes that are claimed. "levels" are claims that R changes
the level of a variable, "false levels" those of variables that R does not cause. "warned" is the
share of tables on which a model check or a note of the engine speaks of the model, "findings" on
how many tables which of them do, and on how many the spread of the noise was modelled, "cleaned" of
how many tables cells were taken for wrong, "coarse" on how many tables numbers of few values were
searched in which way; "seconds" is the median processor time of a search with its claims, "longest"
the longest. "score-ac, plain numbers" is told that all columns are continuous; "zeros and thirds"
sees columns with zeros as categories of zero and the thirds of the rest. The methods of
causal-learn see the pooled rows, R as a number; their graph counts for every context. A peer that
takes more than `--limit` seconds of processor time on a table did not end there, and the table does
not count for it (PC with KCI: use `--rows 100`). `--margins` counts the arrows of all cells by
their margin: those that are right, turned, and no link.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray

import causalcontext as cc
from causalcontext.data.coarse import AS_THEY_ARE, CENSORED, HEAPS, HURDLES, REPLACED, SCORES
from causalcontext.graphs.endpoints import Endpoint
from causalcontext.results.violations import violations_of
from curved_models import COARSE, MIXTURE, Counts, CurvedModel, Design, count_endpoints, draw_model
from measuring import machine, markdown_table, with_second_opinion
from peers import causal_learn_graph, import_causal_learn, within

Floats = NDArray[np.float64]
Damage = Callable[[pd.DataFrame, np.random.Generator], pd.DataFrame]
LINEAR = ("linear",)
PLAIN = "score-ac, plain numbers"
THIRDS = "score-ac, zeros and thirds"
WAYS = (CENSORED, REPLACED, HURDLES, HEAPS, SCORES, AS_THEY_ARE)
"""Of two that a table has, the first counts: with numbers drawn or spread, other columns have
normal scores.
"""
PEERS = ("causal-learn PC", "causal-learn BOSS", "causal-learn PC, KCI")


def wrong_cells(share: float, low: float = 10.0, high: float = 10.0, rows: bool = False) -> Damage:
    """A share of the cells, or of whole rows, is so many standard deviations away."""

    def damaged(table: pd.DataFrame, generator: np.random.Generator) -> pd.DataFrame:
        names = [name for name in table if name != "R"]
        hit = generator.random((len(table), 1 if rows else len(names))) < share
        far = table[names].std().to_numpy() * generator.choice([-1, 1], (len(table), len(names)))
        far = far * (low if low == high else generator.uniform(low, high, far.shape))
        return table.assign(
            **dict(zip(names, np.where(hit, far, table[names].to_numpy()).T, strict=True))
        )

    return damaged


def swapped(table: pd.DataFrame, generator: np.random.Generator) -> pd.DataFrame:
    """Three in a hundred cells have the value of another row: nothing is far away by itself."""
    names = [name for name in table if name != "R"]
    other = table[names].to_numpy()[generator.permutation(len(table))]
    hit = generator.random(other.shape) < 0.03
    return table.assign(
        **dict(zip(names, np.where(hit, other, table[names].to_numpy()).T, strict=True))
    )


def measured(table: pd.DataFrame, generator: np.random.Generator) -> pd.DataFrame:
    """Every number is measured with an error: a fifth of the variance of its column."""
    names = [name for name in table if name != "R"]
    error = (
        0.5 * table[names].std().to_numpy() * generator.standard_normal((len(table), len(names)))
    )
    return table.assign(**dict(zip(names, (table[names].to_numpy() + error).T, strict=True)))


def in_levels(table: pd.DataFrame, generator: np.random.Generator) -> pd.DataFrame:
    """Every number is cut into five levels of equal size, numbered from 0."""
    return table.assign(
        **{
            name: pd.qcut(table[name], 5, labels=False).astype(float)
            for name in table
            if name != "R"
        }
    )


def in_thirds(table: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Columns with zeros beside measurements as categories: zero, and the thirds of the rest; what
    to declare.
    """
    rest = {
        name: own[own != 0.0]
        for name, own in table.items()
        if name != "R" and (own == 0.0).mean() > 0.05
    }
    coded = {
        name: np.where(
            table[name] == 0.0, 0, 1 + np.searchsorted(own.quantile([1 / 3, 2 / 3]), table[name])
        )
        for name, own in rest.items()
    }
    return table.assign(**coded), {"kinds": dict.fromkeys(rest, "categorical")}


@dataclass(frozen=True)
class Cell:
    """A design, and what is done to its tables."""

    design: Design
    damage: Damage | None = None


CELLS: dict[str, Cell] = {
    "linear, Gaussian": Cell(Design(LINEAR)),
    "tanh": Cell(Design(("tanh",))),
    "x squared": Cell(Design(("square",))),
    "sin": Cell(Design(("sine",))),
    "threshold": Cell(Design(("step",))),
    "interactions": Cell(Design(LINEAR, products=1.0)),
    "exponential noise": Cell(Design(LINEAR, "exponential")),
    "t3 noise": Cell(Design(LINEAR, "student-t3")),
    "uneven spread": Cell(Design(LINEAR, uneven=0.5)),
    "outliers": Cell(Design(LINEAR), wrong_cells(0.05)),
    "3 % wrong cells": Cell(Design(LINEAR), wrong_cells(0.03)),
    "3 % wrong cells, 3-6 sd": Cell(Design(LINEAR), wrong_cells(0.03, 3.0, 6.0)),
    "3 % swapped cells": Cell(Design(LINEAR), swapped),
    "3 % wrong rows": Cell(Design(LINEAR), wrong_cells(0.03, rows=True)),
    "curves, 3 % wrong cells": Cell(Design(), wrong_cells(0.03)),
    "t3, 3 % wrong cells": Cell(Design(LINEAR, "student-t3"), wrong_cells(0.03)),
    "curves": Cell(Design()),
    "uneven, abs": Cell(Design(LINEAR, uneven=0.5, spread="abs")),
    "uneven alone": Cell(Design(LINEAR, uneven=0.7, spread="alone")),
    "uneven by context": Cell(Design(LINEAR, uneven=0.7, spread="context")),
    "uneven, exponential": Cell(Design(LINEAR, "exponential", uneven=0.5)),
    "uneven, curves": Cell(Design(uneven=0.5)),
    "measurement error": Cell(Design(LINEAR), measured),
    "5 levels": Cell(Design(LINEAR), in_levels),
    "log-normal": Cell(Design(LINEAR, warp=np.exp)),
    "8 contexts": Cell(Design(LINEAR, contexts=8)),
    "weak effects": Cell(Design(LINEAR, weights=(0.2, 0.35, 0.5))),
    "rows in time": Cell(Design(LINEAR, "following")),
}
for name in COARSE:
    CELLS[f"coarse: {name}"] = Cell(Design(LINEAR, coarse=(name,)))
CELLS["coarse: mixture"] = Cell(Design(LINEAR, coarse=MIXTURE))
CELLS["coarse: both zeros"] = Cell(Design(LINEAR, coarse=("zeros", "structural zeros")))
HEAPED = ("heaped", "counts 2", "rounded", "cigarettes")
CELLS["coarse: mixture, exponential"] = Cell(Design(LINEAR, "exponential", coarse=HEAPED))
for name in ("0/1", "3 levels", "5 levels", "cigarettes", "zeros", "structural zeros"):
    CELLS[f"coarse acts: {name}"] = Cell(Design(LINEAR, coarse=(name,), acts=True))
for name in ("heaped", "rounded", "zeros", "structural zeros"):
    CELLS[f"coarse: {name}, exponential"] = Cell(Design(LINEAR, "exponential", coarse=(name,)))
KEPT = "score-ac, cells kept"
METHODS = ("pc-ac", "score-ac", KEPT, PLAIN, THIRDS, "auto", *PEERS)


@dataclass
class Facts:
    """What one method said about one table."""

    counts: NDArray[np.int64]
    claims: int = 0
    false_claims: int = 0
    found_changes: int = 0
    changes: int = 0
    levels: int = 0
    false_levels: int = 0
    warned: bool = False
    cleaned: bool = False
    chosen: str = ""
    findings: frozenset[str] = frozenset()
    coarse: str = ""
    seconds: float = np.nan
    margins: tuple[tuple[float, str], ...] = ()


def main() -> None:
    """Print the table."""
    options = _options()
    lines, arrows = [], []
    for cell in options.cells:
        seeds = range(options.first_seed, options.first_seed + options.models)
        found = Parallel(n_jobs=options.jobs)(
            delayed(all_facts)(cell, seed, options) for seed in seeds
        )
        for place, method in enumerate(options.methods):
            ended = [facts[place] for facts in found if facts[place] is not None]
            lines.append([cell, method, *_entries(ended), str(len(ended))])
            arrows += [arrow for facts in ended for arrow in facts.margins]
            print(" | ".join(lines[-1]), flush=True)
    header = (
        "assumption broken",
        "method",
        "TPR",
        "FPR",
        "arrows",
        "claims",
        "false",
        "FDR",
        "power",
        "levels",
        "false levels",
        "warned",
        "cleaned",
        "chose",
        "findings",
        "coarse",
        "seconds",
        "longest",
        "ended",
    )
    print(f"\n{markdown_table(header, lines)}")
    if options.margins:
        print(f"\n{_by_margin(arrows)}")
    print(
        f"\n{machine()}; {options.models} models a cell, seeds from {options.first_seed}, n ="
        f" {options.rows}"
    )


def all_facts(cell: str, seed: int, options: argparse.Namespace) -> list[Facts | None]:
    """What every method says about the table of a seed."""
    model = draw_model(CELLS[cell].design, seed)
    generator = np.random.default_rng([seed, options.rows])
    table, damage = model.sample(options.rows, generator), CELLS[cell].damage
    table = table if damage is None else damage(table, generator)
    return [
        (
            facts_of_peer(model, table, method, options.limit)
            if method in PEERS
            else facts_of(model, table, method)
        )
        for method in options.methods
    ]


def facts_of(model: CurvedModel, table: pd.DataFrame, method: str) -> Facts:
    """What one of our methods says."""
    options: dict[str, Any] = {"wrong_cells": "keep"} if method == KEPT else {}
    if method == PLAIN:
        options["kinds"] = {name: "continuous" for name in table if name != "R"}
    if method == THIRDS:
        table, options = in_thirds(table)
    started = time.process_time()
    result = cc.discover(table, "R", method="score-ac" if options else method, **options)
    names = _names(model)
    place = [result.names.index(name) for name in names]
    endpoints = np.stack([result.graphs[level].endpoints for level in result.contexts])[:, place][
        :, :, place
    ]
    truth = model.truth()
    links = (truth | truth.transpose(0, 2, 1))[:2]
    changed = {frozenset((names[i], names[j])) for i, j in np.argwhere(links[0] != links[1])}
    changed = {pair for pair in changed if "R" not in pair}
    rows = with_second_opinion(result).changes(*result.contexts[:2])
    seconds = time.process_time() - started
    pairs = [frozenset((row.source, row.target)) for row in rows[rows["claimed"]].itertuples()]
    claimed = {pair for pair in pairs if "R" not in pair}
    levels = {pair for pair in pairs if "R" in pair}
    caused = {
        frozenset(("R", names[j])) for j in np.flatnonzero(truth[:2, model.context].any(axis=0))
    }
    false = claimed - changed - other_slopes(model, names)
    own = () if result.evidence is None else result.evidence.contradicted
    if result.evidence is not None and np.isfinite(result.evidence.scales_gain):
        own = (*own, "scale modelled")
    findings = frozenset((*own, *(violation.kind for violation in violations_of(result))))
    said = [
        note
        for note in result.notes
        if not any(
            word in note for word in ("chose", "few distinct values", "taken to be in order")
        )
    ]
    warned = bool(violations_of(result) or said)
    return Facts(
        np.array(count_endpoints(truth, endpoints, model.context)),
        len(claimed),
        len(false),
        len(claimed & changed),
        len(changed),
        len(levels),
        len(levels - caused),
        warned,
        result.wrong_cells is not None,
        result.settings.method,
        findings,
        next((way for way in WAYS if any(way in note for note in result.notes)), ""),
        seconds,
        margins_of(result, truth.any(axis=0), names),
    )


def margins_of(
    result: Any, truth: NDArray[np.bool_], names: list[str]
) -> tuple[tuple[float, str], ...]:
    """The margin of every arrow of a search by score, and what it is."""
    edges, found = result.edges(), []
    for edge in edges[edges["mark"] == "-->"].itertuples() if "margin" in edges else ():
        i, j = names.index(edge.source), names.index(edge.target)
        found.append(
            (float(edge.margin), "right" if truth[i, j] else "turned" if truth[j, i] else "no link")
        )
    return tuple(found)


def _by_margin(arrows: list[tuple[float, str]]) -> str:
    """How many arrows are right, by margin."""
    lines = []
    for low, high in pairwise((0, 3, 4, 5, 7, 10, 15, 30, np.inf)):
        count = Counter(what for margin, what in arrows if low <= margin < high)
        lines.append(
            [f"{low} to {high}", *(str(count[what]) for what in ("right", "turned", "no link"))]
        )
    return markdown_table(("margin, nats", "right", "turned", "no link"), lines)


def other_slopes(model: CurvedModel, names: list[str]) -> set[frozenset[str]]:
    """Links of the first two contexts whose slope differs: their cause is multiplied by another one
    in one of them.
    """
    found = set()
    for node in np.flatnonzero(model.multiplies).tolist():
        pair = np.flatnonzero(model.links[:, :, node].any(axis=0))[:2]
        both = model.links[:2, pair, node].all(axis=1)
        found |= {frozenset((names[cause], names[node])) for cause in pair if both[0] != both[1]}
    return found


def facts_of_peer(model: CurvedModel, table: pd.DataFrame, method: str, limit: int) -> Facts | None:
    """What a method of causal-learn says about the pooled rows; None if it did not end."""
    import_causal_learn()
    values = table[_names(model)].to_numpy(float)
    found = within(limit, causal_learn_graph, values, 0.05, method.removeprefix("causal-learn "))
    if found is None:
        return None
    endpoints = np.select(
        [found.T == 1, found.T == -1], [Endpoint.ARROW, Endpoint.TAIL], Endpoint.NONE
    ).astype(np.int8)
    truth = model.truth()
    return Facts(
        np.array(
            count_endpoints(
                truth, np.repeat(endpoints[np.newaxis], len(truth), axis=0), model.context
            )
        )
    )


def _names(model: CurvedModel) -> list[str]:
    return [f"V{node}" if node != model.context else "R" for node in range(model.design.nodes)]


def _entries(found: list[Facts]) -> list[str]:
    total = np.sum(
        [np.zeros(len(Counts._fields), dtype=np.int64), *(facts.counts for facts in found)], axis=0
    )
    hits, links, extra, pairs = (
        total[0] + total[4],
        total[1] + total[5],
        total[2] + total[6],
        total[3] + total[7],
    )
    right, wrong = total[8] + total[10], total[9] + total[11]
    claims, false, good, changes, levels, false_levels = (
        sum(getattr(facts, name) for facts in found)
        for name in ("claims", "false_claims", "found_changes", "changes", "levels", "false_levels")
    )
    chosen = Counter(facts.chosen for facts in found)
    findings = Counter(kind for facts in found for kind in sorted(facts.findings))
    coarse = Counter(facts.coarse for facts in found)
    seconds = [facts.seconds for facts in found] or [np.nan]
    return [
        _share(hits, links),
        _share(extra, pairs),
        _share(right, right + wrong),
        str(claims),
        str(false),
        _share(false, claims),
        _share(good, changes),
        str(levels),
        str(false_levels),
        _share(sum(facts.warned for facts in found), len(found)),
        str(sum(facts.cleaned for facts in found)),
        *(
            ", ".join(f"{name} {number}" for name, number in counted.most_common() if name)
            for counted in (chosen, findings, coarse)
        ),
        f"{np.median(seconds):.2f}",
        f"{max(seconds):.2f}",
    ]


def _share(part: int, whole: int) -> str:
    return "-" if whole == 0 else f"{part / whole:.3f}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cells", nargs="+", default=list(CELLS), choices=list(CELLS))
    parser.add_argument(
        "--methods",
        nargs="+",
        default=[one for one in METHODS[:-1] if not one.startswith("score-ac, ")],
        choices=list(METHODS),
    )
    parser.add_argument("--first-seed", type=int, default=910_000)
    parser.add_argument("--models", type=int, default=40)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--margins", action="store_true")
    parser.add_argument(
        "--limit", type=int, default=60, help="processor seconds of a peer on one table"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()

"""The table of Sachs et al. (2005) itself: how long it takes, what is found, what is claimed.

    pip download cdt==0.6.0 --no-deps && unzip cdt-0.6.0-py3-none-any.whl
    cdt/data/resources/cyto_full_data.csv python benchmarks/sachs_table.py
    cdt/data/resources/cyto_full_data.csv

The file has the 7,466 cells of all nine conditions below each other, without the condition. The
number of cells under every condition is known, and the rows are in that order: the script looks for
the best place of every cut, which is where the distribution of all columns changes most, and prints
how far it is from the place that the numbers say.

Searches are timed by their processor time. The network of the article
is a yardstick, not the truth. `--alone` searches one condition at a time with score-ac, log scale,
and counts its arrows that are found in their direction and against it.
"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd

import causalcontext as cc
from causalcontext.examples import CONDITIONS, PROTEINS
from measuring import machine, markdown_table, spoken_time, timed, with_second_opinion

NETWORK = {
    "PKC": ("Raf", "Mek", "Jnk", "P38", "PKA"),
    "PKA": ("Raf", "Mek", "Erk", "Akt", "Jnk", "P38"),
    "Raf": ("Mek",),
    "Mek": ("Erk",),
    "Erk": ("Akt",),
    "Plcg": ("PIP2", "PIP3"),
    "PIP3": ("PIP2",),
}
"""The 17 arrows of the article that were expected or found."""
AROUND = 60
ROOT = cc.Knowledge(roots=["condition"])
SEARCHES: dict[str, dict[str, Any]] = {
    "the default": {},
    "the default, condition declared a root": {"knowledge": ROOT},
    "score-ac": {"method": "score-ac"},
    "pc-ac, alpha .01": {"method": "pc-ac", "alpha": 0.01},
    "pc-ac, alpha .01, condition declared a root": {
        "method": "pc-ac",
        "alpha": 0.01,
        "knowledge": ROOT,
    },
}


def cells(path: str, scale: str = "log") -> pd.DataFrame:
    """The table with its conditions; `scale` is "log" or "raw"."""
    table = pd.read_csv(path)
    table.columns = list(PROTEINS)
    table = np.log(table) if scale == "log" else table
    return table.assign(condition=np.repeat(list(CONDITIONS), list(CONDITIONS.values())))


def best_cuts(values: np.ndarray) -> list[int]:
    """How many rows the best place of every cut is away from where it is said to be."""
    cuts = np.cumsum(list(CONDITIONS.values()))
    begins, found = [0, *cuts[:-2].tolist()], []
    for begin, cut, end in zip(begins, cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        places = range(cut - AROUND, cut + AROUND + 1)
        fits = [_spread(values[begin:place]) + _spread(values[place:end]) for place in places]
        found.append(int(np.argmin(fits)) - AROUND)
    return found


def _spread(rows: np.ndarray) -> float:
    """Rows times the logarithms of the spreads: what a cut makes small."""
    return float(len(rows) * np.log(rows.std(axis=0)).sum())


def measure(table: pd.DataFrame, options: dict[str, Any]) -> tuple[str | int, ...]:
    """The method, times, links, those of them in the network, changes between the first and the
    others, and claims.
    """
    duration, result = timed(lambda: cc.discover(table, "condition", **options))
    diagnosed, _ = timed(result.diagnose)
    known = {(cause, effect) for cause, effects in NETWORK.items() for effect in effects}
    joined = np.argwhere(np.triu(result.union.adjacency[: len(PROTEINS), : len(PROTEINS)]))
    pairs = {(PROTEINS[x], PROTEINS[y]) for x, y in joined.tolist()}
    right = {pair for pair in pairs if pair in known or pair[::-1] in known}
    first, *others = result.contexts
    changes = pd.concat([with_second_opinion(result).changes(first, other) for other in others])
    return (
        result.settings.method,
        spoken_time(duration.cpu),
        spoken_time(diagnosed.cpu),
        len(pairs),
        len(right),
        len(changes),
        int(changes["claimed"].sum()),
    )


def alone(table: pd.DataFrame) -> None:
    """Print what score-ac finds of the network in every condition by itself."""
    known, lines = [(cause, effect) for cause, effects in NETWORK.items() for effect in effects], []
    found: Counter[tuple[str, str, str]] = Counter()
    for condition, rows in table.groupby("condition"):
        result = cc.discover(rows.drop(columns="condition"), method="score-ac")
        marks, evidence = [result.union.mark(*arrow) for arrow in known], result.evidence
        assert evidence is not None
        spread = "even" if np.isnan(evidence.scales_gain) else "modelled"
        found.update((*arrow, mark) for arrow, mark in zip(known, marks, strict=True))
        lines.append(
            (str(condition), marks.count("-->"), marks.count("<--"), spread, evidence.wrong_cells)
        )
    head = (
        "condition",
        "arrows as in the network",
        "against it",
        "spread of the noise",
        "wrong cells",
    )
    print(markdown_table(head, lines))
    print(
        f"\nin all {sum(line[1] for line in lines)} : {sum(line[2] for line in lines)}; arrow by"
        " arrow",
        end=" ",
    )
    counts = ((arrow, found[*arrow, "-->"], found[*arrow, "<--"]) for arrow in known)
    print(
        ", ".join(
            f"{' --> '.join(arrow)} {right} : {wrong}"
            for arrow, right, wrong in counts
            if right or wrong
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file")
    parser.add_argument("--scales", nargs="+", default=["log", "raw"])
    parser.add_argument("--searches", nargs="+", default=list(SEARCHES))
    parser.add_argument(
        "--show", action="store_true", help="print the labeled union of every search"
    )
    parser.add_argument("--alone", action="store_true", help="search one condition at a time")
    chosen = parser.parse_args()
    print(machine() + "\n")
    if chosen.alone:
        alone(cells(chosen.file))
        return
    print(
        "rows between the cuts and the best places for them:",
        best_cuts(np.log(pd.read_csv(chosen.file).to_numpy())),
        "\n",
    )
    lines = []
    for scale in chosen.scales:
        table = cells(chosen.file, scale)
        for name in chosen.searches:
            cc.discover(table.groupby("condition").head(40), "condition", **SEARCHES[name])
            lines.append((scale, name, *measure(table, SEARCHES[name])))
            if chosen.show:
                print(
                    f"## {scale},"
                    f" {name}\n\n{cc.discover(table, 'condition', **SEARCHES[name]).labeled_union}\n"
                )
    head = (
        "scale",
        "search",
        "method",
        "processor time",
        "diagnosis",
        "links of proteins",
        "in the network",
        "changes found",
        "claimed",
    )
    print(markdown_table(head, lines))


if __name__ == "__main__":
    main()

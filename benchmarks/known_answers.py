"""Real tables whose answer is known, or nearly: what the library says of each, printed for
docs/known-answers.md.

    make compare SHORT=1                                                   # sets up .venv-compare
    with the data .venv-compare/bin/python benchmarks/known_answers.py                   # two
    minutes of processor time .venv-compare/bin/python benchmarks/known_answers.py nhefs thornton
    # some of them

Data come from packages of PyPI: cdt (its file of Sachs et al.; its code is not used), causaldata
and statsmodels.
"""

from __future__ import annotations

import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

import causalcontext as cc
from causalcontext.examples import FLUX_TOWER_LINKS, PROTEINS
from measuring import machine, markdown_table, with_second_opinion
from sachs_table import ROOT, alone, cells

REAGENTS = {
    "cd3cd28+aktinhib": "Akt",
    "cd3cd28+g0076": "PKC",
    "cd3cd28+psitect": "PIP2",
    "cd3cd28+u0126": "Mek",
    "cd3cd28+ly": "Akt",
    "pma": "PKC",
    "b2camp": "PKA",
}
"""The molecule that each reagent acts on; LY294002 acts on PI3K, which was not measured, and so on
Akt.
"""
SMOKERS = [
    "sex",
    "race",
    "age",
    "education",
    "smokeintensity",
    "smokeyrs",
    "active",
    "exercise",
    "wt71",
    "sbp",
    "dbp",
    "income",
    "cholesterol",
    "price71",
]
BOOK = SMOKERS[:9]
"""The common causes of quitting and weight that Hernán and Robins adjust for."""
ORDERED = ("selfLR", "ClinLR", "DoleLR", "PID", "educ")
VOTE = [
    ["age"],
    ["educ", "logpopul"],
    ["income"],
    ["PID"],
    ["selfLR", "TVnews"],
    ["ClinLR", "DoleLR"],
    ["vote"],
]


def sachs() -> None:
    """Arrows of the published network under each condition alone; then what a reagent is said to
    change.
    """
    package = find_spec("cdt")
    assert package is not None, "pip install --no-deps cdt==0.6.0"
    table = cells(str(Path(str(package.origin)).parent / "data/resources/cyto_full_data.csv"))
    alone(table)
    lines = []
    for reagent, target in REAGENTS.items():
        rows = table[table["condition"].isin(["cd3cd28", reagent])]
        result = cc.discover(rows, "condition", knowledge=ROOT)
        changed = [name for name in PROTEINS if result.union.mark("condition", name) == "-->"]
        claims = with_second_opinion(result).changes("cd3cd28", reagent)
        lines.append(
            (
                reagent,
                target,
                "yes" if target in changed else "no",
                len(changed),
                claims["claimed"].sum(),
            )
        )
    print()
    print(
        markdown_table(
            ("reagent", "acts on", "found to change", "of 11 found to change", "changes claimed"),
            lines,
        )
    )


def nhefs() -> None:
    """What quitting does to weight, with all 1,629 people: missing cells by two ways, known and
    unknown confounders.
    """
    from causaldata import nhefs

    table = nhefs.load_pandas().data[[*SMOKERS, "qsmk", "wt82_71"]].astype(float)
    tiers = [SMOKERS, ["qsmk"], ["wt82_71"]]
    required = [(name, effect) for name in BOOK for effect in ("qsmk", "wt82_71")] + [
        ("qsmk", "wt82_71")
    ]
    whole = cc.Knowledge(tiers=tiers, required=required)
    for said, missing, known in (
        ("the book's confounders required", "listwise", whole),
        ("the same, every observed cell used", "model", whole),
        ("the order in time alone, every observed cell used", "model", cc.Knowledge(tiers=tiers)),
    ):
        result = cc.discover(table, missing=missing, knowledge=known)
        print(
            f"{said}: {_effect(result, 'qsmk', 'wt82_71', 'kg')}, {sum(result.data.rows):,} people"
        )
    causes = {
        x: [name for name in SMOKERS if result.union.mark(name, x) == "-->"]
        for x in ("qsmk", "wt82_71")
    }
    print(
        f"by the order alone: {', '.join(causes['qsmk'])} --> qsmk; {', '.join(causes['wt82_71'])}"
        " --> wt82_71"
    )


def _effect(result: cc.ContextGraphs, x: str, y: str, unit: str) -> str:
    row = result.effects(x, y).iloc[0]
    return f"{row['effect']:.2f} {unit} ({row['low']:.2f} to {row['high']:.2f})"


def thornton() -> None:
    """Who fetches the result of an HIV test: the incentive was drawn by lot, the distance to the
    centre set.
    """
    from causaldata import thornton_hiv

    table = thornton_hiv.load_pandas().data.drop(columns=["villnum", "tinc"]).dropna().astype(float)
    table = table.rename(
        columns={"any": "incentive", "got": "results", "distvct": "distance", "hiv2004": "hiv"}
    )
    offered = table.groupby("incentive")["results"].mean()
    print(
        f"{len(table):,} people; fetched: {offered[1]:.3f} with an incentive, {offered[0]:.3f}"
        f" without, difference {offered[1] - offered[0]:.3f}\n"
    )
    result = cc.discover(table)
    print(
        result.labeled_union,
        f"\n\nnothing known: {_effect(result, 'incentive', 'results', 'more fetch theirs')}",
    )
    near = cc.discover(table, cc.threshold("distance", 1.5))
    effects = (
        near.effects("incentive", "results").set_index("context").query("versus.isna()")["effect"]
    )
    print(
        "by distance:",
        ", ".join(f"{effect:.2f} where it is {value} km" for value, effect in effects.items()),
    )


def anes96() -> None:
    """Voters of 1996: the vote is the context, and an effect of nearly everything else."""
    from statsmodels.datasets import anes96

    table = anes96.load_pandas().data.drop(columns="popul")
    table["vote"] = table["vote"].map({0.0: "Clinton", 1.0: "Dole"})
    kinds = dict.fromkeys(ORDERED, "ordered")
    for said, known in (
        ("nothing known", None),
        ("the order of things known", cc.Knowledge(tiers=VOTE)),
    ):
        result = cc.discover(table, "vote", kinds=kinds, knowledge=known)
        changes = with_second_opinion(result).changes("Clinton", "Dole")
        print(
            f"{said}: {result.settings.method},"
            f" {len(result.edges()[['source', 'target']].drop_duplicates())} links,"
            f" {changes['claimed'].sum()} of {len(changes)} changes claimed"
        )
        print("; ".join(str(result.labeled_union).splitlines()), end="\n\n")


def flux() -> None:
    """A tower with known equations: what one call finds, on five tables."""
    known = cc.Knowledge(
        roots=["daylight"], tiers=[["Rg"], ["Tair", "VPD", "SWC", "GPP", "LE", "H"]]
    )
    true = {(cause, effect) for effect, causes in FLUX_TOWER_LINKS.items() for cause in causes}
    for seed in range(201, 206):
        result = cc.discover(
            cc.examples.flux_tower(50, seed=seed),
            context=["daylight", cc.threshold("VPD", 1.0)],
            lags=1,
            time="time",
            covariates=[cc.cycle("time", "1D")],
            knowledge=known,
        )
        found = {
            (e.source, e.target)
            for e in result.labeled_union
            if e.mark == "-->" and not e.source.startswith("time")
        }
        changes = (
            with_second_opinion(result).changes(("day", "<= 1"), ("day", "> 1")).query("claimed")
        )
        claims = sorted(
            f"{x} --> {y}" for x, y in zip(changes["source"], changes["target"], strict=True)
        )
        print(
            f"seed {seed}: {len(found & true)} of {len(true)} links; not in the equations:",
            ", ".join(sorted(f"{x} --> {y}" for x, y in found - true)) or "none",
            f"\n  changes from moist to dry air that are claimed: {', '.join(claims) or 'none'}",
        )


def el_nino() -> None:
    """Warm water off Peru and the growth of carbon dioxide, by month."""
    from statsmodels.datasets import co2, elnino

    years = elnino.load_pandas().data.set_index("YEAR")
    sea = pd.Series(
        years.to_numpy().ravel(), index=pd.date_range("1950-01", periods=years.size, freq="MS")
    )
    growth = co2.load_pandas().data["co2"].resample("MS").mean().diff()
    monthly = pd.DataFrame({"sea": sea, "co2": growth})["1958-04":"2001-12"]
    table = monthly - monthly.groupby(monthly.index.month).transform("mean")
    table["phase"] = np.where(table["sea"] > 0, "warm", "cold")
    table = table.reset_index(names="month")
    for lags in (2, 3, 6, 9):
        result = cc.discover(table, "phase", lags=lags, time="month", missing="windows")
        there, back = (
            result.summary.lags(*pair) or "none" for pair in (("sea", "co2"), ("co2", "sea"))
        )
        print(
            f"{lags} lags: sea --> co2 at {there}, co2 --> sea at {back}",
            *(w.split(",")[0] for w in result.warnings),
        )
    print(f"\n{result.summary}\n{result.slopes('sea', 'co2').to_string(index=False)}")


ANSWERS = {
    "sachs": sachs,
    "nhefs": nhefs,
    "thornton": thornton,
    "anes96": anes96,
    "flux": flux,
    "el-nino": el_nino,
}


def main() -> None:
    warnings.simplefilter("ignore")
    print(machine("statsmodels", "causaldata"))
    for name in sys.argv[1:] or ANSWERS:
        print(f"\n## {name}\n")
        ANSWERS[name]()


if __name__ == "__main__":
    main()

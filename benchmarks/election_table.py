"""A real table of mixed columns, looked at with a person's eyes: the American election study of 1996 (statsmodels).

    python benchmarks/election_table.py

944 voters; the context is whom they voted for, which is an effect of nearly everything else in the table. Prints what
`auto`, score-ac and pc-ac say with kinds declared, then with what is known about the order of things, and what differs
between the contexts. statsmodels has to be installed.
"""

from __future__ import annotations

import argparse
import time
from importlib import import_module

import pandas as pd

import causalcontext as cc
from measuring import machine

ORDERED = ("selfLR", "ClinLR", "DoleLR", "PID", "educ")
TIERS = [["age"], ["educ", "logpopul"], ["income"], ["PID"], ["selfLR", "TVnews"], ["ClinLR", "DoleLR"], ["vote"]]


def voters() -> pd.DataFrame:
    """Age, education, income, town, party, views of oneself and the candidates, news on television, and the vote."""
    table: pd.DataFrame = import_module("statsmodels.datasets").anes96.load_pandas().data.drop(columns="popul")
    return table.assign(vote=table["vote"].map({0.0: "Clinton", 1.0: "Dole"}))


def show(title: str, **options: object) -> None:
    """What one search says."""
    begin = time.process_time()
    result = cc.discover(voters(), "vote", kinds=dict.fromkeys(ORDERED, "ordered"), **options)
    seconds = time.process_time() - begin
    print(f"\n## {title}: {result.settings.method}, {seconds:.1f} s of processor time\n\n{result.labeled_union}")
    for note in (*result.notes, *(str(violation) for violation in result.model_checks)):
        print(f"- {note}")
    found = result.changes("Clinton", "Dole")
    print(found[["source", "target", "present", "claimed", "reason"]].to_string(index=False))


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", default=["auto", "score-ac", "pc-ac"])
    chosen = parser.parse_args()
    print(machine())
    known = cc.Knowledge(tiers=TIERS)
    for method in chosen.methods:
        show("nothing known", method=method)
        show("the order of things known", method=method, knowledge=known)


if __name__ == "__main__":
    main()

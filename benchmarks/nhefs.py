"""What quitting does to weight, with all 1,629 people of NHEFS: the library and the command line.

    pip install causaldata
    python benchmarks/nhefs.py

The National Health and Nutrition Examination Survey's follow-up (Hernán and Robins, Causal Inference: What If, part II;
public, in the package `causaldata`): smokers of 1971, who quit or did not, and the change of their weight until 1982.
Rows without any hole are 44 of 1,629, since dates of death and pregnancies are missing for most. The book has 3.5 kg
(2.6 to 4.5) by weighting and 3.5 kg by standardisation, from 1,566 people whose weight of 1982 is known.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import causalcontext as cc
from measuring import machine

BEFORE = ["sex", "race", "age", "education", "smokeintensity", "smokeyrs", "active", "exercise", "wt71", "sbp", "dbp",
          "income", "cholesterol", "price71"]  # fmt: skip
QUIT, WEIGHT = "qsmk", "wt82_71"
BOOK = BEFORE[:9]
"""The common causes of both in the book."""
KNOWN = cc.Knowledge(
    tiers=[BEFORE, [QUIT], [WEIGHT]],
    required=[(name, effect) for name in BOOK for effect in (QUIT, WEIGHT)] + [(QUIT, WEIGHT)],
)


def main() -> None:
    from causaldata import nhefs

    print(machine("causaldata"))
    whole = nhefs.load_pandas().data
    table = whole[[*BEFORE, QUIT, WEIGHT]].astype(float)
    print(f"{len(whole):,} people; rows without a hole: {len(whole.dropna())} in all columns, "
          f"{len(table.dropna()):,} in the {table.shape[1]} of the question")  # fmt: skip
    for missing in ("listwise", "model"):
        start = time.process_time()
        result = cc.discover(table, missing=missing, knowledge=KNOWN)
        effect = result.effects(QUIT, WEIGHT).iloc[0]
        interval = f"{effect['low']:.2f} to {effect['high']:.2f}"
        print(f"missing={missing!r}: {sum(result.data.rows):,} people, {effect['effect']:.2f} kg ({interval}), "
              f"{result.settings.method}, {time.process_time() - start:.1f} s")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        file, known, saved = (Path(folder) / name for name in ("nhefs.csv", "known.toml", "result.json"))
        table.to_csv(file, index=False)
        known.write_text(KNOWN.to_toml(), encoding="utf-8")
        command = [sys.executable, "-m", "causalcontext"]
        subprocess.run([*command, "discover", str(file), "--missing", "model", "--knowledge", str(known), "--json",
                        str(saved)], check=True, capture_output=True)  # fmt: skip
        print("causalcontext discover nhefs.csv --missing model --knowledge known.toml --json result.json")
        print(f"causalcontext effects result.json {QUIT} {WEIGHT}")
        done = subprocess.run(
            [*command, "effects", str(saved), QUIT, WEIGHT], check=True, capture_output=True, text=True
        )
        print(done.stdout)


if __name__ == "__main__":
    main()

"""Is a cause of a category claimed to come or go where only the noise of the category grows, and
where it does go?

    python benchmarks/research/claims_of_categories.py --tables 100

K has three levels, cut from a sum of X, Z and noise; X and Z come before it, and the context is a
coin that is `b` in half or in a fifth of 600 rows. In b the noise is so many times as large, or X
has no effect. A logit has no scale of its own, so that larger noise makes all of its slopes
smaller: no cause has gone, and a claim about one is false.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import causalcontext as cc

sys.path.insert(0, str(Path(__file__).parents[1]))

from measuring import machine, markdown_table

ROWS = 600
KNOWN = cc.Knowledge(tiers=[["X", "Z"], ["K"]], roots=["R"])


def table(seed: int, share: float, noise: float, size: float) -> pd.DataFrame:
    """One table; `noise` and `size` are those of b, relative to a."""
    random = np.random.default_rng(seed)
    second = random.random(ROWS) < share
    x, z, error = random.standard_normal((3, ROWS))
    total = 1.5 * np.where(second, size, 1.0) * x + z + np.where(second, noise, 1.0) * error
    levels = np.array(["low", "middle", "high"], dtype=object)[np.searchsorted([-0.8, 0.8], total)]
    return pd.DataFrame({"X": x, "Z": z, "K": levels, "R": np.where(second, "b", "a")})


def line(tables: int, share: float, noise: float, size: float) -> list[object]:
    """How many differences are listed, and which of them are claimed."""
    listed, about_x, about_z = 0, 0, 0
    for seed in range(tables):
        found = cc.discover(
            table(seed, share, noise, size), "R", method="score-ac", knowledge=KNOWN
        ).changes("a", "b")
        listed += len(found)
        about_x += int((found["claimed"] & (found["source"] == "X")).sum())
        about_z += int((found["claimed"] & (found["source"] == "Z")).sum())
    what = "X has no effect in b" if size == 0.0 else f"noise {noise:g} times as large in b"
    return [what, f"{share:.0%}", listed, about_x, about_z]


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--tables", type=int, default=100)
    tables = options.parse_args().tables
    cases = [
        (share, noise, size)
        for noise, size in ((1, 1), (2, 1), (4, 1), (8, 1), (1, 0))
        for share in (0.5, 0.2)
    ]
    lines = [line(tables, *case) for case in cases]
    print(f"{machine()}; {tables} tables a line\n")
    print(
        markdown_table(
            ("what differs", "rows of b", "differences listed", "X claimed", "Z claimed"), lines
        )
    )


if __name__ == "__main__":
    main()

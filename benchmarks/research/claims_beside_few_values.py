"""Claims of change near numbers of two to five values: how many are false, by where such a number
is.

    python benchmarks/research/claims_beside_few_values.py --models 40 --coarse 2

Systems as in `violations.py`, some of whose seven columns are 0/1, or cut into three or five
levels, of a number that acts in their place. What a result would claim if nothing were held back
for such columns is counted by the nearest one: the effect itself, its cause, a neighbour of the
effect, or one of the cause alone.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from unittest.mock import patch

import numpy as np
from claims_that_hold import changed_links

import causalcontext as cc
from causalcontext.results import changes
from causalcontext.results.violations import graded

sys.path.insert(0, str(Path(__file__).parents[1]))

import curved_models
from curved_models import Design, draw_model
from measuring import machine, markdown_table, with_second_opinion

CELLS = ("0/1", "3 levels", "5 levels")
PLACES = ("the effect", "the cause", "beside the effect", "beside the cause", "elsewhere")


def place_of(result: cc.ContextGraphs, source: str, target: str) -> str:
    """Where the nearest number of two to five values is."""
    few = graded(result)
    near = (
        {target},
        {source},
        set(result.union.neighbours(target)),
        set(result.union.neighbours(source)),
    )
    return next(
        (place for place, names in zip(PLACES, near, strict=False) if names & few), PLACES[-1]
    )


def counted(cell: str, first: int, models: int, rows: int) -> Counter[tuple[str, bool]]:
    """Claims by place and by whether they are true."""
    found: Counter[tuple[str, bool]] = Counter()
    for seed in range(first, first + models):
        model = draw_model(Design(("linear",), coarse=(cell,)), seed)
        table = model.sample(rows, np.random.default_rng([seed, rows]))
        result = cc.discover(table, "R", method="score-ac")
        with patch.object(changes, "_few_values", lambda result, change: ""):
            listed = with_second_opinion(result).changes(*result.contexts[:2])
        truth = changed_links(model, 0, 1)
        for row in listed[listed["claimed"]].itertuples():
            found[place_of(result, row.source, row.target), {row.source, row.target} in truth] += 1
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=int, default=40)
    parser.add_argument("--coarse", type=int, default=2, help="how many columns have few values")
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--first-seed", type=int, default=978_000)
    options = parser.parse_args()
    curved_models.COARSE_NODES = options.coarse
    lines, total = [], Counter()
    for cell in CELLS:
        own = counted(cell, options.first_seed, options.models, options.rows)
        total.update(own)
        lines.append(_line(cell, own))
        print(" | ".join(lines[-1]), flush=True)
    print(f"\n{markdown_table(('false / all claims', *PLACES), [*lines, _line('all', total)])}")
    print(
        f"\n{machine()}; {options.models} models a line, {options.coarse} columns of few values,"
        f" seeds from {options.first_seed}, n = {options.rows}"
    )


def _line(name: str, own: Counter[tuple[str, bool]]) -> list[str]:
    return [
        name,
        *(f"{own[place, False]} / {own[place, False] + own[place, True]}" for place in PLACES),
    ]


if __name__ == "__main__":
    main()

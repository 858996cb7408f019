"""How often are arrows right that the graphs of the contexts give to each other? By rule, on noisy
tables.

    python benchmarks/rules_across.py --models 60

Linear systems of 8 nodes with Gaussian noise (`curved_models`), pc-ac with 200, 500 and 2000 rows.
An arrow is right if the link is there in that context and points so. On exact models every one of
these rules is right. The second table is about a rule that is not used: A1, a neighbour of R that
is a known ancestor (descendant) of R causes it (is caused by it); all arrows of the same tables
without and with it.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from unittest.mock import patch

import numpy as np

import causalcontext as cc
from causalcontext.graphs.endpoints import Endpoint, directed
from causalcontext.search import rules
from causalcontext.search.across import ancestors, descendants
from causalcontext.search.family import GraphFamily, Proposal
from curved_models import Design, draw_model
from measuring import machine, markdown_table

RULES = ("A2", "A3", "V1", "V4", "F", "T1")
ROWS = (200, 500, 2000)
ALL = "all arrows"


def ancestor_of_context(family: GraphFamily) -> Iterator[Proposal]:
    """A1."""
    for context in family.contexts.positions:
        neighbours = set().union(*(graph.circles[context] for graph in family.graphs))
        for v in neighbours & ancestors(family, context):
            yield Proposal(0, v, context, Endpoint.ARROW, (context,), 0)
        for v in neighbours & descendants(family, context):
            yield Proposal(0, context, v, Endpoint.ARROW, (context,), 0)


WITH_A1 = tuple(
    rule._replace(propose=ancestor_of_context) if rule.name == "A1" else rule
    for rule in rules.RULES
)


def arrows(seed: int, rows: int) -> Counter[tuple[str, bool]]:
    """Right and wrong arrows of one table by rule."""
    model = draw_model(Design(("linear",)), seed)
    table = model.sample(rows, np.random.default_rng([seed, rows]))
    result = cc.discover(table, "R", method="pc-ac")
    found = directed(np.stack([result.graphs[value].endpoints for value in result.contexts]))
    names = ["R" if node == model.context else f"V{node}" for node in range(model.design.nodes)]
    place = np.array([names.index(name) for name in result.names])
    truth = model.truth()[:, place][:, :, place]
    count: Counter[tuple[str, bool]] = Counter()
    for g, a, b in np.argwhere(found).tolist():
        right = bool(truth[g, a, b] and not truth[g, b, a])
        count[ALL, right] += 1
        if (g, a, b) in result.origins:
            count[result.origins[g, a, b].rule, right] += 1
    return count


def of_all(count: Counter[tuple[str, bool]], name: str) -> str:
    """How many are right, of how many."""
    return f"{count[name, True]} of {count[name, True] + count[name, False]}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=int, default=60)
    parser.add_argument("--first-seed", type=int, default=820_000)
    chosen = parser.parse_args()
    seeds = range(chosen.first_seed, chosen.first_seed + chosen.models)
    totals = {rows: sum((arrows(seed, rows) for seed in seeds), Counter()) for rows in ROWS}
    with patch.object(rules, "RULES", WITH_A1):
        before = {rows: sum((arrows(seed, rows) for seed in seeds), Counter()) for rows in ROWS}
    print(
        f"{machine()}; {chosen.models} models, seeds from {chosen.first_seed}; right of all"
        " arrows\n"
    )
    lines = [(rule, *(of_all(totals[rows], rule) for rows in ROWS)) for rule in RULES]
    print(markdown_table(("rule", *(f"{rows} rows" for rows in ROWS)), lines), "\n")
    lines = [
        (ALL, *(of_all(totals[rows], ALL) for rows in ROWS)),
        ("the same with A1", *(of_all(before[rows], ALL) for rows in ROWS)),
        ("by A1", *(of_all(before[rows], "A1") for rows in ROWS)),
    ]
    print(markdown_table(("", *(f"{rows} rows" for rows in ROWS)), lines))


if __name__ == "__main__":
    main()

"""Wrong skeletons on exact models with union cycles of three or more nodes, and the extra tests, by
masked_scope.

Run as `python benchmarks/cycles.py [models] [seed]` from a checkout (it uses tests/oracle.py).
Models: R + 4 variables, 2 contexts, drawn uniformly, every one with a large union cycle. Colliders
by rule "first", so that no votes count as tests; a test that was asked before is not counted again.
What the scopes cost on noisy tables is in orientation.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from causalcontext_lab.simulate.testing import random_discrete_model, random_models
from causalcontext_lab.simulate.truth import has_long_union_cycle
from oracle import search_oracle, skeleton, wrong_marks


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    models = random_models(20 * count, seed=seed)
    models = models[has_long_union_cycle(models)][:count]
    print(
        f"{len(models)} models with a union cycle of three or more nodes (R + 4 variables, 2"
        " contexts)"
    )
    base = None
    for scope in ("adaptive", "cycle", "always"):
        wrong = marks = tests = 0
        for number, truth in enumerate(models):
            found = search_oracle(
                random_discrete_model(truth, 0, seed=number),
                masked_scope=scope,
                across=True,
                collider_rule="first",
            )
            right = np.array_equal(found.endpoints != 0, skeleton(truth))
            wrong += not right
            marks += wrong_marks(found.endpoints, truth) if right else 0
            tests += int(found.sepsets.tests.sum())
        base = tests if base is None else base
        print(
            f"{scope:10} wrong skeletons: {wrong:4d}   wrong marks where the skeleton is right:"
            f" {marks}   distinct tests: {tests / len(models):.1f} (extra:"
            f" {(tests - base) / len(models):.2f})"
        )


if __name__ == "__main__":
    main()

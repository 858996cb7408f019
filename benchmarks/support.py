"""Is the missing T - Y of Examples (i) and (ii) reported as a change of mechanism, or as a matter
of support?

Run as `python benchmarks/support.py [data sets] [rows] [first seed]`. Only data sets in which T - Y
is found in one context and not in the other are judged; what is undecided is counted apart.
"""

from __future__ import annotations

import sys
from collections import Counter

import causalcontext as cc

EXPECTED = {"example_i": ("mechanism",), "example_ii": ("support", "singular support")}


def verdicts(example: str, sets: int, rows: int, first: int) -> Counter[str]:
    """How the missing edge was explained, over seeded data sets."""
    found: Counter[str] = Counter()
    for seed in range(first, first + sets):
        result = cc.discover(getattr(cc.examples, example)(rows, seed), context="R", method="pc-ac")
        missing = [
            f
            for f in result.diagnose().about("missing edge")
            if {f.evidence["source"], f.evidence["target"]} == {"T", "Y"}
        ]
        found[missing[0].evidence["cause"] if missing else "T - Y does not vanish"] += 1
    return found


def main() -> None:
    sets, rows, first = (
        int(sys.argv[k]) if len(sys.argv) > k else d for k, d in ((1, 200), (2, 2000), (3, 0))
    )
    for example, expected in EXPECTED.items():
        found = verdicts(example, sets, rows, first)
        vanished = sets - found["T - Y does not vanish"]
        decided = vanished - found["undecided"] - found["few rows"]
        right = sum(found[word] for word in expected)
        print(f"{example}, {sets} data sets of {rows} rows: {dict(found.most_common())}")
        print(
            f"  vanishes in {vanished}; right in {right / max(vanished, 1):.1%} of these, "
            f"{right / max(decided, 1):.1%} of the decided ones"
        )


if __name__ == "__main__":
    main()

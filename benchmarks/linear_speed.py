"""What do curves and noise laws cost where nothing is curved? score-ac on linear tables, beside an older version.

    python benchmarks/linear_speed.py --before ../older-checkout --python ../older-checkout/.venv/bin/python

Tables of `score_speed.py` (two contexts; 8 nodes of the paper's generator, beyond with effects of .5 to .9 and an
average degree of 3.5). `--before` names the root of another checkout, `--python` the interpreter that has what it
needs, by default this one. Both versions run one thread each, in processes of their own, and take turns table by
table. Kernels are compiled before the first time that counts. Processor time counts: the least of `--repeats` searches
of a table, since other work on the machine only adds to it, then medians over tables.
"""

from __future__ import annotations

import argparse

import score_speed
from measuring import BESIDE, Versions, add_before, machine, markdown_table


def main() -> None:
    """Print the table."""
    options = _options()
    print(f"{machine()}\n")
    versions, rows = Versions(options.before, options.python), []
    for n in options.rows:
        score_speed.ROWS = n
        for size in options.sizes:
            tables = (score_speed.sample(size, seed) for seed in range(70_000, 70_000 + options.tables))
            found = versions.row(tables, options.repeats, context="R", method="score-ac", n_jobs=1)
            rows.append([str(size), f"{n:,}", *found])
    versions.close()
    print(markdown_table(["nodes", "rows", *BESIDE][: len(rows[0])], rows))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[8, 20, 50], help="nodes, the context included")
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 2000])
    parser.add_argument("--tables", type=int, default=7, help="of every kind")
    parser.add_argument("--repeats", type=int, default=3, help="of every table")
    add_before(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()

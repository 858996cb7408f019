"""Which test should compare a number between contexts by default? Size and power on designs drawn
for the purpose.

Run as `python benchmarks/research/which_change_test.py --half exploration|held-back [--repeats 600]`. Prints
Markdown tables: sizes at .05 by family of designs, every cell of the chosen test outside [.03,
.08], powers, and the criteria of the choice. The choice was made on the half `exploration`;
docs/decisions/change-test.md holds it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
from change_candidates import NAMES, p_values
from change_designs import HALVES, Cell, changing_cells, draw, half_of, null_cells

from causalcontext.kernels.rows.robust_change import GATE_LEVEL

sys.path.insert(0, str(Path(__file__).parents[1]))

from measuring import markdown_table

ALPHA = 0.05
LOWEST, HIGHEST = 0.03, 0.08
CHOSEN, MEAN_ONLY = NAMES.index("F: robust-change"), NAMES.index("mean only")
COMPETING = range(6)
Rates = dict[Cell, np.ndarray]


def rejection_rates(cells: Iterable[Cell], repeats: int) -> Rates:
    """The share of data sets in which each test rejects, for every cell."""
    rates = {}
    for cell in cells:
        generators = (
            np.random.default_rng([cell.seed, repeat, int(cell.effect > 0)])
            for repeat in range(repeats)
        )
        tables = (draw(cell, generator) for generator in generators)
        rates[cell] = np.mean(
            [p_values(*table, cell.k, GATE_LEVEL) < ALPHA for table in tables], axis=0
        )
    return rates


def family(cell: Cell) -> str:
    """The kind of null cell: where R comes from, and whether y is linear."""
    names = {
        "exogenous": "R a coin",
        "threshold": "R bins of Z",
        "descendant": "R bins of an effect of y",
    }
    sharp = ", sharp" if cell.sharp else ", blurred" if cell.origin != "exogenous" else ""
    return (
        names[cell.origin]
        + sharp
        + ("; linear" if cell.mechanism == "linear" else "; tanh, quadratic")
    )


def change_family(cell: Cell) -> str:
    """The kind of cell with a change."""
    origin = "R a coin" if cell.origin == "exogenous" else "R bins of Z"
    noise = "Gaussian" if cell.noise == "gaussian" else "other noise"
    return f"{cell.change}; {origin}; {cell.size} conditions; {noise}"


def print_sizes(rates: Rates, by: Callable[[Cell], str], title: str) -> None:
    """Mean size, number above the bound and largest, by family."""
    rows = []
    for name in sorted({by(cell) for cell in rates}):
        sizes = np.array([rates[cell] for cell in rates if by(cell) == name])
        above = (sizes > HIGHEST).sum(axis=0)
        columns = zip(sizes.mean(axis=0), above, sizes.max(axis=0), strict=True)
        rows.append(
            [name, str(len(sizes))]
            + [f"{mean:.3f} ({count}; {worst:.2f})" for mean, count, worst in columns]
        )
    print(f"\n{title}\n\n{markdown_table(['designs', 'cells', *NAMES], rows)}")


def print_limits(rates: Rates) -> None:
    """Every null cell in which the chosen test has not its size."""
    order = sorted(rates, key=lambda cell: -rates[cell][CHOSEN])
    for title, chosen in (
        ("Too large", [c for c in order if rates[c][CHOSEN] > HIGHEST]),
        ("Too small", [c for c in order if rates[c][CHOSEN] < LOWEST]),
    ):
        rows = [[str(cell)] + [f"{rate:.3f}" for rate in rates[cell]] for cell in chosen]
        print(f"\n{title}: {len(chosen)} of {len(rates)} null cells of {NAMES[CHOSEN]}\n")
        print(markdown_table(["cell", *NAMES], rows))


def print_powers(power: Rates, size: Rates) -> None:
    """Power by family of change, with the size in the same cells without it."""
    rows = []
    for name in sorted({change_family(cell) for cell in power}):
        chosen = [cell for cell in power if change_family(cell) == name]
        powers = np.mean([power[cell] for cell in chosen], axis=0)
        sizes = np.mean([size[replace(cell, effect=0.0)] for cell in chosen], axis=0)
        rows.append(
            [name, str(len(chosen))]
            + [f"{p:.2f} ({s:.2f})" for p, s in zip(powers, sizes, strict=True)]
        )
    print("\nPower at .05 (in brackets: size in the same cells)\n")
    print(markdown_table(["change", "cells", *NAMES], rows))


def print_criteria(power: Rates, size: Rates) -> None:
    """How far each test falls behind the mean-only test for shifts, and behind the best right one
    otherwise.
    """
    shifts = np.array([rate for cell, rate in power.items() if cell.change == "mean"])
    others = [cell for cell in power if cell.change != "mean" and cell.n == 200]
    best = np.array([_best_right(power[cell], size[replace(cell, effect=0.0)]) for cell in others])
    rows = []
    for place in COMPETING:
        loss = shifts[:, MEAN_ONLY] - shifts[:, place]
        ratio = np.array([power[cell][place] for cell in others]) / best
        lost = [f"{loss.mean():.3f}", f"{loss.max():.3f}", f"{(loss > 0.05).sum()} of {len(loss)}"]
        kept = [
            f"{ratio.mean():.2f}",
            f"{ratio.min():.2f}",
            f"{(ratio < 0.8).sum()} of {len(ratio)}",
        ]
        rows.append([NAMES[place], *lost, *kept])
    print(
        "\nShifts of the mean: power lost against the mean-only test. Slope or spread, n = 200:"
        " power as a share of the best of A-F that has a size of at most .08 in the cell\n"
    )
    header = ["test", "mean loss", "largest", "above .05", "mean share", "smallest", "below .8"]
    print(markdown_table(header, rows))


def _best_right(power: np.ndarray, size: np.ndarray) -> float:
    right = [power[place] for place in COMPETING if size[place] <= HIGHEST]
    return max(right) if right else float(power[CHOSEN])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=HALVES, required=True)
    parser.add_argument("--repeats", type=int, default=600)
    chosen = parser.parse_args()
    print(
        f"Half: {chosen.half}; {chosen.repeats} data sets a cell. Sizes at .05: mean (cells above"
        " .08; largest)."
    )
    nulls = rejection_rates(half_of(null_cells(), chosen.half), chosen.repeats)
    print_sizes(nulls, family, "Size by design")
    print_sizes(nulls, lambda cell: cell.noise, "Size by noise")
    print_sizes(nulls, lambda cell: f"n = {cell.n}", "Size by rows")
    print_limits(nulls)
    changes = half_of(changing_cells(), chosen.half)
    power = rejection_rates(changes, chosen.repeats)
    size = rejection_rates([replace(cell, effect=0.0) for cell in changes], chosen.repeats)
    print_powers(power, size)
    print_criteria(power, size)


if __name__ == "__main__":
    main()

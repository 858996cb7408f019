"""Size and power of `basis` beside `partial-correlation`, for two numbers with curved causes; its
speed.

Curves are drawn for every link among x, tanh x, x² - 1, |x|, sin 2x and a sign, each with weights
1.2 to 1.8 and of variance 1. Run `python benchmarks/curved_pairs.py [--sets 400] [--tests basis
partial-correlation]`; prints Markdown. With `--by-shape`, the size by the shape of the links: both
of a common cause, and the first of a chain.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from causalcontext.ci_tests.registry import find_test
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.views import CIQuery

Floats = NDArray[np.float64]
Random = np.random.Generator
Link = Callable[[Floats, Random], Floats]
NOISES: dict[str, Callable[[Random, int], Floats]] = {
    "Gaussian": lambda g, n: g.standard_normal(n),
    "exponential": lambda g, n: g.exponential(size=n) - 1.0,
}


SHAPES = ("x", "tanh", "square", "abs", "sine", "step")


def curve(x: Floats, g: Random) -> Floats:
    """A curve of x in standard units, with a weight."""
    shapes = _shapes(x, g)
    return weight(g) * scaled(shapes[g.integers(len(shapes))])


def of_shape(place: int) -> Link:
    """A curve of one of the shapes."""
    return lambda x, g: weight(g) * scaled(_shapes(x, g)[place])


def _shapes(x: Floats, g: Random) -> tuple[Floats, ...]:
    x = (x - x.mean()) / x.std()
    return x, np.tanh(x), x * x - 1.0, np.abs(x), np.sin(2.0 * x), np.sign(x - g.uniform(-0.7, 0.7))


def line(x: Floats, g: Random) -> Floats:
    """x in standard units, with a weight."""
    return weight(g) * scaled(x)


def scaled(x: Floats) -> Floats:
    """Mean 0, variance 1."""
    return np.asarray((x - x.mean()) / x.std())


def weight(g: Random) -> float:
    """Either sign, 1.2 to 1.8."""
    return float(g.choice([-1, 1]) * g.choice([1.2, 1.5, 1.8]))


def common_causes(
    count: int, link: Link, effect: float, n: int, noise: str, g: Random
) -> pd.DataFrame:
    """x and y with `count` causes in common, and a weaker link from x to y with a factor
    `effect`.
    """
    draw = NOISES[noise]
    causes = [draw(g, n) for _ in range(count)]
    x = sum((link(z, g) for z in causes), draw(g, n))
    y = sum((link(z, g) for z in causes), draw(g, n)) + effect * link(x, g)
    return pd.DataFrame({"x": x, "y": y, **{f"z{i}": z for i, z in enumerate(causes)}})


def chain(link: Link, n: int, noise: str, g: Random, first: Link | None = None) -> pd.DataFrame:
    """x causes z, and z causes y."""
    draw = NOISES[noise]
    x = draw(g, n)
    z = (first or link)(x, g) + draw(g, n)
    return pd.DataFrame({"x": x, "y": link(z, g) + draw(g, n), "z": z})


def rows_of_the_table(n: int, noise: str) -> dict[str, Callable[[Random], pd.DataFrame]]:
    """Kinds of tables by name."""
    return {
        f"size, lines, 3 causes, {noise}, n = {n}": lambda g: common_causes(
            3, line, 0.0, n, noise, g
        ),
        f"size, curves, 1 cause, {noise}, n = {n}": lambda g: common_causes(
            1, curve, 0.0, n, noise, g
        ),
        f"size, curves, 3 causes, {noise}, n = {n}": lambda g: common_causes(
            3, curve, 0.0, n, noise, g
        ),
        f"size, curves, chain, {noise}, n = {n}": lambda g: chain(curve, n, noise, g),
        f"power, a weak line, 1 cause, {noise}, n = {n}": lambda g: common_causes(
            1, line, 0.15, n, noise, g
        ),
        f"power, a weak curve, 1 cause, {noise}, n = {n}": lambda g: common_causes(
            1, curve, 0.15, n, noise, g
        ),
    }


def rows_by_shape(n: int, noise: str) -> dict[str, Callable[[Random], pd.DataFrame]]:
    """The same tables with the shape of some links fixed."""
    causes = {
        f"size, 1 cause, both {shape}, {noise}, n = {n}": lambda g, place=place: common_causes(
            1, of_shape(place), 0.0, n, noise, g
        )
        for place, shape in enumerate(SHAPES)
    }
    return causes | {
        f"size, chain, the first {shape}, {noise}, n = {n}": lambda g, place=place: chain(
            curve, n, noise, g, of_shape(place)
        )
        for place, shape in enumerate(SHAPES)
    }


def rejections(
    make: Callable[[Random], pd.DataFrame], tests: list[str], seeds: range, cell: int
) -> list[float]:
    """How often every test rejects x against y given the rest at .05."""
    counts = np.zeros(len(tests))
    for seed in seeds:
        table = make(np.random.default_rng([cell, seed]))
        data = read_table(table, None)
        query = CIQuery(0, 1, tuple(range(2, table.shape[1])))
        counts += [
            find_test(test).prepare(data, gather_statistics(data)).answer([query]).p[0] < 0.05
            for test in tests
        ]
    return (counts / len(seeds)).tolist()


def microseconds(
    test: str, variables: int = 12, given: int = 3, n: int = 500, queries: int = 4000
) -> float:
    """Processor time of a query in a group, without preparation."""
    g = np.random.default_rng(0)
    columns = [g.standard_normal(n)]
    for _ in range(variables - 1):
        columns.append(curve(columns[g.integers(len(columns))], g) + g.standard_normal(n))
    data = read_table(pd.DataFrame({f"v{i}": column for i, column in enumerate(columns)}), None)
    prepared = find_test(test).prepare(data, gather_statistics(data))
    drawn = [g.permutation(variables)[: given + 2].tolist() for _ in range(queries)]
    asked = [CIQuery(x, y, tuple(rest)) for x, y, *rest in drawn]
    prepared.answer(asked[:1])
    begin = time.process_time()
    prepared.answer(asked)
    return (time.process_time() - begin) / queries * 1e6


def main() -> None:
    """Print the table and the speed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sets", type=int, default=400)
    options.add_argument("--first-seed", type=int, default=0)
    options.add_argument("--rows", type=int, nargs="+", default=[100, 500])
    options.add_argument("--tests", nargs="+", default=["basis", "partial-correlation"])
    options.add_argument("--noises", nargs="+", default=list(NOISES), choices=list(NOISES))
    options.add_argument("--by-shape", action="store_true")
    chosen = options.parse_args()
    print(f"| rejections at .05, {chosen.sets} tables | {' | '.join(chosen.tests)} |")
    print(f"|---|{'---|' * len(chosen.tests)}")
    kinds = rows_by_shape if chosen.by_shape else rows_of_the_table
    cells = {
        name: make
        for noise in chosen.noises
        for n in chosen.rows
        for name, make in kinds(n, noise).items()
    }
    for cell, (name, make) in enumerate(cells.items()):
        shares = rejections(
            make, chosen.tests, range(chosen.first_seed, chosen.first_seed + chosen.sets), cell
        )
        print(f"| {name} | {' | '.join(f'{share:.3f}' for share in shares)} |", flush=True)
    for given in (0, 1, 3, 5):
        print(f"basis, {given} given: {microseconds('basis', given=given):.0f} us a trial")


if __name__ == "__main__":
    main()

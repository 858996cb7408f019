"""Where is `cautious-change` the better test of a category against a number?

    python benchmarks/cautious_change.py

The share of tables of 300 rows in which either test rejects at .05. In the first kind of table the
context is three bins of Z and Y a curve of Z, so that nothing links the two given Z; in the second
the context is a coin that shifts Y by .45 standard deviations of its noise.
"""

from __future__ import annotations

import argparse

import numpy as np

from causalcontext.ci_tests.change import CautiousChange, RobustChange
from causalcontext.ci_tests.rows import Variable
from causalcontext.data.columns import Kind
from causalcontext.kernels.arrays import Floats
from measuring import markdown_table

ROWS = 300
LEVEL = 0.05
TESTS = (CautiousChange(), RobustChange())


def sharp_bins(random: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Bins of z, a curve of z, and z."""
    z = random.normal(size=ROWS)
    y = np.tanh(2.0 * z) + 0.3 * random.normal(size=ROWS)
    return np.digitize(z, (-0.6, 0.6)).astype(float), y, z


def coin(random: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """A coin, a number that it shifts, and z."""
    context = random.integers(0, 2, ROWS).astype(float)
    z = random.normal(size=ROWS)
    return context, z + 0.45 * context + random.normal(size=ROWS), z


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=600)
    tables = parser.parse_args().tables
    rows = []
    for title, drawn in (("bins of Z, Y a curve of Z: size", sharp_bins), ("coin: power", coin)):
        rejected = np.zeros(len(TESTS))
        for seed in range(tables):
            context, y, z = drawn(np.random.default_rng(seed))
            category = Variable(context, Kind.CATEGORICAL, int(context.max()) + 1)
            numbers = [Variable(values, Kind.CONTINUOUS) for values in (y, z)]
            for number, test in enumerate(TESTS):
                answer = test.compare(category, numbers[0], numbers[1:], np.random.default_rng(0))
                rejected[number] += answer.p < LEVEL
        rows.append([title, *(f"{share:.2f}" for share in rejected / tables)])
    print(markdown_table([f"{tables} tables", *(test.name for test in TESTS)], rows))


if __name__ == "__main__":
    main()

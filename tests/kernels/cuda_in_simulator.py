"""Run as a program with NUMBA_ENABLE_CUDASIM=1: the CUDA twins against the kernels of the CPU, on
small queries.
"""

import itertools

import numpy as np

from causalcontext.ci_tests.cmi_knn import CmiKnn, exchange_of, rank_space
from causalcontext.ci_tests.rows import as_variable
from causalcontext.data.columns import Kind
from causalcontext.kernels.cuda import neighbours as on_card

ROWS = 16


def columns(seed: int, kinds: str):
    """Numbers (n), numbers with ties (t) and codes (c) that share a cause, with shifted means and
    negative slopes.
    """
    random = np.random.default_rng(seed)
    cause = random.standard_normal(ROWS)
    found = []
    for kind, slope in zip(kinds, itertools.cycle([1.0, -0.8, 0.5])):
        values = 1e3 + slope * cause + random.standard_normal(ROWS)
        if kind == "c":
            values = np.digitize(values, [999.5, 1000.5]).astype(float)
        elif kind == "t":
            values = np.round(values)
        found.append(as_variable(values, Kind.CATEGORICAL if kind == "c" else Kind.CONTINUOUS))
    return found


def check_neighbours() -> None:
    """Queries of cmi-knn on numbers, ties and codes: same neighbours, same statistics, same
    p-values.
    """
    on_card.THREADS = 32
    for seed, kinds in enumerate(["nnn", "cnt"]):
        x, y, *given = columns(seed, kinds)
        answers = [
            CmiKnn(permutations=2, enough=None, device=device).compare(
                x, y, given, np.random.default_rng(seed)
            )
            for device in ("cpu", "cuda")
        ]
        space = rank_space(x, y, given)
        nearest = [
            exchange_of(space, 3, np.uint64(seed), device).nearest for device in ("cpu", "cuda")
        ]
        assert np.array_equal(*nearest), kinds
        assert answers[0].reason == answers[1].reason, kinds
        assert answers[0].p == answers[1].p, kinds
        assert abs(answers[0].statistic - answers[1].statistic) < 1e-10, kinds
        print(kinds, answers[1])


if __name__ == "__main__":
    check_neighbours()

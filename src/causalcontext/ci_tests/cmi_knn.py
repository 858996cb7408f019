"""`cmi-knn`: conditional mutual information from neighbours in rank space, with local permutations,
for any columns.

Runge (2018), "Conditional independence testing based on a nearest-neighbor estimator of conditional
mutual information", carried over to codes and ties by the estimator of Mesner and Shalizi (2020).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import ClassVar, NamedTuple

import numpy as np
import scipy

from causalcontext.ci_tests.protocol import Strength
from causalcontext.ci_tests.rows import (
    Comparison,
    RowTest,
    Variable,
    as_variable,
    check_permutations,
    permutation_p,
    untestable,
)
from causalcontext.ci_tests.settings import FEWEST_NEIGHBOUR_ROWS, LARGEST_RANKED_TABLE
from causalcontext.data.columns import Kind
from causalcontext.data.dataset import mean_ranks
from causalcontext.errors import OptionError
from causalcontext.kernels.arrays import Bools, Floats, Ints, Shorts
from causalcontext.kernels.rows import neighbours
from causalcontext.kernels.threads import in_threads
from causalcontext.views import Reason


@dataclass(frozen=True)
class CmiKnn(RowTest):
    """Conditional mutual information by nearest neighbours, tested by local permutations.

    Numbers and ordered codes are replaced by their ranks (ties: mean ranks), categorical codes are
    at distance 0 or farther than any two ranks, and the distance of two rows is the largest over
    columns. With r the distance of row i to its k-th neighbour in all columns, the estimate is the
    mean over rows of

    - psi(k) - psi(n_xz) - psi(n_yz) + psi(n_z), where n counts the rows closer than r, row i
      included (Frenzel and Pompe 2007), if every column is a number without ties: the statistic of
      tigramite's `CMIknn` on ranks;
    - psi(n_xyz) - psi(n_xz) - psi(n_yz) + psi(n_z), where n counts the rows at most as far as r,
      row i left out (Mesner and Shalizi 2020), as soon as there are codes or ties. Their k tilde is
      k unless r = 0; here it is always n_xyz, the number of rows up to r: the same where no two
      distances are equal, and consistent with the other counts where they are, as they often are
      between ranks. A row alone with its codes contributes 0.

    The two differ by terms of order 1 / k, so one is not a limit of the other, and statistics of
    queries of different kinds should not be compared; p-values may.

    A categorical column is permuted rather than a number, else x. Rows with equal conditions, if
    there are at least `shuffle_neighbours` of them, are permuted among themselves, which is exact:
    so are all rows where nothing is given.
    """

    seed: int = 0
    # the k of the estimator; below 1 a share of the rows that have the same codes as the row in
    # question (of all rows, where all columns are numbers)
    neighbours: float = 0.2
    permutations: int = 100
    # a permutation gives every row the x of one of that many rows with the nearest conditions,
    # itself among them
    shuffle_neighbours: int = 5
    enough: int | None = (
        10  # permutations that reach the observed statistic before drawing stops; None: draw all
    )
    # larger tables are thinned to that many rows: time grows with the square of the rows
    most_rows: int = 10_000
    device: str = (
        "cpu"  # or "cuda", with the same answers; queries of more than 12,000 rows stay on the CPU
    )
    strength: ClassVar[Strength] = Strength.INFORMATION
    model_free: ClassVar[bool] = True
    name: str = field(default="cmi-knn", init=False, repr=False)

    def __post_init__(self) -> None:
        check_permutations(self.permutations, self.enough)
        if not self.neighbours > 0:
            raise OptionError(
                f"neighbours is {self.neighbours!r}, expected a share of rows or a number of"
                " neighbours"
            )
        if self.shuffle_neighbours < 2:
            raise OptionError(
                f"shuffle_neighbours is {self.shuffle_neighbours!r}, expected at least 2"
            )
        if not FEWEST_NEIGHBOUR_ROWS <= self.most_rows <= LARGEST_RANKED_TABLE:
            raise OptionError(
                f"most_rows is {self.most_rows!r}, expected {FEWEST_NEIGHBOUR_ROWS} to"
                f" {LARGEST_RANKED_TABLE}"
            )

    def compare(
        self, x: Variable, y: Variable, given: Sequence[Variable], random: np.random.Generator
    ) -> Comparison:
        """The estimate, in nats, and its p-value."""
        if x.values.size > self.most_rows:
            rows = random.choice(x.values.size, self.most_rows, replace=False)
            thin = [
                as_variable(variable.values[rows], variable.kind) for variable in (x, y, *given)
            ]
            if thin[0] is None or thin[1] is None:
                return untestable(Reason.CONSTANT)
            return self.compare(thin[0], thin[1], [z for z in thin[2:] if z is not None], random)
        if x.values.size < max(FEWEST_NEIGHBOUR_ROWS, self.neighbours + 2):
            return untestable(Reason.FEW_ROWS)
        if y.kind is Kind.CATEGORICAL and x.kind is not Kind.CATEGORICAL:
            # codes are rather permuted than numbers
            x, y = y, x
        space = rank_space(x, y, given)
        exchange = exchange_of(space, self.shuffle_neighbours, _seed(random), self.device)
        reason = exchange.obstacle(space)
        if reason:
            return untestable(reason)
        observed = self._statistics(space, space.columns[:1])[0]
        seed = _seed(random)
        threads = 1 if self.device == "cpu" else min(8, os.cpu_count() or 1)

        def draw(first: int, count: int) -> Floats:
            return self._statistics(
                space, space.columns[0][exchange.sources(first, count, seed, threads)]
            )

        return Comparison(
            observed, np.nan, permutation_p(observed, draw, self.permutations, self.enough)
        )

    def statistic(self, x: Variable, y: Variable, given: Sequence[Variable]) -> float:
        """The estimate alone, in nats, on all rows (at most 16,000).

        >>> x = Variable(np.arange(20.0), Kind.CONTINUOUS)
        >>> y = Variable(np.arange(20.0) // 10, Kind.CATEGORICAL, levels=2)
        >>> round(CmiKnn().statistic(x, y, []), 2)
        0.69
        """
        space = rank_space(x, y, given)
        return float(self._statistics(space, space.columns[:1])[0])

    def _statistics(self, space: RankSpace, shuffled: Shorts) -> Floats:
        kernels = kernels_on(self.device, space.columns.shape[1])
        statistics: Floats = kernels.shuffled_information(
            shuffled,
            space.is_code,
            space.columns[1:],
            space.psi,
            space.far,
            float(self.neighbours),
            space.strict,
        )
        return statistics


class RankSpace(NamedTuple):
    """The columns x, y, z, ... of a query as ranks and codes: what all distances are made of."""

    columns: Shorts  # shape (columns, rows)
    is_code: Bools  # shape (columns,)
    far: int  # the distance between two codes
    strict: bool  # whether every column is a number without ties
    psi: Floats  # shape (rows + 1,)


def rank_space(x: Variable, y: Variable, given: Sequence[Variable]) -> RankSpace:
    """Numbers as ranks, twice the mean rank if there are ties or codes; categorical codes as they
    are.
    """
    variables = (x, y, *given)
    rows = x.values.size
    if rows > LARGEST_RANKED_TABLE:
        raise OptionError(
            f"there are {rows} rows, expected at most {LARGEST_RANKED_TABLE}: draw some of them"
        )
    is_code = np.array([variable.kind is Kind.CATEGORICAL for variable in variables])
    columns = [
        v.codes if code else (2.0 * mean_ranks(v.values) - 2.0).astype(np.int64)
        for v, code in zip(variables, is_code, strict=True)
    ]
    strict = not any(
        v.levels or np.unique(column).size < rows
        for v, column in zip(variables, columns, strict=True)
    )
    stacked = np.array(columns) // (2 if strict else 1)
    psi = np.concatenate([[0.0], scipy.special.digamma(np.arange(1, rows + 1))])
    return RankSpace(
        np.ascontiguousarray(stacked, np.int16), is_code, (1 if strict else 2) * rows, strict, psi
    )


class Permutable(NamedTuple):
    """The rows that may exchange their x: strata of rows with equal conditions, and rows with
    nearest ones.
    """

    nearest: Ints
    loose: Ints
    strata: Ints
    starts: Ints

    def sources(self, first: int, count: int, seed: np.uint64, threads: int = 1) -> Ints:
        """The row whose x every row takes, for `count` permutations from the `first` on; shape
        (count, rows).
        """

        def draw(part: Ints) -> Ints:
            return neighbours.local_shuffles(*self, part[0], part.size, seed)

        parts = [
            part for part in np.array_split(np.arange(first, first + count), threads) if part.size
        ]
        return np.concatenate(list(in_threads(draw, parts, threads)))

    def obstacle(self, space: RankSpace) -> Reason:
        """The reason why permutations say nothing: next to no row has another to exchange with, or
        x or y is the same in all.
        """
        partners = (self.nearest[self.loose] >= 0).sum(axis=1)
        if self.strata.size + (partners > 1).sum() < FEWEST_NEIGHBOUR_ROWS:
            return Reason.FEW_ROWS
        if (
            self._movable(space.columns[0]) < FEWEST_NEIGHBOUR_ROWS
            or self._movable(space.columns[1]) < FEWEST_NEIGHBOUR_ROWS
        ):
            return Reason.COLLINEAR
        return Reason.TESTABLE

    def _movable(self, values: Shorts) -> int:
        """The number of rows that can take a value other than their own."""
        total = 0
        for start, stop in zip(self.starts[:-1], self.starts[1:], strict=True):
            members = values[self.strata[start:stop]]
            total += members.size if members.min() < members.max() else 0
        near = self.nearest[self.loose]
        others = values[np.where(near >= 0, near, self.loose[:, np.newaxis])]
        return total + int((others != values[self.loose][:, np.newaxis]).any(axis=1).sum())


def exchange_of(space: RankSpace, most: int, seed: np.uint64, device: str = "cpu") -> Permutable:
    """Rows with at least `most` equals in the conditions as strata; the others with their `most`
    nearest rows.
    """
    given = space.columns[2:]
    is_code = space.is_code[2:]
    rows = space.columns.shape[1]
    cells = (
        np.zeros(rows, np.intp)
        if len(given) == 0
        else np.unique(given, axis=1, return_inverse=True)[1].ravel()
    )
    sizes = np.bincount(cells)
    large = sizes[cells] >= most
    strata = np.flatnonzero(large)
    strata = strata[np.argsort(cells[strata], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(sizes[sizes >= most])])
    loose = np.flatnonzero(~large)
    nearest = np.full((rows, most), -1)
    if loose.size:
        nearest = kernels_on(device, rows).nearest_rows(given, is_code, space.far, most, seed)
    return Permutable(nearest, loose, strata, starts)


def kernels_on(device: str, rows: int) -> ModuleType:
    """The kernels that count neighbours: on the CPU, or their twins on a card, if it holds so many
    rows.
    """
    if device == "cpu":
        return neighbours
    from causalcontext.kernels.cuda import neighbours as on_card

    return on_card if rows <= on_card.MOST_ROWS else neighbours


def _seed(random: np.random.Generator) -> np.uint64:
    """A seed for streams of random numbers."""
    return np.uint64(random.integers(2**63))

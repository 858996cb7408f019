"""Rows that are no observations of their own: copies of other rows, exact or with a trace of noise,
and totals.

Tables of categories and rounded numbers repeat rows naturally. Pairs of rows that differ in one
fine number alone tell how often: of N pairs that are equal in the others, a share of about P is
equal altogether, the chance that two values of the number are the same. Copies are rows that repeat
far more often than this for every fine number.
"""

from __future__ import annotations

import numpy as np
import scipy

from causalcontext.data.dataset import Dataset
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.screening.damage.finding import (
    Damage,
    DamageKind,
    NumberColumn,
    percent,
)
from causalcontext.screening.settings import (
    COPIES_BY_CHANCE_FACTOR,
    FEWEST_COPIES,
    FEWEST_EFFECTIVE_VALUES,
    FEWEST_NUMBERS_OF_NEAR_COPIES,
    FEWEST_ROWS_BESIDE_TOTALS,
    HASH_FACTOR,
    LARGEST_DISTANCE_OF_A_NEAR_COPY,
    LEAST_EFFECTIVE_SHARE_OF_SHORT_TABLES,
    LEAST_SHARE_OF_NEAR_COPIES,
    MEAN_WITHIN,
    MOST_NUMBERS_OF_NATURAL_REPEATS,
    MOST_NUMBERS_OF_NEAR_COPIES,
    MOST_ROWS_OF_NEAR_COPIES,
    MOST_ROWS_WITH_MEANS,
    NEIGHBOURS_OF_A_COPY,
    ROWS_ASKED_FOR_COPIES,
    SUM_WITHIN,
)

KEEP = "to search it as it is, pass damaged='keep'"
MIX = np.uint64(HASH_FACTOR)


def copies_of_rows(data: Dataset, numbers: tuple[NumberColumn, ...]) -> Damage | None:
    """The rows that repeat an earlier one in all columns, where that is beyond chance; None without
    any.

    Every row has a key, the sum of hashes of its cells, and rows of one key are equal. Without the
    hash of one fine number, the keys tell which pairs are equal in all other columns; of N such
    pairs about N P / (1 - P) are equal altogether by chance, P being the share of pairs of rows
    with one value of the number. Of the numbers asked, the one that expects most of them counts.
    """
    fine = sorted(
        (column for column in numbers if _is_fine(column)), key=lambda column: -column.effective
    )
    if len(fine) < 2 or data.n_rows < FEWEST_ROWS_BESIDE_TOTALS:
        return None
    first = _hashed(fine[0].values) + _hashed(fine[1].values) * MIX
    ordered = np.sort(first)
    if not (ordered[1:] == ordered[:-1]).any():
        return None
    keys = {
        position: _hashed(np.asarray(column)) * _weight(position)
        for position, column in enumerate(data.columns)
    }
    key = np.sum(list(keys.values()), axis=0, dtype=np.uint64)
    _, earliest, sizes = np.unique(key, return_index=True, return_counts=True)
    copies = np.ones(data.n_rows, dtype=bool)
    copies[earliest] = False
    count = int(copies.sum())
    equal = _pairs(sizes)
    natural = 0.0
    if count < FEWEST_COPIES:
        return None
    for column in fine[:MOST_NUMBERS_OF_NATURAL_REPEATS]:
        equal_but_in_it = (
            _pairs(np.unique(key - keys[column.position], return_counts=True)[1]) - equal
        )
        chance = 2.0 * _pairs(np.unique(column.values, return_counts=True)[1]) / data.n_rows**2
        natural = max(natural, equal_but_in_it * chance / max(1.0 - chance, 1e-3))
    if equal < FEWEST_COPIES + COPIES_BY_CHANCE_FACTOR * natural:
        return None
    share = count / data.n_rows
    words = (
        f"{count:,} of {data.n_rows:,} rows ({percent(share)}) are duplicates, equal to an earlier"
        " row in every column, far more than chance makes: they are counted once, which leaves"
        f" {data.n_rows - count:,} rows (as table.drop_duplicates() does); {KEEP}"
    )
    return Damage(DamageKind.DUPLICATES, (), share, words, rows=copies)


def near_copies_of_rows(data: Dataset, numbers: tuple[NumberColumn, ...]) -> Damage | None:
    """The rows that are nearly equal to an earlier one, where many are nearer than any other row;
    None without any.

    Distances are those of the fine numbers, most of whose values differ, in standard units. Some
    rows are asked first. A copy must be of the same context.
    """
    fine = [column for column in numbers if 2 * len(column.distinct) > len(column.some)][
        :MOST_NUMBERS_OF_NEAR_COPIES
    ]
    if (
        len(fine) < FEWEST_NUMBERS_OF_NEAR_COPIES
        or not 10 * NEIGHBOURS_OF_A_COPY <= data.n_rows <= MOST_ROWS_OF_NEAR_COPIES
    ):
        return None
    values = np.column_stack([column.values for column in fine])
    usable = np.flatnonzero(np.isfinite(values).all(axis=1))
    if len(usable) < 10 * NEIGHBOURS_OF_A_COPY:
        return None
    values = values[usable]
    spread = values.std(axis=0)  # 0 where numbers are so small that their squares are none
    values = (values - values.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    if len(np.unique(values[:, 0])) < 2:
        return None
    asked = np.arange(0, len(values), -(-len(values) // ROWS_ASKED_FOR_COPIES))
    distances, neighbours = _nearest(values, asked)
    if _near(distances, neighbours, asked)[1].any(axis=1).mean() < LEAST_SHARE_OF_NEAR_COPIES:
        return None
    distances, neighbours = scipy.spatial.cKDTree(values).query(values, k=NEIGHBOURS_OF_A_COPY + 2)
    neighbours, near = _near(distances, neighbours, np.arange(len(values)))
    codes = data.codes[usable]
    near &= codes[neighbours] == codes[:, None]
    if near.any(axis=1).mean() < LEAST_SHARE_OF_NEAR_COPIES:
        return None
    copies = np.zeros(data.n_rows, dtype=bool)
    copies[usable] = (near & (neighbours < np.arange(len(values))[:, None])).any(axis=1)
    count = int(copies.sum())
    share = count / data.n_rows
    nearer = 1 / LARGEST_DISTANCE_OF_A_NEAR_COPY
    words = (
        f"{count:,} of {data.n_rows:,} rows ({percent(share)}) are nearly equal to an earlier row,"
        f" {nearer:.0f} times nearer to it than to any other, as rows are that were copied or"
        f" measured twice: they are left out, since they are no new evidence; {KEEP}"
    )
    return Damage(DamageKind.NEAR_DUPLICATES, (), share, words, rows=copies)


def row_of_totals(data: Dataset, numbers: tuple[NumberColumn, ...]) -> Damage | None:
    """The row that holds sums or means of all others, where one does in most number columns; None
    without any. Columns of few values count, too, where no summary of a fine number tells.
    """
    if data.n_rows <= FEWEST_ROWS_BESIDE_TOTALS:
        return None
    asked = [column for column in numbers if column.effective > 2.0]
    hits: dict[tuple[str, int], list[str]] = {}
    for column in asked:
        for how, row in _total_of(column.values):
            hits.setdefault((how, row), []).append(column.name)
    enough = {
        key: names for key, names in hits.items() if len(names) >= 2 and 2 * len(names) > len(asked)
    }
    if not enough:
        return None
    (how, row), names = max(enough.items(), key=lambda item: len(item[1]))
    rows = np.arange(data.n_rows) == row
    words = (
        f"row {row + 1:,} holds the {how}s of all other rows in {len(names)} columns, {names[0]}"
        f" and {names[1]} among them: a row of totals is left out; {KEEP}"
    )
    return Damage(DamageKind.TOTALS, tuple(names), 1.0 / data.n_rows, words, rows=rows)


def _total_of(values: Floats) -> list[tuple[str, int]]:
    """The rows that hold the sum or the mean of the others, with the word for it; one at most.

    A sum is the value that is farthest from 0, twice as far as any other. A mean of the others is
    the mean of all as well, and no other row may have it.
    """
    total = float(values.sum())
    if not np.isfinite(total):
        values = np.where(np.isfinite(values), values, np.nan)
        total = float(np.nansum(values))
    count = int(np.count_nonzero(values == values))
    if count <= FEWEST_ROWS_BESIDE_TOTALS:
        return []
    row = max(
        int(np.nanargmax(values)),
        int(np.nanargmin(values)),
        key=lambda candidate: abs(float(values[candidate])),
    )
    rest = float(total - values[row])
    if rest != 0.0 and abs(values[row] - rest) <= SUM_WITHIN * abs(rest):
        return (
            [("sum", row)]
            if abs(values[row]) > 2.0 * np.nanmax(np.abs(np.delete(values, row)))
            else []
        )
    if count > MOST_ROWS_WITH_MEANS:
        return []
    hit = np.flatnonzero(np.abs(values - total / count) <= MEAN_WITHIN * float(np.nanstd(values)))
    return [("mean", int(hit[0]))] if len(hit) == 1 else []


def _is_fine(column: NumberColumn) -> bool:
    """True if a column has values enough to tell rows apart, in a short table three tenths of the
    rows.
    """
    return column.effective >= min(
        FEWEST_EFFECTIVE_VALUES, LEAST_EFFECTIVE_SHARE_OF_SHORT_TABLES * len(column.some)
    )


def _nearest(values: Floats, asked: Ints) -> tuple[Floats, Ints]:
    """The distances to the nearest rows of some rows, and the numbers of these, the nearest first.

    `values` has shape (rows, columns), `asked` the numbers of the m rows that are asked. Both
    results have shape (m, NEIGHBOURS_OF_A_COPY + 2), the row itself among them. For few rows this
    takes less time than to import trees.
    """
    squares = np.sum(values**2, axis=1)
    distances = np.maximum(squares[asked, None] + squares - 2.0 * values[asked] @ values.T, 0.0)
    nearest = np.argpartition(distances, NEIGHBOURS_OF_A_COPY + 1, axis=1)[
        :, : NEIGHBOURS_OF_A_COPY + 2
    ]
    picked = np.take_along_axis(distances, nearest, axis=1)
    order = np.argsort(picked, axis=1)
    return np.sqrt(np.take_along_axis(picked, order, axis=1)), np.take_along_axis(
        nearest, order, axis=1
    )


def _near(distances: Floats, neighbours: Ints, asked: Ints) -> tuple[Ints, Bools]:
    """The nearest rows but the row itself, and True for those that are far nearer than the next
    one.

    Both have shape (m, NEIGHBOURS_OF_A_COPY). If the third nearest row is far nearer than the
    fourth, the first two are copies as well, however their distances compare. Where equal rows hide
    the row itself, the farthest one goes.
    """
    oneself = neighbours == asked[:, None]
    oneself[~oneself.any(axis=1), -1] = True
    distances = distances[~oneself].reshape(len(asked), NEIGHBOURS_OF_A_COPY + 1)
    neighbours = neighbours[~oneself].reshape(len(asked), NEIGHBOURS_OF_A_COPY + 1)
    jump = distances[:, :-1] < LARGEST_DISTANCE_OF_A_NEAR_COPY * distances[:, 1:]
    near = np.flip(np.maximum.accumulate(np.flip(jump, axis=1), axis=1), axis=1)
    return neighbours[:, :-1].astype(np.int64), near


def _pairs(sizes: np.ndarray) -> float:
    """The number of pairs of rows of one group, by the sizes m of the groups: sum m (m - 1) / 2."""
    counts = sizes.astype(np.float64)
    return float(np.sum(counts * (counts - 1.0))) / 2.0


def _hashed(values: np.ndarray) -> np.ndarray:
    """64 well mixed bits of every value, shape (rows,); equal values have equal bits."""
    bits = (values.astype(np.float64) + 0.0).view(np.uint64)  # -0.0 + 0.0 is 0.0
    bits = (bits ^ (bits >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(29))) * np.uint64(0x94D049BB133111EB)
    mixed: np.ndarray = bits ^ (bits >> np.uint64(32))
    return mixed


def _weight(position: int) -> np.uint64:
    """An odd number for a column, so that swapped values have other keys."""
    return np.uint64((2 * position + 1) * int(MIX) % 2**64 | 1)

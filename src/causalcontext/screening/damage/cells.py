"""Cells that are no measurements: codes for missing values, imputed means, values carried forward
or interpolated, a slip of the pen.

They share a value that occurs far more often than its neighbours do, or lie far away from all
others. Such cells are taken for missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy

from causalcontext.data.dataset import Dataset
from causalcontext.errors import listed
from causalcontext.kernels.arrays import Bools, Floats
from causalcontext.screening.damage.finding import (
    Damage,
    DamageKind,
    NumberColumn,
    last_digit,
    percent,
    robust_units,
    union_of,
)
from causalcontext.screening.left_out import DoubtfulScale
from causalcontext.screening.relations import is_short
from causalcontext.screening.settings import (
    DEVIATIONS_AROUND_A_CODE,
    FAR_CODES,
    FEWEST_CELLS_CARRIED,
    FEWEST_CELLS_OF_A_FAR_CODE,
    FEWEST_CELLS_OF_A_GRID_CODE,
    FEWEST_CELLS_OF_A_HEAP,
    FEWEST_CELLS_OF_A_NEAR_CODE,
    FEWEST_EFFECTIVE_VALUES,
    FEWEST_FAR_CELLS,
    FEWEST_OTHER_VALUES,
    FEWEST_REPEATED_CELLS,
    FEWEST_REPEATS_IN_A_LOOK,
    FEWEST_ROWS_OF_FAR_CELLS,
    FEWEST_VALUES_BESIDE_A_MEAN,
    FIRST_ROWS_OF_RUNS,
    LARGEST_CHANCE_OF_A_CODE,
    LARGEST_ERRORS_OF_AN_IMPUTED_MEAN,
    LARGEST_OVERLAP_OF_CARRIED,
    LARGEST_REACH_OF_TAME_NUMBERS,
    LARGEST_SHARE_CARRIED,
    LARGEST_SHARE_ELSEWHERE,
    LARGEST_SHARE_OF_A_HEAP,
    LARGEST_SHARE_OF_A_NEAR_CODE,
    LARGEST_SHARE_OF_SLIPS,
    LARGEST_STEP_OF_A_FINE_NUMBER,
    LARGEST_STEP_OF_INTERPOLATED,
    LEAST_DEVIATIONS_OF_A_NEAR_CODE,
    LEAST_RANGES_AWAY,
    LEAST_RANGES_OF_ONE_SLIP,
    LEAST_RANGES_OF_SEVERAL_SLIPS,
    LEAST_REPEATED_SHARE,
    LEAST_SHARE_OF_TURNS,
    LEAST_STEPS_OF_A_GRID_CODE,
    LEAST_TIMES_OFTENER,
    MEAN_WITHIN,
    MOST_COLUMNS_OF_A_SENTENCE,
    MOST_ROWS_OF_A_LOOK,
    MOST_VALUES_AROUND_A_CODE,
    NEAR_CODES,
    NEIGHBOURS_OF_A_CODE,
    ON_GRID_WITHIN,
    ROUNDED_MEAN_WITHIN,
    ROUNDING_OF_A_MIDPOINT,
    ROWS_APART,
    VALUES_BESIDE_A_CODE,
)

KEEP_CELLS = "if they are measurements, pass damaged='keep'"


def codes_of(column: NumberColumn) -> dict[float, int]:
    """The values of a column that are codes for missing values, with their counts.

    >>> import numpy as np
    >>> from causalcontext.data.tables import read_table
    >>> from causalcontext.screening.damage.finding import (number_columns, )
    >>> x = [1.0, 2.0, -9999.0, 3.0, -9999.0, -9999.0]
    >>> data = read_table({"X": x, "Y": np.arange(6.0)}, None)
    >>> [codes_of(column) for column in number_columns(data)]
    [{-9999.0: 3}, {}]
    """
    measured = column.values[np.isfinite(column.values)]
    low = float(measured.min())
    high = float(measured.max())
    listed_codes = [code for code in (*FAR_CODES, *NEAR_CODES) if low <= code <= high]
    possible = dict.fromkeys([*listed_codes, low, high])
    counts = {code: int(np.count_nonzero(column.values == code)) for code in possible}
    counts = {code: count for code, count in counts.items() if count >= FEWEST_CELLS_OF_A_FAR_CODE}
    if not counts:
        return {}
    outermost_first = sorted(counts, key=lambda code: -abs(code - float(np.median(column.some))))
    for first in range(len(outermost_first)):
        # a code is judged beside all values that are no codes
        asked = outermost_first[first:]
        rest = column.values[~np.isin(column.values, asked) & np.isfinite(column.values)]
        codes = {code: counts[code] for code in asked if _is_code(code, counts[code], rest)}
        if len(codes) == len(asked):
            return codes
    return _outermost(column.values, outermost_first, counts)


def _outermost(
    values: Floats, asked: Sequence[float], counts: dict[float, int]
) -> dict[float, int]:
    """The codes among values of which some are measurements, with their counts.

    `asked` begins with the outermost value; each is judged beside all values but itself and the
    codes before it, so that one code does not hide the next.
    """
    codes: dict[float, int] = {}
    for code in asked:
        rest = values[~np.isin(values, [*codes, code]) & np.isfinite(values)]
        if _is_code(code, counts[code], rest):
            codes[code] = counts[code]
    return codes


def _is_code(code: float, count: int, rest: Floats) -> bool:
    """True if a value stands apart from the rest as a code does.

    `rest` are all other values, without missing ones, and `count` the cells that have the value. A
    value of the two lists is a code outside the range of the rest by that range; nearer than that,
    a near one may be. A value of neither list is a code only outside, and only of a fine number.
    """
    if not len(rest):
        return False
    low = float(rest.min())
    high = float(rest.max())
    outside = max(low - code, code - high)
    certain = code in FAR_CODES
    if not certain and code not in NEAR_CODES:
        return (
            count >= FEWEST_CELLS_OF_A_NEAR_CODE
            and outside > LEAST_RANGES_AWAY * (high - low) > 0.0
            and _are_fine(rest)
        )
    if high > low and outside > LEAST_RANGES_AWAY * (high - low):
        return count >= FEWEST_CELLS_OF_A_FAR_CODE
    if high == low:
        return certain and outside > 0.0 and count >= FEWEST_CELLS_OF_A_FAR_CODE
    return _is_near_code(code, count, rest)


def _is_near_code(code: float, count: int, rest: Floats) -> bool:
    """True if a value of the lists is a code though it lies among the rest, or near to it.

    It must be frequent but no state of its own, far from the median, and have hardly any values
    around it. Inside a fine number it must repeat beyond chance, beyond its ends oftener than the
    values that are nearest. Beside a grid it must be some steps away from all of its values; a step
    is the distance of the two that are nearest, since grids may widen towards an end, as that of
    logarithms of counts does.
    """
    rows = count + len(rest)
    if count < FEWEST_CELLS_OF_A_NEAR_CODE or count > LARGEST_SHARE_OF_A_NEAR_CODE * rows:
        return False
    median, deviation = robust_units(rest)
    if abs(code - median) < LEAST_DEVIATIONS_OF_A_NEAR_CODE * deviation or deviation == 0.0:
        return False
    distinct = np.unique(rest)
    step = float(np.diff(distinct).min())
    around = int(
        np.count_nonzero(np.abs(rest - code) <= max(DEVIATIONS_AROUND_A_CODE * deviation, step))
    )
    if around > MOST_VALUES_AROUND_A_CODE * count:
        return False
    if (
        len(distinct) >= FEWEST_EFFECTIVE_VALUES
        and step <= LARGEST_STEP_OF_A_FINE_NUMBER * deviation
    ):
        if float(rest.min()) < code < float(rest.max()):
            return _is_heaped(code, count, rest, step)
        if count > _most_frequent(_nearest_values(code, distinct), rest):
            return True
    nearest, second = _nearest_values(code, distinct)[:2].tolist()
    step = max(step, abs(second - nearest))
    steps = (
        LEAST_STEPS_OF_A_GRID_CODE if code in (0.0, -1.0, 8.0) else LEAST_STEPS_OF_A_GRID_CODE - 1.0
    )
    return (
        count >= FEWEST_CELLS_OF_A_GRID_CODE and float(np.abs(distinct - code).min()) > steps * step
    )


def _nearest_values(code: float, distinct: Floats) -> Floats:
    """The `VALUES_BESIDE_A_CODE` different values that are nearest to a code, the nearest first."""
    return distinct[np.argsort(np.abs(distinct - code), kind="stable")[:VALUES_BESIDE_A_CODE]]


def _most_frequent(wanted: Floats, values: Floats) -> int:
    """The number of cells that have the most frequent of the wanted values."""
    return max(int(np.count_nonzero(values == value)) for value in wanted)


def _is_heaped(code: float, count: int, rest: Floats, step: float) -> bool:
    """True if a value occurs oftener than rounded numbers do by chance.

    Values are as dense there as the `NEIGHBOURS_OF_A_CODE` nearest of the rest, m within a distance
    d on either side, so that a grid of `step` has m step / 2d of them on one value in the mean. The
    Poisson probability of `count` and more must be below `LARGEST_CHANCE_OF_A_CODE`.
    """
    nearest = np.sort(np.abs(rest - code))[:NEIGHBOURS_OF_A_CODE]
    expected = len(nearest) * step / (2.0 * max(float(nearest[-1]), step))
    return bool(scipy.special.gammainc(count, expected) < LARGEST_CHANCE_OF_A_CODE)


def codes_for_missing(data: Dataset, numbers: tuple[NumberColumn, ...]) -> Damage | None:
    """The cells with codes for missing values, and the way to keep or declare them; None without
    any.
    """
    codes = {column: codes for column in numbers if (codes := codes_of(column))}
    cells = {
        column.position: np.isin(column.values, list(counts)) for column, counts in codes.items()
    }
    parts = [
        f"{column.name} has"
        f" {listed([f'{count:,} cells of {code:g}' for code, count in counts.items()])}"
        f" ({percent(float(cells[column.position].mean()))})"
        for column, counts in codes.items()
    ]
    alone = len(codes) == 1
    texts = [f"{code:g}" for code in sorted({code for counts in codes.values() for code in counts})]
    means = f"{listed(texts)} {'means' if len(texts) == 1 else 'mean'} missing"
    way = (
        f"if these are measurements, pass na_values=[]; if {means}, pass"
        f" na_values=[{', '.join(texts)}]"
    )
    columns = listed(parts, MOST_COLUMNS_OF_A_SENTENCE, "column")
    words = f"{columns}, far from {'its' if alone else 'their'} other values"
    return _cells(DamageKind.CODES, data, cells, words, way)


def far_cells(data: Dataset, column: NumberColumn) -> Bools | None:
    """The cells, two at least, that are outside all others of a column by the whole range of these,
    shape (rows,); None without any.

    The others must be a fine number without heavy tails, and the values may not repeat, as those of
    codes do. A context whose rows are mostly such cells is a mechanism.
    """
    values = np.sort(column.values[np.isfinite(column.values)])
    if len(values) < FEWEST_ROWS_OF_FAR_CELLS:
        return None
    most = int(LARGEST_SHARE_OF_A_HEAP * len(values))
    for _ in range(2):  # cells above, and below, of which one kind hides the other
        values = _without_highest(values, most)
        values = -_without_highest(-values[::-1], most)[::-1]
    if not _is_tame(values):
        return None
    with np.errstate(invalid="ignore"):
        far: Bools = (column.values < values[0]) | (column.values > values[-1])
    repeats = np.unique(column.values[far], return_counts=True)[1]
    if int(far.sum()) < FEWEST_FAR_CELLS or repeats.min() >= FEWEST_CELLS_OF_A_FAR_CODE:
        return None  # none, or values that repeat, which are the matter of codes
    inside = np.bincount(data.codes[far & (data.codes >= 0)], minlength=len(data.contexts.cells))
    rows = np.bincount(data.codes[data.codes >= 0], minlength=len(data.contexts.cells))
    return None if len(rows) > 1 and (2 * inside > rows).any() else far


def _without_highest(values: Floats, most: int) -> Floats:
    """Sorted values without the highest ones that are far from all others, `most` at most.

    They lie beyond the widest of the last `most` gaps, if that is wider than the range of what is
    below it.
    """
    gaps = np.diff(values)
    widest = len(gaps) - 1
    if most:
        widest = len(gaps) - most + int(gaps[len(gaps) - most :].argmax())
    is_far = gaps[widest] > LEAST_RANGES_AWAY * (values[widest] - values[0])
    return values[: widest + 1] if is_far else values


def _is_few(column: NumberColumn, far: Bools) -> bool:
    """True if cells far away are few, and far enough for slips of the pen rather than a tail."""
    rest = column.values[~far & np.isfinite(column.values)]
    low = float(rest.min())
    high = float(rest.max())
    gap = np.maximum(low - column.values[far], column.values[far] - high).min()
    few = far.sum() <= max(LARGEST_SHARE_OF_SLIPS * len(far), FEWEST_FAR_CELLS)
    return bool(few and gap > LEAST_RANGES_OF_SEVERAL_SLIPS * (high - low))


def _is_tame(values: Floats) -> bool:
    """True if sorted numbers are fine, and have no heavier tails than a normal law.

    Their range may be `LARGEST_REACH_OF_TAME_NUMBERS` times 2 sqrt(2 log n) robust standard
    deviations, which is about the range of n normal numbers.
    """
    reach = float(values[-1] - values[0])
    tame = (
        LARGEST_REACH_OF_TAME_NUMBERS
        * 2.0
        * np.sqrt(2.0 * np.log(len(values)))
        * robust_units(values)[1]
    )
    return 0.0 < reach <= tame and _are_fine(values)


def _are_fine(values: Floats) -> bool:
    """True if numbers have many different values, 1 / sum p² of them effectively."""
    counts = np.unique(values, return_counts=True)[1].astype(np.float64)
    return bool(float(counts.sum()) ** 2 >= FEWEST_EFFECTIVE_VALUES * float(np.sum(counts**2)))


def slips(data: Dataset, numbers: tuple[NumberColumn, ...]) -> Damage | None:
    """Few cells that are far outside all others of a column without heavy tails; None without any.

    Several cells must be `LEAST_RANGES_OF_SEVERAL_SLIPS` times the range of the others away, a
    single one `LEAST_RANGES_OF_ONE_SLIP` times.
    """
    cells: dict[int, Bools] = {}
    parts = []
    for column in numbers:
        first = np.fmin.reduce(column.values)
        last = np.fmax.reduce(column.values)
        if len(column.some) < FEWEST_OTHER_VALUES or not np.isfinite(last - first):
            continue
        low = float(column.some[1])  # a part of the range of the others
        high = float(column.some[-2])
        far = far_cells(data, column)
        if far is not None and _is_few(column, far):
            cells[column.position] = far
            parts.append(f"{column.name} is {_in_words(column.values, far)}")
            continue
        if max(last - high, low - first) <= LEAST_RANGES_OF_ONE_SLIP * (high - low):
            continue
        median, deviation = robust_units(column.some)
        row = int(np.nanargmax(np.abs(column.values - median)))
        rest = np.delete(column.values, row)
        low = float(np.nanmin(rest))
        high = float(np.nanmax(rest))
        outside = max(low - column.values[row], column.values[row] - high)
        tame = LARGEST_REACH_OF_TAME_NUMBERS * 2.0 * np.sqrt(2.0 * np.log(len(rest)))
        if 0.0 < high - low <= tame * deviation and outside > LEAST_RANGES_OF_ONE_SLIP * (
            high - low
        ):
            cells[column.position] = np.arange(data.n_rows) == row
            parts.append(
                f"{column.name} is {column.values[row]:g} in row {row + 1:,} and between {low:.4g}"
                f" and {high:.4g} in all others"
            )
    return _cells(
        DamageKind.SLIP,
        data,
        cells,
        listed(parts, MOST_COLUMNS_OF_A_SENTENCE, "column"),
        KEEP_CELLS,
    )


def _in_words(values: Floats, far: Bools) -> str:
    """The values and the number of cells that are far from all others, and the range of these."""
    rest = values[~far & np.isfinite(values)]
    ends = f"{float(rest.min()):.4g} and {float(rest.max()):.4g}"
    low = float(values[far].min())
    high = float(values[far].max())
    where = f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
    return (
        f"{where} in {int(far.sum()):,} rows ({percent(float(far.mean()))}) and between {ends} in"
        " all others"
    )


def far_heaps(data: Dataset, numbers: tuple[NumberColumn, ...]) -> Damage | None:
    """Columns of which a share of the cells is far from all others, as by another unit; None
    without any.

    They are told only: nobody but the user knows the unit.
    """
    heaps = {
        column: far
        for column in numbers
        if (far := far_cells(data, column)) is not None
        and far.sum() >= max(FEWEST_CELLS_OF_A_HEAP, LARGEST_SHARE_OF_SLIPS * data.n_rows)
    }
    if not heaps:
        return None
    parts = [f"{column.name} is {_in_words(column.values, far)}" for column, far in heaps.items()]
    columns = listed(parts, MOST_COLUMNS_OF_A_SENTENCE, "column")
    words = (
        f"{columns}: another unit or a decimal point at the wrong place"
        " makes such heaps, and then links, claims and effects there are wrong; correct the cells,"
        " or leave the column out"
    )
    share = float(union_of(list(heaps.values()), data.n_rows).mean())
    names = tuple(column.name for column in heaps)
    doubtful = DoubtfulScale(
        names,
        ("edge", "slope", "level", "spread"),
        f"some cells of {listed(list(names), MOST_COLUMNS_OF_A_SENTENCE)} are far from all others,"
        " as by another unit",
        near=True,
    )
    return Damage(DamageKind.FAR, names, share, words, doubtful=doubtful)


def imputed_means(data: Dataset, numbers: tuple[NumberColumn, ...]) -> Damage | None:
    """The cells that have the mean or median of all others, in the table or within their context;
    None without any.

    Contexts are asked one by one where the whole table shows nothing. A column that is constant in
    a context is no imputation there.
    """
    cells: dict[int, Bools] = {}
    for column in numbers:
        if column.counts.max() < FEWEST_REPEATS_IN_A_LOOK:
            continue
        levels = column.distinct
        everywhere = _with_mean(column.values, levels) & ~_constant_in_context(data, column)
        contexts = [] if everywhere.any() else range(len(data.contexts.cells))
        for context in contexts:
            rows = np.flatnonzero(data.codes == context)
            if len(rows) >= FEWEST_OTHER_VALUES:
                everywhere[rows] = _with_mean(column.values[rows], levels)
        if everywhere.any():
            cells[column.position] = everywhere
    names = _with_shares(data, cells)
    words = (
        f"a value in the middle, the mean or median of the others, repeats in {names}: imputed"
        " means are no data"
    )
    return _cells(DamageKind.IMPUTED, data, cells, words, KEEP_CELLS)


def _with_mean(values: Floats, levels: Floats) -> Bools:
    """True in the cells that hold the mean or median of the others, where these are too many for
    chance, shape (rows,).

    `levels` are the different values of the whole column, of which `values` may be some rows. The
    most frequent value is asked. It must be far more frequent than any other, and be the mean of
    the others but for rounding, or have as many of them above as below. A value with long digits
    may also be the mean or median of all values, taken before some were lost: it may differ from
    that of the others by `LARGEST_ERRORS_OF_AN_IMPUTED_MEAN` standard errors. For a mean of m cells
    and n others of standard deviation s this error is s sqrt(m / (n (n + m))); for a median the
    rows above and below differ by sqrt(m).
    """
    nothing = np.zeros(len(values), dtype=bool)
    sample = values[:: max(1, len(values) // MOST_ROWS_OF_A_LOOK)]
    distinct, counts = np.unique(sample[np.isfinite(sample)], return_counts=True)
    if len(distinct) < 3 or counts.max() < LEAST_REPEATED_SHARE * len(sample):
        return nothing
    value = float(distinct[counts.argmax()])
    others = np.delete(counts, counts.argmax())
    hit: Bools = values == value
    count = int(hit.sum())
    rest = values[~hit & np.isfinite(values)]
    if (
        count < max(FEWEST_REPEATED_CELLS, LEAST_REPEATED_SHARE * len(values))
        or counts.max() < LEAST_TIMES_OFTENER * others.max()
    ):
        return nothing
    few = float(others.sum()) ** 2 < FEWEST_VALUES_BESIDE_A_MEAN * float(
        np.sum(others.astype(np.float64) ** 2)
    )
    if few and _is_level(value, levels[levels != value]):
        return nothing
    deviation = float(rest.std())
    within = min(
        max(MEAN_WITHIN * deviation, 0.51 * last_digit(value)), ROUNDED_MEAN_WITHIN * deviation
    )
    mean = abs(float(rest.mean()) - value) <= within
    error = deviation * np.sqrt(count / (len(rest) * (len(rest) + count)))
    above = int(np.count_nonzero(rest > value))
    below = int(np.count_nonzero(rest < value))
    nearly = abs(float(rest.mean()) - value) <= LARGEST_ERRORS_OF_AN_IMPUTED_MEAN * error or abs(
        above - below
    ) <= LARGEST_ERRORS_OF_AN_IMPUTED_MEAN * np.sqrt(count)
    of_all = nearly and not few and _is_long(value, rest)
    return hit if mean or abs(above - below) <= 1 or of_all else nothing


def _is_long(value: float, others: Floats) -> bool:
    """True if a number has digits as results of computing have, and no round one as people type;
    among numbers of few digits, more than these.
    """
    if is_short(value):
        return False
    digit = last_digit(value)
    return (
        digit < min(last_digit(other) for other in others[:FEWEST_OTHER_VALUES].tolist())
        or digit < 1e-6
    )


def _is_level(value: float, others: Floats) -> bool:
    """True if a value is whole steps away from others, as the middle one of some levels is.

    Of levels 1, 2 and 3 the middle one is none of the steps of the others, but a whole number.
    """
    if value == round(value) and bool(np.all(others == np.round(others))):
        return True
    step = float(np.diff(others).min())
    steps = (value - others[0]) / step
    return bool(abs(steps - round(steps)) < ON_GRID_WITHIN * max(1.0, abs(steps)))


def carried_forward(data: Dataset, numbers: tuple[NumberColumn, ...]) -> Damage | None:
    """The cells that repeat the row before them, in columns whose values hardly repeat otherwise;
    None without any.

    Where several columns repeat in the same rows, units have several rows, and nothing was carried.
    """
    cells = {}
    for column in numbers:
        repeats = np.r_[False, column.values[1:] == column.values[:-1]]
        count = int(repeats.sum())
        if count < _fewest_carried(data):
            continue
        varies = ~_constant_in_context(data, column)
        repeats &= varies
        enough = _fewest_carried(data) <= int(repeats.sum()) <= LARGEST_SHARE_CARRIED * data.n_rows
        if enough and _only_runs(column.values[varies]):
            cells[column.position] = repeats
    several = len(cells) > 1
    if several and _overlap(list(cells.values())) > LARGEST_OVERLAP_OF_CARRIED:
        cells = {}
    words = (
        f"cells of {_with_shares(data, cells)} repeat the row before, and no other: values carried"
        " forward are no data"
    )
    return _cells(DamageKind.CARRIED, data, cells, words, KEEP_CELLS)


def interpolated(data: Dataset, numbers: tuple[NumberColumn, ...]) -> Damage | None:
    """The cells that lie midway between the rows beside them, in fine numbers where hardly any
    other three rows lie on a line; None without any.

    Columns of a grid are not looked at, since steps repeat there, nor those most of whose values
    repeat, as the sine of a day does, nor sorted ones, nor those that mostly run straight, as a
    clock does.
    """
    if data.n_rows <= sum(ROWS_APART):
        return None
    cells = {}
    for column in numbers:
        deviation = float(column.some.std())
        steps = np.diff(column.distinct)
        steps = steps[steps > ROUNDING_OF_A_MIDPOINT * deviation]  # others are rounding
        repeats = 2 * len(steps) <= len(column.some)
        if repeats or steps.min() > LARGEST_STEP_OF_INTERPOLATED * deviation:
            continue
        midway = _midway(column.values, 1, 1)
        count = int(midway.sum())
        apart = int(_midway(column.values, *ROWS_APART).sum())
        enough = _fewest_carried(data) <= count <= LARGEST_SHARE_CARRIED * data.n_rows
        if enough and apart <= LARGEST_SHARE_ELSEWHERE * count and _turns(column.values):
            cells[column.position] = midway
    words = (
        f"cells of {_with_shares(data, cells)} lie on a line with the rows beside them, and hardly"
        " any others do: interpolated values are no data"
    )
    return _cells(DamageKind.INTERPOLATED, data, cells, words, KEEP_CELLS)


def _midway(values: Floats, before: int, after: int) -> Bools:
    """True for the cells that are the mean of the cells so many rows before and after, which
    differ.
    """
    inner = slice(before, len(values) - after)
    first = values[: len(values) - before - after]
    last = values[before + after :]
    cells = np.zeros(len(values), dtype=bool)
    with np.errstate(invalid="ignore"):  # missing and infinite cells
        bend = np.abs(values[inner] - 0.5 * (first + last))
        scale = np.maximum(np.abs(first), np.abs(last))
        close = np.isfinite(scale) & (bend <= ROUNDING_OF_A_MIDPOINT * scale)
        cells[inner] = close & (first != last)
    return cells


def _turns(values: Floats) -> bool:
    """True if a column rises and falls from row to row, as one that is not sorted does."""
    measured = values[np.isfinite(values)]
    differences = np.diff(measured[:FIRST_ROWS_OF_RUNS])
    share = min(float(np.mean(differences > 0.0)), float(np.mean(differences < 0.0)))
    return share > LEAST_SHARE_OF_TURNS


def _fewest_carried(data: Dataset) -> float:
    """The number of cells that repeat the row before, from which on they are told."""
    return max(FEWEST_CELLS_CARRIED, LEAST_REPEATED_SHARE * data.n_rows)


def _constant_in_context(data: Dataset, column: NumberColumn) -> Bools:
    """True in the rows of contexts in which a column has a single value, shape (rows,): a device
    that is off, which is a mechanism.
    """
    constant = np.zeros(data.n_rows, dtype=bool)
    for context in range(len(data.contexts.cells)):
        rows = np.flatnonzero(data.codes == context)
        if len(rows) >= FEWEST_CELLS_CARRIED and np.ptp(column.values[rows]) == 0.0:
            constant[rows] = True
    return constant


def _only_runs(values: Floats) -> bool:
    """True if equal values stand side by side, in a column that is not sorted.

    A run is a stretch of equal values. If runs are hardly more than different values, equal values
    occur nowhere else; rises and falls from row to row show that the column is not sorted.
    """
    first_values = values[:FIRST_ROWS_OF_RUNS]
    differences = np.diff(first_values)
    runs = 1 + int(np.count_nonzero(differences))
    repeated = len(first_values) - runs
    elsewhere = runs - len(np.unique(first_values))
    rises = np.mean(differences > 0.0)
    falls = np.mean(differences < 0.0)
    return elsewhere <= LARGEST_SHARE_ELSEWHERE * repeated and bool(
        min(rises, falls) > LEAST_SHARE_OF_TURNS
    )


def _overlap(masks: Sequence[Bools]) -> float:
    """The largest share of the smaller one of two sets of rows that is in both."""
    largest = 0.0
    for number, mask in enumerate(masks):
        for other in masks[:number]:
            largest = max(largest, float((mask & other).sum() / min(mask.sum(), other.sum())))
    return largest


def _with_shares(data: Dataset, cells: dict[int, Bools]) -> str:
    """The names of columns with the shares of their cells, for a sentence."""
    return listed(
        [
            f"{data.names[position]} ({percent(float(mask.mean()))} of the rows)"
            for position, mask in cells.items()
        ],
        MOST_COLUMNS_OF_A_SENTENCE,
        "column",
    )


def _cells(
    kind: DamageKind, data: Dataset, cells: dict[int, Bools], words: str, way: str
) -> Damage | None:
    """The record of damaged cells; None without any."""
    if not cells:
        return None
    rows = union_of(list(cells.values()), data.n_rows)
    names = tuple(data.names[position] for position in cells)
    return Damage(kind, names, float(rows.mean()), words, way, cells=cells)


FINDERS: tuple[Callable[[Dataset, tuple[NumberColumn, ...]], Damage | None], ...] = (
    codes_for_missing,
    slips,
    imputed_means,
    carried_forward,
    interpolated,
)

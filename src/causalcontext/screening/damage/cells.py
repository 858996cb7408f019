"""Cells that are no measurements: codes for missing values, imputed means, values carried forward,
a slip of the pen.

What they share is a value that occurs far more often than its neighbours do, or far away from all
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
    FINE,
    MOST_NAMED,
    Damage,
    DamageKind,
    NumberColumn,
    last_digit,
    percent,
    robust_units,
    union_of,
)
from causalcontext.screening.relations import is_short

FAR_CODES = (
    -99.0,
    -999.0,
    -9999.0,
    -99999.0,
    -999999.0,
    -6999.0,
    -7777.0,
    -8888.0,
    999.0,
    9999.0,
    99999.0,
    999999.0,
    1e20,
    -1e20,
)
"""Numbers that are seldom anything but a code, where all other values are far away."""
NEAR_CODES = (
    0.0,
    -1.0,
    -9.0,
    -8.0,
    -88.0,
    8.0,
    9.0,
    77.0,
    88.0,
    98.0,
    99.0,
    777.0,
    888.0,
    998.0,
    7777.0,
    8888.0,
)
"""Numbers that are often measurements, too."""
FEWEST_FAR = 3
FEWEST_NEAR = 5
"""Cells that must have the code: outside the others by their whole range, and nearer than that."""
FEWEST_GRID = 8
"""Cells that must have the code beside whole numbers, whose highest value may stand apart by
chance. Not tuned.
"""
FAR = 1.0
"""How far a code is outside the other values, in units of their whole range."""
AWAY = 2.5
"""How far a near code is from the median of the others, in robust standard deviations; the ends of
a uniform column are at 1.3."""
AROUND = 0.2
CROWDED = 0.2
"""A near code has hardly any other values around it: within 0.2 standard deviations at most 0.2 of
its own count. Where values are cut off at a limit, as many as it has lie there."""
MOST_NEAR = 0.15
"""The largest share of a near code; with more cells, zeros are a state of its own (no dose, no
income).
"""
NEIGHBOURS = 20
BY_CHANCE = 1e-6
"""A near code among the other values must occur so often that a Poisson law gives its count with
less than this probability, where its mean is that of one step among the 20 nearest values. In the
tail of a rounded amount some value occurs six times by chance: without this 2 of 200 tables of
2,000 days of rain were taken for damaged, at 1e-3, 1e-6 and 1e-9 none, and codes that were put into
columns (0 in 4 and 6 % of the rows) were found in 100 of 100 tables each time."""
STEPS = 2.5
"""Steps of a grid of values that a near code must be away from them: a Likert scale from 1 to 5 has
no 8, 9 may be a refusal."""
FINE_STEP = 0.3
"""The step of a fine number, in robust standard deviations: a Poisson count of mean 11 has it,
where no 0 occurs.
"""
SLIP = 10.0
"""How far a single cell is outside the others, in units of their whole range: a misplaced decimal
point.
"""
TAME = 1.3
"""The range of the others is at most so many times 2 sqrt(2 log n) robust standard deviations,
about that of n normal values, so that a single cell is told from a heavy tail: 7.3 of 50 values,
9.7 of 1,000. At 12 for all n a Cauchy column of 50 values was taken for one with a slip."""
FEWEST_TAME = 30
FEWEST_FOR_HEAPS = 100
"""Rows before cells far away are told from a long tail: of 30 tables of 50 lognormal values two had
such cells."""
FEWEST_TOGETHER = 2
SEVERAL = 4.0
MOST_SLIPS = 0.01
FEWEST_OF_A_HEAP = 5
MOST_FAR = 0.15
"""Cells that are outside all others by the range of these: so many at least, of which one alone
must be `SLIP` times as far, and several this many times; up to this share slips of the pen; the
fewest of a heap; and the largest share of a heap by another unit, beyond which a column has two
heaps of its own. Of 150 tables of squares and exponentials of heavy tails nine had cells once the
range away. Not tuned."""
ERRORS = 4.0
"""Standard errors by which a mean of all values, taken before some were lost, may differ from that
of the others."""
FEWEST_IMPUTED = 5
LEAST_IMPUTED = 0.01
"""Cells with the same mean: so many, and this share of the rows."""
FEWEST_LOOKED = 3
"""Cells among the rows looked at."""
BEYOND_OTHERS = 4.0
"""How many times oftener the mean occurs than any other value, against digit preference. Not tuned.
"""
FEWEST_OTHERS = 10.0
"""Effective values, 1 / sum p^2, beside a mean that lies on their grid: most answers to a question
of five levels may be the one in the middle. A Poisson count of mean 8 has so many. Not tuned."""
EXACT = 1e-6
"""How exactly cells have the mean or median of the others, in standard deviations, or to half of
their last digit.
"""
MIDDLE = 0.05
"""How far a rounded mean may be from the true one, in standard deviations."""
FEWEST_CARRIED = 10
LEAST_CARRIED = 0.01
MOST_CARRIED = 0.35
"""Cells that repeat the row before: so many at least, and the shares between which they are repairs
of gaps. With more of them, rows share the value by design, such as the income of a household."""
ELSEWHERE = 0.1
"""The share of repeated values that may occur elsewhere as well, by rounding."""
TURNS = 0.05
"""The least share of rises, and of falls, from row to row; a column that only rises is sorted."""
TOGETHER = 0.5
"""Where several columns repeat in the same rows by more than this share, units have several rows.
"""
KEEP_CELLS = "if they are measurements, pass damaged='keep'"


def codes_of(column: NumberColumn) -> dict[float, int]:
    """The values of a column that are codes for missing values, with their counts.

    >>> import numpy as np
    >>> from causalcontext.data.tables import read_table
    >>> from causalcontext.screening.damage.finding import number_columns
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
    counts = {code: count for code, count in counts.items() if count >= FEWEST_FAR}
    if not counts:
        return {}
    outermost_first = sorted(counts, key=lambda code: -abs(code - float(np.median(column.some))))
    for place in range(
        len(outermost_first)
    ):  # a code is judged beside all values that are no codes
        asked = outermost_first[place:]
        rest = column.values[~np.isin(column.values, asked) & np.isfinite(column.values)]
        codes = {code: counts[code] for code in asked if _is_code(code, counts[code], rest)}
        if len(codes) == len(asked):
            return codes
    return _outermost(column.values, outermost_first, counts)


def _outermost(
    values: Floats, asked: Sequence[float], counts: dict[float, int]
) -> dict[float, int]:
    """The codes among values of which some are measurements, each beside all others but the codes
    before it.
    """
    codes: dict[float, int] = {}
    for code in asked:
        rest = values[~np.isin(values, [*codes, code]) & np.isfinite(values)]
        if _is_code(code, counts[code], rest):
            codes[code] = counts[code]
    return codes


def _is_code(code: float, count: int, rest: Floats) -> bool:
    """Whether a value stands apart from the rest as a code does."""
    if not len(rest):
        return False
    low = float(rest.min())
    high = float(rest.max())
    outside = max(low - code, code - high)
    certain = code in FAR_CODES
    if not certain and code not in NEAR_CODES:
        return count >= FEWEST_NEAR and outside > FAR * (high - low) > 0.0 and _are_fine(rest)
    if high > low and outside > FAR * (high - low):
        return count >= FEWEST_FAR
    if high == low:
        return certain and outside > 0.0 and count >= FEWEST_FAR
    if count < FEWEST_NEAR or count > MOST_NEAR * (count + len(rest)):
        return False
    median, deviation = robust_units(rest)
    if abs(code - median) < AWAY * deviation or deviation == 0.0:
        return False
    distinct = np.unique(rest)
    step = float(np.diff(distinct).min())
    around = int(np.count_nonzero(np.abs(rest - code) <= max(AROUND * deviation, step)))
    if around > CROWDED * count:
        return False
    if len(distinct) >= FINE and step <= FINE_STEP * deviation:
        return not low < code < high or _is_heaped(code, count, rest, step)
    steps = STEPS if code in (0.0, -1.0, 8.0) else STEPS - 1.0
    return count >= FEWEST_GRID and float(np.abs(distinct - code).min()) > steps * step


def _is_heaped(code: float, count: int, rest: Floats, step: float) -> bool:
    """Whether a value occurs oftener than rounded numbers do by chance, as dense as the nearest
    values of the rest are.
    """
    nearest = np.sort(np.abs(rest - code))[:NEIGHBOURS]
    expected = len(nearest) * step / (2.0 * max(float(nearest[-1]), step))
    return bool(scipy.special.gammainc(count, expected) < BY_CHANCE)


def codes_for_missing(data: Dataset, numbers: tuple[NumberColumn, ...]) -> Damage | None:
    """The cells with codes for missing values."""
    codes = {column: codes for column in numbers if (codes := codes_of(column))}
    cells = {column.position: np.isin(column.values, list(own)) for column, own in codes.items()}
    parts = [
        f"{column.name} has"
        f" {listed([f'{count:,} cells of {code:g}' for code, count in own.items()])}"
        f" ({percent(float(cells[column.position].mean()))})"
        for column, own in codes.items()
    ]
    alone = len(codes) == 1
    texts = [f"{code:g}" for code in sorted({code for own in codes.values() for code in own})]
    means = f"{listed(texts)} {'means' if len(texts) == 1 else 'mean'} missing"
    way = (
        f"if these are measurements, pass na_values=[]; if {means}, pass"
        f" na_values=[{', '.join(texts)}]"
    )
    words = (
        f"{listed(parts, MOST_NAMED, 'column')}, far from {'its' if alone else 'their'} other"
        " values"
    )
    return _cells(DamageKind.CODES, data, cells, words, way)


def far_cells(data: Dataset, column: NumberColumn) -> Bools | None:
    """The cells, two at least, that are outside all others of a column by the whole range of these,
    where the others are fine and have no heavy tails; None without any.

    A context whose rows are mostly such cells is a mechanism.
    """
    values = np.sort(column.values[np.isfinite(column.values)])
    if len(values) < FEWEST_FOR_HEAPS:
        return None
    most = int(MOST_FAR * len(values))
    for _ in range(2):  # cells above, and below, of which one kind hides the other
        gaps = np.diff(values)
        above = len(gaps) - most + int(gaps[len(gaps) - most :].argmax()) if most else len(gaps) - 1
        if gaps[above] > FAR * (values[above] - values[0]):
            values = values[: above + 1]
        values = -values[::-1]
        gaps = np.diff(values)
        above = len(gaps) - most + int(gaps[len(gaps) - most :].argmax()) if most else len(gaps) - 1
        if gaps[above] > FAR * (values[above] - values[0]):
            values = values[: above + 1]
        values = -values[::-1]
    if not _is_tame(values):
        return None
    with np.errstate(invalid="ignore"):
        far: Bools = (column.values < values[0]) | (column.values > values[-1])
    repeats = np.unique(column.values[far], return_counts=True)[1]
    if int(far.sum()) < FEWEST_TOGETHER or repeats.min() >= FEWEST_FAR:
        return None  # none, or values that repeat, which are the matter of codes
    inside = np.bincount(data.codes[far & (data.codes >= 0)], minlength=len(data.contexts.cells))
    rows = np.bincount(data.codes[data.codes >= 0], minlength=len(data.contexts.cells))
    return None if len(rows) > 1 and (2 * inside > rows).any() else far


def _is_few(column: NumberColumn, far: Bools) -> bool:
    """Whether cells far away are few, and far enough for slips of the pen rather than a tail."""
    rest = column.values[~far & np.isfinite(column.values)]
    low = float(rest.min())
    high = float(rest.max())
    gap = np.maximum(low - column.values[far], column.values[far] - high).min()
    few = far.sum() <= max(MOST_SLIPS * len(far), FEWEST_TOGETHER)
    return bool(few and gap > SEVERAL * (high - low))


def _is_tame(values: Floats) -> bool:
    """Whether sorted numbers are fine, and have no heavier tails than a normal law."""
    reach = float(values[-1] - values[0])
    tame = TAME * 2.0 * np.sqrt(2.0 * np.log(len(values))) * robust_units(values)[1]
    return 0.0 < reach <= tame and _are_fine(values)


def _are_fine(values: Floats) -> bool:
    """Whether numbers have many values, as a fine number has."""
    counts = np.unique(values, return_counts=True)[1].astype(np.float64)
    return bool(float(counts.sum()) ** 2 >= FINE * float(np.sum(counts**2)))


def slips(data: Dataset, numbers: tuple[NumberColumn, ...]) -> Damage | None:
    """Few cells that are far outside all others of a column without heavy tails."""
    cells: dict[int, Bools] = {}
    parts = []
    for column in numbers:
        first = np.fmin.reduce(column.values)
        last = np.fmax.reduce(column.values)
        if len(column.some) < FEWEST_TAME or not np.isfinite(last - first):
            continue
        low = float(column.some[1])  # a part of the range of the others
        high = float(column.some[-2])
        far = far_cells(data, column)
        if far is not None and _is_few(column, far):
            cells[column.position] = far
            parts.append(f"{column.name} is {_in_words(column.values, far)}")
            continue
        if max(last - high, low - first) <= SLIP * (high - low):
            continue
        median, deviation = robust_units(column.some)
        row = int(np.nanargmax(np.abs(column.values - median)))
        rest = np.delete(column.values, row)
        low = float(np.nanmin(rest))
        high = float(np.nanmax(rest))
        outside = max(low - column.values[row], column.values[row] - high)
        tame = TAME * 2.0 * np.sqrt(2.0 * np.log(len(rest)))
        if 0.0 < high - low <= tame * deviation and outside > SLIP * (high - low):
            cells[column.position] = np.arange(data.n_rows) == row
            parts.append(
                f"{column.name} is {column.values[row]:g} in row {row + 1:,} and between {low:.4g}"
                f" and {high:.4g} in all others"
            )
    return _cells(DamageKind.SLIP, data, cells, listed(parts, MOST_NAMED, "column"), KEEP_CELLS)


def _in_words(values: Floats, far: Bools) -> str:
    """Where cells lie that are far from all others."""
    rest = values[~far & np.isfinite(values)]
    ends = f"{float(rest.min()):.4g} and {float(rest.max()):.4g}"
    low, high = float(values[far].min()), float(values[far].max())
    where = f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
    return (
        f"{where} in {int(far.sum()):,} rows ({percent(float(far.mean()))}) and between {ends} in"
        " all others"
    )


def far_heaps(data: Dataset, numbers: tuple[NumberColumn, ...]) -> Damage | None:
    """Columns of which a share of the cells is far from all others, as by another unit."""
    heaps = {
        column: far
        for column in numbers
        if (far := far_cells(data, column)) is not None
        and far.sum() >= max(FEWEST_OF_A_HEAP, MOST_SLIPS * data.n_rows)
    }
    if not heaps:
        return None
    parts = [f"{column.name} is {_in_words(column.values, far)}" for column, far in heaps.items()]
    words = (
        f"{listed(parts, MOST_NAMED, 'column')}: another unit or a decimal point at the wrong place"
        " makes such heaps, and then links, claims and effects there are wrong; correct the cells,"
        " or leave the column out"
    )
    share = float(union_of(list(heaps.values()), data.n_rows).mean())
    return Damage(DamageKind.FAR, tuple(column.name for column in heaps), share, words)


def imputed_means(data: Dataset, numbers: tuple[NumberColumn, ...]) -> Damage | None:
    """The cells that have the mean or median of all others, in the table or within their
    context.
    """
    cells: dict[int, Bools] = {}
    for column in numbers:
        if column.counts.max() < FEWEST_LOOKED:
            continue
        levels = column.distinct
        everywhere = _with_mean(column.values, levels) & ~_constant_in_context(data, column)
        contexts = [] if everywhere.any() else range(len(data.contexts.cells))
        for context in contexts:
            rows = np.flatnonzero(data.codes == context)
            if len(rows) >= FEWEST_TAME:
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
    """The cells that hold the mean or median of the others, where these are too many for chance.

    `levels` are the different values of the whole column, of which these may be some rows.
    """
    nothing = np.zeros(len(values), dtype=bool)
    some = values[:: max(1, len(values) // 10_000)]
    distinct, counts = np.unique(some[np.isfinite(some)], return_counts=True)
    if len(distinct) < 3 or counts.max() < max(FEWEST_LOOKED, LEAST_IMPUTED * len(some)):
        return nothing
    value = float(distinct[counts.argmax()])
    others = np.delete(counts, counts.argmax())
    hit: Bools = values == value
    count = int(hit.sum())
    rest = values[~hit & np.isfinite(values)]
    if (
        count < max(FEWEST_IMPUTED, LEAST_IMPUTED * len(values))
        or counts.max() < BEYOND_OTHERS * others.max()
    ):
        return nothing
    few = float(others.sum()) ** 2 < FEWEST_OTHERS * float(np.sum(others.astype(np.float64) ** 2))
    if few and _is_level(value, levels[levels != value]):
        return nothing
    deviation = float(rest.std())
    within = min(max(EXACT * deviation, 0.51 * last_digit(value)), MIDDLE * deviation)
    mean = abs(float(rest.mean()) - value) <= within
    error = deviation * np.sqrt(count / (len(rest) * (len(rest) + count)))
    above = int(np.count_nonzero(rest > value))
    below = int(np.count_nonzero(rest < value))
    nearly = abs(float(rest.mean()) - value) <= ERRORS * error or abs(
        above - below
    ) <= ERRORS * np.sqrt(count)
    of_all = nearly and not few and _is_long(value, rest)
    return hit if mean or abs(above - below) <= 1 or of_all else nothing


def _is_long(value: float, others: Floats) -> bool:
    """Whether a number has digits as results of computing have, and no round one as people type;
    among numbers of few digits, more than these.
    """
    if is_short(value):
        return False
    own = last_digit(value)
    return own < min(last_digit(other) for other in others[:FEWEST_TAME].tolist()) or own < 1e-6


def _is_level(value: float, others: Floats) -> bool:
    """Whether a value is whole steps away from others, as the middle one of some levels is.

    Of levels 1, 2 and 3 the middle one is none of the steps of the others, but a whole number.
    """
    if value == round(value) and bool(np.all(others == np.round(others))):
        return True
    step = float(np.diff(others).min())
    steps = (value - others[0]) / step
    return bool(abs(steps - round(steps)) < EXACT * max(1.0, abs(steps)))


def carried_forward(data: Dataset, numbers: tuple[NumberColumn, ...]) -> Damage | None:
    """The cells that repeat the row before them, in columns whose values hardly repeat
    otherwise.
    """
    cells = {}
    for column in numbers:
        repeats = np.r_[False, column.values[1:] == column.values[:-1]]
        count = int(repeats.sum())
        if count < _fewest_carried(data):
            continue
        varies = ~_constant_in_context(data, column)
        repeats &= varies
        enough = _fewest_carried(data) <= int(repeats.sum()) <= MOST_CARRIED * data.n_rows
        if enough and _only_runs(column.values[varies]):
            cells[column.position] = repeats
    several = len(cells) > 1
    if several and _overlap(list(cells.values())) > TOGETHER:
        cells = {}
    words = (
        f"cells of {_with_shares(data, cells)} repeat the row before, and no other: values carried"
        " forward are no data"
    )
    return _cells(DamageKind.CARRIED, data, cells, words, KEEP_CELLS)


def _fewest_carried(data: Dataset) -> float:
    """Cells that repeat the row before, from which on they are told."""
    return max(FEWEST_CARRIED, LEAST_CARRIED * data.n_rows)


def _constant_in_context(data: Dataset, column: NumberColumn) -> Bools:
    """The rows of contexts in which a column has a single value: a device that is off, which is a
    mechanism.
    """
    constant = np.zeros(data.n_rows, dtype=bool)
    for context in range(len(data.contexts.cells)):
        rows = np.flatnonzero(data.codes == context)
        if len(rows) >= FEWEST_CARRIED and np.ptp(column.values[rows]) == 0.0:
            constant[rows] = True
    return constant


def _only_runs(values: Floats) -> bool:
    """Whether equal values stand side by side, in a column that is not sorted."""
    some = values[:20_000]
    differences = np.diff(some)
    runs = 1 + int(np.count_nonzero(differences))
    repeated = len(some) - runs
    elsewhere = runs - len(np.unique(some))
    rises = np.mean(differences > 0.0)
    falls = np.mean(differences < 0.0)
    return elsewhere <= ELSEWHERE * repeated and bool(min(rises, falls) > TURNS)


def _overlap(masks: Sequence[Bools]) -> float:
    """The largest share of the smaller one of two sets of rows that is in both."""
    largest = 0.0
    for place, mask in enumerate(masks):
        for other in masks[:place]:
            largest = max(largest, float((mask & other).sum() / min(mask.sum(), other.sum())))
    return largest


def _with_shares(data: Dataset, cells: dict[int, Bools]) -> str:
    """Names of columns with the shares of their cells."""
    return listed(
        [
            f"{data.names[position]} ({percent(float(mask.mean()))} of the rows)"
            for position, mask in cells.items()
        ],
        MOST_NAMED,
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
)

"""Columns whose scale hides what is to be found: capped, coarsely rounded, standardised within
contexts, amounts, read twice.

Nothing can be done about them without the user, so they are told, and differences between contexts
that the scale may make are not claimed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from causalcontext.data.amounts import is_amount
from causalcontext.data.coarse import ATOM
from causalcontext.data.dataset import Dataset
from causalcontext.errors import listed
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.screening.damage.cells import codes_of
from causalcontext.screening.damage.finding import (
    Damage,
    DamageKind,
    NumberColumn,
    percent,
    robust_units,
)
from causalcontext.screening.left_out import DoubtfulScale
from causalcontext.screening.settings import (
    FEWEST_EFFECTIVE_VALUES,
    FEWEST_HEAPS,
    FEWEST_REPEATED_CELLS,
    FEWEST_ROWS_OF_A_STANDARDISED_CONTEXT,
    FEWEST_VALUES_OF_A_ROUNDED_NUMBER,
    LARGEST_DIFFERENCE_OF_CENTRED,
    LARGEST_DIFFERENCE_OF_READINGS,
    LARGEST_DIFFERENCE_OF_STANDARDISED,
    LARGEST_GAP_BESIDE_A_LIMIT,
    LARGEST_SHARE_HALFWAY,
    LARGEST_STEP_OF_A_FINE_NUMBER,
    LEAST_MEAN_OF_MEASUREMENTS,
    LEAST_REPEATED_SHARE,
    LEAST_SHARE_OF_A_DOUBTFUL_CAP,
    LEAST_SHARE_OF_HEAPS,
    LEAST_STEP_OF_COARSE_ROUNDING,
    LEAST_TIMES_OFTENER,
    MOST_COLUMNS_OF_A_SENTENCE,
    ON_GRID_WITHIN,
    TIMES_OFTENER_OF_HEAPS,
)


def caps(data: Dataset, numbers: tuple[NumberColumn, ...]) -> Damage | None:
    """Columns in which many rows have exactly the highest or lowest value, and others hardly
    repeat; None without any.

    A cap at 0 is a natural end, and a value far from the next one is a code or a heap.
    """
    parts = []
    names = []
    doubted: dict[str, None] = {}
    largest = 0.0
    for column in numbers:
        for end, word in ((0, "lowest"), (-1, "highest")):
            count = int(column.counts[end])
            limit = float(column.distinct[end])
            others = _between_ends(column.counts, end)
            next_value = float(column.distinct[1 if end == 0 else -2])
            if abs(limit - next_value) > LARGEST_GAP_BESIDE_A_LIMIT * robust_units(column.some)[1]:
                continue  # values that were cut off have others beside them
            share = count / len(column.some)
            if (
                limit == 0.0
                or column.declared
                or count < max(FEWEST_REPEATED_CELLS, LEAST_REPEATED_SHARE * len(column.some))
            ):
                continue
            if (
                count >= LEAST_TIMES_OFTENER * others.max()
                and _effective(others) >= FEWEST_EFFECTIVE_VALUES
            ):
                parts.append(
                    f"{column.name} is {limit:.6g}, its {word} value, in {percent(share)} of the"
                    " rows"
                )
                names.append(column.name)
                largest = max(largest, share)
                if share >= LEAST_SHARE_OF_A_DOUBTFUL_CAP:
                    doubted[column.name] = None
    if not parts:
        return None
    columns = listed(parts, MOST_COLUMNS_OF_A_SENTENCE, "column")
    words = (
        f"{columns}: values beyond a limit were set to it, so that"
        " links may be false and effects there too small; use the values before the cap, or leave"
        " the column out"
    )
    if not doubted:
        return Damage(DamageKind.CAP, tuple(names), largest, words)
    subject = listed(list(doubted), MOST_COLUMNS_OF_A_SENTENCE)
    doubtful = DoubtfulScale(
        tuple(doubted),
        ("edge", "slope", "level", "spread"),
        f"values of {subject} beyond a limit were set to it, so that mechanisms that all contexts"
        " share seem to differ, and effects are too small",
        near=True,
    )
    return Damage(DamageKind.CAP, tuple(names), largest, words, doubtful=doubtful)


def _between_ends(counts: Ints, end: int) -> Ints:
    """The counts of the other values, shape (values - 1,), without that of the other end where it
    repeats as well: both may be caps.

    `counts` are those of all values in their order, and `end` is 0 or -1.
    """
    others = np.delete(counts, end)
    other_end = 0 if end else -1
    inner = np.delete(others, other_end)
    both = inner.size and others[other_end] >= LEAST_TIMES_OFTENER * inner.max()
    return np.asarray(inner if both else others)


def repeated_values(data: Dataset, numbers: tuple[NumberColumn, ...]) -> Damage | None:
    """Columns in which one value repeats, and others hardly do; None without any.

    The value lies among the others, or so far beyond their end that it is no cap, as half of a
    limit in place of all values below it; 0 is a natural end. Values that more rows have than
    `ATOM` make a column coarse, which a search models. Codes for missing values have a sentence of
    their own, unless the user has said that they are measurements.
    """
    parts = []
    names = []
    largest = 0.0
    for column in numbers:
        most = int(column.counts.argmax())
        others = np.delete(column.counts, most)
        share = float(column.counts[most]) / len(column.some)
        least = max(
            FEWEST_REPEATED_CELLS,
            LEAST_REPEATED_SHARE * len(column.some),
            LEAST_TIMES_OFTENER * float(others.max()),
        )
        stands_out = (
            _is_no_end(column, most)
            and least <= column.counts[most]
            and share <= ATOM
            and _effective(others) >= FEWEST_EFFECTIVE_VALUES
        )
        if stands_out and not column.declared and column.distinct[most] not in codes_of(column):
            parts.append(
                f"{column.name} is {column.distinct[most]:.6g} in {percent(share)} of the rows"
            )
            names.append(column.name)
            largest = max(largest, share)
    if not parts:
        return None
    columns = listed(parts, MOST_COLUMNS_OF_A_SENTENCE, "column")
    words = (
        f"{columns}, and other values hardly repeat: if this stands for"
        " something else, such as a missing value, links and effects there are wrong; pass"
        " na_values= with this value, or leave the column out"
    )
    return Damage(DamageKind.REPEATED, tuple(names), largest, words)


def _is_no_end(column: NumberColumn, place: int) -> bool:
    """True if a value of a column, by its place among the different ones, is neither a natural end
    nor a cap: it lies among the others, or far beyond them.
    """
    if 0 < place < len(column.distinct) - 1:
        return True
    near = column.distinct[1 if place == 0 else place - 1]
    gap = abs(float(column.distinct[place] - near))
    is_far = gap > LARGEST_GAP_BESIDE_A_LIMIT * robust_units(column.some)[1]
    return is_far and column.distinct[place] != 0.0


def coarse_rounding(data: Dataset, numbers: tuple[NumberColumn, ...]) -> Damage | None:
    """Columns that were rounded to a large part of their standard deviation; None without any.

    All values must lie on a grid of equal steps. Counts and scores have steps of 1, and are no
    damage.
    """
    parts = []
    names = []
    largest = 0.0
    for column in numbers:
        step = column.step
        deviation = float(column.some.std())
        if (
            column.declared
            or len(column.distinct) < FEWEST_VALUES_OF_A_ROUNDED_NUMBER
            or step < LEAST_STEP_OF_COARSE_ROUNDING * deviation
            or step == 1.0
        ):
            continue
        steps = column.distinct / step
        if np.abs(steps - steps[0] - np.round(steps - steps[0])).max() <= ON_GRID_WITHIN * max(
            1.0, np.abs(steps).max()
        ):
            parts.append(
                f"{column.name} (steps of {step:.3g}, {step / deviation:.1f} standard deviations)"
            )
            names.append(column.name)
            largest = max(largest, step / deviation)
    if not parts:
        return None
    columns = listed(parts, MOST_COLUMNS_OF_A_SENTENCE, "column")
    words = (
        f"coarse rounding of {columns} leaves few values: links may be"
        " false or missed, and effects are those of the rounded numbers; use finer numbers if"
        f" there are any, or search levels with kinds={{{names[0]!r}: 'ordered'}}"
    )
    doubtful = _coarsely_rounded(names, "")
    return Damage(DamageKind.ROUNDED, tuple(names), 1.0, words, doubtful=doubtful)


def heaped(data: Dataset, numbers: tuple[NumberColumn, ...]) -> Damage | None:
    """Columns some of whose values lie on a grid of large steps, and the others between; None
    without any.

    The values of the grid are those that are far more frequent than others.
    """
    parts = []
    names = []
    for column in numbers:
        frequent = column.counts >= np.maximum(
            TIMES_OFTENER_OF_HEAPS * np.median(column.counts), TIMES_OFTENER_OF_HEAPS
        )
        share = float(column.counts[frequent].sum()) / len(column.some)
        if column.declared or frequent.sum() < FEWEST_HEAPS or share < LEAST_SHARE_OF_HEAPS:
            continue
        deviation = float(column.some.std())
        steps = np.diff(column.distinct[frequent])
        step = float(steps.min())
        fine = column.step <= LARGEST_STEP_OF_A_FINE_NUMBER * deviation
        even = np.abs(steps / step - np.round(steps / step)).max() <= ON_GRID_WITHIN
        between = (column.distinct - column.distinct[frequent][0]) / step
        halfway = np.abs(between - np.floor(between) - 0.5) <= ON_GRID_WITHIN
        finer = column.counts[halfway].sum() > LARGEST_SHARE_HALFWAY * column.counts[frequent].sum()
        if step >= LEAST_STEP_OF_COARSE_ROUNDING * deviation and fine and even and not finer:
            parts.append(
                f"{percent(share)} of {column.name} (steps of {step:.3g},"
                f" {step / deviation:.1f} standard deviations)"
            )
            names.append(column.name)
    if not parts:
        return None
    words = (
        f"coarse rounding of {listed(parts, MOST_COLUMNS_OF_A_SENTENCE, 'column')}, and none of the"
        " other values: links beside these numbers may be false, and effects too small; use finer"
        " numbers if there are any"
    )
    doubtful = _coarsely_rounded(names, "some values of ")
    return Damage(DamageKind.HEAPED, tuple(names), 1.0, words, doubtful=doubtful)


def _coarsely_rounded(names: Sequence[str], which: str) -> DoubtfulScale:
    """What may not be claimed beside columns that are rounded coarsely; `which` says which of
    their values are, if not all.
    """
    subject = listed(names, MOST_COLUMNS_OF_A_SENTENCE)
    return DoubtfulScale(
        tuple(names),
        ("edge", "slope", "level"),
        f"coarse rounding of {which}{subject} makes effects too small, and gives a part of them to"
        " what goes along with these numbers",
        near=True,
        as_causes=True,
    )


def read_twice(data: Dataset, numbers: tuple[NumberColumn, ...]) -> Damage | None:
    """Columns in the same units that differ by little, as two readings of one thing do; None
    without any.

    Nearer ones are functions of each other, of which one is left out. Columns in standard units
    have the same mean and spread, whatever they measure, and are not looked at.
    """
    fine = [column for column in numbers if column.effective >= FEWEST_EFFECTIVE_VALUES]
    pairs = []
    for j, column in enumerate(fine):
        for other in fine[:j]:
            share = _difference(column.values, other.values)
            if share < LARGEST_DIFFERENCE_OF_READINGS:
                pairs.append((other.name, column.name, share))
    if not pairs:
        return None
    parts = [
        f"{first} and {second} ({100.0 * share:.0f} % of a standard deviation)"
        for first, second, share in pairs
    ]
    words = (
        f"columns in the same units hardly differ: {listed(parts, MOST_COLUMNS_OF_A_SENTENCE)}; if"
        " they are readings of one thing, which of them a link belongs to cannot be told: leave one"
        " of them out"
    )
    names = tuple(dict.fromkeys(name for pair in pairs for name in pair[:2]))
    return Damage(DamageKind.READ_TWICE, names, 1.0, words)


def _difference(value: Floats, other: Floats) -> float:
    """The standard deviation of the difference of two columns in the same units, in those of the
    second one; infinite where means or spreads say that the units or the things differ.
    """
    both = np.isfinite(value) & np.isfinite(other)
    if both.sum() < FEWEST_EFFECTIVE_VALUES:
        return np.inf
    value = value[both]
    other = other[both]
    spread = float(other.std())
    means = float(value.mean()), float(other.mean())
    bound = LARGEST_DIFFERENCE_OF_READINGS * spread
    alike = (
        abs(means[0] - means[1]) < bound
        and abs(float(value.std()) - spread) < bound
        and min(map(abs, means)) >= LEAST_MEAN_OF_MEASUREMENTS * spread > 0.0
    )
    return float((value - other).std()) / spread if alike else np.inf


def standardised_within(data: Dataset, numbers: tuple[NumberColumn, ...]) -> Damage | None:
    """Columns whose means, or means and standard deviations, are the same in all contexts; None
    without two of them.

    The largest difference of the means of contexts is held against the standard error of the
    smallest context, s / sqrt(n); that of the standard deviations, with n or n - 1, against s /
    sqrt(2 n).
    """
    counts = np.bincount(data.codes[data.codes >= 0], minlength=len(data.contexts.cells))
    cells = np.flatnonzero(counts >= FEWEST_ROWS_OF_A_STANDARDISED_CONTEXT)
    if len(cells) < 2:
        return None
    both = []
    centred = []
    codes = data.codes.astype(np.int64)
    for column in numbers:
        if column.effective < FEWEST_EFFECTIVE_VALUES:
            continue
        means = _means(column.values, codes)[cells]
        # that of all rows, which is the largest
        error = float(column.some.std()) / np.sqrt(float(counts[cells].min()))
        spread = float(np.ptp(means))
        if spread > LARGEST_DIFFERENCE_OF_STANDARDISED * error:
            continue
        deviations = np.sqrt(_means((column.values - means.mean()) ** 2, codes)[cells])
        if spread <= LARGEST_DIFFERENCE_OF_CENTRED * error:
            centred.append(column.name)
        unbiased = deviations * np.sqrt(counts[cells] / (counts[cells] - 1.0))
        if min(
            np.ptp(deviations), np.ptp(unbiased)
        ) <= LARGEST_DIFFERENCE_OF_STANDARDISED * error / np.sqrt(2.0):
            both.append(column.name)
    names, what = (both, "means and standard deviations") if len(both) > 1 else (centred, "means")
    if len(names) < 2:
        return None
    columns = listed(names, MOST_COLUMNS_OF_A_SENTENCE, "column")
    words = (
        f"{columns} have the same {what} in every context, as columns"
        f" have that were {'standardised' if names is both else 'centred'} within contexts: what"
        " the context does to them cannot be seen, links among them may be false, and effects have"
        " other units in each context; use the numbers as they were measured"
    )
    subject = listed(names, MOST_COLUMNS_OF_A_SENTENCE)
    doubtful = DoubtfulScale(
        tuple(names),
        ("slope", "level", "spread"),
        f"{subject} have other units in every context: they have the same {what} in all of them",
    )
    return Damage(DamageKind.STANDARDISED, tuple(names), 1.0, words, doubtful=doubtful)


def _means(values: Floats, codes: Ints) -> Floats:
    """The mean in every context, shape (contexts,), without missing values.

    `values` and `codes` have shape (rows,); a code of -1 is a row without a context.
    """
    known = codes >= 0
    if not known.all():
        values = values[known]
        codes = codes[known]
    sums = np.bincount(codes, weights=values)
    if np.isfinite(sums).all():
        return np.asarray(sums / np.maximum(np.bincount(codes), 1))
    known = np.isfinite(values)
    return np.asarray(
        np.bincount(codes, weights=np.where(known, values, 0.0))
        / np.maximum(np.bincount(codes, weights=known), 1.0)
    )


def amounts(data: Dataset, numbers: tuple[NumberColumn, ...]) -> Damage | None:
    """Positive columns that are strongly skewed, and whose logarithms are near normal; None without
    any.

    Such a column wants a logarithm: on its own scale lines miss what it does.
    """
    names = [
        column.name
        for column in numbers
        if column.effective >= FEWEST_EFFECTIVE_VALUES and is_amount(column.some)
    ]
    if not names:
        return None
    many = len(names) > 1
    columns = listed(names, MOST_COLUMNS_OF_A_SENTENCE, "column")
    words = (
        f"{columns} {'are' if many else 'is'} skewed as amounts are,"
        f" and the {'logarithms are' if many else 'logarithm is'} not: lines miss what"
        f" {'they do' if many else 'it does'}, and links may be false or point the wrong way;"
        f" search the logarithm in place of the column, such as numpy.log(table[{names[0]!r}]), or"
        " pass transform='ranks'"
    )
    subject = listed(names, MOST_COLUMNS_OF_A_SENTENCE)
    doubtful = DoubtfulScale(
        tuple(names),
        ("edge", "slope", "level", "spread"),
        f"{subject} {'are' if many else 'is'} skewed as amounts are: on their"
        " scale a mechanism that all contexts share may seem to differ; search the logarithm",
        by_ranks=True,
        near=True,
    )
    return Damage(DamageKind.LOGARITHM, tuple(names), 1.0, words, doubtful=doubtful)


def _effective(counts: np.ndarray) -> float:
    """Effective values by their counts, 1 / sum p²."""
    return float(counts.sum()) ** 2 / float(np.sum(counts.astype(np.float64) ** 2))


FINDERS = (
    caps,
    repeated_values,
    coarse_rounding,
    heaped,
    standardised_within,
    amounts,
    read_twice,
)
KINDS = (
    DamageKind.CAP,
    DamageKind.REPEATED,
    DamageKind.ROUNDED,
    DamageKind.HEAPED,
    DamageKind.READ_TWICE,
    DamageKind.STANDARDISED,
    DamageKind.LOGARITHM,
)
"""The kinds that these find."""

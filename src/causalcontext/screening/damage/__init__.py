"""Damaged cells and rows that a reader must know of: duplicates of rows, a row of totals, codes,
imputed means.

Rows that are no observations of their own are left out, and cells that are no measurements are
taken for missing; of both, and of what nobody but the user can mend, a sentence says where and how
much.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from causalcontext.data.dataset import Dataset, only_cells, some_rows
from causalcontext.errors import listed
from causalcontext.kernels.arrays import Bools, Ints
from causalcontext.screening.damage import cells, duplicates, scales, summaries
from causalcontext.screening.damage.finding import (
    Damage,
    DamageKind,
    number_columns,
    percent,
    union_of,
)
from causalcontext.screening.left_out import DoubtfulScale
from causalcontext.screening.settings import (
    LARGEST_SHARE_LEFT_OUT_FOR_CELLS,
    MOST_COLUMNS_OF_A_SENTENCE,
)

SCALES = (cells.far_heaps, *scales.FINDERS)
KINDS = (DamageKind.FAR, *scales.KINDS)
"""Damage of columns that is told and left as it is: the looks, and the kinds they find."""
FINDERS = (
    summaries.rows_of_summaries,
    duplicates.row_of_totals,
    cells.codes_for_missing,
    duplicates.copies_of_rows,
    cells.slips,
    cells.imputed_means,
    cells.carried_forward,
    cells.interpolated,
    *SCALES,
    duplicates.near_copies_of_rows,
)
"""All looks in their order. Codes come before copies: rows of codes alone are no copies."""
SCALES_OF_SERIES = (scales.caps, scales.repeated_values, scales.coarse_rounding)
FINDERS_OF_SERIES = (
    cells.codes_for_missing,
    cells.slips,
    cells.imputed_means,
    cells.carried_forward,
    cells.interpolated,
    *SCALES_OF_SERIES,
)
"""The looks at rows that follow each other: copies of rows and the spread of amounts are of time.
What repeats the row before is told and stays, since prices and rates stand still, too."""


STAND_STILL = (DamageKind.CARRIED, DamageKind.INTERPOLATED)
"""Cells of a series that are told and stay."""


class Mended(NamedTuple):
    """A table without damaged rows and cells, and the damage.

    Attributes
    ----------
    data : Dataset
    findings : tuple of Damage
        All damage, in the order of the looks.
    told : tuple of str
        One sentence for each finding, in the same order.
    kept_rows : Ints or None
        The rows of the table that are left, by number; None where all are.
    """

    data: Dataset
    findings: tuple[Damage, ...]
    told: tuple[str, ...]
    kept_rows: Ints | None


def mended(
    data: Dataset, missing: str = "raise", keep: bool = False, codes_decided: bool = False
) -> Mended:
    """The table without rows that are no observations and cells that are no measurements, and words
    on all damage.

    `missing` is how missing values are treated: with "model" and "testwise" damaged cells become
    missing values, else their rows are left out, unless these are more than
    `LARGEST_SHARE_LEFT_OUT_FOR_CELLS` of all. With `keep` nothing is changed; with `codes_decided`
    the user has said which values are codes for missing ones. Every look sees the table as the
    looks before it have left it.
    """
    rows = np.arange(data.n_rows)
    given = data.n_rows
    findings: list[Damage] = []
    sentences: list[str] = []
    numbers = number_columns(data)
    for look in FINDERS:
        skipped = look is cells.codes_for_missing and codes_decided
        finding = None if skipped else look(data, numbers)
        if finding is None:
            continue
        words = _words(finding, keep)
        out = finding.rows
        if finding.cells:
            damaged = union_of(list(finding.cells.values()), data.n_rows)
            as_missing = missing in ("model", "testwise")
            small = (
                data.n_rows - int(damaged.sum())
                >= (1.0 - LARGEST_SHARE_LEFT_OUT_FOR_CELLS) * data.n_rows
            )
            out = damaged if small and not as_missing else None
            words = _words_on_cells(finding, keep, as_missing, out)
            if out is None and not as_missing and not keep:
                finding = _in_doubt(finding)
            if as_missing and not keep:
                data = _with_missing(data, finding)
                numbers = number_columns(data)
        findings.append(finding)
        sentences.append(words)
        if not keep and out is not None:
            data = _without_rows(data, out)
            rows = rows[~out]
            numbers = number_columns(data)
    return Mended(data, tuple(findings), tuple(sentences), None if len(rows) == given else rows)


def mended_series(
    data: Dataset, missing: str, lags: int, keep: bool = False, codes_decided: bool = False
) -> Mended:
    """The table of rows that follow each other, with missing values in place of cells that are no
    measurements, and words on damage.

    No row goes, since the rows beside it would follow each other then. The windows that hold such a
    cell are left out, or its value is modelled, as `missing` says of a series; with "raise" cells
    stay as they are where these windows are more than `LARGEST_SHARE_LEFT_OUT_FOR_CELLS` of all.
    """
    findings: list[Damage] = []
    sentences: list[str] = []
    lost = np.zeros(data.n_rows, dtype=bool)
    for look in FINDERS_OF_SERIES:
        skipped = look is cells.codes_for_missing and codes_decided
        finding = None if skipped else look(data, number_columns(data))
        if finding is None:
            continue
        findings.append(finding)
        if not finding.cells:
            sentences.append(finding.words)
            continue
        damaged = union_of(list(finding.cells.values()), data.n_rows)
        windows = lost | _in_windows(damaged, lags)
        too_many = missing == "raise" and windows.mean() > LARGEST_SHARE_LEFT_OUT_FOR_CELLS
        as_missing = not (keep or too_many or finding.kind in STAND_STILL)
        if as_missing:
            data = _with_missing(data, finding)
            lost = windows
        sentences.append(_words_on_windows(finding, keep, missing, as_missing))
    return Mended(data, tuple(findings), tuple(sentences), None)


def _in_windows(damaged: Bools, lags: int) -> Bools:
    """True at the last rows of the windows that hold a damaged row, shape (rows,)."""
    inside = damaged.copy()
    for lag in range(1, lags + 1):
        inside[lag:] |= damaged[:-lag]
    return inside


def _words_on_windows(finding: Damage, keep: bool, missing: str, as_missing: bool) -> str:
    """The sentence on damaged cells of a series, with what is done about them."""
    if keep:
        handled = ""
    elif not as_missing:
        handled = (
            "; they stay, so that links over time, claims and effects may be false;"
            " missing='model' models cells that are missing in the table"
        )
    elif missing in ("raise", "windows"):
        handled = "; taken for missing, and windows that hold them left out"
    else:
        handled = "; they are taken for missing"
    return f"{finding.words}{handled}; {finding.way}"


def told_without(
    repaired: Mended, data: Dataset, of_series: bool = False
) -> tuple[tuple[Damage, ...], tuple[str, ...]]:
    """The damage of a table, and the words, after columns were left out of it.

    Damage of rows and cells stands; the scales are looked at once more in `data`, the table without
    these columns, of a series those of `SCALES_OF_SERIES` alone.
    """
    findings = [finding for finding in repaired.findings if finding.kind not in KINDS]
    sentences = [
        words
        for finding, words in zip(repaired.findings, repaired.told, strict=True)
        if finding in findings
    ]
    numbers = number_columns(data)
    looks = SCALES_OF_SERIES if of_series else SCALES
    again = [finding for look in looks if (finding := look(data, numbers)) is not None]
    return (*findings, *again), (*sentences, *(finding.words for finding in again))


def _words_on_cells(finding: Damage, keep: bool, as_missing: bool, out: Bools | None) -> str:
    """The sentence on damaged cells, with what is done about them: rows `out`, shape (rows,), are
    left out, None for none.
    """
    if keep:
        handled = ""
    elif as_missing:
        handled = "; they are taken for missing"
    elif out is None:
        handled = (
            f", in {percent(finding.share)} of the rows, too many to leave out: links, claims and"
            " effects may be false; missing='model' takes the cells for missing"
        )
    else:
        count = int(out.sum())
        handled = f"; taken for missing, and {count:,} {'row' if count == 1 else 'rows'} left out"
    return f"{finding.words}{handled}; {finding.way}"


def _in_doubt(finding: Damage) -> Damage:
    """The finding of damaged cells that stay, so that nothing is claimed of their columns."""
    columns = listed(list(finding.columns), MOST_COLUMNS_OF_A_SENTENCE)
    doubtful = DoubtfulScale(
        finding.columns,
        ("edge", "slope", "level", "spread"),
        f"{percent(finding.share)} of the rows have damaged cells in {columns}, too many to leave"
        " out",
        near=True,
    )
    return replace(finding, doubtful=doubtful)


def _words(finding: Damage, keep: bool) -> str:
    """The sentence on damage of rows, or on a scale; of rows that are kept by the user's wish it
    ends with that.
    """
    if not keep or finding.rows is None:
        return finding.words
    return finding.words.split(": ")[0] + ": they are kept, so that links and claims may be false"


def _without_rows(data: Dataset, out: np.ndarray) -> Dataset:
    """The table without the rows `out`, shape (rows,), and without contexts that had no others."""
    left = some_rows(data, ~out)
    used = np.unique(left.codes[left.codes >= 0])
    if len(used) == len(data.contexts.cells) or not len(used):
        return left
    return only_cells(left, used.tolist())


def _with_missing(data: Dataset, finding: Damage) -> Dataset:
    """The table with missing values in place of the damaged cells of a finding."""
    columns = list(data.columns)
    for position, mask in finding.cells.items():
        columns[position] = np.where(mask, np.nan, np.asarray(columns[position], dtype=np.float64))
    return replace(data, columns=tuple(columns))


__all__ = ["Damage", "DamageKind", "Mended", "mended", "mended_series", "told_without"]

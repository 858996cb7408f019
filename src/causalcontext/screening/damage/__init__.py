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
from causalcontext.kernels.arrays import Ints
from causalcontext.screening.damage import cells, duplicates, scales
from causalcontext.screening.damage.finding import (
    Damage,
    DamageKind,
    number_columns,
    percent,
    union_of,
)

MOST_LEFT_OUT = 0.3
"""The share of the rows that may be left out for damaged cells where missing values are not
modelled. Beyond it, what is left may say little about the table, and the user decides."""


class Mended(NamedTuple):
    """A table without damaged rows and cells, and what was found."""

    data: Dataset
    findings: tuple[Damage, ...]
    told: tuple[str, ...]
    kept_rows: Ints | None
    """The rows of the table that are left, by number; None where all are."""


def mended(
    data: Dataset, missing: str = "raise", keep: bool = False, codes_decided: bool = False
) -> Mended:
    """The table without rows that are no observations and cells that are no measurements, and words
    on all damage.

    `missing` is how missing values are treated: with "model" and "testwise" damaged cells become
    missing values, else their rows are left out. With `keep` nothing is changed; with
    `codes_decided` the user has said which values are codes for missing ones.
    """
    rows = np.arange(data.n_rows)
    given = data.n_rows
    findings: list[Damage] = []
    told: list[str] = []
    numbers = number_columns(data)
    for finder in (duplicates.row_of_totals, duplicates.copies_of_rows):
        finding = finder(data, numbers)
        if finding is None:
            continue
        findings.append(finding)
        told.append(_words(finding, keep))
        if not keep and finding.rows is not None:
            data = _without_rows(data, finding.rows)
            rows = rows[~finding.rows]
            numbers = number_columns(data)
    for find in cells.FINDERS:
        finding = None if find is cells.codes_for_missing and codes_decided else find(data, numbers)
        if finding is None:
            continue
        findings.append(finding)
        damaged = union_of(list(finding.cells.values()), data.n_rows)
        as_missing = missing in ("model", "testwise")
        small = len(data.codes) - int(damaged.sum()) >= (1.0 - MOST_LEFT_OUT) * len(data.codes)
        if keep or not (as_missing or small):
            handled = (
                f", in {percent(finding.share)} of the rows, too many to leave out: links, claims"
                " and effects may be false; missing='model' takes the cells for missing"
            )
            handled = "" if keep else handled
        elif as_missing:
            handled = "; they are taken for missing"
            data = _with_missing(data, finding)
        else:
            count = int(damaged.sum())
            handled = (
                f"; taken for missing, and {count:,} {'row' if count == 1 else 'rows'} left out"
            )
            data = _without_rows(data, damaged)
            rows = rows[~damaged]
        told.append(f"{finding.words}{handled}; {finding.way}")
        numbers = number_columns(data)
    for look in (*scales.FINDERS, duplicates.near_copies_of_rows):
        finding = look(data, numbers)
        if finding is None:
            continue
        findings.append(finding)
        told.append(_words(finding, keep))
        if not keep and finding.rows is not None:
            data = _without_rows(data, finding.rows)
            rows = rows[~finding.rows]
    return Mended(data, tuple(findings), tuple(told), None if len(rows) == given else rows)


def told_without(repaired: Mended, data: Dataset) -> tuple[tuple[Damage, ...], tuple[str, ...]]:
    """What was found in a table, and the words, after columns were left out of it: nothing on the
    scales of these.
    """
    findings = [finding for finding in repaired.findings if finding.kind not in scales.KINDS]
    told = [
        words
        for finding, words in zip(repaired.findings, repaired.told, strict=True)
        if finding in findings
    ]
    numbers = number_columns(data)
    again = [finding for look in scales.FINDERS if (finding := look(data, numbers)) is not None]
    return (*findings, *again), (*told, *(finding.words for finding in again))


def _words(finding: Damage, keep: bool) -> str:
    """The sentence on damage; of rows that are kept by the user's wish another one."""
    if not keep or finding.rows is None:
        return finding.words
    return finding.words.split(": ")[0] + ": they are kept, so that links and claims may be false"


def _without_rows(data: Dataset, out: np.ndarray) -> Dataset:
    """The table without some rows, and without contexts that had no others."""
    left = some_rows(data, ~out)
    used = np.unique(left.codes[left.codes >= 0])
    if len(used) == len(data.contexts.cells) or not len(used):
        return left
    return only_cells(left, used.tolist())


def _with_missing(data: Dataset, finding: Damage) -> Dataset:
    """The table with missing values in place of damaged cells."""
    columns = list(data.columns)
    for position, mask in finding.cells.items():
        columns[position] = np.where(mask, np.nan, np.asarray(columns[position], dtype=np.float64))
    return replace(data, columns=tuple(columns))


__all__ = ["Damage", "DamageKind", "Mended", "mended", "told_without"]

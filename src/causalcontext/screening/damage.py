"""Damaged cells and rows that a reader must know of: duplicates of rows, a row of totals, codes, imputed means."""

from __future__ import annotations

from causalcontext.data.dataset import Dataset


def words_about_damage(data: Dataset) -> tuple[str, ...]:
    """Sentences on damage, each with the column, the share of its cells and what to do; none for a clean table."""
    return ()

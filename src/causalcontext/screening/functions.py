"""Columns that are functions of others: a total beside its parts, a logarithm, a percentage, dummies of a category."""

from __future__ import annotations

from collections.abc import Collection

from causalcontext.data.dataset import Dataset
from causalcontext.screening.left_out import LeftOut


def functions_of_others(data: Dataset, kept: Collection[str] = ()) -> tuple[LeftOut, ...]:
    """The system variables that are left out since others determine them; none of those that the caller keeps."""
    return ()

"""Tables with missing values, for tests that leave out no more rows than they must."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.dataset import Dataset
from causalcontext.errors import DataError
from causalcontext.kernels.arrays import Bools, Floats


def missing_rows(data: Dataset) -> dict[int, Bools]:
    """For every system variable with missing values, the rows in which it is missing."""
    found = {position: np.isnan(np.asarray(data.columns[position], dtype=np.float64)) for position in data.system}
    return {position: missing for position, missing in found.items() if missing.any()}


def with_placeholders(data: Dataset, missing: Mapping[int, Bools]) -> Dataset:
    """The table with a value wherever one is missing: a placeholder for rows that no test of the column will use.

    `missing` has the rows without a value, as `missing_rows` gives them.

    Examples
    --------
    >>> from causalcontext.data.tables import read_table
    >>> data = read_table({"X": [1.0, float("nan"), 3.0, 5.0], "Y": [1.0, 2.0, 3.0, 4.0]}, None)
    >>> with_placeholders(data, missing_rows(data)).columns[0].tolist()
    [1.0, 3.0, 3.0, 5.0]
    """
    empty = [repr(data.names[position]) for position, rows in missing.items() if rows.all()]
    if empty:
        raise DataError(f"there is no value in any row of {', '.join(empty)}; drop what has none")
    columns = tuple(
        _filled(column, missing[position]) if position in missing else column
        for position, column in enumerate(data.columns)
    )
    return replace(data, columns=columns)


def _filled(column: NDArray[np.generic], missing: Bools) -> Floats:
    """A value from the middle of those that are there, so that a column stays what it is."""
    values = np.asarray(column, dtype=np.float64)
    present = np.sort(values[~missing])
    return np.where(missing, present[len(present) // 2], values)

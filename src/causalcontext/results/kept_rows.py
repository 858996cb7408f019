"""The rows of a result in its file, where that is asked for: a loaded result then answers all that it did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset
from causalcontext.errors import OptionError
from causalcontext.kernels.arrays import Values
from causalcontext.results.arrays_in_files import decoded, encoded
from causalcontext.results.equations import tuples
from causalcontext.results.schema import check_range
from causalcontext.views import Contexts

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

MOST_CELLS = 10_000_000
"""Rows times columns: a file of 100 MB."""


def rows_to_dict(result: ContextGraphs) -> dict[str, Any]:
    """The rows of a result, so that `rows_from_dict` has them again."""
    data = result.rows
    if result.series is not None:
        raise OptionError("not yet: rows=True with lags; without it the file holds everything but the rows")
    if data is None:
        raise OptionError("this result has no rows to keep: it was loaded without them, or its table was read in parts")
    if data.n_rows * len(data.names) > MOST_CELLS:
        raise OptionError(f"a file keeps at most {MOST_CELLS:,} cells, this table has {data.n_rows:,} rows of "
                          f"{len(data.names)} columns: save without rows=True")  # fmt: skip
    return {"columns": [encoded(_plain(column)) for column in data.columns], "dtypes": list(data.dtypes),
            "kinds": list(data.kinds), "codes": encoded(data.codes.astype(np.int64)),
            "declared": sorted(data.declared), "share": data.share}  # fmt: skip


def rows_from_dict(kept: Mapping[str, Any], names: tuple[str, ...], cells: Contexts,
                   levels: tuple[tuple[Any, ...], ...], categories: tuple[Any, ...]) -> Dataset:  # fmt: skip
    """The table of `rows_to_dict`, if its codes are in range; `categories` are the levels of every column."""
    columns, codes, kinds = tuple(map(decoded, kept["columns"])), decoded(kept["codes"]), kept["kinds"]
    if any(column.shape != codes.shape or codes.ndim != 1 or np.isinf(column).any() for column in columns):
        raise ValueError("rows have columns of other lengths, or infinite numbers")
    check_range(codes, -1, len(cells.cells) - 1, "rows.codes")
    for position, own in zip(cells.positions, levels, strict=True):
        check_range(columns[position], -1, len(own) - 1, "rows.columns")
    named = {v: tuples(categories[v]) for v, kind in enumerate(kinds)
             if not Kind(kind).is_number and v not in cells.positions}  # fmt: skip
    for position, own in named.items():
        check_range(columns[position][~np.isnan(columns[position])], 0, len(own) - 1, "rows.columns")
    return Dataset(names, tuple(map(Kind, kinds)), columns, tuple(kept["dtypes"]), cells, levels, codes, named,
                   frozenset(kept["declared"]), kept["share"])  # fmt: skip


def _plain(column: Values) -> Values:
    """Whole numbers of 64 bits, or floating point."""
    return column.astype(np.int64 if column.dtype.kind in "ib" else np.float64)

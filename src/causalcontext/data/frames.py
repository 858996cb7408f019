"""Tables of pandas, which is imported with the first of them: that takes a quarter of a second and
40 MB.

Who reads a file in batches and asks for no table can do without. `narwhals.dependencies` tells
whether something is a table of pandas, also without an import. `Later` stands for such a library.
"""

from __future__ import annotations

import re
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from causalcontext.kernels.arrays import Bools, Ints, Values


@contextmanager
def ctrl_c_waits() -> Iterator[None]:
    """Ctrl-C is heard when the block is done: an exception inside the import of a library would
    leave half of it, and another error in its place.

    Only the main thread receives signals.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    waiting: list[tuple[int, Any]] = []
    signal.signal(signal.SIGINT, lambda number, frame: waiting.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if waiting:
            before(*waiting[0])


class Later:
    """A library that is imported when something of it is first asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if self._name not in sys.modules:
            with ctrl_c_waits():
                import_module(self._name)
        return getattr(import_module(self._name), name)


if TYPE_CHECKING:
    import narwhals as nw
    import pandas as pd
    import pyarrow as pa
else:
    nw = Later("narwhals")
    pa = Later("pyarrow")
    pd = Later("pandas")

__all__ = ["brings_rows_by", "frame_of", "is_index", "is_missing", "numbered", "nw", "pa", "pd"]

PLAIN = "biuf"
"""Kinds of numpy dtypes whose values are numbers."""
SHORT = 100_000
"""So many numbers are sorted sooner than pandas is imported."""


def frame_of(
    content: Any = None, columns: Iterable[Any] | None = None, index: Iterable[Any] | None = None
) -> pd.DataFrame:
    """A table of rows, of columns or of an array, as pandas makes it.

    >>> frame_of([("X", 1.5), ("Y", 2.5)], columns=["name", "slope"])["slope"].tolist()
    [1.5, 2.5]
    """
    names, labels = (
        None if labels_given is None else list(labels_given) for labels_given in (columns, index)
    )
    return pd.DataFrame(content, columns=names, index=labels)


def is_missing(values: Values) -> Bools:
    """True where there is no value: NaN, None, NaT or `pandas.NA`."""
    if values.dtype.kind in PLAIN:
        return np.not_equal(values, values)
    missing: Bools = pd.isna(values)
    return missing


def numbered(values: Values) -> tuple[Ints, Values]:
    """The place of every value among the different ones, -1 where it is missing; and these.

    >>> import numpy as np
    >>> numbered(np.array(["b", None, "a", "b"], dtype=object))
    (array([ 0, -1,  1,  0]), array(['b', 'a'], dtype=object))
    """
    if values.dtype.kind in PLAIN and values.size <= SHORT:
        missing = is_missing(values)
        different = np.unique(values[~missing])
        return np.where(missing, -1, np.searchsorted(different, values)), different
    return pd.factorize(values)


def brings_rows_by(table: Any) -> str | None:
    """The call that brings the rows of a table of a cluster into memory; None for any other
    table.
    """
    library = type(table).__module__.partition(".")[0]
    return {"dask": "compute()", "dask_expr": "compute()", "pyspark": "toPandas()"}.get(library)


def is_index(name: str) -> bool:
    """True if a column of an Arrow table is the index of a pandas table, written with it by
    default.
    """
    return re.fullmatch(r"__index_level_\d+__", name) is not None

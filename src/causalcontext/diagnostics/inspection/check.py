"""`cc.check`: everything that can be said about a table before a search, and what would suit it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_pandas_dataframe

from causalcontext.data.dataset import Dataset
from causalcontext.data.determinism import step_functions
from causalcontext.data.indicators import Indicator
from causalcontext.data.kinds import Kind
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.diagnostics.inspection.inspect_table import AnyContext, Inspection, inspect
from causalcontext.diagnostics.overlap import columns_apart
from causalcontext.errors import CausalContextError, DataError
from causalcontext.methods.auto import choose_by_call, choose_by_table
from causalcontext.model_checks.checks import check_table
from causalcontext.model_checks.violations import OUTLIERS, ROWS, SKEW, TAILS
from causalcontext.model_checks.words import AdviceFacts, sentence

if TYPE_CHECKING:
    import pandas as pd

OF_COLUMNS = (OUTLIERS, ROWS, SKEW, TAILS)
"""What columns say by themselves; curves and the like need a graph."""


def check(
    table: Any, context: AnyContext = None, *, kinds: Mapping[str, str] | None = None, missing: str = "raise"
) -> Inspection:
    """What `discover` would refuse, could not test or be misled by, and which method and test suit the table.

    Parameters
    ----------
    table : pandas, polars or pyarrow table
    context : str, sequence of str or what `cc.threshold` and `cc.bins` make, optional
        The column that names the context, or several, or a step function of a column.
    kinds, missing
        As for `discover`.

    Returns
    -------
    Inspection
        `usable`, and as sentences `problems` (what `discover` refuses), `notes` and `advice`; `str()` has everything.

    Examples
    --------
    >>> import causalcontext as cc
    >>> found = cc.check(cc.examples.soil_moisture(500, seed=1), context="soil")
    >>> found.usable, found.advice[0]
    (True, "all columns are numbers: method='auto', the default, tries score-ac first")
    """
    frame = _frame(table)
    found = inspect(frame, context, kinds, missing)
    if found.problems:
        return found
    try:
        data = _read(frame, context, kinds)
    except CausalContextError:  # inspect has said why, column by column
        return found
    return replace(found, notes=(*found.notes, *_misleading(data)), advice=tuple(_suitable(data, missing)))


def _read(frame: pd.DataFrame, context: AnyContext, kinds: Mapping[str, str] | None) -> Dataset:
    """The table as `discover` reads it."""
    if isinstance(context, Indicator):
        return context.applied(read_table(frame, None, kinds))
    return read_table(frame, context, kinds)


def _frame(table: Any) -> pd.DataFrame:
    """Any kind of table as one of pandas."""
    if is_pandas_dataframe(table):
        return table
    try:
        frame = nw.from_native(table)
    except TypeError as error:
        raise DataError(
            f"the table is of type {type(table).__name__}, expected a pandas, polars or pyarrow table"
        ) from error
    return (frame.collect() if isinstance(frame, nw.LazyFrame) else frame).to_pandas()


def _misleading(data: Dataset) -> Iterator[str]:
    """What a search would take for something else."""
    source = None if data.contexts.source is None else data.names[data.contexts.source]
    for found in step_functions(data) if source is None else ():
        certain = f"{found.context} is a function of {found.column} without exception"
        yield f"{certain}; if it was made of it: {found.advice()}"
    apart = [name for name in columns_apart(data) if name != source]
    if apart:
        yield f"the usual values of {', '.join(apart[:5])} hardly overlap between some values of {data.context_name}"
    nothing = np.zeros((len(data.values), len(data.names), len(data.names)), dtype=np.int8)
    for violation in check_table(data, nothing):
        if violation.kind in OF_COLUMNS:
            scored = source is None and len(data.contexts.positions) <= 1
            yield sentence(violation, bool(data.contexts.positions), AdviceFacts(scored))


def _suitable(data: Dataset, missing: str) -> Iterator[str]:
    """Which method and tests suit the kinds of columns."""
    kinds = {data.kinds[position] for position in data.system}
    choice = choose_by_call(("missing='testwise'",) if missing == "testwise" else ()) or choose_by_table(
        data, gather_statistics(data, "listwise")
    )
    if choice is not None:
        yield choice.reason
    elif kinds == {Kind.CONTINUOUS}:
        yield "all columns are numbers: method='auto', the default, tries score-ac first"
    if len(kinds) > 1:
        yield "columns are of several kinds: test='auto' picks a test for every question"

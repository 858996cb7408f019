"""Does it depend on other columns whether a cell is missing? Rows without holes are a selected sample then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import scipy

from causalcontext.ci_tests.preparation import PreparedCompletions
from causalcontext.data.completion import FEWEST_OBSERVED, complete
from causalcontext.data.dataset import Dataset, missing_rows
from causalcontext.data.kinds import Kind
from causalcontext.diagnostics.findings import Finding, Severity
from causalcontext.errors import listed
from causalcontext.kernels.arrays import Bools, Floats
from causalcontext.kernels.rows.glm import first_slopes, fit_glm
from causalcontext.kernels.rows.likelihoods import LOGIT

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

LEVEL = 0.01
"""The share of tables without any such dependence in which one is reported."""
FEWEST_HOLES = 5
MOST_COLUMNS = 60
"""With more columns what decides is not looked for."""
TOLERANCE = 1e-6
MODES = {
    "listwise": "rows without holes are a selected sample, in which columns can be linked that are not: pass "
    "missing='model', which allows for this",
    "testwise": "rows that a test leaves out are not like the others, which can create and hide links: pass "
    "missing='model', which allows for this",
    "model": "missing='model' allows for this as long as these columns stay in the table",
}


def deciding_columns(result: ContextGraphs) -> Iterator[Finding]:
    """Columns whose holes depend on other columns, each with those that decide."""
    prepared, data = result.prepared, result.rows
    completed = prepared.completed if isinstance(prepared, PreparedCompletions) else None
    data = data if completed is None else completed.given
    if data is None or result.series is not None or len(data.names) > MOST_COLUMNS:
        return
    gaps = {place: rows for place, rows in missing_rows(data).items()
            if FEWEST_HOLES <= rows.sum() <= len(rows) - FEWEST_OBSERVED}  # fmt: skip
    if not gaps:
        return
    columns = _predictors((complete(data, 0) if completed is None else completed).table(0))
    for place, p, names in _dependent(gaps, columns, data.names):
        message = f"whether {data.names[place]} is missing depends on {listed(names, 3)} (p = {p:.2g}, a logit)"
        evidence = {"column": data.names[place], "p": p, "depends on": names}
        yield Finding("missing cells", Severity.CAUTION, message, MODES.get(result.settings.missing, ""), evidence)


def _predictors(table: Dataset) -> dict[int, Floats]:
    """By position, the columns of every variable in a completed table: a number, or indicators of its levels."""
    found = {}
    for place, column in enumerate(table.columns):
        own = np.asarray(column, dtype=np.float64)
        if place in table.contexts.positions or table.kinds[place] is Kind.CATEGORICAL:
            levels = np.unique(own)[1:]
            found[place] = (own == levels[:, None]).astype(np.float64)
        else:
            found[place] = ((own - own.mean()) / max(float(own.std()), 1e-300))[None]
    return {place: own for place, own in found.items() if len(own) and own.std() > 0.0}


def _dependent(gaps: Mapping[int, Bools], columns: Mapping[int, Floats], names: tuple[str, ...]
               ) -> Iterator[tuple[int, float, tuple[str, ...]]]:  # fmt: skip
    """The columns whose holes depend on others, with the p-value, and those that matter given all of them."""
    for place, missing in gaps.items():
        others = [other for other in columns if other != place]
        whole = _likelihood(missing, [columns[other] for other in others])
        df = sum(len(columns[other]) for other in others)
        p = float(scipy.special.chdtrc(df, 2.0 * (whole - _likelihood(missing, []))))
        if p > LEVEL / len(gaps):
            continue
        without = {other: _likelihood(missing, [columns[one] for one in others if one != other]) for other in others}
        own = {other: float(scipy.special.chdtrc(len(columns[other]), max(2.0 * (whole - less), 0.0)))
               for other, less in without.items()}  # fmt: skip
        ranked = sorted(own, key=lambda other: without[other])
        matter = [other for other in ranked if own[other] < LEVEL] or ranked[:1]
        yield place, p, tuple(names[other] for other in matter)


def _likelihood(missing: Bools, columns: list[Floats]) -> float:
    """The largest log-likelihood of a logit of what is missing."""
    design = np.vstack([np.ones((1, len(missing))), *columns])
    response = missing.astype(np.int64)
    slopes = first_slopes(LOGIT, response, 2, len(design))
    return fit_glm(LOGIT, np.ascontiguousarray(design), response, 2, slopes, 0.0, TOLERANCE)

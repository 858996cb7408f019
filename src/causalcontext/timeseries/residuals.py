"""What the residuals of a model with lags say about it: skewed noise turns links at the context around."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from causalcontext.kernels.arrays import Floats
from causalcontext.model_checks.residuals import Residuals, check_residuals, in_units, side_by_side, statistics
from causalcontext.model_checks.violations import SKEW, Violation
from causalcontext.results.notes import Note, residual_notes
from causalcontext.timeseries.marks import WindowMarks


def residuals(reader: WindowMarks, node: int) -> Floats:
    """What the model of a variable leaves over, row by row, in units of the rows that were fitted together."""
    problem, model, judged = reader.problem, reader.found.models[node], reader.judged[node]
    table = problem.table
    codes = table.codes[:, model.copy] if model.copy >= 0 else np.zeros(len(table.row), dtype=np.int64)
    slopes = np.where(model.parents, np.nan_to_num(judged.slope), 0.0)
    left = table.values[:, node] - np.einsum("np,np->n", table.values, slopes[codes])
    for r in np.unique(codes):
        left[codes == r] = in_units((left[codes == r] - left[codes == r].mean())[:, None])[:, 0]
    return np.asarray(left)


def skewed(reader: WindowMarks) -> tuple[Violation, ...]:
    """The variables with skewed residuals; other violations are not looked for with lags."""
    nodes, rows = range(reader.problem.variables), len(reader.problem.table.row)
    nothing, none = np.zeros((rows, 0)), np.zeros((0, 1), dtype=bool)
    follows = np.zeros(rows, dtype=bool)
    found = [statistics(Residuals(residuals(reader, node)[:, None], nothing, none, none, follows)) for node in nodes]
    return check_residuals(side_by_side(found), rows, [reader.names[reader.place[node]] for node in nodes], (SKEW,))


def sentence(found: Sequence[Violation], context: bool) -> tuple[Note, ...]:
    """What a user should know about skewed residuals."""
    return tuple(residual_notes(found, context))

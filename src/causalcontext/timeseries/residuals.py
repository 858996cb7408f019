"""What the residuals of a model with lags say about it: skewed noise turns links at the context around."""

from __future__ import annotations

import numpy as np

from causalcontext.kernels.arrays import Floats
from causalcontext.results.notes import About, Note
from causalcontext.timeseries.marks import WindowMarks

SKEWED = 0.7
"""A skewness beyond this, and far from 0 by its standard error too, is worth a note; exponential noise has 2."""
FAR = 5.0


def residuals(reader: WindowMarks, node: int) -> Floats:
    """What the model of a variable leaves over, row by row, in standard units."""
    problem, model, judged = reader.problem, reader.found.models[node], reader.judged[node]
    table = problem.table
    codes = table.codes[:, model.copy] if model.copy >= 0 else np.zeros(len(table.row), dtype=np.int64)
    slopes = np.where(model.parents, np.nan_to_num(judged.slope), 0.0)
    left = table.values[:, node] - np.einsum("np,np->n", table.values, slopes[codes])
    for r in np.unique(codes):
        left[codes == r] -= left[codes == r].mean()
    return np.asarray(left)


def skewed(reader: WindowMarks) -> dict[str, float]:
    """The skewness of the residuals of every variable where it is large."""
    found = {}
    for node in range(reader.problem.variables):
        left = residuals(reader, node)
        spread = float(left.std())
        skewness = float(np.mean((left / spread) ** 3)) if spread > 0.0 else 0.0
        if abs(skewness) > max(SKEWED, FAR * np.sqrt(6.0 / len(left))):
            found[reader.names[reader.place[node]]] = skewness
    return found


def sentence(found: dict[str, float], context: bool) -> tuple[Note, ...]:
    """What a user should know about skewed residuals."""
    if not found:
        return ()
    shown = ", ".join(f"{name} ({value:.1f})" for name, value in found.items())
    danger = "links at the context may be false or point the wrong way" if context else "some links may be false"
    return (Note(f"residuals are skewed, which the model does not know: {shown}; {danger}", About.RESIDUALS),)

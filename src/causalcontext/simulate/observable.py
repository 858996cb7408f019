"""Truth graphs of equations: which causes move their effect, on which values (Sec. 3.1, App. "Additional graphs").

The observable graph G[F, P] has j -> i if, with the other causes of i held at values that P knows, some change of j
within the support of P changes f_i. The four graphs differ in F and P alone:

============== ================ ===================
graph          mechanisms       values of
============== ================ ===================
union          F                all rows
descriptive    F with R := r    the rows R = r
physical       F with R := r    all rows
counterfactual F with R := r    the model under R := r
============== ================ ===================

Links at R are those of the union.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from causalcontext.errors import OptionError
from causalcontext.kernels.arrays import Bools, Values
from causalcontext.simulate.equations import EquationSCM
from causalcontext.simulate.truth import Truth, directed_graph

NEIGHBOURS = 25
"""Rows with the most similar other causes, whose value of one cause is tried: they stand for the support."""
SMALLEST_SHARE = 0.01
"""Share of the tried changes that must move the effect. Less is the paper's "negligible" (Example (ii))."""
FEWEST_ROWS = 30


def observable_truth(model: EquationSCM, rows: int, seed: int) -> Truth:
    """All graphs of a model, from `rows` draws of its noise."""
    noise = model.draw_noise(rows, seed)
    everywhere = model.solve(noise)
    context = model.names.index(model.context)
    levels, counts = np.unique(everywhere[model.context], return_counts=True)
    if len(levels) < 2 or counts.min() < FEWEST_ROWS:
        raise OptionError(f"{model.context!r} takes the values {levels.tolist()} in {counts.tolist()} of {rows} rows; "
                          f"its truth needs two values with {FEWEST_ROWS} rows each")  # fmt: skip
    union = _observable(model, everywhere, noise, None)
    graphs: dict[str, dict[object, Bools]] = {"descriptive": {}, "physical": {}, "counterfactual": {}}
    for level, name in zip(levels.tolist(), model.level_names(levels), strict=True):
        here = everywhere[model.context] == level
        seen = {key: column[here] for key, column in everywhere.items()}
        views = {
            "descriptive": (seen, {key: column[here] for key, column in noise.items()}),
            "physical": (everywhere, noise),
            "counterfactual": (model.solve(noise, do={model.context: level}), noise),
        }
        for kind, (values, their_noise) in views.items():
            graphs[kind][name] = _with_context_links(_observable(model, values, their_noise, level), union, context)
    named = {
        kind: {level: directed_graph(model.names, links) for level, links in found.items()}
        for kind, found in graphs.items()
    }
    return Truth(context=model.context, union=directed_graph(model.names, union), **named)


def _observable(
    model: EquationSCM, values: Mapping[str, Values], noise: Mapping[str, Values], level: int | None
) -> Bools:
    """The links cause -> effect that show on these values, R being held at `level` unless that is None."""
    links = np.zeros((len(model.names),) * 2, dtype=np.bool_)
    for effect, name in enumerate(model.names):
        held = [cause for cause in model.causes[name] if level is None or cause != model.context]
        for cause in held:
            others = [other for other in held if other != cause]
            share = _share_moved(model, name, cause, others, values, noise[name], level)
            links[model.names.index(cause), effect] = share > SMALLEST_SHARE
    return links


def _share_moved(
    model: EquationSCM, name: str, cause: str, others: list[str], values: Mapping[str, Values], noise: Values,
    level: int | None,
) -> float:  # fmt: skip
    """How often the effect changes when one cause takes its value from a row whose other causes are similar."""
    if level is not None:
        values = dict(values) | {model.context: np.full(len(noise), level)}
    before = model.evaluate(name, values, noise)
    moved = []
    for donors in _similar_rows([values[other] for other in others], len(noise)).T:
        after = model.evaluate(name, dict(values) | {cause: values[cause][donors]}, noise)
        moved.append(np.mean(~np.isclose(after, before, rtol=1e-9, atol=1e-12)))
    return float(np.mean(moved))


def _similar_rows(columns: list[Values], rows: int) -> NDArray[np.intp]:
    """For every row, other rows that are nearest in these columns: shape (rows, neighbours)."""
    from scipy.spatial import cKDTree  # not imported before it is needed: it takes long

    count = min(NEIGHBOURS, rows - 1)
    if not columns:
        return (np.arange(rows)[:, None] + np.arange(1, count + 1) * max(rows // (count + 1), 1)) % rows
    points = np.column_stack([column / max(float(np.std(column)), 1e-12) for column in columns])
    return np.asarray(cKDTree(points).query(points, k=count + 1)[1][:, 1:])


def _with_context_links(links: Bools, union: Bools, context: int) -> Bools:
    """The links of a context, those at R taken from the union."""
    links = links.copy()
    links[context], links[:, context] = union[context], union[:, context]
    return links

"""Whether a link of a window graph is present, absent or undetermined in a context."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from causalcontext.data.frames import frame_of
from causalcontext.errors import OptionError
from causalcontext.graphs.endpoints import as_written, mark_of
from causalcontext.results.changes import ONE_SIDED_95
from causalcontext.results.effects.lagged_mechanics import LaggedMechanics
from causalcontext.results.effects.window_links import LinkChoice
from causalcontext.results.slopes import slope

if TYPE_CHECKING:
    import pandas as pd

    from causalcontext.results.contexts import ContextGraphs


def labels_lagged(result: ContextGraphs, negligible: float) -> pd.DataFrame:
    """Every link of the union between system variables in every context.

    "present": found there. "absent": not found, and the 90 % interval of the partial correlation, given the causes of
    all contexts, lies within ±`negligible` on the windows with that value of the copy that the effect reads.
    "undetermined": not found, but it may well be there.
    """
    if result.context is None:
        raise OptionError("there is only one graph; pass context=... to discover to compare contexts")
    mechanics = LaggedMechanics(result, "classical")
    rows = [
        (result.names[cause], result.names[effect], mark, value, *_label(mechanics, cause, effect, g, negligible))
        for cause, effect, mark in _links(mechanics)
        for g, value in enumerate(result.contexts)
    ]
    return frame_of(rows, columns=["source", "target", "mark", "context", "label", "correlation", "bound", "n"])


def _links(mechanics: LaggedMechanics) -> Iterator[tuple[int, int, str]]:
    """Edges of the union between system variables as nodes of the window graph, the cause first."""
    union, copies = mechanics.result.union.endpoints, {mechanics.node(mechanics.context or 0, lag)
                                                  for lag in range(mechanics.lags + 1)}  # fmt: skip
    for x, y in zip(*np.nonzero(np.triu(union)), strict=True):
        if not {int(x), int(y)} & copies:
            source, target = as_written(union, int(x), int(y))
            if _is_past(mechanics, target):
                source, target = target, source
            yield source, target, mark_of(union, source, target)


def _is_past(mechanics: LaggedMechanics, node: int) -> bool:
    return node < mechanics.lags * mechanics.variables or node >= (mechanics.lags + 1) * mechanics.variables


def _label(mechanics: LaggedMechanics, cause: int, effect: int, g: int, negligible: float
           ) -> tuple[str, float, float, int]:  # fmt: skip
    v = effect - mechanics.lags * mechanics.variables
    here = mechanics.result.graphs[mechanics.result.contexts[g]].endpoints[cause, effect] != 0
    choice = (mechanics.choices([v]) or (LinkChoice(),))[0]
    causes = {column for h in mechanics.cells for column in mechanics.causes(choice, h, v)}
    x = _column(mechanics, cause)
    given = sorted(causes - {x})
    copies = mechanics.windows_for(choice, g, v).copies
    moments = mechanics.by_copies(copies)
    cell = sum(g * len(mechanics.cells) ** place for place in range(len(copies)))
    n, fit = int(moments.rows[cell]), slope(moments, cell, x, mechanics.column(v), given)
    weight = n - len(given) - 3
    bound = float(np.tanh(np.abs(np.arctanh(fit.correlation)) + ONE_SIDED_95 / np.sqrt(weight))) if weight > 0 else 1.0
    label = "present" if here else "absent" if bound < negligible else "undetermined"
    return label, fit.correlation, bound, n


def _column(mechanics: LaggedMechanics, node: int) -> int:
    """The column of a node that is no copy of the context."""
    v, lags = mechanics.variables, mechanics.lags
    if node >= v * (lags + 1):
        return len(mechanics.system) * (lags + 1) + node - v * (lags + 1)
    return mechanics.column(node % v, lags - node // v)

"""`result.plot()`: contexts side by side in one layout, the labeled union, or two contexts compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from causalcontext.drawing.figure import Picture, figure_of, paint_axes, paint_figure, save_picture
from causalcontext.drawing.layout import Layout, layout
from causalcontext.drawing.legend import graph_legend, legend
from causalcontext.drawing.over_time import result_layout, summary_picture
from causalcontext.drawing.pictures import KINDS, TIME_KINDS, check_picture_path
from causalcontext.drawing.strokes import (
    Panel,
    context_panel,
    context_variables,
    difference_panel,
    graph_panel,
    union_panel,
)
from causalcontext.errors import OptionError, check_choice
from causalcontext.graphs.graph import Graph
from causalcontext.results.contexts import ContextGraphs
from causalcontext.results.lagged import LaggedGraphs

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot(
    result: ContextGraphs,
    kind: str = "contexts",
    *,
    contexts: Sequence[Any] | None = None,
    axes: Axes | Sequence[Axes] | None = None,
    path: str | FilePath | None = None,
    dpi: float = 150,
) -> tuple[Axes, ...]:
    """The picture, on new axes or on those given; see `ContextGraphs.plot`."""
    return _painted(result_picture(result, kind, contexts), axes, path, dpi)


def plot_graph(graph: Graph, *, axes: Axes | None = None, path: str | FilePath | None = None, dpi: float = 150
               ) -> tuple[Axes, ...]:  # fmt: skip
    """The picture of one graph; see `Graph.plot`."""
    return _painted(graph_picture(graph), axes, path, dpi)


def result_picture(result: ContextGraphs, kind: str, contexts: Sequence[Any] | None = None) -> Picture:
    """What is to be painted of a result."""
    check_choice("kind", kind, (*KINDS, *(TIME_KINDS if isinstance(result, LaggedGraphs) else ())))
    if kind == "summary":
        assert isinstance(result, LaggedGraphs)
        return summary_picture(result)
    kind = "contexts" if kind == "time-series" else kind
    places = result_layout(result)
    panels, compared = _panels(result, kind, contexts, places)
    return Picture(tuple(panels), legend(result, panels, compared), places, context_variables(result))


def graph_picture(graph: Graph) -> Picture:
    """What is to be painted of a graph."""
    panel = graph_panel(graph)
    return Picture((panel,), graph_legend([panel], graph.kind), layout(graph), ())


def _panels(result: ContextGraphs, kind: str, contexts: Sequence[Any] | None, places: Layout
            ) -> tuple[list[Panel], tuple[Any, Any] | None]:  # fmt: skip
    if kind == "union":
        return [union_panel(result)], None
    if kind == "contexts":
        chosen = tuple(result.contexts if contexts is None else contexts)
        if not chosen:
            raise OptionError("contexts is empty, expected at least one context to show")
        return [context_panel(result, value) for value in chosen], None
    chosen = tuple(result.contexts[:2] if contexts is None else contexts)
    if len(chosen) != 2 or chosen[0] == chosen[1]:
        raise OptionError(f"contexts is {list(chosen)!r}, expected two different contexts to compare")
    return [difference_panel(result, chosen[0], chosen[1], places.centre[:, 0].tolist())], (chosen[0], chosen[1])


def _painted(picture: Picture, axes: Axes | Sequence[Axes] | None, path: str | FilePath | None, dpi: float
             ) -> tuple[Axes, ...]:  # fmt: skip
    from matplotlib import pyplot

    if path is not None:
        check_picture_path(path)
    chosen = paint_figure(picture, pyplot.figure) if axes is None else paint_axes(picture, axes)
    if path is not None:
        save_picture(figure_of(chosen), path, dpi)
    return chosen

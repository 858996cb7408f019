"""A result whose names and context values are safe to show: printable, on one line, no two names alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from causalcontext.data.dataset import cell_values
from causalcontext.drawing.names import printable
from causalcontext.graphs.graph import Graph
from causalcontext.knowledge import Knowledge
from causalcontext.results.contexts import ContextGraphs


def presentable(result: ContextGraphs) -> ContextGraphs:
    """The same result with names and context values as they are shown; knowledge is left out.

    Examples
    --------
    >>> import causalcontext as cc
    >>> table = cc.examples.soil_moisture(200, seed=1).rename(columns={"soil": "so\\nil"})
    >>> presentable(cc.discover(table, context="so\\nil")).context
    'so\\\\nil'
    """
    names = shown_once(result.names)
    levels = tuple(_shown(values) for values in result.levels)
    values = cell_values(result.cells, levels)
    graphs = {
        shown: Graph(names, graph.endpoints, graph.kind)
        for shown, graph in zip(values, result.graphs.values(), strict=True)
    }
    settings = replace(result.settings, knowledge=Knowledge())
    return replace(result, names=names, levels=levels, contexts=values, graphs=graphs, settings=settings)


def _shown(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values of a context variable as they are shown, unless two would look alike."""
    shown = tuple(printable(value) if isinstance(value, str) else value for value in values)
    return shown if len(set(shown)) == len(shown) else values


def stories(shown: ContextGraphs, i: int, j: int) -> list[str]:
    """The story of a pair of a presentable result, context by context: each is one line."""
    lines = shown.explain(shown.names[i], shown.names[j]).split("\n")
    return [printable(line) for line in lines]


def shown_once(names: Sequence[str]) -> tuple[str, ...]:
    """Printable names, with a number where two would look alike."""
    found: list[str] = []
    for name in names:
        text = spelled = printable(name)
        count = 1
        while text in found:
            count += 1
            text = f"{spelled} #{count}"
        found.append(text)
    return tuple(found)


def four_digits(value: float) -> float | None:
    """A number as the page has it; None where there is none."""
    return float(f"{value:.4g}") if math.isfinite(value) else None

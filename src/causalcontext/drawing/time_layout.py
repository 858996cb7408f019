"""The places of boxes and lines in a graph with lags: columns are times, the present on the right,
and rows are variables.

Links from the past leave a box at its right side and enter the present at its left side; one that
passes a column goes between two of its rows. Links inside the time step run beside the present,
each on a vertical track of its own. No two links meet at the same point of a box, and rows are
sorted so that links are short. Lags without any link are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from causalcontext.drawing.layout import Arc, Layout, box_size, curve, layout
from causalcontext.drawing.names import shown_names, text_width
from causalcontext.drawing.settings import (
    BEND_SHARE,
    CORNER_RADIUS,
    LAYOUT_MARGIN,
    PORT_GAP,
    TIME_COLUMN_GAP,
    TIME_ROW_GAP,
    TRACK_GAP,
)
from causalcontext.drawing.strokes import union_panel
from causalcontext.graphs.lag_names import at, split
from causalcontext.kernels.arrays import Floats, Ints

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs


def result_layout(result: ContextGraphs) -> Layout:
    """The layout of a result: over time with lags, else causes left of effects."""
    if result.series is None:
        return layout(result.union)
    arcs = [
        (int(i), int(j)) for i, j in zip(*np.nonzero(np.triu(result.union.endpoints)), strict=True)
    ]
    variables = [*result.series.variables, *result.series.covariates]
    lags = np.array([split(name)[1] for name in result.names])
    home = np.array([variables.index(split(name)[0]) for name in result.names])
    kept = sorted({0, *(int(lags[place]) for arc in arcs for place in arc)}, reverse=True)
    labels = {
        stroke.pair: 0.78 * text_width(stroke.label) for stroke in union_panel(result).strokes
    }
    return _Grid(
        lagged_lines(result.names),
        arcs,
        np.array([kept.index(lag) if lag in kept else -1 for lag in lags]),
        sorted_rows(len(variables), [(home[i], home[j]) for i, j in arcs])[home],
        labels,
    ).layout()


def lagged_lines(names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The text of each box: the variable as ever, and its lag, which is never cut off."""
    parts = [split(name) for name in names]
    shown = dict(
        zip(
            variables := list(dict.fromkeys(name for name, _ in parts)),
            shown_names(variables),
            strict=True,
        )
    )
    return tuple((*shown[name][:-1], at(shown[name][-1], lag)) for name, lag in parts)


def sorted_rows(count: int, links: Sequence[Arc]) -> Ints:
    """The row of every variable: moved one at a time as long as that makes the links shorter."""
    first, second = (
        np.array([link for link in links if link[0] != link[1]], dtype=np.intp).reshape(-1, 2).T
    )
    row = np.arange(count)
    best = np.inf
    before = np.nan
    while best != before:
        before = best
        for variable in range(count):
            rest = row - (row > row[variable])
            tried = rest + (rest >= np.arange(count)[:, None])
            tried[:, variable] = np.arange(count)
            lengths = np.abs(tried[:, first] - tried[:, second]).sum(axis=1)
            if lengths.min() < min(best, lengths[row[variable]]):
                row = tried[lengths.argmin()]
                best = lengths.min()
    return row


class _Grid:
    """Boxes in columns and rows, and the links between them."""

    def __init__(
        self,
        lines: tuple[tuple[str, ...], ...],
        arcs: Sequence[Arc],
        column: Ints,
        row: Ints,
        labels: Mapping[Arc, float],
    ) -> None:
        self.lines = lines
        self.arcs = arcs
        self.column = column
        self.row = row
        self.labels = labels
        self.inside = [arc for arc in arcs if column[arc[0]] == column[arc[1]]]
        self.across = [arc for arc in arcs if column[arc[0]] != column[arc[1]]]
        self.gaps = self._passed_gaps()
        self.track = self._tracks()
        self.sides = self._sides()
        links = [
            max(len(self.sides.get((place, side), ())) for side in (0, 1))
            for place in range(len(lines))
        ]
        self.size = np.array([box_size(line) for line in lines])
        self.size[:, 1] = np.maximum(self.size[:, 1], 0.6 + PORT_GAP * np.array(links))
        self.left, self.right = self._columns()
        self.y, self.threads = self._heights()
        self.centre = np.column_stack([(self.left[column] + self.right[column]) / 2, self.y[row]])

    def layout(self) -> Layout:
        hidden = self.column < 0
        self.size[hidden] = 0.0
        self.centre[hidden] = 0.0
        routes = {
            arc: self._beside(arc) if arc in self.track else self._across(arc) for arc in self.arcs
        }
        high = np.max(
            [
                (self.centre + self.size / 2).max(axis=0),
                *(route.max(axis=0) for route in routes.values()),
            ],
            axis=0,
        )
        width, height = (high + LAYOUT_MARGIN).tolist()
        width = max(
            [
                width,
                *(
                    routes[arc][:, 0].max() + self.labels[arc] + LAYOUT_MARGIN / 2
                    for arc in self.inside
                ),
            ]
        )
        return Layout(self.lines, self.centre, self.size, routes, width, height)

    def _passed_gaps(self) -> dict[tuple[Arc, int], int]:
        """For every link and column that it passes, the row above which it passes."""
        found: dict[tuple[Arc, int], int] = {}
        load: dict[tuple[int, int], int] = {}
        for i, j in sorted(
            self.across, key=lambda arc: abs(self.row[arc[0]] - self.row[arc[1]]), reverse=True
        ):
            for passed in range(self.column[i] + 1, self.column[j]):
                share = (passed - self.column[i]) / (self.column[j] - self.column[i])
                row = float(self.row[i] + share * (self.row[j] - self.row[i]))
                near = [int(np.ceil(row))] if row % 1 else [int(row), int(row) + 1]
                gap = min(near, key=lambda gap: load.get((passed, gap), 0))
                found[(i, j), passed] = gap
                load[passed, gap] = load.get((passed, gap), 0) + 1
        return found

    def _tracks(self) -> dict[Arc, int]:
        """The track of every link inside a time step: short ones next to the boxes, none on top of
        another.
        """
        found: dict[Arc, int] = {}
        spans = {arc: sorted(self.row[list(arc)].tolist()) for arc in self.inside}
        for arc in sorted(spans, key=lambda arc: spans[arc][1] - spans[arc][0]):
            low, high = spans[arc]
            taken = {
                track
                for other, track in found.items()
                if max(low, spans[other][0]) < min(high, spans[other][1])
            }
            found[arc] = next(track for track in range(len(taken) + 1) if track not in taken)
        return found

    def _sides(self) -> dict[tuple[int, int], list[Arc]]:
        """The links at the left (0) and right (1) side of every box, from top to bottom, so that
        few cross there.
        """
        found: dict[tuple[int, int], list[Arc]] = {}
        for arc in self.arcs:
            found.setdefault((arc[0], 1), []).append(arc)
            found.setdefault((arc[1], int(arc in self.track)), []).append(arc)
        for (box, _), links in found.items():
            links.sort(key=lambda arc: self._direction(box, arc))
        return found

    def _direction(self, box: int, arc: Arc) -> tuple[float, float]:
        """The direction of a link, seen from a box: up before down, and outer
        tracks in the middle.
        """
        other = arc[0] + arc[1] - box
        if arc in self.track:
            down = self.row[other] > self.row[box]
            return (1.0, -self.track[arc]) if down else (-1.0, self.track[arc])
        passed = self.column[box] + (1 if box == arc[0] else -1)
        if (arc, passed) in self.gaps:
            return 0.0, self.gaps[arc, passed] - 0.5 - self.row[box]
        return 0.0, float(self.row[other] - self.row[box])

    def _columns(self) -> tuple[Floats, Floats]:
        """The left and right end of every column, with room for its tracks and for the links behind
        it.
        """
        count = int(self.column.max()) + 1
        left = np.full(count, LAYOUT_MARGIN)
        right = np.zeros(count)
        for number in range(count):
            self.size[self.column == number, 0] = wide = max(self.size[self.column == number, 0])
            right[number] = left[number] + wide
            links = [
                arc for arc in self.across if self.column[arc[0]] <= number < self.column[arc[1]]
            ]
            label = max((self.labels[arc] for arc in links), default=0.0)
            left[number + 1 :] = right[number] + max(
                TIME_COLUMN_GAP + 0.35 * len(links), label + 3.0
            )
        return left, right

    def _heights(self) -> tuple[Floats, dict[tuple[Arc, int], float]]:
        """The y of every row, and of every link where it passes a column."""
        rows = int(self.row.max()) + 1
        half = [max(self.size[self.row == row, 1]) / 2 for row in range(rows)]
        above: dict[tuple[int, int], list[Arc]] = {}
        for (arc, passed), gap in self.gaps.items():
            above.setdefault((gap, passed), []).append(arc)
        y = np.zeros(rows)
        threads = {}
        top = LAYOUT_MARGIN
        for row in range(rows + 1):
            most = max((len(links) for (gap, _), links in above.items() if gap == row), default=0)
            room = max(
                TIME_ROW_GAP if 0 < row < rows else 0.0, (most + 1) * TRACK_GAP if most else 0.0
            )
            for (gap, passed), links in above.items():
                if gap == row:
                    links.sort(
                        key=lambda arc: (self.row[arc[0]] + self.row[arc[1]], self.row[arc[1]])
                    )
                    for number, arc in enumerate(links):
                        threads[arc, passed] = top + room * (number + 1) / (len(links) + 1)
            top += room
            if row < rows:
                y[row] = top + half[row]
                top += 2 * half[row]
        return y, threads

    def _port(self, box: int, side: int, arc: Arc) -> tuple[float, float]:
        links = self.sides[box, side]
        x = self.centre[box, 0] + (side - 0.5) * self.size[box, 0]
        return float(x), float(
            self.centre[box, 1] + PORT_GAP * (links.index(arc) - (len(links) - 1) / 2)
        )

    def _across(self, arc: Arc) -> Floats:
        i, j = arc
        points = [self._port(i, 1, arc)]
        for passed in range(self.column[i] + 1, self.column[j]):
            y = self.threads[arc, passed]
            points += [(float(self.left[passed]), y), (float(self.right[passed]), y)]
        return curve([*points, self._port(j, 0, arc)], BEND_SHARE)

    def _beside(self, arc: Arc) -> Floats:
        start, end = (self._port(box, 1, arc) for box in arc)
        x = float(self.right[self.column[arc[0]]]) + 2.0 + TRACK_GAP * self.track[arc]
        turn = min(CORNER_RADIUS, abs(end[1] - start[1]) / 2) * np.sign(end[1] - start[1])
        corners = [(x, start[1] + turn), (x, end[1] - turn)]
        third = (corners[1][1] - corners[0][1]) / 3
        first = [start, ((start[0] + x) / 2 + 0.4, start[1]), (x, start[1]), corners[0]]
        last = [(x, end[1]), ((end[0] + x) / 2 + 0.4, end[1]), end]
        return np.array(
            [*first, (x, corners[0][1] + third), (x, corners[1][1] - third), corners[1], *last]
        )

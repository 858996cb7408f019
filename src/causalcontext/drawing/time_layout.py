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
    """The layout of a result: over time with lags, else causes left of effects.

    Columns are the lags that have a link, the largest one on the left, and the present. Rows are
    the variables. Room for the widest label is kept between columns.
    """
    if result.series is None:
        return layout(result.union)
    arcs = [
        (int(i), int(j)) for i, j in zip(*np.nonzero(np.triu(result.union.endpoints)), strict=True)
    ]
    variables = [*result.series.variables, *result.series.covariates]
    lags = np.array([split(name)[1] for name in result.names])
    home = np.array([variables.index(split(name)[0]) for name in result.names])
    kept = sorted({0, *(int(lags[node]) for arc in arcs for node in arc)}, reverse=True)
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
    """The row of every variable, shape (count,), so that links are short.

    One variable after the other moves to the row at which the sum of |row(i) - row(j)| over all
    links is smallest, the others closing up; it ends after a round without any gain. That is a
    local minimum, and the same one for the same links.

    Parameters
    ----------
    count : the number of variables
    links : pairs of variables; those of a variable with itself have no length
    """
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
    """Boxes in columns and rows, and the links between them.

    Links are made in an order in which each step needs the one before: the gaps between rows that a
    link passes, the tracks beside a column, the order of links at each side of a box, then sizes,
    columns and heights.

    Attributes
    ----------
    column, row : shape (boxes,), the place of every box in the grid; column -1 for hidden ones
    inside, across : links inside a column, and from one to another
    gaps : by link and column that it passes, the row above which it passes
    track : by link inside a column, its vertical line, 0 being next to the boxes
    sides : by box and side (0 left, 1 right), the links there from top to bottom
    left, right : shape (columns,), the ends of every column
    y : shape (rows,), the middle of every row
    threads : by link and column that it passes, its height there
    """

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
            max(len(self.sides.get((box, side), ())) for side in (0, 1))
            for box in range(len(lines))
        ]
        self.size = np.array([box_size(line) for line in lines])
        self.size[:, 1] = np.maximum(self.size[:, 1], 0.6 + PORT_GAP * np.array(links))
        self.left, self.right = self._columns()
        self.y, self.threads = self._heights()
        self.centre = np.column_stack([(self.left[column] + self.right[column]) / 2, self.y[row]])

    def layout(self) -> Layout:
        """The boxes and the routes of all links.

        Hidden boxes have size 0. The picture is as high as its boxes and links are, and wide enough
        for labels beside the present.
        """
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
        """The row above which a link passes a column, by link and column.

        It is the gap next to the straight line between both boxes; of two that are as near, the one
        with fewer links. Steep links choose first, since they have the least choice.
        """
        gaps: dict[tuple[Arc, int], int] = {}
        load: dict[tuple[int, int], int] = {}
        for i, j in sorted(
            self.across, key=lambda arc: abs(self.row[arc[0]] - self.row[arc[1]]), reverse=True
        ):
            for passed in range(self.column[i] + 1, self.column[j]):
                share = (passed - self.column[i]) / (self.column[j] - self.column[i])
                row = float(self.row[i] + share * (self.row[j] - self.row[i]))
                near = [int(np.ceil(row))] if row % 1 else [int(row), int(row) + 1]
                gap = min(near, key=lambda gap: load.get((passed, gap), 0))
                gaps[(i, j), passed] = gap
                load[passed, gap] = load.get((passed, gap), 0) + 1
        return gaps

    def _tracks(self) -> dict[Arc, int]:
        """The track of every link inside a time step: short ones next to the boxes.

        Two links may share a track if their rows do not overlap. Shortest first, each takes the
        first track that is free.
        """
        tracks: dict[Arc, int] = {}
        spans = {arc: sorted(self.row[list(arc)].tolist()) for arc in self.inside}
        for arc in sorted(spans, key=lambda arc: spans[arc][1] - spans[arc][0]):
            low, high = spans[arc]
            taken = {
                track
                for other, track in tracks.items()
                if max(low, spans[other][0]) < min(high, spans[other][1])
            }
            tracks[arc] = next(track for track in range(len(taken) + 1) if track not in taken)
        return tracks

    def _sides(self) -> dict[tuple[int, int], list[Arc]]:
        """The links at the left (0) and right (1) side of every box, from top to bottom.

        A link leaves at the right. It enters at the left, but for links inside a time step, which
        come back to the right side. They are sorted by direction, so that few cross there.
        """
        sides: dict[tuple[int, int], list[Arc]] = {}
        for arc in self.arcs:
            sides.setdefault((arc[0], 1), []).append(arc)
            sides.setdefault((arc[1], int(arc in self.track)), []).append(arc)
        for (box, _), links in sides.items():
            links.sort(key=lambda arc: self._direction(box, arc))
        return sides

    def _direction(self, box: int, arc: Arc) -> tuple[float, float]:
        """The direction of a link, seen from a box, as a key to sort by: up before down.

        Links inside the time step are outermost (-1 and 1), the outer tracks of these in the
        middle; the others are sorted by the rows that they go to, or by the gap that they pass
        next.
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
        """The left and right end of every column, shape (columns,) each.

        All boxes of a column get its width. Behind a column is room for the links that pass there,
        and for the widest of their labels.
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
        """The y of every row, shape (rows,), and of every link where it passes a column.

        A gap between two rows is as high as the most links that pass it at any column need,
        `TRACK_GAP` each, and at least `TIME_ROW_GAP`; links are spread evenly in it, in the order
        of the rows that they connect.
        """
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
        """The point (x, y) at which a link touches a side of a box; links are `PORT_GAP` apart."""
        links = self.sides[box, side]
        x = self.centre[box, 0] + (side - 0.5) * self.size[box, 0]
        return float(x), float(
            self.centre[box, 1] + PORT_GAP * (links.index(arc) - (len(links) - 1) / 2)
        )

    def _across(self, arc: Arc) -> Floats:
        """The route of a link from one column to another, straight through the columns that it
        passes.
        """
        i, j = arc
        points = [self._port(i, 1, arc)]
        for passed in range(self.column[i] + 1, self.column[j]):
            y = self.threads[arc, passed]
            points += [(float(self.left[passed]), y), (float(self.right[passed]), y)]
        return curve([*points, self._port(j, 0, arc)], BEND_SHARE)

    def _beside(self, arc: Arc) -> Floats:
        """The route of a link inside a time step: out at the right, along its track, and back.

        Four curves: to the track with a rounded corner, along it, and back with another one. The
        corners are `CORNER_RADIUS` wide, or half the way where that is shorter.
        """
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

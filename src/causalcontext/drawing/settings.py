"""The numbers of pictures: distances, letters, and the most that is shown, each with its unit.

They were chosen by looking at pictures, not measured: half and double make a picture narrower or
wider, or show fewer or more things, and change no answer.
"""

from __future__ import annotations

# Distances of a layout, in units of the font size (letters).

COLUMN_GAP = 5.0
"""The room between two columns of boxes (letters)."""

BOX_GAP = 1.5
"""The room between two boxes of a column (letters)."""

THREAD_GAP = 1.1
"""The room between a long edge and what is beside it in a column (letters)."""

LAYOUT_MARGIN = 1.2
"""The room around all boxes (letters)."""

PORT_GAP = 0.9
"""The distance of links at a side of a box, in a graph with lags (letters)."""

TRACK_GAP = 1.3
"""The distance of links inside a time step, and of links that pass a column (letters)."""

TIME_ROW_GAP = 1.6
"""The room between two boxes of a time (letters)."""

TIME_COLUMN_GAP = 7.0
"""The room between two times (letters)."""

CORNER_RADIUS = 1.1
"""The radius of the corners of links inside a time step (letters)."""

BEND_SHARE = 0.36
"""The share of the way between two columns in which a link turns (a share of it)."""

ARROW_HEAD = 0.95
"""The size of an arrow's head (letters)."""

LEGEND_SAMPLE = 4.0
"""The length of the line of a legend's sample (letters)."""

LEGEND_LINE = 1.9
"""The height of a row of the legend (letters)."""

TITLE_HEIGHT = 2.2
"""The room of a panel's title (letters)."""

# Letters and figures.

BOX_FONT = 0.92
"""The size of the letters of a box, in sizes of the picture's (a ratio)."""

LABEL_FONT = 0.78
"""The size of the letters of a label (a ratio)."""

LETTER_POINTS = 9.0
"""The size of a letter in a figure that is not too large (points)."""

SMALLEST_LETTER = 4.5
"""The smallest size of a letter (points): below, nobody can read it."""

WIDEST_FIGURE = 17.0
"""The width of a figure above which its letters become smaller (inches)."""

TALLEST_FIGURE = 30.0
"""The height of a figure above which its letters become smaller (inches)."""

MECHANISM_PANEL = (3.4, 3.0)
"""The width and height of a panel of a mechanism (inches)."""

CUT_FIGURE = (5.6, 3.7)
"""The width and height of the figure of a cut (inches)."""

# The most that a picture shows, so that a reader can follow it.

NAME_LINE = 14
"""Characters of a line of a name in a box (characters)."""

MOST_NAME_LINES = 3
"""Lines of a name in a box (lines)."""

LONGEST_LABEL = 12
"""Characters of a context in a label (characters)."""

LONGEST_LABEL_IN_TIME = 24
"""The same in graphs with lags, which have more room (characters)."""

MOST_NAMED_CONTEXTS = 2
"""Contexts that a label names (contexts); more are counted."""

MOST_PICTURE_LABELS = 40
"""Labels in a picture (labels); beyond, colours alone must do."""

LONGEST_CURVE_LABEL = 36
"""Letters of a label of a curve (characters), so that it is narrower than its panel."""

MOST_DOTS = 1500
"""Rows that are drawn as dots beside a mechanism (rows): more cover each other."""

MOST_DRAWN_VARIABLES = 60
"""Variables up to which a graph is drawn in a page (variables); larger ones are tables only."""

MOST_TABLE_ROWS = 100
"""Rows of the table beside a picture (rows)."""

MOST_TABLE_COLUMNS = 3
"""Columns of panels in a page (panels)."""

NARROW_MARGIN = 5.0
"""An edge whose largest p-value is above alpha divided by this was kept narrowly, and is drawn as
uncertain (a ratio).
"""

# Work of the layout.

MOST_PASSES = 24
"""Passes that move boxes towards their neighbours (passes)."""

MOST_LAYOUT_SWEEPS = 12
"""Sweeps that sort columns to have few crossings (sweeps); they end when nothing changes."""

MANY_PLACES = 4000
"""Places of boxes and long edges beyond which there are fewer passes and sweeps (places): nobody
can follow so many lines.
"""

EDGES_AT_ONCE = 256
"""Edges of which all pairs are compared at once (edges): memory alone."""

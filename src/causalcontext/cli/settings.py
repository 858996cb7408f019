"""The numbers of the command line: exit codes, and the most that a terminal shows.

No answer depends on them.
"""

from __future__ import annotations

# Exit codes; 0 is done.

PROBLEMS_FOUND = 1
"""`check` found what `discover` would refuse (an exit code)."""

BAD_INPUT = 2
"""The library refused what it was given (an exit code), as other programs say it of options."""

INTERRUPTED = 130
"""Ctrl-C (an exit code): 128 and the number of the signal, as shells have it."""

NO_READER = 141
"""The reader of a pipe has read enough, as `head` does (an exit code): 128 and the number of the
signal for it.
"""

# Pages.

MOST_TERMINAL_ROWS = 40
"""Rows of a table that a terminal shows (rows): about a screen. At half, tables of 30 variables are
cut; at double, the beginning scrolls away. Files have all rows.
"""

SHORT_CELL = 12
"""Characters up to which the cells of a column are never broken into lines (characters): marks and
numbers are no longer. Chosen by looking.
"""

HEAD_BYTES = 4096
"""Bytes that tell the kind of table that comes through a pipe (bytes): more than any signature of a
format.
"""

"""The numbers that listing directed graphs rests on: unit, reason, and what half and double do.

All of them bound time and memory. Where one is reached, what is left is said to be open, or too
much to list; no direction is ever guessed.
"""

from __future__ import annotations

MOST_OPEN_EDGES = 300
"""Open edges that are directed one inside the other (edges). Python's stack has room for about
three times as many calls. Half refuses larger graphs that could be listed; double comes near
RecursionError."""

MOST_LISTING_STEPS = 200_000
"""Looks at an edge while one component is listed (looks); one that takes more counts as too large.
Not measured at half and double: a component that takes more has mostly more families than any
limit."""

MOST_LOCAL_STEPS = 300_000
"""Looks at an edge while the surroundings of all variables with open edges are listed (looks); each
has an equal share. Not measured at half and double."""

STEPS_PER_TURN = 10
"""Looks that turning an edge counts for, besides those at the same edge in other graphs (looks).
Not measured: chosen as the work of directing an edge and taking it back.
"""

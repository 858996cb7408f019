"""The numbers that the searches by tests rest on: unit, reason, and what half and double do.

Most of them decide no mark: they bound memory, the time between two signs of life, or the work of
one call. Those that can change an answer come first. "Not measured" means that the number was
chosen for the reason that is given, and that no benchmark compares it with others.
"""

from __future__ import annotations

# Numbers that can change an answer.

MOST_VOTING_SETS = 100_000
"""Sets that may vote on one pair (sets). Not measured: chosen to bound the time of a vote. A larger
neighbourhood is heard up to the largest set size that stays below: without triggers from 16
candidates on, at half from 15, at double from 17."""

FEWEST_CHILDREN = 2
"""Neighbours of the contexts that a block of a skeleton must hold to hide an edge (variables). A
theorem, not a measurement: every union cycle holds at least two children of the context, since two
of its edges vary and have different heads (docs/cycles.md). With 1, tests are run in vain; with 4,
hidden edges stay."""

MOST_TRIPLES_LATE = 200_000
"""Triples of all graphs that are still judged when a time limit is over (triples): about a second
of work, by the commit of 2026-11-17 that set it. At half, wide tables come back without directions
earlier; at double, a limit may be overrun by two seconds."""

SHIELDED_TRIPLE_WORK = 0.02
"""The work of a triple whose ends are adjacent, and which is left out of the judgement, in units
of one that is judged. Not measured apart from `MOST_TRIPLES_LATE`; it matters for dense graphs at a
time limit alone."""

# Numbers that change time and memory, never an answer.

MOST_GRAPHS_PER_CALL = 60
"""Graphs whose answers one call of a kernel looks for (graphs): each is a bit of a 64-bit integer.
At half, tables of more than 30 cells need twice the calls; double does not fit."""

TESTS_PER_CALL = 4_000_000
"""Tests that one call of a kernel may hold, roughly (tests), so that progress is shown and Ctrl-C
is heard. Not measured: half and double halve and double the longest wait."""

PAIRS_PER_CALL = 1_000_000
"""Pairs that one call of a kernel looks at given nothing (pairs), so that Ctrl-C is heard. Not
measured: chosen below `TESTS_PER_CALL`, since each call also unpacks its rows of pairs."""

PAIRS_PER_THREAD = 200
"""Pairs of a level that are worth a call of a kernel (pairs): most need no more than ten tests. Not
measured at half and double."""

TESTS_PER_THREAD = 50_000
"""Tests that such a call may hold (tests), unless a single pair has more: a context with many
neighbours has many sets. Not measured at half and double."""

SETS_PER_THREAD = 10_000
"""Sets that vote and are worth a call of a kernel (sets). Not measured: five times as many as there
are tests in a call of `PAIRS_PER_THREAD` pairs."""

FEWEST_TO_SCREEN = 30
"""Variables from which on it takes less time to leave separated pairs out than to list them
(variables). Set on 2026-11-16, when listing was seen to be faster on small tables; half and double
are not measured."""

LARGEST_BATCH = 64
"""Sets of one pair that go into a batch at most (sets). A search begins with one and doubles, so
that few are tested in vain. Not measured at half and double."""

PART_SECONDS = 0.1
"""Time between two reports to a watch, about (seconds), so that a progress bar moves, a time limit
is kept and Ctrl-C is heard: threads finish their parts first. Parts of robust-change with two
threads were seen to take up to .15 s, and .2 s are allowed. Not measured: at half there are more
calls of a test, at double a signal is heard too late."""

FIRST_PART = 8
"""Queries before the first report to a watch (queries); later parts follow `PART_SECONDS`. Not
measured: so few that a test that takes a second a query is heard soon."""

WIDEST_FORECAST = 200
"""Variables up to which queries are counted ahead of a search (variables). Not measured: larger
tables are searched by kernels, whose levels take no time to speak of, while counting sets would."""

SMALLEST_P_OF_EVIDENCE = 1e-300
"""The smallest p-value that evidence is made of where a test has no strength (no unit), so that its
logarithm is finite. A limit of floating point, not a choice."""

UNUSED_MASK_SIZE = 1 << 20
"""The size that a kernel is told for a mask that is left out (variables): larger than any set."""

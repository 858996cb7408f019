"""The numbers by which results are read and compared, each with its reason.

The first groups decide what is claimed: a change of one of them is held against
`python benchmarks/research/claims_that_hold.py` and `python benchmarks/violations.py`, whose tables
stand in docs/decisions/claims-of-change.md. "Not measured" means that the number was chosen for the
reason that is given, and that no benchmark compares it with others.
"""

from __future__ import annotations

import numpy as np

# Claims of a change.

STILL_THERE = 0.001
"""A slope with a smaller p-value is there, whatever the graph says (a probability): an edge that is
missing beside it did not go. In docs/decisions/claims-of-change.md false claims stay below .05 with
it; half and double are not measured."""

UNCHANGED = 0.05
"""The other direction needs no change if "one regression for both contexts" has a larger p-value,
and a level that differs is looked at below it (a probability). A usual level, not measured apart
from the other conditions."""

TOO_FEW_LAGS = 0.01
"""Nothing is claimed where the past beyond the lags tells something at this level (a probability).
`claims_that_hold.py --lagged`: with a trend 5 of 10 series had a false claim without it, and 0 of
12 with it (seeds 61000, 62000). Not measured at half and double."""

LEAST_ERROR_SHARE = 0.08
"""Errors of measurement are not asked about where the table allows less (a share of the variance of
a column). Without this limit exponential noise would lose 6 of 100 true claims."""

LARGEST_ERROR_SHARE = 0.25
"""The largest error of measurement that is considered (a share of the variance of a column). Chosen
on seeds from 4000000 and 5000000: 28 of 137 claims false before, 6 of 90 with it; on others 10 of
73 and 2 of 46, at a power of .55 for .79 (docs/decisions/claims-of-change.md)."""

DESPITE_ERRORS = 0.01
"""The level at which slopes and levels must still differ with such errors (a probability). Chosen
together with the shares above."""

DIRECTION_MARGIN_PER_VALUE = 7.0
"""The margin of a direction that a claim about a level or a spread needs, for every value of the
context but one, at most `LARGEST_MARGIN` (nats). Where noise is not Gaussian twice as much: a law
that is not quite right tells directions by 10 to 20 nats wrongly. `claims_that_hold.py --levels`:
0 of 36 claims false, with the rule before it 2 of 52."""

PRICE_OF_A_CLAIM = 3.0
"""The gain that slopes by context must have over a bend that both contexts share (nats). Of 640
tables without a change 5 have a false claim at 2 nats, of 320 others 2 at 3 nats, mostly kinks with
little noise (docs/decisions/kinks.md)."""

CURVES_TO_CHOOSE_FROM = 10
"""The number of curves that the price of a smooth bend pays for the choice among (curves): a square
and squared hinges. Half or double moves the price by .7 nats."""

LEVEL_STEP_QUANTILES = np.linspace(0.05, 0.95, 37)
"""The quantiles of a cause at which steps are held against levels that change (shares of rows).
Not measured: between two of them lie 2.5 % of the rows."""

CLEARLY_DEPENDENT = 0.001
"""A p-value above which a dependence that only one context shows may be chance (a probability).
Every pair without a link is asked in every context, so that with alpha .05 one answer in twenty is
chance; not measured. Half or double it moves the word, never a graph.
"""
NEEDED_LEVEL = 0.001
"""The level beside curves: terms with a larger p-value beside the curves of another variable are
not needed, and curves with a smaller one show (a probability). Claims on sines were false in one of
ten without such comparisons, in one of a hundred with them (2026-11-16); half and double are not
measured."""

KEPT_MORE_LEVEL = 0.01
"""The p-value below which another cause of a category has kept more of its effect (a probability):
all slopes of a logit shrink together where noise grows. Not measured at half and double."""

LARGEST_NEGLIGIBLE = 0.15
"""A partial correlation below this counts as no edge (a correlation): the default of `negligible`
of `labels()`. Chosen, not measured: with half, hardly any context has rows enough for "absent"; at
double, a third of an effect counts as none."""

ONE_SIDED_95 = 1.645
"""The .95 quantile of the standard normal law (standard errors): the 90 % interval of `labels()`.
Not a choice of its own."""

# Curves of two contexts.

SEEN_QUANTILES = (0.02, 0.98)
"""The quantiles of a cause between which its values count as seen in a context (shares of rows).
Not measured: without the tails single far rows would widen what both contexts have seen."""

LEAST_CURVE_SHARE = 1e-6
"""A curve of which conditions leave less has no slope of its own (a share of its variance): a limit
of floating point, not a choice."""

ROUNDING_OF_SQUARES = 1e-20
"""The rounding of a sum of squares (a share of it): the square of the last digits of
numbers."""

FEWEST_OF_A_LEVEL = 5
"""Rows of a level of a category below which it is left out (rows): odds between the others do not
depend on it. Not measured."""

LOGIT_TOLERANCE = 1e-12
"""The gain that ends the fit of a logit between contexts (nats): a limit of floating point."""

SMALL_STEP = 1e-3
"""A coefficient that would still move by more where a fit ended is not finite (a share of it). Not
measured."""

MOST_LOGIT_ENTRIES = 50_000_000
"""Rows times squared coefficients of a logit beyond which rows are thinned (products). Not
measured: it costs power, and no level."""

ROWS_PER_CURVE = 10
"""Rows that each curve of a variable must have to be taken out (rows). Not measured."""

MOST_CURVE_ROWS = 5_000
"""Rows of a context that are asked about curves, evenly spread (rows). At half a curve must be
larger by a factor of 1.4 to be seen; it bounds time."""

COPY_SHARE = 1e-10
"""A column with less variance of its own beside others is a copy (a share of its variance): a limit
of floating point."""

LEAST_LEFT_SHARE = 1e-14
"""The smallest share of an effect that a regression leaves (a share of its variance): no division
by zero."""

CONSTANT_SHARE = 1e-9
"""A column that varies by less is constant (a share of its size): a limit of floating point."""

SINGULAR_BELOW = 1e-9
"""Columns whose correlations have a smaller eigenvalue are functions of each other (no unit): a
limit of floating point."""

# Margins and models.

LARGEST_MARGIN = 30.0
"""The margin of a direction from which on it is not followed further (nats): odds of 10^13 to 1.
Half would come near the 10 to 20 nats by which a wrong law of noise errs; double is not measured,
and costs searches for rivals."""

CLEAR_MARGIN = 3.0
"""A direction with a smaller margin is not said by all models near the best one, and stays open
(nats): odds of 20 to 1. docs/decisions/score-marks.md compares marks on 13 kinds of tables."""

TIE_MARGIN = 0.05
"""A margin below this is told as none (nats): a matter of words, not of method."""

ROUNDING_NATS = 1e-6
"""Scores and losses that differ by less are equal (nats): models of one equivalence class differ in
the last digits alone, which the order of the rows decides."""

MOST_IN_A_WORD = 62
"""Contexts whose sets are 64-bit numbers (contexts); of more they are Python's. A limit of
integers, not a choice."""

# Equations.

FARTHEST_SPREAD = 3.0
"""The distance from the middle of a cause beyond which a spread does not grow (robust standard
deviations): a far row would have a weight of nothing. Not measured at half and double."""

OUTER_SPREAD = 0.67
"""The distance from which on the hinges of a spread rise (robust standard deviations): the
quartiles of a normal law."""

ROOT_SHIFT = 0.375
"""The amount added to a count under its root (counts): 3/8, by Anscombe (1948), which keeps the
spread of counts even. A formula, not a choice."""

STEP_SHARE = 0.9
"""A curve is called a step if one step explains so much of it (a share of its variance): a matter
of words, not of method."""

CURVE_POINTS = 81
"""Points of a curve (points). Not measured: a report draws every second one."""

# What a result, its files and its sentences hold.

COMPARED_AT_ONCE = 10
"""Pairs of contexts that a search compares at its end, two at a time: five contexts (pairs).

A pair takes some 10 ms, .02 to .04 of a search over ten variables (`python benchmarks/reading.py`):
at the double, a search over seven variables in seven contexts, which takes 50 ms, would take three
times as long; at half, the first `changes()` of five contexts would be hidden work. Of more
contexts than that, `changes()` without arguments is a question with a bar.
"""

MOST_COMPARED_CONTEXTS = 10
"""Contexts of which all pairs are compared with another engine, or told in a report (contexts).

The double would be 190 comparisons, each of a tenth of a search; at half, `second_opinion()` of six
contexts would leave `changes()` to compare them.
"""

MOST_FOR_SECOND_OPINION = 60
"""Variables of a table that a second engine may search (variables): beyond, it takes longer than a
question should (`SECOND_SECONDS` in `diagnostics.settings` ends it)."""

MOST_FILE_CELLS = 10_000_000
"""Rows times columns of a table that a file keeps (cells), some 100 MB: a larger one is refused."""

MOST_DEPTH = 4
"""The past that may have been conditioned on, in a file with lags (windows): the check of a file,
above what any search takes."""

KEPT_GRAPHS = 64
"""Graphs whose directed forms are kept in memory (graphs): those of the contexts of a result, and
of a few results. It changes time alone."""

MOST_NAMES_SUGGESTED = 8
"""Variables that the error about a wrong name lists (names). A matter of reading."""

MOST_LEVELS_NAMED = 8
"""Levels of the context that the warning about too few rows names (levels). A matter of reading."""

MOST_CONTEXTS_LISTED = 12
"""Contexts that a sentence of `explain()` names (contexts). A matter of reading."""

MOST_SEPARATORS_NAMED = 5
"""Variables of a separating set that a sentence names (variables). A matter of reading."""

MOST_UNTESTED_NAMED = 4
"""Edges that the warning about untested ones names (edges); `tests()` has all."""

NEARLY_ONE = 0.995
"""A share that two digits would round to 1 is written as more than 0.99 (a share). A matter of
reading."""

SMALLEST_P = 1e-16
"""Smaller p-values are not written (a probability): no test is calibrated so far out, and nothing
has a probability of 0."""

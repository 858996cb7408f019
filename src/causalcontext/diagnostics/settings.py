"""The numbers that the diagnostics rest on: unit, reason, and what half and double do.

None of them changes a graph: they decide what a question says of it, and how long it may take.
Where an entry says nothing else, it was chosen for the reason that is given, and neither half nor
double was measured.
"""

from __future__ import annotations

# Shared by several questions.

MOST_NAMED_TOGETHER = 3
"""Edges or contexts that a sentence names (items); the table of the finding has all of them. A
matter of reading, not of method.
"""

MOST_FINDINGS_SHOWN = 12
"""Findings that are printed (findings); the table has all of them. A matter of reading."""

LARGE_SET = 10
"""Larger conditioning sets hardly occur (variables): a context that can test sets of this size is
large enough. Chosen on 2026-11-15, not measured.
"""

SMALLEST_COEFFICIENT = 1e-4
"""A column takes no part in a linear relation of columns in standard units if its coefficient is
below this (no unit): that is rounding.
"""

# Columns and cuts by which mechanisms change: `python benchmarks/research/find_contexts.py`.

MOST_SUGGESTED_CONTEXTS = 5
"""Columns that are suggested as contexts at most (columns). A matter of reading."""

CONTEXT_DEMAND = 1.5
"""A change at a column must be better than none, or than a smooth one, by this times the logarithm
of the rows, plus the logarithm of the columns that are asked (a ratio to log n, in nats). Set on
2026-11-17. A cut in a column that is known to be the context needs half of it (`score/cuts.py`):
there, one column is asked. Half and double are not measured.
"""

# Hidden causes: `python benchmarks/hidden_suspicion.py` counts links that are suspected with and
# without a hidden cause (docs/hidden-causes.md has its tables). Half and double are not measured.

RESIDUAL_LEVEL = 0.005
"""The level of the test of the residuals of a link (a probability). Of ten links, a twentieth of
the tables where nothing is hidden has one below.
"""

SHAPE_LEVEL = 0.01
"""The level of the test of the shape of the noise (a probability); that of the residuals is half as
large where both are asked.
"""

FEWEST_FOR_SHAPE = 500
"""Rows from which on the shape of the noise is asked about (rows). With fewer, p-values are too
small where noise is skewed and its spread uneven.
"""

CAUSE_POLYNOMIALS = 3
"""The degree of the polynomials of the ranks of the residual of the cause (no unit)."""

EFFECT_POLYNOMIALS = 4
"""The degree of those of the effect (no unit)."""

LEAST_COMPARED_SHARE = 0.1
"""Functions of the cause of which the equation of the effect leaves less are not compared (a share
of their variance).
"""

WAVE_FREQUENCIES = (0.7, 1.4, 2.1)
"""The waves of a noise of standard deviation 1 that its shape is compared by (radians per
deviation).
"""

LEAST_WAVE_SHARE = 0.005
"""Directions of waves with less of their variance are left out (a share of variance): they show
errors of the fitted mean and spread.
"""

SPREAD_ROUNDS = 5
"""Rounds of a fit of a mean and a spread (rounds)."""

SPREAD_STEPS = 3
"""Steps of the spread in each round (steps)."""

LARGEST_LOG_SPREAD = 8.0
"""The largest and, negative, the least logarithm of a spread beside its mean (nats): a factor of
3,000. It keeps a step of the fit finite; half and double are not measured."""

LEAST_LOG_DETERMINANT = -30.0
"""The logarithm of the determinant of correlated errors below which these are tied to each other,
and the model has no likelihood (nats). It is 1e-13, rounding of a product of variances of 1; half
and double are not measured."""

LARGEST_SQUARE = 30.0
"""The most that one row counts for the spread (squared deviations): a far row
does not choose it.
"""

MOST_RESIDUAL_ROWS = 20_000
"""Rows whose residuals are compared (rows); of longer tables every m-th. Beyond, any misfit of a
curve shows.
"""

MOST_HIDDEN_VARIABLES = 25
"""Variables up to which models with a hidden cause are compared (variables): with more they take
long.
"""

# Models with a hidden cause, and with a hidden process.

NEAR_BEST = 3.0
"""The distance from the best of the models with a hidden cause of others that count (nats)."""

SMALLEST_GAIN = 1e-6
"""A move of a climb must gain more (nats): less is rounding."""

START_CORRELATION = 0.6
"""The correlation to start from where the link is there, too (a correlation): least squares is a
stationary point.
"""

MOST_CORRELATION_STEPS = 100
"""Steps of a fit of correlated errors (steps)."""

CORRELATION_CONVERGED = 1e-3
"""A step that gains less ends such a fit (nats)."""

MOST_MOVES = 40
"""Moves of a climb over equations (moves)."""

SMALLEST_VARIANCE = 1e-9
"""The smallest variance of an error, in units of its column (no unit): logarithms stay finite."""

MOST_COMPARISON_WORK = 800_000
"""Looks at equations (`EquationClimb.work`) after which no further pair is asked (looks): some
seconds. The answer then says how many pairs were left out.
"""

LOOKS_PER_FIT = 10
"""Looks at an equation that was fitted before which take as long as a regression (looks)."""

FEW_SLOPE_CONTEXTS = 4
"""Contexts up to which a cause is tried with slopes in any of them (contexts). With more it acts
alike in all, with a slope of its own in each, or as score-ac found it.
"""

CLEARLY_BETTER = 4.0
"""The gain that a model with a hidden cause must have (nats)."""

MOST_LOST = 1.5
"""The loss that it may have where it saves a parameter (nats), which effects that nearly cancel do
as well: a true model loses more once in twelve times.
"""

MOST_NODE_STEPS = 40
"""Steps of expectation and maximisation for a hidden cause (steps)."""

MOST_NODE_CLIMBS = 12
"""Climbs for a hidden cause (climbs)."""

CLIMB_CONVERGED = 0.02
"""A round that gains less ends a climb for a hidden cause or process (nats): far below
`CLEARLY_BETTER`.
"""

START_LOADINGS = (0.3, 0.9)
"""The range from which a loading starts (standard deviations of an error)."""

EXTENDED_MODELS = 3
"""Models that get children more or fewer (models)."""

MOST_EXTENSIONS = 4
"""Times that they do (rounds)."""

START_MEMORY = 0.7
"""The memory of a hidden process from which a climb starts (a correlation from step to step)."""

START_SHARE = 0.6
"""The loading from which it starts (standard deviations of the errors of a child)."""

LONGEST_MEMORY = 0.98
"""The longest memory of a hidden process (a correlation from step to step); a longer one is a
trend.
"""

MOST_DRIVER_STEPS = 12
"""Steps of expectation and maximisation for a hidden process (steps)."""

MOST_DRIVER_CLIMBS = 6
"""Climbs for a hidden process (climbs)."""

SMALLEST_INFORMATION = 1e-6
"""Less information or variance than this is none (no unit): no division by zero."""

MOST_PROCESSES = 12
"""Columns up to which models with a hidden process are compared (columns): with more they take
long.
"""

MOST_DRIVER_ROWS = 5000
"""Rows of a series that they are compared by (rows), the last ones."""

MOST_DRIVER_PRODUCTS = 15_000_000
"""Products of columns, of all contexts at all lags, for one step from every pair (products): memory
and time.
"""

# Cuts, and searches by another method. Each is a bound on the time of a question.

RETRIED_CUT_SHARES = (0.2, 0.5, 0.8)
"""The places where cuts are tried so that a search may find other directions
(shares of the grid).
"""

MOST_CUT_VARIABLES = 40
"""Variables up to which graphs are searched again with nearby cuts (variables): beyond, two more
searches would take longer than a question should.
"""

CUT_SECONDS = 30.0
"""The time limit of each of these searches (seconds)."""

CUT_SHIFT = 0.05
"""The share of the rows past which a cut is moved where there is no interval (a share of rows)."""

SECOND_SECONDS = 60.0
"""The time limit of a second search (seconds)."""

MOST_SECOND_QUERIES = 2000
"""Queries on rows up to which the other search is made (queries): beyond, it would take longer than
the first.
"""

# Rows, support, holes, shared time, samples.

LARGE_EFFECT = 0.3
"""The partial correlation that a context must be able to show (a correlation): a usual size of an
effect.
"""

SHOWN_POWER = 0.8
"""The power with which it must (a probability), by convention."""

KEPT_BY_A_HAIR = 1.25
"""An edge was kept by a hair if its p-value is above alpha divided by this (a ratio). Narrow: among
many pairs some are close by chance.
"""

REMOVED_BY_A_HAIR = 1.1
"""A link at a context was removed by a hair if its p-value is below alpha times this (a ratio)."""

MOST_NEAR_MISSES = 3
"""Near misses that are listed (findings)."""

MOST_SMALL_CONTEXTS = 10
"""Small contexts that are listed (findings)."""

LITTLE_OVERLAP = 0.1
"""The overlap of two contexts below which it is little (a share of rows)."""

MOST_OVERLAP_COLUMNS = 3
"""Columns that a finding of little overlap names (columns)."""

MOST_DOUBTFUL_EDGES = 5
"""Doubtful edges that some contexts lack which are listed (findings); one more says how many there
are.
"""

HOLES_LEVEL = 0.01
"""The share of tables without any dependence of holes in which one is reported (a probability)."""

FEWEST_HOLES = 5
"""Missing cells from which on a column is asked about (rows)."""

MOST_HOLES_COLUMNS = 60
"""Columns up to which those that decide are looked for (columns)."""

HOLES_TOLERANCE = 1e-6
"""The gain that ends the fit of a logit (nats)."""

SHARED_TIME_LEVEL = 0.025
"""The level of the tests of trends, and of cycles, over all columns together (a probability): at
most one clean series in twenty has a finding.
"""

FEWEST_CYCLES = 4
"""Times that a cycle must be seen (cycles): fewer cannot be told from a trend."""

FEWEST_TIMES = 60
"""Rows of a series from which on it is looked at (rows)."""

MOST_TIMES = 1500
"""Rows of a series that are looked at (rows), the last ones."""

CYCLE_STEP = 0.5
"""The step between two numbers of cycles that are tried (cycles): a cycle need not come round a
whole number of times.
"""

MATCHED_QUANTILES = (0.05, 0.95)
"""The quantiles of the values of a context between which rows of another one match it (shares of
rows).
"""

FEWEST_MATCHED_ROWS = 30
"""Matched rows that a comparison takes (rows)."""

ENOUGH_POWER = 0.8
"""The power with which they must show the edge (a probability), by convention."""

MOST_TIED_SHARE = 0.5
"""The share of equal values of a cause above which nothing can be detected (a share of rows)."""

GOOD_OVERLAP = 0.5
"""The share of rows that must match for an overlap to be good (a share of rows)."""

MOST_SAMPLES = 100_000
"""Bootstrap samples that may be asked for (samples)."""

COMPLETIONS_OF_A_SAMPLE = 2
"""Completed tables of every sample of a table with missing cells that are modelled (tables)."""

FEWEST_BLOCKS = 10
"""Blocks of rows that a series must have to be sampled by blocks (blocks)."""

FEWEST_INTERVAL_SAMPLES = 20
"""Samples that an interval takes (samples): with fewer it would be made of its extremes."""

"""The numbers that the checks of residuals rest on: unit, reason, and what half and double do.

A violation must be clear (`CLEAR_...`) and significant (`..._LEVEL`): large tables reject every
model. `python benchmarks/model_checks.py` counts which checks fail on tables whose violation is
known and on tables without one, and what it costs the graphs; docs/diagnostics.md has its table.
The bounds were set on 2026-11-15. Half and double of single bounds are not measured.

Those of the order of rows were set on 2026-11-18, by tables of 1,000 rows that are sorted, grouped
or independent (tests/model_checks/test_row_order.py has some of each kind).
"""

from __future__ import annotations

CHECK_LEVEL = 0.002
"""The significance level of a check of a whole table (a probability), over all comparisons. At .01
three of 240 clean tables were warned of by chance, with p-values of .003 to .005, and none at .002;
of the tables `square-500` of `benchmarks/model_checks.py` products are seen in .28 at .01 and .005,
in .23 at .001. Set on 2026-11-20."""

ROW_CHECK_LEVEL = 0.001
"""The same for the check of dependent rows (a probability). One table has many orders, by each of
its columns, and none of them should cost a claim; households and series are far beyond it (a
correlation of neighbours of .2 and more). Set on 2026-11-19; before, it was `CHECK_LEVEL`."""

CLEAR_CORRELATION = 0.1
"""The correlation of a residual with a square or a cube of a column, or of its square with a
column, from which on it is clear (a correlation).
"""

CLEAR_PRODUCT = 0.15
"""The same with a product of two columns (a correlation); there are many more products."""

CLEAR_SKEWNESS = 0.5
"""The skewness of residuals from which on it is clear (no unit)."""

CLEAR_QUANTILES = 0.08
"""The skewness by quantiles that must stand beside it, (Q90 + Q10 - 2 Q50) / (Q90 - Q10) (no unit):
a few far rows do not move it."""

CLEAR_KURTOSIS = 1.0
"""The excess kurtosis of residuals from which on it is clear (no unit)."""

CLEAR_LAG = 0.05
"""The dependence of residuals on rows near them from which on it is clear (a correlation)."""

FEWEST_GROUPS = 30
"""Different whole numbers that a column has at least where it may be the number of a household or a
patient (values): fewer are too far from each other to be compared with near ones."""

SMALLEST_GROUP = 1.5
LARGEST_GROUP = 15.0
"""Rows that share such a number, on average (rows): rows of larger groups are as far apart as those
that neighbours are compared with in row_order.py. With these bounds 0 of 180 tables of independent
rows with ages and room numbers were told, and 6 of 6 with shuffled households of four."""

FAR_DEVIATIONS = 8.0
"""The distance from the median at which a row is far (robust standard deviations)."""

CLEAR_FAR_SHARE = 0.002
"""The share of far rows from which on they are outliers (a share of rows)."""

FEWEST_FAR_ROWS = 2
"""The number of far rows that outliers take at least (rows): a single one may be chance."""

MOST_NUMBERS_CROSSED = 30
"""Numbers of a table up to which residuals are held against all others, and not against their
causes only (columns). Not measured: the work grows with the cube of it, because of products.
"""

MOST_COLUMNS_IN_PAIRS = 50
"""Columns of which all products of two are made once, for all residuals (columns). Of more every
residual has those of its own columns. It changes time and memory alone: with 1,000 columns a
second in place of seven, and 600 MB less."""

PRODUCTS_AT_A_TIME = 500
"""Products of columns that are held in memory at a time (columns). It changes memory alone: at
`MOST_CHECKED_ROWS`, 20 MB."""

MOST_CHECKED_ROWS = 5_000
"""Rows of a table that are looked at (rows). Not measured: a correlation of `CLEAR_LAG` is three
standard errors at 3,600 rows, so more of them find nothing that counts."""

FEWEST_CHECKED_ROWS = 1_000
"""Rows that are looked at in the widest tables (rows), if there are as many. Not measured."""

MOST_CHECKED_CELLS = 1_000_000
"""Rows times columns that are looked at (values), so that wide tables do not take long: tables of
more than 200 columns have fewer rows looked at. Not measured."""

ROWS_OF_A_RUN = 50
"""Rows of a run (rows): long tables are looked at in runs, since the order of rows matters. Not
measured: a run must hold whole stretches of row_order.py."""

SPARE_ROWS_OF_A_FIT = 20
"""Rows more than coefficients that a context needs to be fitted by itself (rows). Not measured."""

ROUNDING_SHARE = 1e-6
"""A residual variance below this share of the variable's own is rounding (a share of variance): its
kurtosis would be that of the last digits."""

SLOPE_RIDGE = 1e-8
"""The ridge of the regressions (in units of variances): columns that are functions of each other
share a slope. Numerical, far below any bound above."""

# The order of rows: what a sorted table looks like, and what remains beside its order.

STEPS_OF_A_STRETCH = 20
"""Steps of a column that are looked at together (rows). 10 and 40 recognise the same sorted tables
of 1,000 rows."""

ONE_WAY = 0.4
"""A column whose steps go one way by so much more than the other sorts the table (a share of all
steps). Of independent rows it is .11, of groups of three rows that are sorted .66, of sorted
columns 1: double would miss the groups; half was not measured."""

MOST_LABEL_VALUES = 20
"""Values of a column up to which it is taken for labels, which may come in groups (values). Not
measured."""

GROUPED_SHARE = 0.5
"""Labels come in groups if they change less often than this share of the changes of shuffled labels
(a share of changes). Not measured."""

FUNCTION_KNOTS = (-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5)
"""Functions of a column are lines with bends at these places, and squares and cubes (normal
scores). Not measured."""

FIRST_FAR_ROW = 8
LAST_FAR_ROW = 15
"""Neighbours are compared with rows that are at least and at most so far apart (rows): beyond
households, and still near in a sorted table. Of a sorted column of 1,000 rows that is not
recognised neighbours are more alike by .01. Half and double are not measured."""

FEWEST_PAIRS = 30
"""Neighbours in one group from which on groups are looked at (pairs). Not measured."""

MOST_DRIFT_PARTS = 20
ROWS_OF_A_DRIFT_PART = 30
FEWEST_DRIFT_PARTS = 3
"""A drift is one of the means of at most so many parts of the table (parts), each of so many rows
at least (rows); of fewer parts there is none (parts). Not measured."""

DRIFT_COUNTS = 2.0
"""A share of the variance that drifts counts for so much as a correlation of neighbours (a ratio):
many rows share it, not two. Of 1,000 rows a drift of .053 is told then; where half of two columns
is a trend, what their causes and effects leave of either has .06 to .23, and that of other columns
at most .04 (18 tables). At half some of those
trends are missed, at double some of the other columns are told."""

FUNCTION_OF_COLUMNS = 0.9
"""Sorted by a function of its columns, a table has an order of which these explain so much (a share
of variance). With a trend over time that is half of each of two columns they explain .67 of it, of
each of five columns .83."""

MOST_COLUMNS_CROSSED = 12
"""Columns up to which their products take part in such a function (columns). Not measured: there
are as many products as pairs."""

ROWS_OF_A_TERM = 10
"""Rows that each term of such a function needs (rows). Not measured."""

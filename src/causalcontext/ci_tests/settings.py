"""The numbers that the tests of independence rest on: unit, reason, and what half and double do.

Levels and power of all tests are measured by `python benchmarks/calibration.py` (tables in
docs/tests.md), by `tests/ci_tests` with binomial bounds, and, for tests of a change, by
`python benchmarks/research/which_change_test.py`. "Not measured" means that no benchmark compares
the number with others.
"""

from __future__ import annotations

# Numbers that can change a p-value.

FEWEST_DF = 5
"""Residual degrees of freedom that a regression must leave to be a test (degrees of freedom); with
fewer the answer is "untestable". Not measured: with half, F tests have no power to speak of; with
double, contexts of a few rows are given up earlier."""

LEAST_UNEXPLAINED_SHARE = 1e-5
"""A column whose unexplained part is shorter than this share of it adds nothing to a basis (a share
of a length): a limit of floating point, not a choice."""

USABLE_SHARE = 0.8
"""The share of the rows that must lie in strata with spare rows for slopes to be fitted in each (a
share of rows); otherwise all strata share their slopes. Not measured."""

ROWS_PER_CELL = 10
"""Rows a cell of a table, on average, below which chi-squared answers by its exact mean and
variance given the margins (rows). The usual rule for chi-squared is 5. Sizes on either side:
`python benchmarks/thin_tables.py`. Not measured at half and double."""

FEWEST_TABLE_ROWS = 10
"""Rows in the strata that count for a table to be tested (rows): with fewer, no table is unlikely
enough. Not measured."""

FEWEST_NEIGHBOUR_ROWS = 10
"""Rows that a query by nearest neighbours needs, and rows whose x must have somewhere to go (rows).
Not measured."""

ROWS_PER_COEFFICIENT = 15
"""Effective rows a coefficient of a logit from which on chi-squared is trusted (rows). Below, the
p-value is bootstrapped, unless it is clear. Not measured at half and double: double changes time,
and hardly a p-value, since the bootstrap agrees with chi-squared where rows are many."""

CLEAR_P = 1e-5
"""A p-value of chi-squared below this is kept from a third of these rows on (a probability): the
bootstrap of `MOST_BOOTSTRAP_DRAWS` could not say more. Not measured at half and double."""

INSIGNIFICANT_P = 0.25
"""A p-value of chi-squared above this is kept whatever the rows (a probability): no usual level is
near. Half would come near a level of .1; double would bootstrap in vain."""

FEWEST_ROWS_PER_COEFFICIENT = 2
"""Rows a coefficient below which not even the bootstrap is run (rows): the fit is separated nearly
always. Not measured."""

NO_INFORMATION = 1e-3
"""The information below which a direction of the coefficients is not estimable (rows); 1 is what a
single row can give. Not measured."""

NEAR_CHI_SQUARED = 0.1
"""The average distance of p-values of completed tables from those of a chi-squared statistic up to
which their statistic is taken for one (a probability). It tells tests of ratios from others that
share the label. Not measured at half and double."""

LOOK_BELOW = 0.2
"""A p-value above this is not brought to the gate (a probability), which can only raise it: no
decision at a usual level depends on it. It changes time alone for levels below it."""

CLEAR_IN_SAMPLE = 1e-9
"""The bound of a p-value that must hold in some of the rows before all of them are spared (a
probability): a thousandth of what is clear in all rows. Not measured at half and double."""

SAMPLE_ROWS = (1500, 3000)
"""Rows of the samples that this is tried on, in turn (rows). They change time alone: a change that
is not clear in them is answered on all rows."""

SHARED_FIT_TOLERANCE = 0.02
"""The gain of likelihood that ends a fit shared by several questions (nats): bounds of such a fit
are off by less than `SHARED_FIT_SLACK`, so that it changes time alone."""

SHARED_FIT_SLACK = 0.5
"""The likelihood that a shared fit may be wrong by (nats): it is taken off the bound, on the safe
side. Half would still be ten times the tolerance; double spares rows of fewer questions."""

BASIS_HINGES = (0.4, 0.6, 0.2, 0.8, 0.1, 0.9, 0.03, 0.97)
"""The quantiles of a column where the hinges of its basis are (shares of rows). The first two,
which treat both tails alike, are also asked about at the ends of a pair; without those in the
tails, what a wave leaves there is common to both ends, and is taken for a link."""

BASIS_STEPS = (0.2, 0.35, 0.5, 0.65, 0.8)
"""The quantiles of a column where the steps of its basis are (shares of rows). Not measured apart
from the hinges: between them lie 15 % of the rows, so that a step elsewhere is near one."""

# Permutations and draws.

ENOUGH_REACHED = 20
"""Draws that reach the observed statistic after which no more are drawn (draws): p is then known
within a fifth of itself (Besag and Clifford 1991)."""

MOST_BOOTSTRAP_DRAWS = 500
"""Draws after which p is known well enough (draws): `ENOUGH_REACHED` of them are .04, so that a
level of .05 is decided as by all draws. With half that level would be decided less well."""

DRAWS_AT_ONCE = 20
"""Draws that one call of a kernel makes (draws). It changes time alone."""

FEWEST_DRAWS_AT_ONCE = 8
"""Permutations that are made at once even where fewer may do (draws). It changes time alone:
the p-value is that of drawing one after the other."""

STATISTIC_ROUNDING = 1e-9
"""Statistics that differ by less are equal (a share of the statistic): rounding depends on the
order of the rows. A limit of floating point, not a choice."""

# Numbers that change time and memory, or when nothing is answered.

COSTLIEST_FIT = 5e7
"""Rows times squared coefficients up to which a regression is fitted (products);
beyond, the answer is "untestable". Not measured at half and double."""

COSTLIEST_BOOTSTRAP = 4e5
"""The same up to which it is fitted again for every draw (products). Beyond,
chi-squared is kept. Not measured at half and double."""

FIT_CONVERGED = 1e-9
"""The gain of likelihood that ends a regression, in units of 1 and a thousandth of the rows (nats):
statistics are exact to eight digits."""

LARGEST_RANKED_TABLE = 16_000
"""Rows up to which neighbours are looked for (rows): twice the ranks of this many rows are 16-bit
integers. A limit of the kernel, not a choice."""

MOST_PREPARED = 64
"""Sets of incomplete columns whose prepared test is kept (tests). It changes time and memory
alone; not measured."""

WIDE_COLUMNS = 100
"""Columns from which on products of columns are made by BLAS (columns): its threads cost more than
they save before. It changes time alone."""

FAIR_SQUARES = 1e60
"""Sums of squares between 1 / this and this are multiplied as they are (squared units of a column):
products of four are finite. A limit of floating point, not a choice."""

USUAL_SIZE = 10
"""The size of conditioning sets up to which terms of LR* are computed at once (variables). It
changes time alone."""

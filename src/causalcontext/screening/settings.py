"""The numbers that the looks before a search rest on: unit, reason, and what half and double do.

They decide what a column, a row or a cell is taken for, and how long a look may take. They were set
with the looks on 2026-11-18 and 2026-11-19. "Chosen, not measured" means that a number stands for
the reason that is given, that no run compares it with others, and that half and double were not
tried. What all of them do together is counted by `benchmarks/accidents.py` (docs/accidents.md) and
`tests/answers/`, on accidents of tables and on clean ones, of which at most 1 % may get a word.

"Standard deviations" are those of the column itself, "robust" ones its quartile distance divided by
`NORMAL_IQR`. "Misfit" is 1 - R² of a regression. "Nats" are natural logarithms of a probability: 12
are one in 160,000, 30 one in 10^13. "It bounds time" says the same of a number that was set for
that reason.
"""

from __future__ import annotations

# Words: how much a sentence names. A matter of reading, not of method.

MOST_COLUMNS_OF_THE_WARNING = 8
"""Columns that the warning on columns left out names (columns); `result.left_out` has all."""

MOST_COLUMNS_OF_A_SENTENCE = 6
"""Columns that a sentence on damage names (columns)."""

MOST_COLUMNS_OF_SPELLINGS = 5
"""Columns that the sentence on spellings of a level names (columns)."""

MOST_CELLS_OF_WORDS_SHOWN = 2
"""Cells that the sentence on rows of words shows (cells)."""

MOST_TERMS_WRITTEN = 4
"""Terms of a sum that are written out, and columns of a function that are named (terms)."""

MOST_LETTERS_SHOWN = 24
"""Letters of a cell that are shown (letters)."""

# Text that holds numbers (cells.py): tests/screening/test_cells.py.

TEXTS_OF_A_GLANCE = 200
"""Different cells of text that are looked at first (texts): with hardly any number among them the
column is no column of numbers. Chosen, not measured; it bounds time."""

FEWEST_NUMBERS_IN_TEXT = 3
"""Different cells of text that must hold numbers (texts): a column of two is as well a category of
two levels. Chosen, not measured; at double, text of three to five numbers stays a category."""

MOST_UNITS_OF_A_COLUMN = 4
"""Different units in one column, beyond which letters behind numbers are keys, such as '12A' and
'12B' (units). Chosen, not measured; at half, three units by mistake are taken for keys without a
word, at double, keys with few letters are refused."""

# One column by itself (columns.py, screen.py, rare_levels.py): tests/screening/test_columns.py.

LEVELS_IN_ANY_TABLE = 20
"""Levels that a category may have in any table (levels). Text of so many different whole numbers
may be their codes, a number of so many values may be a code of the context, and a whole number that
differs in more rows than this is an id if its name says so. Chosen, not measured."""

MOST_LEVELS_OF_A_COLUMN = 100
"""Levels that no category of text may exceed, however many rows there are (levels). Chosen, not
measured; a search takes fewer (`score.options.MOST_LEVELS`) and puts rare ones together."""

MOST_LEVELS_PER_ROW = 0.2
"""Levels of a category by the rows, between these two bounds (levels a row): five rows a level.
Chosen, not measured."""

LARGEST_SHARE_OF_RARE_LEVELS = 0.3
"""Rows whose levels may be put together as "other levels" (a share of rows): beyond it what is left
says little of the column, which is left out. Chosen, not measured."""

FEWEST_ROWS_NUMBERED = 10
"""Rows in steady steps before these number the rows (rows). Chosen, not measured; it is also the
number of rows whose order is looked at first."""

FEWEST_ROWS_OF_A_CLOCK = 30
"""Rows before steps that are not all alike are those of a clock (rows). Chosen, not measured."""

LARGEST_SPREAD_OF_CLOCK_STEPS = 0.5
"""The standard deviation of the steps of a clock from row to row, by their mean (a ratio). It is 1
in a table that was sorted by a measurement, whose gaps are exponential: at double sorted columns
are clocks, at half a clock with some gaps is none."""

LEAST_EXCESS_OF_AN_ID = 6.0
"""Standard deviations by which an id has more different numbers than independent draws have
(standard deviations): one in a billion by chance. At half, one measurement in 700 is an id."""

LEAST_DIFFERENT_SHARE_OF_AN_ID = 0.9
"""Rows of an id with a number of their own (a share of rows): rows may be repeated, and a grid of a
design, which repeats, is no id. Chosen, not measured; double is impossible."""

LARGEST_WHOLE_NUMBER = 1e15
"""From here on whole numbers are rounded (no unit): a float has 53 bits, 9e15."""

VALUES_OF_A_GLANCE = 2000
"""Values of a column that are looked at first (values). It bounds time; all others follow."""

FEWEST_WORDS_OF_FREE_TEXT = 3
"""Words in the middle cell of free text (words). Chosen, not measured; it changes the sentence
alone, since any text of so many values is left out."""

ROUNDING_SHARE_OF_LARGEST = 1e-12
"""Differences of numbers, by the largest one, that are rounding (a ratio): a column, or a column
within a unit, that differs by no more is constant. A float has 16 digits, and four are left to
arithmetic."""

FEWEST_ROWS_OF_A_CONSTANT = 2
"""Rows before a column can be constant, and a table is looked at (rows). By definition."""

SERIAL_DAYS = (20_000.0, 80_000.0)
"""Dates as spreadsheets count them (days since 1899-12-30), from 1954 to 2119. Only columns with
the name of a clock are asked."""

EPOCH_SECONDS = (5e8, 5e12)
"""Seconds or milliseconds since 1970, from 1985 on (seconds). Only columns with the name of a clock
are asked."""

FEWEST_RANK_COLUMNS = 3
"""Columns that look like ids in any order before they are ranks, not ids (columns). Chosen, not
measured: a table seldom has three ids."""

LEAST_SHARE_OF_RANK_COLUMNS = 0.5
"""Numbers of a table that must look like ids for that (a share of columns). Chosen, not measured.
"""

# Rows of words, rows without a context, values of a context with few rows.

MOST_ROWS_OF_WORDS = 5
"""Rows of words among numbers (rows): a header or units on every sheet of a few. Chosen, not
measured; with more, the words are values of the column."""

FEWEST_COLUMNS_OF_WORDS = 2
"""Number columns that hold words in the same row (columns): in one alone the word may be a typing
error. By definition; at double, tables of three numbers keep their second header."""

FEWEST_NUMBERS_BESIDE_WORDS = 10
"""Rows of numbers beside rows of words (rows). Chosen, not measured."""

LARGEST_SHARE_WITHOUT_CONTEXT = 0.05
"""Rows without a context that are left out with a warning (a share of rows); more are an error.
Chosen, not measured."""

FEWEST_ROWS_OF_A_LEVEL = 10
"""A level of a context with fewer rows is set aside unless it has half of an equal share of the
rows, as in a small table (rows). A test inside it, or a mechanism of its own, needs `SPARE_ROWS`
(5) rows beyond its coefficients, and has next to no power with fewer than ten. With three and eight
rows beside two levels of 500 (lines, mixed kinds and curves, 8 tables each) up to 1.7 links of ten
were false and half of the claims were lost; without them nothing changes (2026-11-18)."""

FEW_ROWS_OF_A_LEVEL = 25
"""The same below a quarter of an equal share (rows). A third level of 15 rows beside two of 500
(curves, 8 tables) brought 0.4 false links more a table; of 20 rows beside two of 115 (lines, 4
tables) 0.6, and half an arrow turned; 24 rows beside two of 490 opened half an arrow, 30 changed
nothing (2026-11-18). At half the first come back; at double contexts go that can answer."""

# Copies and codes of a context (contexts.py): tests/screening/test_contexts.py.

MOST_WRONG_OF_A_NEAR_COPY = 0.1
"""Rows in which a near copy of a context is wrong, by the rows without the most frequent level (a
ratio): 5 % of two equal halves. Chosen, not measured; at double, a test for a disease that is wrong
in a tenth of the rows would be a copy of it."""

FEWEST_ROWS_OF_A_TRACE = 10
"""Rows of every context that must say that a number hardly varies there (rows). Chosen, not
measured; a spread below `LARGEST_TRACE` comes by chance in 10 rows of no number."""

FEWEST_ROWS_WITHOUT_A_VALUE = 10
"""Rows of a context in which a column has no value, before it is left out (rows). Chosen, not
measured; with fewer rows a few gaps by chance leave a level empty."""

ROWS_OF_A_CONTEXT_GLANCE = 200
"""Rows in which copies of contexts are looked for first (rows). It bounds time; all rows confirm.
"""

MOST_LEVEL_PAIRS_COUNTED = 1_000_000
"""Pairs of levels that are counted in a table (cells): 8 MB. Of more the rows are sorted, with the
same answer."""

# Functions of other columns: how close, how clear, how many rows (relations.py, functions.py).
# tests/screening/test_functions.py has every form, and the mechanisms that are none.

EXACT_RESIDUAL = 1e-6
"""The residual of an exact function (standard deviations of the column): rounding errors of
logarithms stay below 1e-9, and single precision below 1e-6. Neither half nor double was tried."""

EXACT_CONSTANT = 1e-6
"""The constant of an exact sum that is rounding, and is not written (a share of the largest number
of the column; of shares that sum to one, the distance of their coefficients from whole numbers).
Chosen, not measured; it is `EXACT_RESIDUAL` in units of the column."""

SMALL_CONSTANT = 0.01
"""The constant of a sum that is nearly exact, and is not written (standard deviations of the
column); also the distance of means between which a column is called a copy of another. A matter of
words, not of method."""

COPY_SLOPE_WITHIN = 2e-3
"""The distance from 1 of the slope of a column that is called a copy of another (a share). A matter
of words: at half and at double "= 1.00 a" is written for copies with errors."""

LARGEST_LOGARITHM = 50.0
"""The largest number that may be a logarithm (natural units): e^50 is more than any measured column
holds, and its square is still far from overflow. Chosen, not measured."""

LARGEST_TRACE = 5e-3
"""The residual below which a number is another one with a trace of noise (standard deviations; R²
above .999975). A number that was written with three digits leaves about .002. Of real systems the
closest mechanisms leave .03 to .08: a light tunnel (led_3_ir .032), five river gauges (.041),
indices of forest fires (.076), a flux tower (.081) (2026-11-18). At half three digits are still a
trace; at double the closest mechanisms are still none."""

FEWEST_ROWS_OF_A_RELATION = 40
"""Complete rows that a relation needs (rows). Chosen, not measured; see
`test_a_fit_without_rows_to_spare_is_none`."""

FAR_FROM_ROUNDING = 1e-7
"""What must be left of the columns of a table for a Cholesky factor of their correlations to show
that none is a function of the others (a share of variance); below, and within a factor 2 of what is
asked, columns are made orthogonal one by one. It bounds time, and decides nothing."""

SPARE_ROWS_OF_A_REGRESSION = 12
"""Rows beyond the coefficients of a regression, so that a perfect fit is none by overfitting
(rows). Chosen, not measured."""

LARGEST_TO_SQUARE = 1e100
"""A column with larger values is not looked at (no unit): its squares come near 1e308, and a search
refuses it."""

MOST_STEPS_OF_A_GRID = 1e5
"""Steps from the smallest to the largest value, above which a grid is that of the digits of any
number (steps). Chosen, not measured."""

WHOLE_STEPS_WITHIN = 0.01
"""The distance of a gap from whole steps of a grid (steps). Chosen, not measured: a grid of three
digits is off by rounding."""

MOST_GRID_STEPS_PER_ROW = 0.2
"""Steps of a grid, by the rows, below which a number is coarse and counts as made before others
(steps a row). Chosen, not measured; it breaks ties of an order alone."""

FEWEST_EFFECTIVE_VALUES = 20.0
"""Effective values, 1 / sum p², from which on a column is a fine number (values): the same as
`COARSE_BELOW` of data/coarse.py. Below it values repeat by nature, and neither copies nor damage
are told."""

FIRST_ROWS_OF_A_NUMBER = 5000
"""Rows of a number in which different values are counted (rows). It bounds time."""

FEWEST_DIFFERENT_VALUES = 12
"""Different values of a number before it is asked for curves and surfaces; shares ask for more than
these (values). Chosen, not measured."""

FEWEST_ROWS_OF_THE_RAREST = 5
"""Rows of the rarest level of a column of few, before a function of others means anything (rows).
Chosen, not measured."""

LEAST_NATS_OF_A_FUNCTION = 30.0
"""The improbability that an unrelated column looks like this function, group, box, or copy of a
context (nats), by the number of ways to arrange the rows. All pairs of 1,000 columns make up for 14
nats, about half of it. Two equal halves take 47 rows, and 91 at double."""

LEAST_SHARE_OF_COMBINATIONS = 0.75
"""Combinations of the levels of columns that more of must occur for a category to be made of them
(a share of those possible): of two dummies of three levels .75 occur, of three .375. Not tuned."""

MOST_PARTS_OF_A_COMBINATION = 6
"""Columns that a category may be a combination of (columns). It bounds time."""

ROWS_OF_A_SEARCH = 2000
"""Rows of a long table in which sums, shares and levels are looked for, before all rows confirm
them (rows). It bounds time; at half, sums of 1,000 columns have no spare rows."""

MOST_CONTEXTS_ONE_BY_ONE = 8
"""Contexts within which each relation is looked for (contexts). Chosen, not measured; it bounds
time, and relations in every one of nine contexts are not found."""

MOST_LEVELS_OF_LINES = 50
"""Levels of a column within which lines are looked for (levels), as many as a category may have. It
bounds time."""

FEWEST_ROWS_OF_A_LEVEL_LINE = 8
"""Rows of a level that say whether it has a line (rows). Chosen, not measured."""

LEAST_SHARE_OF_LEVEL_LINES = 0.8
"""Rows of all levels that are asked (a share of rows). Chosen, not measured."""

LARGEST_ROUNDING_OF_A_LEVEL_LINE = 0.03
"""What rounding may leave over beside a line of a level (standard deviations in the level): as much
as the closest mechanisms leave, see `LARGEST_TRACE`."""

LEAST_SHARE_OF_DIFFERENT_ROWS = 0.1
"""The share of different rows from which on equal rows are copies, up to ten of each (a share of
rows). With fewer, numbers of few values repeat together because one of them determines the others.
Chosen, not measured."""

MOST_COLUMNS_SCORED = 6
"""Columns of a relation of which one is chosen by scores (columns). It bounds time, as do the next
two: a score takes some 50 ms then."""

MOST_COLUMNS_BESIDE = 5
"""Other columns in these models (columns)."""

MOST_ROWS_SCORED = 800
"""Rows that these models are fitted to (rows)."""

MANY_MEMBERS = 5
"""Columns of a relation from which on it has many, as that of a prediction (columns): models of
many take longer. Chosen, not measured."""

MEMBERS_OF_A_SUM_OF_TWO = 3
"""Columns of the sum of two others (columns). By definition."""

SHORT_DECIMALS = 2
"""The plainness of a formula with short decimals alone (no unit), as `lines.py` counts it. A column
whose formula is the only such one was made: other weights are short by chance in 1 of 10^4."""

MOST_SCORED_OF_MANY = 3
"""Columns of such a relation that are scored (columns). It bounds time."""

TIE_OF_SCORES = 3.0
"""Scores that are nearer say nothing, and the column goes that looks made, by its missing cells,
its name, or a plainer function (nats). Chosen, not measured: odds of 20 to 1."""

ROUNDING_OF_SCORES = 1e-3
"""The same where two columns look alike, so that their names would decide (nats): copies in other
units have the same score but for rounding. Chosen, not measured."""

TIE_OF_NAMES = 10.0
"""The same where a name such as total says which one was made (nats): the scores must say more.
Chosen, not measured."""

TIE_OF_MANY = 30.0
"""The same in a relation of many columns, where what has most of a prediction scores well in place
of two causes, and in the plain sum of three and more (nats). Of 12 columns and 3,000 rows a part of
a subtotal went in place of the subtotal, by 11 nats of 800 rows; with all rows it did not."""

ROUNDING_OF_COVARIANCES = 1e-8
"""Differences of covariances, means and standard deviations, in standard deviations, that are
rounding errors (no unit). Chosen, not measured: above those of sums of many rows."""

LARGEST_DIFFERENCE_OF_A_COPY = 1e-3
"""A column that differs less from another one is a copy of that, not a prediction (standard
deviations). Chosen, not measured."""

LEAST_CORRELATION_BY_ROOT_ROWS = 4.0
"""Correlations, times the root of the rows, above which another column matters to the choice
(standard errors). Chosen, not measured."""

MOST_NUMBERS_OF_A_ROW_KEY = 5
"""Numbers that say which rows of a long table are scored (columns): no two rows agree in all of
these."""

FEWEST_ROWS_OF_A_SCORED_CONTEXT = 30
"""Rows of every context in these models; with fewer they are pooled (rows). Chosen, not measured.
"""

MOST_CONTEXTS_SCORED = 4
"""Contexts in these models; more are pooled (contexts). It bounds time."""

# Sums, differences, products of powers (lines.py) and shares of a sum (shares.py).

MOST_LEVELS_WITH_DUMMIES = 20
"""Levels of a category that take part in sums, each with a dummy (levels). It bounds time."""

LARGEST_MISFIT_OF_ROUNDING = 0.02
"""The misfit below which a column on a grid may be a rounded function of others (a share of
variance): a grid of half a standard deviation leaves 1 / 48."""

SLACK_OF_HALF_A_STEP = 1.1
"""The largest residual of rounding in any row, by half a step (a ratio). Chosen, not measured."""

LEAST_SQUARES_OF_ROUNDING = 0.5
"""The least mean square of residuals of rounding, by step² / 12 (a ratio). Chosen, not measured."""

LARGEST_SQUARES_OF_ROUNDING = 1.35
"""The largest mean square of residuals of rounding, by step² / 12 (a ratio). Chosen, not measured.
"""

LEAST_NATS_OF_ROUNDING = 12.0
"""The improbability that noise of the same spread stays within half a step of a grid in every row
(nats). Chosen, not measured."""

PLAIN_NUMBER_WITHIN = 0.02
"""A coefficient so near to a whole or a half number was meant to be that (no unit). Chosen, not
measured."""

STANDARD_ERRORS_BEYOND_HALF_A_STEP = 3.0
"""Standard errors of the fitted value of a row by which residuals of rounding may be beyond half a
step (standard errors): in 300 rows a total of three parts, rounded, was 0.2 steps beyond it
(`test_a_rounded_total_in_few_rows`). Neither half nor double was tried."""

MORE_LEFT_BY_FEWER_TERMS = 1.0
"""The share by which the mean square of what is left may rise with fewer terms (a ratio). Chosen,
not measured."""

MORE_LEFT_BY_CHANCE = 8.0
"""The same where too few terms are left then, times the rows (no unit): terms of a rounded
prediction may contribute less than its rounding (`test_a_rounded_prediction`). Chosen, not
measured."""

MOST_PARTS_WITH_A_TRACE = 2
"""Parts of any weights of a linear function with a trace of noise (columns). Of more parts only a
total or a mean is one, with weights that are alike. In dense systems of lines, where spreads grow
along the paths, noise of 0.005 standard deviations is that of a mechanism: of six tables with 30
variables of degree 10 four lost up to six variables
(`test_dense_systems_of_lines_lose_no_variable`)."""

WEIGHTS_ALIKE_WITHIN = 0.02
"""Weights that differ by less, relatively, were meant to be the same (a ratio), in the units of the
columns or of their standard deviations. Chosen, not measured."""

MOST_COLUMNS_OF_SHARES = 60
"""Columns of which shares of a sum are looked for (columns): their work grows as the fourth power,
and is 0.05 s with 60; by that power 0.8 s at double."""

ROWS_OF_A_SHARE_GLANCE = 400
"""Rows in which shares are looked for first (rows). It bounds time."""

LARGEST_MISFIT_OF_A_SHARE_GLANCE = 0.1
"""The misfit of a share in these rows, above which it is not looked at in more (a share of
variance): a regression without weights loses some of the fit. Chosen, not measured."""

STEPS_TO_A_SHARE = 3
"""Steps of Gauss and Newton from the values of a share to those of the fitted function (steps)."""

# Curves of one column, products, ratios and indices of two (bends.py).

MOST_CELLS_OF_A_CURVE_GLANCE = 30_000_000
"""Pairs of columns times rows of the glance for curves (cells): with 100 columns some .2 s. The
rows follow from it, between the next two."""

FEWEST_ROWS_OF_A_CURVE_GLANCE = 120
"""Rows of this glance at least (rows). Chosen, not measured."""

MOST_ROWS_OF_A_CURVE_GLANCE = 1000
"""Rows of this glance at most (rows). Chosen, not measured."""

SHARE_AT_ENDS_OF_A_CURVE = 0.05
"""Rows at either end of a column that are not asked for a curve (a share of rows): neighbours are
far away there. Chosen, not measured."""

LARGEST_ROUGHNESS_BY_ROWS = 8.0
"""The residual that a smooth function leaves between neighbours in a glance, in standard deviations
times the rows of the glance (no unit). Chosen, not measured; it lets candidates through, which all
rows confirm."""

LEAST_CORRELATION_OF_A_TREND = 0.98
"""The rank correlation with the row number above which a column is a trend, with which every other
trend is smooth (a correlation). Chosen, not measured."""

MOST_ROWS_OF_A_CURVE = 20_000
"""Rows that confirm a curve or a surface (rows). It bounds time."""

MOST_COLUMNS_OF_SURFACES = 60
"""Columns of which products and ratios are looked for (columns): their number grows as the third
power, eightfold at double."""

ROWS_OF_A_SURFACE_GLANCE = 100
"""Rows in which surfaces of two columns are looked for first (rows). It bounds time."""

FEWEST_ROWS_OF_A_SURFACE = 60
"""Complete rows that a surface of six coefficients needs (rows). Chosen, not measured."""

LARGEST_MISFIT_OF_A_SURFACE_GLANCE = 0.02
"""The misfit of a surface in the glance, above which it is not looked at in all rows (a share of
variance). Chosen, not measured."""

EXACT_SURFACE_RESIDUAL = 1e-5
"""The residual of a surface that is exact (standard deviations): its terms nearly cancel, so
rounding errors are larger than `EXACT_RESIDUAL`."""

LARGEST_SQUARES_LEFT_BY_ROUNDING = 1.5
"""The mean square that a curve or a product leaves of a column on a grid, by step² / 12 (a ratio).
Chosen, not measured."""

LEAST_GAIN_OF_A_SECOND_COLUMN = 4.0
"""The misfit of a curve of one column by that of the surface of two, below which one is enough (a
ratio). Chosen, not measured."""

LEAST_BEND_OF_A_SURFACE = 1e-3
"""A term with y² that contributes less is none (standard deviations). Chosen, not measured."""

LARGEST_TRACE_OF_A_SURFACE = 2e-3
"""A trace of noise beside a surface (standard deviations): six terms come nearer to a mechanism of
two causes than a line does. Chosen, not measured."""

# Forms of two columns that have a name, and cells taken from others (forms.py).

FEWEST_VALUES_OF_A_FORM = 4
"""Different values of a number before it may be a rounded form of others (values). Chosen, not
measured."""

LEAST_SHARE_OF_ROUNDING = 0.25
"""What a ratio leaves of a column on a grid, as a share of what rounding to the grid leaves, the
step / √12 (a share of a standard deviation): with less, the values lie on the grid by themselves,
as a count does that divides another column. Chosen: a ratio that was rounded leaves 1."""

ROWS_OF_A_FORM_GLANCE = 200
"""Rows in which forms are looked for first (rows). It bounds time."""

LARGEST_MISFIT_OF_A_FORM_GLANCE = 1e-3
"""The misfit of a form in the glance, above which a column that is not on a coarse grid is not
looked at in all rows (a share of variance); it lets candidates through, which all rows confirm.
Chosen, not measured."""

LEAST_DIFFERENT_SHARE_OF_TAKEN_CELLS = 0.5
"""Different values of a number that takes its cells from others, or is taken from (a share of
rows): columns of few values have equal cells by chance. Chosen, not measured."""

LEAST_SHARE_TAKEN = 0.01
"""Rows that are taken from a column at least (a share of rows). Chosen, not measured."""

MOST_COLUMNS_TAKEN_FROM = 12
"""Columns that cells are taken from (columns), as many as there are months. Chosen, not measured.
"""

# Smooth functions of two columns, and sums with squares (smooth.py).

MOST_COLUMNS_OF_SMOOTH_FUNCTIONS = 40
"""Columns of which functions of two are looked for (columns): their work grows as the third power,
eightfold at double."""

FEWEST_ROWS_OF_A_SMOOTH_FUNCTION = 200
"""Complete rows that neighbours need (rows). Chosen, not measured."""

MOST_ROWS_OF_A_SMOOTH_FUNCTION = 1000
"""Rows that are looked at (rows): with these the 16 nearest of a row in the middle of two normal
columns lie within 0.2 standard deviations."""

LARGEST_MISFIT_OF_A_SMOOTH_GLANCE = 0.3
"""The misfit of a quadratic surface in a glance, above which a column is not looked at (a share of
variance): the absolute difference of two columns leaves 0.2. Not tuned; at half that is lost."""

NEIGHBOURS_OF_A_SMOOTH_FUNCTION = 16
"""Neighbours that a quadratic surface of six coefficients is fitted to (rows). Chosen, not
measured."""

MOST_ROWS_ASKED_FOR_SMOOTHNESS = 80
"""Rows that are asked whether they lie on the surface of their neighbours, about (rows). It bounds
time."""

FEWEST_ROWS_ASKED_FOR_SMOOTHNESS = 40
"""Rows in the middle of both columns, with fewer of which none is asked (rows). Chosen, not
measured."""

SHARE_AT_ENDS_OF_A_SURFACE = 0.15
"""Rows at either end of both columns that are not asked (a share of rows): neighbours lie on one
side there. Chosen, not measured."""

SHARE_OF_SMOOTH_ROWS = 0.7
"""Rows asked that must be near the surface (a share of rows): where the larger of two columns
changes from one to the other there is a kink. Chosen, not measured."""

LARGEST_RESIDUAL_OF_A_SMOOTH_FUNCTION = 4e-3
"""The residual of these rows (standard deviations). Noise of a mechanism of 0.03, the least of real
systems (`LARGEST_TRACE`), leaves 0.015, which double does not reach."""

LARGEST_RESIDUAL_BY_A_PLANE = 0.15
"""The residual by that of the plane of all rows (a ratio): a mechanism that is a line leaves 0.5 of
it. Neither half nor double was tried."""

FEWEST_ROWS_OF_A_BENT_CONTEXT = 60
"""Rows of each context within which curves are looked for (rows). Chosen, not measured."""

LEAST_TERM_OF_A_SUM_WITH_SQUARES = 1e-4
"""A term that contributes less is none (standard deviations of the sum). Chosen, not measured."""

# Levels: groups, thresholds, codes, copies with slips (levels.py, heaps.py).

ROWS_OF_A_LEVEL_GLANCE = 60
"""Rows in which columns that determine each other are looked for first (rows). It bounds time."""

ROW_GAPS_COMPARED = (1, 2, 3, 5)
"""Distances of the rows of this glance that are compared (rows). Chosen, not measured."""

FEWEST_REPEATED_PAIRS = 8
"""Pairs of rows of this glance with the same value, before a function that is not monotone is
thought of (pairs). Chosen, not measured."""

MOST_GROUPS_OF_A_NUMBER = 12
"""A function of a number with so many different values at most is a group, of two a threshold, and
one of more is rounded (values). It chooses the word, and up to which number of borders heaps are
looked for. Chosen, not measured."""

GAPS_BESIDE_A_BORDER = 10
"""Gaps on either side of a border that a gap at it is compared with (gaps). Fewer vary more; more
reach into the middle of a heap, where rows are closer. Not tuned."""

LEAST_GAPS_BETWEEN_HEAPS = 12.0
"""Mean gaps of the neighbours that lie between two heaps (gaps): in one heap a gap as wide comes by
chance once in exp(12) borders. Of 150 tables with noise of a tenth 14 had a cause of two levels
that was called a threshold of its own effect, whose heaps were 30 such gaps apart (2026-11-19,
`test_a_cause_that_parts_its_effect_into_heaps_is_no_threshold`)."""

LEAST_EQUAL_SHARE_OF_A_COPY = 0.95
"""Rows in which a copy with slips has the same value (a share of rows): a copy, typed by hand, has
other values in 1 to 3 % of them (`test_a_copy_with_slips`). Not tuned."""

LEAST_EQUAL_SHARE_IN_A_GLANCE = 0.85
"""The same in the rows of a glance (a share of rows): of 60 rows, more than three standard errors
lower."""

LARGEST_DIFFERENCE_OF_MEASUREMENTS = 0.025
"""The distance of two measurements of one thing (standard deviations). Of real systems the closest
mechanisms leave 0.03, in other units; double would reach these."""

LARGEST_DIFFERENCE_OF_SCALES = 0.01
"""The difference of their spreads, relatively, and of their means, in standard deviations (a
ratio). Chosen, not measured."""

LEAST_MEAN_OF_MEASUREMENTS = 0.5
"""The least distance of their means from 0 (standard deviations): columns in standard units have
the same mean and spread, whatever they measure. Chosen, not measured."""

# Steps of several numbers: boxes, planes (steps.py).

MOST_LEVELS_OF_STEPS = 12
"""Levels of a column that is asked for boxes and planes (levels). It bounds time: planes part pairs
of levels."""

MOST_NUMBERS_OF_STEPS = 40
"""Numbers of which boxes and planes are made (columns). It bounds time."""

FEWEST_ROWS_OF_STEPS = 100
"""Complete rows that boxes and planes need (rows). Chosen, not measured."""

MOST_ROWS_OF_STEPS = 5000
"""Rows that are looked at (rows). It bounds time."""

FEWEST_ROWS_AT_A_BORDER = 4
"""Rows whose nearest row has another level (rows). Chosen, not measured."""

ROWS_AT_A_BORDER_BY_ROOT = 0.15
"""The same by the root of all rows (no unit), as many as lie along a line through a plane. Of 150
tables with noise of a tenth 24 had a cause that effects part without an error, in heaps that hardly
touch (2026-11-19). Not tuned."""

MOST_NUMBERS_OF_A_PLANE = 4
"""Numbers of a score whose limits are levels (columns): the more there are, the likelier a plane
parts effects of a cause. Chosen, not measured."""

LEAST_SHARE_RIGHT_OF_A_PLANE = 0.9
"""Rows that the plane of least squares must get right before a parting one is looked for (a share
of rows). Not tuned."""

STEPS_TO_A_PLANE = 25
"""Steps of Newton towards a plane that parts two levels (steps)."""

RIDGE_OF_A_PLANE = 1e-6
"""The ridge that keeps such a plane finite (no unit)."""

# Damage (damage/): tests/screening/test_damage.py has every kind, and the clean tables without.

MOST_ROWS_OF_A_LOOK = 10_000
"""Rows of a long table that tell how the values of a column are spread (rows). At a fifth of it,
values that 1 % of the rows have are 20 of those looked at; at twice as many only time changes."""

NORMAL_IQR = 1.349
"""The distance of the quartiles of a normal law (standard deviations)."""

LARGEST_SHARE_LEFT_OUT_FOR_CELLS = 0.3
"""Rows that may be left out for damaged cells where missing values are not modelled (a share of
rows). Beyond it, what is left may say little about the table, and the user decides. Chosen, not
measured."""

# Codes for missing values.

FAR_CODES = (
    -99.0,
    -999.0,
    -9999.0,
    -99999.0,
    -999999.0,
    -6999.0,
    -7777.0,
    -8888.0,
    999.0,
    9999.0,
    99999.0,
    999999.0,
    1e20,
    -1e20,
)
"""Numbers that are seldom anything but a code, where all other values are far away (no unit)."""

NEAR_CODES = (
    0.0,
    -1.0,
    -9.0,
    -8.0,
    -88.0,
    8.0,
    9.0,
    77.0,
    88.0,
    98.0,
    99.0,
    777.0,
    888.0,
    998.0,
    7777.0,
    8888.0,
)
"""Numbers that are often measurements, too (no unit)."""

FEWEST_CELLS_OF_A_FAR_CODE = 3
"""Cells that must have a code that is outside the others by their whole range (cells). Chosen, not
measured; far cells that repeat less often are no codes, but slips or a heap."""

FEWEST_CELLS_OF_A_NEAR_CODE = 5
"""Cells that must have a code that is nearer than that (cells). Chosen, not measured."""

FEWEST_CELLS_OF_A_GRID_CODE = 8
"""Cells that must have a code beside whole numbers, whose highest value may stand apart by chance
(cells). Chosen, not measured."""

LEAST_RANGES_AWAY = 1.0
"""The distance from the other values of a code, or of a heap of cells, that is far (whole ranges of
the others). Chosen, not measured."""

LEAST_DEVIATIONS_OF_A_NEAR_CODE = 2.5
"""The distance of a near code from the median of the others (robust standard deviations); the ends
of a uniform column are at 1.3, which half reaches. Chosen, not measured."""

DEVIATIONS_AROUND_A_CODE = 0.2
"""The distance within which a near code has hardly any other values (robust standard deviations).
"""

MOST_VALUES_AROUND_A_CODE = 0.2
"""Other values there (by the count of the code). Where values are cut off at a limit, as many as it
has lie there. Neither is measured; at five times, caps would be codes."""

LARGEST_SHARE_OF_A_NEAR_CODE = 0.15
"""The largest share of a near code (a share of rows); with more cells, zeros are a state of its own
(no dose, no income). Chosen, not measured."""

NEIGHBOURS_OF_A_CODE = 20
"""Nearest values that say how dense values are at a near code (values)."""

VALUES_BESIDE_A_CODE = 3
"""Nearest different values that a code beyond the ends of a fine number must be oftener than
(values). Logarithms of counts have a 0 of their own, which is as frequent as its neighbours
(`test_zeros_of_logarithms_of_counts_are_no_codes`). Chosen, not measured."""

LARGEST_CHANCE_OF_A_CODE = 1e-6
"""The probability that a Poisson law gives the count of a near code among other values, with the
mean of one step among their nearest (a probability). In the tail of a rounded amount some value
occurs six times by chance: without this 2 of 200 tables of 2,000 days of rain were taken for
damaged, at 1e-3, 1e-6 and 1e-9 none, and codes that were put into columns (0 in 4 and 6 % of the
rows) were found in 100 of 100 tables each time (2026-11-19)."""

LEAST_STEPS_OF_A_GRID_CODE = 2.5
"""Steps of a grid of values that a near code must be away from them (steps); one less for codes
other than 0, -1 and 8: a Likert scale from 1 to 5 has no 8, 9 may be a refusal. Chosen, not
measured."""

LARGEST_STEP_OF_A_FINE_NUMBER = 0.3
"""The step of a fine number (robust standard deviations): a Poisson count of mean 11 has it, where
no 0 occurs. Chosen, not measured."""

# Cells far from all others.

LEAST_RANGES_OF_ONE_SLIP = 10.0
"""The distance of a single cell from the others that is a slip of the pen (whole ranges of the
others): a misplaced decimal point. Neither half nor double was tried."""

LEAST_RANGES_OF_SEVERAL_SLIPS = 4.0
"""The same of several cells (whole ranges). Of 150 tables of squares and exponentials of heavy
tails nine had cells once the range away (2026-11-19). Not tuned."""

LARGEST_REACH_OF_TAME_NUMBERS = 1.3
"""The range of the others, by 2 sqrt(2 log n) robust standard deviations, about that of n normal
values, so that a single cell is told from a heavy tail (a ratio): 7.3 deviations of 50 values, 9.7
of 1,000. At 12 for all n a Cauchy column of 50 values was taken for one with a slip."""

FEWEST_OTHER_VALUES = 30
"""Values before a cell is judged beside the others, for slips and for means within a context; so
many of the others also show their digits (values). Chosen, not measured."""

FEWEST_ROWS_OF_FAR_CELLS = 100
"""Rows before several cells far away are told from a long tail (rows): of 30 tables of 50 lognormal
values two had such cells (2026-11-19)."""

FEWEST_FAR_CELLS = 2
"""Cells far away that are several (cells), and may be slips in any table. By definition; a single
one is asked `LEAST_RANGES_OF_ONE_SLIP`."""

LARGEST_SHARE_OF_SLIPS = 0.01
"""Cells far away up to which they are slips of the pen; from here on they are a heap (a share of
rows). Chosen, not measured."""

FEWEST_CELLS_OF_A_HEAP = 5
"""Cells of a heap far away (cells). Chosen, not measured."""

LARGEST_SHARE_OF_A_HEAP = 0.15
"""The largest share of a heap by another unit, beyond which a column has two heaps of its own (a
share of rows). Not tuned."""

# Values that repeat: imputed means, caps, values carried forward.

FEWEST_REPEATED_CELLS = 5
"""Cells with the same mean, or at the same limit (cells). Chosen, not measured."""

LEAST_REPEATED_SHARE = 0.01
"""Cells that repeat a mean, a limit or the row before, from which on they are damage (a share of
rows). Chosen, not measured: fewer change little."""

LEAST_TIMES_OFTENER = 4.0
"""The count of the mean or the limit by that of any other value, against digit preference (a
ratio), as `BEYOND_OTHERS` of data/coarse.py. Not tuned."""

FEWEST_REPEATS_IN_A_LOOK = 3
"""Cells with the same value among the rows of a look, before a mean is looked for (cells). It
bounds time; in tables of up to `MOST_ROWS_OF_A_LOOK` rows it loses nothing."""

LARGEST_ERRORS_OF_AN_IMPUTED_MEAN = 4.0
"""Standard errors by which a mean of all values, taken before some were lost, may differ from that
of the others (standard errors). Chosen, not measured."""

FEWEST_VALUES_BESIDE_A_MEAN = 10.0
"""Effective values, 1 / sum p², beside a mean that lies on their grid (values): most answers to a
question of five levels may be the one in the middle. A Poisson count of mean 8 has so many. Not
tuned."""

MEAN_WITHIN = 1e-6
"""The distance of a mean from the computed one that is rounding, or half of its last digit
(standard deviations)."""

ROUNDED_MEAN_WITHIN = 0.05
"""The distance of a rounded mean from the true one (standard deviations). Chosen, not measured."""

LARGEST_STEP_OF_INTERPOLATED = 1e-3
"""The smallest distance of two values of a column whose midpoints are looked at (standard
deviations): on a grid, values lie midway between others by chance. Chosen, not measured."""

ROUNDING_OF_A_MIDPOINT = 1e-12
"""The distance of an interpolated value from the midpoint (relative): rounding of numbers."""

ROWS_APART = (7, 11)
"""Rows before and after a cell whose mean tells how often a value lies midway by chance (rows):
uneven, since blocks of interpolated values lie midway at any even distance."""

FEWEST_CELLS_CARRIED = 10
"""Cells that repeat the row before (cells), and rows of a context before it is constant. Chosen,
not measured."""

LARGEST_SHARE_CARRIED = 0.35
"""Cells that repeat the row before, beyond which rows share the value by design, such as the income
of a household (a share of rows). Chosen, not measured."""

FIRST_ROWS_OF_RUNS = 20_000
"""Rows in which runs of equal values are counted (rows). It bounds time."""

LARGEST_SHARE_ELSEWHERE = 0.1
"""Repeated values that may occur elsewhere as well, by rounding (a share of the repeats). Chosen,
not measured."""

LEAST_SHARE_OF_TURNS = 0.05
"""The least share of rises, and of falls, from row to row (a share of rows); a column that only
rises is sorted. Chosen, not measured."""

LARGEST_OVERLAP_OF_CARRIED = 0.5
"""Repeats in the same rows of several columns, beyond which units have several rows (a share of
rows). Chosen, not measured."""

LEAST_SHARE_OF_A_DOUBTFUL_CAP = 0.02
"""Cells at a limit from which on nothing is claimed at the column, and effects have no interval (a
share of rows). A slope of a normal number that was cut off is the true one times the share of rows
that were not: 2 % too small, less than the standard error of 1,000 rows. Neither half nor double
was tried."""

LARGEST_GAP_BESIDE_A_LIMIT = 0.5
"""The distance of a limit from the next value (robust standard deviations), as `NEAREST` of
data/coarse.py: values that were cut off have others beside them. Chosen, not measured."""

# Scales: coarse rounding, standardised columns, amounts.

LEAST_STEP_OF_COARSE_ROUNDING = 0.4
"""The step of rounded numbers from which on they are told (standard deviations). At 0.5 half of the
claims are lost, and at 1 an interval of an effect covers the truth in 1 of 8 tables of straight
lines; finer steps were not measured (2026-11-18)."""

LEAST_SHARE_OF_HEAPS = 0.2
"""Rows whose values lie on a coarse grid in a column of finer ones, from which on that is told (a
share of rows). Chosen, not measured."""

TIMES_OFTENER_OF_HEAPS = 5.0
"""Times that values of the grid occur oftener than others (a ratio). Chosen, not measured."""

FEWEST_HEAPS = 3
"""Values of such a grid (values): one is a repeated value, two may be states."""

LARGEST_SHARE_HALFWAY = 0.25
"""Rows halfway between the values of such a grid by those on it (a ratio): with more of them the
grid is finer. Of whole numbers around tens, a tenth of the others end in a five. Not measured."""

LARGEST_DIFFERENCE_OF_READINGS = 0.1
"""The distance of two readings of one thing that are told and stay (standard deviations); nearer
than `LARGEST_DIFFERENCE_OF_MEASUREMENTS` one of them is left out. Chosen, not measured."""

FEWEST_VALUES_OF_A_ROUNDED_NUMBER = 6
"""Different values of a rounded number; with fewer a column is taken for ordered levels (values).
The bound follows `MOST_ORDERED` of data/coarse.py."""

ON_GRID_WITHIN = 1e-6
"""The distance of values from whole steps that is rounding (steps)."""

LARGEST_DIFFERENCE_OF_STANDARDISED = 0.02
"""The difference of means and standard deviations that are the same in all contexts, in two columns
(standard errors). By chance means differ by less in 1 of 90 columns, and two of 20 columns do in 1
of 40 tables."""

LARGEST_DIFFERENCE_OF_CENTRED = 0.001
"""The same of means alone, which are the same but for rounding (standard errors)."""

FEWEST_ROWS_OF_A_STANDARDISED_CONTEXT = 10
"""Rows of the contexts that are compared so (rows). Chosen, not measured."""

# Rows that are no observations: copies, totals, summaries (damage/duplicates.py,
# damage/summaries.py).

FEWEST_COPIES = 3
"""Copied rows from which on they are told (rows). Chosen, not measured."""

COPIES_BY_CHANCE_FACTOR = 5.0
"""Copied rows by those that chance makes (a ratio): the chance is that of independent columns, and
dependence makes natural repeats likelier. Not tuned."""

LEAST_EFFECTIVE_SHARE_OF_SHORT_TABLES = 0.3
"""Effective values of a fine number by the rows, in tables too short for `FEWEST_EFFECTIVE_VALUES`
(values a row). Chosen, not measured."""

MOST_NUMBERS_OF_NATURAL_REPEATS = 6
"""Fine numbers that are asked how often rows repeat naturally, the finest ones, which tell most
(columns). It bounds time."""

FEWEST_NUMBERS_OF_NEAR_COPIES = 3
"""Numbers that nearly equal rows need (columns): in two dimensions the nearest row of 2,000 is as
near by chance."""

MOST_NUMBERS_OF_NEAR_COPIES = 8
"""Numbers in which nearly equal rows are looked for (columns). It bounds time."""

LARGEST_DISTANCE_OF_A_NEAR_COPY = 0.1
"""The distance of a copy by that of the next row (a ratio). In q dimensions this happens by chance
in a share of 0.1^q of the rows: 1 in 1,000 with three numbers. At double, 1 in 125."""

LEAST_SHARE_OF_NEAR_COPIES = 0.1
"""Rows that must have a copy (a share of rows): structure of one dimension gives
`LARGEST_DISTANCE_OF_A_NEAR_COPY` at most, by its definition, so that half would tell of that."""

NEIGHBOURS_OF_A_COPY = 5
"""Nearest rows among which copies are looked for (rows): rows may be copied several times. Chosen,
not measured."""

ROWS_ASKED_FOR_COPIES = 200
"""Rows that are asked before all others (rows); a table of which a fifth are copies passes in 1 of
10^4 cases."""

MOST_ROWS_OF_NEAR_COPIES = 50_000
"""Longer tables are not looked at for nearly equal rows (rows): neighbours of all rows would take
seconds."""

FEWEST_ROWS_BESIDE_TOTALS = 10
"""Rows beside a row of totals, and of a table with copies (rows). Chosen, not measured."""

SUM_WITHIN = 1e-3
"""The distance of a total from the sum of the other rows (relative). Chosen, not measured: totals
are rounded."""

MOST_ROWS_OF_SUMMARIES = 8
"""Rows at either end of a table where summaries are expected, and rows that may be left out of the
first comparison since they are far away (rows); `describe()` of pandas makes eight."""

MOST_COLUMNS_OF_SUMMARIES = 40
"""Number columns in which a row must be a summary, the first ones (columns). It bounds time."""

DEVIATIONS_OF_FAR_SUMMARIES = 6.0
"""The distance of counts and sums from the median (robust standard deviations), in most columns of
a row. Rows that are nearer change a mean of 500 rows by 0.01 standard deviations, which
`SUMMARY_WITHIN` allows for. Chosen, not measured."""

SUMMARY_WITHIN = 0.02
"""The distance of a summary that was rounded from the exact one (standard deviations). Chosen, not
measured."""

NEIGHBOURS_OF_A_SUMMARY = 20
"""Values nearest to a summary that tell how dense a column is there (values): fewer make the
estimate of a chance uncertain by more than a fifth."""

OWN_PART_OF_SCORES = 1e-4
"""What a column tells that no other one does, in the correlations of normal scores (a share of the
variance). Copies would tell all of each other without it; of those, half an order of nats is at
stake at a tenth of it."""

LEAST_NATS_OF_A_SUMMARY = 7.0
"""The improbability that a row is a summary, beyond the number of rows and of summaries (nats): 1
row in 1,000 tables, and none of 410 clean ones, at 9 either. At 9, a row of means of four columns
at an end is missed where it is rounded to a hundredth of their deviations."""

MOST_ROWS_WITH_MEANS = 100_000
"""Rows of the longest table that is asked for a row of means or summaries (rows): in longer ones
values are as near the mean by chance."""

HASH_FACTOR = 0x9E3779B97F4A7C15
"""The odd factor of 64 bits that mixes the hashes of columns (no unit): 2^64 by the golden ratio.
Any odd number with mixed bits does."""

"""The numbers by which a method is chosen, and by which its time is forecast.

They decide between score-ac and pc-ac where `method="auto"`, and so graphs: a change of one of them
is held against `python benchmarks/research/default_method.py` and `python benchmarks/violations.py`
(docs/decisions/default-method.md has their tables).
"""

from __future__ import annotations

# When a table is searched by tests.

LONGEST_FORECAST = 60.0
"""The forecast time of score-ac up to which it is tried (seconds). Who waits longer should have
asked for it; tests take seconds, and err far more often: on 10,000 rows of 30 columns with curves
skeleton F1 is .76 by tests and 1.00 by scores (docs/decisions/default-method.md, 2026-11-18). The
forecast is right within a factor of 3, so half and double move wide tables of a minute alone."""

TOLD_AS_HOURS = 2.0 * 3600.0
"""A forecast from which on a sentence speaks of hours (seconds). A matter of reading."""

MOST_COLUMNS_OF_SERIES = 100
"""Columns of a time series up to which its windows are searched by scores (columns); what these
cost is not forecast. Not measured."""

FEWEST_ROWS_FOR_SCORE = 60
"""Rows of a table below which score-ac is not chosen (rows). `default_method.py`, 8 variables in
two contexts: with 60 rows score-ac has a TPR and FPR of .857 and .049, pc-ac of .521 and .025. With
fewer rows the share of right links among those found falls; double would give up the gain at 60
to 120."""

FEWEST_ROWS_A_CONTEXT = 30
"""The same for each context, times their number (rows): the two contexts of the same tables. Not
measured apart from them."""

FEWEST_ROWS_A_VARIABLE = 3
"""The same for each variable, times their number (rows). `default_method.py`, 30 variables: from
100 rows on score-ac has .996 and .007, pc-ac .877 and .013. Not measured at half and double."""

ENOUGH_ROWS = 300
"""Rows that are enough for any number of variables (rows): the price of a link grows with it. With
200 variables and 300 rows score-ac has 3 false or missing links, pc-ac 49 (2026-11-18)."""

FEWEST_SCANNED_ROWS = 10
"""Rows that every context must have, in a table and in the sample of a scan (rows). Not measured:
with half, a line through a context has hardly a residual."""

TIED_VARIANCE = 1e-9
"""A combination of columns in standard units with less variance is constant (no unit): a limit of
floating point, seven digits above rounding."""

LEAST_WEIGHT = 0.05
"""Columns with a larger weight in a constant combination are named in the note (no unit): a matter
of words, not of method."""

# When a note says that no model fits.

STRONG_CORRELATION = 0.25
"""A correlation between a residual and functions of earlier variables that bends a mechanism
visibly (a correlation). Not measured on its own: it decides a note, no graph."""

MOST_MISFITTED = 1.0 / 3.0
"""The share of misfitted mechanisms from which on nothing fits (a share of variables): the
likelihood then compares wrong models with each other. Where this speaks, score-ac still has 2.4
wrong pairs a graph and pc-ac 4.9 (`default_method.py --part nothing-fits`), so it decides a note
and that nothing is claimed to change, no graph."""

# The forecast of score-ac, within a factor of about 3: `python benchmarks/forecast.py` prints it
# beside the processor seconds that were measured (two cores, 2026-11-18). Each number scales its
# part of the forecast, so that half and double halve and double that part.

LEAST_SECONDS = 0.1
"""The time of any search (seconds)."""

SECONDS_PER_VALUE = 1.3e-6
"""The time of a value, a row of a column, and of the root of the number of contexts (seconds):
densities, residual checks, wrong cells."""

SECONDS_PER_PAIR = 1e-4
"""The time of a pair of columns (seconds): climbs from several orders, and what the search asks
about every link."""

MOST_PARTNERS = 150
"""Columns with which a column makes such pairs (columns): in wider tables it looks at few others
(`FEWEST_SCREENED` of score/lines.py)."""

SECONDS_PER_WIDE_PAIR = 7e-6
"""The time of every pair of columns (seconds): correlations, checks, marks."""

CONTEXT_POWER = 1.4
"""Climbs grow with this power of the number of contexts (no unit): every set of contexts may have a
mechanism of its own."""

SECONDS_PER_LOGIT = 1.5e-7
"""The time of a row, a column and a squared number of levels of a category (seconds): logits."""

SECONDS_PER_CURVE = 3.5e-7
"""The time of a row, a pair of columns and a context where the table has curves (seconds): what
every curve would gain, again and again."""

ROWS_FOR_CURVES = 2_000
"""Rows that tell whether there are curves (rows). Of more, a share is looked at: curves that need
more rows cost the search little. Not measured at half and double."""

BENT_ERRORS = 5.0
"""The correlation of a square or a cube with another column, beside the line, that shows a curve
(standard errors): chance does not give it among all pairs. It moves a forecast, no graph."""

"""Every numeric threshold that decides what counts as nothing, and how many rows are too few; each
stands here once.
"""

COLLINEAR_BELOW = 1e-10
"""A residual variance below this share of the variable's own variance counts as zero."""
SAME_COLUMN_BELOW = 1e-8
"""The same for the regressions of the score, whose columns are curves and products of standardised
variables: their cross products are rounded at 1e-12 and solved from each other many times, and
columns that are alike to 1e-8 say the same. Tests, which see the columns of the table alone, can do
with `COLLINEAR_BELOW`."""
CONSTANT_BELOW = 1e-14
"""A variance in one context below this share of the variance over all rows counts as zero."""
SMALL_COLUMN_BELOW = 1e-10
"""A variance of such a column in some contexts, in units of its pooled variance, that counts as
zero.
"""
SMALLEST_VARIANCE = 1e-9
"""In units of the pooled variance; keeps the likelihood of a mechanism without noise finite."""
SPARE_ROWS = 5
"""A regression, a test or a context takes part with at least this many rows more than coefficients.
"""
SMALLEST_SCATTER = 1e-150
"""The product of two smaller sums of squares comes close to underflow: such a column counts as
constant.
"""
LARGEST_SCATTER = 1e150
"""The product of two larger sums of squares comes close to overflow."""
PERFECT = 1.0 - 1e-12
"""A correlation above this is one of linear functions."""
TIED = 1e-9
"""Evidence that differs by no more than this share is the same, and of sets with the same evidence
the first counts. Copies of a column make such sets; rounding, which depends on the hardware, must
not choose between them."""

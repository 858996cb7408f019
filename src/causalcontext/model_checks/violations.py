"""What a model check finds: how a table contradicts straight lines with Gaussian noise in independent rows."""

from __future__ import annotations

from dataclasses import dataclass

CURVES, INTERACTIONS, SPREAD, SKEW, TAILS, OUTLIERS, ROWS = (
    "curves", "interactions", "uneven spread", "skew", "heavy tails", "outliers", "dependent rows",
)  # fmt: skip
KINDS = (CURVES, INTERACTIONS, SPREAD, SKEW, TAILS, OUTLIERS, ROWS)


@dataclass(frozen=True)
class Violation:
    """A check that failed.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    columns : tuple of str
        Where, the clearest first.
    size : float
        How clearly in the first of them: a correlation, a skewness, an excess kurtosis, or a share of rows.
    """

    kind: str
    columns: tuple[str, ...]
    size: float

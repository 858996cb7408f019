"""Empty tables, each with the reason in its `attrs`."""

from __future__ import annotations

from causalcontext.data.frames import frame_of, pd

REASON = "reason"
"""The key of `DataFrame.attrs` that says in words why there are no rows."""


def because(table: pd.DataFrame, reason: str) -> pd.DataFrame:
    """The table; where it has no rows, `attrs["reason"]` says why, and so does what is printed."""
    if not table.empty:
        return table
    from causalcontext.results.no_rows import NoRows

    without_rows = NoRows(table)
    without_rows.attrs[REASON] = reason
    return without_rows


def empty(columns: list[str], reason: str) -> pd.DataFrame:
    """A table without rows, and why it has none."""
    return because(frame_of(columns=columns), reason)

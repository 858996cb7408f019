"""Numbers at which a column is cut: short ones that cut where the data do, and texts that mean just these numbers."""

from __future__ import annotations

import math


def short_cut(below: float, above: float) -> float:
    """The number with the fewest digits that is at least `below` and less than `above`.

    Examples
    --------
    >>> short_cut(0.2999817, 0.3012)
    0.3
    >>> short_cut(1700000003.0, 1700000004.0)
    1700000003.0
    """
    middle = below + (above - below) / 2.0
    for digits in range(1, 18):
        for value in (middle, below):
            rounded = float(f"{value:.{digits - 1}e}")
            if below <= rounded < above:
                return rounded
    return below


def number_text(value: float) -> str:
    """The shortest text that is read as the same number.

    Examples
    --------
    >>> number_text(0.3), number_text(1700000003.0), number_text(2e-9)
    ('0.3', '1700000003', '2e-09')
    """
    short = f"{value:.6g}"
    if float(short) == value:
        return short
    return str(int(value)) if math.isfinite(value) and value == int(value) and abs(value) < 1e15 else repr(value)

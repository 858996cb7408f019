"""Tidy tables of answers, with types that do not depend on what was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from causalcontext.data.frames import frame_of

if TYPE_CHECKING:
    import pandas as pd

_NUMBERS = ("se", "low", "high", "p", "direct", "mean", "now", "coefficient", "standardised", "from graph",
            "zero in", "open in")  # fmt: skip
_TYPES: dict[str, type] = dict.fromkeys(_NUMBERS, float) | {"identified": bool, "n": int, "samples": int, "lag": int}


def framed(rows: Sequence[tuple[Any, ...]], columns: Sequence[str]) -> pd.DataFrame:
    """A table whose columns have the same types, rows or not; context values keep theirs."""
    import pandas as pd

    found: dict[str, Any] = {}
    types = _TYPES if "cause" in columns else _TYPES | {"effect": float}  # beside a cause, the effect is a name
    for place, name in enumerate(columns):
        values = np.empty(len(rows), dtype=object)
        values[:] = [row[place] for row in rows]
        found[name] = values.astype(types[name]) if name in types else pd.Series(values, dtype=object)
    return frame_of(found, columns=list(columns))

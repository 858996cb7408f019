"""What of a table is searched: `--columns`, `--drop`, and `--context "VPD > 0.6"`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from causalcontext.data.indicators import Indicator, bins, threshold
from causalcontext.errors import DataError, OptionError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

_THRESHOLD = re.compile(r"(?P<column>.+?)\s*>\s*(?P<value>[-+0-9.eE]+)")
_BINS = re.compile(r"(?P<column>.+?)\s+bins\s+(?P<edges>.+)")


def parsed_context(texts: Sequence[str], names: Sequence[str]) -> list[str] | Indicator | None:
    """What `--context` says: columns of the table, or a threshold or bins of one.

    Examples
    --------
    >>> parsed_context(["soil"], ["soil", "VPD"])
    ['soil']
    >>> parsed_context(["VPD > 0.6"], ["VPD"]).name
    'VPD > 0.6'
    >>> parsed_context(["VPD bins 0.3, 0.6"], ["VPD"]).cuts, parsed_context(["VPD bins 4"], ["VPD"]).quantiles
    ((0.3, 0.6), 4)
    """
    made = [_made(text) for text in texts if text not in names]
    found = [indicator for indicator in made if indicator is not None]
    if not found:
        return list(texts) or None
    if len(texts) > 1:
        raise OptionError(f"context is {', '.join(texts)}, expected columns, or one threshold or bins by itself")
    if found[0].column not in names:
        raise DataError(f"the table has no column {found[0].column!r}{did_you_mean(found[0].column, names)}")
    return found[0]


class ColumnChoice(NamedTuple):
    """What of a table is asked for: a context in the words of the command line, columns to keep, columns to drop."""

    context: Sequence[str] = ()
    columns: Sequence[str] = ()
    drop: Sequence[str] = ()

    def applied(self, table: pd.DataFrame) -> tuple[pd.DataFrame, list[str] | Indicator | None]:
        """The columns of a table that are searched, those of the context among them, and the context."""
        names = [str(name) for name in table.columns]
        wanted, context = self.among(names)
        return table.loc[:, [name in wanted for name in names]], context

    def among(self, names: Sequence[str]) -> tuple[list[str], list[str] | Indicator | None]:
        """The same of the names of columns."""
        context = parsed_context(self.context, names)
        needed = [context.column] if isinstance(context, Indicator) else context or []
        kept, dropped = _listed(names, self.columns), _listed(names, self.drop)
        return [name for name in names if (not kept or name in {*kept, *needed}) and name not in dropped], context


def _listed(names: Sequence[str], texts: Sequence[str]) -> list[str]:
    """The columns that are listed: one in every text, or several with commas."""
    found = [part for text in texts for part in ([text] if text in names else _parts(text))]
    for name in found:
        if name not in names:
            raise DataError(f"the table has no column {name!r}{did_you_mean(name, names)}")
    return found


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _made(text: str) -> Indicator | None:
    """The context that a text makes out of a column; None if it is no such text."""
    if match := _BINS.fullmatch(text):
        edges = _parts(match["edges"])
        if len(edges) == 1 and edges[0].isdecimal():
            return bins(match["column"], quantiles=int(edges[0]))
        return bins(match["column"], [_number(edge) for edge in edges])
    if match := _THRESHOLD.fullmatch(text):
        return threshold(match["column"], _number(match["value"]))
    if any(sign in text for sign in "<>="):
        raise OptionError(f"context is {text!r}, expected a column, or 'X > 0.6', 'X bins 4' or 'X bins 0.3, 0.6'")
    return None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise OptionError(f"{text!r} in --context is no number") from error

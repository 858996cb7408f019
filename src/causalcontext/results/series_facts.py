"""What a result with lags knows besides its graphs: variables, windows, slopes, and who reads the context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from causalcontext.data.windows import WindowCounts
from causalcontext.graphs.lag_names import at
from causalcontext.views import Contexts

Copy = tuple[str, int | tuple[int, ...]] | None
"""The context and the lag of the copy that a variable reads; several lags where that is undecided, None for no copy."""


class SlopeRow(NamedTuple):
    """A slope of a target on a source in one context, in the units of the table.

    `slope` and `error` are those of the model, which may share a slope between contexts; 0 and NaN where the link is
    absent. `own`, `own_error` and `df` are of a regression inside the context alone, on the parents of all contexts.
    """

    source: str
    target: str
    context: Any
    present: bool
    slope: float
    error: float
    own: float
    own_error: float
    df: int


@dataclass(frozen=True)
class SeriesFacts:
    """What a result with lags knows besides graphs.

    Attributes
    ----------
    variables : tuple of str
        The columns, the context included, without covariates.
    lags : int
    covariates : tuple of str
    reads : mapping from variable to Copy
    windows : WindowCounts
    slopes : tuple of SlopeRow
    rise : float or None
        How much the score rises with more lags; positive values are an alarm.
    copies : tuple of int
        Of a search by tests, the lags of the copies of the context that choose rows.
    depth : int
        Of a search by tests, the longest lag that was conditioned on.
    """

    variables: tuple[str, ...]
    lags: int
    covariates: tuple[str, ...]
    reads: Mapping[str, Copy]
    windows: WindowCounts
    slopes: tuple[SlopeRow, ...] = ()
    rise: float | None = None
    copies: tuple[int, ...] = ()
    depth: int = 0

    def columns(self, names: Sequence[str]) -> tuple[str, ...]:
        """The nodes, then the past beyond the window that was conditioned on."""
        lags = range(self.lags + 1, self.depth + 1)
        return (*names, *(at(name, lag) for lag in lags for name in self.variables))

    def asked(self, cells: Contexts) -> Contexts:
        """The copies of the context that choose rows, among the nodes, and their values."""
        if not self.copies or not cells.positions:
            return cells
        step = len(self.variables)
        positions = tuple(cells.positions[0] - lag * step for lag in self.copies)
        return Contexts(positions, tuple(product(range(len(cells.cells)), repeat=len(positions))))

    def to_dict(self) -> dict[str, Any]:
        """The same as lists, numbers and text; null stands for not a number."""
        rows = [[None if value != value else value for value in row] for row in self.slopes]
        reads = {name: None if copy is None else list(copy) for name, copy in self.reads.items()}
        return {"variables": list(self.variables), "lags": self.lags, "covariates": list(self.covariates),
                "reads": reads, "windows": asdict(self.windows), "slopes": rows, "rise": self.rise,
                "copies": list(self.copies), "depth": self.depth}  # fmt: skip

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> SeriesFacts:
        """The facts of `to_dict`."""
        reads: dict[str, Copy] = {
            name: None if copy is None else (copy[0], tuple(copy[1]) if isinstance(copy[1], list) else copy[1])
            for name, copy in content["reads"].items()
        }
        rows = tuple(
            SlopeRow(*row[:4], *(np.nan if value is None else value for value in row[4:])) for row in content["slopes"]
        )
        return cls(tuple(content["variables"]), content["lags"], tuple(content["covariates"]), reads,
                   WindowCounts(**content["windows"]), rows, content["rise"], tuple(content.get("copies", ())),
                   content.get("depth", 0))  # fmt: skip

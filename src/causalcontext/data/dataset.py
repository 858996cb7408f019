"""A table as the rest of the library sees it: named columns of numbers or codes, and the context of every row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from causalcontext.data.kinds import Kind
from causalcontext.errors import DataError, did_you_mean


@dataclass(frozen=True, eq=False)
class Dataset:
    """Named columns, their kinds, and the context of every row.

    Attributes
    ----------
    names : tuple of str
        Every column in table order, the context included.
    kinds : tuple of Kind
        One for every column.
    columns : tuple of arrays, each of shape (rows,)
        Numeric, in their own dtype, sharing memory with the table where that is possible; codes of categorical and
        ordered columns; missing values are NaN. The context column holds `codes`.
    dtypes : tuple of str
        What the table said about every column.
    context : int or None
        Position of the context column in `names`; None for a plain search without contexts.
    levels : tuple
        The context's values with their own Python types, sorted, or in the order of a categorical column.
        `("all",)` without a context.
    codes : array of int32, shape (rows,)
        Position in `levels` for every row; -1 where the context is missing.
    categories : mapping from position to tuple
        What the codes of categorical and ordered system variables stand for.
    """

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    columns: tuple[NDArray[Any], ...]
    dtypes: tuple[str, ...]
    context: int | None
    levels: tuple[Any, ...]
    codes: NDArray[np.int32]
    categories: Mapping[int, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """The rows of the table, incomplete ones included."""
        return len(self.codes)

    @property
    def system(self) -> tuple[int, ...]:
        """Positions of the system variables: every column but the context."""
        return tuple(position for position in range(len(self.names)) if position != self.context)

    @property
    def context_name(self) -> str | None:
        """The name of the context column, or None without one."""
        return None if self.context is None else self.names[self.context]

    @property
    def all_continuous(self) -> bool:
        """Whether every system variable is continuous."""
        return all(self.kinds[position] is Kind.CONTINUOUS for position in self.system)

    def position(self, name: str) -> int:
        """The place of a column in `names`."""
        if name not in self.names:
            raise DataError(f"the table has no column {name!r}{did_you_mean(name, self.names)}")
        return self.names.index(name)

    def kinds_table(self) -> pd.DataFrame:
        """What was inferred: one row for every column with its dtype, its kind and its role."""
        roles = ["context" if position == self.context else "system" for position in range(len(self.names))]
        kinds = [kind.value for kind in self.kinds]
        return pd.DataFrame({"column": self.names, "dtype": self.dtypes, "kind": kinds, "role": roles})

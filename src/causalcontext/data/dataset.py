"""A table as the rest of the library sees it: named columns of numbers or codes, and the context of every row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from causalcontext.data.frames import frame_of
from causalcontext.data.kinds import Kind
from causalcontext.errors import DataError, did_you_mean
from causalcontext.kernels.arrays import Codes, Values
from causalcontext.views import Contexts

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Dataset:
    """Named columns, their kinds, and the context of every row.

    Attributes
    ----------
    names : tuple of str
        Every column in table order, context variables included.
    kinds : tuple of Kind
        One for every column.
    columns : tuple of arrays, each of shape (rows,)
        Numeric, in their own dtype, sharing memory with the table where that is possible; codes of categorical and
        ordered columns; missing values are NaN. A context variable holds codes of its levels, -1 where it is missing.
    dtypes : tuple of str
        What the table said about every column.
    contexts : Contexts
        Which columns are context variables, and the combinations of their levels that occur.
    levels : tuple of tuples
        The values of every context variable with their own Python types, sorted, or in the order of a categorical
        column.
    codes : array of int32, shape (rows,)
        The cell of every row among `contexts.cells`; -1 where a context variable is missing.
    categories : mapping from position to tuple
        What the codes of categorical and ordered system variables stand for.
    """

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    columns: tuple[Values, ...]
    dtypes: tuple[str, ...]
    contexts: Contexts
    levels: tuple[tuple[Any, ...], ...]
    codes: Codes
    categories: Mapping[int, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """The rows of the table, incomplete ones included."""
        return len(self.codes)

    @cached_property
    def system(self) -> tuple[int, ...]:
        """Positions of the system variables: every column but the context variables."""
        return tuple(position for position in range(len(self.names)) if position not in self.contexts.positions)

    @property
    def context(self) -> int | None:
        """The position of the context variable where there is just one."""
        return self.contexts.positions[0] if len(self.contexts.positions) == 1 else None

    @property
    def context_name(self) -> str | None:
        """The names of the context variables, or None without any."""
        return ", ".join(self.names[position] for position in self.contexts.positions) or None

    @property
    def values(self) -> tuple[Any, ...]:
        """What the cells are called: the value of the context, of several a tuple of values, without any "all"."""
        return cell_values(self.contexts, self.levels)

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
        roles = ["context" if i in self.contexts.positions else "system" for i in range(len(self.names))]
        kinds = [kind.value for kind in self.kinds]
        return frame_of({"column": self.names, "dtype": self.dtypes, "kind": kinds, "role": roles})


def cell_values(contexts: Contexts, levels: tuple[tuple[Any, ...], ...]) -> tuple[Any, ...]:
    """What cells are called.

    Examples
    --------
    >>> cell_values(Contexts((2,), ((0,), (1,))), (("dry", "wet"),))
    ('dry', 'wet')
    >>> cell_values(Contexts(), ())
    ('all',)
    """
    if not contexts.positions:
        return ("all",)
    named = (tuple(levels[j][code] for j, code in enumerate(cell)) for cell in contexts.cells)
    return tuple(values[0] if len(values) == 1 else values for values in named)

"""What can be said about a table without a search: kinds, rows, and everything that stands in the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import narwhals as nw
import numpy as np

from causalcontext.data.checks import check_missing_option, check_statistics
from causalcontext.data.dataset import Dataset
from causalcontext.data.indicators import Indicator
from causalcontext.data.kinds import Column, Kind, declared_kinds
from causalcontext.data.sufficient_statistics import SufficientStatistics, gather_statistics
from causalcontext.data.tables import context_places
from causalcontext.diagnostics.inspection.dependences import Dependence, linear_dependences
from causalcontext.diagnostics.inspection.readings import (
    ContextReading,
    SystemReading,
    combined,
    made_context,
    read_context,
    read_system,
    unread_system,
    usable_part,
)
from causalcontext.errors import DataError, did_you_mean, listed
from causalcontext.kernels.arrays import Bools, Values
from causalcontext.kernels.limits import SMALLEST_SCATTER, SPARE_ROWS

if TYPE_CHECKING:
    import pandas as pd

AnyContext = str | Sequence[str] | Indicator | None
LOOK = 10_000
"""Rows that are looked at first."""
LARGE_SET = 10
"""Larger conditioning sets hardly occur; a context that can test sets of this size is large enough."""


@dataclass(frozen=True, eq=False)
class Inspection:
    """A table, looked at from all sides.

    Attributes
    ----------
    context : ContextReading
    system : tuple of SystemReading
    statistics : SufficientStatistics or None
        Counts and moments of the columns that can be used; None if there are none.
    rows : tuple of int
        Rows of every context, incomplete ones included.
    dependences : tuple of Dependence
    problems : tuple of str
        What `discover` refuses, one sentence each.
    notes : tuple of str
        What it cannot test, or would be misled by, one sentence each.
    advice : tuple of str
        Which method and test suit the table, one sentence each.
    """

    context: ContextReading
    system: tuple[SystemReading, ...]
    statistics: SufficientStatistics | None
    rows: tuple[int, ...]
    dependences: tuple[Dependence, ...]
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    advice: tuple[str, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether `discover` takes the table."""
        return not self.problems

    def __str__(self) -> str:
        rows = ", ".join(f"{level_text(level)}: {n:,}" for level, n in zip(self.context.levels, self.rows, strict=True))
        kinds = ", ".join(f"{reading.name} ({reading.kind})" for reading in self.system)
        lines = [f"rows: {rows}", f"columns: {kinds}"]
        for name, texts in (("problems", self.problems), ("notes", self.notes), ("advice", self.advice)):
            lines += [f"{name} ({len(texts)})", *(f"  {text}" for text in texts)] if texts else []
        return "\n".join([*lines, "usable" if self.usable else "not usable: discover refuses this table"])


def inspect(
    table: pd.DataFrame, context: AnyContext, kinds: Mapping[str, str] | None = None, missing: str = "raise"
) -> Inspection:
    """Everything that `discover` would refuse or could not test, found without a search.

    Raises
    ------
    CausalContextError
        The context or a column of `kinds` is not in the table, or an option means nothing.

    Examples
    --------
    >>> import pandas as pd
    >>> import pandas as pd
    >>> table = pd.DataFrame({"X": [1.0, None, 3.0, 4.0], "Y": list("abca"), "R": [0, 0, 1, 1]})
    >>> for problem in inspect(table, context="R").problems:
    ...     print(problem[:51])
    column 'Y' has 3 levels in 4 rows, which looks like
    1 missing value in X; fill in, or use --missing lis
    """
    check_missing_option(missing)
    columns = {series.name: Column(series.name, series.dtype, series) for series in _series(table)}
    declared = declared_kinds(kinds, list(columns))
    made = context if isinstance(context, Indicator) else None
    if made is not None and made.column not in columns:
        raise DataError(f"the table has no column {made.column!r}{did_you_mean(made.column, columns)}")
    names = tuple(columns)
    at = [columns.pop(names[place]) for place in context_places(None if made else context, names)]
    read = read_system if len(table) else unread_system
    system = tuple(read(column, declared.get(name)) for name, column in columns.items())
    if made is not None:
        return _looked_into(made_context(made, system, len(table)), system, missing)
    readings = [read_context(column, declared.get(column.name), len(table)) for column in at]
    if len(readings) > 1:
        return _looked_into(combined(readings, len(table)), system, missing)
    return _looked_into(readings[0] if readings else read_context(None, None, len(table)), system, missing)


def level_text(level: object) -> str:
    """The value of a context, `(dry, north)` of several."""
    return f"({', '.join(map(str, level))})" if isinstance(level, tuple) else str(level)


def largest_set(rows: int) -> int:
    """How many variables a test inside a context of so many rows can condition on; negative if it cannot be run."""
    return rows - 2 - SPARE_ROWS


def largest_context_set(rows: int) -> int:
    """How many variables a test of the context can condition on before it leaves out a context of so many rows."""
    return rows - 1 - SPARE_ROWS


def constant_levels(statistics: SufficientStatistics, column: int) -> list[int]:
    """The contexts with several complete rows among which the column does not vary."""
    return [int(level) for level in np.flatnonzero(statistics.constant[:, column] & (statistics.moments.rows > 1))]


def _series(table: pd.DataFrame) -> Iterator[nw.Series[pd.Series]]:
    yield from nw.from_native(table, eager_only=True).iter_columns()


def _looked_into(context: ContextReading, system: tuple[SystemReading, ...], missing: str) -> Inspection:
    """The inspection, once every column has been read."""
    data = usable_part(context, system)
    statistics = gather_statistics(data, missing) if data.system and data.n_rows else None
    dependences = () if statistics is None else linear_dependences(statistics)
    parts = [part.problem for part in context.parts]
    problems = [context.problem, *parts, *(reading.problem for reading in system), *_shape_problems(context, system)]
    if statistics is not None:
        problems += _value_problems(statistics, data, missing)
    problems = [problem for problem in problems if problem]
    if not problems and statistics is not None:
        problems = _refusal(statistics, data, missing)
    notes = (
        ()
        if statistics is None
        else (
            *_two_numbers(system),
            *_few_rows(context, statistics),
            *_constant(context, statistics),
            *_dependent(context, dependences),
        )
    )
    rows = np.bincount(context.codes[context.codes >= 0], minlength=len(context.levels))
    return Inspection(context, system, statistics, tuple(rows.tolist()), dependences, tuple(problems), notes)


def _shape_problems(context: ContextReading, system: tuple[SystemReading, ...]) -> Iterator[str]:
    if len(context.codes) == 0:
        yield "the table has no rows"
    if len(system) < 2:
        besides = "" if context.name is None else f" besides the context {context.name!r}"
        yield f"the table has {_count(len(system), 'column')}{besides}; at least 2 are needed"


def _value_problems(statistics: SufficientStatistics, data: Dataset, missing: str) -> Iterator[str]:
    """Missing and infinite values, and columns that do not vary."""
    names = np.array(statistics.names, dtype=object)
    holes, total = (
        names[statistics.missing.any(axis=0)].tolist(),
        int(statistics.missing.sum()) + statistics.missing_context,
    )
    if total and missing == "raise":
        where = [data.context_name, *holes] if statistics.missing_context else holes
        dropped = int(statistics.lost.sum()) + statistics.missing_context
        yield (
            f"{_count(total, 'missing value')} in {listed(where)}; fill in, or use --missing listwise to drop "
            f"{dropped} of {data.n_rows} rows"
        )
    if statistics.infinite.any():
        where = names[statistics.infinite.any(axis=0)].tolist()
        found = _count(int(statistics.infinite.sum()), "infinite value")
        yield f"{found} in {listed(where)}; replace, or drop the rows"
    fixed = names[_constant_everywhere(statistics)].tolist()
    if fixed:
        yield f"the same value in all complete rows of {listed(fixed)}; drop constant columns"


def _constant_everywhere(statistics: SufficientStatistics) -> Bools:
    whole = statistics.moments.merged()
    constant: Bools = np.diagonal(whole.scatter[0]) < SMALLEST_SCATTER
    return constant if whole.rows[0] > 1 else np.zeros_like(constant)


def _refusal(statistics: SufficientStatistics, data: Dataset, missing: str) -> list[str]:
    """What else the library refuses, in its own words."""
    try:
        check_statistics(statistics, data, missing)
    except DataError as error:
        return [str(error)]
    return []


def _two_numbers(system: tuple[SystemReading, ...]) -> Iterator[str]:
    """Columns of two different numbers, which are often labels."""
    for reading in system:
        if reading.kind == Kind.CONTINUOUS and _different(reading.values, LOOK) == 2 == _different(reading.values):
            name = reading.name
            yield f"{name} holds two different numbers; if they are labels: --kind {name}=categorical"


def _different(values: Values | None, rows: int | None = None) -> int:
    """How many different numbers there are in the first rows, or in all."""
    if values is None:
        return 0
    numbers = np.asarray(values[:rows], dtype=np.float64)
    return int(np.unique(numbers[np.isfinite(numbers)]).size)


def _few_rows(context: ContextReading, statistics: SufficientStatistics) -> Iterator[str]:
    """Contexts (or a whole table) in which tests with larger sets cannot be run."""
    enough = min(LARGE_SET, len(statistics.names) - 2)
    for level, n in zip(statistics.values, statistics.moments.rows.tolist(), strict=True):
        if largest_set(n) >= enough:
            continue
        where = f"{context.name} = {level_text(level)}" if context.splits else "the table"
        left_out = _left_out(context, n) if context.splits and largest_context_set(n) < enough else ""
        yield f"{where} has {_count(n, 'complete row')}: {_limit_inside(n)}{left_out}"


def _limit_inside(n: int) -> str:
    if largest_set(n) < 0:
        return "no test can be run inside it"
    return f"tests inside it can condition on {_count(largest_set(n), 'variable')} at most"


def _left_out(context: ContextReading, n: int) -> str:
    beyond = "" if largest_context_set(n) < 0 else f" given more than {_count(largest_context_set(n), 'variable')}"
    return f", tests of {context.name}{beyond} leave it out"


def _constant(context: ContextReading, statistics: SufficientStatistics) -> Iterator[str]:
    everywhere = _constant_everywhere(statistics)
    for column, name in enumerate(statistics.names):
        levels = constant_levels(statistics, column)
        if context.splits and levels and not everywhere[column]:
            where = listed([level_text(statistics.values[level]) for level in levels])
            yield f"{name} is constant where {context.name} = {where}: it cannot be tested there"


def _dependent(context: ContextReading, dependences: tuple[Dependence, ...]) -> Iterator[str]:
    for found in dependences:
        where = "" if found.everywhere else f" where {context.name} = {level_text(found.level)}"
        yield (f"{found.column} is a linear function of {listed(found.of)}{where}: links among "
               "them cannot be told apart, and given these it cannot be tested")  # fmt: skip


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"

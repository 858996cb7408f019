"""By which columns do mechanisms change? `cc.find_contexts`, for who suspects a context and has no
name for it.

Every column is asked in turn: categories, and numbers of few values, as they are, other numbers by
their best cut. The one with the most evidence is taken; the table is searched again with it, which
may direct links otherwise, what it changes is offered to every model, and the others are asked
again: columns that go along with a context look like contexts themselves until it is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from inspect import Parameter
from math import log
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from causalcontext.data.columns import number_text
from causalcontext.data.frames import frame_of, pd
from causalcontext.data.indicators import Indicator, threshold
from causalcontext.data.scan import Scan
from causalcontext.data.streams import is_out_of_memory
from causalcontext.diagnostics.best_cut import asked_responses, cut_of, profile_of, searched_rows
from causalcontext.diagnostics.settings import CONTEXT_DEMAND, MOST_SUGGESTED_CONTEXTS
from causalcontext.discover import discover
from causalcontext.errors import OptionError, check_whole
from causalcontext.graphs.lag_names import at
from causalcontext.kernels.arrays import Floats
from causalcontext.methods.method_object import default_of
from causalcontext.methods.registry import METHOD_OPTIONS, METHODS
from causalcontext.options import Keywords, Options, options_of, with_parameters
from causalcontext.reading.scans import scanned_once
from causalcontext.results.cut import CUT
from causalcontext.results.empty import because
from causalcontext.score.changing import Table
from causalcontext.score.cuts import CutResponse, beside, grid_of, group_gains

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

COLUMNS = ("column", "kind", "cut", "low", "high", "evidence", "required", "changed", "call")
NONE_FOUND = "no column was found by which mechanisms change"
"""The reason why there is no suggestion."""
UNUSED = (
    "method",
    "alpha",
    "device",
    *(name for name in METHOD_OPTIONS if name not in METHODS["score-ac"].options),
)
"""The options of `discover` that a search by scores does not use."""
ENTRIES = {
    entry.name: entry
    for entry in (*fields(Options), *fields(METHODS["score-ac"].kind))  # type: ignore[arg-type]
    if entry.name not in UNUSED
}
"""The options that `find_contexts` takes."""
PARAMETERS = tuple(
    Parameter(name, Parameter.KEYWORD_ONLY, default=default_of(entry), annotation=entry.type)
    for name, entry in ENTRIES.items()
)


@dataclass(frozen=True, eq=False)
class Suggestion:
    """A column by which mechanisms change, with its evidence and what was required (nats).

    A number has a cut (`value`) and its 95 % interval, a category has none.
    """

    column: str
    value: float | None  # the cut of a number
    low: float | None
    high: float | None
    evidence: float
    required: float
    changed: tuple[str, ...]

    @property
    def context(self) -> str | Indicator:
        """The value to pass as the context."""
        return self.column if self.value is None else threshold(self.column, self.value)

    @property
    def written(self) -> str:
        """The same in Python."""
        return (
            repr(self.column)
            if self.value is None
            else f"cc.threshold({self.column!r}, {number_text(self.value)})"
        )


def find_contexts(
    table: Any,
    *,
    names: Sequence[str] | None = None,
    most: int = MOST_SUGGESTED_CONTEXTS,
    **options: Unpack[Keywords],
) -> pd.DataFrame:
    """The columns by which mechanisms change, the one with the most evidence first; without rows if
    there is none.

    Parameters
    ----------
    table : what `discover` takes
    names : sequence of str, optional
        Column names of an array.
    most : int
        How many columns are suggested at most.
    **options
        Those of `discover` with method "score-ac": `knowledge`, `kinds`, `missing`, `na_values`,
        `seed`, `time_limit`, and so on. With `lags`, `time`, `units`, `step`, `covariates` and so
        on rows follow each other in time, and mechanisms may change with a column or with its past.

    Returns
    -------
    DataFrame
        `column`; `kind`, "category" or "cut"; `cut` with its 95 % interval `low` to `high`;
        `evidence`, by how many nats the log score with the change exceeds that without it, or with
        a smooth change; what is `required`; the variables whose mechanism is `changed`; the `call`
        to make next, with the columns above it.

    Examples
    --------
    >>> import causalcontext as cc
    >>> found = cc.find_contexts(cc.examples.soil_moisture(2000, seed=1))
    >>> found["column"].tolist()
    ['soil']
    """
    check_whole("most", most, 1)
    if "context" in options:
        raise OptionError(
            "find_contexts has no option 'context': it looks for contexts; leave context out"
        )
    for name in options:
        if name in UNUSED:
            raise OptionError(
                f"find_contexts has no option {name!r}: it searches by scores; leave {name} out"
            )
    if options.get("missing") == "testwise" and options.get("lags") is None:
        raise OptionError(
            "missing is 'testwise', which is for methods that test, and find_contexts searches by "
            "scores; pass missing='model' or missing='listwise'"
        )
    options_of({**options, "method": "score-ac"}, "find_contexts")
    if is_out_of_memory(table) and options.get("lags") is None:
        table = scanned_once(
            table, None, options_of({**options, "method": "score-ac"}, "find_contexts"), False
        )
    if isinstance(table, Scan):
        # models rest on the sample, which is searched once for every context that is added
        if options.get("lags") is not None:
            raise OptionError(
                "find_contexts with lags needs the files themselves, not what cc.scan kept of them;"
                " pass the path"
            )
        table = table.sample_as_table()
    suggestions = suggested(table, most, {**options, "names": names, "method": "score-ac"})
    given = named_options(options).items()
    asked = "".join(
        f", {name}={name if name == 'knowledge' else repr(value)}" for name, value in given
    )
    rows = []
    for number, suggestion in enumerate(suggestions):
        contexts = [other.written for other in suggestions[: number + 1]]
        context = contexts[0] if number == 0 else f"[{', '.join(contexts)}]"
        rows.append(
            (
                suggestion.column,
                "category" if suggestion.value is None else CUT,
                suggestion.value,
                suggestion.low,
                suggestion.high,
                suggestion.evidence,
                suggestion.required,
                suggestion.changed,
                f"cc.discover(table, {context}{asked})",
            )
        )
    return because(frame_of(rows, columns=list(COLUMNS)), NONE_FOUND)


with_parameters(find_contexts, PARAMETERS)


def named_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that are not as by default."""
    default = {name: default_of(entry) for name, entry in ENTRIES.items()}
    return {
        name: value
        for name, value in options.items()
        if value != default.get(name) and value not in (None, {})
    }


def suggested(table: Any, most: int, options: Mapping[str, Any]) -> list[Suggestion]:
    """The columns by which mechanisms change, one after the other.

    In each turn the column with the most evidence beyond what is required joins, the table is
    searched again with it as a context, and its evidence is asked once more: only that search knows
    which mechanisms it changes. It ends when no column has enough.
    """
    result = discover(table, None, **options)
    suggestions = list[Suggestion]()
    while len(suggestions) < most:
        columns = result.names if result.series is None else result.series.variables
        left = [
            name
            for name in columns
            if name not in {*(suggestion.column for suggestion in suggestions), *result.made_of}
        ]
        asked = [
            suggestion
            for name in left
            if (suggestion := _asked(result, name, suggestions, len(left))) is not None
        ]
        best = max(
            asked, key=lambda suggestion: suggestion.evidence - suggestion.required, default=None
        )
        if best is None or best.evidence <= best.required:
            break
        result = discover(
            table, [*(suggestion.context for suggestion in suggestions), best.context], **options
        )
        again = _asked(result, best.column, suggestions, len(asked))
        # what changes is told by the search that knows the context, unless it does not see the
        # change any more
        suggestions.append(best if again is None or again.evidence < best.evidence else again)
    return suggestions


def _asked(
    result: ContextGraphs, name: str, known: Sequence[Suggestion], columns: int
) -> Suggestion | None:
    """The changes with a column beside those that are known; None if nothing may change with it.

    The requirement is `CONTEXT_DEMAND` log n plus the log of the number of columns that are asked.
    """
    table = Table(
        searched_rows(result),
        ranks=result.evidence is not None and result.evidence.transform == "ranks",
    )
    responses = [
        [_beside(table, result, response, known) for response in copies]
        for copies in asked_responses(result, table, name)
    ]
    position = table.data.position(name)
    if not responses:
        return None
    required = CONTEXT_DEMAND * log(len(table.rows)) + log(columns)
    if table.in_groups(position):
        gains = group_gains(responses)
        price = log(len(table.rows))
        changed = tuple(
            response[0].name
            for response, gain in zip(responses, gains, strict=True)
            if gain > price
        )
        return Suggestion(name, None, None, None, float(gains.sum()) - price, required, changed)
    values = table.values(position)
    if not grid_of(values).size:
        return None
    cut = cut_of(name, profile_of(responses, values), values)
    return Suggestion(name, cut.value, cut.low, cut.high, cut.evidence, required, cut.changed)


def _beside(
    table: Table, result: ContextGraphs, response: CutResponse, known: Sequence[Suggestion]
) -> CutResponse:
    """A response to which what known columns change is offered in every model."""
    lags = (0,) if result.windowed is None else result.windowed.options.context_lags
    for other in known:
        for lag in lags:
            position = table.data.names.index(at(other.column, lag))
            if position == table.data.position(response.name):
                continue
            groups: list[Floats] = table.levels(position)
            if other.value is not None:
                groups = [np.asarray(table.values(position) > other.value, dtype=np.float64)]
            response = beside(response, groups)
    return response

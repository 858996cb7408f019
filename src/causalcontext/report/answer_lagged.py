"""What differs between the contexts of a result with lags, for the first card of a report."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from causalcontext.drawing.names import printable, shortened
from causalcontext.graphs.lag_names import at
from causalcontext.results.series import series_of

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

TWO_SIDED_95 = 1.96
LONGEST = 40


class LaggedStory(NamedTuple):
    """One link that differs between two contexts, in words."""

    sentence: str
    claimed: bool


def lagged_stories(result: ContextGraphs) -> list[LaggedStory]:
    """Every link that differs between two contexts, those that may be claimed first."""
    errors = {(row.source, row.target, row.context): row.own_error for row in series_of(result).slopes}
    found = [
        _story(row, first, second, errors)
        for first, second in combinations(result.contexts, 2)
        for row in result.changes(first, second).to_dict("records")
    ]
    return sorted(found, key=lambda story: not story.claimed)


def _story(row: dict[Any, Any], first: Any, second: Any, errors: dict[tuple[str, str, Any], float]) -> LaggedStory:
    source = at(row["source"], row["lag"])
    link = f"{_shown(source)} --> {_shown(row['target'])}"
    slopes = ", ".join(_slopes(row, source, (first, second), errors))
    what = {"link": f"is found in {_shown(str(row['present'][0]))} only", "sign": "turns its sign",
            "size": "changes its slope"}[row["kind"]]  # fmt: skip
    reads = row["reads"]
    copy = "" if not isinstance(reads, tuple) or reads[1] == 0 else f" ({_copy(reads)})"
    verdict = "The difference may be claimed." if row["claimed"] else "No claim: the slopes do not differ clearly."
    return LaggedStory(f"{link} {what}{copy}: its slope is {slopes}. {verdict}", bool(row["claimed"]))


def _slopes(row: dict[Any, Any], source: str, values: tuple[Any, Any], errors: dict[tuple[str, str, Any], float]
            ) -> Iterator[str]:  # fmt: skip
    import pandas as pd

    for value, slope in zip(values, (row["slope_first"], row["slope_second"]), strict=True):
        reach = TWO_SIDED_95 * errors.get((source, row["target"], value), float("nan"))
        around = "" if pd.isna(reach) else f" ({slope - reach:.2g} to {slope + reach:.2g})"
        yield f"{slope:.2g}{around} in {_shown(str(value))}"


def _copy(reads: tuple[str, Any]) -> str:
    lags = reads[1] if isinstance(reads[1], tuple) else (reads[1],)
    return "by the value of " + " or ".join(_shown(at(reads[0], lag)) for lag in lags)


def _shown(text: str) -> str:
    return shortened(printable(text), LONGEST)

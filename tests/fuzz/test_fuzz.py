"""A short, fixed run of the fuzzer; `make fuzz` runs it for minutes, from any seed."""

from __future__ import annotations

import pytest
from fuzzer import CHANGES, KINDS, chosen_kind, run_case

from marks import rest_slow


@pytest.mark.parametrize("first", rest_slow(range(0, 160, 10)))
def test_a_few_cases(first: int) -> None:
    for number in range(first, first + 10):
        kind, outcome = run_case(number)
        assert not outcome.startswith("FAILED"), f"case {number} ({kind}): {outcome}"


def test_the_fixed_run_has_every_kind_of_case() -> None:
    kinds = {chosen_kind(number)[0] for number in range(160)}
    assert kinds == {kind for kind, _ in KINDS}
    assert set(CHANGES) == {
        "columns",
        "rows",
        "names",
        "labels",
        "units",
        "library",
        "threads",
        "files",
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "number",
    [
        1000037,
        1000352,
        1000528,
        1000602,
        5000106,
        201000288,
        301000020,
        7101000428,
        7103000396,
        9101000258,
        9201000053,
        9301000009,
        9503000973,
        9503001226,
        9701000075,
        9701001431,
        9702000893,
        9702001251,
        9704000058,
    ],
)
def test_cases_that_failed_once(number: int) -> None:
    """Nothing is left of a mechanism; no level has rows enough; an ordered column beside normal
    scores; labels wider than their panel; copies of a column; an open graph that no directed one
    extends, with too many edges to list; a conditioning set beyond any integer; hidden processes in
    16 contexts; no complete row for an effect; hidden processes behind ten dense columns, twice;
    the share of a curve without an error; a hurdle beside curves; wrong cells where all numbers are
    givens."""
    kind, outcome = run_case(number)
    assert not outcome.startswith("FAILED"), f"case {number} ({kind}): {outcome}"

"""A short, fixed run of the fuzzer; `make fuzz` runs it for minutes, from any seed."""

from __future__ import annotations

import pytest
from fuzzer import CHANGES, run_case


@pytest.mark.parametrize("first", range(0, 160, 20))
def test_a_few_cases(first: int) -> None:
    for number in range(first, first + 20):
        kind, outcome = run_case(number)
        assert not outcome.startswith("FAILED"), f"case {number} ({kind}): {outcome}"


def test_the_fixed_run_has_every_kind_of_case() -> None:
    """Whatever else changes, the numbers of the cases keep their meaning: 2273 was a seed below 0."""
    assert run_case(2273) == ("any_table", "refused")
    assert set(CHANGES) == {"columns", "rows", "names", "labels", "units", "library", "threads", "files"}

"""Shared trends and cycles of series: a naive twin, their level on clean series and their power."""

import numpy as np
import pandas as pd
import pytest
import scipy

import causalcontext as cc
from causalcontext.diagnostics.shared_time import (
    CYCLE_STEP,
    FEWEST_CYCLES,
    cycles,
    regressions,
    shared_time,
    trends,
)

DAY = 24


def series(seed, rows=400, memory=0.6, trend=0.0, cycle=0.0):
    """Three numbers with memory, A --> B; a trend and a cycle, in units of their noise, drive A and
    C.
    """
    random = np.random.default_rng(seed)
    noise, found, time = random.normal(size=(rows, 3)), np.zeros((rows, 3)), np.arange(rows)
    for column, shift in ((0, 0.0), (2, 1.0)):
        noise[:, column] += trend * np.linspace(-1, 1, rows) + cycle * np.sin(
            2 * np.pi * time / DAY + shift
        )
    for t in range(1, rows):
        a, b, c = found[t - 1]
        found[t] = (
            memory * a + noise[t, 0],
            memory * b + 0.4 * a + noise[t, 1],
            memory * c + noise[t, 2],
        )
    return pd.DataFrame(found, columns=list("ABC")).assign(hour=time)


def searched(table, **options):
    return cc.discover(table, lags=2, time="hour", method="pc-p", max_given=0, **options)


def found_in(table, **options):
    return list(shared_time(searched(table, **options)))


def p_of_two_regressions(number, fewer, more):
    """The F-test of what the larger regression has more than the smaller one."""
    left = [number - x @ np.linalg.lstsq(x, number, rcond=None)[0] for x in (fewer, more)]
    sums, extra, freedom = (
        [(one**2).sum() for one in left],
        more.shape[1] - fewer.shape[1],
        len(number) - more.shape[1],
    )
    return scipy.stats.f.sf((sums[0] - sums[1]) / extra / (sums[1] / freedom), extra, freedom)


def test_p_values_are_those_of_two_regressions():
    asked = regressions(searched(series(1, 200, cycle=0.3)).windowed)
    rows = len(asked.numbers)
    line = np.linspace(-1, 1, rows)
    with_line = np.column_stack([asked.past, line])
    expected = [p_of_two_regressions(number, asked.past, with_line) for number in asked.numbers.T]
    assert trends(asked) == pytest.approx(expected, rel=1e-6)
    counts = np.arange(FEWEST_CYCLES, (rows - 1) / 2, CYCLE_STEP)
    angles = [2 * np.pi * np.arange(rows) * k / rows for k in counts]
    every = [
        [
            p_of_two_regressions(
                number, with_line, np.column_stack([with_line, np.sin(a), np.cos(a)])
            )
            for a in angles
        ]
        for number in asked.numbers.T
    ]
    p, count = cycles(asked)
    assert p == pytest.approx([min(1.0, min(some) * len(angles)) for some in every], rel=1e-6)
    assert count.tolist() == [counts[int(np.argmin(some))] for some in every]


def test_a_shared_cycle_is_named_and_a_covariate_ends_it():
    table = series(2, cycle=1.5)
    (finding,) = found_in(table)
    assert "A and C share a cycle of about" in finding.message
    assert finding.evidence["period"] == pytest.approx(DAY, rel=0.05)
    assert "cc.cycle" in finding.advice
    assert not found_in(table, covariates=[cc.cycle("hour", DAY)])
    assert not found_in(table.head(386), covariates=[cc.cycle("hour", DAY)])  # 16 times
    assert searched(table).diagnose().about("shared time")


def test_a_shared_trend_is_named():
    (finding,) = found_in(series(3, trend=2.0))
    assert "A and C share a trend over time" in finding.message


def test_a_trend_of_one_column_misleads_nobody():
    table = series(4)
    table["C"] += 3.0 * np.linspace(-1, 1, len(table))
    assert not found_in(table)


def test_panels_and_short_series_are_left_alone():
    table = series(5, cycle=2.0)
    assert not found_in(table.head(60))
    assert not found_in(pd.concat([table.assign(unit=unit) for unit in (0, 1)]), units="unit")


@pytest.mark.slow
@pytest.mark.parametrize("memory", [0.3, 0.9])
def test_level_and_power(memory):
    """Clean series have findings at most once in twenty, clear trends and cycles nearly always."""
    clean = sum(bool(found_in(series([seed, 9], memory=memory))) for seed in range(100))
    cycle, trend = (
        sum(bool(found_in(series([seed, 10], memory=memory, **{what: 1.5}))) for seed in range(30))
        for what in ("cycle", "trend")
    )
    assert clean <= 5
    assert cycle >= 24
    assert memory > 0.5 or trend >= 24

import numpy as np
import pytest
from scipy import special, stats

from causalcontext._kernels import (
    chi2_upper,
    correlation_two_sided,
    digamma,
    f_upper,
    normal_two_sided,
)


@pytest.mark.parametrize("df", [1, 2, 5, 8, 40, 500, 30_000, 2_000_000])
def test_student_tail_is_scipys(df):
    for t in [1e-8, 0.01, 0.5, 1.0, 1.9, 2.5, 6.0, 30.0]:
        squared = t * t / (df + t * t)
        assert correlation_two_sided(squared, df) == pytest.approx(
            2 * stats.t.sf(t, df), rel=1e-8, abs=1e-300
        )


def test_student_tail_at_the_ends():
    assert correlation_two_sided(0.0, 10.0) == 1.0
    assert correlation_two_sided(1.0, 10.0) == 0.0


@pytest.mark.parametrize("df", [1, 2, 3, 7, 20, 150, 1000])
def test_chi2_tail_is_scipys(df):
    for x in [1e-9, 0.3, 1.0, 0.9 * df, df, 1.1 * df + 3, 5 * df + 20]:
        assert chi2_upper(x, df) == pytest.approx(stats.chi2.sf(x, df), rel=1e-9, abs=1e-300)
    assert chi2_upper(0.0, df) == 1.0


def test_normal_tail_is_scipys():
    for z in np.linspace(-8, 8, 33):
        assert normal_two_sided(z) == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-12)


@pytest.mark.parametrize(
    ("df", "df_left"), [(1, 1), (1, 30), (2, 7), (12, 500), (40, 20), (5, 2_000_000)]
)
def test_f_tail_is_scipys(df, df_left):
    for f in [1e-8, 0.1, 0.5, 1.0, 1.7, 4.0, 50.0]:
        assert f_upper(f * df, df_left, df, df_left) == pytest.approx(
            stats.f.sf(f, df, df_left), rel=1e-7, abs=1e-300
        )
    assert f_upper(0.0, 1.0, df, df_left) == 1.0
    assert f_upper(1.0, 0.0, df, df_left) == 0.0


def test_digamma_is_scipys():
    for x in [0.5, 1.0, 2.5, 9.9, 10.0, 77.5, 1e6]:
        assert digamma(x) == pytest.approx(special.digamma(x), rel=1e-12)

"""Tail probabilities (to about ten digits) and logistic functions for compiled code, which cannot
call scipy's.
"""

from __future__ import annotations

import math

from causalcontext.kernels.compiling import kernel

_TINY = 1e-300
_PRECISION = 1e-15
_MOST_TERMS = 20_000


@kernel
def normal_two_sided(z: float) -> float:
    """P(|Z| > |z|) of a standard normal Z."""
    return math.erfc(abs(z) / math.sqrt(2.0))


@kernel
def correlation_two_sided(squared: float, df: float) -> float:
    """P(|T| > |t|) of Student's T with t = r sqrt(df / (1 - r²)), written in r² so that nothing
    cancels.
    """
    if squared >= 1.0:
        return 0.0
    a = 0.5 * df
    b = 0.5
    front = math.exp(
        math.lgamma(a + b)
        - math.lgamma(a)
        - math.lgamma(b)
        + a * math.log1p(-squared)
        + (b * math.log(squared) if squared > 0.0 else -math.inf)
    )
    if 1.0 - squared < (a + 1.0) / (a + b + 2.0):
        return front * _beta_fraction(a, b, 1.0 - squared) / a
    return 1.0 - front * _beta_fraction(b, a, squared) / b


@kernel
def chi2_upper(x: float, df: float) -> float:
    """P(X > x) of a chi-squared X with df degrees of freedom."""
    if x <= 0.0:
        return 1.0
    a = 0.5 * df
    half = 0.5 * x
    front = math.exp(a * math.log(half) - half - math.lgamma(a))
    if half < a + 1.0:
        return 1.0 - front * _gamma_series(a, half)
    return front * _gamma_fraction(a, half)


@kernel
def f_upper(explained: float, left: float, df: float, df_left: float) -> float:
    """P(F > f) of Fisher's F with f = (explained / df) / (left / df_left): sums of squares, so that
    nothing cancels.
    """
    if left <= 0.0:
        return 0.0 if explained > 0.0 else 1.0
    if explained <= 0.0:
        return 1.0
    a = 0.5 * df_left
    b = 0.5 * df
    share = left / (left + explained)
    rest = explained / (left + explained)
    front = math.exp(
        math.lgamma(a + b)
        - math.lgamma(a)
        - math.lgamma(b)
        + a * math.log(share)
        + b * math.log(rest)
    )
    if share < (a + 1.0) / (a + b + 2.0):
        return front * _beta_fraction(a, b, share) / a
    return 1.0 - front * _beta_fraction(b, a, rest) / b


@kernel
def digamma(x: float) -> float:
    """The derivative of log Γ at a positive x: recurrence up to 10, then the asymptotic series."""
    value = 0.0
    while x < 10.0:
        value -= 1.0 / x
        x += 1.0
    square = 1.0 / (x * x)
    series = square * (
        1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square / 132)))
    )
    return value + math.log(x) - 0.5 / x - series


@kernel
def _beta_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    c = 1.0
    d = 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > _TINY else _TINY)
    value = d
    for m in range(1, _MOST_TERMS):
        for odd in range(2):
            if odd == 0:
                term = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
            else:
                term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
            d = 1.0 + term * d
            d = 1.0 / (d if abs(d) > _TINY else _TINY)
            c = 1.0 + term / c
            c = c if abs(c) > _TINY else _TINY
            value *= c * d
        if abs(c * d - 1.0) < _PRECISION:
            break
    return value


@kernel
def _gamma_series(a: float, x: float) -> float:
    """The power series of the lower incomplete gamma function, without its leading factor."""
    term = 1.0 / a
    total = term
    for k in range(1, _MOST_TERMS):
        term *= x / (a + k)
        total += term
        if term < total * _PRECISION:
            break
    return total


@kernel
def _gamma_fraction(a: float, x: float) -> float:
    """The continued fraction of the upper incomplete gamma function, by Lentz's method."""
    b = x + 1.0 - a
    c = 1.0 / _TINY
    d = 1.0 / b
    value = d
    for k in range(1, _MOST_TERMS):
        term = -k * (k - a)
        b += 2.0
        d = term * d + b
        d = 1.0 / (d if abs(d) > _TINY else _TINY)
        c = b + term / c
        c = c if abs(c) > _TINY else _TINY
        value *= c * d
        if abs(c * d - 1.0) < _PRECISION:
            break
    return value


@kernel
def logistic(value: float) -> float:
    """1 / (1 + exp(-value))."""
    if value >= 0.0:
        return 1.0 / (1.0 + math.exp(-value))
    return math.exp(value) / (1.0 + math.exp(value))


@kernel
def softplus(value: float) -> float:
    """log(1 + exp(value))."""
    return max(value, 0.0) + math.log1p(math.exp(-abs(value)))

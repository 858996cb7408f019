// Tail probabilities, to about ten digits, and logistic functions.
//
// Incomplete gamma and beta functions by their series and continued fractions (Abramowitz and
// Stegun 6.5.29, 6.5.31, 26.5.8), the fractions by Lentz's method.
#pragma once

#include "array.hpp"

namespace cc {

constexpr double TINY = 1e-300;
constexpr double PRECISION = 1e-15;
constexpr int MOST_TERMS = 20000;

// d, or something tiny in place of zero, by which Lentz's method would divide.
inline double away_from_zero(double d) { return std::abs(d) > TINY ? d : TINY; }

// The continued fraction of the incomplete beta function.
inline double beta_fraction(double a, double b, double x) {
    double c = 1.0;
    double d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    double value = d;
    for (Int m = 1; m < MOST_TERMS; ++m) {
        for (int odd = 0; odd < 2; ++odd) {
            const double term = odd == 0
                ? m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
                : -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0));
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            value *= c * d;
        }
        if (std::abs(c * d - 1.0) < PRECISION) break;
    }
    return value;
}

// The power series of the lower incomplete gamma function, without its leading factor.
inline double gamma_series(double a, double x) {
    double term = 1.0 / a;
    double total = term;
    for (int k = 1; k < MOST_TERMS; ++k) {
        term *= x / (a + k);
        total += term;
        if (term < total * PRECISION) break;
    }
    return total;
}

// The continued fraction of the upper incomplete gamma function.
inline double gamma_fraction(double a, double x) {
    double b = x + 1.0 - a;
    double c = 1.0 / TINY;
    double d = 1.0 / b;
    double value = d;
    for (int k = 1; k < MOST_TERMS; ++k) {
        const double term = -k * (k - a);
        b += 2.0;
        d = 1.0 / away_from_zero(term * d + b);
        c = away_from_zero(b + term / c);
        value *= c * d;
        if (std::abs(c * d - 1.0) < PRECISION) break;
    }
    return value;
}

// log Γ(x) of a positive x.
inline double log_gamma(double x) {
#if defined(_WIN32)
    return std::lgamma(x);
#else
    int sign = 0; // std::lgamma writes the sign to a global variable, which threads would share
    return ::lgamma_r(x, &sign);
#endif
}

// P(|Z| > |z|) of a standard normal Z.
inline double normal_two_sided(double z) { return std::erfc(std::abs(z) / std::sqrt(2.0)); }

// P(|T| > |t|) of Student's T with t = r sqrt(df / (1 - r²)), written in r² so that nothing
// cancels.
inline double correlation_two_sided(double squared, double df) {
    if (squared >= 1.0) return 0.0;
    const double a = 0.5 * df;
    const double b = 0.5;
    const double front = std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b)
                                  + a * std::log1p(-squared)
                                  + (squared > 0.0 ? b * std::log(squared) : -INF));
    if (1.0 - squared < (a + 1.0) / (a + b + 2.0))
        return front * beta_fraction(a, b, 1.0 - squared) / a;
    return 1.0 - front * beta_fraction(b, a, squared) / b;
}

// P(X > x) of a chi-squared X with df degrees of freedom.
inline double chi2_upper(double x, double df) {
    if (x <= 0.0) return 1.0;
    const double a = 0.5 * df;
    const double half = 0.5 * x;
    const double front = std::exp(a * std::log(half) - half - log_gamma(a));
    if (half < a + 1.0) return 1.0 - front * gamma_series(a, half);
    return front * gamma_fraction(a, half);
}

// P(F > f) of Fisher's F with f = (explained / df) / (left / df_left): sums of squares, so that
// nothing cancels.
inline double f_upper(double explained, double left, double df, double df_left) {
    if (left <= 0.0) return explained > 0.0 ? 0.0 : 1.0;
    if (explained <= 0.0) return 1.0;
    const double a = 0.5 * df_left;
    const double b = 0.5 * df;
    const double share = left / (left + explained);
    const double rest = explained / (left + explained);
    const double front = std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b)
                                  + a * std::log(share) + b * std::log(rest));
    if (share < (a + 1.0) / (a + b + 2.0)) return front * beta_fraction(a, b, share) / a;
    return 1.0 - front * beta_fraction(b, a, rest) / b;
}

// The derivative of log Γ at a positive x: recurrence up to 10, then the asymptotic series.
inline double digamma(double x) {
    double value = 0.0;
    while (x < 10.0) {
        value -= 1.0 / x;
        x += 1.0;
    }
    const double square = 1.0 / (x * x);
    const double series = square
        * (1.0 / 12 - square * (1.0 / 120 - square * (1.0 / 252 - square * (1.0 / 240 - square / 132))));
    return value + std::log(x) - 0.5 / x - series;
}

// 1 / (1 + exp(-value)).
inline double logistic(double value) {
    if (value >= 0.0) return 1.0 / (1.0 + std::exp(-value));
    return std::exp(value) / (1.0 + std::exp(value));
}

// log(1 + exp(value)).
inline double softplus(double value) {
    return std::max(value, 0.0) + std::log1p(std::exp(-std::abs(value)));
}

} // namespace cc

// The equations of simulated series, one time after the other.
#pragma once

#include "array.hpp"

namespace cc {

// Functions of causes: BENDS in examples/series.py.
enum { LINEAR_BEND, TANH_BEND, QUADRATIC_BEND };

inline double bent(double x, Int bend) {
    if (bend == TANH_BEND) return 2.0 * std::tanh(x / 2.0);
    if (bend == QUADRATIC_BEND) return x + 0.3 * x * x * std::exp(-x * x / 20.0);
    return x;
}

// Noise becomes values, shape (times, d), and that of the context what it is cut from, `driver`;
// `codes` are the contexts.
//
// `slopes` has shape (K, d, L + 1, d): [r, effect, lag, cause]; `plan` is the lag at which the
// context acts on every variable (-1: it does not), then the order of the present, in which d is
// the context. The other arrays are those of `SeriesModel`.
inline void run_series(OutFloats<2> values, OutFloats<1> driver, OutInts<1> codes, Floats<4> slopes,
                       Floats<2> intercepts, Ints<1> plan, Floats<2> into_context,
                       double persistence, Floats<1> cuts, Int bend) {
    const Int d = values.shape[1];
    const Int lags = slopes.shape[2] - 1;
    const Ints<1> reads = plan.slice(0, d);
    const Ints<1> order = plan.from(d);
    values.slice(0, lags).fill(0.0);
    for (Int t = lags; t < values.shape[0]; ++t) {
        for (const Int node : order) {
            if (node == d) {
                const double before = t > 0 ? double(codes[t - 1]) : double(codes[codes.size() - 1]);
                driver[t] += persistence * (2.0 * before / double(cuts.size()) - 1.0);
                for (Int lag = 0; lag <= lags; ++lag)
                    for (Int i = 0; i < d; ++i)
                        driver[t] += into_context(lag, i) * values(t - lag, i);
                for (const double cut : cuts) codes[t] += driver[t] > cut ? 1 : 0;
                continue;
            }
            const Int r = reads[node] >= 0 ? codes[t - reads[node]] : 0;
            values(t, node) += intercepts(r, node);
            for (Int lag = 0; lag <= lags; ++lag) {
                for (Int i = 0; i < d; ++i) {
                    const double slope = slopes(r, node, lag, i);
                    if (slope == 0.0) continue;
                    const double x = values(t - lag, i);
                    values(t, node) += slope * (i == node ? x : bent(x, bend));
                }
            }
        }
    }
}

} // namespace cc

// Mechanisms whose noise has an uneven spread: y = μ(x) + σ(x) u, log σ linear in some columns.
//
// `fit_scale` fits given columns of the location and of the scale on the rows; `choose_scale` also
// chooses the columns of the scale. Every candidate may act on the spread alone. A column is tried
// if a score test promises most of its price, by the fitted noise density and by ranks as well: a
// few far rows must not look like an uneven spread.
#pragma once

#include "noise_densities.hpp"

namespace cc::scales {

using noise_densities::DensityTable;

// The most columns of a scale.
constexpr Int MOST_SCALES = 4;
// The columns that every candidate offers to a scale: a line, a V, a step in the middle, and a
// hinge on either side.
constexpr Int SHAPES = 5;
// What a column that is no line costs beside its parameter: log 4.
constexpr double CHOICE = 1.3862943611198906;
// A column is tried if it promises this share of its price.
constexpr double PROMISE = 0.6;
constexpr int STEPS = 6;
// Slopes of a scale at first, how far one step may move them, and the largest logarithm of a scale.
constexpr double STEEPEST = 1.5;
constexpr double LARGEST_STEP = 0.7;
constexpr double LARGEST_LOG = 3.0;
// The least variance of the scores, by which steps are divided.
constexpr double SMALLEST_SPREAD = 0.2;
constexpr Int BINS = 1024;
constexpr double SMALLEST_RESIDUAL = 0.02;
constexpr int MOST_REJECTED = 2;
// Scores that differ by less are the same.
constexpr double SAME_SCORE = 1e-9;

// The rows of one regression.
struct ScaleRows {
    Floats<1> response; // (m,)
    Floats<2> location; // (columns, m): intercepts, then the columns of the location
    Floats<2> offered;  // (H, m): the columns that a scale may have, with mean 0 on these rows
    Floats<1> square;   // (H,): their sums of squares
    Floats<1> price;    // (H,): what each of them costs
    double rows;        // the rows of the table that these stand for
};

// A fit in progress.
struct ScaleFit {
    Array<Int, 1> taken;        // (1 + MOST_SCALES,): the number of columns of the scale, and these
    Array<double, 1> slopes;    // (MOST_SCALES,): their slopes
    Array<double, 1> location;  // (columns,): intercepts and slopes of the location
    Array<double, 1> log_scale; // (m,): the logarithm of the scale, up to a constant
    Array<double, 1> residual;  // (m,): what is left of the response, divided by the scale
    Array<double, 1> density;   // (MANY + 5,): the noise density, as `density_gain` writes it

    // Room for a fit with so many columns of the location, which has none of the scale yet.
    ScaleFit(Int rows, Int columns)
        : taken(1 + MOST_SCALES), slopes(MOST_SCALES), location(columns), log_scale(rows),
          residual(rows), density(noise_densities::SLOPES + noise_densities::MANY) {}

    // The columns of the scale.
    Ints<1> columns() const { return taken.slice(1, 1 + taken[0]); }

    void take(Int column) {
        taken[0] += 1;
        taken[taken[0]] = column;
    }
};

inline void copy(Floats<1> values, OutFloats<1> goal) {
    std::copy(values.begin(), values.end(), goal.begin());
}

// A fit that begins with the columns of the scale of another one, on the same rows.
inline ScaleFit with_columns_of(const ScaleFit &fit, Int location) {
    ScaleFit other(fit.residual.size(), location);
    std::copy(fit.taken.begin(), fit.taken.end(), other.taken.begin());
    return other;
}

// Σ weight[t] a[t] b[t].
CC_WIDE inline double weighted_dot(Floats<1> weight, Floats<1> a, Floats<1> b) {
    const double *w = weight.data;
    const double *x = a.data;
    const double *y = b.data;
    return sum_of(weight.shape[0], [=](Int t) { return w[t] * x[t] * y[t]; });
}

CC_WIDE inline double dot_of(Floats<1> a, Floats<1> b) { return dot(a.data, b.data, a.shape[0]); }

// Add a multiple of a column.
CC_WIDE inline void add_multiple(double slope, Floats<1> column, OutFloats<1> goal) {
    for (Int t = 0; t < goal.shape[0]; ++t) goal.data[t] += slope * column.data[t];
}

// Solve for slopes, in place, given the lower triangle of the cross products, which are lost.
inline void solve(OutFloats<2> products, OutFloats<1> slopes) {
    factorise(products);
    solve_half(products, slopes);
    solve_rest(products, slopes);
}

// What a regression with weights 1 / s² leaves of the response, divided by s; its slopes are
// written.
inline void weighted_residual(const ScaleRows &rows, Floats<1> log_scale, OutFloats<1> left,
                              OutFloats<1> slopes) {
    const Int width = rows.location.shape[0];
    const Int m = rows.location.shape[1];
    Array<double, 1> weight(m);
    Array<double, 2> products(width, width);
    for (Int t = 0; t < m; ++t) weight[t] = std::exp(-2.0 * log_scale[t]);
    weighted_products(rows.location, weight, products);
    for (Int a = 0; a < width; ++a)
        slopes[a] = weighted_dot(weight, rows.location[a], rows.response);
    solve(products, slopes);
    copy(rows.response, left);
    for (Int a = 0; a < width; ++a) add_multiple(-slopes[a], rows.location[a], left);
    for (Int t = 0; t < m; ++t) left[t] *= std::sqrt(weight[t]);
}

// Regress on columns of the scale, which have mean 0; the slopes, divided by `spread`, are written.
inline void regress(const ScaleRows &rows, Ints<1> columns, Floats<1> target, double spread,
                    OutFloats<1> slopes) {
    const Int count = slopes.size();
    Array<double, 2> products(count, count);
    for (Int a = 0; a < count; ++a) {
        const Floats<1> own = rows.offered[columns[a]];
        slopes[a] = dot_of(own, target) / spread;
        for (Int b = 0; b <= a; ++b) products(a, b) = dot_of(own, rows.offered[columns[b]]);
    }
    solve(products, slopes);
}

inline double between(double value, double most) { return std::min(std::max(value, -most), most); }

// The slopes of a regression of the logarithm of the residuals' sizes on the columns of the scale.
inline void first_slopes(const ScaleRows &rows, Ints<1> columns, Floats<1> left,
                         OutFloats<1> slopes) {
    const Int m = left.size();
    Array<double, 1> target(m);
    double square = 0.0;
    for (Int t = 0; t < m; ++t) square += left[t] * left[t];
    const double scale = std::sqrt(std::max(square / double(m), 1e-300));
    for (Int t = 0; t < m; ++t)
        target[t] = std::log(std::max(std::abs(left[t]) / scale, SMALLEST_RESIDUAL));
    regress(rows, columns, target, 1.0, slopes);
    for (double &slope : slopes) slope = between(slope, STEEPEST);
}

// The log-likelihood with the best noise density, up to a constant: - Σ log s - n / 2 log mean(u²)
// and the density's gain; the density is written.
inline double likelihood(const ScaleRows &rows, const DensityTable &densities, Floats<1> log_scale,
                         Floats<1> left, OutFloats<1> density) {
    const Int m = left.size();
    const double square = dot_of(left, left);
    const double total = sum(log_scale.data, m);
    Array<double, 1> residual(m);
    copy(left, residual);
    const double share = rows.rows / double(m);
    const double gain = noise_densities::density_gain(residual, rows.rows, densities, density);
    const double variance = std::max(square / double(m), SMALLEST_VARIANCE);
    return -share * total - 0.5 * rows.rows * std::log(variance) + gain;
}

// Minus the derivative of the log density.
inline double psi(double u, Floats<1> density) {
    using namespace noise_densities;
    if (std::abs(u) > REACH) return std::copysign(1.0, u);
    const Floats<1> slopes = density.from(SLOPES);
    const double bell = std::exp(-0.5 * u * u);
    double value = slopes[0] + 2.0 * u * slopes[1] + std::tanh(u) * slopes[2]
                   + (1.0 - u * u) * bell * slopes[3];
    if (density[FEATURES] > FEW)
        for (Int j = 0; j < HINGES; ++j)
            value += 2.0 * std::max(u - KNOTS[j], 0.0) * slopes[FEW + j];
    return -value;
}

// Write the derivatives of the log-likelihood by the log of the scale, u ψ(u) - 1, with mean 0;
// their variance.
inline double write_scores(Floats<1> left, Floats<1> density, OutFloats<1> score) {
    using namespace noise_densities;
    const Int m = left.size();
    const double centre = density[CENTRE];
    const double scale = std::max(density[SPREAD], 1e-300);
    double total = 0.0;
    double square = 0.0;
    for (Int t = 0; t < m; ++t) {
        const double u = (left[t] - centre) / scale;
        score[t] = u * (density[FEATURES] == 0.0 ? u : psi(u, density));
        total += score[t];
    }
    for (Int t = 0; t < m; ++t) {
        score[t] -= total / double(m);
        square += score[t] * score[t];
    }
    return square / double(m);
}

// Fit the location and the columns `fit.taken` of the scale; the score without the prices of the
// location.
//
// A regression of the logarithm of the residuals' sizes starts the scale; scoring steps improve it,
// each with a weighted regression of the location. The best of them is kept. The score is
// - Σ log s - n / 2 log mean(u²), plus what the noise density of u gains, less the prices of the
// columns.
inline double fit_scale(const ScaleRows &rows, const DensityTable &densities, ScaleFit &fit) {
    const Int m = rows.response.size();
    const Ints<1> columns = fit.columns();
    const Int count = columns.size();
    Array<double, 1> slopes(count);
    Array<double, 1> location(fit.location.size());
    Array<double, 1> log_scale(m);
    Array<double, 1> left(m);
    Array<double, 1> density(fit.density.size());
    Array<double, 1> scores(m);
    Array<double, 1> move(count);
    double price = 0.0;
    for (Int column : columns) price += rows.price[column];
    if (count > 0) {
        weighted_residual(rows, log_scale, left, location);
        first_slopes(rows, columns, left, slopes);
    }
    double best = -INF;
    for (int step = 0; step < (count > 0 ? STEPS : 1); ++step) {
        log_scale.fill(0.0);
        for (Int a = 0; a < count; ++a)
            add_multiple(slopes[a], rows.offered[columns[a]], log_scale);
        for (double &value : log_scale) value = between(value, LARGEST_LOG);
        weighted_residual(rows, log_scale, left, location);
        if (step % 2 == 0 || step == STEPS - 1) {
            const double score = likelihood(rows, densities, log_scale, left, density) - price;
            if (score > best) {
                best = score;
                copy(slopes, fit.slopes);
                copy(location, fit.location);
                copy(log_scale, fit.log_scale);
                copy(left, fit.residual);
                copy(density, fit.density);
            }
        }
        if (count == 0 || step == STEPS - 1) break;
        const double spread = write_scores(left, density, scores);
        regress(rows, columns, scores, std::max(spread, SMALLEST_SPREAD), move);
        for (Int a = 0; a < count; ++a) // a step of Fisher's scoring, not too far
            slopes[a] += between(move[a], LARGEST_STEP);
    }
    return best;
}

// Write the share of all values below every value and half of those in its bin; bins are finer near
// 0. `part` says where a value lies, from 0 to 1.
template <class Part>
inline void write_shares(Floats<1> values, double scale, Part part, OutFloats<1> shares) {
    const Int m = values.size();
    Array<double, 1> count(BINS);
    Array<double, 1> below(BINS);
    Array<Int, 1> place(m);
    for (Int t = 0; t < m; ++t) {
        const double away = values[t] / std::max(scale, 1e-300);
        const double bin = part(away / (1.0 + std::abs(away))) * double(BINS);
        place[t] = bin < double(BINS - 1) ? Int(bin) : BINS - 1;
        count[place[t]] += 1.0;
    }
    for (Int b = 1; b < BINS; ++b) below[b] = below[b - 1] + count[b - 1];
    for (Int t = 0; t < m; ++t) shares[t] = (below[place[t]] + 0.5 * count[place[t]]) / double(m);
}

// The quantile of the normal distribution, to three digits (Abramowitz and Stegun, 26.2.23).
inline double normal_quantile(double share) {
    double x = std::sqrt(-2.0 * std::log(std::min(share, 1.0 - share)));
    x -= (2.515517 + x * (0.802853 + x * 0.010328))
         / (1.0 + x * (1.432788 + x * (0.189269 + x * 0.001308)));
    return share > 0.5 ? x : -x;
}

// Write normal scores of the sizes of residuals of spread `scale` around their median, with
// variance 1; ranks by bins.
inline void write_ranks(Floats<1> left, double scale, OutFloats<1> ranks) {
    const Int m = left.size();
    Array<double, 1> size(m);
    write_shares(left, scale, [](double part) { return 0.5 * (1.0 + part); }, ranks);
    double middle = 0.0;
    double closest = INF;
    for (Int t = 0; t < m; ++t) {
        if (std::abs(ranks[t] - 0.5) >= closest) continue;
        middle = left[t];
        closest = std::abs(ranks[t] - 0.5);
    }
    for (Int t = 0; t < m; ++t) size[t] = std::abs(left[t] - middle);
    write_shares(size, scale, [](double part) { return part; }, ranks);
    double total = 0.0;
    for (Int t = 0; t < m; ++t) {
        ranks[t] = normal_quantile(ranks[t]);
        total += ranks[t] * ranks[t];
    }
    const double root = std::sqrt(std::max(total / double(m), 1e-300));
    for (double &rank : ranks) rank /= root;
}

// The column that promises most for the scale beyond its price, -1 if none promises enough.
inline Int most_promising(const ScaleRows &rows, const ScaleFit &fit, Bools<1> rejected) {
    const Int m = fit.residual.size();
    Array<double, 1> score(m);
    Array<double, 1> ranks(m);
    const double spread = write_scores(fit.residual, fit.density, score);
    write_ranks(fit.residual, fit.density[noise_densities::SPREAD], ranks);
    const Ints<1> taken = fit.columns();
    const double share = 0.5 * rows.rows / double(m);
    Int best = -1;
    double most = 0.0;
    for (Int column = 0; column < rejected.size(); ++column) {
        const double size = rows.square[column];
        const bool known = std::find(taken.begin(), taken.end(), column) != taken.end();
        if (known || rejected[column] || size <= SMALL_COLUMN_BELOW * double(m)) continue;
        const Floats<1> own = rows.offered[column];
        const double by_score = dot_of(own, score);
        const double by_rank = dot_of(own, ranks);
        const double information = std::max(spread, SMALLEST_SPREAD) * size;
        const double gain =
            share * std::min(by_score * by_score / information, by_rank * by_rank / size);
        const double beyond = gain - PROMISE * rows.price[column];
        if (beyond > most) {
            best = column;
            most = beyond;
        }
    }
    return best;
}

// Drop columns of the scale that do not pay any more; the score.
inline double drop_columns(const ScaleRows &rows, const DensityTable &densities, ScaleFit &fit,
                           double score) {
    Int place = 1;
    while (fit.taken[0] > 1 && place < fit.taken[0]) { // the last one has just been seen to pay
        ScaleFit other = with_columns_of(fit, fit.location.size());
        for (Int a = place; a < other.taken[0]; ++a) other.taken[a] = other.taken[a + 1];
        other.taken[0] -= 1;
        const double better = fit_scale(rows, densities, other);
        if (better > score + SAME_SCORE) {
            score = better;
            fit = std::move(other);
        } else {
            ++place;
        }
    }
    return score;
}

// Add columns to the scale of a fit while they pay; its score without the prices of the location.
//
// `tried`, shape (H,), says afterwards which columns were ever tried; with shape (0,) the columns
// stay those of the fit.
inline double choose_scale(const ScaleRows &rows, const DensityTable &densities, ScaleFit &fit,
                           OutBools<1> tried) {
    double score = fit_scale(rows, densities, fit);
    if (tried.size() == 0) return score;
    Array<bool, 1> rejected(tried.size());
    int failed = 0;
    while (fit.taken[0] < MOST_SCALES && failed < MOST_REJECTED) {
        const Int column = most_promising(rows, fit, rejected);
        if (column < 0) break;
        tried[column] = true;
        ScaleFit other = with_columns_of(fit, fit.location.size());
        other.take(column);
        const double better = fit_scale(rows, densities, other);
        if (better > score + SAME_SCORE) {
            score = better;
            failed = 0;
            rejected.fill(false);
            fit = std::move(other);
        } else {
            rejected[column] = true;
            ++failed;
        }
    }
    return drop_columns(rows, densities, fit, score);
}

} // namespace cc::scales

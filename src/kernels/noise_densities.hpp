// What a noise density gains over the Gaussian one: maximum-entropy densities of standardised
// residuals u.
//
// A density is an exponential family on a grid, log f(u) = Σ_j slope_j feature_j(u) - log ∫. Level
// 1 has the features u, u², log cosh u and u exp(-u² / 2), the Gaussian density being the case
// without the last two; level 2 adds the squares of hinges at five places. Its support is the line
// (beyond ±8 every density falls like exp(-|u|), or it could pile up its mass there) or reaches
// from the smallest residual to the largest. Only means of the features enter, so one pass over the
// residuals is enough for all densities. Each density pays for its extra parameters at the plain
// BIC; the best one that pays is taken.
//
// Skewness and kurtosis, then the features' means say beforehand whether a density can pay, by
// score tests against the Gaussian density. Laws without a chance are not fitted.
#pragma once

#include <tuple>

#include "linear.hpp"
#include "row_blocks.hpp"

namespace cc::noise_densities {

constexpr double REACH = 8.0;
constexpr Int POINTS = 129;
constexpr Int LOOKED_UP = 161;
constexpr double STEP = 2.0 * REACH / (LOOKED_UP - 1);
constexpr double KNOTS[] = {-1.5, -0.75, 0.0, 0.75, 1.5};
constexpr Int HINGES = 5;
// The features of level 1 and of level 2, the Gaussian ones included.
constexpr Int FEW = 4;
constexpr Int MANY = 4 + HINGES;
// log(2 π) / 2 + 1 / 2.
constexpr double GAUSSIAN = 1.4189385332046727;
// A density is fitted if its score test promises at least this share of its price.
constexpr double CHANCE = 0.5;
// Keeps the edge of a density from becoming steeper than the grid can see; only the coefficients
// feel it.
constexpr double RIDGE = 1e-6;
// Residuals with a smaller standard deviation are rounding errors, which have no density.
constexpr double NO_NOISE = 1e-6;
constexpr int MOST_STEPS = 40;
constexpr int MOST_HALVES = 30;
// A fit counts only if the density has the features' means, in standard deviations of the features,
// up to this.
constexpr double WORST_MISFIT = 0.02;

// Rows of `DensityTable::line` and of a grid behind the features: places, and weights.
enum { PLACES = MANY, WEIGHTS = MANY + 1, LINES = MANY + 2 };
// Entries of a density that is written: the number of features (0 for the Gaussian density), the
// mean and the standard deviation of the residuals, lowest and highest place of the support, then
// coefficients.
enum { FEATURES, CENTRE, SPREAD, LOWEST, HIGHEST, SLOPES };

// What all fits share: features at the points of the grid, their Gaussian means, and two score
// tests.
struct DensityTable {
    Floats<2> line;     // (MANY + 2, POINTS): features, places and weights of the line
    Floats<2> lookup;   // (2, LOOKED_UP): the features that need an exponential, at equal distances
    Floats<1> expected; // (MANY,): the means under the Gaussian density
    // (2, 2) and (7, 7): inverse covariances of the features beyond u and u², given these, under
    // the Gaussian density
    Floats<2> few;
    Floats<2> many;

    static constexpr auto fields =
        std::make_tuple(&DensityTable::line, &DensityTable::lookup, &DensityTable::expected,
                        &DensityTable::few, &DensityTable::many);
};

// Standardise the residuals; how odd they look: skewness² / 6 + (kurtosis - 3)² / 24, as Jarque and
// Bera have it.
//
// Half of that, times the rows, is about what a density could gain that is close to the Gaussian
// one.
CC_WIDE inline double standardise(OutFloats<1> residual, OutFloats<1> density) {
    const Int count = residual.shape[0];
    double *u = residual.data;
    const double centre = sum(u, count) / double(count);
    for (Int t = 0; t < count; ++t) u[t] -= centre;
    const double scale = std::sqrt(std::max(dot(u, u, count) / double(count), 1e-300));
    for (Int t = 0; t < count; ++t) u[t] /= scale;
    const double third = sum_of(count, [u](Int t) { return u[t] * u[t] * u[t]; });
    const double fourth = sum_of(count, [u](Int t) { return (u[t] * u[t]) * (u[t] * u[t]); });
    density[CENTRE] = centre;
    density[SPREAD] = scale;
    const double skew = third / double(count);
    const double tails = fourth / double(count) - 3.0;
    return skew * skew / 6.0 + tails * tails / 24.0;
}

// Add the features of up to `AT_ONCE` residuals, of which none is beyond the line; those that need
// an exponential are interpolated by cubics.
CC_WIDE inline void add_features(const double *u, Int length, Floats<2> lookup,
                                 OutFloats<1> sums) {
    const double *bent = lookup[0].data;
    const double *waved = lookup[1].data;
    int begin[AT_ONCE];
    double weight[4][AT_ONCE];
    double bents[AT_ONCE];
    double waves[AT_ONCE];
    for (Int t = 0; t < length; ++t) {
        const double place = (u[t] + REACH) / STEP;
        int g = int(place);
        g = g > 1 ? g : 1;
        g = g < int(LOOKED_UP) - 3 ? g : int(LOOKED_UP) - 3;
        const double x = place - g;
        begin[t] = g - 1;
        weight[0][t] = -x * (x - 1.0) * (x - 2.0) / 6.0;
        weight[1][t] = (x + 1.0) * (x - 1.0) * (x - 2.0) / 2.0;
        weight[2][t] = -(x + 1.0) * x * (x - 2.0) / 2.0;
        weight[3][t] = (x + 1.0) * x * (x - 1.0) / 6.0;
    }
    for (Int t = 0; t < length; ++t) {
        const double *near = bent + begin[t];
        const double *other = waved + begin[t];
        bents[t] = weight[0][t] * near[0] + weight[1][t] * near[1] + weight[2][t] * near[2]
                   + weight[3][t] * near[3];
        waves[t] = weight[0][t] * other[0] + weight[1][t] * other[1] + weight[2][t] * other[2]
                   + weight[3][t] * other[3];
    }
    sums[0] += sum(u, length);
    sums[1] += dot(u, u, length);
    sums[2] += sum(bents, length);
    sums[3] += sum(waves, length);
    for (Int j = 0; j < HINGES; ++j) {
        const double knot = KNOTS[j];
        for (Int t = 0; t < length; ++t) bents[t] = u[t] > knot ? u[t] - knot : 0.0;
        sums[FEW + j] += dot(bents, bents, length);
    }
}

struct Extent {
    double low;    // the smallest residual
    double high;   // the largest one
    double beyond; // the mean distance of all residuals from the line
};

// Replace residuals beyond the line by its ends; the sum of their distances from it.
CC_WIDE inline double clip(const double *residual, Int length, double *inside) {
    for (Int t = 0; t < length; ++t) {
        const double above = residual[t] > -REACH ? residual[t] : -REACH;
        inside[t] = above < REACH ? above : REACH;
    }
    return sum_of(length, [=](Int t) { return std::abs(residual[t] - inside[t]); });
}

// Write the means of the features of standardised residuals.
inline Extent write_means(Floats<1> residual, Floats<2> lookup, OutFloats<1> mean) {
    const Int count = residual.size();
    mean.fill(0.0);
    double beyond = 0.0;
    double inside[AT_ONCE];
    for (Int start = 0; start < count; start += AT_ONCE) {
        const Int length = std::min(AT_ONCE, count - start);
        beyond += clip(residual.data + start, length, inside);
        add_features(inside, length, lookup, mean);
    }
    for (double &feature : mean) feature /= double(count);
    return {smallest(residual.data, count), largest(residual.data, count), beyond / double(count)};
}

// Promises: what the densities of level 1 and of level 2 would gain if they were close to the
// Gaussian one.
struct Promises {
    double few;
    double many;
};

// The score tests: rows / 2 times a quadratic form of the features' distances from their Gaussian
// means.
inline Promises score_tests(Floats<1> mean, double rows, const DensityTable &table) {
    double few = 0.0;
    double many = 0.0;
    for (Int i = 0; i < MANY - 2; ++i)
        for (Int j = 0; j < MANY - 2; ++j) {
            const double product = (mean[i + 2] - table.expected[i + 2])
                                   * (mean[j + 2] - table.expected[j + 2]);
            many += product * table.many(i, j);
            if (i < 2 && j < 2) few += product * table.few(i, j);
        }
    return {0.5 * rows * few, 0.5 * rows * many};
}

// The features on an interval, with the weights of Simpson's rule; the end points are in, or the
// means may lie outside the hull.
inline void fill_interval(OutFloats<2> grid, double low, double high) {
    const double step = (high - low) / (POINTS - 1);
    for (Int g = 0; g < POINTS; ++g) {
        const double u = low + g * step;
        const double size = std::abs(u);
        grid(0, g) = u;
        grid(1, g) = u * u;
        grid(2, g) = size + std::log1p(std::exp(-2.0 * size)) - std::log(2.0);
        grid(3, g) = u * std::exp(-0.5 * u * u);
        for (Int j = 0; j < HINGES; ++j) {
            const double above = std::max(u - KNOTS[j], 0.0);
            grid(FEW + j, g) = above * above;
        }
        grid(PLACES, g) = u;
        const double inside = g % 2 == 1 ? 4.0 : 2.0;
        grid(WEIGHTS, g) = step / 3.0 * (0 < g && g < POINTS - 1 ? inside : 1.0);
    }
    if (low <= -REACH) grid(WEIGHTS, 0) += 1.0;
    if (high >= REACH) grid(WEIGHTS, POINTS - 1) += 1.0;
}

struct Outside {
    double below;
    double above;
};

// How much log density a density on the line gains by cutting it off below, and above.
inline Outside outside(Floats<2> grid, Floats<1> slopes, double low, double high) {
    double height[POINTS] = {};
    double highest = -INF;
    for (Int j = 0; j < MANY; ++j)
        for (Int g = 0; g < POINTS; ++g) height[g] += slopes[j] * grid(j, g);
    for (Int g = 0; g < POINTS; ++g) highest = std::max(highest, height[g]);
    double below = 0.0;
    double above = 0.0;
    double total = 0.0;
    for (Int g = 0; g < POINTS; ++g) {
        const double mass = std::exp(height[g] - highest) * grid(WEIGHTS, g);
        total += mass;
        if (grid(PLACES, g) < low) below += mass;
        if (grid(PLACES, g) > high) above += mass;
    }
    return {-std::log1p(-std::min(below / total, 0.99)),
            -std::log1p(-std::min(above / total, 0.99))};
}

// What keeps coefficients small: RIDGE / 2 times the sum of their squares.
inline double ridge(Floats<1> slopes, Int count) {
    double total = 0.0;
    for (Int j = 0; j < count; ++j) total += slopes[j] * slopes[j];
    return 0.5 * RIDGE * total;
}

// The mean log density with `count` features at these coefficients; the features' means and
// covariances (lower triangle) under the density are written.
CC_WIDE inline double mean_log_density(Floats<2> grid, Floats<1> mean, Int count,
                                       Floats<1> slopes, OutFloats<1> model,
                                       OutFloats<2> matrix) {
    double mass[POINTS] = {};
    double spare[POINTS];
    for (Int j = 0; j < count; ++j) {
        const double slope = slopes[j];
        const double *feature = grid[j].data;
        for (Int g = 0; g < POINTS; ++g) mass[g] += slope * feature[g];
    }
    const double highest = largest(mass, POINTS);
    for (Int g = 0; g < POINTS; ++g) mass[g] -= highest;
    exponentials({mass, {POINTS}});
    const double *weight = grid[WEIGHTS].data;
    for (Int g = 0; g < POINTS; ++g) mass[g] *= weight[g];
    const double total = sum(mass, POINTS);
    for (Int g = 0; g < POINTS; ++g) mass[g] /= total;
    double value = -highest - std::log(total);
    for (Int i = 0; i < count; ++i) {
        const double *feature = grid[i].data;
        value += slopes[i] * mean[i];
        for (Int g = 0; g < POINTS; ++g) spare[g] = mass[g] * feature[g];
        model[i] = sum(spare, POINTS);
        for (Int j = 0; j <= i; ++j)
            matrix(i, j) = dot(spare, grid[j].data, POINTS) - model[i] * model[j];
    }
    return value;
}

// The largest distance of a feature's mean from that under the density, in its standard deviations.
inline double misfit(Floats<1> mean, Floats<1> model, Floats<2> matrix, Int count) {
    double worst = 0.0;
    for (Int j = 0; j < count; ++j)
        worst = std::max(worst, std::abs(mean[j] - model[j])
                                    / std::sqrt(std::max(matrix(j, j), 1e-12)));
    return worst;
}

// The largest mean log density with the first `count` features, by Newton steps from `slopes`,
// where the best coefficients are written; -inf if there is none.
inline double maximise(Floats<2> grid, Floats<1> mean, Int count, OutFloats<1> slopes) {
    Array<double, 1> model(count);
    Array<double, 1> step(count);
    Array<double, 1> trial(count);
    Array<double, 2> matrix(count, count);
    Array<double, 2> factor(count, count);
    double value =
        mean_log_density(grid, mean, count, slopes, model, matrix) - ridge(slopes, count);
    for (int turn = 0; turn < MOST_STEPS; ++turn) {
        for (Int j = 0; j < count; ++j) {
            step[j] = mean[j] - model[j] - RIDGE * slopes[j];
            matrix(j, j) += RIDGE;
            for (Int k = 0; k <= j; ++k) factor(j, k) = matrix(j, k);
        }
        factorise(factor);
        const double promise = solve_half(factor, step);
        solve_rest(factor, step);
        if (promise < 1e-8) break;
        double scale = 1.0;
        double better = -INF;
        for (int half = 0; half < MOST_HALVES; ++half) {
            for (Int j = 0; j < count; ++j) trial[j] = slopes[j] + scale * step[j];
            better = mean_log_density(grid, mean, count, trial, model, matrix)
                     - ridge(trial, count);
            if (better >= value + 0.1 * scale * promise) break;
            scale *= 0.5;
        }
        if (!(better > value)) break;
        value = better;
        for (Int j = 0; j < count; ++j) slopes[j] = trial[j];
    }
    return misfit(mean, model, matrix, count) < WORST_MISFIT ? value + ridge(slopes, count) : -INF;
}

// The best density with `features` features, on the line or cut off at the residuals' ends, if it
// gains more than `best`; the new best gain. The slopes on the line are written.
inline double best_of_level(Floats<1> mean, const Extent &extent, double margin, double rows,
                            const DensityTable &table, Int features, double best,
                            OutFloats<1> slopes, OutFloats<1> density) {
    const double price = 0.5 * std::log(rows);
    Array<double, 2> grid(LINES, POINTS);
    Array<double, 1> start(MANY);
    double low = -REACH;
    double high = REACH;
    double ends = 0.0;
    std::copy(table.line.begin(), table.line.end(), grid.begin());
    for (bool cut : {false, true}) {
        if (cut) {
            const double lowest = extent.low - margin;
            const double highest = extent.high + margin;
            const Outside beyond = outside(grid, slopes, lowest, highest);
            if (rows * beyond.below > CHANCE * price) {
                low = lowest;
                ends += 1.0;
            }
            if (rows * beyond.above > CHANCE * price) {
                high = highest;
                ends += 1.0;
            }
            if (ends == 0.0) break;
            fill_interval(grid, low, high);
        }
        std::copy(slopes.begin(), slopes.end(), start.begin());
        const double height = maximise(grid, mean, features, start);
        const double gain = rows * (height - extent.beyond + GAUSSIAN)
                            - (double(features) - 2.0 + ends) * price;
        if (gain > best) {
            best = gain;
            density[FEATURES] = double(features);
            density[LOWEST] = low;
            density[HIGHEST] = high;
            for (Int j = 0; j < MANY; ++j) density[SLOPES + j] = j < features ? start[j] : 0.0;
        }
        if (!cut && height > -INF) std::copy(start.begin(), start.end(), slopes.begin());
    }
    return best;
}

// What the best noise density of residuals gains over the Gaussian one, its price paid; 0 if none
// pays.
//
// The residuals, which stand for so many rows, are standardised in place. `density`, shape
// (MANY + 5,), is written: the number of features (0 for the Gaussian density), the mean and the
// standard deviation of the residuals, lowest and highest place of the support, then coefficients.
inline double density_gain(OutFloats<1> residual, double rows, const DensityTable &table,
                           OutFloats<1> density) {
    density.fill(0.0);
    const double price = 0.5 * std::log(rows);
    const double odd = standardise(residual, density);
    if (density[SPREAD] < NO_NOISE || 0.5 * rows * odd < CHANCE * 2.0 * price) return 0.0;
    Array<double, 1> mean(MANY);
    Array<double, 1> slopes(MANY);
    const Extent extent = write_means(residual, table.lookup, mean);
    const Promises promises = score_tests(mean, rows, table);
    const bool few = promises.few >= CHANCE * 2.0 * price;
    const bool many = promises.many >= CHANCE * (MANY - 2.0) * price;
    if (!few && !many) return 0.0;
    const double margin = (extent.high - extent.low) / double(residual.size());
    slopes[1] = -0.5;
    double best = best_of_level(mean, extent, margin, rows, table, FEW, 0.0, slopes, density);
    if (many)
        best = best_of_level(mean, extent, margin, rows, table, MANY, best, slopes, density);
    return best;
}

} // namespace cc::noise_densities

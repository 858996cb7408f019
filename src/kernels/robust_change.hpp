// The robust test of a change between contexts, from rows to a p-value: parts, gate, and what the
// gate asks.
//
// The parts ask whether the regression of y on Z differs between contexts: mean, slopes, spread,
// and all in one (LR*). They prove nothing unless y given Z is linear with one spread inside the
// contexts. Two checks, the gate, say whether it is; they are made inside the contexts, so that a
// change between contexts does not disturb them, and what they look for is common to all contexts,
// as it is where nothing changes. If it is not, a logit says whether the context needs y beside Z.
//
// Where a change is clear from moments, an upper bound of the p-value needs no rows of the query.
// Moments give the parts for mean and slopes; the part for the spread can only lower p. Whether the
// gate opens is not asked: the logit is taken as if it did, and needs no more than two likelihoods,
// those of the context on Z and on Z with y, which queries share.
#pragma once

#include <tuple>

#include "fits_by_context.hpp"
#include "glm.hpp"
#include "special.hpp"

namespace cc::robust_change {

using fits_by_context::COMMON;
using fits_by_context::ContextFits;
using fits_by_context::FIRST_CONTEXT;
using fits_by_context::Groups;
using fits_by_context::OwnFits;
using fits_by_context::SHIFTS;

// How the level is shared out: docs/decisions/change-test.md.
constexpr double MEAN_WEIGHT = 5.0;
constexpr double SLOPE_WEIGHT = 1.0;
constexpr double SPREAD_WEIGHT = 1.0;

// A column of which the conditions leave less than this share adds nothing.
constexpr double NOTHING_BELOW = 1e-9;

// A gain of likelihood that ends a fit.
constexpr double TOLERANCE = 1e-7;

// Below this the p-value of the logit need not be known exactly: an upper bound is given.
constexpr double CLEAR = 1e-6;

// A smaller spread is one of nothing.
constexpr double SMALLEST_SPREAD = 1e-150;

// Why there is no p-value.
enum Reason : Int { TESTABLE = 0, CONSTANT = 2, COLLINEAR = 3, FEW_CONTEXTS = 4 };

// Where the numbers of `Parts` of robust_change.py stand.
enum Part : Int {
    MEAN,
    SLOPE,
    MEAN_AND_SLOPE,
    VARIANCE,
    GAUSSIAN_VARIANCE,
    CURVATURE,
    UNEVEN_SPREAD,
    BY_LOGIT,
    STATISTIC,
    DF,
    P,
    PARTS
};

// A statistic, its degrees of freedom and p-value.
struct Answer {
    double statistic;
    double df;
    double p;
};

constexpr Answer NO_ANSWER = {NaN, NaN, NaN};

// LR* of one regression for all contexts, its df and p-value; NaN where a context leaves no
// residual.
inline Answer likelihood_ratio(const Groups &groups, const ContextFits &fits) {
    const double n = double(groups.rows.shape[0]);
    if (fits.left[COMMON] <= COLLINEAR_BELOW * n) return NO_ANSWER;
    double ratio = n * std::log(fits.left[COMMON] / n);
    double mean = n * (digamma(0.5 * (n - double(fits.rank[COMMON]))) + std::log(2.0 / n));
    Int df = -(fits.rank[COMMON] + 1);
    for (Int r = 0; r < groups.contexts(); ++r) {
        const double size = double(groups.rows_of(r));
        const double left = fits.left[FIRST_CONTEXT + r];
        const Int rank = fits.rank[FIRST_CONTEXT + r];
        if (left <= 0.0) return NO_ANSWER;
        ratio -= size * std::log(left / size);
        mean -= size * (digamma(0.5 * (size - double(rank))) + std::log(2.0 / size));
        df += rank + 1;
    }
    if (df <= 0 || mean <= 0.0) return NO_ANSWER;
    const double statistic = std::max(ratio, 0.0) * double(df) / mean;
    return {statistic, double(df), chi2_upper(statistic, double(df))};
}

// F of two nested fits (COMMON, SHIFTS, FIRST_CONTEXT for those of all contexts), its df and
// p-value; NaN where they are one.
template <class Number>
Answer nested_f(View<Number, 1> start, const ContextFits &fits, Int small, Int large) {
    double left = fits.left[large];
    double rank = double(fits.rank[large]);
    if (large == FIRST_CONTEXT)
        for (Int r = FIRST_CONTEXT + 1; r < fits.left.size(); ++r) {
            left += fits.left[r];
            rank += double(fits.rank[r]);
        }
    const double df = rank - double(fits.rank[small]);
    const double df_left = double(start[start.size() - 1]) - rank;
    if (df <= 0.0 || df_left <= 0.0) return NO_ANSWER;
    const double explained = fits.left[small] - left;
    const double left_over = left > COLLINEAR_BELOW * fits.left[small] ? left : 0.0;
    const double value = left_over > 0.0 ? (explained / df) / (left_over / df_left) : INF;
    return {value, df, f_upper(explained, left_over, df, df_left)};
}

// P(a smallest weighted p-value this small) for independent parts; a part that is NaN takes no
// share.
inline double combine(double mean, double slope, double spread) {
    const double parts[] = {mean, slope, spread};
    const double weights[] = {MEAN_WEIGHT, SLOPE_WEIGHT, SPREAD_WEIGHT};
    double total = 0.0;
    double least = INF;
    for (int place = 0; place < 3; ++place)
        if (!std::isnan(parts[place])) {
            total += weights[place];
            least = std::min(least, parts[place] / weights[place]);
        }
    if (total == 0.0) return NaN;
    double none = 0.0;
    for (int place = 0; place < 3; ++place)
        if (!std::isnan(parts[place])) {
            const double share = least * weights[place];
            none += share < 1.0 ? std::log1p(-std::min(share, 1.0)) : -INF;
        }
    return 0.0 - std::expm1(none);
}

// The median of numbers, which are put in another order; NaN counts as the largest number.
inline double median(OutFloats<1> values) {
    const auto below = [](double a, double b) { return a < b || (b != b && a == a); };
    double *middle = values.begin() + values.size() / 2;
    std::nth_element(values.begin(), middle, values.end(), below);
    if (values.size() % 2 == 1) return *middle;
    return (*std::max_element(values.begin(), middle, below) + *middle) / 2.0;
}

// F of absolute distances of residuals of the common fit from their medians by context, its df and
// its p-value.
inline Answer brown_forsythe(const Groups &groups, const ContextFits &fits) {
    const Ints<1> start = groups.start;
    const Int contexts = groups.contexts();
    const Int n = groups.rows.shape[0];
    Array<double, 1> away(n);
    Array<double, 1> means(contexts);
    Array<double, 1> sorted(n);
    residuals_of(groups, fits, COMMON, away);
    std::copy(away.begin(), away.end(), sorted.begin());
    double inside = 0.0;
    double between = 0.0;
    double centre = 0.0;
    for (Int r = 0; r < contexts; ++r) {
        const double middle = median(sorted.slice(start[r], start[r + 1]));
        double total = 0.0;
        for (Int i = start[r]; i < start[r + 1]; ++i) {
            away[i] = std::abs(away[i] - middle);
            total += away[i];
        }
        means[r] = total / double(groups.rows_of(r));
        for (Int i = start[r]; i < start[r + 1]; ++i)
            inside += (away[i] - means[r]) * (away[i] - means[r]);
    }
    for (Int i = 0; i < n; ++i) centre += away[i];
    centre /= double(n);
    for (Int r = 0; r < contexts; ++r)
        between += double(groups.rows_of(r)) * (means[r] - centre) * (means[r] - centre);
    const double df = double(contexts - 1);
    const double df_left = double(n - contexts);
    const double value = inside > 0.0 ? (between / df) / (inside / df_left) : INF;
    return {value, df, f_upper(between, inside, df, df_left)};
}

// The p-value of Bartlett's test for the residual variances of the contexts; it trusts in Gaussian
// tails.
inline double bartlett(const Groups &groups, const ContextFits &fits) {
    const Int contexts = groups.contexts();
    double total_df = 0.0;
    double total = 0.0;
    double logs = 0.0;
    double inverse = 0.0;
    for (Int r = 0; r < contexts; ++r) {
        const double left = fits.left[FIRST_CONTEXT + r];
        const double df = double(groups.rows_of(r) - fits.rank[FIRST_CONTEXT + r]);
        if (left <= 0.0) return 0.0;
        total_df += df;
        total += left;
        logs += df * std::log(left / df);
        inverse += 1.0 / df;
    }
    const double statistic = total_df * std::log(total / total_df) - logs;
    const double correction =
        1.0 + (inverse - 1.0 / total_df) / (3.0 * double(contexts - 1));
    return chi2_upper(statistic / correction, double(contexts) - 1.0);
}

// p-value of F for the middle columns of a table, shape (n, width): the first `own` have slopes by
// context, the last column is the target.
//
// Every context has an intercept. 1 where the columns add nothing.
inline double common_terms(Floats<2> table, Ints<1> start, Int own) {
    const Int contexts = start.size() - 1;
    const Int width = table.shape[1];
    const Int n = table.shape[0];
    const Int extra = width - own - 1;
    Array<double, 2> mean(contexts, width);
    Array<double, 3> scatter(contexts, width, width);
    Array<double, 1> spread(extra);
    Array<double, 2> left(extra + 1, extra + 1);
    fits_by_context::cross_products(table, start, mean, scatter);
    Int df_left = n - contexts;
    for (Int r = 0; r < contexts; ++r) {
        for (Int j = 0; j < extra; ++j) spread[j] += scatter(r, own + j, own + j);
        df_left -= sweep(scatter[r], own, start[r + 1] - start[r]);
        for (Int j = 0; j <= extra; ++j)
            for (Int a = 0; a <= extra; ++a) left(j, a) += scatter(r, own + j, own + a);
    }
    for (Int j = 0; j < extra; ++j)
        if (left(j, j) <= NOTHING_BELOW * spread[j])
            for (Int a = 0; a <= extra; ++a) {
                left(j, a) = 0.0;
                left(a, j) = 0.0;
            }
    const double before = left(extra, extra);
    const Int df = sweep(left, extra, n);
    if (df == 0 || df_left - df < 1) return 1.0;
    const double after = std::max(left(extra, extra), 0.0);
    return f_upper(before - after, after, double(df), double(df_left - df));
}

// p-value of squares of the conditions and powers of the common fit, beside a line for every
// context.
inline double curvature(const Groups &groups, const ContextFits &fits) {
    const Int n = groups.rows.shape[0];
    const Int m = groups.conditions();
    Array<double, 1> fitted(n);
    Array<double, 2> table(n, 2 * m + 3);
    residuals_of(groups, fits, COMMON, fitted);
    double squares = 0.0;
    for (Int i = 0; i < n; ++i) {
        fitted[i] = groups.rows(i, m) - fitted[i];
        squares += fitted[i] * fitted[i];
    }
    const double scale = 1.0 / std::max(std::sqrt(squares / double(n)), SMALLEST_SPREAD);
    for (Int i = 0; i < n; ++i) {
        for (Int j = 0; j < m; ++j) {
            table(i, j) = groups.rows(i, j);
            table(i, m + j) = groups.rows(i, j) * groups.rows(i, j);
        }
        const double value = fitted[i] * scale;
        table(i, 2 * m) = value * value;
        table(i, 2 * m + 1) = value * value * value;
        table(i, 2 * m + 2) = groups.rows(i, m);
    }
    return common_terms(table, groups.start, m);
}

// p-value of the conditions and their squares for the size of residuals, in units of the context's
// spread.
inline double uneven_spread(const Groups &groups, const ContextFits &fits) {
    const Int n = groups.rows.shape[0];
    const Int m = groups.conditions();
    Array<double, 1> residuals(n);
    Array<double, 2> table(n, 2 * m + 1);
    residuals_of(groups, fits, FIRST_CONTEXT, residuals);
    for (Int r = 0; r < groups.contexts(); ++r) {
        const Int df = groups.rows_of(r) - fits.rank[FIRST_CONTEXT + r];
        const double variance = fits.left[FIRST_CONTEXT + r] / double(df);
        const double scale = 1.0 / std::max(std::sqrt(variance), SMALLEST_SPREAD);
        for (Int i = groups.start[r]; i < groups.start[r + 1]; ++i) {
            for (Int j = 0; j < m; ++j) {
                table(i, j) = groups.rows(i, j);
                table(i, m + j) = groups.rows(i, j) * groups.rows(i, j);
            }
            table(i, 2 * m) = std::abs(residuals[i]) * scale;
        }
    }
    return common_terms(table, groups.start, 0);
}

// Write 1, the conditions, and then, standardised, the residual, its products with the conditions,
// its square: `design` has shape (2 conditions + 3, n).
inline void fill_design(const Groups &groups, const ContextFits &fits, OutFloats<2> design) {
    const Int n = groups.rows.shape[0];
    const Int m = groups.conditions();
    Array<double, 1> residuals(n);
    Array<double, 2> added(n, m + 2);
    residuals_of(groups, fits, COMMON, residuals);
    for (Int i = 0; i < n; ++i) {
        added(i, 0) = residuals[i];
        for (Int j = 0; j < m; ++j) added(i, 1 + j) = residuals[i] * groups.rows(i, j);
        added(i, m + 1) = residuals[i] * residuals[i];
    }
    fits_by_context::standardise(added);
    for (Int i = 0; i < n; ++i) {
        design(0, i) = 1.0;
        for (Int j = 0; j < m; ++j) design(1 + j, i) = groups.rows(i, j);
        for (Int j = 0; j < m + 2; ++j) design(1 + m + j, i) = added(i, j);
    }
}

// Logits of the context on the first columns of a design, more of them every time: each begins at
// the slopes of the one before.
class NestedLogits {
  public:
    NestedLogits(Floats<2> design, Ints<1> codes, Int free)
        : design(design), codes(codes), free(free), slopes(0), known(0) {}

    // The largest log-likelihood on the first `width` columns.
    double fit(Int width) {
        const Int size = free * width;
        Array<double, 1> start(size);
        Array<double, 1> ridge(size);
        Array<double, 2> curvature(size, size);
        for (Int c = 0; c < free; ++c)
            for (Int a = 0; a < known; ++a) start[c * width + a] = slopes[c * known + a];
        glm::write_ridge(likelihoods::LOGIT, free + 1, width, glm::RIDGE, ridge);
        const glm::Model model{likelihoods::LOGIT, design.slice(0, width), codes, free, {}};
        const double likelihood = glm::maximise(model, ridge, start, curvature, -INF, TOLERANCE);
        slopes = std::move(start);
        known = width;
        return likelihood;
    }

  private:
    Floats<2> design; // shape (width, n)
    Ints<1> codes;
    Int free; // contexts but one
    Array<double, 1> slopes;
    Int known; // columns that have slopes
};

// p-value of y in telling the context beside Z: of its residual, of products with Z, of its square,
// in logits.
//
// Where Z alone tells the contexts apart, nothing can be gained: the p-values are about 1. As soon
// as p is known to be at most `enough`, what is left is not fitted: its p-values count as 1. A
// negative one asks for all of them.
inline double context_needs(const Groups &groups, const ContextFits &fits, double enough) {
    const Int n = groups.rows.shape[0];
    const Int m = groups.conditions();
    const Int free = groups.contexts() - 1;
    Array<Int, 1> codes(n);
    Array<double, 2> design(2 * m + 3, n);
    for (Int r = 0; r <= free; ++r) codes.slice(groups.start[r], groups.start[r + 1]).fill(r);
    fill_design(groups, fits, design);
    NestedLogits logits(design, codes, free);
    double p_slope = m > 0 ? 1.0 : NaN;
    double p_spread = 1.0;
    const double nothing = logits.fit(m + 1);
    const double mean = logits.fit(m + 2);
    const double p_mean = chi2_upper(2.0 * (mean - nothing), double(free));
    double slope = mean;
    if (m > 0 && combine(p_mean, p_slope, p_spread) > enough) {
        slope = logits.fit(2 * m + 2);
        p_slope = chi2_upper(2.0 * (slope - mean), double(free * m));
    }
    if (combine(p_mean, p_slope, p_spread) > enough) {
        const double spread = logits.fit(2 * m + 3);
        p_spread = chi2_upper(2.0 * (spread - slope), double(free));
    }
    return combine(p_mean, p_slope, p_spread);
}

// Why nothing can be tested: few contexts, y constant or a linear function of Z, or Z tells the
// contexts apart.
inline Reason reason_of(const Groups &groups, const ContextFits &fits) {
    const Int n = groups.rows.shape[0];
    const Int m = groups.conditions();
    if (groups.contexts() < 2) return FEW_CONTEXTS;
    bool constant = true;
    for (Int i = 0; i < n; ++i) constant = constant && groups.rows(i, m) == 0.0;
    if (constant) return CONSTANT;
    if (fits.left[COMMON] <= COLLINEAR_BELOW * double(n)) return COLLINEAR;
    return fits.rank[SHIFTS] == fits.rank[COMMON] ? COLLINEAR : TESTABLE;
}

// Write all numbers of `Parts` that need no gate.
inline void write_parts(const Groups &groups, const ContextFits &fits, OutFloats<1> numbers) {
    const Answer mean = nested_f(groups.start, fits, COMMON, SHIFTS);
    const Answer slope = nested_f(groups.start, fits, SHIFTS, FIRST_CONTEXT);
    const Answer variance = brown_forsythe(groups, fits);
    numbers[MEAN] = mean.p;
    numbers[SLOPE] = slope.p;
    numbers[MEAN_AND_SLOPE] = nested_f(groups.start, fits, COMMON, FIRST_CONTEXT).p;
    numbers[VARIANCE] = variance.p;
    numbers[GAUSSIAN_VARIANCE] = bartlett(groups, fits);
    const double spread = std::max(numbers[VARIANCE], numbers[GAUSSIAN_VARIANCE]);
    const double by_spread = spread / SPREAD_WEIGHT;
    const double by_slope = std::isnan(slope.p) ? INF : slope.p / SLOPE_WEIGHT;
    Answer decides = variance;
    if (mean.p / MEAN_WEIGHT < std::min(by_spread, by_slope)) decides = mean;
    else if (by_slope < by_spread) decides = slope;
    numbers[STATISTIC] = decides.statistic;
    numbers[DF] = decides.df;
    numbers[P] = combine(mean.p, slope.p, spread);
}

// Write all numbers of `Parts`, NaN for those that are not asked; the reason why there are none.
//
// `columns` has shape (n, conditions), `codes` (n,); `numbers` (PARTS,). The gate, with checks at
// the level `gate`, is looked at where p without it is below `look_below`; it can only raise p.
inline Reason robust_change(Floats<2> columns, Floats<1> y, Ints<1> codes, Int levels,
                            double look_below, double gate, OutFloats<1> numbers) {
    const Int m = columns.shape[1];
    Array<double, 2> rows(codes.size(), m + 1);
    Array<Int, 1> start(levels + 1);
    numbers.fill(NaN);
    const Groups groups = fits_by_context::group_into(columns, y, codes, rows, start);
    const OwnFits own(groups.contexts(), m);
    const ContextFits fits = own.view();
    fits_by_context::fit_all(groups, fits);
    const Reason reason = reason_of(groups, fits);
    if (reason != TESTABLE) return reason;
    write_parts(groups, fits, numbers);
    if (m == 0 || !(numbers[P] < look_below)) return reason;
    numbers[CURVATURE] = curvature(groups, fits);
    numbers[UNEVEN_SPREAD] = uneven_spread(groups, fits);
    if (!(std::min(numbers[CURVATURE], numbers[UNEVEN_SPREAD]) < gate)) return reason;
    const double enough = look_below <= 1.0 ? std::max(numbers[P], CLEAR) : -1.0;
    numbers[BY_LOGIT] = context_needs(groups, fits, enough);
    numbers[P] = std::max(numbers[P], numbers[BY_LOGIT]);
    return reason;
}

// Moments of all numbers, standardised over all rows, in every context.
struct CellMoments {
    Floats<1> start;   // shape (contexts + 1,): rows before every context
    Floats<2> mean;    // shape (contexts + 1, numbers): of all rows (0), then of every context
    Floats<3> scatter; // shape (contexts, numbers, numbers): centred cross products
    static constexpr auto fields =
        std::make_tuple(&CellMoments::start, &CellMoments::mean, &CellMoments::scatter);
};

// F and df of what decides, mean or slopes, and what p before the gate can be at most.
//
// Of the last of `places` on the others; the spread counts as unchanged. NaN where rows are needed
// to tell.
inline Answer bound_from_moments(const CellMoments &cells, Ints<1> places) {
    const Int contexts = cells.start.size() - 1;
    const Int width = places.size();
    Array<double, 3> scatter(contexts, width, width);
    const OwnFits own(contexts, width - 1);
    const ContextFits fits = own.view();
    for (Int r = 0; r < contexts; ++r) {
        if (cells.start[r + 1] - cells.start[r] < double(width + SPARE_ROWS)) return NO_ANSWER;
        for (Int j = 0; j < width; ++j) {
            fits.mean(r + 1, j) = cells.mean(r + 1, places[j]);
            for (Int a = 0; a < width; ++a)
                scatter(r, j, a) = cells.scatter(r, places[j], places[a]);
        }
    }
    fits_by_context::write_fits(scatter, cells.start, fits);
    const double rows = cells.start[contexts];
    if (fits.left[COMMON] <= COLLINEAR_BELOW * rows || fits.rank[SHIFTS] == fits.rank[COMMON])
        return NO_ANSWER;
    const Answer mean = nested_f(cells.start, fits, COMMON, SHIFTS);
    const Answer slope = nested_f(cells.start, fits, SHIFTS, FIRST_CONTEXT);
    const double p = combine(mean.p, slope.p, 1.0);
    const Answer decides = slope.p / SLOPE_WEIGHT < mean.p / MEAN_WEIGHT ? slope : mean;
    return {decides.statistic, decides.df, p};
}

// What p of the logit can be at most if y gains so much likelihood, given some conditions.
inline double bound_of_logit(double gain, Int free) {
    return combine(chi2_upper(2.0 * std::max(gain, 0.0), double(free)), 1.0, 1.0);
}

} // namespace cc::robust_change

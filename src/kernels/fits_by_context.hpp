// Least squares of y on Z in every context and in all of them together, from rows.
//
// Rows are put in the order of their contexts once; the fits then come from cross products per
// context. A condition that is a linear function of the ones before it in some fit lowers the rank
// of that fit.
#pragma once

#include <tuple>

#include "linear.hpp"

namespace cc::fits_by_context {

// Standardised rows of the contexts with enough of them, one context after another; y is the last
// column.
struct Groups {
    OutFloats<2> rows; // shape (n, conditions + 1)
    OutInts<1> start;  // shape (contexts + 1,): context r has the rows start[r] to start[r + 1] - 1
    static constexpr auto fields = std::make_tuple(&Groups::rows, &Groups::start);

    Int contexts() const { return start.size() - 1; }
    Int conditions() const { return rows.shape[1] - 1; }
    Int rows_of(Int context) const { return start[context + 1] - start[context]; }
};

// The places of the fits in `ContextFits`: of all contexts, with shifts of the mean by context,
// then of every context.
constexpr Int COMMON = 0;
constexpr Int SHIFTS = 1;
constexpr Int FIRST_CONTEXT = 2;

// Least squares of y: one fit for all contexts, shifts by context, and a fit for every context.
struct ContextFits {
    OutFloats<2> slopes; // shape (contexts + 2, conditions)
    OutFloats<1> left;   // shape (contexts + 2,): residual sums of squares
    OutInts<1> rank;     // shape (contexts + 2,): coefficients in each fit, intercepts included
    OutFloats<2> mean;   // shape (contexts + 1, conditions + 1): of all rows, then of every context
    static constexpr auto fields = std::make_tuple(&ContextFits::slopes, &ContextFits::left,
                                                   &ContextFits::rank, &ContextFits::mean);
};

// Fits with arrays of their own.
struct OwnFits {
    OwnFits(Int contexts, Int conditions)
        : slopes(contexts + 2, conditions), left(contexts + 2), rank(contexts + 2),
          mean(contexts + 1, conditions + 1) {}

    ContextFits view() const { return {slopes, left, rank, mean}; }

    Array<double, 2> slopes;
    Array<double, 1> left;
    Array<Int, 1> rank;
    Array<double, 2> mean;
};

// Centre and scale every column in place; a constant one becomes 0.
inline void standardise(OutFloats<2> rows) {
    const Int n = rows.shape[0];
    for (Int j = 0; j < rows.shape[1]; ++j) {
        double total = 0.0;
        double square = 0.0;
        for (Int i = 0; i < n; ++i) total += rows(i, j);
        const double centre = total / double(std::max(n, Int(1)));
        for (Int i = 0; i < n; ++i) {
            rows(i, j) -= centre;
            square += rows(i, j) * rows(i, j);
        }
        const bool constant = square <= 1e-24 * double(n) * centre * centre;
        const double scale = constant ? 0.0 : 1.0 / std::sqrt(square / double(n));
        for (Int i = 0; i < n; ++i) rows(i, j) *= scale;
    }
}

// The rows of the contexts that are large enough, with pooled mean 0 and variance 1 in every
// column, in arrays with room for all rows, (n, conditions + 1), and all levels, (levels + 1,).
//
// `columns` has shape (n, conditions), `codes` (n,).
inline Groups group_into(Floats<2> columns, Floats<1> y, Ints<1> codes, OutFloats<2> rows,
                         OutInts<1> start) {
    const Int levels = start.size() - 1;
    const Int conditions = columns.shape[1];
    Array<Int, 1> counts(levels);
    Array<Int, 1> place(levels); // of the next row of every level, -1 for those that are left out
    for (Int i = 0; i < codes.size(); ++i) ++counts[codes[i]];
    Int contexts = 0;
    start[0] = 0;
    for (Int level = 0; level < levels; ++level) {
        place[level] = -1;
        if (counts[level] < conditions + 1 + SPARE_ROWS) continue;
        place[level] = start[contexts];
        start[contexts + 1] = start[contexts] + counts[level];
        ++contexts;
    }
    for (Int i = 0; i < codes.size(); ++i) {
        const Int at = place[codes[i]];
        if (at < 0) continue;
        for (Int j = 0; j < conditions; ++j) rows(at, j) = columns(i, j);
        rows(at, conditions) = y[i];
        ++place[codes[i]];
    }
    const Groups groups{rows.slice(0, start[contexts]), start.slice(0, contexts + 1)};
    standardise(groups.rows);
    return groups;
}

// Centred cross products inside every context, added to `scatter`, shape (contexts, width, width);
// the means are written to `mean`, shape (contexts, width).
inline void cross_products(Floats<2> rows, Ints<1> start, OutFloats<2> mean,
                           OutFloats<3> scatter) {
    const Int width = rows.shape[1];
    Array<double, 1> away(width);
    for (Int r = 0; r + 1 < start.size(); ++r) {
        const OutFloats<1> centre = mean[r];
        const OutFloats<2> table = scatter[r];
        centre.fill(0.0);
        for (Int i = start[r]; i < start[r + 1]; ++i)
            for (Int j = 0; j < width; ++j) centre[j] += rows(i, j);
        for (Int j = 0; j < width; ++j) centre[j] /= double(start[r + 1] - start[r]);
        for (Int i = start[r]; i < start[r + 1]; ++i)
            for (Int j = 0; j < width; ++j) {
                away[j] = rows(i, j) - centre[j];
                for (Int a = 0; a <= j; ++a) table(j, a) += away[j] * away[a];
            }
        for (Int j = 0; j < width; ++j)
            for (Int a = 0; a < j; ++a) table(a, j) = table(j, a);
    }
}

// Write the fits from centred cross products inside contexts, shape (contexts, width, width), and
// the means of all contexts in units of all rows, whose own, 0, are first. The rows before every
// context are whole numbers, or fractions where cells are missing.
template <class Number>
void write_fits(Floats<3> scatter, View<Number, 1> start, const ContextFits &fits) {
    const Int contexts = start.size() - 1;
    const Int width = scatter.shape[1];
    const Int m = width - 1;
    Array<double, 3> tables(contexts + 2, width, width);
    for (Int r = 0; r < contexts; ++r) {
        const double size = double(start[r + 1] - start[r]);
        const OutFloats<1> mean = fits.mean[r + 1];
        for (Int j = 0; j < width; ++j)
            for (Int a = 0; a < width; ++a) {
                const double inside = scatter(r, j, a);
                tables(COMMON, j, a) += inside + size * mean[j] * mean[a];
                tables(SHIFTS, j, a) += inside;
                tables(FIRST_CONTEXT + r, j, a) = inside;
            }
    }
    for (Int k = 0; k < contexts + 2; ++k) {
        const OutFloats<2> table = tables[k];
        const bool every = k < FIRST_CONTEXT;
        const double square = table(m, m);
        const double size = double(every ? start[contexts] : start[k - 1] - start[k - 2]);
        fits.rank[k] = (k == SHIFTS ? contexts : 1) + sweep(table, m, size);
        fits.left[k] = every || table(m, m) > COLLINEAR_BELOW * square ? table(m, m) : 0.0;
        for (Int j = 0; j < m; ++j) fits.slopes(k, j) = table(j, m);
    }
}

// Write the common fit, the fit with shifts of the mean by context, and a fit for every context.
inline void fit_all(const Groups &groups, const ContextFits &fits) {
    const Int width = groups.rows.shape[1];
    Array<double, 3> scatter(groups.contexts(), width, width);
    fits.mean[0].fill(0.0);
    cross_products(groups.rows, groups.start, fits.mean.from(1), scatter);
    write_fits(scatter, groups.start, fits);
}

// Write the residuals of the common fit, of the fit with shifts, or of the fits of every context
// (FIRST_CONTEXT), shape (n,).
inline void residuals_of(const Groups &groups, const ContextFits &fits, Int kind,
                         OutFloats<1> out) {
    const Int m = groups.conditions();
    for (Int r = 0; r < groups.contexts(); ++r) {
        const OutFloats<1> centre = fits.mean[kind == COMMON ? 0 : r + 1];
        const OutFloats<1> slopes = fits.slopes[kind < FIRST_CONTEXT ? kind : FIRST_CONTEXT + r];
        for (Int i = groups.start[r]; i < groups.start[r + 1]; ++i) {
            double value = groups.rows(i, m) - centre[m];
            for (Int j = 0; j < m; ++j) value -= slopes[j] * (groups.rows(i, j) - centre[j]);
            out[i] = value;
        }
    }
}

} // namespace cc::fits_by_context

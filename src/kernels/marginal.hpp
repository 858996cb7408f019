// Pairs given nothing: which correlations are too large for chance, row by row of the matrix.
//
// A correlation is compared with a limit a little below the critical one; only what exceeds it is
// tested, by the very formulas of the other levels, so that the decisions are the same.
#pragma once

#include "skeleton.hpp"

namespace cc {

// By how much the limit of a squared correlation is below the critical one, as a share of it.
constexpr double LIMIT_MARGIN = 1e-6;

// The limits that correlations are compared with; see `Bounds` in levels/marginal.py.
struct Bounds {
    Ints<1> views;
    Floats<1> limits;
    Floats<2> squares;
    double alpha;
    static constexpr auto fields = std::make_tuple(
        &Bounds::views, &Bounds::limits, &Bounds::squares, &Bounds::alpha);
};

// Squared correlations below this one have a p-value above alpha on so many rows; -1 with too few
// of them.
inline double squared_limit(Int rows, Int kind, double alpha) {
    const double df = double(rows - 2);
    if (df < double(SPARE_ROWS)) return -1.0;
    double low = 0.0;
    double high = 1.0;
    for (int halving = 0; halving < 50; ++halving) {
        const double middle = 0.5 * (low + high);
        if (tail(kind, ONE_VIEW, middle, df) > alpha) low = middle;
        else high = middle;
    }
    return low * low * (1.0 - LIMIT_MARGIN);
}

// The correlation of a pair in a view, with its p-value, -1 where it cannot be tested.
struct Marginal {
    double p;
    double correlation;
    double df;
};

inline Marginal correlate_pair(const Views &data, Int view, Int x, Int y) {
    const Floats<2> scatter = scatter_of(data, view);
    const double df = double(data.rows[view] - 2);
    if (df < double(SPARE_ROWS) || scatter(x, x) <= 0.0 || scatter(y, y) <= 0.0)
        return {-1.0, NaN, df};
    const double correlation = scatter(x, y) / std::sqrt(scatter(x, x) * scatter(y, y));
    return {tail(data.kind, ONE_VIEW, correlation, df), correlation, df};
}

// Write down the pairs `i < j`, i from `begin` on, that some view does not separate; how many there
// are.
//
// `asked`, shape (rows, N), is about the variables from `begin` on; `pairs`, shape (2, room), has
// room for them all.
inline Int list_survivors(const Views &data, const Bounds &known, Bools<2> asked, Int begin,
                          OutInts<2> pairs) {
    Int count = 0;
    const Int variables = asked.shape[1];
    Array<bool, 1> alive(variables);
    for (Int i = begin; i < begin + asked.shape[0]; ++i) {
        const Bools<1> partners = asked[i - begin];
        for (Int v = 0; v < known.views.size(); ++v) {
            const Int view = known.views[v];
            const Floats<1> row = scatter_of(data, view)[i];
            const Floats<1> squares = known.squares[v];
            const double bound = known.limits[v] * squares[i];
            for (Int j = i + 1; j < variables; ++j) {
                if (row[j] * row[j] < bound * squares[j] || !partners[j] || alive[j]) continue;
                alive[j] = !(correlate_pair(data, view, i, j).p > known.alpha);
            }
        }
        for (Int j = i + 1; j < variables; ++j) {
            if (!alive[j]) continue;
            pairs(0, count) = i;
            pairs(1, count) = j;
            ++count;
            alive[j] = false;
        }
    }
    return count;
}

// Fill the decisions on pairs that the empty set separates, `views[g]` answering for graph g;
// others are left.
inline void answer_pairs(const Views &data, Ints<1> views, Ints<1> first, Ints<1> second,
                         Bools<1> asked, const Decisions &decisions) {
    for (Int k = 0; k < first.size(); ++k) {
        if (!asked[k]) continue;
        for (Int g = 0; g < views.size(); ++g) {
            const Marginal answer = correlate_pair(data, views[g], first[k], second[k]);
            const OutCodes<1> facts = decisions.facts[k][g];
            const OutFloats<1> numbers = decisions.numbers[k][g];
            numbers[P] = answer.p;
            numbers[STATISTIC] = answer.correlation;
            numbers[DF] = answer.df;
            facts[ROWS] = std::int32_t(data.rows[views[g]]);
            facts[MASK] = 0;
            facts[REASON] = TESTABLE;
            facts[LABEL] = ONE_VIEW;
            facts[SEPARATED] = 1;
        }
    }
}

} // namespace cc

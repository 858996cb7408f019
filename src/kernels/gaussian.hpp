// The linear-Gaussian tests as functions of (x, y, given), on moments alone.
//
// A row selection says which rows answer. For two system variables it is one view (partial
// correlation), or several views whose partial correlations are combined: the question given a
// context variable on all rows. For a context variable against a system variable every view of the
// row selection is divided into parts, and LR* asks whether the regression of y differs between
// them. The formulas are in docs/tests.md.
//
// The set of a regression is factored one variable at a time, so that the next set of a
// lexicographic enumeration only pays for the positions that changed. A variable that is a linear
// function of the ones before it is skipped and lowers the rank.
#pragma once

#include <tuple>

#include "limits.hpp"
#include "special.hpp"

namespace cc {

// Kinds of p-values of a partial correlation.
enum { STUDENT, FISHER };

// How a row selection answers: the places of the tests among the labels of the prepared test.
enum { ONE_VIEW, SEVERAL_VIEWS, CHANGE };

// Why a question has no answer.
enum { TESTABLE, FEW_ROWS, CONSTANT, COLLINEAR, FEW_CONTEXTS };

// Rows of `Workspace::lists`.
enum { CHOSEN, GIVEN, POOL, MINE, THEIRS };

// The row counts and centred cross products of every view; see `Views` in levels/gaussian.py.
struct Views {
    Floats<3> cells;
    Floats<3> merged;
    Ints<1> rows;
    Floats<2> expected;
    Int kind;
    static constexpr auto fields = std::make_tuple(
        &Views::cells, &Views::merged, &Views::rows, &Views::expected, &Views::kind);
};

// The rows that answer: row selection k has the strata from `start[k]` up to `start[k + 1]`.
struct RowSelections {
    Ints<1> start;
    Ints<1> whole;
    Ints<1> parts_start;
    Ints<1> parts;
    Int change;
    Ints<1> inside;
    static constexpr auto fields = std::make_tuple(
        &RowSelections::start, &RowSelections::whole, &RowSelections::parts_start,
        &RowSelections::parts, &RowSelections::change, &RowSelections::inside);
};

// The regression of a pair on a set, factored for every view of a row selection.
struct PairFit {
    OutFloats<3> factor;
    OutFloats<3> loads;
    OutFloats<3> moments;
    OutInts<2> rank;
    static constexpr auto fields = std::make_tuple(
        &PairFit::factor, &PairFit::loads, &PairFit::moments, &PairFit::rank);
};

// Scratch arrays of one thread: the regression in progress, its set, and a pool of candidates.
struct Workspace {
    PairFit fit;
    OutInts<2> lists;
    OutFloats<1> weakest;
    static constexpr auto fields = std::make_tuple(
        &Workspace::fit, &Workspace::lists, &Workspace::weakest);
};

// A pair, and the row selection that answers about it.
struct PairQuery {
    Int selection;
    Int x;
    Int y;
};

// Unrelated questions with sets of one size: row selections (n,), ends (n,), conditions (n, size).
struct CIQueries {
    Ints<1> selection;
    Ints<1> x;
    Ints<1> y;
    Ints<2> given;
    static constexpr auto fields = std::make_tuple(
        &CIQueries::selection, &CIQueries::x, &CIQueries::y, &CIQueries::given);
};

// The answer to a question: the statistic and its degrees of freedom, NaN where `reason` is not
// `TESTABLE`, and the rows it rests on.
struct Statistic {
    double value;
    double df;
    Int rows;
    Int reason;
};

// The cross products of a view, shape (N, N).
inline Floats<2> scatter_of(const Views &data, Int view) {
    const Int cells = data.cells.shape[0];
    return view < cells ? data.cells[view] : data.merged[view - cells];
}

inline void start_view(const Views &data, Int view, Int x, Int y, Int u, const PairFit &fit) {
    const Floats<2> scatter = scatter_of(data, view);
    fit.moments(u, 0, 0) = scatter(x, x);
    fit.moments(u, 0, 1) = scatter(y, y);
    fit.moments(u, 0, 2) = scatter(x, y);
    fit.rank(u, 0) = 0;
}

// Begin a run of sets for the pair (x, y); for LR* both are the system variable.
inline void start(const Views &data, const RowSelections &selections, const PairQuery &asked,
                  const PairFit &fit) {
    Int u = 0;
    const Int last = selections.start[asked.selection + 1];
    for (Int s = selections.start[asked.selection]; s < last; ++s) {
        start_view(data, selections.whole[s], asked.x, asked.y, u++, fit);
        for (Int k = selections.parts_start[s]; k < selections.parts_start[s + 1]; ++k)
            start_view(data, selections.parts[k], asked.x, asked.y, u++, fit);
    }
}

// Regress x and y on `given`, where everything up to `begin` is already done.
//
// Afterwards `moments[size]` holds the residual squares of x, those of y and their residual
// products, and `rank[size]` the rank of the set.
inline void extend_projection(Floats<2> scatter, Int x, Int y, Ints<1> given, Int begin,
                              OutFloats<2> factor, OutFloats<2> loads, OutFloats<2> moments,
                              OutInts<1> rank) {
    for (Int j = begin; j < given.size(); ++j) {
        const Int z = given[j];
        double pivot = scatter(z, z);
        for (Int k = 0; k < j; ++k) {
            double value = scatter(z, given[k]);
            for (Int i = 0; i < k; ++i) value -= factor(j, i) * factor(k, i);
            value = factor(k, k) > 0.0 ? value / factor(k, k) : 0.0;
            factor(j, k) = value;
            pivot -= value * value;
        }
        if (pivot <= COLLINEAR_BELOW * scatter(z, z)) {
            factor(j, j) = 0.0;
            loads(0, j) = 0.0;
            loads(1, j) = 0.0;
            for (Int part = 0; part < 3; ++part) moments(j + 1, part) = moments(j, part);
            rank[j + 1] = rank[j];
            continue;
        }
        const double root = std::sqrt(pivot);
        double on_x = scatter(x, z);
        double on_y = scatter(y, z);
        factor(j, j) = root;
        for (Int i = 0; i < j; ++i) {
            on_x -= loads(0, i) * factor(j, i);
            on_y -= loads(1, i) * factor(j, i);
        }
        on_x /= root;
        on_y /= root;
        loads(0, j) = on_x;
        loads(1, j) = on_y;
        moments(j + 1, 0) = moments(j, 0) - on_x * on_x;
        moments(j + 1, 1) = moments(j, 1) - on_y * on_y;
        moments(j + 1, 2) = moments(j, 2) - on_x * on_y;
        rank[j + 1] = rank[j] + 1;
    }
}

inline void extend_view(const Views &data, Int view, const PairQuery &asked, Ints<1> given,
                        Int begin, Int u, const PairFit &fit) {
    extend_projection(scatter_of(data, view), asked.x, asked.y, given, begin, fit.factor[u],
                      fit.loads[u], fit.moments[u], fit.rank[u]);
}

// How a row selection answers.
inline Int label_of(const RowSelections &selections, Int selection) {
    if (selections.change == 1) return CHANGE;
    const Int strata = selections.start[selection + 1] - selections.start[selection];
    return strata == 1 ? ONE_VIEW : SEVERAL_VIEWS;
}

// A correlation that rounding has not pushed to ±1, where atanh is infinite.
inline double kept_inside(double correlation) {
    return std::min(std::max(correlation, -1.0 + 1e-15), 1.0 - 1e-15);
}

// The p-value of a statistic from `answer_set`; `kind` is that of the views.
inline double tail(Int kind, Int label, double statistic, double df) {
    if (label != ONE_VIEW) return chi2_upper(statistic, df);
    if (kind == FISHER)
        return normal_two_sided(std::atanh(kept_inside(statistic)) * std::sqrt(df - 1.0));
    return correlation_two_sided(statistic * statistic, df);
}

// The partial correlation from moments before and after the regression; the reason why there is
// none, else `TESTABLE`.
inline Int correlate(Floats<1> before, Floats<1> left, double &correlation) {
    correlation = NaN;
    if (before[0] <= 0.0 || before[1] <= 0.0) return CONSTANT;
    if (left[0] <= COLLINEAR_BELOW * before[0] || left[1] <= COLLINEAR_BELOW * before[1])
        return COLLINEAR;
    correlation = left[2] / std::sqrt(left[0] * left[1]);
    return TESTABLE;
}

// Σ_r (n_r - rank_r - 3) atanh(ρ_r)² over the views that can be tested; one degree of freedom
// each.
inline Statistic combine_views(const Views &data, const RowSelections &selections,
                               const PairQuery &asked, Int size, const PairFit &fit) {
    double total = 0.0;
    Int tested = 0;
    Int rows = 0;
    Int all_rows = 0;
    Int last_reason = FEW_ROWS;
    const Int first = selections.start[asked.selection];
    for (Int s = first; s < selections.start[asked.selection + 1]; ++s) {
        const Int u = s - first;
        const Int n = data.rows[selections.whole[s]];
        all_rows += n;
        if (n <= fit.rank(u, size) + 3) continue;
        double correlation = NaN;
        const Int reason = correlate(fit.moments[u][0], fit.moments[u][size], correlation);
        if (reason != TESTABLE) {
            last_reason = reason;
            continue;
        }
        const double z = std::atanh(kept_inside(correlation));
        total += double(n - fit.rank(u, size) - 3) * z * z;
        ++tested;
        rows += n;
    }
    if (tested == 0) return {NaN, NaN, all_rows, last_reason};
    return {total, double(tested), rows, TESTABLE};
}

// LR* of "one regression of y for all parts", Bartlett-corrected by the exact mean of LR; strata
// add up.
inline Statistic compare_parts(const Views &data, const RowSelections &selections,
                               const PairQuery &asked, Int size, const PairFit &fit) {
    double ratio = 0.0;
    double mean = 0.0;
    Int df = 0;
    Int rows = 0;
    Int u = 0;
    const Int first = selections.start[asked.selection];
    const Int last = selections.start[asked.selection + 1];
    for (Int s = first; s < last; ++s) rows += data.rows[selections.whole[s]];
    if (rows == 0) return {NaN, NaN, rows, FEW_CONTEXTS};
    for (Int s = first; s < last; ++s) {
        const double unit = fit.moments(u, 0, 1) / double(data.rows[selections.whole[s]]);
        for (Int k = selections.parts_start[s] - 1; k < selections.parts_start[s + 1]; ++k) {
            const bool is_whole = k < selections.parts_start[s];
            const Int view = is_whole ? selections.whole[s] : selections.parts[k];
            const double before = fit.moments(u, 0, 1);
            const double squares = fit.moments(u, size, 1);
            if (!(before > 0.0 && squares > COLLINEAR_BELOW * before))
                return {NaN, NaN, rows, before <= 0.0 ? CONSTANT : COLLINEAR};
            const Int sign = is_whole ? 1 : -1;
            const double n = double(data.rows[view]);
            ratio += double(sign) * n * std::log(squares / (n * unit));
            mean += double(sign) * data.expected(view, fit.rank(u, size));
            df -= sign * (fit.rank(u, size) + 2);
            ++u;
        }
    }
    if (df <= 0 || mean <= 0.0) return {NaN, NaN, rows, COLLINEAR};
    return {std::max(ratio, 0.0) * double(df) / mean, double(df), rows, TESTABLE};
}

// The test given a set, of which the part before `begin` is as before.
inline Statistic answer_set(const Views &data, const RowSelections &selections,
                            const PairQuery &asked, Ints<1> given, Int begin, const PairFit &fit) {
    const Int first = selections.start[asked.selection];
    const Int last = selections.start[asked.selection + 1];
    if (selections.change == 0 && last - first == 1) {
        const Int view = selections.whole[first];
        extend_view(data, view, asked, given, begin, 0, fit);
        const Int df = data.rows[view] - fit.rank(0, given.size()) - 2;
        if (df < SPARE_ROWS) return {NaN, NaN, data.rows[view], FEW_ROWS};
        double correlation = NaN;
        const Int reason = correlate(fit.moments[0][0], fit.moments[0][given.size()], correlation);
        return {correlation, double(df), data.rows[view], reason};
    }
    Int u = 0;
    for (Int s = first; s < last; ++s) {
        extend_view(data, selections.whole[s], asked, given, begin, u++, fit);
        for (Int k = selections.parts_start[s]; k < selections.parts_start[s + 1]; ++k)
            extend_view(data, selections.parts[k], asked, given, begin, u++, fit);
    }
    if (selections.change == 1) return compare_parts(data, selections, asked, given.size(), fit);
    return combine_views(data, selections, asked, given.size(), fit);
}

// What the search of levels asks of an answer; see skeleton.hpp.
inline Int label_of(const RowSelections &selections, Int selection, const Statistic &) {
    return label_of(selections, selection);
}
inline double p_value(const Views &data, Int label, const Statistic &answer) {
    return tail(data.kind, label, answer.value, answer.df);
}
inline bool orders_p_values(const Statistic &answer, Int label, const PairFit &fit, Int length) {
    return label == ONE_VIEW && answer.reason == TESTABLE && fit.rank(0, length) == length;
}

// Answer unrelated questions: `numbers`, shape (n, 3), are the statistic, df and p; `facts`, shape
// (n, 3), are the rows, the reason and the label.
inline void answer_batch(const Views &data, const RowSelections &selections,
                         const CIQueries &asked, OutFloats<2> numbers, OutInts<2> facts,
                         const Workspace &work) {
    for (Int i = 0; i < asked.x.size(); ++i) {
        const PairQuery question{asked.selection[i], asked.x[i], asked.y[i]};
        start(data, selections, question, work.fit);
        const Statistic answer
            = answer_set(data, selections, question, asked.given[i], 0, work.fit);
        const Int label = label_of(selections, question.selection);
        const bool testable = answer.reason == TESTABLE;
        facts(i, 0) = answer.rows;
        facts(i, 1) = answer.reason;
        facts(i, 2) = label;
        numbers(i, 0) = answer.value;
        numbers(i, 1) = testable ? answer.df : NaN;
        numbers(i, 2) = testable ? tail(data.kind, label, answer.value, answer.df) : NaN;
    }
}

} // namespace cc

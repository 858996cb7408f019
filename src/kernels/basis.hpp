// Two numbers given others whose effects may be curved: chosen columns of a table of correlations,
// three questions.
//
// Every variable has columns: itself, then curves of it. Of the conditions, the variables
// themselves are always taken, and of their curves those that pay their price for one of the two
// ends. What is left of the ends is asked three questions: are the ends correlated, and does either
// follow a curve of the other beyond that?
#pragma once

#include <tuple>
#include <utility>

#include "linear.hpp"
#include "special.hpp"

namespace cc::basis {

// How the three questions share the level: the line, the curves of x, the curves of y.
constexpr double WEIGHTS[] = {4.0, 1.0, 1.0};

// So many curves of an end are asked about: the first ones.
constexpr Int END_CURVES = 3;

// What a curve must gain in log-likelihood to be taken out. One too many costs a row; one too few
// may be what both ends have in common, and looks like a link.
constexpr double PRICE = 2.0;

// At most one curve is chosen for that many rows, for each end.
constexpr Int ROWS_PER_COLUMN = 10;

// A curve of which less than this share is left says nothing new.
constexpr double SAME_CURVE = 1e-6;

// Why there is no answer.
enum Reason : Int { TESTABLE, FEW_ROWS, CONSTANT, COLLINEAR };

// Correlations of all columns on some rows; those of variable j are `first[j]` to
// `first[j + 1] - 1`.
struct Basis {
    Floats<2> table;
    Ints<1> first;
    Int rows;
    static constexpr auto fields =
        std::make_tuple(&Basis::table, &Basis::first, &Basis::rows);

    Int columns_of(Int variable) const { return first[variable + 1] - first[variable]; }
};

// The columns of a trial: the conditions themselves, their curves, x and a few curves of it, y
// likewise.
struct Columns {
    Int straight;          // conditions themselves
    Int at_x;              // where x is, behind their curves
    Int at_y;              // where y is
    Array<Int, 1> columns; // places in the basis
};

inline Columns columns_of(const Basis &basis, Int x, Int y, Ints<1> given) {
    const Ints<1> first = basis.first;
    Int straight = 0;
    Int curves = 0;
    for (const Int z : given)
        if (basis.columns_of(z) > 0) {
            ++straight;
            curves += basis.columns_of(z) - 1;
        }
    const Int on_x = std::min(basis.columns_of(x), END_CURVES + 1);
    const Int on_y = std::min(basis.columns_of(y), END_CURVES + 1);
    const Int at_x = straight + curves;
    const Int at_y = at_x + on_x;
    Array<Int, 1> columns(at_y + on_y);
    Int line = 0;
    Int curve = straight;
    for (const Int z : given)
        for (Int column = first[z]; column < first[z + 1]; ++column) {
            if (column == first[z]) columns[line++] = column;
            else columns[curve++] = column;
        }
    for (Int k = 0; k < on_x; ++k) columns[at_x + k] = first[x] + k;
    for (Int k = 0; k < on_y; ++k) columns[at_y + k] = first[y] + k;
    return {straight, at_x, at_y, std::move(columns)};
}

// Forward selection among the curves from `begin` to `end - 1`: the curve that gains most is taken,
// while it gains more than its price; which ones, shape (end - begin,).
inline Array<bool, 1> choose(OutFloats<2> left, Int begin, Int end, Int response, Int rows,
                             Int most) {
    Array<bool, 1> chosen(end - begin);
    for (Int turn = 0; turn < most; ++turn) {
        Int best = -1;
        double share = -std::expm1(-2.0 * PRICE / double(rows));
        if (left(response, response) <= COLLINEAR_BELOW) break;
        for (Int j = begin; j < end; ++j) {
            if (!(left(j, j) > SAME_CURVE)) continue;
            const double product = left(j, response);
            const double explained = product * product / (left(j, j) * left(response, response));
            if (explained > share) {
                best = j;
                share = explained;
            }
        }
        if (best < 0) break;
        project(left, best, SAME_CURVE);
        chosen[best - begin] = true;
    }
    return chosen;
}

// Regress everything on the curves, from `begin` to `at_x - 1`, that either end chooses; how many
// they are.
inline Int free_of_curves(OutFloats<2> left, Int begin, Int at_x, Int at_y, Int rows, Int rank) {
    const Int spare = rows - rank - 2 - SPARE_ROWS; // not below 0
    const Int most = std::min(rows / ROWS_PER_COLUMN, spare / 2);
    Array<double, 2> alone = copied(left);
    const Array<bool, 1> for_x = choose(left, begin, at_x, at_x, rows, most);
    const Array<bool, 1> for_y = choose(alone, begin, at_x, at_y, rows, most);
    Int chosen = 0;
    for (Int k = 0; k < at_x - begin; ++k) chosen += for_x[k] ? 1 : 0;
    for (Int k = 0; k < at_x - begin; ++k)
        if (for_y[k] && !for_x[k]) chosen += project(left, begin + k, SAME_CURVE);
    return chosen;
}

// The answer to one question.
struct Part {
    double p;
    double explained; // the share
    double count;     // of how many columns; 0 where there is nothing to ask
};

// Does column `other` follow columns 1 to `other - 1` beyond column 0? The table is changed.
inline Part curves_of(OutFloats<2> ends, Int other, double df) {
    project(ends, 0, COLLINEAR_BELOW);
    const double before = ends(other, other);
    Int count = 0;
    double explained = 0.0;
    for (Int j = 1; j < other; ++j)
        if (ends(j, j) > SAME_CURVE && df - double(count) - 1.0 >= double(SPARE_ROWS)) {
            explained += ends(j, other) * ends(j, other) / ends(j, j);
            count += project(ends, j, SAME_CURVE);
        }
    if (count == 0 || before <= COLLINEAR_BELOW) return {1.0, 0.0, 0.0};
    const double left_over = std::max(before - explained, 0.0);
    return {f_upper(explained, left_over, double(count), df - double(count)),
            std::min(explained / before, 1.0), double(count)};
}

// The ends, those from `begin` up to `end` first, then those from `other_begin` up to `other_end`.
inline Array<double, 2> ends_of(Floats<2> left, Int begin, Int end, Int other_begin,
                                Int other_end) {
    const Int size = end - begin;
    const Int width = size + other_end - other_begin;
    const auto place = [&](Int a) { return a < size ? begin + a : other_begin + a - size; };
    Array<double, 2> ends(width, width);
    for (Int a = 0; a < width; ++a)
        for (Int b = 0; b < width; ++b) ends(a, b) = left(place(a), place(b));
    return ends;
}

// The three questions, each with its share of the level.
inline void ask(Floats<2> left, Int at_x, Int at_y, double df, Int rows, OutFloats<1> numbers) {
    const Int end = left.shape[0];
    const double product = left(at_x, at_y);
    double share = std::min(product * product / (left(at_x, at_x) * left(at_y, at_y)), 1.0);
    Array<double, 2> of_x = ends_of(left, at_x, at_y, at_y, end);
    Array<double, 2> of_y = ends_of(left, at_y, end, at_x, at_y);
    const Part parts[] = {{correlation_two_sided(share, df), share, 1.0},
                          curves_of(of_x, at_y - at_x, df), curves_of(of_y, end - at_y, df)};
    double least = INF;
    for (int place = 0; place < 3; ++place) {
        const double weighted = parts[place].p / WEIGHTS[place];
        if (parts[place].count > 0.0 && weighted < least) {
            least = weighted;
            share = parts[place].explained;
            numbers[1] = parts[place].count;
        }
    }
    numbers[0] = -double(rows) * std::log1p(-std::min(share, PERFECT));
    double unlikely = 0.0;
    for (int place = 0; place < 3; ++place)
        if (parts[place].count > 0.0)
            unlikely += std::log1p(-std::min(WEIGHTS[place] * least, PERFECT));
    numbers[2] = -std::expm1(unlikely);
}

// Answer one trial, or say why it has no answer.
inline Reason answer(const Basis &basis, Int x, Int y, Ints<1> given, OutFloats<1> numbers) {
    if (basis.columns_of(x) == 0 || basis.columns_of(y) == 0) return CONSTANT;
    const Int rows = basis.rows;
    const auto [straight, at_x, at_y, columns] = columns_of(basis, x, y, given);
    Array<double, 2> left(columns.size(), columns.size());
    for (Int a = 0; a < columns.size(); ++a)
        for (Int b = 0; b < columns.size(); ++b) left(a, b) = basis.table(columns[a], columns[b]);
    Int rank = 0;
    for (Int j = 0; j < straight; ++j) rank += project(left, j, COLLINEAR_BELOW);
    if (rows - rank - 2 < SPARE_ROWS) return FEW_ROWS;
    if (at_x > straight) rank += free_of_curves(left, straight, at_x, at_y, rows, rank);
    if (left(at_x, at_x) <= COLLINEAR_BELOW || left(at_y, at_y) <= COLLINEAR_BELOW)
        return COLLINEAR;
    ask(left, at_x, at_y, double(rows - rank) - 2.0, rows, numbers);
    return TESTABLE;
}

// Answer a group of trials on the same rows; the conditions of trial t are
// `given[start[t] : start[t + 1]]`.
//
// `pairs` has shape (trials, 2), `reasons` (trials,); `numbers`, shape (trials, 3), are
// -n log(1 - share explained) of the question that decides, its degrees of freedom, and p.
inline void answer_basis(const Basis &basis, Ints<2> pairs, Ints<1> start, Ints<1> given,
                         OutFloats<2> numbers, OutInts<1> reasons) {
    for (Int t = 0; t < pairs.shape[0]; ++t)
        reasons[t] = answer(basis, pairs(t, 0), pairs(t, 1), given.slice(start[t], start[t + 1]),
                            numbers[t]);
}

} // namespace cc::basis

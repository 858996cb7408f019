// Which columns the logit of a category keeps: sets of columns are thinned out on the rows, and the
// best one wins.
//
// Wilks' lambda over all columns also picks curves that the logit does not need: given the category
// every function of a cause differs in mean. So the choice among all columns, that among plain ones
// and the union of what is left of the two are each thinned out by the logit itself, and the best
// is taken. Ordered categories have proportional odds instead.
//
// A set of columns is one line, shape (1 + W,): how many columns there are, -1 for no set, then the
// columns.
#pragma once

#include <tuple>

#include "glm.hpp"

namespace cc::class_choice {

using likelihoods::Family;

// A column is not tried out if its Wald statistic promises to lose so much more than twice its
// price.
constexpr double SURE = 5.0;

// Rows times coefficients squared: with more, columns are chosen on part of the rows, and scored on
// all of them.
constexpr double MOST_WORK = 4e7;

// For every coefficient so many rows are kept.
constexpr double FEWEST_ROWS = 8.0;

// In log-likelihood: a Newton step that promises less is the last one.
constexpr double TOLERANCE = 1e-4;

// Rows times slopes squared: with more, a good start saves more than it costs.
constexpr double MUCH_WORK = 1e6;

// Every so many rows are enough to come close to a maximum.
constexpr Int FEW_ROWS = 8;

// Fewer rows than these are not few, but too few.
constexpr Int ROWS_A_SLOPE = 8;
constexpr Int ROWS_A_CLASS = 20;

// A score must be better by this to win.
constexpr double BETTER = 1e-9;

// A category on the rows of a block.
struct ClassRows {
    Floats<2> values; // shape (columns, m): rows sorted by cell
    Ints<1> codes;    // shape (m,)
    Ints<1> starts;   // shape (cells + 1,): the first row of every cell
    Ints<1> groups;   // shape (cells,): the intercept of every cell, -1 for those outside the block
    Int classes;
    bool ordered;
    double weight; // the rows that each of these stands for
    double price;  // of a parameter
    static constexpr auto fields = std::make_tuple(
        &ClassRows::values, &ClassRows::codes, &ClassRows::starts, &ClassRows::groups,
        &ClassRows::classes, &ClassRows::ordered, &ClassRows::weight, &ClassRows::price);
};

// Sets of columns.

inline bool has(Ints<1> columns, Int column) {
    for (Int t = 0; t < columns[0]; ++t)
        if (columns[1 + t] == column) return true;
    return false;
}

// Whether all columns of another set are in a set.
inline bool includes(Ints<1> set, Ints<1> other) {
    for (Int t = 0; t < other[0]; ++t)
        if (!has(set, other[1 + t])) return false;
    return true;
}

// Make the third set the union of the first two; no set if it is one of them.
inline void join(OutInts<2> sets, OutFloats<2> prices) {
    const Int room = prices.shape[1];
    const Int few = sets(0, 0);
    Int count = sets(1, 0);
    for (Int t = 0; t < count; ++t) {
        sets(2, 1 + t) = sets(1, 1 + t);
        prices(2, t) = prices(1, t);
    }
    for (Int t = 0; t < (count >= 0 ? few : 0); ++t)
        if (count < room && !has(sets[1], sets(0, 1 + t))) {
            sets(2, 1 + count) = sets(0, 1 + t);
            prices(2, count) = prices(0, t);
            ++count;
        }
    sets(2, 0) = count == sets(1, 0) || count == few ? -1 : count;
}

// Designs.

// A line of 1, lines of shifts of cells, and chosen columns, on the rows of a block or on some.
struct Design {
    Array<double, 2> lines; // shape (width, rows)
    Array<Int, 1> codes;    // shape (rows,)
    Int before;             // lines before the columns
};

// The rows of the block.
inline Int rows_of(const ClassRows &rows) {
    Int size = 0;
    for (Int r = 0; r + 1 < rows.starts.size(); ++r)
        if (rows.groups[r] >= 0) size += rows.starts[r + 1] - rows.starts[r];
    return size;
}

// Every how many rows are enough to choose among so many columns.
inline Int step_of(const ClassRows &rows, Int count) {
    const double slopes = rows.ordered ? 1.0 : double(rows.classes - 1);
    const double coefficients = (double(count) + 1.0) * slopes;
    const double fewest = FEWEST_ROWS * (coefficients + double(rows.classes));
    const double most = std::max(MOST_WORK / (coefficients * coefficients), fewest);
    return std::max(Int(1), Int(double(rows_of(rows)) / most));
}

// How many rows of a cell are taken, if every `step`-th one is.
inline Int length_of(const ClassRows &rows, Int cell, Int step) {
    if (rows.groups[cell] < 0) return 0;
    return (rows.starts[cell + 1] - rows.starts[cell] + step - 1) / step;
}

// Every so many rows of the intercept, the shifts and the chosen columns; the classes.
inline Design design_of(const ClassRows &rows, Ints<1> chosen, Int step) {
    const Int cells = rows.groups.size();
    Int shifts = 0;
    Int size = 0;
    for (Int r = 0; r < cells; ++r) {
        shifts = std::max(shifts, rows.groups[r]);
        size += length_of(rows, r, step);
    }
    Design design{Array<double, 2>(1 + shifts + chosen[0], size), Array<Int, 1>(size), 1 + shifts};
    Int place = 0;
    for (Int r = 0; r < cells; ++r) {
        const Int length = length_of(rows, r, step);
        const Int begin = rows.starts[r];
        for (Int t = 0; t < length; ++t) {
            design.codes[place + t] = rows.codes[begin + step * t];
            design.lines(0, place + t) = 1.0;
            if (rows.groups[r] > 0) design.lines(rows.groups[r], place + t) = 1.0;
        }
        for (Int a = 0; a < chosen[0]; ++a) {
            const Floats<1> column = rows.values[chosen[1 + a]];
            const OutFloats<1> line = design.lines[design.before + a];
            for (Int t = 0; t < length; ++t) line[place + t] = column[begin + step * t];
        }
        place += length;
    }
    return design;
}

// What the parameters of a fit cost; columns that must stay are paid for elsewhere.
inline double paid_for(const ClassRows &rows, Int before, Int count, Floats<1> price) {
    const Int slopes = rows.ordered ? 1 : rows.classes - 1;
    double paid = rows.price * double(rows.classes - 1 + (before - 1) * slopes);
    for (Int t = 0; t < count; ++t) paid += price[t] < INF ? price[t] : 0.0;
    return paid;
}

// The quadratic approximation of the likelihood at its maximum.

// Where the slopes of one line of the design are: `size` of them, `stride` apart.
struct Places {
    Int first;
    Int stride;
    Int size;
    Int operator[](Int c) const { return first + c * stride; }
};

inline Places places_of(Int line, Int classes, bool ordered, Int width) {
    if (ordered) return {classes - 1 + line - 1, 0, 1};
    return {line, width, classes - 1};
}

// Write the factor of the covariance of some slopes, shape (size, size), and the slopes.
inline void factor_of(Floats<1> slopes, Floats<2> inverse, Places place, OutFloats<2> factor,
                      OutFloats<1> value) {
    for (Int c = 0; c < place.size; ++c) {
        value[c] = slopes[place[c]];
        for (Int e = 0; e <= c; ++e) factor(c, e) = inverse(place[c], place[e]);
    }
    factorise(factor);
}

// Move to where the quadratic approximation is highest if the slopes at some places are 0.
inline void leave_out(OutFloats<1> slopes, OutFloats<2> inverse, Places place) {
    const Int size = slopes.size();
    Array<double, 2> factor(place.size, place.size);
    Array<double, 1> moves(place.size);
    Array<double, 2> steps(place.size, size);
    factor_of(slopes, inverse, place, factor, moves);
    for (Int c = 0; c < place.size; ++c) {
        const OutFloats<1> step = steps[c];
        for (Int i = 0; i < size; ++i) step[i] = inverse(place[c], i);
        for (Int a = 0; a < c; ++a) {
            moves[c] -= factor(c, a) * moves[a];
            for (Int i = 0; i < size; ++i) step[i] -= factor(c, a) * steps(a, i);
        }
        moves[c] /= factor(c, c);
        for (Int i = 0; i < size; ++i) step[i] /= factor(c, c);
    }
    for (Int c = 0; c < place.size; ++c) {
        const double *step = steps[c].data;
        for (Int i = 0; i < size; ++i) {
            slopes[i] -= moves[c] * step[i];
            double *line = inverse[i].data;
            for (Int j = 0; j < size; ++j) line[j] -= step[i] * step[j];
        }
    }
}

// Write which columns do not pay by the quadratic approximation, which moves along; or one that may
// turn out not to. `kept` columns are not asked; at most `most` go.
inline void find_worthless(const ClassRows &rows, double weight, OutFloats<1> slopes,
                           OutFloats<2> inverse, Floats<1> price, Bools<1> kept, Int before,
                           Int most, OutBools<1> out) {
    const Int count = kept.size();
    const Int width = before + count;
    const Int free = places_of(before, rows.classes, rows.ordered, width).size;
    Array<double, 2> factor(free, free);
    Array<double, 1> value(free);
    out.fill(false);
    for (Int turn = 0; turn < most; ++turn) {
        Int best = glm::NOBODY;
        double lowest = INF;
        double loss = INF;
        for (Int t = 0; t < count; ++t) {
            if (kept[t] || out[t] || price[t] == INF) continue;
            const Places place = places_of(before + t, rows.classes, rows.ordered, width);
            factor_of(slopes, inverse, place, factor, value);
            // Half of Wald's statistic: about what is lost without the column.
            const double own = weight * (0.5 * solve_half(factor, value));
            if (own - price[t] < lowest) {
                best = t;
                lowest = own - price[t];
                loss = own;
            }
        }
        if (best < 0 || loss > (turn > 0 ? price[best] : 2.0 * price[best] + SURE)) return;
        out[best] = true;
        leave_out(slopes, inverse, places_of(before + best, rows.classes, rows.ordered, width));
        if (loss > price[best]) return;
    }
}

// Fits.

// Part of the rows, to come close to the maximum: every FEW_ROWS-th one, `part` of shape
// (width, rows / FEW_ROWS), `few` of shape (rows / FEW_ROWS,). False if there are too few of some
// class.
inline bool write_few_rows(Floats<2> design, Ints<1> codes, Int classes, Int slopes,
                           OutFloats<2> part, OutInts<1> few) {
    const Int size = few.size();
    Array<Int, 1> counts(classes);
    for (Int row = 0; row < size; ++row) {
        few[row] = codes[FEW_ROWS * row];
        counts[std::min(few[row], classes - 1)] += 1;
    }
    bool enough = size >= ROWS_A_SLOPE * (slopes + classes);
    for (Int c = 0; c < classes; ++c) enough = enough && counts[c] >= ROWS_A_CLASS;
    if (!enough) return false;
    for (Int a = 0; a < design.shape[0]; ++a)
        for (Int row = 0; row < size; ++row) part(a, row) = design(a, FEW_ROWS * row);
    return true;
}

// The largest log-likelihood of classes given a design, or -inf if `needed` is clearly out of
// reach.
//
// The family is LOGIT, ORDINAL for ordered classes, TWO_PART for hurdles. The first row of the
// design, shape (width, rows), is 1; codes are 0 to classes - 1. `slopes` is where to start, then
// the maximum; with `far`, few rows come close to it first. `inverse` is written, that of the
// negative Hessian, where there is room.
inline double class_fit(Family family, Floats<2> design, Ints<1> codes, Int classes,
                        OutFloats<1> slopes, bool far, double needed, OutFloats<2> inverse) {
    const Int size = slopes.size();
    const Int free = classes - 1;
    const bool ordered = family == likelihoods::ORDINAL;
    const Ints<1> no_ties;
    Array<double, 2> curvature(size, size);
    Array<double, 1> ridge(size);
    glm::write_ridge(ordered ? likelihoods::ORDINAL : likelihoods::LOGIT, classes, design.shape[0],
                     glm::RIDGE, ridge);
    if (far) {
        const Int count = codes.size() / FEW_ROWS;
        Array<double, 2> part(design.shape[0], count);
        Array<Int, 1> few(count);
        if (write_few_rows(design, codes, classes, size, part, few) && count > 0)
            glm::maximise({family, part, few, free, no_ties}, ridge, slopes, curvature, -INF, 1.0);
    }
    const double likelihood = glm::maximise({family, design, codes, free, no_ties}, ridge, slopes,
                                            curvature, needed, TOLERANCE);
    if (likelihood > -INF && inverse.size() > 0) invert(curvature, inverse);
    return likelihood;
}

// A fit of a set of columns: where its likelihood is highest.
struct Fit {
    Array<double, 2> lines;   // of the design, shape (width, rows)
    Array<double, 1> slopes;
    Array<double, 2> inverse; // of the negative Hessian
};

// The same lines, slopes and inverse Hessian without the columns that go out.
inline Fit without(const ClassRows &rows, Floats<2> lines, Floats<1> slopes, Floats<2> inverse,
                   Bools<1> out, Int before) {
    const Int width = lines.shape[0];
    Int left = 0;
    Int places = 0;
    Array<bool, 1> goes(slopes.size());
    for (Int a = before; a < width; ++a) {
        if (!out[a - before]) continue;
        ++left;
        const Places place = places_of(a, rows.classes, rows.ordered, width);
        for (Int c = 0; c < place.size; ++c) goes[place[c]] = true;
        places += place.size;
    }
    const Int size = slopes.size() - places;
    Fit fit{Array<double, 2>(width - left, lines.shape[1]), Array<double, 1>(size),
            Array<double, 2>(size, size)};
    left = 0;
    for (Int a = 0; a < width; ++a)
        if (a < before || !out[a - before]) {
            const Floats<1> line = lines[a];
            std::copy(line.begin(), line.end(), fit.lines[left].begin());
            ++left;
        }
    places = 0;
    for (Int a = 0; a < slopes.size(); ++a) {
        if (goes[a]) continue;
        fit.slopes[places] = slopes[a];
        left = 0;
        for (Int b = 0; b < slopes.size(); ++b)
            if (!goes[b]) {
                fit.inverse(places, left) = inverse(a, b);
                ++left;
            }
        ++places;
    }
    return fit;
}

// Write the slopes that one set of columns has in common with another.
inline void carry_over(const ClassRows &rows, Ints<1> known, Floats<1> known_slopes,
                       Ints<1> chosen, Int before, OutFloats<1> slopes) {
    const Int width = before + chosen[0];
    const Int old_width = before + known[0];
    for (Int a = 0; a < width; ++a) {
        Int old = a < before ? a : glm::NOBODY;
        for (Int t = 0; t < known[0]; ++t)
            if (a >= before && known[1 + t] == chosen[1 + a - before]) old = before + t;
        if (old < 0 || (rows.ordered && a == 0)) continue;
        const Places here = places_of(a, rows.classes, rows.ordered, width);
        const Places there = places_of(old, rows.classes, rows.ordered, old_width);
        for (Int c = 0; c < here.size; ++c) slopes[here[c]] = known_slopes[there[c]];
    }
    for (Int c = 0; c < (rows.ordered ? rows.classes - 1 : 0); ++c) slopes[c] = known_slopes[c];
}

// The choice.

// What is left of a set of columns.
struct Thinned {
    double score;
    Int step; // every how many rows were used
    Array<double, 1> slopes;
};

// Remove the columns that go out from a set, with their prices.
inline void remove(Bools<1> out, OutInts<1> chosen, OutFloats<1> price, OutBools<1> kept) {
    Int place = 0;
    for (Int t = 0; t < chosen[0]; ++t)
        if (!out[t]) {
            chosen[1 + place] = chosen[1 + t];
            price[place] = price[t];
            kept[place] = kept[t];
            ++place;
        }
    chosen[0] = place;
}

// Drop columns as long as the score of the logit rises.
//
// Which ones do not pay is read off the quadratic approximation at the maximum, then tried out: all
// of them at once, or else the cheapest, which stays for good if it pays after all. A fit starts
// where the approximation has its maximum, and ends as soon as it is clear that it does not pay.
// With many classes and columns part of the rows have to do. A long first fit starts at the slopes
// of another set.
inline Thinned thin_out(const ClassRows &rows, Family family, OutInts<1> chosen,
                        OutFloats<1> price, Ints<1> known, Floats<1> known_slopes) {
    const Int classes = rows.classes;
    const Int step = step_of(rows, chosen[0]);
    Design design = design_of(rows, chosen, step);
    const Ints<1> codes = design.codes;
    const Int before = design.before;
    const Int width = design.lines.shape[0];
    const double weight = rows.weight * double(rows_of(rows)) / double(codes.size());
    const Int size = rows.ordered ? classes - 1 + width - 1 : (classes - 1) * width;
    const bool far = double(codes.size() * size * size) > MUCH_WORK;
    Fit fit{std::move(design.lines), Array<double, 1>(size), Array<double, 2>(size, size)};
    glm::write_start(codes, classes, rows.ordered, width, fit.slopes);
    if (far && known_slopes.size() > 0)
        carry_over(rows, known, known_slopes, chosen, before, fit.slopes);
    double paid = paid_for(rows, before, chosen[0], price);
    double score = weight * class_fit(family, fit.lines, codes, classes, fit.slopes, far, -INF,
                                      fit.inverse) - paid;
    Array<bool, 1> kept(chosen[0]);
    Array<bool, 1> all_out(chosen[0]);
    Int most = chosen[0];
    while (true) {
        const OutBools<1> out = all_out.slice(0, chosen[0]);
        Array<double, 1> start = copied(fit.slopes);
        Array<double, 2> spread = copied(fit.inverse);
        find_worthless(rows, weight, start, spread, price, kept.slice(0, chosen[0]), before, most,
                       out);
        Int count = 0;
        double saved = 0.0;
        for (Int t = 0; t < out.size(); ++t) {
            count += out[t] ? 1 : 0;
            saved += out[t] ? price[t] : 0.0;
        }
        if (count == 0) return {score, step, std::move(fit.slopes)};
        Fit smaller = without(rows, fit.lines, start, spread, out, before);
        const double needed = (score + paid - saved) / weight;
        Array<double, 1> ridge(smaller.slopes.size());
        glm::write_ridge(rows.ordered ? likelihoods::ORDINAL : likelihoods::LOGIT, classes,
                         smaller.lines.shape[0], glm::RIDGE, ridge);
        double value = -INF;
        if (!glm::is_out_of_reach(family, smaller.lines, codes, classes - 1, ridge, smaller.slopes,
                                  smaller.inverse, needed))
            value = class_fit(family, smaller.lines, codes, classes, smaller.slopes, false, needed,
                              smaller.inverse);
        if (weight * value - (paid - saved) > score) {
            paid -= saved;
            score = weight * value - paid;
            fit = std::move(smaller);
            remove(out, chosen, price, kept);
            most = chosen[0];
        } else if (count > 1) {
            most = 1;
        } else {
            for (Int t = 0; t < out.size(); ++t) kept[t] = kept[t] || out[t];
        }
    }
}

// The best score of two sets of columns and their union, each thinned out; the first set is
// replaced by the best.
//
// `sets`, shape (3, 1 + W), has the number of columns of each set, -1 for no set, then the columns;
// the third one is room for the union. `prices`, shape (3, W), are infinite for columns that must
// stay, whose price the caller subtracts.
inline double choose_columns(const ClassRows &rows, Family family, OutInts<2> sets,
                             OutFloats<2> prices) {
    double best = -INF;
    Int winner = 0;
    Int largest_step = 0;
    Array<double, 1> start(0);
    for (Int turn = 0; turn < 3; ++turn) {
        if (turn == 0 && includes(sets[0], sets[1]) && includes(sets[1], sets[0])) sets(1, 0) = -1;
        if (turn == 2) join(sets, prices);
        if (turn > 0 && sets(turn, 0) < 0) continue;
        Thinned thinned = thin_out(rows, family, sets[turn], prices[turn], sets[winner], start);
        if (thinned.score > best + BETTER) {
            best = thinned.score;
            winner = turn;
            start = std::move(thinned.slopes);
        }
        largest_step = std::max(largest_step, thinned.step);
    }
    for (Int t = 0; t <= sets(winner, 0); ++t) sets(0, t) = sets(winner, t);
    if (largest_step == 1) return best;
    const Design design = design_of(rows, sets[0], 1);
    const OutFloats<2> nothing;
    const double likelihood = class_fit(family, design.lines, design.codes, rows.classes, start,
                                        false, -INF, nothing);
    return rows.weight * likelihood - paid_for(rows, design.before, sets(0, 0), prices[winner]);
}

} // namespace cc::class_choice

// Sub-models of given orders: which of the variables before it a variable depends on, and with
// which coefficients.
//
// Sets of variables are bit masks. A variable is pooled (one regression on all rows); after a
// context it may also be shifted (one regression, around the means at every value) or apart (a
// regression of its own at every value). Regressions come from moments: a *block* is a set of rows
// with its centred cross products, `scatter`, shape (blocks, variables, variables); `facts`, shape
// (blocks, 3), are its rows, its intercepts and the price of a parameter.
#pragma once

#include "linear.hpp"

namespace cc::submodels {

// Columns of the facts about blocks.
enum { ROWS, LEVELS, PRICE };
// Columns of `readers`: the first block of a reader, how many values it has, then its value in
// every cell.
enum { FIRST_BLOCK, VALUES, VALUE_OF_CELL };
// What is left of a variable is no less than this share of it.
constexpr double NOTHING_LEFT = 1e-9;
// The least ratio of a chi-squared number to its degrees of freedom, before the cube.
constexpr double SMALLEST_CHI = 0.05;

// Write the members of a set; how many there are.
inline Int write_members(Int mask, OutInts<1> chosen) {
    Int count = 0;
    for (Int j = 0; j < chosen.size(); ++j)
        if ((mask & (Int(1) << j)) != 0) {
            chosen[count] = j;
            ++count;
        }
    return count;
}

// A regression on some variables of a block.
struct SetRegression {
    Floats<2> scatter;        // (variables, variables)
    Ints<1> chosen;           // (count,)
    Array<double, 2> factor;  // (count, count): of the cross products of the chosen ones
    Array<double, 1> solved;  // (count,): of the last variable, half solved

    SetRegression(Floats<2> scatter, Ints<1> chosen)
        : scatter(scatter), chosen(chosen), factor(chosen.size(), chosen.size()),
          solved(chosen.size()) {
        for (Int i = 0; i < chosen.size(); ++i)
            for (Int j = 0; j < chosen.size(); ++j) factor(i, j) = scatter(chosen[i], chosen[j]);
        factorise(factor);
    }

    // The sum of squares that is left of a variable.
    double left_of(Int v) {
        for (Int i = 0; i < chosen.size(); ++i) solved[i] = scatter(chosen[i], v);
        const double whole = scatter(v, v);
        return std::max(whole - solve_half(factor, solved), NOTHING_LEFT * whole);
    }
};

// Fill `weights[b, v, S]`: the log-likelihood of v given the set S in a block, less the price of
// its parameters; shape (blocks, variables, sets). Members of S are left out.
inline void subset_weights(Floats<3> scatter, Floats<2> facts, OutFloats<3> weights) {
    const Int size = scatter.shape[1];
    Array<Int, 1> chosen(size);
    for (Int block = 0; block < scatter.shape[0]; ++block) {
        const double n = facts(block, ROWS);
        for (Int members = 0; members < (Int(1) << size); ++members) {
            const Int count = write_members(members, chosen);
            const double parameters = double(count) + facts(block, LEVELS) + 1.0;
            SetRegression regression(scatter[block], chosen.slice(0, count));
            for (Int v = 0; v < size; ++v) {
                if ((members & (Int(1) << v)) != 0) continue;
                double &weight = weights(block, v, members);
                if (n - parameters < double(SPARE_ROWS)) weight = -INF;
                else
                    weight = -0.5 * n * std::log(regression.left_of(v) / n)
                             - facts(block, PRICE) * parameters;
            }
        }
    }
}

// The log of the sum over all sets that have the members of `must`, and any part of `free`.
inline double log_sum(Floats<1> weights, Int free, Int must) {
    double highest = -INF;
    for (Int part = free;; part = (part - 1) & free) {
        highest = std::max(highest, weights[must | part]);
        if (part == 0) break;
    }
    if (highest == -INF) return -INF;
    double total = 0.0;
    for (Int part = free;; part = (part - 1) & free) {
        total += std::exp(weights[must | part] - highest);
        if (part == 0) break;
    }
    return highest + std::log(total);
}

// One of these sets, with a probability proportional to the exponential of its weight.
inline Int draw_set(Floats<1> weights, Int free, Int must, double uniform) {
    const double total = log_sum(weights, free, must);
    double left = uniform;
    Int last = must;
    if (total == -INF) return last;
    for (Int part = free;; part = (part - 1) & free) {
        const double here = std::exp(weights[must | part] - total);
        if (here > 0.0) {
            last = must | part;
            left -= here;
        }
        if (left <= 0.0 || part == 0) return last;
    }
}

// The place of a number, with a probability proportional to its exponential.
inline Int draw_place(Floats<1> numbers, double uniform) {
    const double highest = *std::max_element(numbers.begin(), numbers.end());
    if (highest == -INF) return 0;
    double total = 0.0;
    for (double number : numbers) total += std::exp(number - highest);
    double left = uniform * total;
    Int last = 0;
    for (Int place = 0; place < numbers.size(); ++place) {
        const double here = std::exp(numbers[place] - highest);
        if (!(here > 0.0)) continue;
        last = place;
        left -= here;
        if (left <= 0.0) break;
    }
    return last;
}

// Fill `kinds` and `sets`: what every variable reads in every draw, and its causes in every cell.
//
// `weights`, shape (blocks, variables, sets), are those of the pooled block, then for every reader
// of the shifted one and those of its values. `readers`, shape (readers, 2 + cells), has the first
// block of a reader, how many values it has, and its value in every cell; `before`, shape (draws, 1
// + readers, variables), the variables before every variable as a bit mask, then, for every reader,
// 1 if it comes before the variable. Causes that are `allowed` and `required` are bit masks, shape
// (variables,); `may`, shape (1 + readers, variables), says whether a variable may be pooled, and
// whether it may use a reader. `uniform` has shape (draws, variables, 1 + cells). `kinds`, shape
// (draws, variables), are -1 pooled, 2 q shifted by reader q, 2 q + 1 apart; `sets` has shape
// (draws, variables, cells).
inline void draw_models(Floats<3> weights, Ints<2> readers, Ints<3> before, Ints<1> allowed,
                        Ints<1> required, Bools<2> may, Floats<3> uniform, OutInts<2> kinds,
                        OutInts<3> sets) {
    const Int cells = sets.shape[2];
    const Int count = readers.shape[0];
    Array<double, 1> total(1 + 2 * count);
    for (Int draw = 0; draw < kinds.shape[0]; ++draw)
        for (Int v = 0; v < kinds.shape[1]; ++v) {
            const Int must = required[v];
            const Int free = before(draw, 0, v) & allowed[v] & ~must;
            total[0] = may(0, v) ? log_sum(weights[0][v], free, must) : -INF;
            for (Int q = 0; q < count; ++q) {
                const bool usable = before(draw, 1 + q, v) == 1 && may(1 + q, v);
                const Int first = readers(q, FIRST_BLOCK);
                total[1 + 2 * q] = usable ? log_sum(weights[first][v], free, must) : -INF;
                total[2 + 2 * q] = usable ? 0.0 : -INF;
                for (Int value = 0; value < (usable ? readers(q, VALUES) : 0); ++value)
                    total[2 + 2 * q] += log_sum(weights[first + 1 + value][v], free, must);
            }
            const Int kind = draw_place(total, uniform(draw, v, 0)) - 1;
            kinds(draw, v) = kind;
            if (kind < 0 || kind % 2 == 0) {
                const Int block = kind < 0 ? 0 : readers(kind / 2, FIRST_BLOCK);
                sets[draw][v].fill(draw_set(weights[block][v], free, must, uniform(draw, v, 1)));
                continue;
            }
            const Int first = readers(kind / 2, FIRST_BLOCK);
            for (Int cell = 0; cell < cells; ++cell) {
                const Int value = readers(kind / 2, VALUE_OF_CELL + cell);
                sets(draw, v, cell) = draw_set(weights[first + 1 + value][v], free, must,
                                               uniform(draw, v, 1 + value));
            }
        }
}

// The residual standard deviation of a regression, drawn given the sum of squares that is left, by
// one standard normal number (Wilson and Hilferty 1931).
inline double drawn_spread(double left, double df, double normal) {
    const double part = 2.0 / (9.0 * df);
    const double root = std::max(1.0 - part + normal * std::sqrt(part), SMALLEST_CHI);
    return std::sqrt(left / (df * (root * root * root)));
}

// Fill `slopes[draw, cell, cause, effect]`, drawn from the t distribution around least squares.
//
// `normal`, shape (draws, variables, cells, 1 + variables), has standard normal numbers: the first
// one makes the residual variance.
inline void draw_slopes(Floats<3> scatter, Floats<2> facts, Ints<2> readers, Ints<2> kinds,
                        Ints<3> sets, Floats<4> normal, OutFloats<4> slopes) {
    const Int size = sets.shape[1];
    Array<Int, 1> chosen(size);
    for (Int draw = 0; draw < sets.shape[0]; ++draw)
        for (Int v = 0; v < size; ++v)
            for (Int cell = 0; cell < sets.shape[2]; ++cell) {
                const Int kind = kinds(draw, v);
                Int block = 0;
                Int source = 0;
                if (kind >= 0) {
                    block = readers(kind / 2, FIRST_BLOCK);
                    if (kind % 2 == 1) {
                        source = readers(kind / 2, VALUE_OF_CELL + cell);
                        block += 1 + source;
                    }
                }
                const Int count = write_members(sets(draw, v, cell), chosen);
                if (count == 0) continue;
                SetRegression regression(scatter[block], chosen.slice(0, count));
                const double left = regression.left_of(v);
                const double df =
                    std::max(facts(block, ROWS) - facts(block, LEVELS) - double(count), 1.0);
                const Floats<1> drawn = normal[draw][v][source];
                const double spread = drawn_spread(left, df, drawn[0]);
                for (Int k = 0; k < count; ++k)
                    regression.solved[k] += spread * drawn[1 + chosen[k]];
                solve_rest(regression.factor, regression.solved);
                for (Int k = 0; k < count; ++k)
                    slopes(draw, cell, chosen[k], v) = regression.solved[k];
            }
}

} // namespace cc::submodels

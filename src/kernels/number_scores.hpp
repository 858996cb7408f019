// What a noise density adds to the score of a number: residuals on the rows of a block, then the
// best density.
//
// The rows of `FitRows::values`, shape (columns, m), are sorted by cell; `groups`, shape (cells,),
// has the intercept of every cell, -1 for cells that are not in the block. A number that was
// counted or rounded is spread over its bin: `IN_A_BIN` rows of the values have it elsewhere in
// there.
#pragma once

#include "fit_arrays.hpp"

namespace cc::number_scores {

constexpr Int FEWEST_ROWS = 10;
// So many places in the bin of a count stand for it.
constexpr Int IN_A_BIN = 5;
// In place of the first row of a bin: noise is Gaussian.
constexpr Int NO_DENSITY = -2;

// The columns of a regression: their numbers among the rows of the values, the groups in which they
// live, as a bit mask (0: all), and their slopes; shape (columns,) each.
struct ChosenColumns {
    Ints<1> source;
    Ints<1> contexts;
    Floats<1> slopes;
};

// Residuals in one cell, `left`, shape (rows of the cell,): the response less the columns that live
// in its group; their sum.
CC_WIDE inline double write_cell(Floats<2> values, Int response, Int start, Int group,
                                 const ChosenColumns &chosen, OutFloats<1> left) {
    const Int length = left.shape[0];
    double *own = left.data;
    const double *numbers = values[response].data + start;
    for (Int t = 0; t < length; ++t) own[t] = numbers[t];
    for (Int place = 0; place < chosen.slopes.size(); ++place) {
        const Int contexts = chosen.contexts[place];
        if (contexts != 0 && (contexts & (Int(1) << group)) == 0) continue;
        const double *column = values[chosen.source[place]].data + start;
        const double slope = chosen.slopes[place];
        for (Int t = 0; t < length; ++t) own[t] -= slope * column[t];
    }
    return sum(own, length);
}

// Write the residuals on the rows of a block, up to a common intercept; how many there are.
inline Int write_residual(const orders::FitRows &rows, Ints<1> groups, Int response,
                          const ChosenColumns &chosen, OutFloats<1> residual) {
    Int size = 0;
    Int intercepts = 0;
    Array<double, 1> total(groups.size());
    Array<double, 1> count(groups.size());
    for (Int r = 0; r < groups.size(); ++r) {
        const Int group = groups[r];
        if (group < 0) continue;
        const Int length = rows.starts[r + 1] - rows.starts[r];
        total[group] += write_cell(rows.values, response, rows.starts[r], group, chosen,
                                   residual.slice(size, size + length));
        count[group] += double(length);
        size += length;
        intercepts = std::max(intercepts, group + 1);
    }
    if (intercepts <= 1) return size;
    Int place = 0;
    for (Int r = 0; r < groups.size(); ++r) {
        if (groups[r] < 0) continue;
        const Int end = place + rows.starts[r + 1] - rows.starts[r];
        const double mean = total[groups[r]] / count[groups[r]];
        for (; place < end; ++place) residual[place] -= mean;
    }
    return size;
}

// Residuals of all places in the bins, one place after the other, from the `size` residuals at the
// beginning.
inline void spread_over_bins(const orders::FitRows &rows, Ints<1> groups, Int response, Int pieces,
                             Int size, OutFloats<1> residual) {
    for (Int piece = IN_A_BIN - 1; piece >= 0; --piece) {
        Int place = 0;
        for (Int r = 0; r < groups.size(); ++r) {
            if (groups[r] < 0) continue;
            for (Int t = rows.starts[r]; t < rows.starts[r + 1]; ++t, ++place) {
                const double away = rows.values(pieces + piece, t) - rows.values(response, t);
                residual[piece * size + place] = residual[place] + away;
            }
        }
    }
}

// What the best noise density gains over the Gaussian one for a node with some columns; the rows of
// the block stand for `weight` rows of the table.
inline double number_gain(const orders::FitRows &rows, Ints<1> groups, Int node,
                          const ChosenColumns &chosen, double weight,
                          const noise_densities::DensityTable &densities) {
    const Int response = rows.node(node, orders::RESPONSE);
    const Int pieces = rows.node(node, orders::PIECES);
    if (pieces == NO_DENSITY) return 0.0;
    const bool in_bins = pieces >= 0;
    Array<double, 1> residual(rows.values.shape[1] * (in_bins ? IN_A_BIN : 1));
    Array<double, 1> density(noise_densities::SLOPES + noise_densities::MANY);
    Int size = write_residual(rows, groups, response, chosen, residual);
    if (size <= FEWEST_ROWS) return 0.0;
    if (in_bins) {
        spread_over_bins(rows, groups, response, pieces, size, residual);
        size *= IN_A_BIN;
    }
    return noise_densities::density_gain(residual.slice(0, size), weight, densities, density);
}

} // namespace cc::number_scores

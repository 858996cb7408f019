// The score of a number whose noise may have an uneven spread: columns of the location and of the
// scale in turns.
//
// Moments choose the columns of the location, rows those of the scale; then the location is chosen
// again with moments weighted by 1 / s², as long as the score rises. In `Fits::whole` columns of a
// scale are negative: -1 less their place among all that a scale may have, `SHAPES` for every
// candidate, then the groups of the block but one.
#pragma once

#include "scales.hpp"
#include "selection.hpp"

namespace cc::orders {

using scales::SAME_SCORE;
using scales::ScaleFit;
using scales::ScaleRows;
using scales::SHAPES;

// How often the columns of the location are chosen again with the weights of a scale.
constexpr int MOST_ROUNDS = 3;

// The number of groups of a block.
inline Int number_of_groups(Ints<1> groups) {
    return *std::max_element(groups.begin(), groups.end()) + 1;
}

// The rows of a block.
inline Int rows_of(const FitArrays &arrays, Int block) {
    const Ints<1> starts = arrays.rows.starts;
    const Ints<1> groups = arrays.tables.groups[block];
    Int size = 0;
    for (Int r = 0; r < groups.size(); ++r)
        if (groups[r] >= 0) size += starts[r + 1] - starts[r];
    return size;
}

// How many columns a scale may have in a block: `SHAPES` of every candidate, and all groups but
// one.
inline Int most_scales(const FitArrays &arrays, Int block) {
    const Int shapes = SHAPES * arrays.work.candidates.size();
    return shapes + number_of_groups(arrays.tables.groups[block]) - 1;
}

// Room for a fit with so many columns of the location.
inline ScaleFit no_scale(const FitArrays &arrays, Int block, Int columns) {
    return ScaleFit(rows_of(arrays, block),
                    number_of_groups(arrays.tables.groups[block]) + columns);
}

// Write a row of the values on the rows of a block, 0 outside the groups of a bit mask (0: all).
inline void gather(const FitRows &rows, Ints<1> groups, Int source, Int lives,
                   OutFloats<1> goal) {
    const double *values = rows.values[source].data;
    double *entry = goal.data;
    for (Int r = 0; r < groups.size(); ++r) {
        if (groups[r] < 0) continue;
        const Int start = rows.starts[r];
        const Int length = rows.starts[r + 1] - start;
        const bool here = lives == 0 || (lives & (Int(1) << groups[r])) != 0;
        if (here) std::copy_n(values + start, length, entry);
        else std::fill_n(entry, length, 0.0);
        entry += length;
    }
}

// Write 1 on the rows of a group of a block, 0 on its other rows.
inline void write_indicator(const FitRows &rows, Ints<1> groups, Int group, OutFloats<1> goal) {
    double *entry = goal.data;
    for (Int r = 0; r < groups.size(); ++r) {
        if (groups[r] < 0) continue;
        const Int length = rows.starts[r + 1] - rows.starts[r];
        std::fill_n(entry, length, groups[r] == group ? 1.0 : 0.0);
        entry += length;
    }
}

// Take the mean from a column; its sum of squares then.
inline double centre(OutFloats<1> column) {
    double total = 0.0;
    double square = 0.0;
    for (double value : column) total += value;
    for (double &value : column) {
        value -= total / double(column.size());
        square += value * value;
    }
    return square;
}

// The score of some columns of the location with the best scale of those offered, beginning with
// the columns of `fit`. Columns that are not offered to the scale, and not taken, are 0.
inline double location_and_scale(const FitArrays &arrays, Int block, Int node, Ints<1> chosen,
                                 Bools<1> offered, ScaleFit &fit, OutBools<1> tried) {
    const Regression table = regression_of(arrays, block, node);
    const FitRows &rows = arrays.rows;
    const Ints<1> groups = arrays.tables.groups[block];
    const Int m = fit.residual.size();
    const Int intercepts = number_of_groups(groups);
    const Int first = Int(rows.facts[SCALES]);
    const Int shapes = SHAPES * arrays.work.candidates.size();
    const double price = arrays.tables.number(block, PRICE);
    Array<double, 1> response(m);
    Array<double, 2> location(intercepts + chosen.size(), m);
    Array<double, 2> columns(offered.size(), m);
    Array<double, 1> square(offered.size());
    Array<double, 1> prices(offered.size());
    gather(rows, groups, rows.node(node, RESPONSE), 0, response);
    for (Int group = 0; group < intercepts; ++group)
        write_indicator(rows, groups, group, location[group]);
    for (Int t = 0; t < chosen.size(); ++t)
        gather(rows, groups, table.about(SOURCE, chosen[t]), table.about(CONTEXTS, chosen[t]),
               location[intercepts + t]);
    const Ints<1> taken = fit.columns();
    for (Int h = 0; h < offered.size(); ++h) {
        const bool is_shape = h < shapes;
        prices[h] = price + (is_shape && h % SHAPES > 0 ? scales::CHOICE : 0.0);
        if (!offered[h] && std::find(taken.begin(), taken.end(), h) == taken.end()) continue;
        if (is_shape) gather(rows, groups, first + h, 0, columns[h]);
        else write_indicator(rows, groups, 1 + h - shapes, columns[h]);
        square[h] = centre(columns[h]);
    }
    const ScaleRows scale_rows = {response, location, columns, square, prices, table.rows};
    double score = scales::choose_scale(scale_rows, arrays.densities, fit, tried);
    for (Int column : chosen) score -= price_of(table, column);
    return score + arrays.tables.number(block, START);
}

// All columns that a fit ever took, up to so many.
struct Trail {
    Array<Int, 1> columns;
    Int count = 0;
    bool overflown = false; // there were more, and none is listed

    explicit Trail(Int room) : columns(room) {}

    Ints<1> listed() const { return columns.slice(0, count); }

    void add(Int column) {
        if (overflown) return;
        if (count == columns.size()) {
            overflown = true;
            count = 0;
            return;
        }
        columns[count] = column;
        ++count;
    }

    // Add the columns of a path.
    void add_path(Ints<1> whole) {
        for (Int t = 0; t < whole[LENGTH]; ++t) {
            const Int column = whole[PATH + t];
            const Ints<1> known = listed();
            if (std::find(known.begin(), known.end(), column) == known.end()) add(column);
        }
    }
};

// The columns that a selection took.
inline Array<Int, 1> taken_columns(OutInts<1> whole) {
    Array<Int, 1> columns(whole[TAKEN]);
    std::copy_n(chosen_of(whole).begin(), columns.size(), columns.begin());
    return columns;
}

// Whether two sets have the same columns.
inline bool are_same(Ints<1> one, Ints<1> other) {
    Int shared = 0;
    for (Int column : one) shared += std::count(other.begin(), other.end(), column);
    return shared == one.size() && shared == other.size();
}

// Mark the variables whose candidacy matters, and add the columns that the scale tried to the
// trail.
//
// The former are the owners of all columns that were ever taken, and all that are no candidates
// yet; everybody where too many were taken to list.
inline void mark(const Regression &table, OutBools<1> matters, Bools<1> candidates,
                 Bools<1> tried, Trail &trail) {
    if (matters.size() > 0) {
        for (Int j = 0; j < matters.size(); ++j) matters[j] = !candidates[j] || trail.overflown;
        for (Int column : trail.listed())
            for (Int side : {OWNER, PARTNER}) {
                const Int owner = table.about(side, column);
                if (owner >= 0) matters[owner] = true;
            }
    }
    for (Int column = 0; column < SHAPES * candidates.size(); ++column) {
        if (!tried[column]) continue;
        if (matters.size() > 0) matters[column / SHAPES] = true;
        trail.add(-1 - column);
    }
}

// Write the columns that were chosen, and all that were ever taken.
inline void write_fit(OutInts<1> whole, Ints<1> chosen, Ints<1> scale, const Trail &trail) {
    const OutInts<1> goal = chosen_of(whole);
    whole[TAKEN] = chosen.size() + scale.size();
    for (Int t = 0; t < chosen.size(); ++t) goal[t] = chosen[t];
    for (Int t = 0; t < scale.size(); ++t) goal[chosen.size() + t] = -1 - scale[t];
    whole[LENGTH] = trail.count;
    if (trail.overflown) whole[END] = UNKNOWN;
    for (Int t = 0; t < trail.count; ++t) whole[PATH + t] = trail.columns[t];
}

// The plain columns of the response and of the candidates.
inline Array<Int, 1> columns_in_use(const FitArrays &arrays, Int node) {
    const Int response = arrays.rows.node(node, RESPONSE);
    const Int plain = arrays.tables.means.shape[1];
    const auto is_used = [&](Int column) {
        const Int owner = arrays.tables.about(0, OWNER, column);
        return column == response || (arrays.work.candidates[owner] && owner != node);
    };
    Int count = 0;
    for (Int column = 0; column < plain; ++column) count += is_used(column) ? 1 : 0;
    Array<Int, 1> columns(count);
    count = 0;
    for (Int column = 0; column < plain; ++column) {
        if (!is_used(column)) continue;
        columns[count] = column;
        ++count;
    }
    return columns;
}

// Write the weighted moments of some columns in cell r.
CC_WIDE inline void write_cell_moments(const FitRows &rows, const BlockTables &tables, Int r,
                                       Ints<1> columns, Floats<1> weight) {
    const Int start = rows.starts[r];
    const Int length = weight.shape[0];
    const double total = sum(weight.data, length);
    tables.n[r] = total;
    if (!(total > 0.0)) return;
    Array<double, 2> part(columns.size(), length);
    Array<double, 2> products(columns.size(), columns.size());
    for (Int a = 0; a < columns.size(); ++a) {
        const double *numbers = rows.values[columns[a]].data + start;
        double *away = part[a].data;
        const double mean = dot(weight.data, numbers, length) / total;
        for (Int t = 0; t < length; ++t) away[t] = numbers[t] - mean;
        tables.means(r, columns[a]) = mean;
    }
    weighted_products(part, weight, products);
    for (Int a = 0; a < columns.size(); ++a)
        for (Int b = 0; b <= a; ++b) {
            tables.scatter(r, columns[a], columns[b]) = products(a, b);
            tables.scatter(r, columns[b], columns[a]) = products(a, b);
        }
}

// Σ over the cells of a group: the sum of squares of a column around the group's mean.
inline double group_scatter(const BlockTables &tables, Ints<1> groups, Int group, Int column) {
    double n = 0.0;
    double total = 0.0;
    double scatter = 0.0;
    for (Int r = 0; r < groups.size(); ++r)
        if (groups[r] == group) {
            n += tables.n[r];
            total += tables.n[r] * tables.means(r, column);
        }
    if (!(n > 0.0)) return 0.0;
    for (Int r = 0; r < groups.size(); ++r)
        if (groups[r] == group) {
            const double away = tables.means(r, column) - total / n;
            scatter += tables.scatter(r, column, column) + tables.n[r] * away * away;
        }
    return scatter;
}

// Write the variances of columns in a block, around the means of its groups, and of columns by
// values of a reader.
inline void write_variances(const BlockTables &tables, Int block, Ints<1> columns) {
    const Ints<1> groups = tables.groups[block];
    const Int bits = tables.block(block, BITS);
    Array<double, 1> apart(number_of_groups(groups));
    for (Int column : columns) {
        for (Int group = 0; group < apart.size(); ++group)
            apart[group] = group_scatter(tables, groups, group, column);
        for (Int lives = 0; lives < (Int(1) << bits); ++lives) {
            double value = 0.0;
            for (Int group = 0; group < apart.size(); ++group)
                if (bits == 0 || ((lives >> group) & 1) != 0) value += apart[group];
            tables.variance(block, (column << bits) + lives) = value / tables.number(block, ROWS);
        }
    }
}

// Write moments of the columns in use by cell with weights 1 / s², whose mean over the rows of the
// block is 1.
inline void write_moments(const FitWorkspace &workspace, Int block, Int node,
                          Floats<1> log_scale) {
    const FitRows &rows = workspace.arrays.rows;
    const BlockTables &tables = workspace.weighted.tables;
    const KeptRows &kept = workspace.weighted.covariances;
    const Ints<1> groups = tables.groups[block];
    kept.names.fill(0);
    kept.filled.fill(0);
    Array<double, 1> weight(log_scale.size());
    double total = 0.0;
    for (Int t = 0; t < weight.size(); ++t) {
        weight[t] = std::exp(-2.0 * log_scale[t]);
        total += weight[t];
    }
    for (double &each : weight) each *= tables.number(block, ROWS) / total;
    const Array<Int, 1> columns = columns_in_use(workspace.arrays, node);
    Int first = 0;
    for (Int r = 0; r < groups.size(); ++r) {
        tables.n[r] = 0.0;
        if (groups[r] < 0) continue;
        const Int end = first + rows.starts[r + 1] - rows.starts[r];
        write_cell_moments(rows, tables, r, columns, weight.slice(first, end));
        first = end;
    }
    write_variances(tables, block, columns);
}

// Choose columns of the location and of the scale of a number in a block, and write them; the
// score.
inline double fit_scaled(const FitWorkspace &workspace, Int block, Int node, Int slot) {
    const FitArrays &arrays = workspace.arrays;
    const bool plain = arrays.rows.facts[CURVES] == 0.0;
    const OutInts<1> whole = arrays.fits.whole[node][slot];
    const Bools<1> candidates = arrays.work.candidates;
    Array<bool, 1> offered(most_scales(arrays, block));
    Array<bool, 1> tried(offered.size());
    Trail trail(room_of(whole));
    select(arrays, block, node, plain, slot);
    for (Int column = 0; column < offered.size(); ++column)
        offered[column] =
            column >= SHAPES * candidates.size() || candidates[column / SHAPES];
    trail.add_path(whole);
    Array<Int, 1> chosen = taken_columns(whole);
    ScaleFit fit = no_scale(arrays, block, chosen.size());
    double score = location_and_scale(arrays, block, node, chosen, offered, fit, tried);
    const int rounds = fit.taken[0] > 0 ? MOST_ROUNDS : 0;
    for (int round = 0; round < rounds; ++round) {
        write_moments(workspace, block, node, fit.log_scale);
        select(workspace.weighted, block, node, plain, slot);
        trail.add_path(whole);
        Array<Int, 1> others = taken_columns(whole);
        if (are_same(chosen, others)) break;
        ScaleFit other = no_scale(arrays, block, others.size());
        std::copy(fit.taken.begin(), fit.taken.end(), other.taken.begin());
        const double better =
            location_and_scale(arrays, block, node, others, offered, other, tried);
        if (better <= score + SAME_SCORE) break;
        score = better;
        chosen = std::move(others);
        fit = std::move(other);
    }
    mark(regression_of(arrays, block, node), arrays.fits.matters[node][slot], candidates, tried,
         trail);
    write_fit(whole, chosen, fit.columns(), trail);
    return score;
}

// The score of given columns, those of the scale negative; the slopes in `Scratch::small` are those
// of the location, then those of the scale.
inline double score_scaled(const FitArrays &arrays, Int block, Int node, Ints<1> columns) {
    Array<Int, 1> location(columns.size());
    Int count = 0;
    for (Int column : columns) {
        if (column < 0) continue;
        location[count] = column;
        ++count;
    }
    ScaleFit fit = no_scale(arrays, block, count);
    for (Int column : columns)
        if (column < 0) fit.take(-1 - column);
    const Array<bool, 1> offered(most_scales(arrays, block));
    const Array<bool, 1> tried(0);
    const double score = location_and_scale(arrays, block, node, location.slice(0, count), offered,
                                            fit, tried);
    const OutFloats<2> slopes = arrays.work.small[SLOPES];
    const Int intercepts = fit.location.size() - count;
    for (Int t = 0; t < count; ++t) slopes(t, 0) = fit.location[intercepts + t];
    for (Int t = 0; t < fit.taken[0]; ++t) slopes(count + t, 0) = fit.slopes[t];
    return score;
}

} // namespace cc::orders

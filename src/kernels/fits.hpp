// The score of a node in a block: columns by moments, then the chosen set once on the rows.
//
// Moments choose the columns. What is chosen is evaluated on the rows: the noise density of a
// number, the logit of a category. `fit` chooses among candidates, for searches; `fit_many` does so
// for many nodes, `score_sets` scores given sets of columns, and `best_extras` says what one more
// column would gain, all three for Python.
#pragma once

#include "class_choice.hpp"
#include "number_scores.hpp"
#include "scaled_fits.hpp"

namespace cc::orders {

// Columns whose squared correlation is higher are tried in each other's place.
constexpr double ALIKE = 0.4;

// Whether the noise of a node may have an uneven spread; neither in bins nor where it is always
// Gaussian.
inline bool is_scaled(const FitRows &rows, Int node) {
    return rows.facts[SCALES] > 0.0 && rows.node(node, KIND) == NUMBER
           && rows.node(node, PIECES) == -1;
}

// The penalised log-likelihood of a number of which this variance is left, `start` without parents.
inline double gaussian_score(double start, const Regression &table, double left, Ints<1> chosen) {
    double score = start - 0.5 * table.rows * std::log(std::max(left, SMALLEST_VARIANCE));
    for (Int column : chosen) score -= price_of(table, column);
    return score;
}

// What the best noise density gains, with the slopes that are in `Scratch::small`.
inline double density_gain(const Regression &table, Ints<1> chosen) {
    const FitArrays &arrays = table.arrays;
    Array<Int, 1> source(chosen.size());
    Array<Int, 1> contexts(chosen.size());
    Array<double, 1> slopes(chosen.size());
    for (Int t = 0; t < chosen.size(); ++t) {
        source[t] = table.about(SOURCE, chosen[t]);
        contexts[t] = table.about(CONTEXTS, chosen[t]);
        slopes[t] = arrays.work.small(SLOPES, t, 0);
    }
    return number_scores::number_gain(arrays.rows, arrays.tables.groups[table.block], table.node,
                                      {source, contexts, slopes}, table.rows, arrays.densities);
}

// The score of a number: Gaussian, plus what a noise density gains; a gain is looked up once.
inline double fit_number(const FitArrays &arrays, Int block, Int node, Int slot) {
    const FitRows &rows = arrays.rows;
    const Memory &memory = arrays.memory;
    const OutInts<1> whole = arrays.fits.whole[node][slot];
    const double left = select(arrays, block, node, rows.facts[CURVES] == 0.0, slot);
    const Regression table = regression_of(arrays, block, node);
    const Ints<1> chosen = chosen_of(whole).slice(0, whole[TAKEN]);
    const double score = gaussian_score(arrays.tables.number(block, START), table, left, chosen);
    if (rows.facts[DENSITIES] == 0.0) return score;
    const std::uint64_t name = name_of_set(table, chosen);
    const Int place = place_of(memory.names, name);
    if (memory.names[place] == name) return score + memory.scores[place];
    const double gain = density_gain(table, chosen);
    store(memory, place, name, gain);
    return score + gain;
}

// A category as a response on the rows of one block.
inline class_choice::ClassRows classes_of(const FitArrays &arrays, Int block, Int node) {
    const FitRows &rows = arrays.rows;
    return {rows.values,
            rows.codes[node],
            rows.starts,
            arrays.tables.groups[block],
            rows.node(node, CLASSES),
            rows.node(node, KIND) == ORDERED,
            rows.facts[WEIGHT],
            arrays.tables.number(block, PRICE)};
}

// The score of a category on the rows of a block, as `choose_columns` has it.
inline double best_of_sets(const FitArrays &arrays, Int block, Int node, OutInts<2> sets,
                           OutFloats<2> prices) {
    const class_choice::ClassRows rows = classes_of(arrays, block, node);
    const Int kind = arrays.rows.node(node, KIND);
    likelihoods::Family family = likelihoods::LOGIT;
    if (kind == ORDERED) family = likelihoods::ORDINAL;
    if (kind == HURDLE) family = likelihoods::TWO_PART;
    const double score = class_choice::choose_columns(rows, family, sets, prices);
    return kind == HURDLE ? score - rows.price : score; // that of its variance
}

// The score of a category with a set of columns as it is; remembered.
inline double class_score(const Regression &table, Ints<1> columns) {
    const FitArrays &arrays = table.arrays;
    const Memory &memory = arrays.memory;
    const std::uint64_t name = ~name_of_set(table, columns) | 1;
    const Int place = place_of(memory.names, name);
    if (memory.names[place] == name) return memory.scores[place];
    Array<Int, 2> sets(3, columns.size() + 1);
    Array<double, 2> prices(3, columns.size());
    sets.fill(-1);
    prices.fill(INF);
    sets(0, 0) = columns.size();
    for (Int a = 0; a < columns.size(); ++a) sets(0, 1 + a) = columns[a];
    double score = best_of_sets(arrays, table.block, table.node, sets, prices);
    for (Int column : columns) score -= price_of(table, column);
    store(memory, place, name, score);
    return score;
}

// Note that a column was tried in the place of a chosen one.
inline void note_tried(const Regression &table, Int column, OutInts<1> whole,
                       OutBools<1> matters) {
    const Int owner = table.about(OWNER, column);
    if (owner < matters.size()) matters[owner] = true;
    if (whole[END] != UNKNOWN && whole[LENGTH] < room_of(whole)) {
        whole[PATH + whole[LENGTH]] = column;
        whole[LENGTH] += 1;
    } else {
        whole[END] = UNKNOWN;
    }
}

// Replace columns of a category by candidates that are nearly copies of them, as long as the score
// rises.
//
// Only where something is given: the past of a series is nearly a copy of its present, and
// whichever of the two was chosen first leaves nothing for the other. Sets of nodes are all tried
// by an exact search.
inline double swap_columns(const Regression &table, Int slot, double score) {
    const FitArrays &arrays = table.arrays;
    const Bools<1> candidates = arrays.work.candidates;
    const OutInts<1> whole = arrays.fits.whole[table.node][slot];
    const OutBools<1> matters = arrays.fits.matters[table.node][slot];
    const OutInts<1> chosen = chosen_of(whole).slice(0, whole[TAKEN]);
    Array<Int, 1> trial(chosen.size());
    for (Int t = 0; t < chosen.size(); ++t) {
        const Int given = chosen[t];
        if (is_required(table, given)) continue;
        Int best = given;
        for (Int column = table.first[0]; column < table.first[candidates.size()]; ++column) {
            if (!candidates[table.about(OWNER, column)] || table.about(CURVED, column)) continue;
            const Floats<1> row = row_of(table, given >> table.bits);
            const double shared = row[column & shared_values(table, given)];
            if (!(shared * shared > ALIKE * table.variance[given] * table.variance[column]))
                continue;
            note_tried(table, column, whole, matters);
            if (std::find(chosen.begin(), chosen.end(), column) != chosen.end()) continue;
            std::copy(chosen.begin(), chosen.end(), trial.begin());
            trial[t] = column;
            const double value = class_score(table, trial);
            if (value > score + SAME_SCORE) {
                score = value;
                best = column;
            }
        }
        chosen[t] = best;
    }
    return score;
}

// Write a set of columns and their prices, infinite for those that stay.
inline void write_set(const Regression &table, Ints<1> chosen, OutInts<1> set,
                      OutFloats<1> prices) {
    set[0] = chosen.size();
    for (Int t = 0; t < chosen.size(); ++t) {
        set[1 + t] = chosen[t];
        prices[t] = is_required(table, chosen[t]) ? INF : price_of(table, chosen[t]);
    }
}

// The score of a category; the columns that are left of the choice are written.
inline double fit_classes(const FitArrays &arrays, Int block, Int node, Int slot) {
    const Memory &memory = arrays.memory;
    const Regression table = regression_of(arrays, block, node);
    const OutInts<1> whole = arrays.fits.whole[node][slot];
    const OutInts<1> chosen = chosen_of(whole);
    const bool plain = arrays.rows.facts[CURVES] == 0.0;
    Array<Int, 2> sets(3, chosen.size() + 1);
    Array<double, 2> prices(3, chosen.size());
    sets.fill(-1);
    std::uint64_t name = 0;
    for (Int turn : {1, 0}) { // the choice among all columns, then that among plain ones
        if (turn == 1 || !plain) {
            select(arrays, block, node, plain || turn == 0, slot);
            const std::uint64_t own = name_of_set(table, chosen.slice(0, whole[TAKEN]));
            name = (name << 7) ^ (name >> 57) ^ own;
        }
        write_set(table, chosen.slice(0, whole[TAKEN]), sets[turn], prices[turn]);
    }
    if (!plain) {
        whole[END] = UNKNOWN;
        arrays.fits.matters[node][slot].fill(true);
    }
    name |= 1;
    const Int place = place_of(memory.names, name);
    double score = 0.0;
    if (memory.names[place] == name) {
        score = memory.scores[place];
        const Ints<1> left = memory.columns[memory.number[place]];
        std::copy_n(left.begin(), left[0] + 1, sets[0].begin());
    } else {
        score = best_of_sets(arrays, block, node, sets, prices);
        if (store(memory, place, name, score))
            std::copy_n(sets[0].begin(), sets(0, 0) + 1,
                        memory.columns[memory.number[place]].begin());
    }
    whole[TAKEN] = sets(0, 0);
    for (Int t = 0; t < whole[TAKEN]; ++t) {
        chosen[t] = sets(0, 1 + t);
        if (is_required(table, chosen[t])) score -= price_of(table, chosen[t]);
    }
    const bool something_given = arrays.fits.whole.shape[0] < arrays.work.candidates.size();
    return something_given ? swap_columns(table, slot, score) : score;
}

// A fit without columns, whose score is -infinity.
inline double no_fit(const Fits &fits, Int node, Int slot) {
    const OutInts<1> whole = fits.whole[node][slot];
    whole[END] = CLOSED;
    whole[LENGTH] = 0;
    whole[TAKEN] = 0;
    fits.matters[node][slot].fill(false);
    fits.scores(node, slot) = -INF;
    return -INF;
}

// Choose columns of `workspace.arrays.work.candidates` for a node in a block, and write them to a
// slot with their score, which is returned.
inline double fit(const FitWorkspace &workspace, Int block, Int node, Int slot) {
    const FitArrays &arrays = workspace.arrays;
    const Ints<1> facts = arrays.tables.block[block];
    const Int kind = arrays.rows.node(node, KIND);
    const KeptFits &kept = arrays.kept;
    const bool keeps = kept.names.size() > 0;
    std::uint64_t name = 0;
    if (facts[LIMIT] < 0 || (facts[DESIGN] > 0 && kind != NUMBER))
        return no_fit(arrays.fits, node, slot);
    if (keeps) {
        name = name_of_fit(kept.keys, facts[IDENTITY], node, arrays.work.candidates);
        const Int place = place_of(kept.names, name);
        if (kept.names[place] == name) {
            const double score = recall(kept, place, arrays.fits, node, slot);
            arrays.fits.scores(node, slot) = score;
            return score;
        }
    }
    double score = 0.0;
    if (is_scaled(arrays.rows, node)) score = fit_scaled(workspace, block, node, slot);
    else if (kind == NUMBER) score = fit_number(arrays, block, node, slot);
    else score = fit_classes(arrays, block, node, slot);
    arrays.fits.scores(node, slot) = score;
    if (keeps) keep(kept, name, arrays.fits, node, slot, score);
    return score;
}

// Fit nodes one after the other, in the first slot: task t is a block and a node, `candidates` are
// (tasks, p).
//
// Written are scores, slopes of the chosen columns of numbers, shape (tasks, W), and `sets`, shape
// (tasks, 1 + W): the number of chosen columns, and the columns.
inline void fit_many(const FitWorkspace &workspace, Ints<2> tasks, Bools<2> candidates,
                     OutFloats<1> scores, OutFloats<2> slopes, OutInts<2> sets) {
    const FitArrays &arrays = workspace.arrays;
    for (Int t = 0; t < tasks.shape[0]; ++t) {
        const Int node = tasks(t, 1);
        std::copy(candidates[t].begin(), candidates[t].end(), arrays.work.candidates.begin());
        scores[t] = fit(workspace, tasks(t, 0), node, 0);
        const OutInts<1> whole = arrays.fits.whole[node][0];
        const Ints<1> chosen = chosen_of(whole);
        sets(t, 0) = whole[TAKEN];
        for (Int a = 0; a < whole[TAKEN]; ++a) {
            slopes(t, a) = arrays.work.small(SLOPES, a, 0);
            sets(t, 1 + a) = chosen[a];
        }
    }
}

// Score sets of columns as they are: task t is a block and a node, `sets[t]` a number of columns
// and the columns.
//
// `out`, shape (tasks, 2 + W), is written: the score; for numbers the residual variance and the
// slopes, for those with a scale the variance of a number with this score.
inline void score_sets(const FitWorkspace &workspace, Ints<2> tasks, Ints<2> sets,
                       OutFloats<2> out) {
    const FitArrays &arrays = workspace.arrays;
    for (Int t = 0; t < tasks.shape[0]; ++t) {
        const Int block = tasks(t, 0);
        const Int node = tasks(t, 1);
        const Int count = sets(t, 0);
        const Ints<1> chosen = sets[t].slice(1, 1 + count);
        const double start = arrays.tables.number(block, START);
        const Regression table = regression_of(arrays, block, node);
        if (arrays.rows.node(node, KIND) != NUMBER) {
            out(t, 0) = class_score(table, chosen);
            continue;
        }
        if (is_scaled(arrays.rows, node)) {
            out(t, 0) = score_scaled(arrays, block, node, chosen);
            out(t, 1) = std::exp(2.0 * (start - out(t, 0)) / table.rows);
        } else {
            solve(table, chosen, count, arrays.work);
            out(t, 1) = std::max(arrays.work.small(RESIDUAL, 0, 0), SMALLEST_VARIANCE);
            out(t, 0) = gaussian_score(start, table, out(t, 1), chosen);
            if (arrays.rows.facts[DENSITIES] > 0.0) out(t, 0) += density_gain(table, chosen);
        }
        for (Int a = 0; a < count; ++a) out(t, 2 + a) = arrays.work.small(SLOPES, a, 0);
    }
}

// Regress the response on some columns, and all other columns too.
//
// `work.rows` has their covariances with what every chosen column adds to those before it, in units
// in which that has variance 1, `work.shared` their covariances with what is left of the response,
// `work.small` the inverse of its covariance.
inline void regress_all(const Regression &table, Ints<1> chosen, const Scratch &work) {
    const Int count = chosen.size();
    const Int first = table.first[0];
    const Int end = table.first[table.first.size() - 1];
    const Floats<2> inverse = work.small[FACTOR_INVERSE];
    const Floats<2> slopes = work.small[SLOPES];
    solve(table, chosen, count, work);
    invert_covariance(work.small[RESIDUAL], work.small[RESIDUAL_INVERSE], table.width);
    for (Int a = 0; a < table.width; ++a) {
        const Floats<1> row = row_of(table, table.response + a);
        std::copy(row.begin() + first, row.begin() + end, work.shared[a].begin() + first);
    }
    for (Int j = 0; j < count; ++j) {
        const Floats<1> row = row_of(table, chosen[j] >> table.bits);
        const Int own_values = shared_values(table, chosen[j]);
        double *own = work.rows[j].data;
        for (Int column = first; column < end; ++column) own[column] = row[column & own_values];
        for (Int a = 0; a < table.width; ++a) {
            double *shared = work.shared[a].data;
            for (Int column = first; column < end; ++column)
                shared[column] -= slopes(j, a) * own[column];
        }
    }
    for (Int i = count - 1; i >= 0; --i) {
        double *own = work.rows[i].data;
        for (Int column = first; column < end; ++column) own[column] *= inverse(i, i);
        for (Int j = 0; j < i; ++j) {
            const double *other = work.rows[j].data;
            for (Int column = first; column < end; ++column)
                own[column] += inverse(i, j) * other[column];
        }
    }
}

struct Explained {
    double share;
    double sign; // that of the covariance
};

// After `regress_all` with `count` columns, the share of the residual response that one more column
// explains.
inline Explained explained_by(const Regression &table, Int count, Int column,
                              const Scratch &work) {
    double variance = table.variance[column];
    for (Int i = 0; i < count; ++i) variance -= work.rows(i, column) * work.rows(i, column);
    if (variance <= SAME_COLUMN_BELOW * table.variance[column]) return {0.0, 1.0};
    double total = 0.0;
    for (Int a = 0; a < table.width; ++a)
        for (Int b = 0; b < table.width; ++b)
            total += work.shared(a, column) * work.small(RESIDUAL_INVERSE, a, b)
                     * work.shared(b, column);
    return {std::min(total / variance, 1.0), work.shared(0, column)};
}

// What the best further column of every variable gains by moments, its price paid, given a set of
// columns.
//
// `curves`, shape (2,), says whether plain columns and whether curves are tried. `out`, shape
// (tasks, p, 2), is written: the gain (-inf if there is no column), and the share of the residual
// variance it explains, with the sign of the covariance; of a product both factors count as its
// owner.
inline void best_extras(const FitWorkspace &workspace, Ints<2> tasks, Ints<2> sets,
                        Bools<1> curves, OutFloats<3> out) {
    const FitArrays &arrays = workspace.arrays;
    const Int p = out.shape[1];
    for (Int t = 0; t < tasks.shape[0]; ++t) {
        const Int node = tasks(t, 1);
        const Int count = sets(t, 0);
        const Regression table = regression_of(arrays, tasks(t, 0), node);
        regress_all(table, sets[t].slice(1, 1 + count), arrays.work);
        for (Int j = 0; j < p; ++j) {
            out(t, j, 0) = -INF;
            out(t, j, 1) = 0.0;
        }
        for (Int column = table.first[0]; column < table.first[p + 1]; ++column) {
            if (!curves[table.about(CURVED, column)]) continue;
            if (table.variance[column] < SMALL_COLUMN_BELOW) continue;
            const Explained explained = explained_by(table, count, column, arrays.work);
            const double left = std::max(1.0 - explained.share, SMALLEST_VARIANCE);
            const double gain = -0.5 * table.rows * std::log(left) - price_of(table, column);
            for (Int side : {OWNER, PARTNER}) {
                const Int owner = table.about(side, column);
                if (owner < 0 || owner == node || !(gain > out(t, owner, 0))) continue;
                out(t, owner, 0) = gain;
                out(t, owner, 1) = std::copysign(explained.share, explained.sign);
            }
        }
    }
}

} // namespace cc::orders

// The best orders by dynamic programming: one order for all cells, or one per cell after all that
// readers need.
//
// Sets of nodes are bit masks. `best[s, i, A]` is the best score of node i in slot s with candidates
// A. Up to the last node that a reader needs all orders agree, so the state is one set; after it,
// where every cell has an order of its own, the state is one set per cell, packed into one number,
// and a node is placed in all cells of a block at once.
#pragma once

#include "fits.hpp"
#include "scales.hpp"
#include "slots.hpp"

namespace cc::orders {

// Scores that differ by less are equal: the first one is taken, whatever rounding says.
constexpr double SAME_TOTAL = 1e-7;

inline Int bit_of(Int number) { return Int(1) << number; }

// The first `size` entries of a row as a bit mask.
inline Int mask_of(Bools<1> row, Int size) {
    Int members = 0;
    for (Int j = 0; j < size; ++j)
        if (row[j]) members |= bit_of(j);
    return members;
}

// Write the columns of a fit to the pool; where.
inline Int put_columns(Ints<1> whole, OutInts<2> pool) {
    const Int place = ++pool(0, 0);
    const Ints<1> chosen = whole.from(PATH + room_of(whole));
    pool(place, 0) = whole[TAKEN];
    for (Int t = 0; t < whole[TAKEN]; ++t) pool(place, 1 + t) = chosen[t];
    return place;
}

// The nodes on whose candidacy a fit depends, beside those that are required.
inline Int owners_on_path(const BlockTables &tables, Int block, Ints<1> whole, Int nodes) {
    const Ints<2> about = tables.about[tables.block(block, DESIGN)];
    Int owners = 0;
    for (Int t = 0; t < whole[LENGTH]; ++t) {
        const Int column = whole[PATH + t];
        for (const Int side : {OWNER, PARTNER}) {
            const Int owner = column >= 0 ? about(side, column) : (-1 - column) / SHAPES;
            if (0 <= owner && owner < nodes) owners |= bit_of(owner);
        }
    }
    return owners;
}

// Replace the score of every set by the best one of its subsets: greedy choices are not monotone.
inline void take_best_subsets(OutFloats<1> best, OutInts<1> places, Int nodes) {
    for (Int node = 0; node < nodes; ++node) {
        for (Int members = 0; members < best.size(); ++members) {
            if (!(members & bit_of(node))) continue;
            const Int smaller = members ^ bit_of(node);
            if (!(best[smaller] > best[members] + 1e-9)) continue;
            best[members] = best[smaller];
            places[members] = places[smaller];
        }
    }
}

// The best score of a node in a block with candidates inside every set, and where its columns are
// in `pool`.
//
// What is given is always a candidate. A fit that never looked at some of its candidates is the fit
// of every set without them. `pool[0, 0]` is the number of rows in use after the first one.
inline void subset_scores(const FitWorkspace &workspace, Int block, Int node, Bools<1> allowed,
                          OutInts<2> pool, OutFloats<1> best, OutInts<1> places) {
    const BlockTables &tables = workspace.arrays.tables;
    const OutBools<1> candidates = workspace.arrays.work.candidates;
    const Ints<1> whole = workspace.arrays.fits.whole[node][0];
    const Int nodes = workspace.arrays.fits.whole.shape[0];
    const Int may = mask_of(allowed, nodes) & ~bit_of(node);
    const Int must = mask_of(tables.required[node], nodes);
    Array<bool, 1> done(best.size());
    std::copy(allowed.begin(), allowed.begin() + candidates.size(), candidates.begin());
    for (Int members = best.size() - 1; members >= 0; --members) {
        if (done[members] || (members & ~may) || (must & ~members)) continue;
        for (Int j = 0; j < nodes; ++j) candidates[j] = (members & bit_of(j)) != 0;
        const double score = fit(workspace, block, node, 0);
        const Int place = put_columns(whole, pool);
        Int needed = whole[END] == UNKNOWN ? members : must;
        needed |= owners_on_path(tables, block, whole, nodes);
        const Int free = members & ~needed;
        for (Int part = free;; part = (part - 1) & free) {
            if (!done[needed | part]) {
                done[needed | part] = true;
                best[needed | part] = score;
                places[needed | part] = place;
            }
            if (part == 0) break;
        }
    }
    for (Int members = 0; members < best.size(); ++members) {
        if (!(members & ~may) || (members & bit_of(node))) continue;
        best[members] = best[members & may];
        places[members] = places[members & may];
    }
    take_best_subsets(best, places, nodes);
}

// Fill `best` and `places` slot by slot and node by node until the pool is full; how many of the
// tasks, shape (tasks, 2) of slot and node, are done.
inline Int fill_scores(const FitWorkspace &workspace, Ints<2> block, Ints<2> tasks,
                       Bools<2> allowed, OutInts<2> pool, OutFloats<3> best, OutInts<3> places) {
    for (Int done = 0; done < tasks.shape[0]; ++done) {
        if (pool.shape[0] - pool(0, 0) <= best.shape[2]) return done;
        const Int slot = tasks(done, 0);
        const Int node = tasks(done, 1);
        subset_scores(workspace, block(node, slot), node, allowed[node], pool, best[slot][node],
                      places[slot][node]);
    }
    return tasks.shape[0];
}

// Fill `usable` with which readers have all nodes they need inside a set.
inline void fill_inside(Ints<2> needs, Int members, OutBools<1> usable) {
    for (Int q = 0; q < needs.shape[0]; ++q) {
        usable[q] = true;
        for (const Int needed : needs[q])
            usable[q] &= needed < 0 || (members & bit_of(needed)) != 0;
    }
}

// Fill `score` with the best score of every set of nodes as the beginning of all orders, and `last`
// with its last node; they are -inf and -1 before. `ban` is a cause and an effect without a link.
//
// `needed` are the nodes that readers need, as a bit mask; if it `stops`, the beginning ends with
// the last of these.
inline void fill_prefixes(Floats<3> best, const NodeSlots &slots, Int needed, bool stops,
                          Ints<1> ban, OutFloats<1> score, OutInts<1> last) {
    const Int count = best.shape[0];
    const Int nodes = best.shape[1];
    Array<double, 1> own(count);
    Array<bool, 1> usable(slots.needs.shape[0]);
    score[0] = 0.0;
    for (Int members = 1; members < best.shape[2]; ++members) {
        for (Int turn = 0; turn < nodes; ++turn) {
            const Int i = stops ? turn : nodes - 1 - turn;
            const Int rest = members ^ bit_of(i);
            if (!(members & bit_of(i)) || score[rest] == -INF) continue;
            if (stops && (rest & needed) == needed) continue;
            const Int inside = i == ban[1] && ban[0] >= 0 ? rest & ~bit_of(ban[0]) : rest;
            for (Int slot = 0; slot < count; ++slot) own[slot] = best(slot, i, inside);
            fill_inside(slots.needs, rest, usable);
            const double value = score[rest] + best_score(slots, i, own, usable);
            if (!(value > score[members] + SAME_TOTAL)) continue;
            score[members] = value;
            last[members] = i;
        }
    }
}

// Whether a node may use a slot, shape (slots, nodes).
inline Array<bool, 2> slots_of_nodes(const NodeSlots &slots, Int system) {
    Array<bool, 2> may(slots.owner.size(), system);
    for (Int slot = 0; slot < slots.owner.size(); ++slot)
        for (Int i = 0; i < system; ++i) may(slot, i) = slots.may(i, 1 + slots.owner[slot]);
    return may;
}

// The places of node 0 in the state, one for every cell of a slot; those of node i are i bits
// further. `sizes` are the numbers of orders and of nodes that are placed in each.
inline Array<Int, 1> places_of_cells(Ints<1> cells, Ints<1> sizes) {
    Array<Int, 1> places(cells.size());
    for (Int slot = 0; slot < cells.size(); ++slot)
        for (Int r = 0; r < sizes[0]; ++r) places[slot] |= ((cells[slot] >> r) & 1) << (r * sizes[1]);
    return places;
}

// What a node may take its parents from in some cells; all nodes after the first `system` ones are
// placed.
inline Int placed_in_cells(Int state, Int cells, Ints<1> sizes, Int everything) {
    Int inside = everything;
    const Int own = bit_of(sizes[1]) - 1;
    for (Int r = 0; r < sizes[0]; ++r)
        if (cells & bit_of(r)) inside &= (state >> (r * sizes[1])) | ~own;
    return inside;
}

// Fill `score` with the best score of what is still to be placed, for every tuple of sets placed so
// far. `cells`, shape (slots,), has those of a slot as a bit mask.
inline void fill_suffixes(Floats<3> best, const NodeSlots &slots, Ints<1> cells, Ints<1> sizes,
                          OutFloats<1> score) {
    const Int system = sizes[1];
    const Array<Int, 1> places = places_of_cells(cells, sizes);
    const Array<bool, 2> may = slots_of_nodes(slots, system);
    score[score.size() - 1] = 0.0;
    for (Int state = score.size() - 2; state >= 0; --state) {
        double highest = -INF;
        for (Int slot = 0; slot < cells.size(); ++slot) {
            const Int inside = placed_in_cells(state, cells[slot], sizes, best.shape[2] - 1);
            for (Int i = 0; i < system; ++i) {
                const Int goal = places[slot] << i;
                if (!may(slot, i) || (state & goal) != 0) continue;
                highest = std::max(highest, best(slot, i, inside) + score[state | goal]);
            }
        }
        score[state] = highest;
    }
}

// Fill `score` and `steps` along the best ways to place all nodes without the link `ban[0] ->
// ban[1]`; the score of all nodes, -inf if it is below the bound.
//
// `entry`, shape (sets,), is the score of the common beginning, for every set of the first `system`
// nodes in it; `ahead`, shape (states,), is what `fill_suffixes` left without the ban: no state can
// end better, so states that fall short are passed over. `steps` has, for every state, the one
// before it and the step from there, `node * slots + slot`; they are -1 before.
inline double fill_path(Floats<3> best, const NodeSlots &slots, Ints<1> cells, Ints<1> sizes,
                        Floats<1> entry, Floats<1> ahead, double bound, Ints<1> ban,
                        OutFloats<1> score, OutInts<2> steps) {
    const Int system = sizes[1];
    const Array<bool, 2> may = slots_of_nodes(slots, system);
    const Array<Int, 1> places = places_of_cells(cells, sizes);
    for (Int members = 0; members < entry.size(); ++members) {
        Int state = 0;
        for (Int r = 0; r < sizes[0]; ++r) state |= members << (r * system);
        score[state] = entry[members];
    }
    for (Int state = 0; state < score.size() - 1; ++state) {
        if (score[state] + ahead[state] <= bound) continue;
        for (Int slot = 0; slot < cells.size(); ++slot) {
            const Int inside = placed_in_cells(state, cells[slot], sizes, best.shape[2] - 1);
            for (Int i = 0; i < system; ++i) {
                const Int goal = places[slot] << i;
                if (!may(slot, i) || (state & goal) != 0) continue;
                const Int after = state | goal;
                const bool is_banned = i == ban[1] && ban[0] >= 0;
                const Int candidates = is_banned ? inside & ~bit_of(ban[0]) : inside;
                const double value = score[state] + best(slot, i, candidates);
                if (!(value > score[after] + SAME_TOTAL)) continue;
                score[after] = value;
                steps(0, after) = state;
                steps(1, after) = i * cells.size() + slot;
            }
        }
    }
    return score[score.size() - 1];
}

// Fill `orders`, shape (draws, nodes), each with a probability proportional to the exponential of
// its score: the sum over all orders of every set, then one node after the other, the last one
// first. `uniform`, shape (draws, nodes), are numbers between 0 and 1.
//
// One order serves all cells, so that its score is the sum over nodes of the best score with the
// nodes before it.
inline void fill_orders(Floats<3> best, const NodeSlots &slots, Floats<2> uniform,
                        OutInts<2> orders) {
    const Int count = best.shape[0];
    const Int nodes = best.shape[1];
    const Int sets = best.shape[2];
    Array<double, 1> own(count);
    Array<bool, 1> usable(slots.needs.shape[0]);
    Array<double, 2> values(nodes, sets);
    Array<double, 1> total(sets);
    values.fill(-INF);
    total.fill(-INF);
    total[0] = 0.0;
    for (Int members = 1; members < sets; ++members) {
        double highest = -INF;
        for (Int i = 0; i < nodes; ++i) {
            const Int rest = members ^ bit_of(i);
            if (!(members & bit_of(i)) || total[rest] == -INF) continue;
            for (Int slot = 0; slot < count; ++slot) own[slot] = best(slot, i, rest);
            fill_inside(slots.needs, rest, usable);
            values(i, rest) = total[rest] + best_score(slots, i, own, usable);
            highest = std::max(highest, values(i, rest));
        }
        if (highest == -INF) continue;
        double sum = 0.0;
        for (Int i = 0; i < nodes; ++i)
            if (members & bit_of(i)) sum += std::exp(values(i, members ^ bit_of(i)) - highest);
        total[members] = highest + std::log(sum);
    }
    for (Int draw = 0; draw < orders.shape[0]; ++draw) {
        Int members = sets - 1;
        for (Int place = nodes - 1; place >= 0; --place) {
            double left = uniform(draw, place);
            Int chosen = -1;
            for (Int i = 0; i < nodes; ++i) {
                if (!(members & bit_of(i)) || values(i, members ^ bit_of(i)) == -INF) continue;
                chosen = i;
                left -= std::exp(values(i, members ^ bit_of(i)) - total[members]);
                if (left <= 0.0) break;
            }
            orders(draw, place) = chosen;
            members ^= bit_of(chosen);
        }
    }
}

} // namespace cc::orders

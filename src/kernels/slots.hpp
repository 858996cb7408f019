// A node's best model, given the scores of its slots: pooled, or by a reader shifted, mixed or
// partitioned.
//
// A reader is what a mechanism may change with: a coding of the rows into cells. Slot 0 of a node is
// its pooled model. Every reader has a run of slots after it: blocks of its cells, then models of
// all cells that change with them. With few cells the blocks are all sets of them but the whole (the
// slot of a set is its bit mask minus 1); with many they are the nodes of a tree in which cells were
// merged pair by pair: single cells first, every later slot joins two earlier ones. The root of a
// tree is the pooled model again: no block. Where one of several readers has many cells there is no
// tree: all of them apart is the only partition.
#pragma once

#include <tuple>

#include "array.hpp"

namespace cc::orders {

// Up to so many cells every partition is considered; beyond, a tree of merges.
constexpr Int MOST_CELLS_EXACT = 4;

// Columns of `NodeSlots::reader`.
enum { READER_FIRST, READER_CELLS, READER_BLOCKS, READER_END };

constexpr Int NO_BLOCK = -1;

// The slots of every node; see `NodeSlots` in orders/slots.py.
struct NodeSlots {
    Ints<2> block;
    Ints<3> joins;
    Ints<2> reader;
    Ints<1> owner;
    Ints<2> needs;
    Bools<2> may;
    static constexpr auto fields = std::make_tuple(
        &NodeSlots::block, &NodeSlots::joins, &NodeSlots::reader, &NodeSlots::owner,
        &NodeSlots::needs, &NodeSlots::may);
};

// The best sum over the blocks of a partition in a tree of merges, which has 2 cells - 1 slots.
inline double best_of_tree(Int cells, Ints<1> left, Ints<1> right, Floats<1> scores) {
    const Int slots = 2 * cells - 1;
    Array<double, 1> best(slots);
    double split = -INF;
    for (Int slot = 0; slot < slots; ++slot) {
        best[slot] = scores[slot];
        if (slot < cells) continue;
        split = best[left[slot]] + best[right[slot]];
        best[slot] = std::max(best[slot], split);
    }
    return split;
}

// The best sum over the blocks of any partition into two or more sets of cells.
inline double best_of_sets(Int cells, Floats<1> scores) {
    const Int full = (Int(1) << cells) - 1;
    double value[Int(1) << MOST_CELLS_EXACT];
    value[0] = 0.0;
    for (Int mask = 1; mask <= full; ++mask) {
        const Int lowest = mask & -mask;
        double highest = -INF;
        for (Int block = mask; block > 0; block = (block - 1) & mask)
            if ((block & lowest) && block != full)
                highest = std::max(highest, scores[block - 1] + value[mask ^ block]);
        value[mask] = highest;
    }
    return value[full];
}

// The best sum over the blocks of a partition into two or more blocks; `left`, `right` are the two
// slots that a slot of a tree joins, and `scores` the scores of one reader.
inline double best_partition(Int cells, Int blocks, Ints<1> left, Ints<1> right,
                             Floats<1> scores) {
    if (blocks == cells) {
        double total = 0.0;
        for (Int cell = 0; cell < cells; ++cell) total += scores[cell];
        return total;
    }
    if (cells > MOST_CELLS_EXACT) return best_of_tree(cells, left, right, scores);
    return best_of_sets(cells, scores);
}

// The best score of a node; `usable`: what a reader needs comes before the node.
inline double best_score(const NodeSlots &slots, Int node, Floats<1> scores, Bools<1> usable) {
    double best = slots.may(node, 0) ? scores[0] : -INF;
    for (Int q = 0; q < slots.reader.shape[0]; ++q) {
        if (!usable[q] || !slots.may(node, 1 + q)) continue;
        const Int first = slots.reader(q, READER_FIRST);
        const Int blocks = slots.reader(q, READER_BLOCKS);
        const Int end = slots.reader(q, READER_END);
        best = std::max(best, best_partition(slots.reader(q, READER_CELLS), blocks,
                                             slots.joins[0][node].slice(first, end),
                                             slots.joins[1][node].slice(first, end),
                                             scores.slice(first, end)));
        for (Int slot = first + blocks; slot < end; ++slot) best = std::max(best, scores[slot]);
    }
    return best;
}

// Fill `usable` with which readers have all they need before a node, `place` being where every node
// stands; whether the moved node is there, `is_before` says.
inline void fill_usable(Ints<2> needs, Ints<1> place, Int node, Int moved, bool is_before,
                        OutBools<1> usable) {
    for (Int q = 0; q < needs.shape[0]; ++q) {
        usable[q] = true;
        for (Int side = 0; side < 2; ++side) {
            const Int needed = needs(q, side);
            if (needed < 0) continue;
            usable[q] &= needed == moved ? is_before : place[needed] < place[node];
        }
    }
}

} // namespace cc::orders

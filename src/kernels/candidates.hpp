// How many candidates pairs of variables have for their separating sets.
#pragma once

#include "skeleton.hpp"

namespace cc {

// 1 if z is a neighbour that may be conditioned on for a node, or a trigger that may serve it.
inline Int serves(const Neighbours &neighbours, Int node, Int z, Ints<1> trigger) {
    if (trigger[z] >= 0) return neighbours.triggers(node, trigger[z]) ? 1 : 0;
    const Int *begin = neighbours.columns.data + neighbours.start[node];
    const Int *end = neighbours.columns.data + neighbours.start[node + 1];
    return std::binary_search(begin, end, z) ? 1 : 0;
}

// Fill `most` with the most candidates that one of the two variables of every pair has, triggers
// included. `trigger` is the number of the trigger that a column is, -1 for others.
inline void fill_reach(const Neighbours &neighbours, const Pairs &pairs, Ints<1> trigger,
                       OutInts<1> most) {
    const Int variables = neighbours.start.size() - 1;
    Array<Int, 1> count(variables);
    for (Int i = 0; i < variables; ++i) {
        count[i] = neighbours.start[i + 1] - neighbours.start[i];
        for (Int t = 0; t < neighbours.triggers.shape[1]; ++t)
            count[i] += neighbours.triggers(i, t) != 0 ? 1 : 0;
    }
    for (Int k = 0; k < pairs.first.size(); ++k) {
        const Int x = pairs.first[k];
        const Int y = pairs.second[k];
        most[k] = std::max(count[x] - serves(neighbours, x, y, trigger),
                           count[y] - serves(neighbours, y, x, trigger));
    }
}

// Fill `wide` with the most candidates that one of the two variables of every (graph, pair) has,
// and `triggers` with the triggers of either; both are 0 before.
inline void fill_pools(const Neighbours &neighbours, Ints<1> graph, Ints<1> first, Ints<1> second,
                       OutInts<1> wide, OutInts<1> triggers) {
    for (Int k = 0; k < first.size(); ++k) {
        const Int x = first[k];
        const Int y = second[k];
        const Int g = graph[k];
        for (const Int node : {x, y}) {
            Int count = 0;
            for (Int i = neighbours.start[node]; i < neighbours.start[node + 1]; ++i) {
                const Int z = neighbours.columns[i];
                count += z != x && z != y && ((neighbours.graphs[i] >> g) & 1);
            }
            wide[k] = std::max(wide[k], count);
        }
        for (Int t = 0; t < neighbours.triggers.shape[1]; ++t)
            triggers[k] += ((neighbours.triggers(x, t) | neighbours.triggers(y, t)) >> g) & 1;
    }
}

} // namespace cc

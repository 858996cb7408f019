// A search over orders: a node is tried at all places of an order at once, and put where it is best.
//
// A problem has one order (shared by all cells) or one for every cell, all with the same beginning
// up to the last node that some reader needs. A node may take its parents in a block from the nodes
// that come before it in every order the block uses, and from what is given; it may use a reader if
// what that needs comes before it. Given the orders, the score is a sum over nodes.
#pragma once

#include "fits.hpp"
#include "slots.hpp"

namespace cc::orders {

// First axis of `State::orders`: which node stands where, and where every node stands.
enum { ORDER, PLACE };

// First axis of `State::value`: the score of every node, and with the moved node on its other side.
enum { NOW, OTHER };

// A move must gain more than this: below it two models count as equal.
constexpr double SMALLEST_GAIN = 1e-6;

// What is given: the slots of every node, and what is known; see `OrderProblem` in
// orders/order_moves.py.
struct OrderProblem {
    NodeSlots slots;
    Bools<2> allowed;
    Bools<2> first;
    static constexpr auto fields = std::make_tuple(
        &OrderProblem::slots, &OrderProblem::allowed, &OrderProblem::first);
};

// Where a search stands; see `State` in orders/order_moves.py.
struct State {
    OutFloats<2> scores;
    OutBools<3> matters;
    OutBools<1> candidates;
    OutInts<3> orders;
    Bools<2> uses;
    OutFloats<2> value;
    OutBools<2> changed;
    OutBools<1> touched;
    Ints<1> stop;
    static constexpr auto fields = std::make_tuple(
        &State::scores, &State::matters, &State::candidates, &State::orders, &State::uses,
        &State::value, &State::changed, &State::touched, &State::stop);

    // Another thread writes a 1 to end the search.
    bool is_stopped() const { return *static_cast<const volatile Int *>(stop.data) != 0; }
};

// Keep those nodes among the candidates that stand before some place of an order; what is given
// stays.
inline void keep_before(Ints<1> place, Int end, OutBools<1> candidates) {
    for (Int u = 0; u < place.size(); ++u) candidates[u] = candidates[u] && place[u] < end;
}

// The candidates of a node in a block: allowed, and before it in every order that the block uses.
inline void gather_candidates(Bools<1> allowed, Bools<1> uses, Ints<2> place, Int node,
                              OutBools<1> candidates) {
    std::copy(allowed.begin(), allowed.end(), candidates.begin());
    for (Int o = 0; o < place.shape[0]; ++o)
        if (uses[o]) keep_before(place[o], place(o, node), candidates);
}

// The candidates of a node that stands after the first t others in one order, which is in use.
inline void gather_first(Bools<1> allowed, Bools<1> uses, Ints<2> place, Int order, Int node, Int t,
                         OutBools<1> candidates) {
    std::copy(allowed.begin(), allowed.end(), candidates.begin());
    for (Int o = 0; o < place.shape[0]; ++o) {
        if (o == order) keep_before(place[o], t + (place(o, node) < t ? 1 : 0), candidates);
        else if (uses[o]) keep_before(place[o], place(o, node), candidates);
    }
    candidates[node] = false;
}

// Whether this order decides if the candidate comes before the node, all other orders in use having
// it so.
inline bool decides(Bools<1> uses, Ints<2> place, Int order, Int candidate, Int node) {
    if (!uses[order]) return false;
    for (Int o = 0; o < place.shape[0]; ++o)
        if (o != order && uses[o] && place(o, candidate) > place(o, node)) return false;
    return true;
}

// Fit a node in the slots that it may use, for the current orders.
//
// Unless that must be done as a `whole`, what is left when the climb is to stop has required causes
// alone, and no changes with contexts where it may do without.
inline void refit_node(const FitWorkspace &workspace, const OrderProblem &problem,
                       const State &state, Int node, bool whole) {
    const NodeSlots &slots = problem.slots;
    const Ints<2> place = state.orders[PLACE];
    Array<bool, 1> usable(slots.needs.shape[0]);
    fill_usable(slots.needs, place[0], node, NOBODY, false, usable);
    state.touched[node] = true;
    for (Int slot = 0; slot < slots.block.shape[1]; ++slot) {
        const Int q = slots.owner[slot];
        const Int block = slots.block(node, slot);
        if (block == NO_BLOCK || !slots.may(node, 1 + q) || (q >= 0 && !usable[q])) continue;
        const bool is_late = !whole && state.is_stopped();
        if (is_late && q >= 0 && slots.may(node, 0)) {
            state.scores(node, slot) = -INF;
            continue;
        }
        gather_candidates(problem.allowed[node], state.uses[block], place, node, state.candidates);
        if (is_late) {
            const Bools<1> required = workspace.arrays.tables.required[node];
            for (Int u = 0; u < state.candidates.size(); ++u)
                state.candidates[u] = state.candidates[u] && required[u];
        }
        fit(workspace, block, node, slot);
    }
    state.value(NOW, node) = best_score(slots, node, state.scores[node], usable);
}

// Score another node w, in the slots of alternatives, with the moved node and so its readers on its
// other side.
inline void try_other_side(const FitWorkspace &workspace, const OrderProblem &problem,
                           const State &state, Int order, Int node, Int w) {
    const NodeSlots &slots = problem.slots;
    const Ints<2> place = state.orders[PLACE];
    const Int count = state.changed.shape[1];
    const Int readers = slots.needs.shape[0];
    state.value(OTHER, w) = state.value(NOW, w);
    state.changed[w].fill(false);
    const bool is_present = place(order, node) < place(order, w);
    Array<bool, 1> now(readers);
    Array<bool, 1> then(readers);
    fill_usable(slots.needs, place[0], w, NOBODY, false, now);
    fill_usable(slots.needs, place[0], w, node, !is_present, then);
    bool is_affected = false;
    for (Int q = 0; q < readers; ++q)
        is_affected = is_affected || (now[q] != then[q] && slots.may(w, 1 + q));
    if (!is_affected && !problem.allowed(w, node)) return;
    Array<double, 1> scores(state.scores.shape[1]);
    std::copy(state.scores[w].begin(), state.scores[w].end(), scores.begin());
    for (Int slot = 0; slot < count; ++slot) {
        const Int q = slots.owner[slot];
        const Int block = slots.block(w, slot);
        if (block == NO_BLOCK || !slots.may(w, 1 + q) || (q >= 0 && !then[q])) continue;
        if (state.is_stopped()) break;
        if (q < 0 || now[q]) {
            const bool matters = problem.allowed(w, node) && state.matters(w, slot, node);
            if (!matters || !decides(state.uses[block], place, order, node, w)) continue;
        }
        gather_candidates(problem.allowed[w], state.uses[block], place, w, state.candidates);
        state.candidates[node] = problem.allowed(w, node) && !is_present;
        scores[slot] = fit(workspace, block, w, count + slot);
        state.changed(w, slot) = true;
        is_affected = true;
    }
    if (is_affected) state.value(OTHER, w) = best_score(slots, w, scores, then);
}

// Fill `own` with the node's own score at every place from low to high among the others, `rest`;
// uses the node's slots of alternatives.
inline void try_places(const FitWorkspace &workspace, const OrderProblem &problem,
                       const State &state, Int order, Int node, Ints<1> rest, Int low, Int high,
                       OutFloats<1> own) {
    const NodeSlots &slots = problem.slots;
    const Ints<2> place = state.orders[PLACE];
    const Int count = state.changed.shape[1];
    Array<bool, 1> is_ready(count);
    Array<double, 1> scores(count);
    Array<bool, 1> usable(slots.needs.shape[0]);
    Array<Int, 1> trial(place.shape[1]); // where every node stands when this one is tried
    scores.fill(-INF);
    std::copy(place[order].begin(), place[order].end(), trial.begin());
    for (Int t = 0; t < rest.size(); ++t) trial[rest[t]] = t;
    for (Int t = low; t <= high; ++t) {
        if (state.is_stopped()) break;
        trial[node] = t;
        // The others keep their places among themselves: one that stands at t comes after the node.
        fill_usable(slots.needs, trial, node, NOBODY, false, usable);
        for (Int slot = 0; slot < count; ++slot) {
            const Int q = slots.owner[slot];
            const Int block = slots.block(node, slot);
            if (block == NO_BLOCK || !slots.may(node, 1 + q) || (q >= 0 && !usable[q])) continue;
            if (state.is_stopped()) break;
            if (!state.uses(block, order)) {
                scores[slot] = state.scores(node, slot);
                continue;
            }
            if (is_ready[slot]) {
                const Int passed = rest[t - 1];
                if (!problem.allowed(node, passed)
                    || !decides(state.uses[block], place, order, passed, node)
                    || !state.matters(node, count + slot, passed))
                    continue;
            }
            gather_first(problem.allowed[node], state.uses[block], place, order, node, t,
                         state.candidates);
            scores[slot] = fit(workspace, block, node, count + slot);
            is_ready[slot] = true;
        }
        own[t] = best_score(slots, node, scores, usable);
    }
}

// Fill `totals` with the part of the total score that depends on the place, for every place from
// low to high.
inline void add_totals(Floats<2> value, Ints<1> rest, Int here, Floats<1> own, Int low, Int high,
                       OutFloats<1> totals) {
    double early = 0.0;
    double late = 0.0;
    for (Int t = low; t < high; ++t) late += value(t >= here ? NOW : OTHER, rest[t]);
    for (Int t = low; t <= high; ++t) {
        totals[t] = early + own[t] + late;
        if (t == high) break;
        late -= value(t >= here ? NOW : OTHER, rest[t]);
        early += value(t >= here ? OTHER : NOW, rest[t]);
    }
}

// The first place whose total is the highest but for rounding.
inline Int first_best(Floats<1> totals, Int low, Int high) {
    double highest = totals[low];
    for (Int t = low; t <= high; ++t) highest = std::max(highest, totals[t]);
    for (Int t = low; t <= high; ++t)
        if (totals[t] >= highest - SMALLEST_GAIN) return t;
    return low;
}

// Put a node where the total score is highest in one order, between two places; what was gained.
//
// The total with the node at place t is the sum of the others' scores, those before t without the
// node before them, the rest with it, and of the node's own score with everything before t as
// candidates.
inline double move_node(const FitWorkspace &workspace, const OrderProblem &problem,
                        const State &state, Int order, Int node, Int lowest, Int highest) {
    const OutInts<1> nodes = state.orders[ORDER][order];
    const OutInts<1> place = state.orders[PLACE][order];
    Array<Int, 1> rest(nodes.size() - 1);
    std::remove_copy(nodes.begin(), nodes.end(), rest.begin(), node);
    const Int here = place[node];
    Int low = lowest;
    Int high = std::min(rest.size(), highest);
    for (Int t = 0; t < rest.size(); ++t) { // what must come before and after the node does
        if (problem.first(rest[t], node)) low = std::max(low, t + 1);
        if (problem.first(node, rest[t])) high = std::min(high, t);
    }
    if (low >= high || here < low || here > high) return 0.0;
    for (Int t = low; t < high; ++t)
        if (!state.is_stopped()) try_other_side(workspace, problem, state, order, node, rest[t]);
    Array<double, 1> own(rest.size() + 1);
    Array<double, 1> totals(rest.size() + 1);
    try_places(workspace, problem, state, order, node, rest, low, high, own);
    if (state.is_stopped()) return 0.0; // some places may not have been tried
    add_totals(state.value, rest, here, own, low, high, totals);
    const Int best = first_best(totals, low, high);
    const double gain = totals[best] - totals[here];
    if (best == here || gain <= SMALLEST_GAIN) return 0.0;
    for (Int t = 0; t <= rest.size(); ++t) {
        const Int w = t == best ? node : t < best ? rest[t] : rest[t - 1];
        nodes[t] = w;
        place[w] = t;
    }
    const Int slots = state.changed.shape[1];
    for (Int t = std::min(here, best); t < std::max(here, best); ++t) {
        const Int w = rest[t];
        state.value(NOW, w) = state.value(OTHER, w);
        state.touched[w] = true;
        for (Int slot = 0; slot < slots; ++slot)
            if (state.changed(w, slot)) copy_fit(workspace.arrays, w, slots + slot, slot);
    }
    refit_node(workspace, problem, state, node, true);
    return gain;
}

// Fit some nodes, then sweep until nothing moves, at most once for every row of `visits`; last gain,
// total score.
//
// A 1 in `state.stop` ends it after the next fit; a move that is not done yet is dropped, and nodes
// that were not fitted yet have required causes alone. Fits of the `stale` nodes do not belong to
// the orders yet. `visits`, shape (sweeps, visited), has the nodes to move, one after the other,
// `window` the lowest and the highest place that a node may move to; `shared` says whether there is
// one order for all cells.
inline std::tuple<double, double> climb(const FitWorkspace &workspace, const OrderProblem &problem,
                                        const State &state, Ints<1> stale, Ints<2> visits,
                                        Ints<1> window, bool shared) {
    for (const Int node : stale) refit_node(workspace, problem, state, node, false);
    Int lowest = window[0];
    if (!shared)
        for (const Int needed : problem.slots.needs)
            if (needed >= 0) lowest = std::max(lowest, state.orders(PLACE, 0, needed) + 1);
    double gain = 0.0;
    for (Int turn = 0; turn < visits.shape[0]; ++turn) {
        gain = 0.0;
        for (Int order = 0; order < (shared ? 1 : state.orders.shape[1]); ++order) {
            for (const Int node : visits[turn]) {
                if (state.is_stopped()) break;
                if (state.orders(PLACE, order, node) >= lowest)
                    gain += move_node(workspace, problem, state, order, node, lowest, window[1]);
            }
        }
        if (gain <= SMALLEST_GAIN || state.is_stopped()) break;
    }
    double total = 0.0;
    for (const double score : state.value[NOW]) total += score;
    return {gain, total};
}

} // namespace cc::orders

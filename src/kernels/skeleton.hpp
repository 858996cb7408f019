// One level of the skeleton in one call.
//
// Contexts share what they can: a set is tested once on a row selection, for all graphs in which it
// is a candidate. Graphs are bits of an integer, and a neighbour carries the bits of the graphs in
// which it may be conditioned on. Columns that switch the rows (triggers: context variables, or the
// column that an indicator is made of) are enumerated apart from the others: a mask is a set of
// triggers, and the sets of a mask are answered on the row selection of (graph, mask).
//
// A test is a header of its own: gaussian.hpp for moments, contingency.hpp for codes. It brings the
// data that it sees (`Views`, `Tables`), scratch arrays, and `start`, `answer_set`, `label_of`,
// `p_value` and `orders_p_values`: whether, among the answers on one row selection about sets of one
// size, a larger absolute value has a smaller p-value, so that most p-values need not be computed.
//
// A call returns the deciding set of every pair and graph (`Decisions`); who keeps records, and
// where, is not known here. The votes on colliders go through the same sets: how many of those that
// separate a pair hold each possible centre.
#pragma once

#include "gaussian.hpp"

namespace cc {

// Columns of `Decisions::numbers` and of `Decisions::facts`; see levels/skeleton.py.
enum { P, STATISTIC, DF };
enum { ROWS, MASK, SIZE, REASON, UNTESTED, SEPARATED, CUT, LABEL };

// Sets of one size that are tried among the neighbours of one variable. Larger neighbourhoods are
// cut short there.
constexpr double MOST_SETS = 100000.0;

// The neighbours of every variable that may be conditioned on, and in which graphs.
struct Neighbours {
    Ints<1> start;
    Ints<1> columns;
    Ints<1> graphs;
    Ints<2> triggers;
    static constexpr auto fields = std::make_tuple(
        &Neighbours::start, &Neighbours::columns, &Neighbours::graphs, &Neighbours::triggers);
};

// Pairs of variables, and the bits of the graphs in which they are asked about.
struct Pairs {
    Ints<1> first;
    Ints<1> second;
    Ints<1> active;
    static constexpr auto fields = std::make_tuple(&Pairs::first, &Pairs::second, &Pairs::active);
};

// Sets of triggers, smallest first.
struct Masks {
    Ints<1> bits;
    Ints<1> size;
    Ints<2> kept;
    Ints<2> selection;
    Ints<1> own;
    static constexpr auto fields = std::make_tuple(
        &Masks::bits, &Masks::size, &Masks::kept, &Masks::selection, &Masks::own);
};

// All that the pairs of a level have in common.
template <class Data>
struct Level {
    Data data;
    RowSelections selections;
    Neighbours neighbours;
    Masks masks;
    double alpha;
    Int size;
    static constexpr auto fields = std::make_tuple(
        &Level::data, &Level::selections, &Level::neighbours, &Level::masks, &Level::alpha,
        &Level::size);
};

// The deciding set of every pair and graph: the separating one, else the one with the largest
// p-value.
struct Decisions {
    OutFloats<3> numbers;
    OutCodes<3> facts;
    OutShorts<3> given;
    static constexpr auto fields = std::make_tuple(
        &Decisions::numbers, &Decisions::facts, &Decisions::given);
};

// The same of one graph, for all pairs of its search: shapes (pairs, ...).
struct Records {
    OutFloats<2> numbers;
    OutCodes<2> facts;
    OutShorts<2> given;
    static constexpr auto fields = std::make_tuple(
        &Records::numbers, &Records::facts, &Records::given);
};

// Pairs whose separating sets vote, each in one graph, on the centres from `offset[k]` on.
struct Ballots {
    Ints<1> graph;
    Ints<1> first;
    Ints<1> second;
    Ints<1> largest;
    Ints<1> centre;
    Ints<1> offset;
    static constexpr auto fields = std::make_tuple(
        &Ballots::graph, &Ballots::first, &Ballots::second, &Ballots::largest, &Ballots::centre,
        &Ballots::offset);
};

// The sets that are counted: neighbours from `first` up to `last`, triggers not counted; with
// triggers, `most`.
struct Sizes {
    Int first;
    Int last;
    Int most;
    static constexpr auto fields = std::make_tuple(&Sizes::first, &Sizes::last, &Sizes::most);
};

// The subject of a run of sets: a pair, whose neighbours are tried, how many at a time, with which
// mask.
struct Subject {
    Int x;
    Int y;
    Int node;
    Int mask;
    Int size;
    Int kept;
};

// The answer of a test: p is -1 where it could not be run.
struct SetAnswer {
    double p;
    double statistic;
    double df;
    Int rows;
    Int reason;
    Int label;
    bool separates;
};

// The bit of a graph or trigger.
inline Int bit(Int number) { return Int(1) << number; }

// The graphs in which all triggers of a mask may serve a variable.
inline Int serving_graphs(const Neighbours &neighbours, const Masks &masks, Int node, Int mask,
                          Int active) {
    for (Int t = 0; t < neighbours.triggers.shape[1]; ++t)
        if (masks.bits[mask] & bit(t)) active &= neighbours.triggers(node, t);
    return active;
}

// Put the columns that a mask keeps at the head of the set; how many there are.
inline Int keep_columns(Ints<1> kept, OutInts<1> given) {
    Int count = 0;
    for (const Int column : kept)
        if (column >= 0) given[count++] = column;
    return count;
}

// List the variables that may serve a node in some active graph, with the graphs; how many there
// are.
inline Int fill_pool(const Neighbours &neighbours, const Subject &about, Int other, Int active,
                     OutInts<2> lists) {
    if (about.size == 0) return 0;
    Int count = 0;
    Int j = neighbours.start[other];
    const Int end = neighbours.start[other + 1];
    for (Int i = neighbours.start[about.node]; i < neighbours.start[about.node + 1]; ++i) {
        const Int z = neighbours.columns[i];
        if (z == about.x || z == about.y || (neighbours.graphs[i] & active) == 0) continue;
        while (j < end && neighbours.columns[j] < z) ++j;
        lists(POOL, count) = z;
        lists(MINE, count) = neighbours.graphs[i];
        const bool shared = j < end && neighbours.columns[j] == z;
        lists(THEIRS, count) = shared ? neighbours.graphs[j] : 0;
        ++count;
    }
    return count;
}

// The number of sets of `size` among so many candidates.
inline double combinations(Int candidates, Int size) {
    double count = 1.0;
    for (Int k = 0; k < size; ++k) count *= double(candidates - k) / (double(k) + 1.0);
    return count;
}

// The graphs in which the sets of this size are few enough; the others note the level at which they
// were cut.
inline Int small_enough(Int size, Int count, Int active, Int level, OutCodes<2> facts,
                        Ints<1> mine) {
    if (size <= 1 || combinations(count, size) <= MOST_SETS) return active;
    Int kept = 0;
    for (Int g = 0; g < facts.shape[0]; ++g) {
        if (!(active & bit(g))) continue;
        Int candidates = 0;
        for (Int place = 0; place < count; ++place) candidates += (mine[place] >> g) & 1;
        if (combinations(candidates, size) <= MOST_SETS) kept |= bit(g);
        else if (facts(g, CUT) == 0) facts(g, CUT) = std::int32_t(level);
    }
    return kept;
}

// The graphs for which no set so far has left a smaller correlation; their smallest one is noted.
inline Int note_weakest(Int eligible, double strength, OutFloats<1> weakest) {
    Int kept = 0;
    for (Int g = 0; g < weakest.size(); ++g) {
        if ((eligible & bit(g)) && strength < weakest[g] * (1.0 - TIED)) {
            weakest[g] = strength;
            kept |= bit(g);
        }
    }
    return kept;
}

// The pair and the row selection that answers; against a context variable only the other one is
// looked at.
inline PairQuery question_of(const RowSelections &selections, const Masks &masks,
                             const Subject &about, Int active) {
    Int g = 0;
    while (!(active & bit(g))) ++g;
    const Int x = selections.change == 1 ? about.y : about.x;
    return {masks.selection(g, about.mask), x, about.y};
}

// Let the set hold what is kept and the first variables of the pool.
inline void first_set(OutInts<2> lists, const Subject &about) {
    for (Int j = 0; j < about.size; ++j) {
        lists(CHOSEN, j) = j;
        lists(GIVEN, about.kept + j) = lists(POOL, j);
    }
}

// Let the set hold the next subset of the pool; the first place that changed, or -1 after the last.
inline Int next_set(OutInts<2> lists, const Subject &about, Int count) {
    for (Int changed = about.size - 1; changed >= 0; --changed) {
        if (lists(CHOSEN, changed) >= count - about.size + changed) continue;
        ++lists(CHOSEN, changed);
        for (Int j = changed; j < about.size; ++j) {
            if (j > changed) lists(CHOSEN, j) = lists(CHOSEN, j - 1) + 1;
            lists(GIVEN, about.kept + j) = lists(POOL, lists(CHOSEN, j));
        }
        return about.kept + changed;
    }
    return -1;
}

// The active graphs in which the whole set is a candidate, and was not one for the other variable.
inline Int eligible_graphs(OutInts<2> lists, Int size, Int active, Int skipped) {
    Int before = active & skipped;
    for (Int j = 0; j < size; ++j) {
        active &= lists(MINE, lists(CHOSEN, j));
        before &= lists(THEIRS, lists(CHOSEN, j));
    }
    return active & ~before;
}

// Write an answer down for some graphs, where it is the weakest evidence so far.
inline void write_answer(const Decisions &decisions, Int k, Int graphs, const SetAnswer &answer,
                         const Subject &about, Ints<1> given) {
    for (Int g = 0; g < decisions.facts.shape[1]; ++g) {
        if (!(graphs & bit(g))) continue;
        const OutCodes<1> facts = decisions.facts[k][g];
        const OutFloats<1> numbers = decisions.numbers[k][g];
        if (answer.reason != TESTABLE) {
            facts[UNTESTED] += 1;
            if (facts[MASK] < 0) {
                facts[ROWS] = std::int32_t(answer.rows);
                facts[REASON] = std::int32_t(answer.reason);
            }
            continue;
        }
        facts[SEPARATED] |= answer.separates ? 1 : 0;
        if (!answer.separates && !(answer.p > numbers[P] * (1.0 + TIED))) continue;
        numbers[P] = answer.p;
        numbers[STATISTIC] = answer.statistic;
        numbers[DF] = answer.df;
        facts[ROWS] = std::int32_t(answer.rows);
        facts[MASK] = std::int32_t(about.mask);
        facts[SIZE] = std::int32_t(about.size);
        facts[REASON] = TESTABLE;
        facts[LABEL] = std::int32_t(answer.label);
        for (Int j = 0; j < decisions.given.shape[2]; ++j)
            decisions.given(k, g, j) = std::int16_t(j < about.size ? given[about.kept + j] : -1);
    }
}

// Test the sets of a mask, in lexicographic order, from both neighbourhoods; the graphs that found
// a separating one. A set that is inside both is tested once.
template <class Data, class Work>
Int scan_mask(const Level<Data> &level, Int k, Int x, Int y, Int mask, Int active,
              const Decisions &decisions, Work &work, OutInts<1> tests) {
    const RowSelections &selections = level.selections;
    const OutInts<2> lists = work.lists;
    const Int size = level.size - level.masks.size[mask];
    const Int kept = keep_columns(level.masks.kept[mask], lists[GIVEN]);
    const Int length = size + kept;
    const Ints<1> given = lists[GIVEN].slice(0, length);
    Int scanned = 0;
    Int separated = 0;
    for (int side = 0; side < 2; ++side) {
        const Int node = side == 0 ? x : y;
        const Int other = side == 0 ? y : x;
        const Subject about{x, y, node, mask, size, kept};
        Int here = serving_graphs(level.neighbours, level.masks, node, mask, active & ~separated);
        const Int count = fill_pool(level.neighbours, about, other, here, lists);
        here = small_enough(size, count, here, level.size, decisions.facts[k], lists[MINE]);
        if (here == 0) continue;
        const PairQuery asked = question_of(selections, level.masks, about, here);
        const Int inside = selections.inside[asked.selection];
        Int stale = 0;
        Int changed = count >= size ? 0 : -1;
        if (changed == 0) {
            first_set(lists, about);
            work.weakest.fill(2.0);
            start(level.data, selections, asked, work.fit);
        }
        while (changed >= 0 && (here & ~separated)) {
            Int eligible = eligible_graphs(lists, size, here & ~separated, scanned);
            if (eligible) {
                const auto answer
                    = answer_set(level.data, selections, asked, given, stale, work.fit);
                const Int label = label_of(selections, asked.selection, answer);
                const bool testable = answer.reason == TESTABLE;
                stale = length;
                ++tests[inside];
                if (orders_p_values(answer, label, work.fit, length))
                    eligible = note_weakest(eligible, std::abs(answer.value), work.weakest);
                if (eligible) {
                    const double p = testable ? p_value(level.data, label, answer) : -1.0;
                    const bool separates = p > level.alpha;
                    write_answer(decisions, k, eligible,
                                 {p, answer.value, answer.df, answer.rows, answer.reason, label,
                                  separates},
                                 about, given);
                    if (separates) separated |= eligible;
                }
            }
            changed = next_set(lists, about, count);
            stale = std::min(stale, changed);
        }
        scanned = here;
    }
    return separated;
}

// Look for a separating set of `level.size` variables for the pairs from `begin` up to `end`; count
// tests on all rows (`tests[0]`) and on some (`tests[1]`).
//
// Sets without triggers come first, from the neighbours of the first variable, then of the second.
// For every graph the first separating set in this order wins; the graphs that are still active
// stop there.
template <class Data, class Work>
void search_pairs(const Level<Data> &level, Int begin, Int end, const Pairs &pairs,
                  const Decisions &decisions, Work &work, OutInts<1> tests) {
    const Int graphs = level.masks.selection.shape[0];
    for (Int k = begin; k < end; ++k) {
        const Int x = pairs.first[k];
        const Int y = pairs.second[k];
        Int left = pairs.active[k];
        for (Int m = 0; m < level.masks.bits.size(); ++m) {
            if (left == 0) break;
            const bool too_large = level.masks.size[m] > level.size;
            if (too_large || (level.masks.bits[m] & (level.masks.own[x] | level.masks.own[y])))
                continue; // or one of the two variables is in the mask
            Int done = 0;
            for (Int g = 0; g < graphs; ++g) {
                if (!(left & ~done & bit(g))) continue;
                Int same = 0; // the graphs that the same rows answer for
                for (Int h = g; h < graphs; ++h)
                    if (level.masks.selection(h, m) == level.masks.selection(g, m))
                        same |= left & ~done & bit(h);
                done |= same;
                left &= ~scan_mask(level, k, x, y, m, same, decisions, work, tests);
            }
        }
    }
}

// Carry the decisions of one graph over to its records, shapes (all pairs, ...), at these places.
//
// The largest p-value of all calls counts. Tests that could not run are counted, and decide where
// no other ran.
inline void keep_better(const Records &records, Ints<1> places, const Decisions &decisions,
                        Int g) {
    for (Int k = 0; k < places.size(); ++k) {
        const Int place = places[k];
        const OutCodes<1> old = records.facts[place];
        const OutCodes<1> now = decisions.facts[k][g];
        const OutFloats<1> numbers = records.numbers[place];
        const OutShorts<1> given = records.given[place];
        const double largest = numbers[P] * (1.0 + TIED);
        const bool better = now[SEPARATED] > old[SEPARATED]
            || (now[MASK] >= 0 && decisions.numbers(k, g, P) > largest);
        if (better || (old[MASK] < 0 && now[UNTESTED] > 0)) {
            old[ROWS] = now[ROWS];
            old[REASON] = now[REASON];
        }
        if (better) {
            old[MASK] = now[MASK];
            old[SIZE] = now[SIZE];
            old[LABEL] = now[LABEL];
            for (Int j = 0; j < numbers.size(); ++j) numbers[j] = decisions.numbers(k, g, j);
            for (Int j = 0; j < given.size(); ++j)
                given[j] = j < decisions.given.shape[2] ? decisions.given(k, g, j) : -1;
        }
        old[UNTESTED] += now[UNTESTED];
        old[SEPARATED] |= now[SEPARATED];
        if (old[CUT] == 0) old[CUT] = now[CUT];
    }
}

// 1 if a node is in a set: in its mask, or one of the members that are no triggers.
inline Int holds(const Masks &masks, Int mask, Ints<1> members, Int node) {
    if (masks.own[node] != 0) return (masks.own[node] & masks.bits[mask]) ? 1 : 0;
    return std::find(members.begin(), members.end(), node) != members.end() ? 1 : 0;
}

// Count the separating sets of a mask from both neighbourhoods, each set once, and in `votes` those
// that hold each node of `middle`.
template <class Data, class Work>
Int count_mask(const Level<Data> &level, const Subject &pair, Int graph, Ints<1> middle,
               OutInts<1> votes, Work &work) {
    const RowSelections &selections = level.selections;
    const OutInts<2> lists = work.lists;
    const Int size = pair.size;
    const Int length = size + pair.kept;
    const Ints<1> given = lists[GIVEN].slice(0, length);
    Int total = 0;
    Int scanned = 0;
    for (int side = 0; side < 2; ++side) {
        const Int node = side == 0 ? pair.x : pair.y;
        const Int other = side == 0 ? pair.y : pair.x;
        const Subject about{pair.x, pair.y, node, pair.mask, size, pair.kept};
        if (!serving_graphs(level.neighbours, level.masks, node, pair.mask, graph)) continue;
        const Int count = fill_pool(level.neighbours, about, other, graph, lists);
        const PairQuery asked = question_of(selections, level.masks, about, graph);
        Int stale = 0;
        Int changed = count >= size ? 0 : -1;
        if (changed == 0) {
            first_set(lists, about);
            start(level.data, selections, asked, work.fit);
        }
        // Correlations of sets of full rank that are known to separate, and not to.
        double largest_inside = 0.0;
        double smallest_outside = 2.0;
        while (changed >= 0) {
            if (eligible_graphs(lists, size, graph, scanned)) {
                const auto answer
                    = answer_set(level.data, selections, asked, given, stale, work.fit);
                const Int label = label_of(selections, asked.selection, answer);
                stale = length;
                const double strength = std::abs(answer.value);
                const bool testable = answer.reason == TESTABLE;
                const bool alike = orders_p_values(answer, label, work.fit, length);
                bool separates;
                if (alike && (strength <= largest_inside || strength >= smallest_outside)) {
                    separates = strength <= largest_inside;
                } else {
                    separates = testable && p_value(level.data, label, answer) > level.alpha;
                    if (alike && separates) largest_inside = strength;
                    if (alike && !separates) smallest_outside = strength;
                }
                if (separates) {
                    ++total;
                    for (Int place = 0; place < middle.size(); ++place)
                        votes[place] += holds(level.masks, pair.mask, given.from(pair.kept),
                                              middle[place]);
                }
            }
            changed = next_set(lists, about, count);
            stale = std::min(stale, changed);
        }
        scanned = graph;
    }
    return total;
}

// Count, for the pairs from `begin` up to `end`, the sets of some sizes that separate them.
//
// `separating[k]` gains the number of separating sets of pair k, `holding[offset[k] : offset[k +
// 1]]` how many of them hold each of its possible centres.
template <class Data, class Work>
void count_votes(const Level<Data> &level, Int begin, Int end, const Ballots &ballots,
                 const Sizes &sizes, OutInts<1> separating, OutInts<1> holding, Work &work) {
    const Masks &masks = level.masks;
    for (Int k = begin; k < end; ++k) {
        const Int x = ballots.first[k];
        const Int y = ballots.second[k];
        const Int graph = bit(ballots.graph[k]);
        const Ints<1> middle = ballots.centre.slice(ballots.offset[k], ballots.offset[k + 1]);
        const OutInts<1> votes = holding.slice(ballots.offset[k], ballots.offset[k + 1]);
        for (Int size = sizes.first; size <= std::min(sizes.last, ballots.largest[k]); ++size) {
            for (Int m = 0; m < masks.bits.size(); ++m) {
                const bool is_inside = masks.bits[m] & (masks.own[x] | masks.own[y]);
                if (is_inside || masks.size[m] + size > sizes.most) continue;
                const Int kept = keep_columns(masks.kept[m], work.lists[GIVEN]);
                separating[k]
                    += count_mask(level, {x, y, x, m, size, kept}, graph, middle, votes, work);
            }
        }
    }
}

} // namespace cc

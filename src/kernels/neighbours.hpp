// Counts of neighbours in rank space, for many shuffled copies of one column at once: the estimates
// of conditional mutual information of Frenzel and Pompe (2007) and of Mesner and Shalizi (2020).
//
// All distances are small integers: the gap between two ranks, 0 or `far` between two codes, the
// largest over columns. A row of the table of distances is thus an array of 16-bit integers that
// stays in the nearest cache, a count of neighbours is one pass over it in vectors, and the
// distance to the k-th neighbour is found by a few such counts: cheaper than any sort or tree.
#pragma once

#include "draws.hpp"
#include "sums.hpp"

namespace cc {

using Short = std::int16_t;

// What a search for a radius is about: `far` is the distance between two codes, larger than that
// between any two ranks; `strict` counts as Frenzel and Pompe do (closer than the k-th neighbour,
// the row itself included), else as Mesner and Shalizi do (as close as the k-th neighbour, the row
// itself left out). Of `neighbours` below 1, the share counts of the rows at less than `far`.
struct Counting {
    Int far;
    double neighbours;
    bool strict;
};

// `after` is the larger of `before` and the distance in one more column.
CC_WIDE [[maybe_unused]] static void widen(const Short *values, Short centre, const Short *before,
                                           Short *after, Int rows, bool is_code, Short far) {
    if (is_code) {
        for (Int j = 0; j < rows; ++j) after[j] = values[j] == centre ? before[j] : far;
        return;
    }
    for (Int j = 0; j < rows; ++j) {
        const Short gap = Short(values[j] - centre);
        const Short distance = Short(gap < 0 ? -gap : gap);
        after[j] = distance > before[j] ? distance : before[j];
    }
}

// How many distances are at most the radius. There are fewer rows than a short number holds.
CC_WIDE [[maybe_unused]] static Int count_within(const Short *near, Int rows, Short radius) {
    Short count = 0;
    for (Int j = 0; j < rows; ++j) count = Short(count + (near[j] <= radius ? 1 : 0));
    return count;
}

// How many rows are within the radius, both in one column and in what was measured before.
CC_WIDE [[maybe_unused]] static Int count_both_within(const Short *values, Short centre,
                                                      const Short *near, Int rows, bool is_code,
                                                      Short radius) {
    Short count = 0;
    if (is_code) {
        for (Int j = 0; j < rows; ++j)
            count = Short(count + ((values[j] == centre) & (near[j] <= radius) ? 1 : 0));
        return count;
    }
    for (Int j = 0; j < rows; ++j) {
        const Short gap = Short(values[j] - centre);
        const Short distance = Short(gap < 0 ? -gap : gap);
        count = Short(count + ((distance <= radius) & (near[j] <= radius) ? 1 : 0));
    }
    return count;
}

// a / b, rounded down; b is positive.
inline Int floor_divide(Int a, Int b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

// The smallest radius with k rows or more, the row itself counted; a good guess makes it fast.
inline Int radius_of(OutShorts<1> near, Int k, Int guess, Int far) {
    Int below = -1;
    Int at_below = 0;
    Int above = far;
    Int at_above = near.size();
    Int radius = std::min(std::max<Int>(guess, 0), far - 1);
    Int misses = 0;
    while (above - below > 1) {
        const Int count = count_within(near.data, near.size(), Short(radius));
        const bool enough = count >= k;
        if (enough) {
            above = radius;
            at_above = count;
        } else {
            below = radius;
            at_below = count;
        }
        ++misses;
        if (misses < 3 && count > 0) {
            const double step = 0.5 * double((k - count) * radius) / double(count);
            radius += Int(std::ceil(step)) - (enough ? 1 : -1);
        } else if (misses % 2 == 0) {
            radius = floor_divide(above + below, 2);
        } else {
            radius = below
                + floor_divide((above - below) * (k - at_below), std::max<Int>(at_above - at_below, 1));
        }
        radius = std::min(std::max(radius, below + 1), above - 1);
    }
    return above;
}

// What one row with so many neighbours in x and Z contributes to the estimate, times the number of
// rows.
inline double information_of_row(OutShorts<1> near, OutShorts<1> near_y, OutShorts<1> near_given,
                                 Floats<1> psi, Int with_x, Int radius, Int k, bool strict) {
    const Int rows = near.size();
    const auto within = [&](const OutShorts<1> &distances, Int limit) {
        return count_within(distances.data, rows, Short(limit));
    };
    if (strict) {
        const Int inside = std::max<Int>(radius - 1, 0);
        return psi[k] - psi[with_x] - psi[within(near_y, inside)] + psi[within(near_given, inside)];
    }
    const Int tied = within(near, radius) - 1;
    return psi[tied] - psi[with_x - 1] - psi[within(near_y, radius) - 1]
        + psi[within(near_given, radius) - 1];
}

// Fill `totals` with the estimate of the conditional mutual information of x and y given Z for
// every shuffled copy of x.
//
// `shuffled`, shape (copies, rows), has ranks or codes of x, `columns`, shape (1 + conditions,
// rows), those of y, then of the conditions; `is_code` says which of them all are codes. `psi` is
// the digamma function at 0 (not used), 1, 2, and so on.
inline void shuffled_information(Shorts<2> shuffled, Bools<1> is_code, Shorts<2> columns,
                                 Floats<1> psi, Int far, double neighbours, bool strict,
                                 OutFloats<1> totals) {
    const Int copies = shuffled.shape[0];
    const Int rows = shuffled.shape[1];
    const Short beyond = Short(far);
    Array<Short, 1> near_y(rows);
    Array<Short, 1> near_given(rows);
    Array<Short, 1> near(rows);
    for (Int i = 0; i < rows; ++i) {
        near_given.fill(0);
        for (Int c = 1; c < columns.shape[0]; ++c)
            widen(columns[c].data, columns(c, i), near_given.data, near_given.data, rows,
                  is_code[c + 1], beyond);
        widen(columns[0].data, columns(0, i), near_given.data, near_y.data, rows, is_code[1],
              beyond);
        Int radius = far / 4;
        for (Int b = 0; b < copies; ++b) {
            const Shorts<1> x = shuffled[b];
            widen(x.data, x[i], near_y.data, near.data, rows, is_code[0], beyond);
            const Int reachable = count_within(near.data, rows, Short(far - 1));
            Int k = neighbours < 1.0 ? Int(neighbours * double(reachable)) : Int(neighbours);
            k = std::min(std::max<Int>(k, 1), reachable - 1); // at least one, at most all in reach
            if (k == 0) continue;
            radius = radius_of(near, k + 1, radius, far);
            const Int limit = strict ? std::max<Int>(radius - 1, 0) : radius;
            const Int with_x = count_both_within(x.data, x[i], near_given.data, rows, is_code[0],
                                                 Short(limit));
            totals[b]
                += information_of_row(near, near_y, near_given, psi, with_x, radius, k, strict);
        }
    }
    for (double &total : totals) total /= double(rows);
}

// Fill `nearest`, shape (rows, most), with the nearest rows of every row, itself among them, at
// less than `far`; places that are left keep their -1.
//
// Among rows that are equally far the last places are given at random, from a stream for every row.
inline void find_nearest(Shorts<2> columns, Bools<1> is_code, Int far, std::uint64_t seed,
                         OutInts<2> nearest) {
    const Int rows = nearest.shape[0];
    const Int most = nearest.shape[1];
    Array<Short, 1> near(rows);
    for (Int i = 0; i < rows; ++i) {
        near.fill(0);
        for (Int c = 0; c < columns.shape[0]; ++c)
            widen(columns[c].data, columns(c, i), near.data, near.data, rows, is_code[c],
                  Short(far));
        const Int radius = std::min(radius_of(near, std::min(most, rows), 1, far), far - 1);
        const std::uint64_t stream = stream_of(seed, i);
        Int taken = 0;
        Int tied = 0;
        for (Int j = 0; j < rows; ++j)
            if (near[j] < radius) nearest(i, taken++) = j;
        for (Int j = 0; j < rows; ++j) {
            if (near[j] != radius) continue;
            Int place = taken + tied;
            if (place >= most) place = taken + Int(uniform_at(stream, tied) * double(tied + 1));
            if (place < most) nearest(i, place) = j;
            ++tied;
        }
    }
}

// Fill `sources`, shape (copies, rows): for copies from the `first` on and every row, the row whose
// x it takes.
//
// Rows in `strata`, of which one ends where the next of `starts` begins, are permuted within their
// stratum. A `loose` row takes one of its nearest rows that no loose row before it took, if there
// is one; the order of loose rows and that of their nearest rows are drawn anew for every copy.
// Draws are numbered by what they are for: places of strata, places of loose rows, choices of
// donors.
inline void draw_shuffles(Ints<2> nearest, Ints<1> loose, Ints<1> strata, Ints<1> starts, Int first,
                          std::uint64_t seed, OutInts<2> sources) {
    Array<bool, 1> used(sources.shape[1]);
    Array<Int, 1> order(loose.size());
    Array<Int, 1> donors(strata.size());
    for (Int b = 0; b < sources.shape[0]; ++b) {
        const std::uint64_t stream = stream_of(seed, first + b);
        std::copy(loose.begin(), loose.end(), order.begin());
        std::copy(strata.begin(), strata.end(), donors.begin());
        used.fill(false);
        for (Int s = 0; s < starts.size() - 1; ++s) {
            for (Int last = starts[s + 1] - 1; last > starts[s]; --last) {
                const Int drawn
                    = starts[s] + Int(uniform_at(stream, last) * double(last - starts[s] + 1));
                std::swap(donors[last], donors[drawn]);
            }
        }
        for (Int position = 0; position < strata.size(); ++position)
            sources(b, strata[position]) = donors[position];
        Int turn = strata.size();
        for (Int last = loose.size() - 1; last > 0; --last) {
            const Int drawn = Int(uniform_at(stream, turn + last) * double(last + 1));
            std::swap(order[last], order[drawn]);
        }
        turn += loose.size();
        for (Int place = 0; place < loose.size(); ++place) {
            const Ints<1> donors_of_row = nearest[order[place]];
            Int number = 0;
            Int free = 0;
            while (number < donors_of_row.size() && donors_of_row[number] >= 0) {
                free += used[donors_of_row[number]] ? 0 : 1;
                ++number;
            }
            const double choice = uniform_at(stream, turn + place);
            Int skipped = Int(choice * double(free > 0 ? free : number));
            Int donor = donors_of_row[skipped]; // any of its nearest rows if none is free
            if (free > 0) {
                Int at = 0;
                while (used[donors_of_row[at]] || skipped > 0) {
                    skipped -= used[donors_of_row[at]] ? 0 : 1;
                    ++at;
                }
                donor = donors_of_row[at];
            }
            used[donor] = true;
            sources(b, order[place]) = donor;
        }
    }
}

} // namespace cc

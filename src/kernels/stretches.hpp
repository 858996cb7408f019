// A batch of rows is added to sums: one visit, a few hundred rows at a time, which stay in the
// cache.
//
// Columns are taken where they lie, by their addresses. Every value is looked at (digests, missing
// and infinite ones); then the usable rows of every level are put side by side, less their own
// mean, and ranges, sums and cross products follow. Differences from a mean are exact for values
// that are far from 0, so that offsets cost no digits.
#pragma once

#include <cstring>

#include "scan.hpp"

namespace cc {

// Rows that are multiplied at a time.
constexpr Int STRETCH = 512;

// Rows that follow each other and are in the same block.
constexpr Int ROWS_TOGETHER = 512;

// Up to so many cells the rows of each are listed by a pass of its own, without a branch.
constexpr Int FEW_CELLS = 4;

// Columns that are brought into the cache ahead, and the bytes that come from memory together.
constexpr Int COLUMNS_AHEAD = 4;
constexpr Int LINE = 64;

// Sums over K cells and p variables; see `ScanTotals` in rows/stretches.py.
struct ScanTotals {
    OutInts<1> n;
    OutInts<1> lost;
    OutFloats<2> centre;
    OutFloats<2> mean;
    OutFloats<2> low;
    OutFloats<2> high;
    OutFloats<3> scatter;
    OutInts<2> missing;
    OutInts<2> infinite;
    OutNames<1> digests;
    static constexpr auto fields = std::make_tuple(
        &ScanTotals::n, &ScanTotals::lost, &ScanTotals::centre, &ScanTotals::mean, &ScanTotals::low,
        &ScanTotals::high, &ScanTotals::scatter, &ScanTotals::missing, &ScanTotals::infinite,
        &ScanTotals::digests);
};

// Room to work in; see `ScanWorkspace` in rows/stretches.py.
struct ScanWorkspace {
    OutFloats<2> stretch;
    OutFloats<2> products;
    OutFloats<1> near;
    OutFloats<1> total;
    OutFloats<1> away;
    OutCodes<1> usable;
    View<std::uint32_t, 1> order;
    OutInts<1> starts;
    static constexpr auto fields = std::make_tuple(
        &ScanWorkspace::stretch, &ScanWorkspace::products, &ScanWorkspace::near,
        &ScanWorkspace::total, &ScanWorkspace::away, &ScanWorkspace::usable, &ScanWorkspace::order,
        &ScanWorkspace::starts);
};

using Places = View<const std::uint32_t, 1>;

// The numbers that begin at an address; the caller keeps them alive.
inline const double *numbers_at(std::uint64_t address) {
    return reinterpret_cast<const double *>(static_cast<std::uintptr_t>(address));
}

// Have the rows of column j from `begin` on brought into the cache, after the last column the next
// rows of the first ones.
//
// Processors read ahead by themselves, but not beyond a page of memory, which is all that is read
// of a column here.
inline void fetch_ahead(Names<1> columns, Int j, Int begin, Int end, Int rows) {
#if defined(__GNUC__)
    if (j >= columns.size()) {
        const Int next = std::min(end + end - begin, rows);
        begin = end;
        end = next;
    }
    const char *first = reinterpret_cast<const char *>(numbers_at(columns[j % columns.size()]) + begin);
    const Int bytes = std::min(end - begin, STRETCH) * Int(sizeof(double));
    for (Int byte = 0; byte < bytes; byte += LINE) __builtin_prefetch(first + byte, 0, 2);
#else
    (void)columns, (void)j, (void)begin, (void)end, (void)rows;
#endif
}

// Count values of variable j that are no finite numbers; their rows are not usable.
inline void count_strange(const double *values, Codes<1> codes, Int j, Int blocks, Int block,
                          const ScanTotals &sums, OutCodes<1> usable) {
    for (Int i = 0; i < codes.size(); ++i) {
        if (std::isfinite(values[i])) continue;
        usable[i] = -1;
        if (codes[i] < 0) continue;
        const Int cell = codes[i] * blocks + block;
        if (std::isnan(values[i])) sums.missing(cell, j) += 1;
        else sums.infinite(cell, j) += 1;
    }
}

// Add the rows from `begin` up to `end` to digests and counts; write down the cells of those that
// are usable, -1 for the others.
inline void look_at_rows(Names<1> columns, Codes<1> codes, Int begin, Int end, Int first_row,
                         Int blocks, Int block, const ScanTotals &sums,
                         const ScanWorkspace &workspace) {
    const Codes<1> these = codes.slice(begin, end);
    const OutCodes<1> usable = workspace.usable;
    std::copy(these.begin(), these.end(), usable.begin());
    bool has_strange = false;
    for (Int j = 0; j < columns.size(); ++j) {
        fetch_ahead(columns, j + COLUMNS_AHEAD, begin, end, codes.size());
        const double *values = numbers_at(columns[j]) + begin;
        const auto *bits = reinterpret_cast<const std::uint64_t *>(
            static_cast<std::uintptr_t>(columns[j])) + begin;
        const Digest digest = digest_values(bits, end - begin, first_row + begin);
        sums.digests[j] += digest.sum;
        if (!digest.has_strange) continue;
        has_strange = true;
        count_strange(values, these, j, blocks, block, sums, usable);
    }
    if (!has_strange) return;
    for (Int i = 0; i < these.size(); ++i)
        if (these[i] >= 0 && usable[i] < 0) sums.lost[these[i] * blocks + block] += 1;
}

// Copy the rows before `end` that were chosen and not yet copied; how many have been copied by
// then.
inline Int copy_chosen(Names<1> columns, Int end, Ints<1> chosen, Int copied, OutFloats<2> kept) {
    Int until = copied;
    while (until < chosen.size() && chosen[until] < end) ++until;
    if (until == copied) return copied;
    for (Int j = 0; j < columns.size(); ++j) {
        const double *column = numbers_at(columns[j]);
        for (Int i = copied; i < until; ++i) kept(j, i) = column[chosen[i]];
    }
    return until;
}

// Write down the rows of every cell, one cell after the other, and where each cell starts.
inline void sort_by_cell(Codes<1> cells, View<std::uint32_t, 1> order, OutInts<1> starts) {
    const Int count = starts.size() - 1;
    if (count <= FEW_CELLS) {
        Int place = 0;
        for (Int cell = 0; cell < count; ++cell) {
            starts[cell] = place;
            for (Int i = 0; i < cells.size(); ++i) {
                order[place] = std::uint32_t(i);
                place += cells[i] == cell;
            }
        }
        starts[count] = place;
        return;
    }
    starts.fill(0);
    for (Int i = 0; i < cells.size(); ++i)
        if (cells[i] >= 0) ++starts[cells[i] + 1];
    for (Int cell = 0; cell < count; ++cell) starts[cell + 1] += starts[cell];
    for (Int i = 0; i < cells.size(); ++i)
        if (cells[i] >= 0) order[starts[cells[i]]++] = std::uint32_t(i);
    for (Int cell = count; cell > 0; --cell) starts[cell] = starts[cell - 1]; // where the last ended
    starts[0] = 0;
}

// Copy some values of a column, side by side.
inline void gather(const double *column, Places rows, double *line) {
    const Int m = rows.size();
    const Int first = rows[0];
    if (Int(rows[m - 1]) - first == m - 1) { // they follow each other
        std::memcpy(line, column + first, std::size_t(m) * sizeof(double));
        return;
    }
    for (Int i = 0; i < m; ++i) line[i] = column[rows.data[i]];
}

// The smallest and largest of some values, and the sum of what is left of them.
struct Range {
    double low;
    double high;
    double total;
};

// The bits of a number as a whole number in the order of the numbers, and back: whole numbers are
// compared in vectors.
inline Int ordered_bits(Int bits) { return bits ^ ((bits >> 63) & std::numeric_limits<Int>::max()); }

inline double number_of(Int ordered) {
    const Int bits = ordered_bits(ordered);
    double number;
    std::memcpy(&number, &bits, sizeof(double));
    return number;
}

// Take a number from finite values, in place.
CC_WIDE [[maybe_unused]] static Range centre_values(double *line, Int length, double near) {
    Int low = std::numeric_limits<Int>::max();
    Int high = std::numeric_limits<Int>::min();
    for (Int t = 0; t < length; ++t) {
        Int bits;
        std::memcpy(&bits, line + t, sizeof(double));
        bits = ordered_bits(bits);
        low = std::min(low, bits);
        high = std::max(high, bits);
    }
    for (Int t = 0; t < length; ++t) line[t] -= near;
    Lanes part = {};
    Int t = 0;
    for (; t + LANES <= length; t += LANES) part += lanes_at(line + t);
    for (int lane = 0; t + lane < length; ++lane) part[lane] += line[t + lane];
    return {number_of(low), number_of(high), added(part)};
}

// Add the rows of the workspace, `count` of them, to those of a level (Chan, Golub and LeVeque
// 1983).
inline void merge_stretch(Int count, Int level, const ScanTotals &sums,
                          const ScanWorkspace &workspace) {
    const OutFloats<1> near = workspace.near;
    const OutFloats<1> total = workspace.total;
    const OutFloats<1> away = workspace.away;
    const double before = double(sums.n[level]);
    const double now = double(count);
    const double share = before * now / (before + now);
    for (Int j = 0; j < near.size(); ++j) {
        total[j] /= now;
        away[j] = (near[j] - sums.centre(level, j)) + (total[j] - sums.mean(level, j));
        sums.mean(level, j) += away[j] * (now / (before + now));
    }
    for (Int i = 0; i < near.size(); ++i) {
        for (Int j = 0; j <= i; ++j) {
            const double within = total[i] * total[j];
            const double between = away[i] * away[j];
            sums.scatter(level, i, j) += workspace.products(i, j) - now * within + share * between;
        }
    }
}

// Add some rows of one level, which are counted from `begin`.
inline void add_stretch(Names<1> columns, Int begin, Places rows, Int level,
                        const ScanTotals &sums, const ScanWorkspace &workspace) {
    const Int m = rows.size();
    const Int variables = columns.size();
    if (sums.n[level] == 0) {
        for (Int j = 0; j < variables; ++j) {
            const double *column = numbers_at(columns[j]) + begin;
            const double first = column[rows[0]];
            double summed = 0.0;
            for (Int i = 0; i < m; ++i) summed += column[rows[i]] - first;
            sums.centre(level, j) = first + summed / double(m);
        }
    }
    const Int filled = (m + LANES - 1) / LANES * LANES;
    for (Int j = 0; j < variables; ++j) {
        double *line = workspace.stretch[j].data;
        const double near = sums.centre(level, j) + sums.mean(level, j);
        gather(numbers_at(columns[j]) + begin, rows, line);
        const Range range = centre_values(line, m, near);
        sums.low(level, j) = std::min(sums.low(level, j), range.low);
        sums.high(level, j) = std::max(sums.high(level, j), range.high);
        workspace.near[j] = near;
        workspace.total[j] = range.total;
        std::fill(line + m, line + filled, 0.0);
    }
    for_cross_products(
        workspace.stretch.data, workspace.stretch.shape[1], variables, 0, filled,
        [&](Int i, Int j, double product) { workspace.products(i, j) = product; });
    merge_stretch(m, level, sums, workspace);
    sums.n[level] += m;
}

// Add a batch to the sums of its levels, and copy some of its rows while they are in the cache.
//
// `columns` are the addresses of float64 values, `codes` the cell of every row, -1 where it is
// missing, `first_row` is the place of the batch in the table. Rows that stand together are in the
// same block, whose number is a hash (see `data/moments.py`): block b of cell k is the cell `k *
// blocks + b` of the sums. `chosen` are the rows to copy to `kept`, shape (variables, rows to
// copy), counted from the first one of the batch, in order.
inline void add_rows(Names<1> columns, Codes<1> codes, Int first_row, Int blocks,
                     const ScanTotals &sums, const ScanWorkspace &workspace, Ints<1> chosen,
                     OutFloats<2> kept) {
    Int begin = 0;
    Int copied = 0;
    while (begin < codes.size()) {
        const Int row = first_row + begin;
        Int block = 0;
        Int end = codes.size();
        if (blocks > 1) {
            const Int together = row / ROWS_TOGETHER;
            block = Int(mixed(word_of_row(together)) % std::uint64_t(blocks));
            end = std::min(end, begin + (together + 1) * ROWS_TOGETHER - row);
        }
        look_at_rows(columns, codes, begin, end, first_row, blocks, block, sums, workspace);
        copied = copy_chosen(columns, end, chosen, copied, kept);
        sort_by_cell(workspace.usable.slice(0, end - begin), workspace.order, workspace.starts);
        for (Int cell = 0; cell < workspace.starts.size() - 1; ++cell) {
            const Int last = workspace.starts[cell + 1];
            for (Int at = workspace.starts[cell]; at < last; at += STRETCH)
                add_stretch(columns, begin, workspace.order.slice(at, std::min(at + STRETCH, last)),
                            cell * blocks + block, sums, workspace);
        }
        begin = end;
    }
}

} // namespace cc

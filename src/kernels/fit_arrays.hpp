// What the kernels of a search share: the design, the rows, and the workspace in which a thread
// fits.
//
// A workspace remembers. A set of columns that was evaluated on the rows is not evaluated again.
// Half of the fits of a search over orders are repeated: a fit is a function of what its node may
// choose from, so whole fits are kept by node, block and candidates. Covariances are made row by
// row, when a regression takes a column, and kept by block and column. Where there is no room left
// all of these are forgotten: what a climb needs again it mostly needed a moment ago.
//
// The records are the named tuples of `causalcontext/kernels/orders/fit_arrays.py`, which says what
// every member holds, with its shape.
#pragma once

#include <tuple>

#include "array.hpp"
#include "noise_densities.hpp"

namespace cc::orders {

// Kinds of nodes.
enum { NUMBER, CLASS, ORDERED, HURDLE };
// Columns of `FitRows::node`.
enum { KIND, RESPONSE, WIDTH, CLASSES, PIECES };
// Columns of `BlockTables::block`.
enum { BITS, LIMIT, DESIGN, IDENTITY };
// Columns of `BlockTables::number`.
enum { ROWS, START, PRICE };
// Entries of `FitRows::facts`; the blurs of all nodes follow.
enum { WEIGHT, DENSITIES, CURVES, SCALES, BLURS };
// Rows of `Regression::about`.
enum { OWNER, PARTNER, SOURCE, FAMILY, CONTEXTS, BASIC, CURVED };
// Columns of `Fits::whole`: path and chosen columns follow.
enum { END, LENGTH, TAKEN, PATH };
// Which columns could still be added at the end of a path; UNKNOWN: any may matter, and no path is
// kept.
enum { CLOSED, ONLY_IF_IT_PAYS, WELCOME, UNKNOWN };
// Lines of `Scratch::line`.
enum { LEFT, LEAST, FACTOR, VALUE };

// In place of a node or of a column.
constexpr Int NOBODY = -1;

// The design: B blocks, q plain columns, p variables; Q columns at most, by values of readers
// included.
struct BlockTables {
    OutFloats<1> n;        // (cells,)
    OutFloats<2> means;    // (cells, q)
    OutFloats<3> scatter;  // (cells, q, q)
    Ints<2> block;         // (B, 4)
    Ints<2> groups;        // (B, cells)
    Floats<2> number;      // (B, 3)
    Ints<3> about;         // (1 + readers, 7, Q)
    Ints<2> first;         // (1 + readers, p + 2)
    Floats<2> cost;        // (B, Q)
    Floats<2> extra;       // (1 + readers, Q)
    Floats<2> weight;      // (B, Q)
    OutFloats<2> variance; // (B, Q)
    Bools<2> required;     // (nodes, p)
    Bools<2> near;         // (nodes, p)

    static constexpr auto fields = std::make_tuple(
        &BlockTables::n, &BlockTables::means, &BlockTables::scatter, &BlockTables::block,
        &BlockTables::groups, &BlockTables::number, &BlockTables::about, &BlockTables::first,
        &BlockTables::cost, &BlockTables::extra, &BlockTables::weight, &BlockTables::variance,
        &BlockTables::required, &BlockTables::near);
};

// The rows, sorted by cell; m of them.
struct FitRows {
    Floats<2> values; // (columns and more, m)
    Ints<2> codes;    // (nodes, m)
    Ints<1> starts;   // (cells + 1,)
    Ints<2> node;     // (nodes, 5)
    Names<1> keys;    // (16 * columns,)
    Floats<1> facts;  // (4 + nodes,)

    static constexpr auto fields =
        std::make_tuple(&FitRows::values, &FitRows::codes, &FitRows::starts, &FitRows::node,
                        &FitRows::keys, &FitRows::facts);
};

// The regression of every node in every slot (a node's blocks), at most W columns, and the path
// that led to it.
struct Fits {
    OutFloats<2> scores; // (nodes, slots)
    OutInts<3> whole;    // (nodes, slots, 3 + 2 W)
    OutBools<3> matters; // (nodes, slots, p) or (nodes, slots, 0)

    static constexpr auto fields = std::make_tuple(&Fits::scores, &Fits::whole, &Fits::matters);
};

// Arrays of one thread for a regression in progress; D response columns at most.
struct Scratch {
    OutBools<1> candidates; // (p,)
    OutInts<2> listed;      // (2, Q)
    OutFloats<2> rows;      // (W, Q)
    OutFloats<2> shared;    // (D, Q)
    OutFloats<2> line;      // (4, Q)
    OutFloats<3> small;     // (5, S, S)

    static constexpr auto fields =
        std::make_tuple(&Scratch::candidates, &Scratch::listed, &Scratch::rows, &Scratch::shared,
                        &Scratch::line, &Scratch::small);
};

// Sets that were evaluated before, of one thread: names, scores or gains, and what was left of the
// set.
struct Memory {
    OutNames<1> names;   // (places,)
    OutFloats<1> scores; // (places,)
    OutCodes<1> number;  // (places,)
    OutInts<2> columns;  // (places / 2, 1 + W)
    OutInts<1> filled;   // (1,)

    static constexpr auto fields =
        std::make_tuple(&Memory::names, &Memory::scores, &Memory::number, &Memory::columns,
                        &Memory::filled);
};

// Rows of covariances, of one thread and one design.
struct KeptRows {
    OutInts<1> names;     // (places,), a power of 2
    OutInts<1> start;     // (places,)
    OutFloats<1> entries; // (entries,)
    OutInts<1> filled;    // (2,)

    static constexpr auto fields =
        std::make_tuple(&KeptRows::names, &KeptRows::start, &KeptRows::entries, &KeptRows::filled);
};

// Whole fits of one thread in one problem.
struct KeptFits {
    Names<1> keys;       // (p,)
    OutNames<1> names;   // (places,); no places: nothing is ever kept
    OutCodes<1> number;  // (places,)
    OutFloats<1> scores; // (fits,)
    OutCodes<2> columns; // (fits, 1 + W)
    OutBools<2> matters; // (fits, p)
    OutInts<1> filled;   // (1,)

    static constexpr auto fields =
        std::make_tuple(&KeptFits::keys, &KeptFits::names, &KeptFits::number, &KeptFits::scores,
                        &KeptFits::columns, &KeptFits::matters, &KeptFits::filled);
};

// Everything that a fit reads and writes; one for every thread. A fit that is kept is not made
// again, and leaves nothing in `work`.
struct FitArrays {
    BlockTables tables;
    FitRows rows;
    noise_densities::DensityTable densities;
    Fits fits;
    Scratch work;
    Memory memory;
    KeptRows covariances;
    KeptFits kept;

    static constexpr auto fields =
        std::make_tuple(&FitArrays::tables, &FitArrays::rows, &FitArrays::densities,
                        &FitArrays::fits, &FitArrays::work, &FitArrays::memory,
                        &FitArrays::covariances, &FitArrays::kept);
};

// The arrays of a thread, and the same arrays but for moments and covariances with weights, which
// a fit with an uneven spread writes. Where no noise has an uneven spread `weighted` is never
// looked at.
struct FitWorkspace {
    FitWorkspace(const FitArrays &arrays, const FitArrays &weighted)
        : arrays(arrays), weighted(weighted) {}

    FitArrays arrays;
    FitArrays weighted;
};

// How many columns there is room for in the path and in the chosen set of a fit, which is
// `Fits::whole[node][slot]`.
inline Int room_of(Ints<1> whole) { return (whole.size() - PATH) / 2; }

// The columns of a fit that were chosen: the first `whole[TAKEN]` of these.
inline OutInts<1> chosen_of(OutInts<1> whole) { return whole.from(PATH + room_of(whole)); }

// A node as the response on the rows of one block, the Q columns of p variables there, and what
// they cost.
struct Regression {
    const FitArrays &arrays; // `row_of` finds or makes covariances there
    Int block;
    Int plain; // how many columns the rows have
    // column `(s << bits) + mask` is column s of the rows at the values of a reader in a bit mask
    // of so many, and 0 elsewhere; there is none at no value. 0 where columns live on the whole
    // block
    Int bits;
    // (7, Q): the node a column belongs to, and the second one of a product, else -1; its number
    // among the columns of the rows. Where a column lives in some contexts only: the first of its
    // family, in which the contexts, as a bit mask, count up from 1; and that mask (0: the whole
    // block). 1 if a required parent must have the column; 1 if it is a curve
    Ints<2> about;
    // (p + 2,): the columns of variable i are `first[i]` to `first[i + 1] - 1`; `first[p]` to
    // `first[p + 1] - 1` are products
    Ints<1> first;
    Floats<1> cost;     // (Q,): the price of one parameter
    Floats<1> extra;    // (Q,): the price of a column beside its parameters: of choosing it
    Floats<1> weight;   // (Q,): exp(2 price / rows) of a column, for a response of one column
    Floats<1> variance; // (Q,): of every column, in units of the pooled standard deviations
    Bools<1> required;  // (p,): parents whose basic columns always stay
    Bools<1> near;      // (p,): who is ever a candidate
    double rows;
    Int most; // the most columns beside required ones, -1 for too few rows
    // the node, its first response column among those of the rows, and how many it has
    Int node;
    Int response;
    Int width;
    double blur; // the variance inside the bins of a number that was counted or rounded
};

// A node as the response in one block.
inline Regression regression_of(const FitArrays &arrays, Int block, Int node) {
    const BlockTables &tables = arrays.tables;
    const FitRows &rows = arrays.rows;
    const Int design = tables.block(block, DESIGN);
    return {arrays,
            block,
            tables.means.shape[1],
            tables.block(block, BITS),
            tables.about[design],
            tables.first[design],
            tables.cost[block],
            tables.extra[design],
            tables.weight[block],
            tables.variance[block],
            tables.required[node],
            tables.near[node],
            tables.number(block, ROWS),
            tables.block(block, LIMIT),
            node,
            rows.node(node, RESPONSE),
            rows.node(node, WIDTH),
            rows.facts[BLURS + node]};
}

// Room for one more row of covariances, under its name.
inline OutFloats<1> new_row(const KeptRows &kept, Int name, Int length) {
    const Int last = kept.names.size() - 1;
    if (2 * kept.filled[0] > last || kept.filled[1] + length > kept.entries.size()) {
        kept.names.fill(0);
        kept.filled.fill(0);
    }
    Int place = name & last;
    while (kept.names[place] != 0) place = (place + 1) & last;
    const Int start = kept.filled[1];
    kept.names[place] = name;
    kept.start[place] = start;
    kept.filled[0] += 1;
    kept.filled[1] += length;
    return kept.entries.slice(start, start + length);
}

// Add the cross products within a cell of one column with all columns, and those of their means:
// `away` is the number of rows times the distance of that column's mean from its group's.
inline void add_cell(Floats<1> products, Floats<1> mean, double away, Int group, Int bits,
                     OutFloats<1> row) {
    if (bits == 0) {
        for (Int j = 0; j < row.size(); ++j) row[j] += products[j] + away * mean[j];
        return;
    }
    const Int step = Int(2) << group;
    for (Int first = 0; first < row.size(); first += step) // the sets with this value
        for (Int place = first + step / 2; place < first + step; ++place)
            row[place] += products[place >> bits] + away * mean[place >> bits];
}

// Make a row of covariances and keep it: cross products within cells, and of the means of cells
// that share an intercept.
inline Floats<1> made_row(const Regression &table, Int source, Int name) {
    const BlockTables &tables = table.arrays.tables;
    const Ints<1> groups = tables.groups[table.block];
    const Floats<1> n = tables.n;
    const OutFloats<1> row = new_row(table.arrays.covariances, name, table.plain << table.bits);
    Array<double, 1> rows(groups.size());
    Array<double, 1> total(groups.size());
    for (Int cell = 0; cell < groups.size(); ++cell) {
        if (groups[cell] < 0) continue;
        rows[groups[cell]] += n[cell];
        total[groups[cell]] += n[cell] * tables.means(cell, source);
    }
    row.fill(0.0);
    for (Int cell = 0; cell < groups.size(); ++cell) {
        const Int group = groups[cell];
        if (group < 0 || n[cell] == 0.0) continue;
        const Floats<1> mean = tables.means[cell];
        const double away = n[cell] * (mean[source] - total[group] / rows[group]);
        add_cell(tables.scatter[cell][source], mean, away, group, table.bits, row);
    }
    for (double &covariance : row) covariance /= table.rows;
    return row;
}

// The covariances of a plain column on all rows of a block with all columns there, until the next
// row is asked for.
//
// That of a column at some values with another one is what they share: `row[other &
// shared_values(table, column)]`, where the row is that of the plain column `column >> bits`.
inline Floats<1> row_of(const Regression &table, Int source) {
    const KeptRows &kept = table.arrays.covariances;
    const Int last = kept.names.size() - 1;
    const Int name = table.block * table.plain + source + 1;
    Int place = name & last;
    while (kept.names[place] != name) {
        if (kept.names[place] == 0) return made_row(table, source, name);
        place = (place + 1) & last;
    }
    return kept.entries.slice(kept.start[place], kept.start[place] + (table.plain << table.bits));
}

// The bits of the number of a column that stay by `&`: the same column at the values where a given
// one lives.
inline Int shared_values(const Regression &table, Int column) {
    return column | -(Int(1) << table.bits);
}

// Write the covariance of the response.
inline void response_covariance(const Regression &table, OutFloats<2> left) {
    for (Int a = 0; a < table.width; ++a) {
        const Floats<1> row = row_of(table, table.response + a);
        for (Int b = 0; b < table.width; ++b)
            left(a, b) = row[((table.response + b + 1) << table.bits) - 1];
    }
    left(0, 0) += table.blur;
}

// The place of a name, or an empty place.
inline Int place_of(Names<1> names, std::uint64_t name) {
    Int place = Int(name >> 40) % names.size();
    while (names[place] != name && names[place] != 0) place = (place + 1) % names.size();
    return place;
}

// What the names of a node in a block have in common.
inline std::uint64_t name_of_node(Int node, Int kind) {
    return std::uint64_t(node + 1) * 0x9E3779B97F4A7C15u
           ^ std::uint64_t(kind) * 0xC2B2AE3D27D4EB4Fu;
}

// A name for a node, a block and a set of columns, whatever their order.
inline std::uint64_t name_of_set(const Regression &table, Ints<1> chosen) {
    const FitArrays &arrays = table.arrays;
    std::uint64_t name = name_of_node(table.node, arrays.tables.block(table.block, IDENTITY));
    for (Int column : chosen) {
        const Int contexts = table.about(CONTEXTS, column);
        name ^= arrays.rows.keys[(table.about(SOURCE, column) << 4) + contexts];
    }
    return name | 1;
}

// Remember a score, unless the memory is nearly full.
inline bool store(const Memory &memory, Int place, std::uint64_t name, double score) {
    if (memory.filled[0] >= memory.names.size() / 2) return false;
    memory.names[place] = name;
    memory.scores[place] = score;
    memory.number[place] = std::int32_t(memory.filled[0]);
    memory.filled[0] += 1;
    return true;
}

// A name for a node, a kind of block and a set of candidates.
inline std::uint64_t name_of_fit(Names<1> keys, Int kind, Int node, Bools<1> candidates) {
    std::uint64_t name = name_of_node(node, kind);
    for (Int j = 0; j < keys.size(); ++j) name ^= candidates[j] ? keys[j] : 0;
    return name | 1;
}

// Write a fit that was kept to a slot, but for the path that led to it; its score.
inline double recall(const KeptFits &kept, Int place, const Fits &fits, Int node, Int slot) {
    const Int number = kept.number[place];
    const OutInts<1> whole = fits.whole[node][slot];
    const OutInts<1> chosen = chosen_of(whole);
    const OutBools<1> matters = fits.matters[node][slot];
    const Codes<1> columns = kept.columns[number];
    const Bools<1> mattered = kept.matters[number];
    whole[TAKEN] = columns[0];
    for (Int t = 0; t < columns[0]; ++t) chosen[t] = columns[1 + t];
    for (Int j = 0; j < matters.size(); ++j) matters[j] = mattered[j];
    return kept.scores[number];
}

// Keep the fit of a slot.
inline void keep(const KeptFits &kept, std::uint64_t name, const Fits &fits, Int node, Int slot,
                 double score) {
    if (kept.filled[0] >= kept.scores.size()) {
        kept.names.fill(0);
        kept.filled[0] = 0;
    }
    const OutInts<1> whole = fits.whole[node][slot];
    const Ints<1> chosen = chosen_of(whole);
    const Bools<1> matters = fits.matters[node][slot];
    const Int place = place_of(kept.names, name);
    const Int number = kept.filled[0];
    kept.names[place] = name;
    kept.number[place] = std::int32_t(number);
    kept.scores[number] = score;
    kept.columns(number, 0) = std::int32_t(whole[TAKEN]);
    for (Int t = 0; t < whole[TAKEN]; ++t)
        kept.columns(number, 1 + t) = std::int32_t(chosen[t]);
    for (Int j = 0; j < matters.size(); ++j) kept.matters(number, j) = matters[j];
    kept.filled[0] += 1;
}

} // namespace cc::orders

// Chi-squared and G² of two columns of codes in the strata of others, as functions of (x, y, given).
//
// The conditions divide the n rows of a view into strata. In a stratum of n rows, with n_ij rows at
// levels i of x and j of y, margins r_i and c_j, and R and C levels that occur,
//
//     G² = 2 Σ_ij n_ij log(n n_ij / (r_i c_j)),     X² = n Σ_ij n_ij² / (r_i c_j) - n,
//     df = (R - 1)(C - 1),
//
// and all three are summed over the strata that say something about dependence: those in which both
// columns have two levels and repeat one, 1 < R < n and 1 < C < n. p is the upper tail of the
// chi-squared law, by the incomplete gamma function.
//
// Where these strata have fewer than `rows_per_cell` rows for each of their Σ R C cells, the
// chi-squared law is far off (sizes: benchmarks/thin_tables.py). X² answers there,
// whose mean and variance under independence given the margins are known exactly (Haldane 1940;
// Dawson 1954), and add up over strata:
//
//     E = n (R - 1)(C - 1) / (n - 1),
//     V = 2n / (n - 3) (v_r - w_r)(v_c - w_c) + n² / (n - 1) w_r w_c,
//     v_r = (R - 1)(n - R) / (n - 1),     w_r = (n Σ_i 1 / r_i - R²) / (n - 2),
//
// v_c and w_c alike; for n = 3 the first term of V is 0. With f = 2 E² / V, f X² / E is compared
// with the chi-squared law of f degrees of freedom: the gamma law with that mean and variance.
//
// Counting. Strata are numbered by mixed radix, one condition after the other, and numbered anew
// by those that occur where many do not. What does not change from one set of a lexicographic
// enumeration to the next is kept: with the strata of all conditions but the last one stands the
// place of (stratum, x, y) of every row, so that a test is one pass over two arrays. Tables with
// many more cells than rows are counted stratum by stratum. Of long tables every level of a column
// is a set of rows, a bit each: a small table is counted by common bits, 64 rows at a time.
#pragma once

#include <bitset>
#include <vector>

#include "gaussian.hpp"
#include "pulse.hpp"
#include "sums.hpp"

namespace cc {

// Which statistic answers where rows are enough.
enum { G_SQUARED, CHI_SQUARED };

// The codes of a table; see `Tables` in levels/contingency.py.
struct Tables {
    Codes<2> codes;
    Ints<1> levels;
    Ints<1> range_start;
    Ints<2> ranges;
    Bools<2> varies;
    Names<1> bits;
    Ints<1> bit_start;
    Ints<1> words;
    Floats<1> logs;
    Int kind;
    Int fewest_rows;
    Int rows_per_cell;
    static constexpr auto fields = std::make_tuple(
        &Tables::codes, &Tables::levels, &Tables::range_start, &Tables::ranges, &Tables::varies,
        &Tables::bits, &Tables::bit_start, &Tables::words, &Tables::logs, &Tables::kind, &Tables::fewest_rows, &Tables::rows_per_cell);
};

// The answer to a question: the statistic and its degrees of freedom, NaN where `reason` is not
// `TESTABLE`; the place of the test among the labels of the prepared test, and its p-value.
struct TableAnswer {
    double value;
    double df;
    Int rows;
    Int reason;
    Int label;
    double p;
};

// Sums over the strata that count.
struct TableSums {
    double half_g_squared = 0.0;
    double chi_squared = 0.0;
    double mean = 0.0;
    double variance = 0.0;
    double df = 0.0;
    Int rows = 0;
    Int cells = 0;
};

// Cells up to which a table is counted in one block, whatever its rows; beyond that, so many cells
// a row.
constexpr Int SMALL_BLOCK = 1024;
constexpr Int BLOCK_CELLS_PER_ROW = 4;

// Blocks of at most so many cells are counted in four copies, so that rows which follow each other
// do not wait for one cell.
constexpr Int MOST_CELLS_IN_COPIES = 2048;

// Cells up to which a table is counted by common bits. Reckoned from the time of a word of 64 rows
// and that of a row, so that either way takes about as long; half and double are not measured.
constexpr Int MOST_CELLS_BY_BITS = 192;

// Levels of a column that has sets of bits.
constexpr Int MOST_LEVELS_WITH_BITS = 8;

// Strata are numbered anew where a row has more than one of this many numbers.
constexpr Int NUMBERS_PER_ROW = 8;

// Cells of a pair in one stratum: a pair with more is not tested.
constexpr Int MOST_CELLS = Int(1) << 30;

// Scratch arrays of one thread for sets of at most `size` conditions on at most `rows` rows.
//
// `strata[k]` is the stratum of every row by the first k conditions, `many[k]` how many there are,
// and `places[k]` that of (stratum, x, y); `cell_bits[k]` are the rows of every cell by the first k
// conditions, and `cell_counts[k]` how many they are. The first are known up to k = `strata_known`,
// the last up to `bits_known`.
struct TableScratch {
    TableScratch(const Tables &data, Int size, Pulse &signs)
        : strata(size + 1, data.codes.shape[1]), places(size + 1, data.codes.shape[1]),
          last(data.codes.shape[1]), many(size + 1),
          cell_bits(static_cast<std::size_t>(size + 1)),
          cell_counts(static_cast<std::size_t>(size + 1)), pulse(signs) {}

    Array<std::int32_t, 2> strata;
    Array<std::int32_t, 2> places;
    Array<std::int32_t, 1> last;
    Array<Int, 1> many;
    Int strata_known = -1;
    Int bits_known = -1;
    std::vector<std::vector<std::uint64_t>> cell_bits;
    std::vector<std::vector<std::int32_t>> cell_counts;
    std::vector<std::int32_t> counts;
    std::vector<std::int32_t> numbers;
    std::vector<std::int32_t> sorted;
    std::vector<std::int32_t> first;
    std::vector<std::int32_t> second;
    std::vector<std::int32_t> occurring;
    std::vector<Int> ends;
    std::vector<Int> row_margins;
    std::vector<Int> column_margins;
    Pulse &pulse;
};

// Whether the cells of a pair in one stratum are more than can be numbered.
inline bool too_many_cells(const Tables &data, const PairQuery &asked) {
    return data.levels[asked.x] * data.levels[asked.y] > MOST_CELLS;
}

// The number of rows of a view.
inline Int rows_of(const Tables &data, Int view) {
    Int rows = 0;
    for (Int k = data.range_start[view]; k < data.range_start[view + 1]; ++k)
        rows += data.ranges(k, 1) - data.ranges(k, 0);
    return rows;
}

// Call `visit(codes, begin, count)` for the parts of a view: where the codes of a column begin,
// the place of their first row among those of the view, how many there are.
template <class Visit>
void visit_ranges(const Tables &data, Int view, Int column, Visit visit) {
    Int begin = 0;
    for (Int k = data.range_start[view]; k < data.range_start[view + 1]; ++k) {
        const Int count = data.ranges(k, 1) - data.ranges(k, 0);
        visit(data.codes[column].data + data.ranges(k, 0), begin, count);
        begin += count;
    }
}

// Number strata 0, 1, ... by those that occur; `bound` is above all numbers. How many there are.
inline Int number_anew(OutCodes<1> strata, Int rows, Int bound, std::vector<std::int32_t> &numbers) {
    numbers.assign(std::size_t(bound), -1);
    std::int32_t count = 0;
    for (Int t = 0; t < rows; ++t) {
        std::int32_t &number = numbers[std::size_t(strata[t])];
        if (number < 0) number = count++;
        strata[t] = number;
    }
    return count;
}

// The same from pairs of a stratum and a code, where there are too many for a number each.
inline Int number_pairs(OutCodes<1> strata, const std::vector<std::int64_t> &pairs) {
    std::vector<std::int64_t> occurring = pairs;
    std::sort(occurring.begin(), occurring.end());
    occurring.erase(std::unique(occurring.begin(), occurring.end()), occurring.end());
    for (std::size_t t = 0; t < pairs.size(); ++t) {
        const auto place = std::lower_bound(occurring.begin(), occurring.end(), pairs[t]);
        strata[Int(t)] = std::int32_t(place - occurring.begin());
    }
    return Int(occurring.size());
}

// Divide strata by one more column; how many there are then. They are numbered anew where they are
// more than `plain`.
inline Int divide_strata(const Tables &data, Int view, Int column, OutCodes<1> before, Int many,
                         Int rows, Int plain, OutCodes<1> after,
                         std::vector<std::int32_t> &numbers) {
    const Int levels = data.levels[column];
    const Int bound = many * levels;
    if (bound > NUMBERS_PER_ROW * rows + (1 << 16)) {
        std::vector<std::int64_t> pairs(static_cast<std::size_t>(rows));
        visit_ranges(data, view, column, [&](const std::int32_t *codes, Int begin, Int count) {
            for (Int t = 0; t < count; ++t)
                pairs[std::size_t(begin + t)] = Int(before[begin + t]) * levels + codes[t];
        });
        return number_pairs(after, pairs);
    }
    visit_ranges(data, view, column, [&](const std::int32_t *codes, Int begin, Int count) {
        const std::int32_t *from = before.data + begin;
        std::int32_t *to = after.data + begin;
        for (Int t = 0; t < count; ++t) to[t] = from[t] * std::int32_t(levels) + codes[t];
    });
    return bound > plain ? number_anew(after, rows, bound, numbers) : bound;
}

// Begin a run of sets for a pair: nothing is known about its rows.
inline void start(const Tables &, const RowSelections &, const PairQuery &, TableScratch &fit) {
    fit.strata_known = -1;
    fit.bits_known = -1;
}

// Write the places of (x, y) in a table of their own, which is one stratum.
inline void place_pairs(const Tables &data, Int view, const PairQuery &asked, TableScratch &fit) {
    const std::int32_t width = std::int32_t(data.levels[asked.y]);
    std::int32_t *places = fit.places[0].data;
    visit_ranges(data, view, asked.x, [&](const std::int32_t *codes, Int begin, Int count) {
        for (Int t = 0; t < count; ++t) places[begin + t] = codes[t] * width;
    });
    visit_ranges(data, view, asked.y, [&](const std::int32_t *codes, Int begin, Int count) {
        for (Int t = 0; t < count; ++t) places[begin + t] += codes[t];
    });
    const OutCodes<1> strata = fit.strata[0];
    strata.fill(0);
    fit.many[0] = 1;
}

// Divide the strata by all conditions but the last one.
inline void know_strata(const Tables &data, Int view, const PairQuery &asked, Int rows,
                        Ints<1> given, Int cells, TableScratch &fit) {
    if (fit.strata_known < 0) {
        place_pairs(data, view, asked, fit);
        fit.strata_known = 0;
    }
    for (Int j = fit.strata_known; j + 1 < given.size(); ++j) {
        fit.many[j + 1] = divide_strata(data, view, given[j], fit.strata[j], fit.many[j], rows,
                                        rows / NUMBERS_PER_ROW, fit.strata[j + 1], fit.numbers);
        fit.strata_known = j + 1;
        if (fit.many[j + 1] * cells > NUMBERS_PER_ROW * rows + (1 << 16)) continue; // no block
        const std::int32_t *strata = fit.strata[j + 1].data;
        const std::int32_t *pairs = fit.places[0].data;
        std::int32_t *places = fit.places[j + 1].data;
        for (Int t = 0; t < rows; ++t) places[t] = strata[t] * std::int32_t(cells) + pairs[t];
    }
}

// The number of bits that are set in both.
CC_WIDE [[maybe_unused]] static Int count_common(const std::uint64_t *first,
                                                 const std::uint64_t *second, Int words) {
    Int count = 0;
    for (Int k = 0; k < words; ++k) count += Int(std::bitset<64>(first[k] & second[k]).count());
    return count;
}

// The same, with the bits that are set in both written down.
CC_WIDE [[maybe_unused]] static Int meet(const std::uint64_t *first, const std::uint64_t *second,
                                         std::uint64_t *both, Int words) {
    Int count = 0;
    for (Int k = 0; k < words; ++k) {
        both[k] = first[k] & second[k];
        count += Int(std::bitset<64>(both[k]).count());
    }
    return count;
}

// The rows of a view in which a column has a level, a bit each.
inline const std::uint64_t *rows_with(const Tables &data, Int view, Int column, Int level) {
    const Int place = (level * data.levels.size() + column) * data.words[view];
    return data.bits.data + data.bit_start[view] + place;
}

// The number of cells of (conditions, x, y) where they are to be counted by common bits, else 0.
inline Int cells_by_bits(const Tables &data, Int view, const PairQuery &asked, Ints<1> given) {
    if (data.words[view] == 0) return 0;
    Int cells = 1;
    const auto add = [&](Int column) {
        const Int levels = data.levels[column];
        cells = levels > MOST_LEVELS_WITH_BITS ? MOST_CELLS_BY_BITS + 1 : cells * levels;
        return cells <= MOST_CELLS_BY_BITS;
    };
    if (!add(asked.x) || !add(asked.y)) return 0;
    for (const Int column : given)
        if (!add(column)) return 0;
    return cells;
}

// Find the rows of every cell of (stratum, x, y) by all conditions but the last one.
inline void know_bits(const Tables &data, Int view, const PairQuery &asked, Ints<1> given,
                      TableScratch &fit) {
    const Int words = data.words[view];
    if (fit.bits_known < 0) {
        const Int rows = data.levels[asked.x];
        const Int columns = data.levels[asked.y];
        fit.cell_bits[0].resize(std::size_t(rows * columns * words));
        fit.cell_counts[0].resize(std::size_t(rows * columns));
        for (Int cell = 0; cell < rows * columns; ++cell) {
            const Int count = meet(rows_with(data, view, asked.x, cell / columns),
                                   rows_with(data, view, asked.y, cell % columns),
                                   fit.cell_bits[0].data() + cell * words, words);
            fit.cell_counts[0][std::size_t(cell)] = std::int32_t(count);
        }
        fit.bits_known = 0;
    }
    for (Int j = fit.bits_known; j + 1 < given.size(); ++j) {
        const auto &before = fit.cell_bits[std::size_t(j)];
        auto &after = fit.cell_bits[std::size_t(j + 1)];
        auto &counts = fit.cell_counts[std::size_t(j + 1)];
        const Int cells = Int(fit.cell_counts[std::size_t(j)].size());
        const Int levels = data.levels[given[j]];
        after.resize(std::size_t(cells * levels * words));
        counts.resize(std::size_t(cells * levels));
        for (Int level = 0; level < levels; ++level) {
            const std::uint64_t *with_level = rows_with(data, view, given[j], level);
            for (Int cell = 0; cell < cells; ++cell) {
                const Int place = level * cells + cell;
                counts[std::size_t(place)]
                    = std::int32_t(meet(before.data() + cell * words, with_level,
                                        after.data() + place * words, words));
            }
        }
        fit.bits_known = j + 1;
    }
}

// Count all cells by common bits; those of the last level are what the others leave.
inline void count_by_bits(const Tables &data, Int view, Ints<1> given, TableScratch &fit) {
    if (given.size() == 0) {
        fit.counts = fit.cell_counts[0];
        return;
    }
    const Int known = given.size() - 1;
    const Int words = data.words[view];
    const auto &bits = fit.cell_bits[std::size_t(known)];
    const auto &whole = fit.cell_counts[std::size_t(known)];
    const Int cells = Int(whole.size());
    const Int levels = data.levels[given[known]];
    fit.counts.resize(std::size_t(cells * levels));
    std::int32_t *last = fit.counts.data() + (levels - 1) * cells;
    std::copy(whole.begin(), whole.end(), last);
    for (Int level = 0; level < levels - 1; ++level) {
        const std::uint64_t *with_level = rows_with(data, view, given[known], level);
        for (Int cell = 0; cell < cells; ++cell) {
            const Int count = whole[std::size_t(cell)] == 0
                ? 0
                : count_common(bits.data() + cell * words, with_level, words);
            fit.counts[std::size_t(level * cells + cell)] = std::int32_t(count);
            last[cell] -= std::int32_t(count);
        }
    }
}

// w of a margin: (n Σ 1 / r_i - R²) / (n - 2).
inline double spread_of_margin(const Int *margin, Int length, double n, double levels) {
    double inverse = 0.0;
    for (Int i = 0; i < length; ++i)
        if (margin[i] > 0) inverse += 1.0 / double(margin[i]);
    return (n * inverse - levels * levels) / (n - 2.0);
}

// Add the table of one stratum, shape (rows, columns), to the sums, if it counts.
//
// `moments` says whether the exact mean and variance of X² are added as well.
inline void add_table(const std::int32_t *counts, Int rows, Int columns, Floats<1> logs,
                      bool moments, TableScratch &fit, TableSums &sums) {
    Int *row_margin = fit.row_margins.data();
    Int *column_margin = fit.column_margins.data();
    for (Int j = 0; j < columns; ++j) column_margin[j] = 0;
    Int n = 0;
    Int row_levels = 0;
    double information = 0.0;
    for (Int i = 0; i < rows; ++i) {
        const std::int32_t *row = counts + i * columns;
        Int total = 0;
        for (Int j = 0; j < columns; ++j) {
            total += row[j];
            column_margin[j] += row[j];
            information += logs[row[j]];
        }
        row_margin[i] = total;
        n += total;
        row_levels += total > 0;
        information -= logs[total];
    }
    Int column_levels = 0;
    for (Int j = 0; j < columns; ++j) {
        column_levels += column_margin[j] > 0;
        information -= logs[column_margin[j]];
    }
    if (!(1 < row_levels && row_levels < n && 1 < column_levels && column_levels < n)) return;
    const double free = double((row_levels - 1) * (column_levels - 1));
    sums.df += free;
    sums.rows += n;
    sums.cells += row_levels * column_levels;
    sums.half_g_squared += information + logs[n];
    if (!moments) return;
    double squares = 0.0;
    for (Int i = 0; i < rows; ++i) {
        double of_row = 0.0;
        for (Int j = 0; j < columns; ++j) {
            const double count = double(counts[i * columns + j]);
            if (count > 0.0) of_row += count * count / double(column_margin[j]);
        }
        if (row_margin[i] > 0) squares += of_row / double(row_margin[i]);
    }
    const double size = double(n);
    const double r = double(row_levels);
    const double c = double(column_levels);
    const double v_rows = (r - 1.0) * (size - r) / (size - 1.0);
    const double v_columns = (c - 1.0) * (size - c) / (size - 1.0);
    const double w_rows = spread_of_margin(row_margin, rows, size, r);
    const double w_columns = spread_of_margin(column_margin, columns, size, c);
    sums.chi_squared += std::max(size * squares - size, 0.0);
    sums.mean += size * free / (size - 1.0);
    sums.variance += size * size / (size - 1.0) * w_rows * w_columns;
    if (n > 3)
        sums.variance += 2.0 * size / (size - 3.0) * (v_rows - w_rows) * (v_columns - w_columns);
}

// Count the places of all rows into one block of `cells`: those of (stratum, x, y) in `places`, and
// `stride` further on for every level of the last condition, `*column`, if there is one.
inline void count_block(const Tables &data, Int view, const Int *column, const std::int32_t *places,
                        Int rows, Int stride, Int cells, TableScratch &fit) {
    const bool in_copies = cells <= MOST_CELLS_IN_COPIES && rows >= cells;
    const Int copies = in_copies ? 4 : 1;
    fit.counts.assign(std::size_t(copies * cells), 0);
    std::int32_t *counts = fit.counts.data();
    const auto count_all = [&](const auto &place, Int size) {
        Int t = 0;
        if (in_copies) {
            for (; t + 4 <= size; t += 4) {
                ++counts[place(t)];
                ++counts[cells + place(t + 1)];
                ++counts[2 * cells + place(t + 2)];
                ++counts[3 * cells + place(t + 3)];
            }
        }
        for (; t < size; ++t) ++counts[place(t)];
    };
    if (column == nullptr) {
        count_all([&](Int t) { return Int(places[t]); }, rows);
    } else {
        visit_ranges(data, view, *column, [&](const std::int32_t *codes, Int begin, Int count) {
            const std::int32_t *rest = places + begin;
            count_all([&](Int t) { return Int(codes[t]) * stride + rest[t]; }, count);
        });
    }
    for (Int copy = 1; copy < copies; ++copy)
        for (Int cell = 0; cell < cells; ++cell) counts[cell] += counts[copy * cells + cell];
}

// Number the codes of the rows of a stratum 0, 1, ... by those that occur; how many there are.
// `numbers` is all -1 before and afterwards.
inline Int compact_codes(std::vector<std::int32_t> &codes, std::vector<std::int32_t> &numbers,
                         std::vector<std::int32_t> &occurring) {
    occurring.clear();
    for (std::int32_t &code : codes) {
        std::int32_t &number = numbers[std::size_t(code)];
        if (number < 0) {
            number = std::int32_t(occurring.size());
            occurring.push_back(code);
        }
        code = number;
    }
    for (const std::int32_t code : occurring) numbers[std::size_t(code)] = -1;
    return Int(occurring.size());
}

// The sums over strata that are counted one by one: those of `strata`, so `many`.
inline TableSums sum_by_strata(const Tables &data, const PairQuery &asked, OutCodes<1> strata,
                               Int many, Int rows, TableScratch &fit) {
    fit.ends.assign(std::size_t(many + 1), 0);
    for (Int t = 0; t < rows; ++t) ++fit.ends[std::size_t(strata[t] + 1)];
    for (Int s = 0; s < many; ++s) fit.ends[std::size_t(s + 1)] += fit.ends[std::size_t(s)];
    fit.sorted.resize(std::size_t(rows));
    // so far `ends[s]` is where stratum s begins
    for (Int t = 0; t < rows; ++t)
        fit.sorted[std::size_t(fit.ends[std::size_t(strata[t])]++)] = fit.places[0][t];
    const Int width = data.levels[asked.y];
    fit.numbers.assign(std::size_t(std::max(data.levels[asked.x], width)), -1);
    TableSums sums;
    Int begin = 0;
    for (Int s = 0; s < many; ++s) {
        const Int end = fit.ends[std::size_t(s)];
        const Int size = end - begin;
        const std::int32_t *pairs = fit.sorted.data() + begin;
        begin = end;
        if (size < 3) continue; // no column has two levels and repeats one
        fit.first.resize(std::size_t(size));
        fit.second.resize(std::size_t(size));
        for (Int t = 0; t < size; ++t) {
            fit.first[std::size_t(t)] = std::int32_t(pairs[t] / width);
            fit.second[std::size_t(t)] = std::int32_t(pairs[t] % width);
        }
        const Int row_levels = compact_codes(fit.first, fit.numbers, fit.occurring);
        if (row_levels < 2 || row_levels == size) continue;
        const Int column_levels = compact_codes(fit.second, fit.numbers, fit.occurring);
        if (column_levels < 2 || column_levels == size) continue;
        fit.counts.assign(std::size_t(row_levels * column_levels), 0);
        for (Int t = 0; t < size; ++t) {
            const Int row = fit.first[std::size_t(t)];
            ++fit.counts[std::size_t(row * column_levels + fit.second[std::size_t(t)])];
        }
        add_table(fit.counts.data(), row_levels, column_levels, data.logs, true, fit, sums);
    }
    return sums;
}

// Whether rows are too few for the chi-squared law.
inline bool is_thin(const Tables &data, const TableSums &sums) {
    return sums.rows < data.rows_per_cell * sums.cells;
}

// The sums over strata that are counted in one block, so `many`.
inline TableSums sum_block(const Tables &data, const PairQuery &asked, Int many, bool moments,
                           TableScratch &fit) {
    const Int rows = data.levels[asked.x];
    const Int columns = data.levels[asked.y];
    TableSums sums;
    for (Int s = 0; s < many; ++s)
        add_table(fit.counts.data() + s * rows * columns, rows, columns, data.logs, moments, fit,
                  sums);
    return sums;
}

// The sums over strata given a set; those of X² and its moments where X² answers.
inline TableSums sum_tables(const Tables &data, const PairQuery &asked, Int view, Int rows,
                            Ints<1> given, TableScratch &fit) {
    const Int cells = data.levels[asked.x] * data.levels[asked.y];
    const Int known = std::max<Int>(given.size() - 1, 0);
    const Int *last = given.size() > 0 ? &given[known] : nullptr;
    const Int counted_by_bits = cells_by_bits(data, view, asked, given);
    Int many;
    if (counted_by_bits > 0) {
        know_bits(data, view, asked, given, fit);
        count_by_bits(data, view, given, fit);
        many = counted_by_bits / cells;
    } else {
        know_strata(data, view, asked, rows, given, cells, fit);
        many = fit.many[known] * (last == nullptr ? 1 : data.levels[*last]);
        const Int block = many * cells;
        if (block > SMALL_BLOCK && block > BLOCK_CELLS_PER_ROW * rows) {
            if (last == nullptr) return sum_by_strata(data, asked, fit.strata[0], 1, rows, fit);
            many = divide_strata(data, view, *last, fit.strata[known], fit.many[known], rows, 0,
                                 fit.last, fit.numbers);
            return sum_by_strata(data, asked, fit.last, many, rows, fit);
        }
        count_block(data, view, last, fit.places[known].data, rows, fit.many[known] * cells, block,
                    fit);
    }
    const TableSums sums = sum_block(data, asked, many, data.kind == CHI_SQUARED, fit);
    if (data.kind == CHI_SQUARED || !is_thin(data, sums)) return sums;
    return sum_block(data, asked, many, true, fit);
}

// P(X² > value) by the gamma law of that mean and variance; 1 where X² cannot vary.
inline double chi_squared_given_margins(double value, double mean, double variance) {
    if (!(variance > 1e-12 * mean * mean)) return 1.0;
    const double f = 2.0 * mean * mean / variance;
    return chi2_upper(f * value / mean, f);
}

// The test given a set, of which the part before `begin` is as before.
inline TableAnswer answer_set(const Tables &data, const RowSelections &selections,
                              const PairQuery &asked, Ints<1> given, Int begin,
                              TableScratch &fit) {
    const Int view = selections.whole[asked.selection];
    const Int rows = rows_of(data, view);
    if (!data.varies(view, asked.x) || !data.varies(view, asked.y))
        return {NaN, NaN, rows, CONSTANT, 0, NaN};
    if (too_many_cells(data, asked)) return {NaN, NaN, rows, FEW_ROWS, 0, NaN};
    fit.pulse.worked(rows * (1 + given.size()));
    fit.row_margins.resize(std::size_t(data.levels[asked.x]));
    fit.column_margins.resize(std::size_t(data.levels[asked.y]));
    fit.strata_known = std::min(fit.strata_known, begin);
    fit.bits_known = std::min(fit.bits_known, begin);
    const TableSums sums = sum_tables(data, asked, view, rows, given, fit);
    if (sums.rows < data.fewest_rows) return {NaN, NaN, rows, FEW_ROWS, 0, NaN};
    if (is_thin(data, sums))
        return {sums.chi_squared, sums.df, rows, TESTABLE, data.kind == G_SQUARED ? 1 : 0,
                chi_squared_given_margins(sums.chi_squared, sums.mean, sums.variance)};
    const double value = data.kind == G_SQUARED ? std::max(2.0 * sums.half_g_squared, 0.0)
                                                : sums.chi_squared;
    return {value, sums.df, rows, TESTABLE, 0, chi2_upper(value, sums.df)};
}

// What the search of levels asks of an answer; see skeleton.hpp.
inline Int label_of(const RowSelections &, Int, const TableAnswer &answer) { return answer.label; }
inline double p_value(const Tables &, Int, const TableAnswer &answer) { return answer.p; }
inline bool orders_p_values(const TableAnswer &, Int, const TableScratch &, Int) { return false; }

// Answer unrelated questions, on the view of each row selection, given the columns of a row of
// `given` that are not -1. `numbers`, shape (n, 3), are the statistic, df and p; `facts`, shape
// (n, 3), are the rows, the reason and the label.
inline void answer_table_batch(const Tables &data, const RowSelections &selections,
                               const CIQueries &asked, OutFloats<2> numbers, OutInts<2> facts,
                               Pulse &pulse) {
    TableScratch fit(data, asked.given.shape[1], pulse);
    for (Int i = 0; i < asked.x.size(); ++i) {
        const PairQuery question{asked.selection[i], asked.x[i], asked.y[i]};
        const Ints<1> padded = asked.given[i];
        const Int size = std::find(padded.begin(), padded.end(), -1) - padded.begin();
        start(data, selections, question, fit);
        const TableAnswer answer
            = answer_set(data, selections, question, padded.slice(0, size), 0, fit);
        facts(i, 0) = answer.rows;
        facts(i, 1) = answer.reason;
        facts(i, 2) = answer.label;
        numbers(i, 0) = answer.value;
        numbers(i, 1) = answer.df;
        numbers(i, 2) = answer.p;
    }
}

} // namespace cc

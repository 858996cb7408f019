// What is asked of every value of a column, and the cross products of columns.
#pragma once

#include "draws.hpp"
#include "sums.hpp"

namespace cc {

constexpr std::uint64_t EXPONENT = 0x7FF0000000000000u;
constexpr std::uint64_t MAGNITUDE = 0x7FFFFFFFFFFFFFFFu;
constexpr std::uint64_t USUAL_NAN = 0x7FF8000000000000u;

// As many columns, with so many rows, stay in the second cache.
constexpr Int COLUMNS_AT_A_TIME = 64;
constexpr Int ROWS_AT_A_TIME = 512;

// A hash of some values, a sum over rows, so that batches do not matter.
struct Digest {
    std::uint64_t sum;
    bool has_strange; // some are not finite
};

// The sum over rows of a hash of (word, row): it changes with every word and with the order of the
// rows.
CC_WIDE [[maybe_unused]] static std::uint64_t digest_words(const std::uint64_t *words, Int length) {
    std::uint64_t total = 0;
    for (Int i = 0; i < length; ++i) total += mixed(words[i] + word_of_row(i));
    return total;
}

// Whether some float64 values, given by their bits, are not finite.
CC_WIDE [[maybe_unused]] static bool has_strange(const std::uint64_t *bits, Int length) {
    std::uint64_t strange = 0;
    for (Int i = 0; i < length; ++i) strange += (bits[i] & EXPONENT) == EXPONENT ? 1 : 0;
    return strange > 0;
}

// The digest of finite values: the sum over rows of a hash of (word, row), in which -0.0 equals 0.0.
CC_WIDE [[maybe_unused]] static std::uint64_t digest_finite(const std::uint64_t *bits, Int length,
                                                            std::uint64_t first) {
    std::uint64_t total = 0;
    for (Int i = 0; i < length; ++i) {
        const std::uint64_t word = (bits[i] & MAGNITUDE) == 0 ? 0 : bits[i];
        total += mixed(word + first + std::uint64_t(i) * GOLDEN);
    }
    return total;
}

// The digest of some float64 values, given by their bits, of which the first is in row `first_row`.
inline Digest digest_values(const std::uint64_t *bits, Int length, Int first_row) {
    const std::uint64_t first = word_of_row(first_row);
    std::uint64_t total = digest_finite(bits, length, first);
    if (!has_strange(bits, length)) return {total, false};
    for (Int i = 0; i < length; ++i) { // a NaN of other bits is taken for the usual one
        if ((bits[i] & MAGNITUDE) <= EXPONENT) continue;
        const std::uint64_t row = first + std::uint64_t(i) * GOLDEN;
        total += mixed(USUAL_NAN + row) - mixed(bits[i] + row);
    }
    return {total, true};
}

// Columns of a tile, and partial sums of a product: sixteen vectors of four, which fit into the
// registers of most machines.
constexpr int TILE = 4;
using Quarter = SideBySide<4>;

inline Quarter quarter_at(const double *values) {
    Quarter quarter;
    std::memcpy(&quarter, values, sizeof(Quarter));
    return quarter;
}

// Cross products of four columns with four others over `length` rows; every number that is loaded
// is used four times, which is about as fast as one thread of a BLAS.
CC_WIDE [[maybe_unused]] static void multiply_tile(const double *const (&left)[TILE],
                                                   const double *const (&right)[TILE], Int length,
                                                   double (&products)[TILE][TILE]) {
    Quarter sum[TILE][TILE] = {};
    Int t = 0;
    for (; t + 4 <= length; t += 4) {
        const Quarter a[TILE] = {quarter_at(left[0] + t), quarter_at(left[1] + t),
                                 quarter_at(left[2] + t), quarter_at(left[3] + t)};
        for (int j = 0; j < TILE; ++j) {
            const Quarter b = quarter_at(right[j] + t);
            for (int i = 0; i < TILE; ++i) sum[i][j] += a[i] * b;
        }
    }
    for (int i = 0; i < TILE; ++i) {
        for (int j = 0; j < TILE; ++j) {
            Quarter part = sum[i][j];
            for (int lane = 0; t + lane < length; ++lane)
                part[lane] += left[i][t + lane] * right[j][t + lane];
            products[i][j] = (part[0] + part[1]) + (part[2] + part[3]);
        }
    }
}

// Call `take(i, j, product)` for the pairs j <= i of columns, shape (columns, rows), from row `low`
// up to `high`.
//
// A block of columns stays in the cache until all others have met it. The sum of a pair does not
// depend on where its columns stand. The threads of a BLAS would wait for each other in thousands
// of short calls, for seconds in all when other programs are running.
template <class Take>
void for_cross_products(const double *values, Int stride, Int columns, Int low, Int high,
                        const Take &take) {
    const auto column = [&](Int j) { return values + std::min(j, columns - 1) * stride + low; };
    for (Int block = 0; block < columns; block += COLUMNS_AT_A_TIME) {
        const Int end = std::min(block + COLUMNS_AT_A_TIME, columns);
        for (Int i = block; i < columns; i += TILE) {
            const double *const left[TILE]
                = {column(i), column(i + 1), column(i + 2), column(i + 3)};
            for (Int j = block; j < std::min(i + TILE, end); j += TILE) {
                const double *const right[TILE]
                    = {column(j), column(j + 1), column(j + 2), column(j + 3)};
                double products[TILE][TILE];
                multiply_tile(left, right, high - low, products);
                for (Int a = 0; a < std::min<Int>(TILE, columns - i); ++a)
                    for (Int b = 0; b < TILE && j + b <= i + a; ++b)
                        take(i + a, j + b, products[a][b]);
            }
        }
    }
}

// Add the cross products of centred columns, shape (columns, rows), to the lower triangle of
// `scatter`.
inline void add_cross_products(Floats<2> centred, OutFloats<2> scatter) {
    const Int rows = centred.shape[1];
    for (Int low = 0; low < rows; low += ROWS_AT_A_TIME) {
        const Int high = std::min(low + ROWS_AT_A_TIME, rows);
        for_cross_products(centred.data, rows, scatter.shape[0], low, high,
                           [&](Int i, Int j, double product) { scatter(i, j) += product; });
    }
}

// Copy the lower triangle of every matrix, shape (levels, variables, variables), to the upper one.
inline void mirror(OutFloats<3> scatter) {
    for (Int k = 0; k < scatter.shape[0]; ++k)
        for (Int i = 0; i < scatter.shape[1]; ++i)
            for (Int j = 0; j < i; ++j) scatter(k, j, i) = scatter(k, i, j);
}

inline std::uint64_t digest_rows(Names<1> words) { return digest_words(words.data, words.size()); }

} // namespace cc

// Exponentials and dot products of a few rows at a time: what lies in the cache is used often, in
// vector registers.
//
// A block has shape (lines, AT_ONCE): a line for every column, an entry for every row.
#pragma once

#include <cstring>

#include "sums.hpp"

namespace cc {

// Rows of a block.
constexpr Int AT_ONCE = 128;

// So many lines of each side of a product are worked on together: nine sums and what is added to
// them fill sixteen vector registers.
constexpr Int SIDE = 3;

// The next multiple of SIDE.
inline Int padded(Int lines) { return (lines + SIDE - 1) / SIDE * SIDE; }

// The parts of a dot product.
constexpr int FOUR = 4;
using Four = SideBySide<FOUR>;

// The four numbers that begin at an entry.
inline const Four &four_at(const double *entries) {
    return *reinterpret_cast<const Four *>(entries);
}
inline Four &four_at(double *entries) { return *reinterpret_cast<Four *>(entries); }

// Four parts of a sum in their fixed order.
inline double added_four(const double *part) { return (part[0] + part[1]) + (part[2] + part[3]); }

namespace exponential {

constexpr double PER_LN2 = 1.4426950408889634074;
// log 2 in two parts, the first with few digits: whole multiples of it are exact.
constexpr double LN2_HIGH = 6.93147180369123816490e-01;
constexpr double LN2_LOW = 1.90821492927058770002e-10;
// A small number added to this is rounded to a whole one, which the last bits show: 1.5 * 2^52.
constexpr double WHOLE = 6755399441055744.0;
constexpr std::uint64_t BIAS = 1023;
// Below this, exponentials are those of this.
constexpr double LEAST = -700.0;

// exp(r) of |r| <= log(2) / 2: its Taylor polynomial of degree 12.
inline double polynomial(double r) {
    double tail = 1.0 / 39916800.0 + r * (1.0 / 479001600.0);
    tail = 1.0 / 362880.0 + r * (1.0 / 3628800.0 + r * tail);
    tail = 1.0 / 5040.0 + r * (1.0 / 40320.0 + r * tail);
    tail = 1.0 / 120.0 + r * (1.0 / 720.0 + r * tail);
    tail = 1.0 / 6.0 + r * (1.0 / 24.0 + r * tail);
    return 1.0 + r * (1.0 + r * (0.5 + r * tail));
}

// 2^k, of which k + WHOLE is given.
inline double power_of_two(double shifted) {
    std::uint64_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + BIAS) << 52;
    double power;
    std::memcpy(&power, &bits, sizeof power);
    return power;
}

} // namespace exponential

// Replace numbers of at most 0 by their exponentials, to about 15 digits: exp(x) = 2^k exp(r) with
// |r| <= log(2) / 2.
CC_WIDE inline void exponentials(OutFloats<1> line) {
    double *entries = line.data;
    const Int length = line.shape[0];
    for (Int t = 0; t < length; ++t)
        entries[t] = entries[t] < exponential::LEAST ? exponential::LEAST : entries[t];
    for (Int t = 0; t < length; ++t) {
        const double shifted = entries[t] * exponential::PER_LN2 + exponential::WHOLE;
        const double k = shifted - exponential::WHOLE;
        const double r = entries[t] - k * exponential::LN2_HIGH - k * exponential::LN2_LOW;
        entries[t] = exponential::polynomial(r) * exponential::power_of_two(shifted);
    }
}

// Add the products of the first `length` rows of all pairs of lines of two blocks, shapes
// (n, AT_ONCE) and (m, AT_ONCE), to `sums`, shape (n, m, FOUR): a dot product is what its four
// parts add up to. n and m are multiples of SIDE. Of a triangle, j <= i is enough.
CC_WIDE inline void add_dots(Floats<2> left, Floats<2> right, Int length, bool triangle,
                             OutFloats<3> sums) {
    const Int whole = length / FOUR * FOUR;
    for (Int i = 0; i < left.shape[0]; i += SIDE) {
        const Int columns = triangle ? std::min(right.shape[0], i + SIDE) : right.shape[0];
        for (Int j = 0; j < columns; j += SIDE) {
            const double *line[SIDE];
            const double *column[SIDE];
            for (Int a = 0; a < SIDE; ++a) {
                line[a] = left[i + a].data;
                column[a] = right[j + a].data;
            }
            Four part[SIDE][SIDE];
            for (Int a = 0; a < SIDE; ++a)
                for (Int b = 0; b < SIDE; ++b) part[a][b] = four_at(&sums(i + a, j + b, 0));
            for (Int t = 0; t < whole; t += FOUR) {
                Four factor[SIDE];
                for (Int b = 0; b < SIDE; ++b) factor[b] = four_at(column[b] + t);
                for (Int a = 0; a < SIDE; ++a) {
                    const Four entries = four_at(line[a] + t);
                    for (Int b = 0; b < SIDE; ++b) part[a][b] += entries * factor[b];
                }
            }
            for (Int a = 0; a < SIDE; ++a)
                for (Int b = 0; b < SIDE; ++b) {
                    four_at(&sums(i + a, j + b, 0)) = part[a][b];
                    for (Int t = whole; t < length; ++t)
                        sums(i + a, j + b, t - whole) += line[a][t] * column[b][t];
                }
        }
    }
}

} // namespace cc

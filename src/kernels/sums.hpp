// Sums over rows in a fixed order, whatever the width of the machine's vectors.
//
// Eight partial sums run side by side, which a compiler puts into vectors of any width, and are
// added at the end in one order. So a sum is the same to the last bit on every machine, and as
// fast as the vectors are.
#pragma once

#include <cstring>

#include "array.hpp"

#if defined(__GNUC__) && defined(__x86_64__) && defined(__linux__) && !defined(CC_CHECK) && !defined(CC_SANITIZE)
// A copy of the function for machines with AVX2 and one with AVX-512, chosen when the library is loaded.
#define CC_WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CC_WIDE
#endif

namespace cc {

constexpr int LANES = 8;

// So many numbers side by side, in vectors where the compiler has a type for them.
#if defined(__GNUC__)
template <int COUNT>
struct Side {
    typedef double By __attribute__((vector_size(COUNT * sizeof(double)), aligned(sizeof(double)),
                                      may_alias));
};
template <int COUNT> using SideBySide = typename Side<COUNT>::By;
#else
template <int COUNT>
struct SideBySide {
    double value[COUNT];
    double operator[](int lane) const { return value[lane]; }
    double &operator[](int lane) { return value[lane]; }
    SideBySide &operator+=(const SideBySide &other) {
        for (int lane = 0; lane < COUNT; ++lane) value[lane] += other.value[lane];
        return *this;
    }
    friend SideBySide operator*(SideBySide a, const SideBySide &b) {
        for (int lane = 0; lane < COUNT; ++lane) a.value[lane] *= b.value[lane];
        return a;
    }
};
#endif
using Lanes = SideBySide<LANES>;

inline Lanes lanes_at(const double *values) {
    Lanes lanes;
    std::memcpy(&lanes, values, sizeof(Lanes));
    return lanes;
}

// Partial sums in their fixed order: of numbers side by side, or of an array of eight.
template <class Partial>
inline double added(const Partial &part) {
    return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

// Σ a[t] b[t] over `length` entries.
inline double dot(const double *a, const double *b, Int length) {
    // An array: without AVX, GCC keeps it in registers, but puts Lanes into memory.
    double part[LANES] = {};
    Int t = 0;
    for (; t + LANES <= length; t += LANES)
        for (int lane = 0; lane < LANES; ++lane) part[lane] += a[t + lane] * b[t + lane];
    for (int lane = 0; t + lane < length; ++lane) part[lane] += a[t + lane] * b[t + lane];
    return added(part);
}

// Σ term(t) over `length` rows t.
template <class Term>
inline double sum_of(Int length, Term term) {
    double part[LANES] = {};
    Int t = 0;
    for (; t + LANES <= length; t += LANES)
        for (int lane = 0; lane < LANES; ++lane) part[lane] += term(t + lane);
    for (int lane = 0; t + lane < length; ++lane) part[lane] += term(t + lane);
    return added(part);
}

// Σ a[t] over `length` entries.
inline double sum(const double *a, Int length) {
    return sum_of(length, [a](Int t) { return a[t]; });
}

// The smallest of `length` entries; infinity if there is none.
inline double smallest(const double *a, Int length) {
    double part[LANES];
    std::fill(part, part + LANES, INF);
    Int t = 0;
    for (; t + LANES <= length; t += LANES)
        for (int lane = 0; lane < LANES; ++lane)
            part[lane] = a[t + lane] < part[lane] ? a[t + lane] : part[lane];
    for (; t < length; ++t) part[0] = a[t] < part[0] ? a[t] : part[0];
    return *std::min_element(part, part + LANES);
}

// The largest of `length` entries; -infinity if there is none.
inline double largest(const double *a, Int length) {
    double part[LANES];
    std::fill(part, part + LANES, -INF);
    Int t = 0;
    for (; t + LANES <= length; t += LANES)
        for (int lane = 0; lane < LANES; ++lane)
            part[lane] = a[t + lane] > part[lane] ? a[t + lane] : part[lane];
    for (; t < length; ++t) part[0] = a[t] > part[0] ? a[t] : part[0];
    return *std::max_element(part, part + LANES);
}

} // namespace cc

// Random numbers by place instead of by turn: the t-th number of a stream is a function of the
// stream and of t (splitmix64: Steele, Lea and Flood 2014).
//
// Rows and copies that have a stream each can be drawn in any order, by any number of threads, on
// any device.
#pragma once

#include "array.hpp"

namespace cc {

constexpr std::uint64_t GOLDEN = 0x9E3779B97F4A7C15u;

// The finaliser of splitmix64: a bit of the input moves half of those of the output.
inline std::uint64_t mixed(std::uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * std::uint64_t(0xBF58476D1CE4E5B9u);
    bits = (bits ^ (bits >> 27)) * std::uint64_t(0x94D049BB133111EBu);
    return bits ^ (bits >> 31);
}

// The word of a row or a copy by its number, before it is mixed.
inline std::uint64_t word_of_row(Int number) {
    return (std::uint64_t(number) + 1u) * GOLDEN;
}

// The stream of a row or a copy: splitmix64 at that place.
inline std::uint64_t stream_of(std::uint64_t seed, Int number) {
    return mixed(seed + word_of_row(number));
}

// The number of that turn, from 0 up to 1.
inline double uniform_at(std::uint64_t stream, Int turn) {
    return double(mixed(stream + word_of_row(turn)) >> 11) * 0x1p-53;
}

} // namespace cc

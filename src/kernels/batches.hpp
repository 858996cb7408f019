// A batch of a stream is prepared: the cells of its rows, and which are drawn.
#pragma once

#include "draws.hpp"
#include "sums.hpp"

namespace cc {

// Rows whose hashes are compared with a bound at a time.
constexpr Int HASHES_AT_A_TIME = 64;

// The sum over rows of a hash of (word of the row's level, row), and how many rows have none, whose
// word is the last one.
inline std::tuple<std::uint64_t, Int> digest_codes(Codes<1> codes, Names<1> words, Int first_row) {
    const Int last = words.size() - 1;
    std::uint64_t total = 0;
    Int without = 0;
    std::uint64_t row = word_of_row(first_row);
    for (Int i = 0; i < codes.size(); ++i) {
        without += codes[i] < 0;
        total += mixed(words[codes[i] < 0 ? last : codes[i]] + row);
        row += GOLDEN;
    }
    return {total, without};
}

// Write down what a list has at `number - first`, its last entry for -1.
//
// False if that is below -1 somewhere, or if something is no place of the list or below `lowest`, 0
// or -1.
template <class Number>
bool look_up(View<const Number, 1> numbers, Int first, Int lowest, Codes<1> places,
             OutCodes<1> codes) {
    const Int end = places.size() - 1;
    Int least = 0;
    Int most = 0;
    for (Int i = 0; i < numbers.size(); ++i) {
        const Int place = Int(numbers[i]) - first;
        least = std::min(least, place);
        most = std::max(most, place);
        codes[i] = std::int32_t(place);
    }
    if (least < lowest || most >= end) return false;
    bool is_straight = true; // as it mostly is
    for (Int k = 0; k < end; ++k) is_straight = is_straight && places[k] == k;
    if (is_straight) return true;
    Int smallest = 0;
    for (Int i = 0; i < numbers.size(); ++i) {
        codes[i] = places[codes[i] < 0 ? end : codes[i]];
        smallest = std::min<Int>(smallest, codes[i]);
    }
    return smallest >= -1;
}

// Write down the rows of a batch whose hashes are below a bound, and the hashes; how many there
// are.
inline Int draw(Int first_row, Int rows, std::uint64_t bound, OutInts<1> chosen,
                OutNames<1> hashes) {
    Int count = 0;
    for (Int begin = 0; begin < rows; begin += HASHES_AT_A_TIME) {
        const Int end = std::min(begin + HASHES_AT_A_TIME, rows);
        std::uint64_t least = bound;
        for (Int i = begin; i < end; ++i)
            least = std::min(least, mixed(word_of_row(first_row + i)));
        if (least >= bound) continue; // mostly so, and told without looking at every row for itself
        for (Int i = begin; i < end; ++i) {
            const std::uint64_t word = mixed(word_of_row(first_row + i));
            if (word >= bound) continue;
            chosen[count] = i;
            hashes[count] = word;
            ++count;
        }
    }
    return count;
}

} // namespace cc

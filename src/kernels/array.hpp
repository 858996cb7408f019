// Views of arrays that somebody else owns, and arrays that a kernel owns for the time of a call.
//
// A view is C-contiguous: `view(i, j)` is an entry, `view[i]` the i-th row, a view with one axis
// less. `Floats<2>` may be read, `OutFloats<2>` may be written as well; a view that may be written
// can be passed where one is read. With CC_CHECK every index is checked, and one that is out of
// range becomes an IndexError of Python.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace cc {

using Int = std::int64_t;
constexpr double INF = std::numeric_limits<double>::infinity();
constexpr double NaN = std::numeric_limits<double>::quiet_NaN();

#ifdef CC_CHECK
inline void check_index(Int index, Int length) {
    if (index < 0 || index >= length)
        throw std::out_of_range("index " + std::to_string(index) + " of an axis of length "
                                + std::to_string(length));
}
inline void check_slice(Int begin, Int end, Int length) {
    if (begin < 0 || begin > end || end > length)
        throw std::out_of_range("slice " + std::to_string(begin) + ":" + std::to_string(end)
                                + " of an axis of length " + std::to_string(length));
}
#else
inline void check_index(Int, Int) {}
inline void check_slice(Int, Int, Int) {}
#endif

// A C-contiguous array of N axes.
template <class T, int N>
struct View {
    T *data = nullptr;
    Int shape[N] = {};

    // The number of entries of a row: of everything behind the first axis.
    Int row_size() const {
        Int size = 1;
        for (int axis = 1; axis < N; ++axis) size *= shape[axis];
        return size;
    }

    Int size() const { return shape[0] * row_size(); }

    // The i-th row: an entry where there is one axis, else a view.
    decltype(auto) operator[](Int i) const {
        check_index(i, shape[0]);
        if constexpr (N == 1) {
            return static_cast<T &>(data[i]);
        } else {
            View<T, N - 1> row;
            for (int axis = 1; axis < N; ++axis) row.shape[axis - 1] = shape[axis];
            row.data = data + i * row_size();
            return row;
        }
    }

    // An entry.
    template <class... Index>
    T &operator()(Index... index) const {
        static_assert(sizeof...(Index) == N, "an entry has an index for every axis");
        const Int indices[N] = {static_cast<Int>(index)...};
        Int offset = 0;
        for (int axis = 0; axis < N; ++axis) {
            check_index(indices[axis], shape[axis]);
            offset = offset * shape[axis] + indices[axis];
        }
        return data[offset];
    }

    // The rows from `begin` up to `end`.
    View slice(Int begin, Int end) const {
        check_slice(begin, end, shape[0]);
        View part = *this;
        part.data = data + begin * row_size();
        part.shape[0] = end - begin;
        return part;
    }

    View from(Int begin) const { return slice(begin, shape[0]); }

    T *begin() const { return data; }
    T *end() const { return data + size(); }

    void fill(T value) const { std::fill(begin(), end(), value); }

    operator View<const T, N>() const {
        View<const T, N> readable;
        readable.data = data;
        for (int axis = 0; axis < N; ++axis) readable.shape[axis] = shape[axis];
        return readable;
    }
};

// Arrays by what they hold, with the names that Python uses (`kernels/arrays.py`).
template <int N> using Floats = View<const double, N>;
template <int N> using Ints = View<const Int, N>;
template <int N> using Codes = View<const std::int32_t, N>;
template <int N> using Shorts = View<const std::int16_t, N>;
template <int N> using Bools = View<const bool, N>;
template <int N> using Names = View<const std::uint64_t, N>;
template <int N> using OutFloats = View<double, N>;
template <int N> using OutInts = View<Int, N>;
template <int N> using OutCodes = View<std::int32_t, N>;
template <int N> using OutShorts = View<std::int16_t, N>;
template <int N> using OutBools = View<bool, N>;
template <int N> using OutNames = View<std::uint64_t, N>;

// The first entry of an array of its own is at the beginning of a line of the cache.
constexpr std::size_t ALIGNMENT = 64;

// An array of its own, all zeros at first, freed at the end of its block.
template <class T, int N>
struct Array : View<T, N> {
    template <class... Length>
    explicit Array(Length... lengths) {
        static_assert(sizeof...(Length) == N, "a length for every axis");
        const Int given[N] = {static_cast<Int>(lengths)...};
        for (int axis = 0; axis < N; ++axis) this->shape[axis] = given[axis];
        const std::size_t spare = ALIGNMENT / sizeof(T);
        memory.reset(new T[static_cast<std::size_t>(this->size()) + spare]());
        const auto address = reinterpret_cast<std::uintptr_t>(memory.get());
        this->data = memory.get() + (ALIGNMENT - address % ALIGNMENT) % ALIGNMENT / sizeof(T);
    }

  private:
    std::unique_ptr<T[]> memory;
};

// A copy of what a view shows.
template <class T>
Array<std::remove_const_t<T>, 1> copied(View<T, 1> view) {
    Array<std::remove_const_t<T>, 1> copy(view.shape[0]);
    std::copy(view.begin(), view.end(), copy.begin());
    return copy;
}
template <class T>
Array<std::remove_const_t<T>, 2> copied(View<T, 2> view) {
    Array<std::remove_const_t<T>, 2> copy(view.shape[0], view.shape[1]);
    std::copy(view.begin(), view.end(), copy.begin());
    return copy;
}

} // namespace cc

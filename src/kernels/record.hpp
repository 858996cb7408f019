// How arguments of Python become arguments of kernels: numpy arrays become views, named tuples
// become structs.
//
// A struct that lists its members in `fields`, in the order of the named tuple of the same name in
// `causalcontext/kernels`, can be an argument of a kernel. Arrays must be C-contiguous and of the
// very type: nothing is copied, so that what a kernel writes is written. The arrays live as long as
// the call.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>

#include "array.hpp"

namespace nanobind::detail {

template <class T, int N>
struct type_caster<cc::View<T, N>> {
    using Viewed = cc::View<T, N>;
    NB_TYPE_CASTER(Viewed, const_name("array"))

    bool from_python(handle source, uint8_t, cleanup_list *) noexcept {
        make_caster<ndarray<T, ndim<N>, c_contig, device::cpu>> caster;
        if (!caster.from_python(source, 0, nullptr)) return false;
        value.data = caster.value.data();
        for (int axis = 0; axis < N; ++axis)
            value.shape[axis] = static_cast<cc::Int>(caster.value.shape(axis));
        return true;
    }
};

template <class Record>
struct type_caster<Record, std::enable_if_t<(std::tuple_size_v<std::remove_cv_t<decltype(Record::fields)>> > 0), int>> {
    NB_TYPE_CASTER(Record, const_name("tuple"))

    bool from_python(handle source, uint8_t, cleanup_list *) noexcept {
        constexpr std::size_t size = std::tuple_size_v<std::remove_cv_t<decltype(Record::fields)>>;
        if (!PyTuple_Check(source.ptr()) || PyTuple_Size(source.ptr()) != Py_ssize_t(size))
            return false;
        return read_all(source.ptr(), std::make_index_sequence<size>{});
    }

  private:
    template <std::size_t... Place>
    bool read_all(PyObject *tuple, std::index_sequence<Place...>) noexcept {
        return (read<Place>(PyTuple_GetItem(tuple, Py_ssize_t(Place))) && ...);
    }

    template <std::size_t Place>
    bool read(PyObject *item) noexcept {
        auto &member = value.*std::get<Place>(Record::fields);
        make_caster<std::remove_reference_t<decltype(member)>> caster;
        if (!caster.from_python(item, uint8_t(cast_flags::convert), nullptr)) return false;
        member = caster.value;
        return true;
    }
};

} // namespace nanobind::detail

namespace cc {

// Kernels run without Python's lock.
using Released = nanobind::call_guard<nanobind::gil_scoped_release>;

} // namespace cc

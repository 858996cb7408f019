#include <nanobind/stl/tuple.h>

#include "batches.hpp"
#include "families.hpp"
#include "record.hpp"
#include "series.hpp"
#include "stretches.hpp"

void cc::bind_data(nanobind::module_ &module) {
    module.def("digest_rows", &digest_rows, Released());
    module.def("add_cross_products", &add_cross_products, Released());
    module.def("mirror", &mirror, Released());
    module.def("add_rows", &add_rows, Released());
    module.def("digest_codes", &digest_codes, Released());
    module.def("draw", &draw, Released());
    module.def("look_up", &look_up<std::int8_t>, Released());
    module.def("look_up", &look_up<std::int16_t>, Released());
    module.def("look_up", &look_up<std::int32_t>, Released());
    module.def("look_up", &look_up<std::int64_t>, Released());
    module.def("look_up", &look_up<std::uint8_t>, Released());
    module.def("look_up", &look_up<std::uint16_t>, Released());
    module.def("look_up", &look_up<std::uint32_t>, Released());
    module.def("look_up", &look_up<std::uint64_t>, Released());
    module.def("look_up", &look_up<bool>, Released());
    module.def("run_series", &run_series, Released());
}

#include "bends.hpp"

#include "families.hpp"
#include "record.hpp"

void cc::bind_bends(nanobind::module_ &module) {
    module.def("fill_bends", &bends::fill_bends, Released());
}

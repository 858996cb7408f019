#include "row_blocks.hpp"

#include "families.hpp"
#include "record.hpp"

void cc::bind_row_blocks(nanobind::module_ &module) {
    module.def("exponentials", &exponentials, Released());
    module.def("add_dots", &add_dots, Released());
}

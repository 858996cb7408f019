#include "line_orders.hpp"

#include "families.hpp"
#include "record.hpp"

void cc::bind_line_orders(nanobind::module_ &module) {
    module.def("search_lines", &line_orders::search_lines, Released());
    module.def("screen_lines", &line_orders::screen_lines, Released());
}

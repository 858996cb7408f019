#include "families.hpp"
#include "neighbours.hpp"
#include "record.hpp"

void cc::bind_neighbours(nanobind::module_ &module) {
    module.def("shuffled_information", &shuffled_information, Released());
    module.def("find_nearest", &find_nearest, Released());
    module.def("draw_shuffles", &draw_shuffles, Released());
}

#include "linear.hpp"

#include "families.hpp"
#include "record.hpp"

void cc::bind_linear(nanobind::module_ &module) {
    module.def("sweep", &sweep, Released());
    module.def("project", &project, Released());
    module.def("factorise", &factorise, Released());
    module.def("solve_half", &solve_half, Released());
    module.def("solve_rest", &solve_rest, Released());
    module.def("invert", &invert, Released());
    module.def("weighted_products", &weighted_products, Released());
}

#include "submodels.hpp"

#include "families.hpp"
#include "record.hpp"

void cc::bind_submodels(nanobind::module_ &module) {
    module.def("subset_weights", &submodels::subset_weights, Released());
    module.def("draw_models", &submodels::draw_models, Released());
    module.def("draw_slopes", &submodels::draw_slopes, Released());
}

#include "noise_densities.hpp"

#include "families.hpp"
#include "record.hpp"

void cc::bind_noise_densities(nanobind::module_ &module) {
    module.def("density_gain", &noise_densities::density_gain, Released());
}

// What every family offers to the module; a new one is declared here and called in module.cpp.
#pragma once

#include <nanobind/nanobind.h>

namespace cc {

void bind_special(nanobind::module_ &module);
void bind_linear(nanobind::module_ &module);
void bind_levels(nanobind::module_ &module);
void bind_contingency(nanobind::module_ &module);
void bind_data(nanobind::module_ &module);
void bind_neighbours(nanobind::module_ &module);
void bind_noise_densities(nanobind::module_ &module);
void bind_bends(nanobind::module_ &module);
void bind_fits(nanobind::module_ &module);
void bind_submodels(nanobind::module_ &module);
void bind_row_blocks(nanobind::module_ &module);
void bind_likelihoods(nanobind::module_ &module);
void bind_glm(nanobind::module_ &module);
void bind_class_choice(nanobind::module_ &module);
void bind_fits_by_context(nanobind::module_ &module);
void bind_basis(nanobind::module_ &module);
void bind_robust_change(nanobind::module_ &module);
void bind_orders(nanobind::module_ &module);
void bind_line_orders(nanobind::module_ &module);

} // namespace cc

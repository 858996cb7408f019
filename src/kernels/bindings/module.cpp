// The module causalcontext._kernels: every family of kernels adds its functions.
#include "families.hpp"

NB_MODULE(_kernels, module) {
    cc::bind_special(module);
    cc::bind_linear(module);
    cc::bind_levels(module);
    cc::bind_contingency(module);
    cc::bind_data(module);
    cc::bind_neighbours(module);
    cc::bind_noise_densities(module);
    cc::bind_bends(module);
    cc::bind_fits(module);
    cc::bind_submodels(module);
    cc::bind_row_blocks(module);
    cc::bind_likelihoods(module);
    cc::bind_glm(module);
    cc::bind_class_choice(module);
    cc::bind_fits_by_context(module);
    cc::bind_basis(module);
    cc::bind_robust_change(module);
    cc::bind_orders(module);
    cc::bind_line_orders(module);
}

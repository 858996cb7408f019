#include "likelihoods.hpp"

#include "families.hpp"
#include "record.hpp"

namespace {

using namespace cc;

double one_pass(Int family, Floats<2> design, Ints<1> response, Int free, Floats<1> slopes,
                OutFloats<1> gradient, OutFloats<2> curvature) {
    return likelihoods::one_pass(likelihoods::Family(family), design, response, free, slopes,
                                 gradient, curvature);
}

} // namespace

void cc::bind_likelihoods(nanobind::module_ &module) {
    module.def("one_pass", &one_pass, Released());
}

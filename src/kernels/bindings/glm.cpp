#include "glm.hpp"

#include <nanobind/stl/pair.h>

#include "families.hpp"
#include "record.hpp"

namespace {

using namespace cc;
using glm::Family;

double maximise(Int family, Floats<2> design, Ints<1> response, Int free, Ints<1> ties,
                Floats<1> ridge, OutFloats<1> slopes, OutFloats<2> curvature, double needed,
                double tolerance) {
    return glm::maximise({Family(family), design, response, free, ties}, ridge, slopes, curvature,
                         needed, tolerance);
}

void write_ridge(Int family, Int classes, Int width, double ridge, OutFloats<1> out) {
    glm::write_ridge(Family(family), classes, width, ridge, out);
}

bool is_out_of_reach(Int family, Floats<2> design, Ints<1> codes, Int free, Floats<1> ridge,
                     Floats<1> slopes, Floats<2> inverse, double needed) {
    return glm::is_out_of_reach(Family(family), design, codes, free, ridge, slopes, inverse,
                                needed);
}

std::pair<Int, Int> drawn_exceedances(Int family, Floats<2> base, Floats<2> design,
                                      Floats<2> below, Floats<1> start_small,
                                      Floats<1> start_large, double observed, Floats<2> uniforms,
                                      Int most) {
    return glm::drawn_exceedances(Family(family), base, design, below, start_small, start_large,
                                  observed, uniforms, most);
}

} // namespace

void cc::bind_glm(nanobind::module_ &module) {
    module.def("maximise", &maximise, Released());
    module.def("write_ridge", &write_ridge);
    module.def("write_start", &glm::write_start, Released());
    module.def("is_out_of_reach", &is_out_of_reach, Released());
    module.def("drawn_exceedances", &drawn_exceedances, Released());
}

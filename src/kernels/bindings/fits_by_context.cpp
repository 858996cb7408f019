#include "fits_by_context.hpp"

#include "families.hpp"
#include "record.hpp"

namespace {

using namespace cc;

// How many contexts are large enough: so many of the entries of `start` are written, and one more.
Int group_into(Floats<2> columns, Floats<1> y, Ints<1> codes, OutFloats<2> rows,
               OutInts<1> start) {
    return fits_by_context::group_into(columns, y, codes, rows, start).contexts();
}

} // namespace

void cc::bind_fits_by_context(nanobind::module_ &module) {
    module.def("group_into", &group_into, Released());
    module.def("cross_products", &fits_by_context::cross_products, Released());
    module.def("fit_all", &fits_by_context::fit_all, Released());
    module.def("residuals_of", &fits_by_context::residuals_of, Released());
}

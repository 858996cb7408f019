#include "class_choice.hpp"

#include "families.hpp"
#include "record.hpp"

namespace {

using namespace cc;
using class_choice::ClassRows;
using class_choice::Family;

double choose_columns(const ClassRows &rows, Int family, OutInts<2> sets, OutFloats<2> prices) {
    return class_choice::choose_columns(rows, Family(family), sets, prices);
}

} // namespace

void cc::bind_class_choice(nanobind::module_ &module) {
    module.def("choose_columns", &choose_columns, Released());
    module.def("write_few_rows", &class_choice::write_few_rows, Released());
}

#include "basis.hpp"

#include "families.hpp"
#include "record.hpp"

void cc::bind_basis(nanobind::module_ &module) {
    module.def("answer_basis", &basis::answer_basis, Released());
}

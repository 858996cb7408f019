#include "fits.hpp"

#include "families.hpp"
#include "record.hpp"

// `FitWorkspace(arrays, weighted)` reads the records once, and keeps their arrays alive.
void cc::bind_fits(nanobind::module_ &module) {
    using orders::FitArrays;
    using orders::FitWorkspace;
    nanobind::class_<FitWorkspace>(module, "FitWorkspace")
        .def(nanobind::init<const FitArrays &, const FitArrays &>(), nanobind::keep_alive<1, 2>(),
             nanobind::keep_alive<1, 3>());
    module.def("fit_many", &orders::fit_many, Released());
    module.def("score_sets", &orders::score_sets, Released());
    module.def("best_extras", &orders::best_extras, Released());
}

#include "special.hpp"

#include "families.hpp"
#include "record.hpp"

void cc::bind_special(nanobind::module_ &module) {
    module.def("normal_two_sided", &normal_two_sided);
    module.def("correlation_two_sided", &correlation_two_sided);
    module.def("chi2_upper", &chi2_upper);
    module.def("f_upper", &f_upper);
    module.def("digamma", &digamma);
    module.def("logistic", &logistic);
    module.def("softplus", &softplus);
}

#include "robust_change.hpp"

#include "families.hpp"
#include "record.hpp"

namespace {

using namespace cc;
using robust_change::Answer;
using robust_change::CellMoments;
using robust_change::ContextFits;
using robust_change::Groups;
using Numbers = std::tuple<double, double, double>;

Numbers numbers_of(Answer answer) { return {answer.statistic, answer.df, answer.p}; }

Int parts_of_change(Floats<2> columns, Floats<1> y, Ints<1> codes, Int levels, double look_below,
                    double gate, OutFloats<1> numbers) {
    return robust_change::robust_change(columns, y, codes, levels, look_below, gate, numbers);
}

Numbers likelihood_ratio(const Groups &groups, const ContextFits &fits) {
    return numbers_of(robust_change::likelihood_ratio(groups, fits));
}

Numbers nested_f(const Groups &groups, const ContextFits &fits, Int small, Int large) {
    return numbers_of(robust_change::nested_f(groups.start, fits, small, large));
}

Numbers brown_forsythe(const Groups &groups, const ContextFits &fits) {
    return numbers_of(robust_change::brown_forsythe(groups, fits));
}

Numbers bound_from_moments(const CellMoments &cells, Ints<1> places) {
    return numbers_of(robust_change::bound_from_moments(cells, places));
}

} // namespace

void cc::bind_robust_change(nanobind::module_ &module) {
    module.def("robust_change", &parts_of_change, Released());
    module.def("likelihood_ratio", &likelihood_ratio, Released());
    module.def("nested_f", &nested_f, Released());
    module.def("brown_forsythe", &brown_forsythe, Released());
    module.def("bound_from_moments", &bound_from_moments, Released());
    module.def("bartlett", &robust_change::bartlett, Released());
    module.def("common_terms", &robust_change::common_terms, Released());
    module.def("curvature", &robust_change::curvature, Released());
    module.def("uneven_spread", &robust_change::uneven_spread, Released());
    module.def("context_needs", &robust_change::context_needs, Released());
    module.def("combine", &robust_change::combine);
    module.def("bound_of_logit", &robust_change::bound_of_logit);
}

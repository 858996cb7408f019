#include <nanobind/stl/tuple.h>

#include "exact_orders.hpp"
#include "families.hpp"
#include "order_moves.hpp"
#include "record.hpp"

void cc::bind_orders(nanobind::module_ &module) {
    module.def("best_partition", &orders::best_partition);
    module.def("best_score", &orders::best_score);
    module.def("climb", &orders::climb, Released());
    module.def("fill_scores", &orders::fill_scores, Released());
    module.def("fill_prefixes", &orders::fill_prefixes, Released());
    module.def("fill_suffixes", &orders::fill_suffixes, Released());
    module.def("fill_path", &orders::fill_path, Released());
    module.def("fill_orders", &orders::fill_orders, Released());
}

#include "candidates.hpp"
#include "families.hpp"
#include "marginal.hpp"
#include "record.hpp"

void cc::bind_levels(nanobind::module_ &module) {
    module.def("answer_batch", &answer_batch, Released());
    module.def("search_pairs", &search_pairs, Released());
    module.def("count_votes", &count_votes, Released());
    module.def("keep_better", &keep_better, Released());
    module.def("squared_limit", &squared_limit);
    module.def("list_survivors", &list_survivors, Released());
    module.def("answer_pairs", &answer_pairs, Released());
    module.def("fill_reach", &fill_reach, Released());
    module.def("fill_pools", &fill_pools, Released());
    module.def("partial_tail", &tail);
}

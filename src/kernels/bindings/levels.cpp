#include "candidates.hpp"
#include "families.hpp"
#include "marginal.hpp"
#include "record.hpp"
#include "skeleton.hpp"

namespace cc {

namespace {

using ViewLevel = Level<Views>;

void search_views(const ViewLevel &level, Int begin, Int end, const Pairs &pairs,
                  const Decisions &decisions, const Workspace &work, OutInts<1> tests) {
    search_pairs(level, begin, end, pairs, decisions, work, tests);
}

void vote_on_views(const ViewLevel &level, Int begin, Int end, const Ballots &ballots,
                   const Sizes &sizes, OutInts<1> separating, OutInts<1> holding,
                   const Workspace &work) {
    count_votes(level, begin, end, ballots, sizes, separating, holding, work);
}

} // namespace

void bind_levels(nanobind::module_ &module) {
    module.def("answer_batch", &answer_batch, Released());
    module.def("search_pairs", &search_views, Released());
    module.def("count_votes", &vote_on_views, Released());
    module.def("keep_better", &keep_better, Released());
    module.def("squared_limit", &squared_limit);
    module.def("list_survivors", &list_survivors, Released());
    module.def("answer_pairs", &answer_pairs, Released());
    module.def("fill_reach", &fill_reach, Released());
    module.def("fill_pools", &fill_pools, Released());
    module.def("partial_tail", &tail);
}

} // namespace cc

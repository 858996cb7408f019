#include "contingency.hpp"

#include "families.hpp"
#include "record.hpp"
#include "skeleton.hpp"

namespace cc {

namespace {

namespace nb = nanobind;

using TableLevel = Level<Tables>;

// The scratch arrays of a level on codes, as `Workspace` has those of one on moments.
struct TableWorkspace {
    TableWorkspace(const TableLevel &level, Int size, Pulse &pulse)
        : fit(level.data, size + level.masks.kept.shape[1], pulse),
          lists(5, std::max(size + level.masks.kept.shape[1] + 1, level.masks.own.size())),
          weakest(level.masks.selection.shape[0]) {}

    TableScratch fit;
    Array<Int, 2> lists;
    Array<double, 1> weakest;
};

// A pulse that calls a function of Python, which may raise; the kernel runs without Python's lock.
Pulse pulse_of(const nb::callable &beat) {
    return Pulse([&beat] {
        const nb::gil_scoped_acquire locked;
        beat();
    });
}

void search_tables(const TableLevel &level, const Pairs &pairs, const Decisions &decisions,
                   OutInts<1> tests, const nb::callable &beat) {
    Pulse pulse = pulse_of(beat);
    const nb::gil_scoped_release released;
    TableWorkspace work(level, level.size, pulse);
    search_pairs(level, 0, pairs.first.size(), pairs, decisions, work, tests);
}

void vote_on_tables(const TableLevel &level, const Ballots &ballots, const Sizes &sizes,
                    OutInts<1> separating, OutInts<1> holding, const nb::callable &beat) {
    Pulse pulse = pulse_of(beat);
    const nb::gil_scoped_release released;
    TableWorkspace work(level, sizes.last, pulse);
    count_votes(level, 0, ballots.first.size(), ballots, sizes, separating, holding, work);
}

void answer_tables(const Tables &data, const RowSelections &selections, const CIQueries &asked,
                   OutFloats<2> numbers, OutInts<2> facts, const nb::callable &beat) {
    Pulse pulse = pulse_of(beat);
    const nb::gil_scoped_release released;
    answer_table_batch(data, selections, asked, numbers, facts, pulse);
}

} // namespace

void bind_contingency(nanobind::module_ &module) {
    module.def("answer_tables", &answer_tables);
    module.def("search_tables", &search_tables);
    module.def("vote_on_tables", &vote_on_tables);
}

} // namespace cc

"""The adaptive search over time on exact chains: no link too many, none too few, no triple
misread.
"""

import numpy as np
import pytest
from binary_chains import random_chain
from threshold_chains import random_threshold_chain

from causalcontext.ci_tests.protocol import Plain
from causalcontext.graphs.endpoints import adjacent, directed, marked
from causalcontext.knowledge import Links
from causalcontext.progress import Watch, nobody
from causalcontext.search.indicator import with_made_contexts
from causalcontext.search.lagged import queries
from causalcontext.search.lagged.algorithm import LaggedSearch
from causalcontext.search.lagged.plan import LaggedPlan, Window
from causalcontext.views import Contexts, adaptive, masked, pooled
from marks import rest_slow


def time_order(window):
    """Links forward in time and inside the present."""
    may = np.zeros((window.nodes, window.nodes), dtype=bool)
    now = list(window.now)
    may[:, now] = True
    np.fill_diagonal(may, False)
    return Links(may, np.zeros_like(may))


def plan_of(chain, rule=adaptive, contexts=None):
    window = Window(chain.variables, 1, contexts=chain.context_places)
    return LaggedPlan(
        window, contexts or chain.contexts, rule, chain.values, (0, 1), time_order(window), 0.5, 10
    )


def search(chain, rule=adaptive, contexts=None):
    plan = plan_of(chain, rule, contexts)
    return LaggedSearch(Plain("oracle", chain.oracle(contexts)), plan, 1, Watch(nobody)).run()


def errors(chain, found):
    """Links that are too many and too few, arrows that are wrong."""
    truth = chain.truth()
    there = truth | truth.swapaxes(1, 2)
    here = adjacent(found.endpoints)
    wrong = directed(found.endpoints) & ~truth
    return int((here & ~there).sum()) // 2, int((there & ~here).sum()) // 2, int(wrong.sum())


def count(numbers, variables, into_context, contexts=1):
    return count_errors(
        random_chain(variables, [number, variables], into_context, contexts=contexts)
        for number in numbers
    )


def count_errors(chains):
    total = np.zeros(4, dtype=int)
    for chain in chains:
        found = search(chain)
        total += (*errors(chain, found), int(marked(found.endpoints, "x-x").sum()))
    return total.tolist()


@pytest.mark.parametrize("chains", rest_slow([20, 60]))
@pytest.mark.parametrize("into_context", ["any", "past"])
def test_two_variables_without_an_error(into_context, chains):
    assert count(range(chains), 2, into_context) == [0, 0, 0, 0]


@pytest.mark.parametrize("chains", rest_slow([3, 10]))
def test_three_variables_without_an_error(chains):
    assert count(range(chains), 3, "any") == [0, 0, 0, 0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variables", "chains", "into_context"), [(2, 1500, "any"), (2, 1500, "past"), (3, 180, "any")]
)
def test_thousands_of_chains_without_an_error(variables, chains, into_context):
    assert count(range(1000, 1000 + chains), variables, into_context) == [0, 0, 0, 0]


@pytest.mark.parametrize("chains", rest_slow([15, 60]))
@pytest.mark.parametrize("into_context", ["any", "past"])
def test_two_contexts_without_an_error(into_context, chains):
    assert count(range(chains), 2, into_context, contexts=2) == [0, 0, 0, 0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variables", "contexts", "chains"), [(1, 2, 1000), (2, 2, 300), (3, 2, 10), (1, 3, 60)]
)
def test_hundreds_of_chains_with_several_contexts_without_an_error(variables, contexts, chains):
    assert count(range(1000, 1000 + chains), variables, "any", contexts) == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("variables", "first", "chains"),
    rest_slow([(2, 0, 20), (3, 0, 5), (2, 1000, 1000), (3, 1000, 300)], fast=2),
)
def test_thresholds_without_an_error(variables, first, chains):
    """A context made out of a column is never searched; questions with the column given are asked
    at its values.
    """
    numbers = range(first, first + chains)
    assert count_errors(
        random_threshold_chain(variables, [number, variables]) for number in numbers
    ) == [0, 0, 0, 0]


def test_links_of_a_threshold_are_drawn_from_what_changes():
    """The variables whose links change are effects of the context, at a lag whose column is next to
    them.
    """
    right = drawn = 0
    for number in range(60):
        chain = random_threshold_chain(3, [number, 3])
        found, plan = search(chain), plan_of(chain)
        endpoints, _, doubts = with_made_contexts(plan, found.endpoints, found.origins)
        assert not doubts
        n, truth = chain.variables, chain.truth()
        changed = [j for j in range(n - 1) if (truth[0, :, n + j] != truth[1, :, n + j]).any()]
        arrows = directed(endpoints).any(axis=0)
        assert arrows[n, 2 * n - 1]
        near = adjacent(endpoints).any(axis=0)
        for j in range(n - 1):
            lags = [
                lag
                for lag, column in ((0, 2 * n - 1), (1, n - 1))
                if near[column, n + j] and (lag or j)
            ]
            assert j not in changed or chain.reads[j] in lags
            drawn += bool(lags)
            right += bool(lags) and j in changed
    assert right > 40
    assert drawn == right


def too_many_into(chain, found, copies):
    """Links too many into system variables that read one of some copies of the context, or none."""
    d = chain.variables
    truth = chain.truth()
    extra = adjacent(found.endpoints) & ~(truth | truth.swapaxes(1, 2))
    fair = [d + j for j, (lag,) in enumerate(chain.reads) if lag in copies]
    among = [*range(d - 1), *fair]
    return int(extra[np.ix_([0, 1], among, fair)].sum())


@pytest.mark.parametrize(
    ("lag", "into_context", "wrong"),
    rest_slow([(0, "any", True), (1, "any", False), (0, "past", False)], fast=2),
)
def test_rows_of_a_context_mislead_only_inside_the_time_step(lag, into_context, wrong):
    """A search inside R(t) = r sees links that selection makes where X(t) causes R(t), inside
    R(t-1) = r never.
    """
    total = 0
    for number in range(120):
        chain = random_chain(2, [number, 77], into_context)
        now, before = chain.contexts.positions
        contexts = chain.contexts if lag == 0 else Contexts((before, now), chain.contexts.cells)
        total += too_many_into(chain, search(chain, masked, contexts), (-1, lag))
    assert (total > 0) == wrong


def test_all_rows_mix_contexts_up():
    """A pooled search cannot tell contexts apart: it has all links of the union, and no label."""
    missing = 0
    for number in range(40):
        chain = random_chain(2, [number, 5], "any")
        union = chain.truth().any(axis=0)
        here = adjacent(search(chain, pooled).endpoints).any(axis=0)
        missing += int(((union | union.T) & ~here).sum())
    assert missing == 0


@pytest.mark.slow
def test_links_at_the_context_need_candidates_from_all_graphs(monkeypatch):
    """With neighbours of one graph only, R(t-1) --> Y is left where Y reads R(t) and has a parent
    elsewhere.
    """
    whole = queries.PairQueries._neighbours

    def of_one_graph(self, graph, node, shared):
        return self.graphs[graph, node] if shared else whole(self, graph, node, shared)

    monkeypatch.setattr(queries.PairQueries, "_neighbours", of_one_graph)
    assert count(range(200), 2, "any")[0] > 0


def test_the_same_set_is_asked_on_the_rows_of_either_end():
    """X reads R(t-1), Z reads nothing, and Z --> X is missing in one context: only the rows of X
    show that.
    """
    chain = random_chain(3, [0, 3], "any")
    assert errors(chain, search(chain)) == (0, 0, 0)

"""A time limit is kept by every method, the result says what was cut, the time left is honest. The
clock is ours.
"""

from __future__ import annotations

import itertools
import time
from typing import Any

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext import progress
from causalcontext.ci_tests.protocol import no_outcomes, put
from causalcontext.ci_tests.registry import find_test
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.diagnostics import other_methods
from causalcontext.progress import Watch, nobody
from causalcontext.score import judgement
from causalcontext.search.algorithm import triples_of
from causalcontext.search.batched_search import RememberedAnswers
from causalcontext.views import CIQuery, Outcomes, Reason
from causalcontext_lab.simulate import random_model
from marks import rest_slow

TABLE = random_model(9, 0.6, seed=3, contexts=3).sample(600, 3)
METHODS = ("pc-ac", "pc-m", "pc-p", "pc-b", "fci-ac")


class Clock:
    """A clock that stands still unless a query is run."""

    now = 0.0


class Slow:
    """Partial correlations and changes as a test of one's own: every query takes a second of our
    clock.
    """

    name = "slow"

    def prepare(self, data: Any, statistics: Any) -> Any:
        prepared = find_test("partial-correlation").prepare(data, statistics)

        class Prepared:
            def answer(self, queries: Any) -> Outcomes:
                Clock.now += len(queries)
                return prepared.answer(queries)

        return Prepared()


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    Clock.now = 0.0
    monkeypatch.setattr(progress.time, "perf_counter", lambda: Clock.now)
    monkeypatch.setattr("causalcontext.search.batched_search.FIRST_PART", 1)


def search(method: str = "pc-ac", **options: Any) -> cc.ContextGraphs:
    return cc.discover(TABLE, "R", method=method, test=Slow(), **options)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("limit", rest_slow([300, 30]))
def test_a_limit_is_kept_and_the_result_says_what_was_cut(method: str, limit: int) -> None:
    whole = search(method)
    needed = Clock.now
    Clock.now = 0.0
    result = search(method, time_limit=limit)
    if limit > needed:
        assert result == whole
        return
    assert Clock.now <= limit + 40, "one part at most, the second search of pc-b included"
    assert any("the time limit ended the search" in warning for warning in result.warnings)
    assert "the time limit ended the search" in str(result)
    assert sum(graph.adjacency.sum() for graph in result.graphs.values()) >= sum(
        graph.adjacency.sum() for graph in whole.graphs.values()
    ), "edges are removed by tests alone"
    told = [result.explain(x, y) for x, y in itertools.combinations(result.names, 2)]
    assert (
        "oriented" in result.warnings[0]
        or "colliders" in result.warnings[0]
        or any("were tested)" in text or "before this pair" in text for text in told)
    )


def test_without_a_context() -> None:
    result = cc.discover(TABLE.drop(columns="R"), test=Slow(), time_limit=20, method="pc-ac")
    assert any("the time limit ended the search before" in warning for warning in result.warnings)
    assert "were not tested at all" in result.warnings[0]


def test_a_limit_that_is_not_met_changes_nothing() -> None:
    assert search() == search(time_limit=1e6)


@pytest.mark.slow
def test_the_time_left_is_honest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a factor of two at most moments of the second half, give or take a tenth of the
    whole.
    """
    honest: list[bool] = []
    for seed, (nodes, density) in enumerate([(9, 0.6), (9, 0.4), (8, 0.7), (8, 0.3)] * 3):
        seen: list[tuple[float, float]] = []

        class Spy(Watch):
            def answered(self, queries: int, seen: list[tuple[float, float]] = seen) -> None:
                super().answered(queries)
                seen.append((Clock.now, self.left() or 0.0))

        monkeypatch.setattr(progress, "Watch", Spy)
        Clock.now = 0.0
        table = random_model(nodes, density, seed=seed, contexts=3).sample(1000, seed)
        cc.discover(table, "R", test=Slow(), method="pc-ac")
        whole = Clock.now
        late = [(now, left) for now, left in seen if 0.5 * whole < now < 0.95 * whole]
        honest += [
            0.5 * (whole - now) - 0.1 * whole <= left <= 2.0 * (whole - now) + 0.1 * whole
            for now, left in late
        ]
    assert len(honest) > 100
    assert np.mean(honest) > 0.8


def test_all_phases_are_told() -> None:
    told = []
    search(progress=lambda size, done, total: told.append(size))
    assert told[0] == 0
    watch = Watch(nobody)
    watch.expect(progress.COLLIDERS, {progress.COLLIDERS: 10.0})
    assert watch.left() is None, "nothing is done"
    Clock.now += 4.0
    watch.answered(2)
    assert watch.left() == pytest.approx(7.6), "5.8 sets are new, 2 of them are done, 2 s each"


def test_a_long_search_is_forecast_once() -> None:
    said: list[str] = []
    watch = Watch(nobody, say=said.append)
    watch.expect(1, {1: 100.0})
    Clock.now += 10.0
    watch.answered(100)
    for _ in range(2):
        watch.expect(2, {2: 200.0, 3: 13000.0})
    assert said == ["about 550 tests, some 55 s; with max_given=2 some 20 s"]


def test_outcomes_are_put_at_their_places() -> None:
    found, outcomes = (
        Outcomes(*np.full((3, 2), 2.0), np.full(2, 2), np.zeros(2, np.int8)),
        no_outcomes(4),
    )
    put(outcomes, slice(1, 3), found)
    assert outcomes.p[1:3].tolist() == outcomes.n[1:3].tolist() == [2, 2]
    assert outcomes.reason.tolist() == [Reason.NO_TEST, 0, 0, Reason.NO_TEST]
    labelled = Outcomes(
        *np.zeros((3, 1)), np.zeros(1, int), np.zeros(1, np.int8), np.ones(1, np.int8)
    )
    put(outcomes, [3], labelled, first_label=2)
    assert outcomes.label is not None
    assert outcomes.label.tolist() == [0, 0, 0, 3]


def test_a_search_that_was_cut_short_is_saved_without_another_search(tmp_path, monkeypatch):
    def never(*_):
        raise AssertionError("a second engine was asked")

    def stop(size, done, total):
        if size == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(other_methods, "_run", never)
    with pytest.raises(cc.InterruptedSearch) as caught:
        cc.discover(
            cc.examples.soil_moisture(2000, seed=1),
            context="soil",
            alpha=0.01,
            progress=stop,
            method="pc-ac",
        )
    caught.value.result.save(tmp_path / "r.json")
    assert not cc.load(tmp_path / "r.json").complete
    with pytest.raises(cc.OptionError, match="score-ac was not run: the search was interrupted"):
        caught.value.result.second_opinion()


def test_thousands_of_quick_answers_one_by_one() -> None:
    """The size of a part follows what was asked, and does not double without an end."""
    data = read_table(TABLE, "R")
    prepared, watch = (
        find_test("partial-correlation").prepare(data, gather_statistics(data)),
        Watch(nobody),
    )
    answers, query = RememberedAnswers(prepared, watch=watch), CIQuery(0, 1, (), 0)
    answers.run([query])
    first = answers.of(query)
    for _ in range(1_100):
        answers._known.clear()
        answers.run([query])
    assert answers.of(query) == first
    assert watch.queries == 1_101


@pytest.mark.parametrize("method", ["pc-ac", "pc-m", "pc-p", "pc-b", "fci-ac", "score-ac"])
def test_a_search_that_a_limit_cut_is_not_complete_and_its_file_says_so(
    method, tmp_path, monkeypatch
):
    monkeypatch.setattr(progress.time, "perf_counter", time.monotonic)
    generator = np.random.default_rng(0)
    values = generator.standard_normal((200, 30)) + generator.standard_normal((200, 1))
    table = pd.DataFrame(values, columns=[f"V{j}" for j in range(30)]).assign(
        R=generator.integers(0, 3, 200)
    )
    result = cc.discover(table, "R", method=method, time_limit=1e-6)
    assert not result.complete
    result.save(tmp_path / "r.json")
    again = cc.load(tmp_path / "r.json")
    assert (again.complete, again.final) == (False, result.final)
    assert again == result
    if result.final:
        assert "INCOMPLETE" not in str(result)
        assert result.mechanisms().empty == (
            not result.union.edges
        )  # under load nothing may have been fitted


@pytest.mark.parametrize(("overdue", "most"), [(False, 2 * 6), (True, 0)])
def test_links_from_many_contexts_are_judged_by_what_was_found_when_the_time_is_up(
    overdue, most, monkeypatch
):
    """Every context apart is a fit of its own: with 20 levels and 20 contexts those took ten
    seconds.
    """
    asked: list[int] = []
    fit = judgement.FitWorkspace.fit

    def counted(self, tasks, candidates):
        asked.append(len(tasks))
        return fit(self, tasks, candidates)

    class Counted(judgement.FitWorkspace):
        pass

    Counted.fit = counted
    monkeypatch.setattr(judgement, "FitWorkspace", Counted)
    monkeypatch.setattr(judgement.Clock, "is_overdue", overdue)
    generator = np.random.default_rng(0)
    table = pd.DataFrame(np.cumsum(generator.standard_normal((400, 6)), axis=1)).add_prefix("V")
    result = cc.discover(
        table.assign(R=np.arange(400) % 10), "R", method="score-ac", time_limit=1e-9
    )
    assert not result.complete
    assert sum(asked) <= most
    assert result.explain("V0", "R")
    assert len(result.edges())


def test_graphs_that_take_long_to_orient_are_not_oriented_when_the_time_is_over(monkeypatch):
    """150 variables in 25 contexts have millions of unshielded triples: a limit of 3 s took 12
    s.
    """
    monkeypatch.setattr("causalcontext.search.algorithm.MOST_TRIPLES_LATE", 0)
    whole = search()
    cut = search(time_limit=100)
    assert not cut.complete
    assert not cut.final
    assert (
        "the time limit ended the search; nothing is oriented; pass a larger time_limit"
        in cut.warnings
    )
    assert {edge.mark for edge in cut.union.edges} == {"o-o"}
    assert len(cut.union.edges) >= len(whole.union.edges)


def test_triples_are_counted():
    random = np.random.default_rng(0)
    graphs = np.triu(random.random((3, 7, 7)) < 0.5, 1)
    graphs |= graphs.swapaxes(1, 2)
    triples = [
        (g, *ends, w)
        for g in range(3)
        for ends in itertools.combinations(range(7), 2)
        for w in range(7)
    ]
    shielded = [graphs[g, x, y] for g, x, y, w in triples if graphs[g, x, w] and graphs[g, y, w]]
    assert triples_of(graphs) == (shielded.count(False), shielded.count(True))

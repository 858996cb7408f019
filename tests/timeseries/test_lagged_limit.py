"""A search with lags that is stopped hands back the best model so far, and says what was cut. The clock is ours."""

import numpy as np
import pytest

import causalcontext as cc
from causalcontext import progress
from causalcontext.graphs.lag_names import split
from causalcontext.simulate import SeriesDesign, random_series_model
from causalcontext.timeseries import alarm, order_search
from causalcontext.timeseries.local_models import LocalModels

MODEL = random_series_model(SeriesDesign(variables=5, lags=1), 2)
TABLE = MODEL.sample(500, 2)


class Clock:
    """Every local model that is searched for, and every regression of the lag alarm, takes a second."""

    now = 0.0


@pytest.fixture
def clock(monkeypatch):
    Clock.now = 0.0
    monkeypatch.setattr(progress.time, "perf_counter", lambda: Clock.now)
    asked = LocalModels.watched

    def slow(self, node, before):
        Clock.now += 1.0
        return asked(self, node, before)

    monkeypatch.setattr(LocalModels, "watched", slow)
    regressed = alarm._partial

    def slowly(*arguments):
        Clock.now += 1.0
        return regressed(*arguments)

    monkeypatch.setattr(alarm, "_partial", slowly)


def search(**options):
    return cc.discover(TABLE, context="R", lags=1, method="score-ac", **options)


def lagged_links(result):
    return {(value, edge) for value in result.contexts for edge in result.graphs[value].edges if split(edge.source)[1]}


def present_marks(result):
    return [
        edge.mark for graph in result.graphs.values() for edge in graph.edges
        if split(edge.source)[1] == split(edge.target)[1] == 0
    ]  # fmt: skip


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("limit", [0.5, 5.5, 12.5])
@pytest.mark.parametrize("exactly", [True, False])
def test_a_limit_ends_the_search_and_the_result_says_so(limit, exactly, monkeypatch):
    monkeypatch.setattr(order_search, "MOST_EXACT", 11 if exactly else 0)
    result = search(time_limit=limit)
    assert Clock.now <= limit + 1.0
    assert not result.complete
    assert result.notes[0].startswith("the search was stopped early, and this is the best model found so far")
    assert set(present_marks(result)) <= {"o-o"}
    assert result.series.beyond_lags is None
    assert "INCOMPLETE: the search was interrupted; this is the best model found so far" in str(result)
    with pytest.raises(cc.OptionError, match="not final"):
        result.effects("X1", "X2")


@pytest.mark.usefixtures("clock")
def test_longer_limits_find_more():
    whole = search()
    assert whole.complete
    assert not any("stopped" in note for note in whole.notes)
    needed = Clock.now
    scores = []
    for share in (0.2, 0.6, 0.9):
        Clock.now = 0.0
        scores.append(search(time_limit=share * needed).evidence.score)
    assert scores == sorted(scores)
    assert scores[-1] <= whole.evidence.score + 1e-6
    Clock.now = 0.0
    same = search(time_limit=2 * needed)
    assert same.graphs == whole.graphs


@pytest.mark.usefixtures("clock")
def test_the_names_that_were_not_finished_are_told():
    note = search(time_limit=0.5).notes[0]
    assert "causes inside the time step of X1, X2, X3, X4, X5 and 1 more were not all tried" in note


@pytest.mark.usefixtures("clock")
def test_a_limit_in_the_alarm_costs_the_alarm_alone():
    whole = search()
    needed = Clock.now
    Clock.now = 0.0
    result = search(time_limit=needed - 3.5)
    assert result.complete
    assert result.graphs == whole.graphs
    assert result.series.beyond_lags is None
    assert result.notes[0] == "the search was stopped before the past beyond the lags was tested"


@pytest.mark.parametrize("exactly", [True, False])
def test_ctrl_c_keeps_the_best_model_so_far(exactly, monkeypatch):
    monkeypatch.setattr(order_search, "MOST_EXACT", 11 if exactly else 0)
    asked, count = LocalModels.watched, [0]

    def interrupted(self, node, before):
        count[0] += 1
        if count[0] == (8 if exactly else 15):
            raise KeyboardInterrupt
        return asked(self, node, before)

    monkeypatch.setattr(LocalModels, "watched", interrupted)
    with pytest.raises(cc.InterruptedSearch) as caught:
        search()
    result = caught.value.result
    assert not result.complete
    assert isinstance(result, cc.LaggedGraphs)
    truth = {(value, edge) for value in result.contexts for edge in MODEL.truth[value].edges if split(edge.source)[1]}
    found = lagged_links(result)
    assert len(found & truth) > 0.7 * len(truth)


def test_a_file_keeps_that_it_was_cut(tmp_path, clock):
    result = search(time_limit=3.5)
    result.save(tmp_path / "cut.json")
    assert not cc.load(tmp_path / "cut.json").complete
    result.report(tmp_path / "cut.html")
    assert "this is the best model found so far" in (tmp_path / "cut.html").read_text()


def test_required_links_of_the_present_survive_a_cut(clock):
    result = search(time_limit=0.5, knowledge=cc.Knowledge(required=[("X1", "X2")]))
    assert result.graphs[0].mark("X1", "X2") == "-->"
    assert result.knowledge_violations() == []
    assert np.isfinite(result.evidence.score)

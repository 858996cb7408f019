"""A search with lags that is stopped hands back the best model so far, and says what was cut."""

import pytest

import causalcontext as cc
from causalcontext.graphs.lag_names import split
from causalcontext.timeseries import scored
from causalcontext_lab.simulate import SeriesDesign, random_series_model

MODEL = random_series_model(SeriesDesign(variables=5, lags=1), 2)
TABLE = MODEL.sample(500, 2)
CUT = "the time limit ended the search early: this is the best model found so far"


def search(**options):
    return cc.discover(TABLE, context="R", lags=1, method="score-ac", **options)


def lagged_links(result):
    return {
        (value, edge)
        for value in result.contexts
        for edge in result.graphs[value].edges
        if split(edge.source)[1]
    }


@pytest.fixture(scope="module")
def cut():
    return search(time_limit=1e-6, search="order", starts=5)


def test_a_limit_ends_the_search_and_the_result_says_so(cut, tmp_path):
    assert any(warning.startswith(CUT) for warning in cut.warnings)
    assert scored.NO_ALARM in cut.notes
    assert cut.series.beyond_lags is None
    cut.save(tmp_path / "cut.json")
    assert cc.load(tmp_path / "cut.json").notes == cut.notes
    assert cc.load(tmp_path / "cut.json").warnings == cut.warnings
    cut.report(tmp_path / "cut.html")
    assert "this is the best model found so far" in (tmp_path / "cut.html").read_text()


def test_the_best_so_far_has_links_over_time(cut):
    truth = {
        (value, edge)
        for value in cut.contexts
        for edge in MODEL.truth[value].edges
        if split(edge.source)[1]
    }
    assert len(lagged_links(cut) & truth) > 0.7 * len(truth)


def test_enough_time_changes_nothing():
    whole = search()
    assert whole.complete
    assert not any("ended" in note for note in (*whole.notes, *whole.warnings))
    assert search(time_limit=1e6).graphs == whole.graphs


def test_ctrl_c_in_the_alarm_keeps_the_model(monkeypatch):
    whole = search()

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(scored, "past_beyond_lags", interrupted)
    with pytest.raises(cc.InterruptedSearch) as caught:
        search()
    result = caught.value.result
    assert not result.complete
    assert result.graphs == whole.graphs
    assert scored.NO_ALARM in result.notes


def test_required_links_of_the_present_survive_a_cut():
    result = search(
        time_limit=1e-6, search="order", knowledge=cc.Knowledge(required=[("X1", "X2")])
    )
    assert result.graphs[0].mark("X1", "X2") == "-->"
    assert result.knowledge_violations() == []

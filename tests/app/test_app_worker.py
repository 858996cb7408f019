"""What the process that searches says, line by line, and how far it has come."""

import io
import json
import logging
from pathlib import Path

import pytest

import causalcontext as cc
from causalcontext.errors import InterruptedSearch
from causalcontext.progress import Watch
from causalcontext_app import worker


@pytest.fixture
def task(soil, tmp_path):
    return {
        "table": str(soil),
        "question": {"context": ["soil"], "options": {"method": "pc-ac"}},
        "title": "a title",
        "result": str(tmp_path / "run.json"),
        "report": str(tmp_path / "run.html"),
    }


def said(task, **changed):
    """The messages of a run in this process."""
    stream = io.StringIO()
    worker.run(task | changed, worker.Lines(stream))
    return [json.loads(line) for line in stream.getvalue().splitlines()]


@pytest.fixture(autouse=True)
def _keep_signals(monkeypatch):
    monkeypatch.setattr(worker.signal, "signal", lambda number, handler: None)


def test_a_search_ends_with_its_files(task, soil):
    messages = said(task)
    assert messages[0]["words"] == "reading the table"
    assert messages[-1] == {"done": "complete"}
    assert cc.load(task["result"]) == cc.discover(cc.read_file(soil), "soil", method="pc-ac")
    with open(task["report"], encoding="utf-8") as page:
        assert "<title>a title</title>" in page.read()


def test_what_is_refused_is_one_sentence(task):
    assert said(task, table="none.csv")[-1] == {"error": "there is no file none.csv"}
    wrong = {"context": ["sool"]}
    assert "did you mean 'soil'?" in said(task, question=wrong)[-1]["error"]


def test_an_interrupted_search_keeps_what_is_known(task, soil, monkeypatch):
    known = cc.discover(cc.read_file(soil), "soil", method="pc-ac")

    def interrupted(*arguments, **options):
        raise InterruptedSearch(known)

    monkeypatch.setattr(worker, "discover", interrupted)
    assert said(task, samples=3)[-1] == {"error": "cancelled"}
    assert not Path(task["result"]).exists(), "a look at stability changes no result"
    assert said(task)[-1] == {"done": "interrupted"}
    assert cc.load(task["result"]) == known

    def stopped(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(worker, "discover", stopped)
    assert said(task)[-1] == {"error": "cancelled before anything was known"}


def test_stability_goes_into_the_report(task):
    messages = said(task, samples=3)
    assert messages[-1] == {"done": "complete"}
    with open(task["report"], encoding="utf-8") as page:
        assert "The same search in 3 bootstrap samples" in page.read()


def test_a_watch_of_the_caller_is_told_the_share_and_the_time_left(soil):
    shown, told = [], []
    watch = Watch(lambda *counts: told.append(counts), show=lambda *state: shown.append(state))
    cc.discover(cc.read_file(soil), "soil", method="pc-ac", test="gaussian-ranks", progress=watch)
    assert told
    assert any(left is not None for _, _, left in shown)
    assert all(0.0 <= share <= 1.0 for _, share, _ in shown)


def test_lines_on_progress_are_few_and_say_how_much_is_left(monkeypatch):
    stream = io.StringIO()
    lines = worker.Lines(stream)
    clock = iter([100.0, 100.0, 100.05, 100.5, 100.5])
    monkeypatch.setattr(worker.time, "monotonic", lambda: next(clock))
    for share in (0.1, 0.2, 0.3):
        lines.progress("pairs given 1 variable", share, "about 3 s left")
    found = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["share"] for line in found] == [0.1, 0.3]
    assert found[0]["left"] == "about 3 s left"


def test_what_the_library_logs_is_progress():
    stream = io.StringIO()
    handler = worker.LinesOfLog(worker.Lines(stream))
    handler.handle(
        logging.makeLogRecord({"msg": "two columns are left out", "levelno": logging.WARNING})
    )
    assert json.loads(stream.getvalue())["words"] == "two columns are left out"

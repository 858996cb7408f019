"""The loop over the wire: open, look, ask, run, read, compare, take away, come back."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient

import causalcontext as cc
from causalcontext.errors import FileError
from causalcontext_app.columns import described_columns
from causalcontext_app.question import file_for, open_project
from causalcontext_app.session import Session

BY_SOIL = {"context": ["soil"], "options": {"method": "pc-ac"}}


def run(session: Session, question: dict) -> dict:
    """The run of a question, at its end."""
    number = session.start(question)["number"]
    session.wait(number, 300)
    return next(run for run in session.runs() if run["number"] == number)


def test_every_column_is_described():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "x": rng.standard_normal(100),
            "n": rng.integers(5, size=100),
            "w": [*("ab" * 49), None, "NA"],
            "day": pd.date_range("2020-01-01", periods=100),
            "inf": [np.inf] * 100,
            "empty": [None] * 100,
            "same": 1.0,
        }
    )
    found = {column["name"]: column for column in described_columns(table)}
    assert sum(found["x"]["histogram"]["counts"]) == 100
    assert found["x"]["histogram"]["low"] == table["x"].min()
    assert (found["x"]["kind"], found["n"]["level_count"]) == ("continuous", 5)
    assert found["w"]["levels"] == [["a", 49], ["b", 49], ["NA", 1]]
    assert found["w"]["missing"] == 1
    assert "'NA' is read as a level like any other" in found["w"]["warnings"][0]
    assert not found["day"]["usable"]
    assert "lags" in found["day"]["warnings"][0]
    assert found["inf"]["histogram"]["counts"] == []
    assert not found["empty"]["usable"]
    assert sum(found["same"]["histogram"]["counts"]) == 100


def test_the_loop(client, session, soil):
    state = client.get("/api/state").json()
    assert state["table"]["name"] == "soil.csv"
    assert state["table"]["rows"] == 300
    assert {method["name"] for method in state["methods"]} >= {"auto", "pc-ac", "score-ac"}
    assert all(method["text"].endswith(".") for method in state["methods"])
    assert len(client.get("/api/columns").json()) == 7
    found = client.post("/api/check", json=BY_SOIL).json()
    assert found["problems"] == []
    assert sum(rows for _, rows in found["rows"]) == 300
    first = client.post("/api/runs", json=BY_SOIL).json()
    assert (first["state"], first["title"]) == ("running", "by soil; pc-ac")
    session.wait(1, 300)
    assert client.get("/api/runs").json()[0]["state"] == "complete"
    expected = cc.discover(cc.read_file(soil), "soil", method="pc-ac")
    assert session.result(1) == expected
    assert client.get("/api/runs/1/names").json() == list(expected.names)
    page = client.get("/runs/1/report")
    assert "<title>soil.csv, run 1</title>" in page.text
    assert "script-src 'sha256-" in page.headers["content-security-policy"]
    assert page.headers["content-security-policy"].endswith("frame-ancestors 'self'")
    known = BY_SOIL | {
        "knowledge": {"forbidden": [["precipitation", "soil"], ["soil", "precipitation"]]}
    }
    assert run(session, known)["state"] == "complete"
    panels = client.get("/api/compare/1/2").json()["panels"]
    assert (
        "precipitation --> soil" in panels[0]["vanished"]
        or "precipitation o-o soil" in panels[0]["vanished"]
    )
    for what, start in {
        "json": b"{",
        "html": b"<!DOCTYPE html>",
        "svg": b"<?xml",
        "png": b"\x89PNG",
        "python": b"#",
        "command": b"cat",
        "toml": b"forbidden",
    }.items():
        answer = client.get(f"/runs/2/download/{what}")
        assert answer.content.startswith(start)
        assert answer.headers["content-disposition"].startswith('attachment; filename="run-2')
    assert [one["number"] for one in client.delete("/api/runs/1").json()] == [2]
    assert client.get("/runs/1/report").json() == {"error": "there is no run 1"}
    # A new server finds everything in the file beside the table.
    again = Session(soil)
    assert [(one["number"], one["state"]) for one in again.runs()] == [(2, "complete")]
    assert again.result(2) == session.result(2)
    assert again.project.question.to_dict()["knowledge"] == known["knowledge"]
    assert "soil.csv, run 2" in again.report(2)
    again.close()


def test_what_the_library_refuses_is_its_sentence(client, session):
    wrong = {"knowledge": {"required": [["soil", "runoff"]], "forbidden": [["soil", "runoff"]]}}
    said = "the link soil --> runoff is both required and forbidden"
    assert client.put("/api/question", json=wrong).json() == {"error": said}
    wrong = {"knowledge": {"roots": ["sool"]}}
    assert client.put("/api/question", json=wrong).json()["error"].endswith("did you mean 'soil'?")
    wrong = {"options": {"method": "score-ac", "test": "tsagris"}}
    assert (
        client.post("/api/runs", json=wrong)
        .json()["error"]
        .startswith(
            "test belongs to methods that test, and method is 'score-ac': leave test out, or pass"
            " method: pc-ac, test: tsagris"
        )
    )
    failed = run(session, {"context": ["soil"], "kinds": {"radiation": "count"}})
    assert (failed["state"], failed["error"][:18]) == ("failed", "column 'radiation'")


def test_a_cancelled_search_keeps_what_is_known(session, tmp_path):
    path = tmp_path / "slow.csv"
    cc.examples.soil_moisture(1500, seed=1).to_csv(path, index=False)
    slow = Session(path)
    number = slow.start({"context": ["soil"], "options": {"method": "pc-ac", "test": "cmi-knn"}})[
        "number"
    ]
    deadline = time.monotonic() + 200
    while "pairs given" not in slow.runs()[0]["progress"]["words"] and time.monotonic() < deadline:
        time.sleep(0.1)
    slow.cancel(number)
    slow.wait(number, 200)
    found = slow.runs()[0]
    assert (found["state"], found["error"]) == ("interrupted", "")
    assert not slow.result(number).complete
    assert "The search was interrupted" in slow.report(number)
    slow.close()


def test_a_search_ends_with_the_server(soil):
    code = f"""import time
from pathlib import Path
from causalcontext_app.session import Session
session = Session(Path({str(soil)!r}))
session.start({{"context": ["soil"], "options": {{"method": "pc-ac", "test": "cmi-knn"}}}})
print(session._jobs[1]._process.pid, flush=True)
time.sleep(600)"""
    server = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    pid = int(server.stdout.readline())
    server.send_signal(signal.SIGKILL)
    server.wait()
    server.stdout.close()
    deadline = time.monotonic() + 60
    while _runs(pid) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not _runs(pid)
    kept = Session(soil)  # killed in the middle of a search: nothing but that is lost
    assert kept.runs() == []
    assert kept.project.question.to_dict()["context"] == ["soil"]
    kept.close()


def _runs(pid: int) -> bool:
    """Whether a process is there and is no zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.slow
def test_stability_is_looked_at_in_the_background(session):
    run(session, BY_SOIL)
    assert session.look_at_stability(1)["stability"] == "running"
    session.wait(1, 300)
    assert session.runs()[0]["stability"] == "done"
    assert "The same search in 100 bootstrap samples" in session.report(1)
    again = Session(session.project.table)
    assert again.runs()[0]["stability"] == ""
    assert "bootstrap" not in again.report(1)
    again.close()


def test_missing_cells_are_said_and_dropped_on_demand(client, session):
    table = cc.examples.soil_moisture(300, seed=1)
    table.loc[::20, "radiation"] = np.nan
    client.post("/api/upload?name=holes.csv", content=table.to_csv(index=False).encode())
    found = client.post("/api/check", json={"context": ["soil"]}).json()
    assert found["holes"]
    assert "or missing: listwise to drop 15 of 300 rows" in found["problems"][0]
    found = client.post(
        "/api/check", json={"context": ["soil"], "options": {"missing": "listwise"}}
    ).json()
    assert found["problems"] == []


def test_the_reasons_of_columns_left_out_are_in_the_words_of_the_page(tmp_path):
    days = pd.date_range("2020-01-01", periods=80).strftime("%Y-%m-%d")
    table = pd.DataFrame({"day": days, "x": np.random.default_rng(0).standard_normal(80)})
    file = tmp_path / "days.csv"
    table.to_csv(file, index=False)
    other = Session(file)
    try:
        told = other.check({"context": []})
        ((column, reason),) = told["left_out"]
        described = next(one for one in other.columns() if one["name"] == "day")
    finally:
        other.close()
    assert column == "day"
    assert "(time: day with lags makes use of it)" in reason
    assert not [text for text in (*told["notes"], *described["warnings"]) if "time='day'" in text]


def test_dates_are_left_out_until_they_order_the_rows(client, session):
    table = cc.examples.soil_moisture(120, seed=1).assign(
        day=pd.date_range("2020-01-01", periods=120)
    )
    state = client.post(
        "/api/upload?name=days.csv", content=table.to_csv(index=False).encode()
    ).json()
    assert state["question"]["drop"] == []
    assert "day" not in state["variables"]
    lagged = {"context": ["soil"], "options": {"lags": 1, "time": "day", "method": "pc-ac"}}
    assert client.post("/api/check", json=lagged).json()["problems"] == []
    assert run(session, lagged)["state"] == "complete"
    assert "soil(t-1)" in client.get("/api/runs/1/names").json()


def test_a_project_file_is_read_whole_or_refused(session, soil, tmp_path):
    session.ask(BY_SOIL)
    kept = file_for(soil)
    assert session.kept == kept
    content = json.loads(kept.read_text())
    assert content["table"]["path"] == "soil.csv"
    for damaged, words in (
        ("{", "is not valid JSON"),
        ("[]", "is not a project"),
        ("{}", "is not a project"),
        (json.dumps(content | {"format_version": 99}), "has format version 99"),
        (json.dumps(content | {"runs": [{"number": "../1"}]}), "is damaged"),
        (json.dumps(content | {"question": {"drop": 1}}), "is damaged"),
        (
            json.dumps(
                content | {"results": 0, "runs": [{"number": 1, "title": "", "question": {}}]}
            ),
            "is damaged",
        ),
    ):
        (tmp_path / "damaged.json").write_text(damaged)
        with pytest.raises(FileError, match=words):
            open_project(tmp_path / "damaged.json", session.folder)
    (tmp_path / "other.csv").write_text("A,B\n1,2\n")
    with pytest.raises(FileError, match="is the project of another table"):
        Session(tmp_path / "other.csv", kept)


def test_a_project_is_opened_beside_its_table_and_no_upload_takes_its_place(
    client, session, soil, tmp_path
):
    session.ask(BY_SOIL)
    before = file_for(soil).read_text()
    client.post("/api/upload?name=days.csv", content=b"A,B\n1,2\n3,5\n2,2\n")
    client.put("/api/question", json={"options": {"method": "pc-ac"}})
    assert file_for(soil).read_text() == before
    taken = client.get("/project")
    assert taken.json()["table"]["path"] == "days.csv"
    (tmp_path / "days.csv").write_text("A,B\n1,2\n3,5\n2,2\n")
    (tmp_path / "taken.json").write_text(taken.text)
    for arguments in (
        (tmp_path / "taken.json",),
        (None, tmp_path / "taken.json"),
        (tmp_path / "days.csv", tmp_path / "taken.json"),
    ):
        again = Session(*arguments)
        assert again.project.question.options == {"method": "pc-ac"}
        assert again.kept == tmp_path / "taken.json"
        again.close()
    with pytest.raises(FileError, match="cannot be read: No such file"):
        Session(None, tmp_path / "none.json")


def test_a_table_that_changed_is_noticed(session, soil):
    session.ask(BY_SOIL)
    soil.write_text("\n".join(soil.read_text().splitlines()[:-10]) + "\n")
    again = Session(soil)
    assert "has changed since the project was made" in again.state()["table"]["notices"][0]
    again.close()


def test_without_a_table_there_is_a_page_to_open_one(guard):
    empty = Session()
    from causalcontext_app.server import application

    app = application(empty, 8765)
    client = TestClient(
        app, base_url="http://127.0.0.1:8765", headers={"origin": "http://127.0.0.1:8765"}
    )
    client.get(f"/?token={app.token}")
    assert client.get("/api/state").json()["table"] is None
    assert client.post("/api/runs", json={}).json() == {"error": "no table is open; open one first"}
    assert client.post("/api/check", json={}).status_code == 400
    state = client.post("/api/example", json="soil-moisture").json()
    assert (state["table"]["name"], state["table"]["kept"]) == ("soil-moisture.csv", None)
    assert client.get("/project").json()["format"] == "causalcontext-project"
    assert client.post("/api/example", json="other").json() == {
        "error": "there is no example 'other'"
    }
    empty.close()


def test_a_folder_that_cannot_be_written_keeps_nothing(soil, monkeypatch):
    def refuse(path):
        raise FileError(f"cannot write {path}: permission denied")

    monkeypatch.setattr("causalcontext_app.session.check_writable", refuse)
    made = Session(soil)
    assert made.state()["table"]["kept"] is None
    made.close()
    assert not file_for(soil).exists()


def test_columns_that_are_left_out_have_a_box_to_keep_them(client, session, tmp_path):
    table = cc.examples.soil_moisture(200, seed=1)
    table.insert(0, "visit", np.arange(200))
    table.to_csv(tmp_path / "visits.csv", index=False)
    session.uploaded(tmp_path / "visits.csv", "visits.csv")
    assert session.state()["question"]["drop"] == []
    found = client.post("/api/check", json=BY_SOIL).json()
    assert found["problems"] == []
    assert found["left_out"] == [["visit", "is an identifier, the number of the row"]]
    kept = BY_SOIL | {"options": {"method": "pc-ac", "keep": ["visit"]}}
    assert client.post("/api/check", json=kept).json()["left_out"] == []
    done = run(session, kept)
    assert "visit" in session.names(done["number"])
    assert "--keep=visit" in session.scripts(done["number"])["command"]

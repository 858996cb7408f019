"""Who may ask the server, what leaves it, and what it writes and reads."""

import os
import stat

import pytest

import hostile
from causalcontext_app import server
from causalcontext_app.server import PAGE_POLICY

ADDRESSES = [
    "/",
    "/page/app.js",
    "/api/state",
    "/api/columns",
    "/api/runs",
    "/runs/1/report",
    "/project",
    "/runs/1/download/json",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_nothing_is_shown_without_the_token(stranger, address):
    assert stranger.get(address).status_code == 403
    assert stranger.get(address, headers={"cookie": "causalcontext-8765=guess"}).status_code == 403


def test_the_token_works_once(guard, client):
    assert guard.token is None
    client.cookies.clear()
    assert client.get("/?token=None").status_code == 403
    assert client.get("/?token=").status_code == 403
    assert client.get("/api/state").status_code == 403


def test_a_wrong_token_does_not_use_up_the_right_one(guard, stranger):
    assert stranger.get("/?token=wrong").status_code == 403
    assert stranger.get(f"/?token={guard.token}").status_code == 200


def test_the_cookie_is_out_of_reach_for_scripts_and_other_sites(guard, stranger):
    answer = stranger.get(f"/?token={guard.token}", follow_redirects=False)
    cookie = answer.headers["set-cookie"].lower()
    assert answer.status_code == 303
    assert answer.headers["location"] == "/"
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


@pytest.mark.parametrize(
    "host",
    ["evil.example:8765", "127.0.0.1", "127.0.0.1:80", "[::1]:8765", "127.0.0.1:8765.evil", ""],
)
def test_other_names_of_this_host_are_refused(client, guard, host):
    """A name that an attacker points to this machine (DNS rebinding) is not this server."""
    assert client.get("/api/state", headers={"host": host}).status_code == 421
    assert client.get("/api/state", headers={"host": "localhost:8765"}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://127.0.0.1:1", "https://127.0.0.1:8765", "null", ""]
)
def test_other_pages_change_nothing(client, session, origin):
    for method, address in (
        ("PUT", "/api/question"),
        ("POST", "/api/runs"),
        ("POST", "/api/upload?name=a.csv"),
        ("POST", "/api/example"),
        ("DELETE", "/api/runs/1"),
    ):
        assert client.request(method, address, headers={"origin": origin}).status_code == 403
    del client.headers["origin"]
    assert client.post("/api/runs", json={}).status_code == 403
    assert session.runs() == []


def test_every_answer_has_the_strict_headers(client, stranger):
    for address in ("/", "/page/app.js", "/api/state", "/nothing"):
        headers = client.get(address).headers
        assert headers["content-security-policy"] == PAGE_POLICY
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
    assert "unsafe" not in PAGE_POLICY
    assert "http" not in PAGE_POLICY


@pytest.mark.parametrize(
    "path",
    [
        "/page/../session.py",
        "/page/%2e%2e/session.py",
        "/page/..%2f..%2f..%2fetc/passwd",
        "/page//etc/passwd",
        "/runs/1/download/../../soil.csv",
        "/runs/..%2f1/report",
        "/runs/1/download/%2fetc%2fpasswd",
    ],
)
def test_no_address_leads_to_a_file(client, path):
    answer = client.get(path)
    assert answer.status_code in (400, 404)
    assert "root:" not in answer.text


@pytest.mark.parametrize(
    "name", ["../../escape.csv", "/etc/cron.d/a.csv", "..\\..\\a.csv", "a\x00.csv", "a/b/c.csv"]
)
def test_the_name_of_an_upload_is_for_people_alone(client, session, tmp_path, name):
    before = sorted(tmp_path.rglob("*"))
    answer = client.post("/api/upload", params={"name": name}, content=b"A,B\n1,2\n3,4\n5,6\n")
    assert answer.status_code == 200
    assert answer.json()["table"]["name"] in ("escape.csv", "a.csv", "a\x00.csv", "c.csv")
    assert session.folder in session.project.table.parents
    assert session.project.table.stem == "table"
    assert sorted(tmp_path.rglob("*")) == before


def test_the_private_folder_is_private_and_goes(session):
    assert stat.S_IMODE(os.stat(session.folder).st_mode) == 0o700
    session.close()
    assert not session.folder.exists()


def test_uploads_are_bounded(client, session, monkeypatch):
    monkeypatch.setattr(server, "LARGEST_UPLOAD", 1000)
    answer = client.post("/api/upload?name=big.csv", content=b"A,B\n" + b"1,2\n" * 1000)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("big.csv has more than")
    assert [file for file in session.folder.rglob("*") if file.is_file()] == []
    assert session.project.name == "soil.csv"


def test_questions_are_bounded(client, monkeypatch):
    monkeypatch.setattr(server, "LARGEST_QUESTION", 1000)
    answer = client.put("/api/question", content=b"[" * 2000)
    assert (answer.status_code, answer.json()) == (400, {"error": "the request is too long"})


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"[" * 5000,
        b"\xff\xfe",
        b'{"drop": 5}',
        b'{"other": 1}',
        b"null",
        b'{"context": [{}]}',
        b'{"options": {"progress": true}}',
        b'{"options": {"method": ["pc-ac"]}}',
        b'{"context": [{"column": "soil", "cuts": []}]}',
        b'{"knowledge": {"tiers": 3}}',
        b'{"options": {"time": "/etc/passwd", "lags": 1}}',
    ],
)
def test_a_bad_question_is_one_sentence(client, session, content):
    before = session.project.question
    answer = client.put("/api/question", content=content)
    assert answer.status_code == 400
    assert "\n" not in answer.json()["error"]
    assert session.project.question == before


BAD_FILES = {
    "other.txt": b"A,B\n1,2\n",
    "empty.csv": b"",
    "utf16.csv": "A,B\n1,2\n".encode("utf-16"),
    "wide.csv": b"A,B\n1,2,3\n",
    "no.parquet": b"PAR1",
    "twice.csv": b"A,A\n1,2\n",
    "": b"A,B\n",
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_one_sentence_without_a_path_of_this_machine(client, session, name):
    answer = client.post("/api/upload", params={"name": name}, content=BAD_FILES[name])
    assert answer.status_code == 400
    assert "\n" not in answer.json()["error"]
    assert str(session.folder) not in answer.json()["error"]
    assert session.project.name == "soil.csv"


def test_names_with_markup_are_data(client, session):
    text = hostile.table().to_csv(index=False)
    assert (
        client.post(
            "/api/upload", params={"name": "<b>x</b>.csv"}, content=text.encode()
        ).status_code
        == 200
    )
    columns = client.get("/api/columns")
    assert columns.headers["content-type"] == "application/json"
    assert hostile.NAMES[0] in [column["name"] for column in columns.json()]
    for name in server.PARTS:
        if name.endswith(".js"):
            source = client.get(f"/page/{name}").text
            for risky in (
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "new Function",
            ):
                assert risky not in source

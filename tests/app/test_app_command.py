"""`causalcontext app`: what it says, where it listens, how it ends."""

import os
import re
import signal
import socket
import subprocess
import sys
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from typer.testing import CliRunner

from causalcontext.cli.app import app
from causalcontext.errors import OptionError
from causalcontext_app import command
from causalcontext_app.server import listening


def test_without_the_extra_one_sentence_says_what_to_install(monkeypatch, soil):
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    run = CliRunner().invoke(app, ["app", str(soil)])
    assert run.exit_code == 2
    way = "pip install 'causalcontext[app]' (in a clone: pip install '.[app]')"
    assert run.stderr == f"error: the app needs starlette and uvicorn: {way}\n"


@pytest.mark.parametrize("name", ["none.csv", "table.txt", "none.json"])
def test_a_file_that_cannot_be_opened_is_one_sentence(tmp_path, name):
    run = CliRunner().invoke(app, ["app", str(tmp_path / name)])
    assert run.exit_code == 2
    assert run.stderr.startswith("error: ")
    assert run.stderr.count("\n") == 1


def test_it_listens_on_the_loopback_address_alone():
    with listening(0) as listener:
        address, port = listener.getsockname()
        assert address == "127.0.0.1"
        with socket.create_connection((address, port), timeout=5):
            pass  # it waits for the server
        with pytest.raises(OptionError, match=f"port is {port}, which cannot be used"):
            listening(port)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_it_and_leaves_nothing_behind(soil, tmp_path, sent):
    (tmp_path / "private").mkdir()
    surroundings = os.environ | {"TMPDIR": str(tmp_path / "private")}
    command = [sys.executable, "-m", "causalcontext", "app", "--no-browser", str(soil)]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=surroundings)
    kept, where = server.stderr.readline(), server.stderr.readline()
    assert kept == f"your work is saved in {soil}.causalcontext.json\n"
    address = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", where)[0]
    with pytest.raises(HTTPError, match="403"):
        urlopen(address.partition("?")[0])
    assert [folder.name[:14] for folder in (tmp_path / "private").iterdir()] == ["causalcontext-"]
    server.send_signal(sent)
    assert server.wait(30) == 0
    assert server.stderr.read() == "the app has ended\n"
    server.stderr.close()
    assert list((tmp_path / "private").iterdir()) == []

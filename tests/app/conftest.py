"""Sessions of the app on small tables, and a browser's side of the wire."""

import pytest
from starlette.testclient import TestClient

import causalcontext as cc
from causalcontext_app.server import application
from causalcontext_app.session import Session

PORT = 8765
HERE = f"http://127.0.0.1:{PORT}"


@pytest.fixture
def soil(tmp_path):
    """The soil example as a file."""
    path = tmp_path / "soil.csv"
    cc.examples.soil_moisture(300, seed=1).to_csv(path, index=False)
    return path


@pytest.fixture
def session(soil):
    made = Session(soil)
    yield made
    made.close()


@pytest.fixture
def guard(session):
    return application(session, PORT)


@pytest.fixture
def stranger(guard):
    """A client that never saw the first address."""
    return TestClient(guard, base_url=HERE, headers={"origin": HERE}, raise_server_exceptions=False)


@pytest.fixture
def client(stranger, guard):
    """The browser in which the first address was opened."""
    answer = stranger.get(f"/?token={guard.token}")
    assert answer.status_code == 200
    assert answer.url.path == "/"
    return stranger

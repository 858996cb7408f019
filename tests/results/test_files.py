"""Results as files: equal again, readable by others, and damaged ones refused."""

import hashlib
import json

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.results.content import checksum
from marks import rest_slow
from pags import soil_pags


def table(levels) -> pd.DataFrame:
    soil = cc.examples.soil_moisture(300, seed=2)
    return soil.assign(soil=[levels[0] if value == "dry" else levels[1] for value in soil["soil"]])


@pytest.mark.parametrize("levels", [(0, 1), ("dry", "wet"), (False, True), ("10", "9")], ids=str)
@pytest.mark.parametrize("method", rest_slow(["pc-ac", "pc-m", "pc-p", "pc-b"]))
def test_loaded_results_are_equal(tmp_path, method, levels):
    knowledge = cc.Knowledge(required=[("soil", "runoff")], tiers=[["radiation"], ["humidity"]])
    result = cc.discover(table(levels), context="soil", method=method, knowledge=knowledge)
    result.save(tmp_path / "r.json")
    again = cc.load(tmp_path / "r.json")
    assert again == result
    assert [type(value) for value in again.contexts] == [type(value) for value in result.contexts]
    assert again.explain("precipitation", "runoff") == result.explain("precipitation", "runoff")
    assert again.edges().equals(result.edges())
    assert again.tests().equals(result.tests())
    assert str(again) == str(result)


def test_results_differ_when_anything_does(tmp_path):
    data = table(("dry", "wet"))
    result = cc.discover(data, context="soil")
    assert result == cc.discover(data, context="soil")
    assert result != cc.discover(data, context="soil", method="pc-ac", alpha=0.01)
    assert result != cc.discover(data.iloc[1:], context="soil")
    assert result != "something else"


@pytest.mark.parametrize("method", ["auto", "pc-ac"])
def test_json_holds_the_contract(tmp_path, method):
    result = cc.discover(table((0, 1)), context="soil", method=method)
    result.save(tmp_path / "r.json")
    content = json.loads((tmp_path / "r.json").read_text())
    assert content["context"]["name"] == "soil"
    assert content["context"]["levels"] == [0, 1]
    assert set(content["graphs"]) == {"0", "1"}
    for value, graph in result.graphs.items():
        edges = content["graphs"][str(value)]
        assert [tuple(edge.values()) for edge in edges] == [tuple(edge) for edge in graph.edges]
        assert all(edge["mark"] != "<--" for edge in edges)
    assert content["settings"]["method"] == result.settings.method
    assert content["settings"]["version"] == cc.__version__
    assert content["data"]["fingerprint"] == result.data.fingerprint


def test_plain_pc_is_saved_too(tmp_path):
    result = cc.discover(table((0, 1)).drop(columns="soil"))
    result.save(tmp_path / "r.json")
    assert cc.load(tmp_path / "r.json") == result


def test_a_result_of_an_own_test_is_saved_without_moments(tmp_path):
    from causalcontext_lab.simulate.testing import OracleTest, random_discrete_model

    truth = np.zeros((2, 3, 3), dtype=bool)
    truth[:, 0, 1] = truth[:, 1, 2] = True
    model = random_discrete_model(truth, 0, seed=0, names=("R", "X", "Y"))
    rows = pd.DataFrame({"R": [0, 1] * 10, "X": range(20), "Y": [*range(10), *range(10)]}).astype(
        {"X": float, "Y": float}
    )
    result = cc.discover(rows, context="R", method="pc-ac", test=OracleTest(model), keep=["X"])
    assert [str(edge) for edge in result.union.edges] == ["R o-o X", "X o-o Y"]
    result.save(tmp_path / "r.json")
    assert cc.load(tmp_path / "r.json") == result
    assert "independent" in cc.load(tmp_path / "r.json").explain("R", "Y")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "not a result of causalcontext: it is not valid JSON"),
        ("[]", "not a result of causalcontext"),
        ('{"format": "other"}', "not a result of causalcontext"),
        (
            '{"format": "causalcontext-result", "format_version": 99}',
            "99, .*; search the table again",
        ),
        ('{"format": "causalcontext-result", "format_version": 6}', "is damaged"),
        (b"\xff\xfe\x00", "not valid JSON"),
    ],
)
def test_other_files_are_refused(tmp_path, content, words):
    path = tmp_path / "r.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(cc.FileError, match=words):
        cc.load(path)


def test_an_infinite_statistic_comes_back(tmp_path):
    """Y has one value at each level of X, and so all the evidence that there can be."""
    levels = np.tile(["a", "b", "c"], 40)
    values = pd.DataFrame(
        {"X": levels, "Y": np.where(levels == "a", 1.0, 2.0), "R": np.repeat([0, 1], 60)}
    )
    result = cc.discover(values, "R", method="pc-m", max_given=0, keep=["X", "Y"])
    assert np.isinf(result.tests()["statistic"]).any()
    result.save(tmp_path / "r.json")
    assert cc.load(tmp_path / "r.json") == result


def test_pags_come_back_as_pags(tmp_path):
    result = soil_pags()
    result.save(tmp_path / "r.json")
    content = json.loads((tmp_path / "r.json").read_text())
    assert content["kind"] == "pag"
    assert {edge["mark"] for edge in content["graphs"]["dry"]} == {"-->", "o->", "<->", "o-o"}
    again = cc.load(tmp_path / "r.json")
    assert again == result
    assert {graph.kind for graph in (again.union, *again.graphs.values())} == {"pag"}


def test_a_damaged_log_is_refused(tmp_path):
    cc.discover(table((0, 1)), context="soil").save(tmp_path / "r.json")
    content = json.loads((tmp_path / "r.json").read_text())
    content["log"]["p"][0] = content["log"]["p"][0][:-1]
    (tmp_path / "r.json").write_text(json.dumps(content))
    with pytest.raises(cc.FileError, match="is damaged"):
        cc.load(tmp_path / "r.json")


@pytest.mark.parametrize("number", ["Infinity", "-1e999", "NaN"])
def test_infinities_are_refused_even_if_they_are_signed(tmp_path, number):
    cc.discover(table((0, 1)), context="soil").save(tmp_path / "r.json")
    content = json.loads((tmp_path / "r.json").read_text())
    content["settings"]["alpha"] = "HERE"
    text = json.dumps(content | {"checksum": checksum(content)}).replace('"HERE"', number)
    for signature in (checksum(json.loads(text)), naive_checksum(json.loads(text))):
        (tmp_path / "r.json").write_text(json.dumps(json.loads(text) | {"checksum": signature}))
        with pytest.raises(cc.FileError, match="infinite numbers"):
            cc.load(tmp_path / "r.json")


def naive_checksum(content):
    """A signature by somebody who lets JSON hold infinities."""
    body = {
        key: value
        for key, value in content.items()
        if key not in ("format", "format_version", "checksum")
    }
    return hashlib.sha256(
        json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
    ).hexdigest()


def test_nothing_is_written_where_there_is_no_folder(tmp_path):
    result = cc.discover(table((0, 1)), context="soil")
    with pytest.raises(cc.FileError):
        result.save(tmp_path / "none" / "r.json")
    assert list(tmp_path.iterdir()) == []

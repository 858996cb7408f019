"""A result file that is damaged is refused with one sentence; one that is taken can be used."""

from __future__ import annotations

import copy
import json
import pickle
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.report.payload import payload
from causalcontext.results.files import FORMAT, RESULT_FORMAT_VERSION, checksum
from marks import rest_slow
from pags import soil_pags

STRANGE = (
    None,
    True,
    -1,
    0,
    7,
    10**400,
    1e308,
    -1e308,
    "",
    "x",
    "-->",
    [],
    [[]],
    {},
    [0] * 9,
    {"a": 1},
    2**63,
    0.5,
)


def soil() -> pd.DataFrame:
    return cc.examples.soil_moisture(300, seed=2)


def months() -> pd.DataFrame:
    """Two columns and a context, whose rows follow each other."""
    draw = np.random.default_rng(3)
    x = np.convolve(draw.normal(size=122), [1.0, 0.7, 0.4], "valid")
    later = np.roll(x, 1)
    return pd.DataFrame(
        {"X": x, "Y": later + draw.normal(size=120), "R": np.where(later > 0, "wet", "dry")}
    )


RESULTS: dict[str, Callable[[], cc.ContextGraphs]] = {
    "pc-ac": lambda: cc.discover(soil(), "soil", method="pc-ac"),
    "no context": lambda: cc.discover(soil().drop(columns="soil")),
    "default": lambda: cc.discover(soil(), "soil"),
    "kinds": lambda: cc.discover(cc.examples.clinic(300, seed=0), "status"),
    "two contexts": lambda: cc.discover(
        soil().assign(season=["warm", "cold", "cold"] * 100),
        ["soil", "season"],
        method="pc-ac",
        max_given=1,
    ),
    "threshold": lambda: cc.discover(soil().drop(columns="soil"), cc.threshold("radiation", 0.0)),
    "score-ac": lambda: cc.discover(soil(), "soil", method="score-ac"),
    "pags": soil_pags,
    "lags": lambda: cc.discover(months(), "R", lags=1),
    "lags by tests": lambda: cc.discover(months(), "R", lags=1, method="pc-ac"),
}
"""One result of every kind."""


@cache
def result_of(kind: str) -> cc.ContextGraphs:
    return RESULTS[kind]()


def signed(content: dict[str, Any]) -> str:
    """The content as a file with the right checksum, whatever it is."""
    head = {
        "format": FORMAT,
        "format_version": RESULT_FORMAT_VERSION,
        "checksum": checksum(content),
    }
    return json.dumps({**content, **head})


def use(result: cc.ContextGraphs) -> None:
    """Look at everything that a loaded result can show."""
    str(result)
    (
        result.edges(),
        result.tests(),
        result.scores(),
        result.diagnose(),
        repr(result),
        result.knowledge_violations(),
    )
    for x in result.names[:3]:
        for y in result.names[1:]:
            if x != y:
                result.explain(x, y)
    if result.context is not None and result.moments is not None:
        result.labels(), result.changes(*result.contexts[:2])
    if isinstance(result, cc.LaggedGraphs):
        str(result.summary), result.reads, payload(result)


@pytest.mark.parametrize(
    ("kind", "place", "value"),
    [
        ("lags", ("series", "variables", 0), "Z"),
        ("lags", ("series", "lags"), 10**9),
        ("lags by tests", ("series", "copies", 1), 2**63),
        ("lags by tests", ("series", "depth"), 10**9),
        ("lags", ("series", "slopes", 0, 4), "x"),
        ("pc-ac", ("data", "kinds", 1), "x"),
        ("score-ac", ("evidence", "score"), "x"),
        ("score-ac", ("notes_about",), [[99, "residuals", ""]]),
        ("score-ac", ("notes_about",), [[0, "residuals", "other words"]]),
        ("score-ac", ("warnings_about",), [[99, "residuals", ""]]),
    ],
)
def test_damage_that_was_found_where_it_was_used(
    kind: str, place: tuple[Any, ...], value: Any, tmp_path: Path
) -> None:
    result_of(kind).save(tmp_path / "r.json")
    content = json.loads((tmp_path / "r.json").read_text()) | {"notes": ["a note"]}
    inner = content
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    (tmp_path / "r.json").write_text(signed(content))
    with pytest.raises(cc.FileError, match=place[0]):
        cc.load(tmp_path / "r.json")


def places(content: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of the content."""
    inner = (
        content.items()
        if isinstance(content, dict)
        else enumerate(content)
        if isinstance(content, list)
        else ()
    )
    return [place for key, value in inner for place in [(*path, key), *places(value, (*path, key))]]


def damaged(content: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    """The content with one to three places that are something else, or gone, or doubled."""
    broken = copy.deepcopy(content)
    for _ in range(draw.randint(1, 3)):
        *path, last = draw.choice(places(broken) or [("names",)])
        inner: Any = broken
        for key in path:
            inner = inner[key]
        action = draw.choice(("replace", "replace", "remove", "double"))
        if action == "replace":
            inner[last] = draw.choice(STRANGE)
        elif action == "remove":
            del inner[last]
        elif isinstance(inner, list):
            inner.append(inner[last])
    return broken


@pytest.mark.parametrize("kind", RESULTS)
def test_a_result_that_is_loaded_can_be_used(kind: str, tmp_path: Path) -> None:
    result_of(kind).save(tmp_path / "r.json")
    again = cc.load(tmp_path / "r.json")
    assert again == result_of(kind)
    use(again)


@pytest.mark.parametrize("files", rest_slow([8, 60]))
@pytest.mark.parametrize("kind", RESULTS)
def test_damage_behind_a_right_checksum(kind: str, files: int, tmp_path: Path) -> None:
    """Someone may have written the file by hand: what is taken must still work."""
    result_of(kind).save(tmp_path / "r.json")
    content, draw = json.loads((tmp_path / "r.json").read_text()), random.Random(kind)
    for _ in range(files):
        (tmp_path / "d.json").write_text(signed(damaged(content, draw)))
        try:
            result = cc.load(tmp_path / "d.json")
        except cc.FileError:
            continue
        use(result)


def test_bytes_that_changed_are_noticed(tmp_path: Path) -> None:
    result_of("pc-ac").save(tmp_path / "r.json")
    whole, draw, noticed = (tmp_path / "r.json").read_bytes(), random.Random(0), 0
    while noticed < 40:
        place = draw.randrange(len(whole) - 1)
        damaged = (
            whole[:place] + bytes([whole[place] ^ 1 << draw.randrange(7)]) + whole[place + 1 :]
        )
        if damaged.lower() == whole.lower() and json.loads(damaged) == json.loads(
            whole
        ):  # 1E-5 is 1e-5
            continue
        (tmp_path / "d.json").write_bytes(damaged)
        with pytest.raises(cc.FileError):
            cc.load(tmp_path / "d.json")
        noticed += 1
    for length in (0, 1, len(whole) // 2, len(whole) - 3):
        (tmp_path / "d.json").write_bytes(whole[:length])
        with pytest.raises(cc.FileError):
            cc.load(tmp_path / "d.json")


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "9" * 10_000, '{"format": "causalcontext-result", "a": ' + "[" * 900, "NaN"],
)
def test_json_that_is_too_much(text: str, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(cc.FileError):
        cc.load(tmp_path / "r.json")


def test_the_layout_of_the_text_does_not_matter(tmp_path: Path) -> None:
    result_of("pc-ac").save(tmp_path / "r.json")
    content = json.loads((tmp_path / "r.json").read_text())
    (tmp_path / "r.json").write_text(json.dumps(dict(reversed(content.items())), indent=2))
    assert cc.load(tmp_path / "r.json") == result_of("pc-ac")


@pytest.mark.parametrize("kind", RESULTS)
def test_results_can_be_pickled_and_copied(kind: str) -> None:
    result = result_of(kind)
    for again in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result), copy.copy(result)):
        assert again == result
        x, y = result.names[:2]
        assert again.explain(x, y) == result.explain(x, y)
        assert str(again.diagnose()) == str(result.diagnose())
        with pytest.raises(TypeError):
            again.graphs["new"] = None  # type: ignore[index]


@pytest.mark.parametrize("test", ["cmi-knn", "tsagris", "gaussian-ranks", "partial-correlation"])
def test_with_any_test_and_missing_values(test: str) -> None:
    table = cc.examples.soil_moisture(120, seed=2)
    table.loc[:5, "runoff"] = float("nan")
    result = cc.discover(table, "soil", method="pc-ac", test=test, missing="testwise", max_given=1)
    assert pickle.loads(pickle.dumps(result)) == result

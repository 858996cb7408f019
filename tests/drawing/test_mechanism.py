"""`plot_mechanism`: curves by cause and context, and the same curves in the report."""

import json

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.drawing.strokes import contexts_title
from causalcontext.report.payload import payload
from causalcontext.results.equations import causes_of, partial_curves


@pytest.fixture(scope="module")
def table():
    generator = np.random.default_rng(1)
    code = generator.integers(2, size=600)
    x = generator.normal(size=600) + 5.0
    y = (x - 5.0) ** 2 + 0.5 * generator.normal(size=600)
    z = np.where(code == 0, 2.0, -1.0) * y + generator.normal(size=600)
    kind = np.where(z + 0.8 * generator.logistic(size=600) > 1.0, "late", "early")
    return pd.DataFrame({"X": x, "Y": y, "Z": z, "K": kind, "R": np.array(["dry", "wet"])[code]})


@pytest.fixture(scope="module")
def result(table):
    return cc.discover(table, "R", method="score-ac")


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def test_curves_are_those_of_the_model(result):
    (curve,) = partial_curves(result, "Y")
    assert (curve.cause, curve.contexts, curve.level) == ("X", (0, 1), None)
    at = np.array(curve.at)
    assert curve.values == pytest.approx((at - 5.0) ** 2, abs=0.4)
    dry, wet = partial_curves(result, "Z")
    for curve, slope in ((dry, 2.0), (wet, -1.0)):
        found = np.diff(curve.values) / np.diff(curve.at)
        assert found == pytest.approx(slope, abs=0.2)
    (late,) = partial_curves(result, "K")
    assert late.level == "late"
    assert (np.diff(late.values) > 0).all()
    assert causes_of(result, "X") == ()


def test_one_panel_a_cause_and_one_line_a_context(result, table, tmp_path):
    (axes,) = result.plot_mechanism("Z", path=tmp_path / "z.png")
    assert [line.get_label() for line in axes.lines] == ["R = dry", "R = wet"]
    assert axes.get_xlabel() == "Y"
    assert (tmp_path / "z.png").stat().st_size > 1000
    (axes,) = result.plot_mechanism("Y", table)
    assert len(axes.lines) == 3
    dots = np.concatenate([line.get_ydata() for line in axes.lines[1:]])
    assert np.sort(dots) == pytest.approx(np.sort(table["Y"]), abs=1e-6)
    (axes,) = result.plot_mechanism("K", table)
    assert axes.get_ylabel() == "probability of K"
    own = plt.figure().add_subplot()
    assert result.plot_mechanism("K", axes=own) == (own,)


def test_what_cannot_be_drawn_is_said(result, table):
    with pytest.raises(cc.OptionError, match="'X' has no causes"):
        result.plot_mechanism("X")
    with pytest.raises(cc.OptionError, match="there is no variable 'W'"):
        result.plot_mechanism("W")
    with pytest.raises(cc.DataError, match="has no column 'X'"):
        result.plot_mechanism("Y", table.drop(columns="X"))
    with pytest.raises(cc.OptionError, match="got 2 axes for 1 causes"):
        result.plot_mechanism("Y", axes=plt.subplots(1, 2)[1])
    with pytest.raises(cc.OptionError, match="a result of pc-ac has no mechanisms"):
        cc.discover(table[["X", "Y", "R"]], "R", method="pc-ac").plot_mechanism("Y")


def test_the_report_has_the_curves(result, table):
    found = json.loads(json.dumps(payload(result)))["curves"]
    place = {name: str(result.names.index(name)) for name in result.names}
    assert set(found) == {f"{place[a]},{place[b]}" for a, b in (("X", "Y"), ("Y", "Z"), ("Z", "K"))}
    entry = found[f"{place['Y']},{place['Z']}"]
    assert [line["contexts"] for line in entry["lines"]] == [[0], [1]]
    assert len(entry["at"]) == len(entry["lines"][0]["values"])
    assert payload(cc.discover(table[["X", "Y", "R"]], "R", method="pc-ac"))["curves"] == {}


def test_lines_of_several_contexts_are_named_by_what_they_have_in_common():
    table = cc.examples.flux_tower(20, seed=1)[["daylight", "Rg", "VPD", "GPP"]]
    known = cc.Knowledge(roots=["daylight"], tiers=[["Rg"], ["VPD"], ["GPP"]])
    result = cc.discover(
        table, context=["daylight", cc.threshold("VPD", 1.0)], lags=1, knowledge=known
    )
    moist_day, dry_day, moist_night, dry_night = result.contexts
    assert contexts_title(result, [moist_day, moist_night]) == "VPD <= 1"
    assert contexts_title(result, [moist_night, dry_night]) == "daylight = night"
    assert contexts_title(result, [dry_day]) == "daylight = day, VPD > 1"
    assert (
        contexts_title(result, [moist_day, dry_night])
        == "daylight = day, VPD <= 1 | daylight = night, VPD > 1"
    )
    (axes,) = (axes for axes in result.plot_mechanism("GPP") if axes.get_xlabel() == "Rg")
    looks = [(line.get_color(), line.get_linestyle()) for line in axes.lines]
    assert len(set(looks)) == len(looks) > 1


def test_rows_of_several_contexts_are_drawn_where_all_of_them_have_their_values():
    random = np.random.default_rng(4)
    x, r, s = random.normal(size=400), random.integers(2, size=400), random.integers(2, size=400)
    y = np.where(r == 1, 1.0, -1.0) * x + 0.5 * random.normal(size=400)
    rows = pd.DataFrame({"X": x, "Y": y, "R": r, "S": s})
    result = cc.discover(rows, ["R", "S"], method="score-ac", curves="never", transform="none")
    effect, cause = ("Y", "X") if result.graphs[0, 0].mark("X", "Y") != "<--" else ("X", "Y")
    (axes,) = result.plot_mechanism(effect, rows)
    dots = np.concatenate([line.get_ydata() for line in axes.lines if line.get_marker() == "."])
    assert (axes.get_xlabel(), len(dots)) == (cause, 400)
    made = cc.discover(rows[["X", "Y", "R"]], cc.threshold("R", 0.5), method="score-ac")
    effect = next(name for name in ("Y", "X") if causes_of(made, name))
    with pytest.raises(
        cc.CausalContextError,
        match="made out of a column; to draw rows, pass a table with a column",
    ):
        made.plot_mechanism(effect, rows)

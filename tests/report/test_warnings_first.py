"""What a reader must know before believing a graph comes before it: in print, in the report and in
notebooks.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.report.html import page
from causalcontext.report.text import CAREFUL, MADE
from causalcontext.results.notes import About, ResultNote, about


@pytest.fixture(scope="module")
def bent() -> pd.DataFrame:
    """A table whose curves contradict the straight lines of pc-ac."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=600)
    y = 2.0 * np.sin(2.0 * x) + 0.4 * rng.normal(size=600)
    return pd.DataFrame(
        {"X": x, "Y": y, "Z": y + rng.normal(size=600), "R": rng.integers(0, 2, 600)}
    )


def test_warnings_of_model_checks_are_in_the_result_of_the_default(bent: pd.DataFrame) -> None:
    result = cc.discover(bent, "R", method="pc-ac", test="partial-correlation")
    assert result.warnings == result.cautions == ()
    result.diagnose()
    assert any("not straight lines" in warning for warning in result.cautions)
    few = cc.discover(bent.head(50), "R")
    assert few.settings.method == "pc-ac"
    assert any(warning.startswith("searched by tests") for warning in few.warnings)
    assert few.cautions == few.warnings


def test_warnings_come_before_graphs_and_notes_after_them(bent: pd.DataFrame) -> None:
    result = cc.discover(bent, "R", method="pc-ac")
    result = replace(result, notes=("read from a file",))
    assert "not asked: model checks, hidden common causes and support" in str(result)
    result.diagnose()
    text = str(result)
    assert text.count("WARNING: ") == len(result.cautions) > 0
    places = [
        text.index(part)
        for part in (CAREFUL, "WARNING: ", "labeled union", MADE, "note: read from a file")
    ]
    assert places == sorted(places)
    html = result._repr_html_()
    assert html.index("not straight lines") < html.index("<table>")
    whole = page(result)
    assert (
        whole.index("not straight lines")
        < whole.index("What differs between the contexts?")
        < whole.index('id="stage"')
    )
    assert whole.index('id="stage"') < whole.index(MADE)


def test_without_warnings_there_is_no_title_for_them() -> None:
    result = cc.discover(cc.examples.soil_moisture(600, seed=1), "soil")
    assert result.warnings == result.cautions == ()
    assert CAREFUL not in str(result)
    assert "WARNING" not in str(result)


def test_what_warnings_are_about_is_kept_in_files(tmp_path) -> None:
    result = cc.discover(cc.examples.soil_moisture(200, seed=1), "soil")
    told = replace(
        result, warnings=("a sentence", ResultNote("cut", About.CUT, "wait")), complete=False
    )
    told.save(tmp_path / "result.json")
    loaded = cc.load(tmp_path / "result.json")
    assert loaded.warnings == told.warnings
    assert [about(warning) for warning in loaded.warnings] == [About.SEARCH, About.CUT]
    assert loaded.final


def test_names_in_warnings_are_text() -> None:
    result = cc.discover(cc.examples.soil_moisture(200, seed=1), "soil")
    told = replace(result, warnings=("<b>rain</b> is odd",))
    assert "<b>" not in told._repr_html_()
    assert "<b>rain" not in page(told)

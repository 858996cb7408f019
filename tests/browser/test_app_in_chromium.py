"""The whole loop of the app in Chromium: by pointer, by keys alone, wide and narrow, light and
dark.
"""

import json
import signal

import numpy as np
import pandas as pd
import pytest
from app_page import AppPage, serving

import causalcontext as cc
import hostile

SOIL_ROWS = 1000


@pytest.fixture
def soil(tmp_path):
    cc.examples.soil_moisture(SOIL_ROWS, seed=1).to_csv(tmp_path / "soil.csv", index=False)
    return tmp_path / "soil.csv"


def test_the_loop_on_the_soil_table(driver, soil):
    """Open, ask, run, forbid an arrow in the picture, run again, compare, take away; then the
    server is killed.
    """
    with serving(soil, folder=soil.parent) as (address, server):
        page = AppPage(driver, address)
        page.says("#panel-table", "Ready: a search takes this table.")
        assert page.text("#table-name") == "soil.csv"
        assert page.run("return document.querySelectorAll('.column .histogram').length") == 7
        page.tab("question")
        page.choose("#add-context", "soil")
        page.says("#panel-question", "Rows by context: dry")
        page.run("document.querySelector('input[name=method][value=pc-ac]').click()")
        page.wait("return document.querySelector('input[name=method][value=pc-ac]').checked")
        page.search(1)
        assert page.report("#title") == "soil.csv, run 1"
        page.pick("precipitation", "soil")
        page.press("no link between precipitation and soil", "#pair")
        page.says("#pair", "Said: no link between precipitation and soil")
        page.press("Run again", "#pair")
        page.answered(2)
        page.choose("#compare-with", "run 1")
        page.says("#comparison", "From run 1 to run 2")
        page.says("#comparison", "precipitation --> soil")
        page.press("Check stability", "#runs")
        page.says("#runs", "Stability is in the report")
        page.answered(2)
        page.wait(
            "return"
            " document.querySelector('iframe').contentDocument.body.textContent.includes('bootstrap')"
        )
        page.run("document.querySelector('.take-away').open = true")
        page.press("Show as Python")
        page.says("#script", "cc.discover(")
        page.press("Show as command")
        page.says("#script", "causalcontext discover")
        assert page.complaints() == []
        server.send_signal(signal.SIGKILL)
        server.wait()
    kept = json.loads((soil.parent / "soil.csv.causalcontext.json").read_text())
    assert [run["state"] for run in kept["runs"]] == ["complete", "complete"]
    with serving(soil, folder=soil.parent) as (address, _):
        page = AppPage(driver, address)
        page.tab("knowledge")
        page.says("#panel-knowledge", "no link between precipitation and soil")
        page.tab("answer")
        page.answered(2)
        page.run("document.querySelector('[data-run=\"1\"]').click()")
        page.answered(1)
        assert page.complaints() == []


def test_a_mixed_table_with_missing_cells(driver, tmp_path):
    table = cc.examples.soil_moisture(SOIL_ROWS, seed=1)
    table["level"] = np.digitize(table["temperature"], [-1, 0, 1])
    table["place"] = np.where(table["radiation"] > 0, "north", "south")
    table.loc[::25, "humidity"] = np.nan
    table.to_csv(tmp_path / "mixed.csv", index=False)
    with serving(tmp_path / "mixed.csv", folder=tmp_path) as (address, _):
        page = AppPage(driver, address)
        page.says("#panel-table", "A search refuses this")
        page.says("#panel-table", "missing values in humidity")
        page.says("#panel-table", "4 % missing")
        page.press("Drop rows with missing values", "#panel-table")
        page.says("#panel-table", "Ready: a search takes this table.")
        page.choose("[aria-label='kind of level']", "ordered")
        page.wait(
            "return document.querySelector(\"[aria-label='kind of level']\").value === 'ordered'"
        )
        page.tab("question")
        page.choose("#add-context", "soil")
        page.says("#panel-question", "Rows by context")
        page.choose("#add-context", "radiation")
        page.wait("return document.querySelector('.cut-slider') !== null")
        page.press("Remove the context radiation")
        page.wait("return document.querySelector('.cut-slider') === null")
        page.run("document.querySelector('input[name=method][value=pc-ac]').click()")
        page.search(1)
        assert "960" in page.report("#summary")
        assert page.complaints() == []


def test_a_series_with_lags(driver, tmp_path):
    table = cc.examples.land_surface(500, seed=1)
    table.insert(0, "day", pd.date_range("2020-01-01", periods=len(table)).astype(str))
    table.to_csv(tmp_path / "days.csv", index=False)
    with serving(tmp_path / "days.csv", folder=tmp_path) as (address, _):
        page = AppPage(driver, address)
        page.tab("question")
        page.choose("#add-context", "regime")
        page.says("#panel-question .contexts", "regime")
        page.run("""[...document.querySelectorAll('#panel-question label')]
            .find((one) => one.textContent.includes('Rows follow')).click()""")
        page.wait("return document.querySelector('#panel-question input[type=number]') !== null")
        page.run("""const menu = [...document.querySelectorAll('#panel-question label')]
            .find((one) => one.textContent.includes('orders the rows')).querySelector('select');
            menu.value = 'day'; menu.dispatchEvent(new Event('change'))""")
        page.says("#panel-question", "Ready: a search takes this table.")
        assert not page.run("return document.querySelector('input[value=fci-ac]').disabled")
        page.search(1)
        assert "lags" in page.report("#summary")
        page.pick("rain(t-1)", "rain")
        page.says("#pair", "rain(t-1) causes rain")
        page.press("rain(t-1) does not cause rain", "#pair")
        page.says("#pair", "Said: rain(t-1) does not cause rain")
        assert page.complaints() == []


def test_keys_alone(driver, soil):
    """Tab, arrows, Space and Enter: choose a context and a threshold, order variables, run, and
    read.
    """
    with serving(soil, folder=soil.parent) as (address, _):
        page = AppPage(driver, address)
        page.says("#panel-table", "Ready")
        page.key("\ue004")
        assert page.focused() == "Skip to the content"
        page.walk_to("Table")
        page.key("\ue014")
        assert page.focused() == "Question"
        page.run("document.querySelector('#add-context').focus()")
        page.key("rad")
        page.wait("return document.querySelector('.cut-slider') !== null")
        page.walk_to("Remove the context radiation")
        page.walk_to("threshold of radiation")
        before = float(
            page.run("return document.querySelector('.cut-slider input[type=number]').value")
        )
        page.key("\ue014", "\ue014")
        page.wait(
            "return Number(document.querySelector('.cut-slider input[type=number]').value) >"
            " arguments[0]",
            before,
        )
        assert page.focused() == "threshold of radiation"
        page.run("document.querySelector('#tab-question').focus()")
        page.key("\ue014")
        page.walk_to("precipitation, in no tier")
        page.key("\ue015")
        page.wait("return document.activeElement.ariaLabel.startsWith('precipitation, tier 1')")
        page.key("\ue015")
        page.wait("return document.activeElement.ariaLabel.startsWith('precipitation, tier 2')")
        page.says("#status", "precipitation is in tier 2")
        page.run("document.querySelector('#run').focus()")
        page.key("\n")
        page.answered(1)
        assert page.complaints() == []


def test_contradictions_are_said_at_once(driver, soil):
    with serving(soil, folder=soil.parent) as (address, _):
        page = AppPage(driver, address)
        page.tab("knowledge")
        page.press("Add", "#panel-knowledge")  # precipitation causes radiation
        page.says("#panel-knowledge .said", "precipitation causes radiation")
        page.run("const menu = document.getElementById('known-relation'); menu.value = 'direction'")
        page.press("Add", "#panel-knowledge")
        page.says("#said", "the link precipitation --> radiation is both required and forbidden")
        assert "does not cause" not in page.text("#panel-knowledge .said")
        page.press("Undo: precipitation causes radiation")
        page.says("#panel-knowledge", "Nothing yet")
        page.driver.execute_script(
            """const data = new DataTransfer(), at = (type, one) => one.dispatchEvent(
            new DragEvent(type, {bubbles: true, cancelable: true, dataTransfer: data}));
            at("dragstart", document.querySelector('[data-variable="soil"]'));
            at("drop", document.querySelector('[data-tier="1"]'))"""
        )
        page.says("#panel-knowledge .said", "soil is in tier 2")


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (400, False), (400, True)])
def test_nothing_is_cut_off_and_everything_has_a_name(driver, soil, width, dark):
    with serving(soil, folder=soil.parent) as (address, _):
        page = AppPage(driver, address, width, dark=dark)
        assert page.run("return document.documentElement.dataset.theme") == (
            "dark" if dark else "light"
        )
        page.says("#panel-table", "Ready")
        page.tab("question")
        page.choose("#add-context", "radiation")
        page.wait("return document.querySelector('.cut-slider') !== null")
        page.run("document.querySelector('details.more').open = true")
        for tab in ("table", "question", "knowledge"):
            page.tab(tab)
            assert page.cut_off() == (False, [])
            assert page.unlabelled() == []
        page.search(1)
        page.pick("precipitation", "soil")
        assert page.cut_off() == (False, [])
        assert page.unlabelled() == []
        theme = (
            "return document.querySelector('iframe').contentDocument.documentElement.dataset.theme"
        )
        assert page.run(theme) == ("dark" if dark else "light")
        assert page.complaints() == []


def test_names_are_shown_as_themselves(driver, tmp_path):
    hostile.table().to_csv(tmp_path / "hostile.csv", index=False)
    with serving(tmp_path / "hostile.csv", folder=tmp_path) as (address, _):
        page = AppPage(driver, address)
        page.says("#panel-table", "What the library says")
        for tab in ("table", "question", "knowledge"):
            page.tab(tab)
            assert page.run("return window.hacked") is None
            assert (
                page.run("return document.querySelectorAll('main script, main b, main img').length")
                == 0
            )
        page.choose("#panel-knowledge #known-first", hostile.NAMES[0])
        assert page.complaints() == []


def test_an_upload_and_a_bad_file(driver, tmp_path):
    (tmp_path / "bad.csv").write_text("A,A\n1,2\n")
    cc.examples.soil_moisture(200, seed=1).to_csv(tmp_path / "good.csv", index=False)
    with serving(folder=tmp_path) as (address, _):
        page = AppPage(driver, address)
        page.find("#file").send_keys(str(tmp_path / "bad.csv"))
        page.says("#said", "bad.csv has several columns called 'A'")
        page.find("#file").send_keys(str(tmp_path / "good.csv"))
        page.says("#table-name", "good.csv")
        page.says("#panel-table", "Ready")
        assert sorted(file.name for file in tmp_path.iterdir()) == ["bad.csv", "good.csv"]

"""Tables as newcomers have them, from nothing to an answer on the command line: a spreadsheet with
semicolons and decimal commas, text with units, totals.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

import causalcontext as cc
from causalcontext.cli.app import app

SHOP = ("shop.csv", "--context", "offer", "--decimal", ",")


def run(*words: str) -> Result:
    return CliRunner().invoke(app, list(words), env={"COLUMNS": "300"})


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def shop() -> pd.DataFrame:
    """Sales that follow the temperature more steeply while there is an offer, which follows the
    temperature, too.
    """
    random = np.random.default_rng(5)
    warm = random.normal(15, 8, 400).round(1)
    offer = random.standard_normal(400) + (warm - 15) / 8 > 0
    price = random.normal(3, 0.5, 400).round(2)
    sales = 50 - 6 * price + np.where(offer, 1.2, 0.3) * warm + random.normal(0, 3, 400)
    table = pd.DataFrame(
        {
            "warm": warm,
            "price": price,
            "offer": np.where(offer, "yes", "no"),
            "sales": sales.round(1),
        }
    )
    table.to_csv("shop.csv", index=False, sep=";", decimal=",")
    return table


@pytest.mark.usefixtures("shop")
def test_a_spreadsheet_with_semicolons_and_decimal_commas() -> None:
    refused = run("check", *SHOP[:3])
    assert refused.exit_code == 1
    assert "pass --decimal , to read them" in refused.stdout
    found = run("discover", *SHOP, "--json", "shop.json")
    assert found.exit_code == 0, found.stderr
    assert "warm --> sales" in found.stdout
    assert "price --> sales" in found.stdout


def test_a_reason_does_not_deny_what_the_effects_say(shop: pd.DataFrame) -> None:
    """The slopes differ by any look at them; what is in doubt is the direction."""
    result = cc.discover(shop, "offer")
    changes = result.changes("yes", "no").set_index(["source", "target", "kind"])
    row = changes.loc[("warm", "sales", "slope")]
    effect = result.effects("warm", "sales").iloc[-1]
    assert effect["p"] < 0.05
    assert not row["claimed"]
    assert row["reason"].startswith("the slopes differ given the causes in these graphs")
    result.save("shop.json")
    shown = run("changes", "shop.json", "yes", "no")
    assert "nan" not in shown.stdout


def test_check_refuses_what_discover_refuses(folder: Path) -> None:
    """Text of many numbers with a unit, which is no category of many levels."""
    random = np.random.default_rng(0)
    load = random.normal(10, 3, 300)
    table = pd.DataFrame(
        {
            "load": [f"{number:.2f} kW" for number in load],
            "mode": np.where(load > 10, "high", "low"),
            "heat": load + random.standard_normal(300),
            "row number": range(300),
        }
    )
    table.to_csv(folder / "plant.csv", index=False)
    checked = run("check", "plant.csv", "--context", "mode")
    searched = run("discover", "plant.csv", "--context", "mode")
    assert searched.exit_code == 2
    assert checked.exit_code == 1
    sentence = searched.stderr.removeprefix("error: ").strip()
    assert sentence in checked.stdout
    assert "levels, and no" not in checked.stdout
    assert "--keep 'row number'" in checked.stdout
    assert run("check", "plant.csv", "--context", "mode", "--convert").exit_code == 0

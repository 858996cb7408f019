"""Values of the context with too few rows: every other answer is that of the table without these
rows.
"""

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.data.tables import read_table
from causalcontext.screening.thin_levels import is_thin, thin_levels
from questions import model_checks

METHODS = ("auto", "pc-ac", "pc-m", "pc-p", "pc-b", "fci-ac", "score-ac")


def wet_and_dry(rows=400, seed=1):
    """X is a cause of the context, which changes what it does to Y; Y --> Z."""
    random = np.random.default_rng(seed)
    x = random.standard_normal(rows)
    context = np.where(x + random.standard_normal(rows) > 0, "wet", "dry").astype(object)
    y = np.where(context == "wet", 1.5, 0.0) * x + random.standard_normal(rows)
    return pd.DataFrame({"X": x, "R": context, "Y": y, "Z": y + random.standard_normal(rows)})


def with_other(table, rows=5, seed=2):
    places = np.random.default_rng(seed).choice(len(table), rows, replace=False)
    changed = table.copy()
    changed.loc[places, "R"] = "other"
    return changed


def flagged(rows=5):
    """A context of two values, one of a few rows, that is related to nothing."""
    table = with_other(wet_and_dry(), rows)
    flag = np.where(table["R"] == "other", "yes", "no")
    return table.drop(columns="R").assign(flag=flag)[["X", "flag", "Y", "Z"]]


@pytest.fixture(scope="module")
def rare():
    return cc.discover(with_other(wet_and_dry()), context="R")


@pytest.fixture(scope="module")
def alone():
    return cc.discover(flagged(), context="flag")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rows", [3, 8, 15])
def test_all_other_answers_are_those_of_the_table_without_these_rows(method, rows):
    table = with_other(wet_and_dry(), rows)
    found = cc.discover(table, context="R", method=method)
    without = cc.discover(table[table["R"] != "other"], context="R", method=method)
    assert found.contexts == ("dry", "other", "wet")
    for value in without.contexts:
        assert found.graphs[value] == without.graphs[value]
    assert found.graphs["other"] == without.union
    pd.testing.assert_frame_equal(found.edges(), without.edges())
    pd.testing.assert_frame_equal(found.tests(), without.tests())
    pd.testing.assert_frame_equal(found.labels(), without.labels())
    assert found.labeled_union == without.labeled_union
    assert found.warnings == (
        (
            f"R = 'other' has {rows} rows, too few to say anything: left out of the search; its "
            "graph is the pooled one"
        ),
        *without.warnings,
    )
    assert found.data == without.data


def test_claims_and_effects_are_those_of_the_table_without_these_rows(rare):
    table = with_other(wet_and_dry())
    without = cc.discover(table[table["R"] != "other"], context="R")
    pd.testing.assert_frame_equal(rare.changes("dry", "wet"), without.changes("dry", "wet"))
    pd.testing.assert_frame_equal(rare.effects("X", "Y"), without.effects("X", "Y"))
    pd.testing.assert_frame_equal(rare.mechanisms(), without.mechanisms())
    assert model_checks(rare) == model_checks(without)


def test_a_table_of_any_kind_is_read_as_if_these_rows_were_not_there():
    table = with_other(wet_and_dry()).assign(
        R=lambda one: one["R"].map({"dry": 0, "wet": 1, "other": 7})
    )
    kept = table[table["R"] != 7]
    for some, rest, more in (
        (table.to_numpy(dtype=float), kept.to_numpy(dtype=float), {"names": list(table.columns)}),
        (table.to_dict("list"), kept.to_dict("list"), {}),
        (table.astype({"R": "category"}), kept.astype({"R": "category"}), {}),
    ):
        found, without = (
            cc.discover(some, context="R", **more),
            cc.discover(rest, context="R", **more),
        )
        assert found.thin.rows == ((7, 5),)
        assert found.searched.contexts == without.contexts
        assert found.data == without.data


def test_the_level_is_marked_wherever_it_is_shown(rare, tmp_path):
    assert rare.thin.rows == (("other", 5),)
    assert "R = other (5 rows: pooled graph, the union below)" in str(rare)
    assert "in other: not searched, 5 rows are too few to say anything" in rare.explain("X", "Y")
    titles = [axes.get_title() or axes.texts[0].get_text() for axes in rare.plot()]
    assert len(titles) == 3
    rare.report(tmp_path / "report.html")
    assert "Contexts with too few rows" in (tmp_path / "report.html").read_text()


def test_nothing_is_compared_with_it(rare):
    for first, second in (("wet", "other"), ("other", "dry")):
        found = rare.changes(first, second)
        assert found.empty
        assert (
            found.attrs["reason"]
            == "context 'other' has 5 rows, too few to compare it with another"
        )
    with pytest.raises(cc.OptionError, match="nothing to compare"):
        rare.plot("difference", contexts=["wet", "other"])


@pytest.mark.parametrize("kept", [False, True])
def test_a_file_keeps_all_of_it(rare, alone, tmp_path, kept):
    for result in (rare, alone):
        result.save(tmp_path / "result.json", rows=kept)
        again = cc.load(tmp_path / "result.json")
        assert again == result
        assert (again.contexts, again.names, dict(again.graphs)) == (
            result.contexts,
            result.names,
            dict(result.graphs),
        )
        assert again.explain("X", "Y") == result.explain("X", "Y") or not kept
        assert str(again) == str(result)


def test_a_context_with_one_value_left_is_no_context(alone):
    table = flagged()
    without = cc.discover(table[table["flag"] == "no"].drop(columns="flag"))
    assert alone.contexts == ("no", "yes")
    assert alone.names == ("X", "flag", "Y", "Z")
    assert alone.context == "flag"
    for value in alone.contexts:
        assert [*alone.graphs[value].edges] == [*without.graphs["all"].edges]
        assert not any(alone.graphs[value].mark("flag", name) for name in "XYZ")
    assert "'yes' has 5 rows" in alone.warnings[0]
    assert "its links are untested" in alone.warnings[0]
    assert "flag and X: untested" in alone.explain("flag", "X")
    assert alone.changes("no", "yes").empty
    assert alone.labels().empty
    for ask in (
        alone.edges,
        alone.tests,
        alone.mechanisms,
        alone.effects,
        alone.diagnose,
        alone.probabilities,
        repr,
    ):
        assert ask(alone) if ask is repr else ask() is not None


def test_knowledge_about_it_is_no_error():
    known = cc.Knowledge(required=[("flag", "Y")], tiers=[["X"], ["Z"]], roots=["flag"])
    found = cc.discover(
        flagged(), context="flag", method="pc-ac", knowledge=known, kinds={"flag": "categorical"}
    )
    assert found.graphs["no"].mark("flag", "Y") == ""
    assert found.settings.knowledge == cc.Knowledge(tiers=[["X"], ["Z"]])


def test_combinations_of_values_are_counted():
    random = np.random.default_rng(5)
    table = wet_and_dry().assign(S=lambda one: random.choice(["a", "b"], len(one)))
    rare = (table["R"] == "wet") & (table["S"] == "b")
    table = table[~rare | (rare.cumsum() <= 4)]
    found = cc.discover(table, context=["R", "S"], method="pc-ac")
    assert found.thin.rows == ((("wet", "b"), 4),)
    assert len(found.contexts) == 4
    kept = table[~((table["R"] == "wet") & (table["S"] == "b"))]
    without = cc.discover(kept, context=["R", "S"], method="pc-ac")
    assert {value: found.graphs[value] for value in without.contexts} == dict(without.graphs)


def test_complete_rows_are_counted_where_others_are_dropped():
    table = with_other(wet_and_dry(), 40)
    few = table.index[table["R"] == "other"][4:]
    table.loc[few, "Y"] = np.nan
    assert thin_levels(read_table(table, "R")) is None
    assert thin_levels(read_table(table, "R"), "listwise").rows == (("other", 4),)
    found = cc.discover(table, context="R", method="pc-ac", missing="listwise")
    assert found.thin.rows == (("other", 4),)


def test_a_scan_leaves_them_out_as_well(tmp_path):
    table = with_other(wet_and_dry(2000))
    table.to_csv(tmp_path / "all.csv", index=False)
    table[table["R"] != "other"].to_csv(tmp_path / "some.csv", index=False)
    for sample in (500, 5000):
        found, without = (
            cc.discover(
                cc.scan(tmp_path / name, context="R", sample=sample),
                method="pc-ac",
                test="partial-correlation",
                sample=sample,
            )
            for name in ("all.csv", "some.csv")
        )
        assert found.thin.rows == (("other", 5),)
        assert found.contexts == ("dry", "other", "wet")
        assert found.data.rows == without.data.rows
        assert {value: found.graphs[value] for value in without.contexts} == dict(without.graphs)
        assert "'other' has 5 rows" in found.warnings[0]


@pytest.mark.parametrize(
    "rows", [(30, 30), (22, 8), (8, 8), (12, 48), (4, 4, 4), (9,) * 50, (500, 30, 480)]
)
def test_small_and_even_tables_keep_their_contexts(rows):
    assert not is_thin(np.array(rows)).any()


@pytest.mark.parametrize("rows", [(500, 3), (480, 24, 500), (60, 60, 5), (5000, 5000, 8, 1)])
def test_a_level_beside_much_larger_ones_is_thin(rows):
    assert np.flatnonzero(is_thin(np.array(rows))).tolist() == [
        place for place, n in enumerate(rows) if n < 25
    ]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_noise_has_no_link_to_a_context_with_a_rare_level(method):
    links = 0
    for seed in range(10):
        random = np.random.default_rng(seed)
        table = pd.DataFrame(random.standard_normal((5000, 6)), columns=list("ABCDEF"))
        values = np.where(random.random(5000) < 0.5, "dry", "wet").astype(object)
        values[random.choice(5000, 4, replace=False)] = "other"
        found = cc.discover(table.assign(R=values), context="R", method=method)
        assert found.warnings
        links += sum("R" in edge[:2] for edge in found.union.edges)
    assert (
        links <= 10
    )  # of 60 pairs, tested at 5 %: 3 are expected, more than 10 in one run of 10,000


def test_what_is_said_of_the_rows_and_the_spellings_is_of_the_whole_table():
    table = with_other(wet_and_dry())
    table.loc[table.index[table["R"] == "wet"][:3], "R"] = "WET "
    table.loc[table.index[table["R"] == "dry"][:6], "R"] = None
    said = cc.discover(table, context="R").warnings
    assert any("6 rows of 400" in words for words in said)
    assert any("'wet' and 'WET '" in words and "convert=True" in words for words in said)
    assert any("R = 'WET ' has 3 rows" in words for words in said)


def test_rows_without_a_context_count_against_the_whole_table_alone():
    """Of the rows that are left when those of the rare value are gone they are more than five
    percent.
    """
    table = with_other(wet_and_dry(), rows=20)
    table.loc[table.index[table["R"] != "other"][:19], "R"] = None
    found = cc.discover(table, context="R")
    assert found.contexts == ("dry", "other", "wet")
    assert any("19 rows of 400" in words for words in found.warnings)


@pytest.mark.parametrize("case", ["constant", "copy", "sum", "empty"])
def test_check_says_what_discover_leaves_out_without_these_rows(case):
    table = with_other(wet_and_dry())
    other = table["R"] == "other"
    elsewhere = {
        "constant": 1.0,
        "copy": table["R"].str[0],
        "sum": table["X"] + table["Y"],
        "empty": np.nan,
    }[case]
    there = "v" if case == "copy" else pd.Series(np.arange(len(table)) % 3.0)
    table["W"] = pd.Series(elsewhere, index=table.index).where(~other, there)
    found, checked = cc.discover(table, context="R"), cc.check(table, context="R")
    assert len(found.left_out) == 1
    assert checked.left_out == found.left_out
    assert set(found.warnings[:2]) <= {*checked.notes, *checked.advice}


def test_check_looks_at_a_context_with_one_value_left():
    assert cc.check(flagged(), context="flag", kinds={"flag": "categorical"}).usable


@pytest.mark.parametrize("rows", [0, 5])
def test_columns_of_pandas_may_be_called_by_numbers(rows):
    table = with_other(wet_and_dry(), rows).rename(columns={"X": 1, "R": 2})
    assert cc.check(table, context="2").usable
    found = cc.discover(table, context="2", method="pc-ac")
    assert found.names == ("1", "2", "Y", "Z")
    assert (
        found.graphs["wet"]
        == cc.discover(table.rename(columns=str), context="2", method="pc-ac").graphs["wet"]
    )

"""The report as a file: self-contained, escaped, small, and about this result."""

import json
import re
from dataclasses import replace

import pandas as pd
import pytest

import causalcontext as cc
import hostile
from causalcontext.examples import proteins
from causalcontext.report import payload as payloads
from causalcontext.report.html import NOT_ASKED_TITLE, answer, page, safe_json, stories
from causalcontext.report.payload import Section, payload
from causalcontext.report.settings import MOST_CHANGES_TOLD, MOST_FINDINGS_TOLD
from causalcontext.results.explain import explained
from causalcontext.results.kept import answers_of, with_answers
from pags import soil_pags
from questions import model_checks


@pytest.fixture(scope="module")
def soil():
    return cc.discover(
        cc.examples.soil_moisture(2000, seed=1), context="soil", method="pc-ac", alpha=0.01
    )


def embedded(text):
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1]
    )


def test_one_file_without_addresses(soil, tmp_path):
    file = tmp_path / "report.html"
    soil.report(file, title="Soil & <rain>")
    text = file.read_text(encoding="utf-8")
    assert "<title>Soil &amp; &lt;rain&gt;</title>" in text
    assert not re.search(r"""(src|href)\s*=\s*["'](?!#)""", text)
    assert "default-src 'none'" in text
    assert set(re.findall(r"https?://[^\s\"']+", text)) == {"http://www.w3.org/2000/svg"}


def test_the_data_are_those_of_the_result(soil):
    data = embedded(page(soil))
    assert data["names"] == list(soil.names)
    assert len(data["edges"]) == len(soil.edges())
    assert len(data["pairs"]) * 2 == len(soil.tests())
    for place, value in enumerate(soil.contexts):
        assert len(data["graphs"][place]) == len(soil.graphs[value].edges)
    slot = data["pairs"].index([0, 1])
    assert data["stories"][slot] == explained(soil, soil.names[0], soil.names[1], apart=True)


def test_effects_are_those_of_the_result(soil):
    data = embedded(page(soil))["effects"]
    assert data["errors"] == "sandwich"
    table = soil.effects()
    assert sum(map(len, data["rows"])) == len(table)
    names = [(soil.names[x], soil.names[y]) for x, y in data["pairs"]]
    found = soil.effects("radiation", "humidity")
    rows = data["rows"][names.index(("radiation", "humidity"))]
    for row, expected in zip(rows, found.to_dict("records"), strict=True):
        assert row[:2] == [
            soil.contexts.index(expected["context"]),
            -1 if expected["versus"] is None else soil.contexts.index(expected["versus"]),
        ]
        assert row[2:6] == pytest.approx(
            [*(expected["values"][i] for i in (0, -1)), expected["low"], expected["high"]], rel=1e-3
        )
        assert data["notes"][row[7]] == expected["note"]


def test_large_results_keep_the_effects_of_linked_pairs(soil, monkeypatch):
    monkeypatch.setattr(payloads, "MOST_EFFECT_ROWS", 15)
    data = payload(soil)["effects"]
    assert not data["whole"]
    assert len(data["pairs"]) == 5
    assert all(soil.union.adjacency[x, y] for x, y in data["pairs"])


def test_a_result_without_numbers_has_no_effects(soil):
    assert payload(replace(soil, moments=None, prepared=None))["effects"] is None


def test_marks_and_their_meanings_are_in_the_data():
    pags = soil_pags()
    data = embedded(page(pags))
    assert (
        data["graphs"][1]["0,2"]
        == pags.graphs["wet"].mark(*(pags.names[i] for i in (0, 2)))
        == "<->"
    )
    assert data["union"]["0,2"] == "+->"
    assert data["meaning"]["o->"] == "cause, or hidden common cause"
    assert list(data["meaning"]) == ["-->", "o->", "o-o", "x-x", "<->", "+->"]


def test_a_loaded_result_gives_the_same_report(soil, tmp_path):
    """The same but for findings that need the rows, which a file does not hold."""
    soil.save(tmp_path / "r.json")
    without_rows = with_answers(replace(soil, rows=None), answers_of(soil))
    assert page(cc.load(tmp_path / "r.json")) == page(without_rows)


def test_data_cannot_leave_their_block():
    assert "<" not in safe_json({"a": "</script><!--\u2028"})
    assert json.loads(safe_json({"a": "</script>&\u2029"})) == {"a": "</script>&\u2029"}


def test_hostile_names_stay_data():
    result = cc.discover(hostile.table(), context=hostile.CONTEXT)
    text = page(result, title=hostile.NAMES[0])
    assert "<script>window" not in text
    assert text.count("<script") == 2
    assert embedded(text)["names"][0] == hostile.NAMES[0]
    shown = result._repr_html_() + result.labeled_union._repr_html_()
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown


def test_more_sections(soil):
    soil.diagnose()
    table = pd.DataFrame({"name": ["<b>"], "share": [0.25], "contexts": [("dry", "wet")]})
    diagnosis, section = embedded(
        page(soil, sections=[Section("Stability", ("Two samples.",), table)])
    )["sections"]
    assert diagnosis["title"] == "Diagnosis"
    assert diagnosis["header"] == ["topic", "severity", "message", "advice"]
    assert section["rows"] == [["<b>", "0.25", "dry, wet"]]


def test_stability_has_a_card(soil, tmp_path):
    stable = soil.stability(5)
    soil.report(tmp_path / "r.html", stability=stable)
    section = embedded((tmp_path / "r.html").read_text(encoding="utf-8"))["sections"][-1]
    assert section["title"] == "Stability"
    assert "5 bootstrap samples" in section["lines"][0]
    found = {
        (edge, context): (int(share[:-1]), int(same[:-1]))
        for edge, context, share, same in section["rows"]
        if same
    }
    assert len(found) == sum(len(graph.edges) for graph in soil.graphs.values())
    assert all(same <= share for share, same in found.values())
    table = stable.edges(0.0).set_index(["x", "y", "context"])
    x, mark, y = (
        next(edge for edge in soil.graphs["wet"].edges if edge.mark == "-->").__str__().split()
    )
    pair, turned = ((x, y), "-->") if (x, y, "wet") in table.index else ((y, x), "<--")
    assert found[f"{x} {mark} {y}", "wet"][1] == round(100 * table.loc[(*pair, "wet"), turned])
    shares = [int(row[2][:-1]) for row in section["rows"]]
    assert shares == sorted(shares)


def test_stability_of_another_result_is_refused(soil, tmp_path):
    other = cc.discover(cc.examples.soil_moisture(300, seed=9), context="soil").stability(1)
    for wrong in (other, 20):
        with pytest.raises(cc.OptionError, match="of this result returned"):
            soil.report(tmp_path / "r.html", stability=wrong)
    assert not (tmp_path / "r.html").exists()


def test_large_results_keep_only_the_stories_that_matter(soil, monkeypatch):
    monkeypatch.setattr(payloads, "MOST_PAIR_STORIES", 10)
    data = payload(soil)
    edges = {key for graph in data["graphs"] for key in graph}
    assert edges <= {",".join(map(str, pair)) for pair in data["pairs"]}
    assert len(data["pairs"]) < 21


@pytest.mark.parametrize("method", ["pc-m", "pc-p", "pc-b"])
def test_every_method_has_a_report(method):
    result = cc.discover(cc.examples.soil_moisture(300, seed=1), context="soil", method=method)
    assert len(embedded(page(result))["graphs"]) == 2


def test_a_missing_folder_is_one_sentence(soil, tmp_path):
    with pytest.raises(cc.FileError, match="there is no folder"):
        soil.report(tmp_path / "missing" / "r.html")


def test_a_page_is_not_called_pdf(soil, tmp_path):
    with pytest.raises(cc.FileError, match=r"its name must end with \.html"):
        soil.report(tmp_path / "r.pdf")
    assert not (tmp_path / "r.pdf").exists()


def test_graphs_show_themselves_in_notebooks(soil):
    assert soil.graphs["wet"]._repr_svg_().startswith("<svg")
    assert soil._repr_html_().count("<svg") == 1


def test_scores_are_shown_for_a_score_based_result():
    result = cc.discover(
        cc.examples.soil_moisture(300, seed=3), context="soil", method="score-ac", starts=2
    )
    data = embedded(page(result))
    sections = {section["title"]: section for section in data["sections"]}
    assert len(sections["Scores"]["rows"]) == 2 * 21
    assert data["scored"]
    assert [edge["margin"] for edge in data["edges"]] == pytest.approx(
        result.edges()["margin"], rel=1e-3, nan_ok=True
    )


@pytest.mark.parametrize(
    ("method", "used", "unused"),
    [("score-ac", "curves", "collider rule"), ("pc-ac", "collider rule", "curves")],
)
def test_settings_are_those_that_the_method_uses(method, used, unused):
    result = cc.discover(cc.examples.soil_moisture(500, seed=1), context="soil", method=method)
    names = [name for name, _ in payload(result)["settings"]]
    assert used in names
    assert unused not in names


def test_the_first_card_says_what_differs():
    result = cc.discover(
        cc.examples.soil_moisture(2000, seed=1), context="soil", method="pc-ac", alpha=0.01
    )
    assert "0 differences may be claimed, 2 may not" in answer(result, ())
    result.second_opinion()
    text = answer(result, result.diagnose())
    assert "2 differences may be claimed, 0 may not." in text
    assert "precipitation --&gt; runoff is found in wet and not in dry: its slope is 0.91 (" in text
    assert page(result).index('id="answer"') < page(result).index('id="graph-card"')


@pytest.mark.slow
def test_many_contexts_share_stories_and_findings_are_few():
    table = proteins(0, "log", 3000)
    result = cc.discover(
        table, "condition", method="pc-ac", alpha=0.01, test="partial-correlation", max_given=1
    )
    text = answer(result, result.diagnose())
    assert text.split(NOT_ASKED_TITLE)[0].count("<li") <= MOST_CHANGES_TOLD + MOST_FINDINGS_TOLD
    told = stories(result)
    assert len(told) < sum(len(story.absent) for story in told), (
        "contexts that are alike share a story"
    )
    claimed = [story.claimed for story in told]
    assert claimed == sorted(claimed, reverse=True)


def test_the_first_card_of_other_results():
    soil = cc.examples.soil_moisture(300, seed=1)
    assert "What differs" not in answer(cc.discover(soil.drop(columns="soil")), ())
    pooled = cc.discover(soil, "soil", method="pc-p", test="partial-correlation")
    assert "changes its slope" in answer(pooled, ())
    assert "is found in" not in answer(pooled, ())
    strange = soil.rename(columns={"runoff": "<b>run\noff</b>"}).replace(
        {"soil": {"wet": "<i>wet</i>"}}
    )
    result = cc.discover(strange, "soil", method="pc-ac", test="partial-correlation")
    assert "<b>" not in answer(result, result.diagnose())


def test_nothing_comes_before_the_answer_but_that_a_search_was_cut():
    """Warnings are told once, with what to do, among the things to be careful about."""
    result = cc.discover(cc.examples.example_ii(500, 2), "R", method="pc-ac")
    text = answer(result, result.diagnose())
    data = embedded(page(result))
    assert model_checks(result)
    assert data["warnings"] == []
    assert text.count("are not straight lines") == 1
    assert "try method=&#x27;score-ac&#x27;" in text
    assert not [note for note in data["notes"] if note.startswith("WARNING")]
    scored = cc.discover(cc.examples.soil_moisture(300, seed=1), "soil")
    first, last = embedded(page(scored))["notes"]
    assert first.startswith("note: method 'auto'")
    assert last.startswith("not asked: model checks")
    cut = replace(scored, complete=False)
    assert "interrupted" in embedded(page(cut))["warnings"][0]
    assert embedded(page(cut))["notes"] == []
    whole = page(result)
    assert (
        whole.index('id="warnings"')
        < whole.index('id="answer"')
        < whole.index('id="stage"')
        < whole.index('id="notes"')
    )


def test_turned_arrows_are_counted_as_edges_and_as_pairs(soil):
    """Text, picture and table must not give two numbers of edges for one union."""
    assert " pairs\n" not in str(soil)
    turned = cc.Graph.from_edges(
        soil.names,
        [
            (y, x, "-->") if {x, y} == {"temperature", "humidity"} else (x, y, mark)
            for x, y, mark in soil.graphs["wet"].edges
        ],
    )
    result = replace(soil, graphs={**soil.graphs, "wet": turned})
    assert "11 edges between 10 pairs\n" in str(result)
    data = embedded(page(result))
    assert (len(data["edges"]), len(data["union"])) == (11, 10)

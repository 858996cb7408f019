"""Contexts made out of a column: the declaration, the search, and the links of the indicator."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.ci_tests.registry import TESTS
from causalcontext.data.indicators import _steps, condition, step_functions
from causalcontext.data.tables import read_table
from causalcontext.graphs.endpoints import endpoints_of_mark
from causalcontext.search.indicator import with_indicators
from causalcontext.views import Contexts


def table(seed: int, n: int = 2000) -> pd.DataFrame:
    """X -> Y only where W > 0.3; W -> Y -> Z everywhere."""
    w, x, y, z = np.random.default_rng(seed).standard_normal((4, n))
    y = y + 0.8 * w + np.where(w > 0.3, 1.2 * x, 0.0)
    return pd.DataFrame({"W": w, "X": x, "Y": y, "Z": y + z})


@pytest.mark.parametrize("seed", range(4))
def test_a_threshold_is_a_node_with_its_links(seed):
    result = cc.discover(table(seed), context=cc.threshold("W", 0.3), method="pc-ac", alpha=0.01)
    low, high = result.contexts
    assert (low, high) == ("<= 0.3", "> 0.3")
    assert result.context == "W > 0.3"
    assert result.names == ("W", "X", "Y", "Z", "W > 0.3")
    for graph in result.graphs.values():
        assert graph.mark("W", "W > 0.3") == "-->"
        assert graph.mark("W > 0.3", "Y") == "-->"
        assert graph.mark("W > 0.3", "X") == graph.mark("W > 0.3", "Z") == ""
        assert graph.mark("W", "Y") != ""  # never deleted because the context knows W
    assert result.graphs[low].mark("X", "Y") == ""
    assert result.graphs[high].mark("X", "Y") != ""


def test_questions_given_the_column_are_asked_inside_a_step_and_keep_it():
    result = cc.discover(table(1), context=cc.threshold("W", 0.3), method="pc-ac")
    log = result.tests()
    assert "W > 0.3" not in set(log["x"]) | set(log["y"])
    inside = log[log["rows"] != "pooled"]
    assert len(inside) > 0
    assert all("W" in given for given in inside["given"])
    assert all("W" not in given for given in log[log["rows"] == "pooled"]["given"])


def test_the_naive_search_with_an_indicator_has_the_same_skeleton():
    """The paper's modification (i), as a loop over the naive PC of one step."""
    import naive

    frame = table(2, n=600).assign(V=np.random.default_rng(9).standard_normal(600))
    values = frame.to_numpy()
    code = (values[:, 0] > 0.3).astype(int)

    def skeleton(step):
        def answer(x, y, given, where):
            rows = values[code == step] if 0 in given else values
            found = naive.partial_correlation(rows, x, y, given)
            return None if found is None else found[-1]

        return naive.pc_stable_contexts(answer, range(5), None, [], "pooled")[None].edges

    result = cc.discover(frame, context=cc.threshold("W", 0.3))
    for step, value in enumerate(result.contexts):
        adjacency = result.graphs[value].adjacency[:5, :5]
        assert {frozenset(map(int, pair)) for pair in np.argwhere(adjacency)} == skeleton(step)


def test_bins_by_quantiles_and_edges():
    frame = table(3)
    quarters = cc.discover(frame, context=cc.bins("W", quantiles=4))
    assert len(quarters.contexts) == 4
    assert quarters.data.rows == (500, 500, 500, 500)
    edges = cc.discover(frame, context=cc.bins("W", edges=[-1, 0.3], name="range"))
    assert edges.context == "range"
    assert edges.contexts == ("<= -1", "(-1, 0.3]", "> 0.3")
    assert edges.union.mark("range", "Y") == "-->"


@pytest.mark.parametrize(
    ("text", "of"),
    [
        ("X >= 1", lambda x: x >= 1),
        ("X < 1", lambda x: x >= 1),
        ("X <= 1", lambda x: x > 1),
        ("X > 1", lambda x: x > 1),
        ("-1 < X <= 1", lambda x: (x > -1) & (x <= 1)),
        ("-1 <= X < 1", lambda x: (x >= -1) & (x < 1)),
    ],
)
def test_comparisons_say_on_which_side_the_number_itself_is(text, of):
    x = np.array([-2.0, -1.0, -0.5, 0.0, 1.0, 1.0, 2.0, np.nan])
    made = condition(text)
    assert made.column == "X"
    assert len(made.levels) == 2
    np.testing.assert_array_equal(made.codes(x), [*of(x[:-1]).astype(int), -1])
    data = made.applied(read_table({"X": x[:-1], "Y": x[:-1] ** 2}, None))
    assert data.values == made.levels
    assert data.names[-1] == made.name == text


def test_bins_of_large_numbers_have_names_of_their_own(tmp_path):
    rng = np.random.default_rng(0)
    stamps = 1.7e9 + 3.7 * np.arange(600)
    x = rng.standard_normal(600)
    table = pd.DataFrame({"T": stamps, "X": x, "Y": x + rng.standard_normal(600)})
    result = cc.discover(table, context=cc.bins("T", quantiles=5))
    assert len(set(result.contexts)) == len(result.graphs) == 5
    assert result.data.rows == (120,) * 5
    cuts = [
        float(name.removeprefix("<= ").split(", ")[-1].rstrip("]")) for name in result.contexts[:-1]
    ]
    assert (
        np.bincount(np.searchsorted(cuts, stamps)).tolist() == [120] * 5
    )  # the names say where the cuts are
    result.save(tmp_path / "r.json")
    assert cc.load(tmp_path / "r.json") == result


def test_edges_are_any_numbers_in_order():
    edges = np.linspace(-1.0, 1.0, 3)
    made = [
        cc.bins("X", edges=some) for some in (edges, list(edges), pd.Series(edges), tuple(edges))
    ]
    assert all(other == made[0] for other in made)
    assert made[0].cuts == (-1.0, 0.0, 1.0)


@pytest.mark.parametrize("offset", [0.0, 1.7e9, -3e12])
def test_the_suggested_call_cuts_where_the_data_do(offset):
    rng = np.random.default_rng(1)
    values = offset + 1e-3 * rng.standard_normal(400) * max(abs(offset) ** 0.3, 1.0)
    cut = np.sort(values)[150]
    table = pd.DataFrame(
        {"W": values, "X": rng.standard_normal(400), "R": np.where(values > cut, "b", "a")}
    )
    (found,) = step_functions(read_table(table, "R"))
    declared = eval(found.call(), {"cc": cc})
    assert np.array_equal(
        declared.applied(read_table(table.drop(columns="R"), None)).codes,
        (values > cut).astype(int),
    )


@pytest.mark.parametrize("seed", range(20))
def test_looking_at_some_rows_first_overlooks_no_step_function(seed):
    random = np.random.default_rng(seed)
    rows = int(random.integers(60, 900))
    hidden = random.normal(size=rows)
    codes = np.digitize(hidden, [[0.1], [-0.4, 0.5], [-0.6, 0.0, 0.6]][seed % 3]) % 3
    columns = {f"n{j}": random.normal(size=rows) for j in range(6)}
    columns |= {
        "same": hidden,
        "tenths": hidden.round(1),
        "gaps": np.where(random.random(rows) < 0.2, np.nan, hidden),
    }
    columns |= {
        "whole": codes * 2,
        "nearly": np.where(np.arange(rows) == rows // 2, -hidden, hidden),
    }
    data = read_table(pd.DataFrame(columns | {"R": codes}), "R")
    most = max(3, len(data.contexts.cells) - 1)
    expected = [
        data.names[i] for i in data.system if _steps(data.columns[i], data.codes, most) is not None
    ]
    assert {"same", "gaps"} <= set(expected)
    assert [found.column for found in step_functions(data)] == expected


def test_results_are_explained_saved_and_compared(tmp_path):
    result = cc.discover(table(4), context=cc.threshold("W", 0.3), method="pc-ac")
    assert "W > 0.3 was made out of W" in result.explain("W", "W > 0.3")
    assert "its links follow from missing edges" in result.explain("Y", "W > 0.3")
    result.second_opinion()
    result.save(tmp_path / "r.json")
    assert cc.load(tmp_path / "r.json") == result
    (change,) = result.changes("<= 0.3", "> 0.3").itertuples()
    assert (change.status, change.reason, change.q < 1e-6) == (
        "claimed",
        "",
        True,
    )  # score-ac confirms it
    assert cc.load(tmp_path / "r.json").changes("<= 0.3", "> 0.3").loc[0, "claimed"]
    assert not result.diagnose().about("deterministic context")
    assert [f.evidence["cause"] for f in result.diagnose().about("missing edge")] == ["mechanism"]


def test_a_context_that_looks_deterministic_is_said_aloud_and_keeps_its_links():
    frame = table(5)
    result = cc.discover(frame.assign(R=np.where(frame["W"] > 0.3, "high", "low")), context="R")
    assert len(result.warnings) == 1
    assert 'context=cc.threshold("W", 0.' in result.warnings[0]
    assert "WARNING: R is a function of W" in str(result)
    assert result.union.mark("W", "R") != ""
    assert result.union.mark("R", "Y") != ""


def test_advice_about_a_deterministic_context_can_be_typed_whatever_the_name():
    frame = table(5).rename(columns={"W": 'the "W"'})
    frame = frame.assign(R=np.where(frame['the "W"'] > 0.3, "high", "low"))
    advice = cc.discover(frame, context="R").warnings[0].partition("declare it: ")[2]
    call, comma, rest = advice.partition("), ")
    assert (comma, rest) == ("), ", "without the column R")
    again = eval(f"cc.discover(frame.drop(columns='R'), {call}))")
    assert again.context.startswith('the "W" > 0.3')
    assert again.warnings == ()


def endpoints_of(*graphs, nodes=5):
    """Ends of graphs over W, X, Y, Z and C, a function of W, from lists of (first, second,
    mark).
    """
    codes = np.zeros((len(graphs), nodes, nodes), dtype=np.int8)
    for graph, edges in zip(codes, graphs, strict=True):
        for i, j, mark in edges:
            graph[j, i], graph[i, j] = endpoints_of_mark(mark)
    return codes


W, X, Y, Z, C = range(5)
LINE, ARROW = "o-o", "-->"


def links_of_indicator(found):
    """(effect of C, whether that is certain), as drawn alike in both graphs."""
    drawn, origins, _ = with_indicators(found, {}, Contexts((C,), ((0,), (1,)), (W,)))
    assert (drawn[0, C] == drawn[1, C]).all()
    links = {
        v: (drawn[0, v, C], drawn[0, C, v]) for v in np.flatnonzero(drawn[0, C]).tolist() if v != W
    }
    assert set(links.values()) <= {endpoints_of_mark(ARROW), endpoints_of_mark(LINE)}
    assert all(
        ((0, C, v) in origins) == (ends == endpoints_of_mark(ARROW)) for v, ends in links.items()
    )
    return [(v, ends == endpoints_of_mark(ARROW)) for v, ends in links.items()]


def test_only_one_end_next_to_the_column():
    found = endpoints_of([(W, Y, LINE), (X, Y, LINE)], [(W, Y, LINE)])
    assert links_of_indicator(found) == [(Y, True)]


def test_both_ends_and_a_direction():
    found = endpoints_of([(W, X, LINE), (W, Y, LINE), (X, Y, ARROW)], [(W, X, LINE), (W, Y, LINE)])
    assert links_of_indicator(found) == [(Y, True)]


def test_both_ends_without_a_direction_are_ambiguous():
    found = endpoints_of([(W, X, LINE), (W, Y, LINE), (X, Y, LINE)], [(W, X, LINE), (W, Y, LINE)])
    assert links_of_indicator(found) == [(X, False), (Y, False)]


def test_a_known_cause_of_the_column_is_no_effect_of_it():
    found = endpoints_of([(X, W, ARROW), (W, Y, LINE), (X, Y, LINE)], [(X, W, ARROW), (W, Y, LINE)])
    assert links_of_indicator(found) == [(Y, True)]


def test_no_end_next_to_the_column_is_no_physical_change():
    assert links_of_indicator(endpoints_of([(X, Y, LINE)], [])) == []


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: cc.threshold("W", "x"), "the threshold of 'W' is 'x'"),
        (lambda: cc.threshold(3, 1), "expected its name"),
        (lambda: cc.bins("W"), "either edges"),
        (lambda: cc.bins("W", edges=[2, 1]), "ascending numbers"),
        (lambda: cc.bins("W", quantiles=1), "a whole number from 2"),
        (lambda: cc.bins("W", quantiles=10**9), "expected at most 1000"),
        (lambda: cc.bins("W", np.array([])), "ascending numbers"),
        (lambda: cc.discover(table(1), context=cc.threshold("V", 0)), "no column 'V'"),
        (lambda: cc.discover(table(1), context=cc.threshold("W", 99)), "1 level"),
        (
            lambda: cc.discover(table(1), context=cc.threshold("W", 0, name="X")),
            "has a column 'X' already",
        ),
        (
            lambda: cc.discover(table(1), context=[cc.threshold("W", 0), cc.bins("W", [1])]),
            "made out of 'W'",
        ),
    ],
)
def test_bad_declarations_get_one_sentence(make, words):
    with pytest.raises(cc.CausalContextError, match=words):
        make()


def test_no_number_no_step_function():
    codes = np.random.default_rng(0).integers(0, 3, size=(300, 3)).astype(str)
    frame = pd.DataFrame(codes, columns=["A", "B", "R"])
    assert not list(step_functions(read_table(frame, "R")))


def beside(seed: int, n: int = 4000) -> pd.DataFrame:
    """X -> Y only where W > 0.3, Y -> V only where S = 1, an effect of X; something hidden causes Y
    and Z.
    """
    w, x, y, z, v, hidden, e = np.random.default_rng(seed).standard_normal((7, n))
    s = (x + e > 0).astype(int)
    y = y + 0.8 * w + np.where(w > 0.3, 1.2 * x, 0.0) + hidden
    return pd.DataFrame(
        {"W": w, "X": x, "Y": y, "Z": z + hidden, "V": v + np.where(s == 1, y, 0.5), "S": s}
    )


@pytest.mark.parametrize("method", ["pc-ac", "pc-m", "pc-b", "fci-ac", "score-ac"])
def test_a_threshold_beside_another_context(method, tmp_path):
    result = cc.discover(beside(1), context=["S", cc.threshold("W", 0.3)], method=method)
    assert result.contexts == tuple((s, w) for s in (0, 1) for w in ("<= 0.3", "> 0.3"))
    for (s, w), graph in result.graphs.items():
        assert bool(graph.mark("X", "Y")) == (w == "> 0.3")
        assert bool(graph.mark("Y", "V")) == (s == 1)
        if method in ("pc-ac", "fci-ac", "score-ac"):
            assert graph.mark("W", "W > 0.3") == graph.mark("W > 0.3", "Y") == "-->"
        else:
            assert not any(graph.mark("W > 0.3", name) for name in result.names)
    if method != "score-ac":  # which has scores for its links
        assert "W > 0.3 is a function of W" in result.explain("X", "W > 0.3")
    result.save(tmp_path / "r.json")
    assert cc.load(tmp_path / "r.json") == result
    changes = result.changes((0, "<= 0.3"), (0, "> 0.3"))
    assert ("X", "Y") in set(zip(changes["source"], changes["target"], strict=True))
    assert not result.diagnose().about("deterministic context")
    assert not [f for f in result.diagnose().about("overlap") if f.evidence["column"] == "W"]
    with pytest.raises(cc.OptionError, match="cannot be set by itself; ask for effects of 'W'"):
        result.effects("W > 0.3", "Y")
    result.report(tmp_path / "r.html")


def test_fci_ac_takes_a_threshold(tmp_path):
    result = cc.discover(
        beside(2).drop(columns="S"), context=cc.threshold("W", 0.3), method="fci-ac", alpha=0.01
    )
    low, high = (result.graphs[value] for value in result.contexts)
    assert [graph.mark("X", "Y") for graph in (low, high)] == ["", "o->"]
    for graph in (low, high):
        assert (
            graph.mark("W", "Y")
            == graph.mark("W > 0.3", "Y")
            == graph.mark("W", "W > 0.3")
            == "-->"
        )
    assert "given W among the 2" in result.explain("X", "Y")
    acts = "W > 0.3 acts on Y, or on something that leads to it. A tail at W > 0.3 by indicator"
    assert acts in result.explain("Y", "W > 0.3")
    assert "neither a direct mechanism" not in result.explain("X", "W > 0.3")
    assert "a hidden cause" not in result.explain("W", "W > 0.3")
    result.save(tmp_path / "r.json")
    assert cc.load(tmp_path / "r.json") == result
    assert set(result.stability(samples=2).endpoints(least=0.0)["context"]) == {"<= 0.3", "> 0.3"}


def test_effects_in_pags_are_those_of_the_rows_that_the_threshold_chooses():
    """V and U move X and nothing else, so X --> Y is visible; W acts on Y, and changes the slope of
    X there.
    """
    w, v, x, y, u = np.random.default_rng(3).standard_normal((5, 6000))
    x = x + v + u
    y = y + 0.8 * w + np.where(w > 0.3, 1.5 * x, 0.7 * x)
    table = pd.DataFrame({"W": w, "V": v, "X": x, "Y": y, "U": u})
    result = cc.discover(table, context=cc.threshold("W", 0.3), method="fci-ac", alpha=0.001)
    effects = result.effects("X", "Y").query("versus.isna()").set_index("context")
    assert effects["identified"].all()
    assert effects.loc["<= 0.3", "effect"] == pytest.approx(0.7, abs=0.1)
    assert effects.loc["> 0.3", "effect"] == pytest.approx(1.5, abs=0.1)


class WithoutKernels:
    """Partial correlations, answered in batches."""

    name = "in batches"

    def prepare(self, data, statistics):
        prepared = TESTS["partial-correlation"].prepare(data, statistics)
        return type("Plain", (), {"answer": staticmethod(prepared.answer)})()


@pytest.mark.parametrize("method", ["pc-ac", "pc-m", "fci-ac"])
@pytest.mark.parametrize("other", ["S", cc.threshold("X", 0.0)])
def test_kernels_and_batches_find_the_same(method, other):
    table, context = beside(4, n=1200), [cc.bins("W", quantiles=3), other]
    table = table if other == "S" else table.drop(columns="S")
    tests = ("partial-correlation", WithoutKernels())
    compiled, batched = (cc.discover(table, context, method=method, test=test) for test in tests)
    assert dict(compiled.graphs) == dict(batched.graphs)


def test_the_order_of_contexts_and_columns_does_not_matter():
    frame = beside(5)
    found = cc.discover(frame, ["S", cc.threshold("W", 0.3)], method="fci-ac", alpha=0.01)
    turned = frame[["S", "V", "Z", "Y", "X", "W"]]
    other = cc.discover(turned, [cc.threshold("W", 0.3), "S"], method="fci-ac", alpha=0.01)
    assert other.contexts == tuple((w, s) for w in ("<= 0.3", "> 0.3") for s in (0, 1))
    assert other.data.rows == tuple(found.data.rows[j] for j in (0, 2, 1, 3))
    for (s, w), graph in found.graphs.items():
        assert all(
            graph.mark(x, y) == other.graphs[w, s].mark(x, y)
            for x in found.names
            for y in found.names
        )


def test_methods_beside_pc_ac_search_the_rows_of_each_range_or_all_rows():
    """pc-m is plain PC on the rows of each side of the cut, pc-p on all rows."""
    random = np.random.default_rng(3)
    x = random.normal(size=800)
    y = np.where(x > 0.2, 1.5, 0.0) * x + random.normal(size=800)
    table = pd.DataFrame(
        {"X": x, "Y": y, "Z": y + random.normal(size=800), "W": x + random.normal(size=800)}
    )
    made = cc.threshold("X", 0.2)
    masked, pooled, both = (
        cc.discover(table, made, method=name) for name in ("pc-m", "pc-p", "pc-b")
    )
    everywhere = cc.discover(table, method="pc-p").graphs["all"]
    for value, rows in zip(
        masked.contexts, (table[table["X"] <= 0.2], table[table["X"] > 0.2]), strict=True
    ):
        alone = cc.discover(rows, method="pc-p").graphs["all"]
        for a, b in combinations(table.columns, 2):
            assert masked.graphs[value].mark(a, b) == alone.mark(a, b)
            assert pooled.graphs[value].mark(a, b) == everywhere.mark(a, b)
            assert bool(both.graphs[value].mark(a, b)) == bool(
                alone.mark(a, b) and everywhere.mark(a, b)
            )
        for result in (masked, pooled, both):
            assert not result.graphs[value].adjacency[result.position("X > 0.2")].any()
    for result in (masked, pooled, both):
        assert "X > 0.2" in result.explain("X", "X > 0.2")
        assert result.changes(*result.contexts) is not None


def test_diagnose_asks_fci_ac_about_directions_with_several_contexts_and_thresholds():
    """Z and Y share a hidden cause, which pc-ac calls Z --> Y."""
    context = ["S", cc.threshold("W", 0.3)]
    for chosen in (context, context[1], "S"):
        result = cc.discover(beside(1), chosen, method="pc-ac", test="partial-correlation")
        (finding,) = result.diagnose().about("hidden causes")
        assert any(edge.startswith("Z o-> Y") for edge in finding.evidence["edges"])

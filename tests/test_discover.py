"""The public contract of `discover` and its results."""

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.results.explain import explained
from causalcontext.views import CIQuery

METHODS = ("pc-ac", "pc-m", "pc-p", "pc-b")


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return cc.examples.soil_moisture(800, seed=4)


@pytest.fixture(scope="module")
def results(table):
    return {method: cc.discover(table, context="soil", method=method) for method in METHODS}


@pytest.mark.parametrize("method", METHODS)
def test_contexts_graphs_and_union(results, method):
    result = results[method]
    assert result.contexts == ("dry", "wet")
    assert tuple(result.graphs) == result.contexts
    union = result.union.adjacency
    assert np.array_equal(
        union, np.any([graph.adjacency for graph in result.graphs.values()], axis=0)
    )
    for graph in result.graphs.values():
        assert graph.names == result.names
        assert np.array_equal(graph.adjacency, graph.adjacency.T)


def test_links_at_the_context_are_the_same_everywhere(results):
    for method in ("pc-ac", "pc-p", "pc-b"):
        first, second = results[method].graphs.values()
        assert first.neighbours("soil") == second.neighbours("soil") != ()


def test_masked_search_leaves_the_context_isolated(results):
    assert all(graph.neighbours("soil") == () for graph in results["pc-m"].graphs.values())


def test_pooled_search_has_one_graph(results):
    assert results["pc-p"].graphs["dry"] == results["pc-p"].graphs["wet"]


def test_intersection_is_what_both_have(results):
    pooled = results["pc-p"].union
    for value, graph in results["pc-b"].graphs.items():
        masked = results["pc-m"].graphs[value]
        system = [name for name in graph.names if name != "soil"]
        for x in system:
            for y in system:
                both = bool(masked.mark(x, y)) and bool(pooled.mark(x, y)) if x != y else False
                assert bool(graph.mark(x, y)) == both
        assert all(graph.mark("soil", y) == pooled.mark("soil", y) for y in system)


def test_labeled_union_names_the_contexts(results):
    result = results["pc-ac"]
    for source, target, mark, contexts in result.labeled_union:
        assert contexts == tuple(
            value for value, graph in result.graphs.items() if graph.mark(source, target)
        )
        assert mark == result.union.mark(source, target)
    labels = {(edge.source, edge.target): edge.contexts for edge in result.labeled_union}
    assert any(contexts == ("dry", "wet") for contexts in labels.values())
    assert any(len(contexts) == 1 for contexts in labels.values())


@pytest.mark.parametrize("method", METHODS)
def test_log_has_one_row_per_pair_and_context_and_agrees_with_the_graphs(results, method):
    result = results[method]
    log = result.tests()
    pairs = 21 if method != "pc-m" else 15
    assert len(log) == pairs * 2
    assert list(log.columns[:11]) == [
        "context",
        "x",
        "y",
        "given",
        "rows",
        "test",
        "statistic",
        "df",
        "p",
        "n",
        "decision",
    ]
    for row in log.itertuples():
        assert (row.decision == "present") == (result.graphs[row.context].mark(row.x, row.y) != "")
        assert (row.p <= 0.05) == (row.decision == "present")


@pytest.mark.parametrize("method", METHODS)
def test_every_logged_test_can_be_run_again(results, method):
    result = results[method]
    view = {"pooled": 0} | {
        f"soil={value}": 1 + level for level, value in enumerate(result.contexts)
    }
    for row in result.tests().itertuples():
        given = tuple(map(result.position, row.given))
        query = CIQuery(result.position(row.x), result.position(row.y), given, view[row.rows])
        outcome = result.prepared.answer([query])
        assert outcome.p[0] == pytest.approx(row.p, rel=1e-9)
        assert outcome.n[0] == row.n


def test_rules_decide_which_rows_answer(results):
    assert set(results["pc-ac"].tests()["rows"]) == {"pooled", "soil=dry", "soil=wet"}
    assert set(results["pc-m"].tests()["rows"]) == {"soil=dry", "soil=wet"}
    assert set(results["pc-p"].tests()["rows"]) == {"pooled"}


def test_edges_are_a_tidy_table(results):
    edges = results["pc-ac"].edges()
    assert all(list(result.edges().columns) == list(edges.columns) for result in results.values())
    assert list(edges.columns)[:7] == [
        "source",
        "target",
        "mark",
        "contexts",
        "strength",
        "p-value",
        "n",
    ]
    assert len(edges) == len(results["pc-ac"].labeled_union)
    assert edges["strength"].abs().between(0.0, 1.0).all()
    assert (edges["p-value"] <= 0.05).all()


def test_explanations_are_sentences_per_context(results):
    text = results["pc-ac"].explain("precipitation", "runoff")
    dry, wet = text.splitlines()
    assert dry.startswith("absent in dry: precipitation and runoff are independent")
    assert "rows with soil = dry" in dry
    assert "on all rows p < 1e-16, which is due to the other contexts" in dry
    assert wet.startswith("present in wet (precipitation")
    with pytest.raises(cc.OptionError, match="did you mean 'runoff'"):
        results["pc-ac"].explain("precipitation", "runof")
    with pytest.raises(cc.OptionError, match="two different variables"):
        results["pc-ac"].explain("runoff", "runoff")


def test_masked_search_explains_that_it_cannot_see_the_context(results):
    assert "cannot test links" in results["pc-m"].explain("soil", "runoff")


@pytest.mark.parametrize("method", METHODS)
def test_without_a_context_every_method_is_plain_pc(table, method):
    result = cc.discover(table.drop(columns="soil"), method=method)
    assert result.contexts == ("all",)
    assert (
        result.graphs["all"] == cc.discover(table.drop(columns="soil"), method="pc-p").graphs["all"]
    )
    assert result.context is None
    assert "on all 800 rows" in result.explain("precipitation", "runoff")
    assert str(result).count("graph") == 1


def test_an_own_test_is_used(table):
    class Everything:
        name = "everything is independent"

        def prepare(self, data, statistics):
            return self

        def answer(self, queries):
            from causalcontext.views import Outcomes

            k = len(queries)
            return Outcomes(
                np.zeros(k),
                np.full(k, np.nan),
                np.ones(k),
                np.full(k, 9),
                np.zeros(k, dtype=np.int8),
            )

    result = cc.discover(table, context="soil", method="pc-ac", test=Everything())
    assert result.union.edges == ()
    assert set(result.tests()["test"]) == {"everything is independent"}


def test_untestable_pairs_keep_their_edge_and_say_so():
    # A level of few rows beside a large one would be left out of the search: here all have few.
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((12, 3)), columns=["A", "B", "C"])
    table["R"] = ["first", "second", "third"] * 4
    result = cc.discover(table, context="R", method="pc-m")
    tiny = result.tests().query("context == 'second'")
    assert set(tiny["decision"]) == {"untestable"}
    assert tiny["p"].isna().all()
    assert [edge.mark for edge in result.graphs["second"].edges] == ["o-o"] * 3
    assert result.warnings[0].startswith("3 edges were not tested at all")
    assert "untestable" in explained(result, "A", "B", apart=True)[1]
    adaptive = cc.discover(table, context="R")
    assert set(adaptive.tests().query("x == 'R' or y == 'R'")["decision"]) == {"untestable"}
    assert "too few" in adaptive.explain("A", "R") or "fewer than two contexts" in adaptive.explain(
        "A", "R"
    )


def test_duplicate_columns_are_not_separated_from_each_other(table):
    doubled = table.assign(copy=table["runoff"])
    result = cc.discover(doubled, context="soil", keep=["runoff", "copy"])
    assert all(graph.mark("runoff", "copy") for graph in result.graphs.values())


def test_columns_constant_in_one_context_do_not_stop_the_search(table):
    still = table.copy()
    still.loc[still["soil"] == "dry", "runoff"] = 0.1
    for test, decision in (("auto", "present"), ("partial-correlation", "untestable")):
        result = cc.discover(still, context="soil", method="pc-ac", test=test)
        row = result.tests().query("context == 'dry' and x == 'soil' and y == 'runoff'")
        assert row["decision"].item() == decision
        assert result.graphs["wet"].mark("soil", "runoff") != ""


def test_max_given_limits_the_sets(table):
    result = cc.discover(table, context="soil", method="pc-ac", max_given=1)
    given = result.tests()
    sizes = given["given"].map(len) + (given["rows"] != "pooled")
    assert sizes.max() <= 1
    assert (
        cc.discover(table, context="soil", method="pc-ac", max_given=0)
        .tests()["given"]
        .map(len)
        .max()
        == 0
    )


def test_interrupt_keeps_what_is_done(table):
    calls = []

    def stop(size, done, total):
        calls.append(size)
        if size == 1:
            raise KeyboardInterrupt

    with pytest.raises(cc.InterruptedSearch) as caught:
        cc.discover(table, context="soil", method="pc-ac", progress=stop)
    partial = caught.value.result
    assert not partial.complete
    assert "INCOMPLETE" in str(partial)
    full = cc.discover(table, context="soil", method="pc-ac")
    for value, graph in partial.graphs.items():
        assert (full.graphs[value].adjacency <= graph.adjacency).all()
        assert {edge.mark for edge in graph.edges} == {"o-o"}
    assert isinstance(caught.value, KeyboardInterrupt)


def test_interrupting_the_intersection_stops_it_at_once(table):
    """PC-B searches all rows, then each context: Ctrl-C in either ends both, and nothing is
    oriented.
    """
    for stop_at in (1, 7):
        calls = []

        def stop(size, done, total, calls=calls, stop_at=stop_at):
            calls.append(size)
            if len(calls) == stop_at:
                raise KeyboardInterrupt

        with pytest.raises(cc.InterruptedSearch) as caught:
            cc.discover(table, context="soil", method="pc-b", progress=stop)
        assert len(calls) == stop_at
        partial = caught.value.result
        assert {edge.mark for graph in partial.graphs.values() for edge in graph.edges} == {"o-o"}
        full = cc.discover(table, context="soil", method="pc-b")
        for value, graph in partial.graphs.items():
            assert (full.graphs[value].adjacency <= graph.adjacency).all()


def test_numbers_of_numpy_are_numbers(table, tmp_path):
    result = cc.discover(
        table,
        context="soil",
        seed=np.int64(3),
        method="pc-ac",
        max_given=np.int64(2),
        alpha=np.float64(0.05),
    )
    result.save(tmp_path / "r.json")
    assert cc.load(tmp_path / "r.json") == result


def test_rows_that_are_lost_are_told(table, tmp_path):
    holes = table.copy()
    holes.loc[:4, "runoff"] = np.nan
    holes.loc[10:11, "soil"] = None
    frozen = table.head(3).assign(soil="frozen", runoff=np.nan)
    result = cc.discover(pd.concat([holes, frozen]), context="soil", missing="listwise")
    assert result.contexts == ("dry", "wet")
    assert sum(result.data.lost) == 5
    assert result.data.without_context == 2
    assert result.data.emptied == (("frozen", 3),)
    assert "frozen (3 rows)" in str(result)
    result.save(tmp_path / "r.json")
    assert cc.load(tmp_path / "r.json") == result


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "pc-ca"}, "did you mean 'pc-ac'"),
        ({"method": "pc-ac", "collider_rule": "maximal"}, "collider_rule is 'maximal'"),
        ({"method": "pc-ac", "alpha": 0}, "alpha is 0, expected a number between 0 and 1"),
        ({"method": "pc-ac", "alpha": 1.5}, "alpha is 1.5"),
        ({"method": "pc-ac", "alpha": "small"}, "alpha is 'small'"),
        ({"method": "pc-ac", "max_given": -1}, "max_given is -1"),
        ({"method": "pc-ac", "max_given": 1.5}, "max_given is 1.5"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"seed": "x"}, "seed is 'x'"),
        ({"method": "pc-ac", "test": "fisherz"}, "did you mean 'fisher-z'"),
        ({"method": "pc-ac", "test": 3}, "expected a name"),
        ({"knowledge": {"required": []}}, "expected a Knowledge object"),
        ({"missing": "drop"}, "missing is 'drop'"),
    ],
)
def test_bad_options_get_one_sentence(table, options, words):
    with pytest.raises(cc.OptionError, match=words) as caught:
        cc.discover(table, context="soil", **options)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, cc.CausalContextError)


def test_plain_pc_names_its_test_and_measures_correlations():
    table = cc.examples.soil_moisture(500, seed=1).drop(columns="soil")
    result = cc.discover(table, method="pc-ac")
    assert set(result.tests()["test"]) == {"partial-correlation"}
    strength = result.edges()["strength"]
    assert ((strength.abs() <= 1.0) & strength.notna()).all()

"""Several context variables: masking on exactly those in the conditions, one graph per combination
that occurs.
"""

import itertools
from dataclasses import astuple, replace

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
import naive
from causalcontext.ci_tests.registry import TESTS
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.diagnostics.support import Support, matched_support
from causalcontext.graphs.graph import Graph
from causalcontext.results.changes import own_claims
from causalcontext.results.explain import explained
from causalcontext.results.kept import KeptAnswers, with_answers
from causalcontext.views import CIQuery

NAMES = ["X", "A", "Y", "Z", "B", "W"]
CONTEXTS = (1, 4)


def table(seed: int, n: int = 900) -> pd.DataFrame:
    """A switches X -> Y; B, an effect of X, switches Y -> Z; Z -> W everywhere."""
    rng = np.random.default_rng(seed)
    x, y, z, w, e = rng.standard_normal((5, n))
    a = rng.integers(2, size=n)
    b = np.array(["east", "north", "south"])[np.digitize(x + 0.7 * e, [-0.6, 0.6])]
    y = y + np.where(a == 1, 1.0, 0.0) * x
    z = z + np.where(b == "north", 1.0, 0.0) * y
    return pd.DataFrame({"X": x, "A": a, "Y": y, "Z": z, "B": b, "W": w + 0.8 * z})


def naive_answer(frame: pd.DataFrame):
    codes = {1: frame["A"].to_numpy(), 4: frame["B"].astype("category").cat.codes.to_numpy()}
    system = frame.drop(columns=["A", "B"]).to_numpy(float)
    place = {0: 0, 2: 1, 3: 2, 5: 3}

    def answer(x, y, given, where):
        rows = np.ones(len(frame), dtype=bool)
        for column, level in where:
            rows &= codes[column] == level
        rest = [place[z] for z in given]
        endpoints = [end for end in (x, y) if end in codes]
        if len(endpoints) == 2:
            return naive.wilks(system[rows], codes[x][rows], codes[y][rows], rest)[-1]
        if endpoints:
            found = naive.context_change(
                system[rows], codes[endpoints[0]][rows], place[x + y - endpoints[0]], rest
            )
        else:
            found = naive.partial_correlation(system[rows], place[x], place[y], rest)
        return None if found is None else found[-1]

    return answer


def prepare(frame: pd.DataFrame):
    data = read_table(frame, ["A", "B"])
    return TESTS["partial-correlation"].prepare(data, gather_statistics(data))


@pytest.mark.parametrize("seed", range(3))
def test_every_kind_of_trial_is_the_naive_one(seed):
    frame = table(seed)
    prepared = prepare(frame)
    answer = naive_answer(frame)
    asked = [
        (0, 2, (), ()),
        (0, 2, (3,), ((1, 1),)),
        (0, 2, (3, 5), ((1, 0), (4, 2))),
        (1, 2, (0,), ()),
        (1, 2, (0,), ((4, 1),)),
        (3, 4, (2,), ((1, 0),)),
        (1, 4, (), ()),
        (1, 4, (0, 2), ()),
    ]
    queries = [CIQuery(*question[:3], prepared.contexts.number(question[3])) for question in asked]
    outcomes = prepared.answer(queries)
    for question, p in zip(asked, outcomes.p, strict=True):
        assert p == pytest.approx(answer(*question), rel=1e-7)
    assert outcomes.n[2] == ((frame["A"] == 0) & (frame["B"] == "south")).sum()


@pytest.mark.parametrize("seed", range(2))
def test_conditions_on_all_rows_divide_them_into_strata(seed):
    """Given B on all rows, every question is asked for each of its values, and the answers are
    added up.
    """
    frame = table(seed)
    prepared, codes = prepare(frame), frame["B"].astype("category").cat.codes.to_numpy()
    system = frame.drop(columns=["A", "B"]).to_numpy(float)
    parts = [(system[codes == b], frame["A"].to_numpy()[codes == b]) for b in range(3)]
    found = prepared.answer([CIQuery(0, 2, (3, 4)), CIQuery(1, 2, (0, 4)), CIQuery(0, 2, (1, 4))])
    both = 3 * frame["A"].to_numpy() + codes
    for place, groups in ((0, codes), (2, both)):
        twin = naive.stratified_partial_correlation(
            system, groups, 0, 1, (2,) if place == 0 else ()
        )
        assert found.p[place] == pytest.approx(twin[-1], rel=1e-7)
    twins = [naive.context_change_parts(values, a, 1, (0,)) for values, a in parts]
    ratio, mean, df = np.sum(twins, axis=0)
    assert found.statistic[1] == pytest.approx(ratio * df / mean, rel=1e-7)
    assert found.df[1] == df


def test_fixed_context_variables_cannot_be_tested():
    prepared = prepare(table(1))
    assert np.isnan(
        prepared.answer([CIQuery(1, 2, (), prepared.contexts.number(((1, 0),)))]).p
    ).all()
    assert prepared.answer([]).p.size == 0


@pytest.mark.parametrize("seed", range(3))
def test_skeletons_are_those_of_the_naive_search_of_each_combination(seed):
    frame = table(seed)
    result = cc.discover(frame, context=["A", "B"], test="partial-correlation", method="pc-ac")
    cells = list(itertools.product(range(2), range(3)))
    twins = naive.pc_stable_cells(naive_answer(frame), range(6), CONTEXTS, cells)
    for (a, b), graph in result.graphs.items():
        twin = twins[a, ["east", "north", "south"].index(b)]
        assert {frozenset(map(int, pair)) for pair in np.argwhere(graph.adjacency)} == twin


def test_mechanisms_are_found_where_they_are():
    result = cc.discover(table(4, n=4000), context=["A", "B"], alpha=0.01, method="pc-ac")
    assert result.contexts == tuple(itertools.product((0, 1), ("east", "north", "south")))
    for (a, b), graph in result.graphs.items():
        assert (graph.mark("X", "Y") != "") == (a == 1)
        assert (graph.mark("Y", "Z") != "") == (b == "north")
        assert graph.mark("Z", "W") != ""
        assert graph.mark("X", "B") != ""


def test_only_combinations_that_occur_have_a_graph():
    frame = table(5)
    frame = frame[~((frame["A"] == 1) & (frame["B"] == "south"))]
    result = cc.discover(frame, context=["A", "B"], method="pc-ac")
    assert len(result.graphs) == 5
    assert (1, "south") not in result.graphs


def test_rows_say_which_context_variables_were_fixed(tmp_path):
    result = cc.discover(table(6, n=2000), context=["A", "B"], method="pc-ac")
    log = result.tests()
    assert {"pooled", "A=0"} < set(log["rows"])
    fixed = log[log["rows"].str.contains("A=")]
    assert not any("A" in given for given in fixed["given"])
    assert "rows with A = 0" in result.explain("X", "Y")
    assert set(log["test"]) <= {"partial-correlation", "robust-change", "g-squared", "tsagris"}
    result.save(tmp_path / "r.json")
    again = cc.load(tmp_path / "r.json")
    assert again == result
    assert again.explain("X", "Y") == result.explain("X", "Y")
    moments = set(
        cc.discover(
            table(6, n=2000), context=["A", "B"], test="partial-correlation", method="pc-ac"
        ).tests()["test"]
    )
    assert moments <= {"partial-correlation", "context-change", "wilks"}
    assert str(again) == str(result)


def test_order_of_columns_and_contexts_does_not_matter():
    frame = table(7)
    result = cc.discover(frame, context=["A", "B"], method="pc-ac")
    other = cc.discover(frame[["B", "W", "Z", "X", "Y", "A"]], context=["B", "A"], method="pc-ac")
    for (a, b), graph in result.graphs.items():
        twin = other.graphs[b, a]
        assert all(
            bool(graph.mark(x, y)) == bool(twin.mark(x, y))
            for x, y in itertools.combinations(NAMES, 2)
        )


@pytest.mark.parametrize("method", ["pc-ac", "pc-m", "pc-p", "pc-b", "score-ac", "auto"])
def test_one_context_in_a_list_is_that_context(method):
    frame = table(8).drop(columns="B")
    assert cc.discover(frame, context=["A"], method=method) == cc.discover(
        frame, context="A", method=method
    )


def test_tests_grow_with_the_context_variables_not_with_their_combinations():
    rng = np.random.default_rng(3)
    counts = []
    for contexts in (1, 4):
        values = rng.standard_normal((3000, 8))
        frame = pd.DataFrame(values, columns=[f"V{i}" for i in range(8)])
        for j in range(contexts):
            frame[f"R{j}"] = (values[:, j] + 0.5 * rng.standard_normal(3000) > 0).astype(int)
        result = cc.discover(
            frame, context=[f"R{j}" for j in range(contexts)], alpha=0.001, method="pc-ac"
        )
        counts.append(result.tests_run["within contexts"])
        assert len(result.graphs) == 2**contexts
    assert counts[1] <= 16 * max(counts[0], 4)


def test_any_kind_of_table():
    import polars

    frame = table(9).assign(B=lambda f: f["B"].map({"east": 0, "north": 1, "south": 2}))
    result = cc.discover(frame, context=["A", "B"], method="pc-ac")
    lazy = cc.discover(polars.from_pandas(frame).lazy(), context=["A", "B"], method="pc-ac")
    array = cc.discover(
        frame.to_numpy(), context=["A", "B"], names=list(frame.columns), method="pc-ac"
    )
    mapping = cc.discover({name: frame[name] for name in frame}, context=["A", "B"], method="pc-ac")
    assert dict(lazy.graphs) == dict(array.graphs) == dict(mapping.graphs) == dict(result.graphs)
    assert all(type(part) is int for value in array.contexts for part in value)
    with pytest.raises(cc.DataError, match="expected a pandas, polars or pyarrow"):
        cc.discover(3, context=["A", "B"], method="pc-ac")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"context": []}, "expected the name of a column, or several in a list"),
        ({"context": ["A", "A"]}, "expected different column names"),
        ({"context": ["A", "C"]}, "no context column 'C'"),
        (
            {"context": ["A", "B"], "method": "pc-ac", "test": "regression-legacy"},
            "takes one context variable",
        ),
        ({"context": ["A", cc.threshold("X", 99.0)]}, "has 1 level"),
        ({"context": ["A", cc.threshold("B", 0.0)]}, "a categorical column is a context itself"),
    ],
)
def test_bad_lists_get_one_sentence(options, words):
    with pytest.raises(cc.CausalContextError, match=words):
        cc.discover(table(1), **options)


@pytest.fixture(scope="module")
def switched():
    return cc.discover(table(4, n=4000), context=["A", "B"], alpha=0.01, method="pc-ac")


def test_changes_compare_two_combinations(switched):
    frame = table(4, n=4000)
    switched.second_opinion()
    found = switched.changes((0, "east"), (1, "east")).set_index(["source", "target"]).loc["X", "Y"]
    assert (found["present"], found["absent"], found["label"]) == (
        (1, "east"),
        (0, "east"),
        "absent",
    )
    assert (found["status"], found["reason"]) == ("claimed", "")  # score-ac confirms it
    assert found["q"] < 1e-6
    rows = [
        frame[(frame["A"] == a)] for a in (1, 0)
    ]  # Y has no other possible cause, so B stays pooled
    twins = [naive.regression_slope(part[["X", "Y"]].to_numpy(), 0, 1, ()) for part in rows]
    assert found["effect_present"] == pytest.approx(twins[0][0])
    assert found["effect_absent"] == pytest.approx(twins[1][0])
    assert (switched.changes((0, "east"), (0, "south"))["kind"] != "edge").all()
    pairs = {
        frozenset(pair)
        for pair in switched.changes((0, "north"), (1, "south"))[["source", "target"]].to_numpy()
    }
    assert pairs == {frozenset("XY"), frozenset("YZ")}
    with pytest.raises(cc.OptionError, match="there is no context"):
        switched.changes((0, "west"), (1, "east"))


def test_score_ac_is_asked_about_claims_of_several_contexts(switched):
    """What tests alone would claim is a candidate where score-ac, asked about the same contexts,
    does not.
    """
    other = switched.second_opinion()
    assert (other.settings.method, other.contexts, other.cells) == (
        "score-ac",
        switched.contexts,
        switched.cells,
    )
    a, b = (0, "east"), (1, "east")
    assert [change[:2] for change in own_claims(other, a, b) if change.claimed] == [("X", "Y")]
    unsure = with_answers(replace(switched), KeptAnswers(claims=()))
    assert [unsure.changes(a, b).loc[0, column] for column in ("status", "reason")] == [
        "candidate",
        "score-ac does not confirm it",
    ]


def test_labels_say_where_an_edge_is(switched):
    found = switched.labels().set_index(["source", "target", "context"])["label"]
    assert [found["X", "Y", (a, "north")] for a in (0, 1)] == ["absent", "present"]
    assert {found["Z", "W", value] for value in switched.contexts} == {"present"}


def test_a_loaded_result_answers_the_same(switched, tmp_path):
    switched.second_opinion()
    switched.save(tmp_path / "r.json")
    again = cc.load(tmp_path / "r.json")
    pd.testing.assert_frame_equal(again.labels(), switched.labels())
    one, other = (result.changes((0, "north"), (1, "south")) for result in (again, switched))
    pd.testing.assert_frame_equal(one, other)
    assert "not available" in str(again.diagnose())


def test_findings_name_the_context_variable_they_are_about(switched):
    found = switched.diagnose()
    causes = {
        f.evidence["context variable"]: f.evidence["possible causes"]
        for f in found.about("selection bias")
        if "possible causes" in f.evidence
    }
    assert set(causes) == {"A", "B"}
    assert "X" in causes["B"]
    missing = [finding.evidence for finding in found.about("missing edge")]
    assert {"mechanism"} == {evidence["cause"] for evidence in missing}
    assert all(
        sum(a != b for a, b in zip(e["present"], e["absent"], strict=True)) == 1 for e in missing
    )
    assert len(found.about("near miss")) == len({f.message for f in found.about("near miss")})
    frame = table(4, n=2000).assign(A=lambda f: (f["W"] > 0.1).astype(int))
    result = cc.discover(frame, context=["A", "B"], method="pc-ac")
    assert "A is a function of W without exception" in result.warnings[0]
    assert "cc.threshold" in result.diagnose().about("deterministic context")[0].advice


def test_support_is_asked_of_the_rows_that_differ_in_one_variable():
    frame = table(3)
    result = cc.discover(frame, context=["A", "B"], method="pc-ac")
    support = Support(result.rows, 0.05)
    here, there = result.contexts.index((1, "north")), result.contexts.index((0, "north"))
    columns = ["X", "Y", "Z"]
    for given, chosen in (((3,), frame), ((3, 4), frame[frame["B"] == "north"])):
        with_edge, without = (chosen.loc[chosen["A"] == a, columns].to_numpy() for a in (1, 0))
        found, twin = (
            support.verdict(0, 2, given, here, there),
            matched_support(with_edge, without, 0.05),
        )
        assert (found.cause, found.rows) == (twin.cause, twin.rows)
        assert astuple(found)[2:] == pytest.approx(astuple(twin)[2:])


@pytest.mark.slow
def test_stability_draws_in_every_combination(switched):
    stable = switched.stability(samples=10, seed=3)
    again = switched.stability(samples=10, seed=3)
    assert np.array_equal(stable.frequency, again.frequency)
    edges = stable.edges(0.9).set_index(["x", "y", "context"])["present"]
    assert edges["Z", "W", (0, "east")] == 1.0
    assert ("X", "Y", (1, "north")) in edges.index
    assert ("X", "Y", (0, "north")) not in edges.index


def test_orientation_within_and_across_differ_in_their_origins():
    frame = table(4, n=4000)
    across, within = (
        cc.discover(frame, context=["A", "B"], alpha=0.01, orientation=o, method="pc-ac")
        for o in ("across", "within")
    )
    rules = {origin.rule for origin in within.origins.values()}
    assert rules <= {"collider", "R1", "R2", "R3", "R4"}
    for x in ("A", "B"):
        for y in NAMES:
            if y != x:
                assert len({graph.mark(x, y) for graph in across.graphs.values()} - {""}) <= 1  # T0
    assert "B" in across.explain("B", "Z")


def test_wet_soil_is_no_effect_of_its_runoff():
    """A test that is blind to variances made runoff --> soil a collider on wet soil."""
    for seed in range(3):
        frame = cc.examples.soil_moisture(2000, seed=seed)
        frame["season"] = np.random.default_rng(seed).choice(["summer", "winter"], 2000)
        result = cc.discover(frame, context=["soil", "season"], alpha=0.01, method="pc-ac")
        assert {graph.mark("soil", "runoff") for graph in result.graphs.values()} == {"-->"}
        assert {graph.mark("precipitation", "soil") for graph in result.graphs.values()} == {"-->"}


def test_units_do_not_make_links_between_contexts():
    """An inverse of unscaled cross products made R - S appear where columns had very different
    units.
    """
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((2, 500))
    frame = pd.DataFrame({"A": a, "B": b, "C": a + b + rng.standard_normal(500)})
    frame["R"] = (a + 0.5 * rng.standard_normal(500) > 0).astype(int)
    frame["S"] = (a + b + 0.5 * rng.standard_normal(500) > 0).astype(int)
    moved = frame.assign(A=frame["A"] * 1e4, B=frame["B"] * 1e-4)
    for test in ("auto", "partial-correlation"):
        plain, other = (
            cc.discover(data, context=["R", "S"], test=test, method="pc-ac")
            for data in (frame, moved)
        )
        assert dict(plain.graphs) == dict(other.graphs)


def test_ugly_tables_are_treated_as_with_one_context():
    frame = table(2)
    mixed = frame.astype(object)
    assert dict(cc.discover(mixed, context=["A", "B"], method="pc-ac").graphs) == dict(
        cc.discover(frame, context=["A", "B"], method="pc-ac").graphs
    )
    with pytest.raises(cc.DataError, match="infinite values in 'X'"):
        cc.discover(
            frame.assign(X=frame["X"].where(frame["X"] < 1.5, np.inf)),
            context=["A", "B"],
            method="pc-ac",
        )
    holes = frame.assign(X=frame["X"].where(frame["X"] < 1.5))
    with pytest.raises(cc.DataError, match="missing values in 'X'"):
        cc.discover(holes, context=["A", "B"], method="pc-ac")
    dropped = cc.discover(holes, context=["A", "B"], missing="listwise", method="pc-ac")
    assert dict(dropped.graphs) == dict(
        cc.discover(holes.dropna(), context=["A", "B"], method="pc-ac").graphs
    )
    testwise = cc.discover(holes, context=["A", "B"], missing="testwise", method="pc-ac")
    log = testwise.tests().query("rows == 'pooled'")
    assert set(log[(log["x"] == "X") | (log["y"] == "X")]["n"]) == {len(holes.dropna())}
    assert len(frame) in set(log["n"])


SCOPES = [("pc-ac", scope) for scope in ("cycle", "always")]


@pytest.mark.parametrize(
    ("method", "scope"),
    [*[(name, None) for name in ("pc-m", "pc-p", "pc-b")], *SCOPES],
)
def test_every_method_and_scope(method, scope):
    result = cc.discover(
        table(4, n=1500),
        context=["A", "B"],
        method=method,
        alpha=0.01,
        n_jobs=2,
        **({} if scope is None else {"masked_scope": scope}),
    )
    assert len(result.graphs) == 6
    if method == "pc-ac":
        assert (
            result.graphs[1, "north"].mark("X", "Y")
            != ""
            == result.graphs[0, "north"].mark("X", "Y")
        )
    if method == "pc-m":
        assert all(not graph.neighbours("A") for graph in result.graphs.values())
    if method == "pc-p":
        assert len(set(result.graphs.values())) == 1


@pytest.mark.parametrize(
    "test", ["auto", "tsagris", "g-squared", "cmi-knn", "conditional-gaussian"]
)
def test_every_kind_of_column_and_test(test):
    frame = table(5, n=240).assign(
        K=lambda f: pd.cut(f["W"], 3, labels=["l", "m", "h"]).astype(str)
    )
    frame["N"] = np.random.default_rng(1).poisson(2.0, len(frame))
    result = cc.discover(
        frame,
        context=["A", "B"],
        test=test,
        max_given=1,
        kinds={"N": "count"},
        method="pc-ac",
        keep=["K"],
    )
    assert result.union.mark("W", "K") != ""
    assert len(explained(result, "A", "K", apart=True)) == 6


@pytest.mark.parametrize("method", ["score-ac", "pc-ac"])
def test_a_mechanism_that_depends_on_one_context_is_fitted_on_all_rows_with_its_value(method):
    random = np.random.default_rng(1)
    frame = pd.DataFrame({"R": random.integers(2, size=800), "S": random.integers(2, size=800)})
    frame["X"] = random.normal(size=800) + frame["S"]
    frame["W"] = random.normal(size=800)
    frame["Y"] = (
        (1 - 2 * frame["R"]) * frame["X"] + frame["W"] + frame["R"] + random.normal(size=800)
    )
    result = cc.discover(frame, context=["R", "S"], method=method)
    edges = [("X", "Y", "-->"), ("W", "Y", "-->"), ("R", "Y", "-->"), ("S", "X", "-->")]
    graphs = dict.fromkeys(result.contexts, Graph.from_edges(result.names, edges))
    given = replace(result, graphs=graphs)
    assert given.evidence is None or given.evidence.model[given.position("Y")] in (
        "mixed",
        "partitioned",
    )
    for one in (given, result.with_graphs(graphs)):
        found = one.mechanisms().query("cause == 'X' and effect == 'Y'")
        for row in found.itertuples():
            rows = frame[frame["R"] == row.context[0]]
            assert row.rows == f"R={row.context[0]}"
            assert row.n == len(rows)
            design = np.column_stack([rows["X"], rows["W"], np.ones(len(rows))])
            assert row.coefficient == pytest.approx(
                np.linalg.lstsq(design, rows["Y"], rcond=None)[0][0]
            )
            assert found.loc[row.Index, "shared by"] == tuple((row.context[0], s) for s in (0, 1))


def test_the_command_line_takes_several_contexts(tmp_path):
    from typer.testing import CliRunner

    from causalcontext.cli.app import app

    table(4, n=1500).to_csv(tmp_path / "t.csv", index=False)
    words = [
        "discover",
        str(tmp_path / "t.csv"),
        "--context",
        "A",
        "--context",
        "B",
        "--method",
        "pc-ac",
        "--masked-scope",
        "cycle",
    ]
    files = ["--json", str(tmp_path / "r.json"), "--report", str(tmp_path / "r.html"), "--diagnose"]
    found = CliRunner().invoke(app, [*words, *files])
    assert found.exit_code == 0, found.output
    assert cc.load(tmp_path / "r.json") == cc.discover(
        table(4, n=1500), context=["A", "B"], method="pc-ac", masked_scope="cycle"
    )
    assert "Diagnosis" in (tmp_path / "r.html").read_text()

"""fci-ac with lags: no end is wrong on exact models over time, and the options are used."""

import every_hidden_model
import numpy as np
import pandas as pd
import pytest
from binary_chains import random_chain
from hidden_chains import count_chains, counted, every_model, random_models, search_chain, unrolled
from hidden_effects import count_models

import causalcontext as cc
from causalcontext.errors import OptionError
from causalcontext.graphs.endpoints import adjacent
from causalcontext.graphs.paths import is_d_separated, reach
from marks import rest_slow

NOTHING_WRONG = {"lost": 0, "wrong": 0, "conflicts": 0}


def check(found):
    assert {name: found[name] for name in NOTHING_WRONG} == NOTHING_WRONG
    assert found["tails"] > 0
    return found


@pytest.mark.slow
def test_every_model_of_two_observed_processes_and_a_hidden_one():
    found = check(counted(2, 1, *every_model(3)))
    assert found == {
        "models": 12_800,
        "sets of answers": 70,
        "true": 51_420,
        "too many": 0,
        "arrows": 45_198,
        "tails": 4_138,
        **NOTHING_WRONG,
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("which", "counts"),
    [
        (
            (2, 2),
            {
                "models": 35_586_048,
                "sets of answers": 87,
                "true": 165_676_036,
                "lost": 0,
                "too many": 0,
                "arrows": 137_612_934,
                "tails": 4_211_510,
                "wrong": 0,
            },
        ),
        (
            (3, 1, 5),
            {
                "models": 103_003,
                "sets of answers": 2_856,
                "true": 383_538,
                "lost": 0,
                "too many": 0,
                "arrows": 364_893,
                "tails": 95_181,
                "wrong": 0,
            },
        ),
        (
            (3, 2, 4),
            {
                "models": 153_966,
                "sets of answers": 792,
                "true": 292_122,
                "lost": 0,
                "too many": 0,
                "arrows": 249_006,
                "tails": 38_127,
                "wrong": 0,
            },
        ),
    ],
)
def test_every_model_of_two_or_three_observed_processes_and_hidden_ones(which, counts):
    assert every_hidden_model.counted(*which) == counts


@pytest.mark.parametrize(("observed", "hidden"), [(2, 2), (3, 1), (3, 2)])
def test_answers_of_the_enumeration_are_those_of_separation(observed, hidden):
    models = every_hidden_model.Models(observed, hidden)
    asked, nodes = models.questions(), models.nodes
    lagged, inside = random_models(models.size, 8, 0, 0.3)
    for graph, *links in zip(unrolled(lagged, inside, models.times), inside, lagged, strict=True):
        told, causes = every_hidden_model.answers_of(*map(every_hidden_model.codes, links), *asked)
        for k, (x, y, given) in enumerate(models.asked):
            separates = bool(told[k // 60] >> k % 60 & 1)
            assert separates == is_d_separated(graph, nodes[x], nodes[y], nodes[list(given)])
        for k, (a, b) in enumerate(models.causes):
            assert bool(causes >> k & 1) == reach(graph)[nodes[a], nodes[b]]


@pytest.mark.parametrize(
    ("observed", "hidden", "lags", "models"),
    rest_slow([(2, 1, 1, 300), (2, 2, 1, 2000), (2, 1, 2, 400), (3, 1, 1, 400), (3, 2, 1, 300)]),
)
def test_random_models_of_more_processes_and_lags(observed, hidden, lags, models):
    drawn = random_models(observed + hidden, models, [observed, hidden, lags, 1], 0.3)
    assert check(counted(observed, lags, *drawn))["too many"] == 0


@pytest.mark.parametrize(
    ("variables", "hidden", "contexts", "chains"),
    rest_slow([(2, 1, 1, 12), (2, 1, 1, 150), (2, 2, 1, 30), (3, 1, 1, 12), (1, 1, 2, 25)]),
)
def test_chains_with_contexts_and_hidden_variables(variables, hidden, contexts, chains):
    """Endogenous R(t) and R(t-1), feedback through time, hidden variables anywhere."""
    check(count_chains(variables, hidden, chains, contexts, first=100))


def series(rows=1500, seed=1):
    """L hidden drives A and B; A(t-1) --> C in wet alone; R is an effect of C."""
    random = np.random.default_rng(seed)
    noise, found, driver = (
        random.normal(size=(rows, 4)),
        np.zeros((rows, 3)),
        random.normal(size=rows),
    )
    wet = np.zeros(rows, dtype=bool)
    for t in range(1, rows):
        a, b, c = found[t - 1]
        found[t] = (
            0.4 * a + driver[t] + 0.7 * noise[t, 0],
            0.4 * b + driver[t] + 0.7 * noise[t, 1],
            0.4 * c + wet[t - 1] * 0.9 * a + noise[t, 2],
        )
        wet[t] = found[t, 2] + noise[t, 3] > 0
    return pd.DataFrame(found, columns=list("ABC")).assign(R=np.where(wet, "wet", "dry"))


@pytest.fixture(scope="module")
def found():
    return cc.discover(series(), "R", lags=1, method="fci-ac", alpha=0.01)


def test_graphs_are_pags_over_the_window(found):
    dry, wet = found.graphs["dry"], found.graphs["wet"]
    assert found.union.kind == "pag"
    assert wet.mark("A(t-1)", "C") in ("-->", "o->")
    assert dry.mark("A(t-1)", "C") == ""
    assert wet.mark("A", "B") not in ("", "-->", "<--")
    assert wet.mark("C", "R") != ""
    past = [name for name in dry.names if "(t-1)" in name]
    assert not any(graph.mark(a, b) for graph in (dry, wet) for a in past for b in past if a != b)


def test_nothing_precedes_its_cause(found):
    for graph in found.graphs.values():
        for edge in graph.edges:
            if "(t-1)" in edge.source:
                assert edge.mark[-1] == ">"
    assert "an effect cannot precede its cause" in found.explain("A(t-1)", "A")


def test_results_are_saved_and_asked_like_others(found, tmp_path):
    found.save(tmp_path / "found.json")
    assert cc.load(tmp_path / "found.json") == found
    log = found.tests()
    assert not (log["x"].str.contains("t-1") & log["y"].str.contains("t-1")).any()
    assert set(log["rows"]) <= {
        "",
        "pooled",
        "R=dry",
        "R=wet",
        "R(t-1)=dry",
        "R(t-1)=wet",
        *log["rows"],
    }
    assert found.reads is not None
    assert found.changes("dry", "wet")["source"].size


def test_effects_are_0_or_say_why_they_are_not_identified(found):
    """C leads nowhere but to R; A(t-1) leads to C, and what the context was before the window is
    not held.
    """
    table = found.effects("A", "C")
    row = table[(table["lag"] == 1) & (table["context"] == "wet") & table["versus"].isna()].iloc[0]
    assert not row["identified"]
    assert "links that only that value has may confound A(t-1) and C" in row["note"]
    table = found.effects("B", "A")
    assert (table.loc[table["identified"], "effect"].dropna() == 0).all()


@pytest.mark.parametrize(
    ("observed", "hidden", "lags", "models"),
    rest_slow([(2, 1, 2, 80), (2, 1, 3, 300), (2, 2, 2, 600), (3, 1, 2, 200), (3, 2, 2, 80)]),
)
def test_effects_by_adjustment_are_those_of_exact_linear_models(observed, hidden, lags, models):
    """No set that is called enough leaves the coefficient different from the total effect."""
    drawn = random_models(observed + hidden, models, [observed, hidden, lags, 2], 0.35)
    found = count_models(observed, lags, drawn, 11)
    assert found["wrong"] == 0
    assert (
        found["nonzero"] > models / 2
    )  # effects that were told, in two models with the same graph


def test_an_own_past_that_separates_nothing_has_no_vote():
    """Neighbours leave C(t-1) - C, since B(t-1) is needed to separate the two; all votes on C(t-1)
    hold it.
    """
    inside, lagged = np.zeros((2, 1, 5, 5), dtype=bool)  # A, B, C, and two hidden ones
    for cause, effect in ((0, 2), (1, 0), (3, 0)):
        inside[0, cause, effect] = True
    for cause, effect in ((2, 4), (3, 2), (4, 1)):
        lagged[0, cause, effect] = True
    found = check(counted(3, 1, lagged, inside))
    assert (found["true"], found["too many"]) == (5, 1)


def chain_of_three(rows=1500, seed=3):
    """X(t-2) --> Z(t-1) --> Y: no link from X to Y, and an effect of .64 all the same."""
    random = np.random.default_rng(seed)
    x, z, y = np.zeros((3, rows))
    for t in range(1, rows):
        x[t], z[t] = (
            0.6 * x[t - 1] + random.normal(),
            0.5 * z[t - 1] + 0.8 * x[t - 1] + random.normal(),
        )
        y[t] = 0.5 * y[t - 1] + 0.8 * z[t - 1] + random.normal()
    return pd.DataFrame({"X": x, "Y": y, "Z": z})


def test_effects_through_earlier_links_are_not_called_0():
    result = cc.discover(chain_of_three(), lags=2, method="fci-ac", alpha=0.01)
    assert [
        result.union.mark(*pair) for pair in (("X(t-1)", "Z"), ("Z(t-1)", "Y"), ("X(t-2)", "Y"))
    ] == [
        "-->",
        "-->",
        "",
    ]
    forward, back = (
        result.effects("X", "Y").set_index("lag"),
        result.effects("Y", "X").set_index("lag"),
    )
    assert not forward.loc[2, "identified"]
    assert "may hide a common cause; pass more lags" in forward.loc[2, "note"]
    assert back["identified"].all()
    assert (back["effect"] == 0).all()


def test_effects_by_adjustment_need_a_column_before_the_cause(tmp_path):
    """The first column of a window may share a cause with any other; a later one shows that it does
    not.
    """
    result = cc.discover(chain_of_three(), lags=3, method="fci-ac", alpha=0.01)
    result.save(tmp_path / "found.json")
    for one in (result, cc.load(tmp_path / "found.json")):
        found = one.effects("X", "Y").set_index("lag")
        assert found["identified"].tolist() == [True, True, True, False]
        assert found.loc[2, "low"] < 0.64 < found.loc[2, "high"]
        assert found.loc[2, "se"] > 0.0


def test_own_pasts_are_among_the_conditions():
    """X(t-1) --> Y of persistent X and Y: sets without Y(t-1) hardly see it; what separates holds
    own pasts, mostly.
    """
    found = 0
    for seed in range(10):
        random, values = np.random.default_rng([seed, 33]), np.zeros((600, 2))
        for t in range(1, 600):
            values[t] = 0.9 * values[t - 1] + random.normal(size=2) + [0.0, -0.3 * values[t - 1, 0]]
        result = cc.discover(
            pd.DataFrame(values, columns=list("XY")), lags=2, method="fci-ac", alpha=0.01
        )
        found += result.union.mark("X(t-1)", "Y") != ""
        log = result.tests().set_index(["x", "y"])
        assert "X(t-1)" in log.loc[("X(t-2)", "X"), "given"]
    assert found >= 9


def test_knowledge_is_about_causes_at_all_times():
    """A forbidden link is an arrowhead, one that is forbidden both ways is no edge, at any lag."""
    table = series(600)
    one = cc.discover(
        table, "R", lags=1, method="fci-ac", knowledge=cc.Knowledge(forbidden=[("A", "B")])
    )
    marks = [graph.mark("A", "B") for graph in one.graphs.values()] + [
        one.union.mark("A(t-1)", "B")
    ]
    assert all(mark == "" or mark[0] in "<x" for mark in marks)
    none = cc.discover(
        table,
        "R",
        lags=1,
        method="fci-ac",
        knowledge=cc.Knowledge(forbidden=[("A", "B"), ("B", "A")]),
    )
    assert not any(
        none.union.mark(*pair) for pair in (("A", "B"), ("A(t-1)", "B"), ("B(t-1)", "A"))
    )
    needed = cc.discover(
        table, "R", lags=1, method="fci-ac", knowledge=cc.Knowledge(required=[("A(t-1)", "C")])
    )
    assert {graph.mark("A(t-1)", "C") for graph in needed.graphs.values()} == {"-->"}


def test_a_context_that_never_stays_is_told_apart_now_alone():
    table = series(400)
    table["R"] = np.where(np.arange(len(table)) % 2, "odd", "even")
    result = cc.discover(table, "R", lags=1, method="fci-ac")
    assert any("no window has one of its values at all lags" in note for note in result.notes)
    assert set(result.graphs) == {"even", "odd"}


def test_columns_in_another_order_have_the_same_marks():
    table = series(700)
    first, second = (
        cc.discover(table[list(order)], "R", lags=1, method="fci-ac") for order in ("ABCR", "CRBA")
    )
    for value, graph in first.graphs.items():
        assert {(*sorted(edge[:2]), graph.mark(*sorted(edge[:2]))) for edge in graph.edges} == {
            (*sorted(edge[:2]), second.graphs[value].mark(*sorted(edge[:2])))
            for edge in second.graphs[value].edges
        }


def test_options_of_static_searches_that_are_not_used_are_refused():
    with pytest.raises(OptionError):
        cc.discover(series(100), "R", lags=1, method="fci-ac", masked_scope="cycle")


def test_a_removal_is_repeated_only_on_rows_that_the_window_has():
    """X(t) - Y(t) may be separated where R(t-1) = 0: earlier that is R(t-2) = 0, which no graph is
    about.
    """
    more = 0
    for number in range(10):
        found, plan, _ = search_chain(random_chain(3, [number, 9], "any", 0.4), 1)
        window, here = plan.window, adjacent(found.endpoints)
        now, earlier = ([window.at(v, lag) for v in (0, 1)] for lag in (0, 1))
        for g, cell in enumerate(plan.contexts.cells):
            same = [h for h, other in enumerate(plan.contexts.cells) if other[0] == cell[1]]
            assert here[(same, *now)].any() <= here[(g, *earlier)]
            more += here[(g, *earlier)] > here[(same[0], *now)]
    assert more > 0

"""Studies of models with hidden variables: what is counted as right, and how it is kept."""

import numpy as np
import pytest

import causalcontext as cc
from causalcontext.graphs.endpoints import Endpoint
from causalcontext.graphs.graph import Graph
from causalcontext_lab.simulate import ContextSCM, HiddenVariables, random_hidden_model
from causalcontext_lab.study import Design, Setting, grid, run_study, run_table, summary_table
from causalcontext_lab.study.methods import StudyTask, fci_m, fci_p
from causalcontext_lab.study.runner import (
    RATES,
    ancestral_counts,
    ancestral_rates,
    knowable_endpoints,
)
from hidden_models import written


def fork():
    """X <- L -> Y, and X -> Z in context 1 only, where R acts on Z."""
    _, names, stack = written("L>X L>Y X>Z@1 R>Z")
    coefficients = np.where(stack, 0.8, 0.0)
    coefficients[:, 0] = 0.0
    scm = ContextSCM(
        tuple(names),
        0,
        coefficients,
        (4, 0, 1, 2, 3),
        shifts=np.array([[0.0] * 5, [0, 0, 0, 1.0, 0]]),
    )
    return HiddenVariables(scm, (names.index("L"),))


def endpoints_of(*edges):
    return Graph.from_edges(["R", "X", "Y", "Z"], edges, "pag").endpoints


def test_ends_are_right_if_they_are_true_of_their_context():
    model = fork()
    found = np.stack(
        [
            endpoints_of(("X", "Y", "<->"), ("X", "Z", "-->"), ("R", "Z", "-->")),
            endpoints_of(("X", "Y", "-->"), ("X", "Z", "o->"), ("R", "Z", "-->")),
        ]
    )
    counts = ancestral_counts(found, model, found)
    assert (counts["pairs_true"], counts["pairs_right"], counts["pairs_wrong"]) == (3, 3, 1)
    assert (counts["bidirected"], counts["bidirected_right"]) == (1, 1)
    assert (counts["tails"], counts["tails_right"]) == (
        2,
        0,
    )  # X causes Z in context 1 only, and Y in neither
    assert (counts["arrows"], counts["arrows_right"]) == (5, 5)
    assert (counts["tails_at_context"], counts["tails_at_context_right"]) == (1, 1)
    assert (counts["changes"], counts["changes_true"]) == (0, 1)
    assert ancestral_rates(counts)["fpr"] == pytest.approx(1 / counts["pairs_absent"])


def test_the_ends_that_can_be_known_are_all_true():
    for seed in range(3):
        model = random_hidden_model(observed=5, hidden=2, seed=seed)
        rates = ancestral_rates(
            ancestral_counts(knowable_endpoints(model), model, knowable_endpoints(model))
        )
        assert rates["tpr"] == 1.0
        assert rates["fpr"] == 0.0
        for name in (
            "arrow_prec",
            "arrow_rec",
            "tail_prec",
            "tail_rec",
            "change_prec",
            "change_rec",
        ):
            assert rates[name] == 1.0 or np.isnan(rates[name])


def test_a_study_of_hidden_variables(tmp_path):
    settings = grid(generator="hidden", nodes=5, hidden=[0, 1], samples=300)
    design = Design("hidden", settings, methods=("fci-ac", "pc-ac"), knowledge=("none",), repeats=2)
    records = run_study(design, tmp_path / "hidden.jsonl")
    assert records == run_study(design, tmp_path / "hidden.jsonl")
    table = summary_table(design, records)
    assert set(table["graph"]) == {"ancestral"}
    assert set(table["metric"]) == set(RATES)
    assert set(table["hidden"]) == {0, 1}
    assert table["value"].dropna().between(0, 1).all()
    assert "ancestral_tail_prec" in run_table(design, records)


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(cc.OptionError, match="needs the generator 'hidden'"):
        Setting(hidden=2)
    with pytest.raises(cc.OptionError, match="where variables are hidden, expected"):
        Design("hidden", (Setting(generator="hidden", hidden=1),))


def test_seeds_of_settings_without_hidden_variables_are_what_they_were():
    first, second = Design("old").seeds(Setting(), 3)
    assert (int(first.integers(1000)), int(second.integers(1000))) == (237, 324)


def test_fci_of_causal_learn_keeps_its_circles():
    pytest.importorskip("causallearn")
    model = random_hidden_model(observed=5, hidden=1, seed=4)
    task = StudyTask(model.sample(500, seed=1), "R", cc.Knowledge(), "partial-correlation", 0.05)
    pooled, masked = fci_p(task), fci_m(task)
    place = list(task.table.columns).index("R")
    assert pooled.contexts is None
    assert not masked.contexts[:, place].any()
    assert (pooled.union == Endpoint.CIRCLE).any()
    assert np.array_equal(pooled.union != 0, (pooled.union != 0).swapaxes(1, 2))

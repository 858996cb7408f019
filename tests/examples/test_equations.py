"""Hand-written models: tables, interventions, and truth graphs as the paper draws them."""

import numpy as np
import pytest

from causalcontext.errors import OptionError
from causalcontext_lab.simulate import MODELS, EquationSCM, named_model
from marks import rest_slow

AT_R = ["X --> R", "T --> R"]
FLIP = ["R --> Y", "R --> Z", "X --> Y"]
COLLIDER = ["R --> Y", "R --> Z"]
FEEDBACK = ["latent_heat --> soil", "precipitation --> soil", "soil --> latent_heat_next_day"]
# "everywhere": the descriptive, physical and counterfactual graphs alike
AS_DRAWN = {
    "example-i": {
        "union": [*AT_R, "T --> Y", "R --> Y"],
        "everywhere": {0: [*AT_R, "R --> Y"], 1: [*AT_R, "T --> Y", "R --> Y"]},
    },
    "example-ii": {
        "union": [*AT_R, "T --> Y"],
        "descriptive": {0: AT_R, 1: [*AT_R, "T --> Y"]},
        "physical": {0: [*AT_R, "T --> Y"], 1: [*AT_R, "T --> Y"]},
        "counterfactual": {0: [*AT_R, "T --> Y"], 1: [*AT_R, "T --> Y"]},
    },
    "orientation-collider": {
        "union": [*COLLIDER, "X --> Y", "X --> Z", "Y --> Z"],
        "everywhere": {0: [*COLLIDER, "X --> Z", "Y --> Z"], 1: [*COLLIDER, "X --> Y"]},
    },
    "orientation-flip": {
        "union": [*FLIP, "Y <=> Z"],
        "everywhere": {"A": [*FLIP, "Y --> Z"], "B": [*FLIP, "Z --> Y"]},
    },
    "soil-feedback": {
        "union": [*FEEDBACK, "latent_heat --> latent_heat_next_day"],
        "everywhere": {"dry": [*FEEDBACK, "latent_heat --> latent_heat_next_day"], "wet": FEEDBACK},
    },
}


def listed(graph):
    return sorted(str(edge) for edge in graph)


@pytest.mark.parametrize("seed", rest_slow([0, 1]))
@pytest.mark.parametrize("name", AS_DRAWN)
def test_truth_graphs_are_as_the_paper_draws_them(name, seed):
    truth = named_model(name).truth(seed=seed)
    drawn = AS_DRAWN[name]
    assert listed(truth.union) == sorted(drawn["union"])
    for kind in ("descriptive", "physical", "counterfactual"):
        graphs = getattr(truth, kind)
        assert {level: listed(graph) for level, graph in graphs.items()} == {
            level: sorted(edges)
            for level, edges in drawn.get(kind, drawn.get("everywhere")).items()
        }


def test_a_link_without_support_is_missing_from_the_labeled_union_of_its_context():
    labels = {
        (edge.source, edge.target): edge.contexts
        for edge in named_model("example-ii").truth().labeled_union
    }
    assert labels["T", "Y"] == (1,)
    assert labels["X", "R"] == (0, 1)


@pytest.mark.parametrize("name", MODELS)
def test_every_named_model_samples_its_columns(name):
    model = named_model(name)
    table = model.sample(400, seed=1)
    assert tuple(table.columns) == model.names
    assert table[model.context].nunique() == 2
    assert table.equals(model.sample(400, seed=1))
    assert set(table[model.context]) == set(model.truth(rows=400).contexts)


def test_equations_in_a_circle_are_solved_context_by_context():
    table = named_model("orientation-flip").sample(2000, seed=3)
    first, second = (table[table["R"] == level] for level in ("A", "B"))
    assert abs(np.corrcoef(first["X"], first["Z"])[0, 1]) > 0.4
    assert abs(np.corrcoef(second["X"], second["Z"])[0, 1]) < 0.1


def test_no_dependence_of_the_flip_is_hidden_over_both_contexts():
    table = named_model("orientation-flip").sample(50_000, seed=4)[["X", "Y", "Z"]]
    precision = np.linalg.inv(table.corr())
    scales = np.sqrt(np.diag(precision))
    partial = -precision / np.outer(scales, scales)
    assert np.abs(partial[np.triu_indices(3, 1)]).min() > 0.1
    assert np.abs(table.corr().to_numpy()[np.triu_indices(3, 1)]).min() > 0.1


def test_a_circle_within_a_context_is_refused():
    model = EquationSCM(
        "R",
        {
            "R": lambda noise: noise > 0,
            "X": lambda Y, noise: 2 * Y + noise,
            "Y": lambda X, noise: 2 * X + noise,
        },
    )
    with pytest.raises(OptionError, match="no solution"):
        model.sample(10, seed=0)


def test_an_intervention_replaces_the_equation():
    model = named_model("example-i")
    noise = model.draw_noise(500, seed=2)
    values = model.solve(noise, do={"R": 1})
    assert (values["R"] == 1).all()
    assert np.array_equal(values["Y"], 1.5 * noise["T"] + noise["Y"])
    seen = model.solve(noise)
    kept = seen["R"] == 1
    assert np.array_equal(values["Y"][kept], seen["Y"][kept]), "consistency: had R been what it was"


def test_an_equation_without_noise_is_allowed():
    model = EquationSCM(
        "R", {"X": lambda noise: noise, "R": lambda X: X > 0, "Y": lambda R, noise: R + noise}
    )
    assert set(model.sample(50, seed=0)["R"]) == {0, 1}


def test_unknown_causes_and_a_missing_context_are_named():
    with pytest.raises(
        OptionError, match="uses 'rain', which has no equation; did you mean 'rainy'"
    ):
        EquationSCM("R", {"R": lambda rain, noise: rain > noise, "rainy": lambda noise: noise})
    with pytest.raises(OptionError, match="no equation for the context 'S'"):
        EquationSCM("S", {"R": lambda noise: noise > 0})


def test_truth_needs_rows_in_every_context():
    model = EquationSCM("R", {"R": lambda noise: noise > 9, "X": lambda R, noise: R + noise})
    with pytest.raises(OptionError, match="takes the values"):
        model.truth()

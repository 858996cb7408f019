"""The promises about changes, on many seeded tables: run with `make test-slow`."""

import importlib.util
from pathlib import Path

import pytest

from causalcontext_lab.simulate.testing import random_discrete_model, random_models
from oracle import search_oracle, wrong_marks

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


def benchmark(name: str):
    """A script of benchmarks/ as a module: what it prints and what is promised come from the same
    code.
    """
    (script,) = BENCHMARKS.rglob(f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("example", ["example_i", "example_ii"])
def test_missing_edges_of_the_examples_are_told_apart(example):
    support = benchmark("support")
    found = support.verdicts(example, sets=200, rows=2000, first=20_000)
    vanished = 200 - found["T - Y does not vanish"]
    decided = vanished - found["undecided"] - found["few rows"]
    right = sum(found[word] for word in support.EXPECTED[example])
    assert vanished > 150
    assert right >= 0.85 * decided


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.2, 0.0])
@pytest.mark.parametrize("setting", [(8, 0.4), (8, 0.25)])
@pytest.mark.parametrize("design", ["no change", "variance of a cause"])
def test_few_changes_are_claimed_where_there_are_none(design, setting, noise):
    words = benchmark("claims").line(design, setting, noise, range(20_000, 20_100)).split()
    assert float(words[-1]) <= 5.0


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.2, 0.0])
def test_most_removed_links_of_sparse_systems_are_claimed(noise):
    words = (
        benchmark("claims")
        .line("one removed link", (8, 0.25), noise, range(20_000, 20_150))
        .split()
    )
    assert float(words[-1]) >= 75.0  # 80 less two standard errors


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.2, 0.0])
@pytest.mark.parametrize("setting", [(8, 0.4), (8, 0.25)])
def test_claims_on_graphs_of_a_score_meet_what_is_asked(setting, noise):
    """Most removed links of dense systems too; hardly a claim where only a variance changes."""
    claims, seeds = benchmark("claims"), range(20_000, 20_100)
    assert (
        float(claims.line("one removed link", setting, noise, seeds, "score-ac").split()[-1])
        >= 80.0
    )
    assert float(claims.line("no change", setting, noise, seeds, "score-ac").split()[-1]) <= 0.5
    assert (
        float(claims.line("variance of a cause", setting, noise, seeds, "score-ac").split()[-1])
        <= 0.5
    )


@pytest.mark.slow
def test_no_wrong_mark_in_thousands_of_models_with_four_variables():
    for seed, truth in enumerate(random_models(3000, variables=4, seed=77)):
        found = search_oracle(
            random_discrete_model(truth, 0, seed=seed), across=True, masked_scope="always"
        )
        assert wrong_marks(found.endpoints, truth) == 0

"""What does caution about hidden common causes cost where nothing is hidden, and what does it save
where something is?

`python benchmarks/hidden_causes.py` (extra `compare`; `--help` has options, `--cost` measures
time). Linear models of 8 variables, R and 0, 2 or 6 hidden variables (mean degree 2.2; 1.2 with 6),
n = 1000 and 5000, alpha .05, the same linear-Gaussian tests for all methods but score-ac. An end is
right if it is true of the context; recall is out of the ends that a search without noise finds. FCI
is causal-learn's, on all rows and inside each context.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

import causalcontext as cc
from causalcontext.graphs.endpoints import Endpoint, Endpoints
from causalcontext.knowledge import Knowledge
from causalcontext_lab.simulate import random_hidden_model
from causalcontext_lab.study.methods import EstimatedEndpoints, StudyTask, fci_m, fci_p
from causalcontext_lab.study.runner import ancestral_counts, ancestral_rates, knowable_endpoints

TEST, ALPHA, OBSERVED = "partial-correlation", 0.05, 8
DEGREES = {0: 2.2, 2: 2.2, 6: 1.2}
COLUMNS = {
    "tpr": "TPR",
    "fpr": "FPR",
    "arrow_prec": "arrow prec",
    "arrow_rec": "rec",
    "tail_prec": "tail prec",
    "tail_rec": "rec",
    "tail_prec_at_context": "at R prec",
    "bidirected_prec": "<-> prec",
    "change_prec": "change prec",
    "change_rec": "rec",
}


def ours(method: str, **options: object) -> Callable[[StudyTask], tuple[Endpoints, int]]:
    """What `discover` finds, and with how many tests."""

    def search(task: StudyTask) -> tuple[Endpoints, int]:
        result = cc.discover(
            task.table, context="R", method=method, test=task.test, alpha=task.alpha, **options
        )
        return np.stack([graph.endpoints for graph in result.graphs.values()]), sum(
            result.tests_run.values()
        )

    return search


def stable(task: StudyTask) -> tuple[Endpoints, int]:
    """The ends of fci-ac that 70 % of 15 bootstrap samples agree on; the others are circles."""
    result = cc.discover(task.table, context="R", method="fci-ac", test=task.test, alpha=task.alpha)
    endpoints = np.stack([graph.endpoints for graph in result.graphs.values()])
    shares = result.stability(samples=15).endpoints(least=0.0)
    for row in shares[shares["found"].isin(("arrow", "tail"))].itertuples():
        if getattr(row, row.found) < 0.7:
            place = (
                result.contexts.index(row.context),
                result.position(row.other),
                result.position(row.at),
            )
            endpoints[place] = Endpoint.CIRCLE
    return endpoints, sum(result.tests_run.values())


def theirs(
    search: Callable[[StudyTask], EstimatedEndpoints],
) -> Callable[[StudyTask], tuple[Endpoints, int]]:
    """What causal-learn finds; one graph of all rows stands for both contexts."""

    def both(task: StudyTask) -> tuple[Endpoints, int]:
        found = search(task)
        return (np.repeat(found.union, 2, axis=0) if found.contexts is None else found.contexts), 0

    return both


METHODS = {
    "fci-ac": ours("fci-ac"),
    "fci-ac, bidirected": ours("fci-ac", contested="bidirected"),
    "fci-ac, larger sets": ours("fci-ac", possible_dsep=3),
    "fci-ac, stable ends": stable,
    "FCI, all rows": theirs(fci_p),
    "FCI, per context": theirs(fci_m),
    "pc-ac": ours("pc-ac"),
    "score-ac": ours("score-ac"),
}


def measure(
    hidden: int, n: int, seeds: range, methods: Sequence[str], known: dict[int, Endpoints]
) -> dict[str, Counter[str]]:
    """Counts of every method, summed over models."""
    totals: dict[str, Counter[str]] = {name: Counter() for name in methods}
    for seed in seeds:
        model = random_hidden_model(OBSERVED, hidden, DEGREES[hidden], seed=seed)
        if seed not in known:
            known[seed] = knowable_endpoints(model)
        task = StudyTask(model.sample(n, seed=100_000 + seed), "R", Knowledge(), TEST, ALPHA, {})
        for name in methods:
            begin = time.process_time()
            endpoints, tests = METHODS[name](task)
            totals[name].update({"tests": tests, "seconds": time.process_time() - begin})
            totals[name].update(ancestral_counts(endpoints, model, known[seed]))
    return totals


def cost(models: int, first: int) -> None:
    """Tests and seconds of pc-ac and fci-ac on tables of 50 variables and 2,000 rows, after a first
    run each.
    """
    print(
        f"50 variables, 5 hidden, n = 2000, {models}"
        f" models\n{'':10}{'tests':>10}{'seconds':>10}{'most':>10}"
    )
    for method in ("pc-ac", "fci-ac"):
        spent, tests = [], []
        for seed in range(first - 1, first + models):
            table = random_hidden_model(50, 5, 2.3, seed=seed).sample(2000, seed=100_000 + seed)
            begin = time.process_time()
            result = cc.discover(table, "R", method=method, test=TEST)
            spent.append(time.process_time() - begin)
            tests.append(sum(result.tests_run.values()))
        print(
            f"{method:10}{np.mean(tests[1:]):10.0f}{np.mean(spent[1:]):10.3f}{max(spent[1:]):10.3f}"
        )


def report(count: int, n: int, asked: argparse.Namespace, known: dict[int, Endpoints]) -> None:
    """The table of one setting."""
    print(
        f"\n{count} hidden variables, n = {n}\n{'':22}"
        + "".join(f"{name:>12}" for name in COLUMNS.values())
        + f"{'arrows':>8}{'tails':>8}{'<->':>6}{'tests':>8}{'ms':>8}"
    )
    seeds = range(asked.first_seed, asked.first_seed + asked.models)
    for name, counts in measure(count, n, seeds, asked.methods, known).items():
        rates = ancestral_rates(counts)
        shown = "".join(f"{rates[column]:12.3f}" for column in COLUMNS)
        endpoints = f"{counts['arrows']:8.0f}{counts['tails']:8.0f}{counts['bidirected']:6.0f}"
        per_model = (
            f"{counts['tests'] / asked.models:8.0f}{1000 * counts['seconds'] / asked.models:8.1f}"
        )
        print(f"{name:22}{shown}{endpoints}{per_model}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=60)
    parser.add_argument("--first-seed", type=int, default=19)
    parser.add_argument(
        "--hidden", type=int, nargs="+", default=list(DEGREES), choices=list(DEGREES)
    )
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument(
        "--cost", action="store_true", help="time and tests at 50 variables instead"
    )
    asked = parser.parse_args()
    if asked.cost:
        cost(asked.models, asked.first_seed)
        return
    print(f"{asked.models} models, seeds from {asked.first_seed}")
    for count in asked.hidden:
        known: dict[int, Endpoints] = {}
        for n in (1000, 5000):
            report(count, n, asked, known)


if __name__ == "__main__":
    main()

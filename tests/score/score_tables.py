"""Tables, setups and scored sets of columns for the tests of the score."""

import numpy as np
import pandas as pd

from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.kernels.orders.node_scores import fit_pointer
from causalcontext.kernels.orders.set_scores import score_sets
from causalcontext.kernels.orders.single_fits import fit_many
from causalcontext.knowledge import Knowledge
from causalcontext.score.clock import Clock
from causalcontext.score.columns import make_columns
from causalcontext.score.design import FitWorkspace
from causalcontext.score.design_factory import DesignFactory
from causalcontext.score.options import ScoreOptions
from causalcontext.score.search import Effort, search
from causalcontext.score.setup import set_up
from causalcontext.simulate import random_model


def setup_of(table, context="R", knowledge=None):
    data = read_table(table, context)
    return set_up(data, gather_statistics(data), (knowledge or Knowledge()).links(data.names))


def model_table(rows, seed, **design):
    return random_model(seed=seed, **design).sample(rows, np.random.default_rng([seed, rows]))


def curved_table(rows, seed, contexts=2):
    """Squares, absolute values, a step and skewed noise; the context follows A, and D changes with it."""
    generator = np.random.default_rng([seed, rows])
    a, noise = generator.normal(size=rows) + 3.0, generator.normal(size=(3, rows))
    b = (a - 3.0) ** 2 + 0.6 * noise[0]
    c = np.abs(b - 1.0) - 1.5 * (a > 3.4) + 0.5 * (generator.exponential(size=rows) - 1.0)
    cuts = np.quantile(a, np.arange(1, contexts) / contexts)
    code = np.searchsorted(cuts, a + 0.3 * noise[1])
    d = np.where(code == 0, -1.0, 0.4) * c + noise[2]
    return pd.DataFrame({"A": a, "B": b, "C": c, "D": d, "R": code})


def kinds_table(rows, seed):
    """A number, a category of three levels, an ordered column of four, a count; the context is an effect of N."""
    generator = np.random.default_rng([seed, rows])
    n = generator.normal(size=rows)
    latent = 1.5 * n + generator.logistic(size=rows)
    ordered = pd.Categorical.from_codes(
        np.searchsorted([-1.5, 0.0, 2.0], latent), ["low", "some", "much", "most"], ordered=True
    )
    odds = np.stack([1.5 * n, -1.0 + ordered.codes, np.zeros(rows)])
    kind = np.argmax(odds + generator.gumbel(size=odds.shape), axis=0)
    count = generator.poisson(np.exp(0.4 + 0.8 * (kind == 1)))
    code = (n + 0.3 * generator.normal(size=rows) > 0).astype(int)
    return pd.DataFrame({"N": n, "O": ordered, "K": np.array(list("abc"))[kind], "M": count, "R": code})


def designs_of(table, context="R", curves=True, **options):
    setup = setup_of(table, context)
    return DesignFactory(setup, make_columns(setup, curves), ScoreOptions(**options))


def searched(table, how, curves=False, context="R", seed=0, **options):
    """What a search finds."""
    designs = designs_of(table, context, curves, search=how, **options)
    return search(designs, curves, Effort(seed, 1, quiet, Clock()))


def scores_of(layout, wanted):
    """Scores, residual variances and slopes of (block, node, columns)."""
    tasks = np.array([[block, node] for block, node, _ in wanted], dtype=np.int64)
    sets = np.zeros((len(wanted), 1 + layout.width), dtype=np.int64)
    for row, (_, _, columns) in enumerate(wanted):
        sets[row, : 1 + len(columns)] = [len(columns), *columns]
    out = np.zeros((len(wanted), 2 + layout.width))
    score_sets(layout.calls, FitWorkspace(layout, 1, layout.memory()).note, tasks, sets, out)
    return out


def fits_of(layout, tasks, candidates, top=None):
    """Scores and chosen columns of (block, node) with some candidates."""
    scores, top = np.zeros(len(tasks)), top or FitWorkspace(layout, 1, layout.memory())
    sets = np.zeros((len(tasks), 1 + layout.width), dtype=np.int64)
    fit_many(fit_pointer(), layout.calls, top.note, np.array(tasks, dtype=np.int64), np.asarray(candidates, dtype=bool),
             scores, np.zeros((len(tasks), 0)), sets)  # fmt: skip
    return scores, [row[1 : 1 + row[0]].tolist() for row in sets]


def quiet(size, done, total):
    """No progress."""

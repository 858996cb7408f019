"""Tables, designs and scored sets of columns for the tests of the score."""

import numpy as np
import pandas as pd

from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.knowledge import Knowledge
from causalcontext.score.data import score_data
from causalcontext.score.design import ScoreDesign
from causalcontext.score.options import Clock, ScoreOptions
from causalcontext.score.search import Effort, search
from causalcontext.score.workspace import FitWorkspace
from causalcontext_lab.simulate import random_model


def data_of(table, context="R", knowledge=None):
    data = read_table(table, context)
    return score_data(data, gather_statistics(data), (knowledge or Knowledge()).links(data.names))


def model_table(rows, seed, **design):
    return random_model(seed=seed, **design).sample(rows, np.random.default_rng([seed, rows]))


def curved_table(rows, seed, contexts=2):
    """Squares, absolute values, a step and skewed noise; the context follows A, and D changes with
    it.
    """
    generator = np.random.default_rng([seed, rows])
    a, noise = generator.normal(size=rows) + 3.0, generator.normal(size=(3, rows))
    b = (a - 3.0) ** 2 + 0.6 * noise[0]
    c = np.abs(b - 1.0) - 1.5 * (a > 3.4) + 0.5 * (generator.exponential(size=rows) - 1.0)
    cuts = np.quantile(a, np.arange(1, contexts) / contexts)
    code = np.searchsorted(cuts, a + 0.3 * noise[1])
    d = np.where(code == 0, -1.0, 0.4) * c + noise[2]
    return pd.DataFrame({"A": a, "B": b, "C": c, "D": d, "R": code})


def kinds_table(rows, seed):
    """A number, a category of three levels, an ordered column of four, a count; the context is an
    effect of N.
    """
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
    return pd.DataFrame(
        {"N": n, "O": ordered, "K": np.array(list("abc"))[kind], "M": count, "R": code}
    )


def design_of(table, context="R", curves=True, **options):
    return ScoreDesign(data_of(table, context), ScoreOptions(**options), curves)


def workspace_of(design, curves=True, densities=True):
    """A workspace with all sets of contexts as blocks: block `mask - 1`, then the shifted and the
    mixed one.
    """
    blocks = [
        *design.pooled(range(1, design.everything + 1)),
        *(block for q in range(len(design.data.readers)) for block in design.changing(q)),
    ]
    assert blocks == list(range(len(blocks)))
    return FitWorkspace(design, curves, densities)


def searched(table, how, curves=False, context="R", seed=0, **options):
    """What a search finds."""
    design = design_of(table, context, curves, search=how, **options)
    return search(design, curves, Effort(seed, 1, quiet, Clock()))


def fits_of(workspace, tasks, candidates):
    """Scores and chosen columns of (block, node) with some candidates, which are system
    variables.
    """
    offered = np.zeros((len(tasks), workspace.design.data.candidates), dtype=bool)
    offered[:, : workspace.design.data.responses] = np.array(candidates)[
        :, : workspace.design.data.responses
    ]
    scores, _, sets = workspace.fit(tasks, offered)
    return scores, [columns.tolist() for columns in sets]


def quiet(size, done, total):
    """No progress."""

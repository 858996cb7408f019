"""Tables and setups for the tests of the score."""

import numpy as np

from causalcontext.data.survey import take_survey
from causalcontext.data.tables import read_table
from causalcontext.knowledge import Knowledge
from causalcontext.score.setup import set_up
from causalcontext.simulate import random_model


def setup_of(table, context="R", knowledge=None):
    data = read_table(table, context)
    return set_up(data, take_survey(data), (knowledge or Knowledge()).links(data.names))


def model_table(rows, seed, **design):
    return random_model(seed=seed, **design).sample(rows, np.random.default_rng([seed, rows]))


def quiet(size, done, total):
    """No progress."""

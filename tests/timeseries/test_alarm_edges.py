"""The lag alarm where a variable is a function of what it is regressed on."""

import numpy as np

from causalcontext.timeseries.alarm import _cross_products, _partial


def test_nothing_is_said_of_a_variable_of_which_nothing_is_left():
    values = np.random.default_rng(0).integers(0, 4, size=(200, 3)).astype(float)
    values[:, 1] = 3.0 - 2.0 * values[:, 0]  # negative, and far from 0
    scatter = _cross_products(values, values)
    assert np.isnan(
        _partial(values, scatter, np.empty((200, 0)), np.array([0]), 1, np.array([2]))
    ).all()

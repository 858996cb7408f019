"""Systems whose truth is known: linear models, the paper's examples, exact discrete models and their oracle.

Nothing here knows the search, so truth cannot lean on what is to be judged by it.
"""

from causalcontext.simulate.discrete import DiscreteModel, OracleTest, random_discrete_model
from causalcontext.simulate.enumerate import every_model, random_models
from causalcontext.simulate.examples import example_i, example_ii, soil_moisture
from causalcontext.simulate.linear import ContextSCM, random_model

__all__ = [
    "ContextSCM",
    "DiscreteModel",
    "OracleTest",
    "every_model",
    "example_i",
    "example_ii",
    "random_discrete_model",
    "random_model",
    "random_models",
    "soil_moisture",
]

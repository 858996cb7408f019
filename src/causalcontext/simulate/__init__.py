"""Systems whose truth is known: random and hand-written models, the paper's examples, exact discrete models.

Nothing here knows the search, so truth cannot lean on what is to be judged by it.
"""

from causalcontext.simulate.confounded import random_hidden_model
from causalcontext.simulate.discrete import DiscreteModel, OracleTest, random_discrete_model
from causalcontext.simulate.enumerate import every_model, random_models, with_hidden_cause
from causalcontext.simulate.equations import EquationSCM
from causalcontext.simulate.examples import MODELS, clinic, example_i, example_ii, named_model, soil_moisture
from causalcontext.simulate.hidden import HiddenVariables
from causalcontext.simulate.land_surface import land_surface
from causalcontext.simulate.legacy import LegacySCM, random_legacy_model
from causalcontext.simulate.linear import ContextSCM, random_model
from causalcontext.simulate.mixture import SeparationTest
from causalcontext.simulate.predicates import (
    Assumption,
    r_faithfulness,
    short_union_cycles,
    shortest_cycle,
    single_graph_sufficiency,
    strong_context_acyclicity,
    weak_context_acyclicity,
    weak_context_sufficiency,
)
from causalcontext.simulate.random_series import SeriesDesign, random_series_model
from causalcontext.simulate.series import SeriesModel
from causalcontext.simulate.truth import Truth

__all__ = [
    "MODELS",
    "Assumption",
    "ContextSCM",
    "DiscreteModel",
    "EquationSCM",
    "HiddenVariables",
    "LegacySCM",
    "OracleTest",
    "SeparationTest",
    "SeriesDesign",
    "SeriesModel",
    "Truth",
    "clinic",
    "every_model",
    "example_i",
    "example_ii",
    "land_surface",
    "named_model",
    "r_faithfulness",
    "random_discrete_model",
    "random_hidden_model",
    "random_legacy_model",
    "random_model",
    "random_models",
    "random_series_model",
    "short_union_cycles",
    "shortest_cycle",
    "single_graph_sufficiency",
    "soil_moisture",
    "strong_context_acyclicity",
    "weak_context_acyclicity",
    "weak_context_sufficiency",
    "with_hidden_cause",
]

"""Systems whose truth is known: random and hand-written models, the paper's examples; exact models
in `testing`.

Nothing here knows the search, so truth cannot lean on what is to be judged by it.
"""

from causalcontext.examples import (
    MODELS,
    EquationSCM,
    SeriesModel,
    Truth,
    clinic,
    example_i,
    example_ii,
    flux_tower,
    land_surface,
    named_model,
    soil_moisture,
)
from causalcontext_lab.simulate.hidden import HiddenVariables, SeparationTest, random_hidden_model
from causalcontext_lab.simulate.linear import ContextSCM, random_model
from causalcontext_lab.simulate.random_series import SeriesDesign, random_series_model

__all__ = [
    "MODELS",
    "ContextSCM",
    "EquationSCM",
    "HiddenVariables",
    "SeparationTest",
    "SeriesDesign",
    "SeriesModel",
    "Truth",
    "clinic",
    "example_i",
    "example_ii",
    "flux_tower",
    "land_surface",
    "named_model",
    "random_hidden_model",
    "random_model",
    "random_series_model",
    "soil_moisture",
]

"""Systems whose truth is known: random and hand-written models, the paper's examples; exact models
in `testing`.

Nothing here knows the search, so truth cannot lean on what is to be judged by it.
"""

from causalcontext.simulate.equations import EquationSCM
from causalcontext.simulate.examples import (
    MODELS,
    clinic,
    example_i,
    example_ii,
    flux_tower,
    land_surface,
    named_model,
    soil_moisture,
)
from causalcontext.simulate.hidden import HiddenVariables, SeparationTest, random_hidden_model
from causalcontext.simulate.linear import ContextSCM, random_model
from causalcontext.simulate.series import SeriesDesign, SeriesModel, random_series_model
from causalcontext.simulate.truth import Truth

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

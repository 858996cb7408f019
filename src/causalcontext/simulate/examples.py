"""Small systems with known graphs, by equations: the examples of the paper, and soil moisture (Fig. 1).

Every `..._model()` is an `EquationSCM`: `sample(n, seed)` draws a table, `truth()` finds its four kinds of graph.
`MODELS` lists them by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import scipy

from causalcontext.errors import check_choice
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.simulate.equations import EquationSCM
from causalcontext.simulate.land_surface import land_surface as land_surface
from causalcontext.simulate.land_surface import land_surface_model as land_surface_model
from causalcontext.simulate.truth import Truth

if TYPE_CHECKING:
    import pandas as pd


def example_i_model() -> EquationSCM:
    """Example (i): the mechanism T -> Y is switched off where R = 0.

    R is caused by X and T, so that looking only at the rows of one context makes X and T dependent.
    """
    return EquationSCM("R", {
        "X": lambda noise: noise,
        "T": lambda noise: noise,
        "R": lambda X, T, noise: X + T + 0.3 * noise > 0,
        "Y": lambda R, T, noise: 1.5 * R * T + noise,
    })  # fmt: skip


def example_ii_model() -> EquationSCM:
    """Example (ii): Y flattens below T = 0.8, and such values of T come with R = 0.

    Y does not depend on R; the support problem makes T -> Y vanish from the rows R = 0 all the same.
    """
    return EquationSCM("R", {
        "X": lambda noise: noise,
        "T": lambda noise: noise,
        "R": lambda X, T, noise: 0.3 * X + T + 0.1 * noise > 0,
        "Y": lambda T, noise: 2.0 * np.maximum(T, 0.8) + 0.5 * noise,
    })  # fmt: skip


def example_ii_shifted_model() -> EquationSCM:
    """Example (ii) with a shift of Y by R: weakly context-sufficient, yet not single-graph-sufficient."""
    equations = dict(example_ii_model().equations)
    equations["Y"] = lambda R, T, noise: 2.0 * np.maximum(T, 0.8) + R + 0.5 * noise
    return EquationSCM("R", equations)


def daylight_model() -> EquationSCM:
    """App. "Strictness": solar power is 0 at night, so that nothing depends on it there; not weakly sufficient."""
    return EquationSCM("day", {
        "day": lambda noise: noise > 0,
        "sunlight": lambda day, noise: day * (3.0 + noise),
        "growth": lambda sunlight, noise: sunlight + noise,
    })  # fmt: skip


def soil_moisture_model() -> EquationSCM:
    """Daily anomalies over land whose mechanisms depend on whether the soil is dry or wet.

    Rain and radiation decide, up to noise, whether the soil moisture exceeds a threshold: the context is an
    effect of the system. Wet soil has water to spare, so that only radiation drives evapotranspiration, and
    rain runs off. Dry soil takes up the rain: nothing runs off, and evapotranspiration waits for water.
    Radiation warms the air, and warmth and evapotranspiration moisten it, in the same way everywhere.
    """
    return EquationSCM("soil", {
        "precipitation": lambda noise: noise,
        "radiation": lambda noise: noise,
        "soil": lambda precipitation, radiation, noise: precipitation - radiation + 0.5 * noise > 0.0,
        "evapotranspiration": lambda radiation, precipitation, soil, noise: (
            0.8 * radiation + np.where(soil, 0.0, 0.9 * precipitation) + 0.7 * noise
        ),
        "temperature": lambda radiation, noise: 0.9 * radiation + 0.7 * noise,
        "humidity": lambda evapotranspiration, temperature, noise: (
            0.8 * evapotranspiration + 0.8 * temperature + 0.7 * noise
        ),
        "runoff": lambda precipitation, soil, noise: np.where(soil, 0.9 * precipitation, 0.0) + 0.7 * noise,
    }, labels={0: "dry", 1: "wet"})  # fmt: skip


def clinic_model() -> EquationSCM:
    """Patients whose treatment depends on whether they count as healthy or sick; columns of every kind.

    Blood pressure rises with age and with smoking, and decides, up to noise, who is called sick: the context is an
    effect of the system. The sick are dosed by their pressure, the healthy by habit, and the sick come more often.
    Whoever gets a higher dose complains more.
    """
    return EquationSCM("status", {
        "age": lambda noise: 55.0 + 12.0 * noise,
        "smoker": lambda age, noise: -0.3 - 0.05 * (age - 55.0) + noise > 0.0,
        "pressure": lambda age, smoker, noise: 125.0 + 0.5 * (age - 55.0) + 9.0 * smoker + 7.0 * noise,
        "status": lambda pressure, noise: (pressure - 128.0) / 6.0 + noise > 0.0,
        "dose": lambda status, pressure, noise: 2.0 + np.where(status, 0.1 * (pressure - 128.0), 0.0) + 0.6 * noise,
        "visits": lambda status, noise: _poisson(np.where(status, 4.0, 1.5), noise),
        "complaint": lambda dose, noise: np.digitize(1.2 * (dose - 2.0) + noise, (-0.5, 1.0)),
    }, labels={0: "healthy", 1: "sick"})  # fmt: skip


def farm_model() -> EquationSCM:
    """Fields, some of them irrigated because it rained too little, and a cause that tables of `farm` do not have.

    Where the soil is good, farmers spread more fertiliser, and the yield is larger anyhow. How much they spread depends
    on its price, and it reaches the plants where there is water.
    """
    return EquationSCM("water", {
        "soil": lambda noise: noise,
        "price": lambda noise: noise,
        "rain": lambda noise: noise,
        "water": lambda rain, noise: noise - rain > 0.0,
        "fertiliser": lambda soil, price, noise: 0.8 * soil - 0.8 * price + noise,
        "uptake": lambda fertiliser, water, noise: np.where(water, 0.9 * fertiliser, 0.0) + noise,
        "yield": _harvest,
    }, labels={0: "rain-fed", 1: "irrigated"})  # fmt: skip


def _harvest(uptake: Floats, soil: Floats, noise: Floats) -> Floats:
    return np.asarray(0.8 * uptake + soil + noise)


def farm(n: int, seed: int | np.random.Generator) -> pd.DataFrame:
    """A table of `farm_model`, without the quality of the soil, which nobody has measured.

    Examples
    --------
    >>> list(farm(100, seed=1).columns)
    ['price', 'rain', 'water', 'fertiliser', 'uptake', 'yield']
    """
    return farm_model().sample(n, seed).drop(columns="soil")


def _poisson(mean: Floats, noise: Floats) -> Ints:
    """Counts with these means, by the quantiles of normal noise."""
    counts = np.arange(25)
    return np.asarray((scipy.special.pdtr(counts, mean[:, None]) < scipy.special.ndtr(noise)[:, None]).sum(axis=1))


def soil_feedback_model() -> EquationSCM:
    """Fig. 1 as drawn, unrolled by a day: rain and latent heat set soil moisture; dry soil acts on tomorrow's heat."""
    return EquationSCM("soil", {
        "latent_heat": lambda noise: noise,
        "precipitation": lambda noise: noise,
        "soil": lambda latent_heat, precipitation, noise: precipitation - latent_heat + 0.5 * noise > 0.0,
        "latent_heat_next_day": lambda latent_heat, soil, noise: np.where(soil, 0.0, latent_heat) + 0.7 * noise,
    }, labels={0: "dry", 1: "wet"})  # fmt: skip


def orientation_collider_model() -> EquationSCM:
    """App. "Orientation rules", first example: X -> Z <- Y in context 0, X -> Y in context 1."""
    return EquationSCM("R", {
        "R": lambda noise: noise > 0,
        "X": lambda noise: noise,
        "Y": lambda R, X, noise: np.where(R, 1.5 * X, 0.0) + noise,
        "Z": lambda R, X, Y, noise: np.where(R, 0.0, 1.2 * X + 1.2 * Y) + noise,
    })  # fmt: skip


def orientation_flip_model() -> EquationSCM:
    """App. "Orientation rules", second example: X -> Y; Y -> Z in context A, Z -> Y in context B."""
    return EquationSCM("R", {
        "R": lambda noise: noise > 0,
        "X": lambda noise: noise,
        "Y": lambda R, X, Z, noise: X + np.where(R, 1.5 * Z, 0.0) + noise,
        "Z": lambda R, Y, noise: np.where(R, 0.0, 1.5 * Y) + noise,
    }, labels={0: "A", 1: "B"})  # fmt: skip


MODELS: Mapping[str, Callable[[], EquationSCM]] = {
    "clinic": clinic_model,
    "daylight": daylight_model,
    "example-i": example_i_model,
    "example-ii": example_ii_model,
    "example-ii-shifted": example_ii_shifted_model,
    "orientation-collider": orientation_collider_model,
    "orientation-flip": orientation_flip_model,
    "soil-feedback": soil_feedback_model,
    "soil-moisture": soil_moisture_model,
}
"""The named models."""


def named_model(name: str) -> EquationSCM:
    """The model of that name.

    Examples
    --------
    >>> named_model("orientation-flip").truth().union.mark("Y", "Z")
    '<=>'
    """
    check_choice("the name of a model", name, MODELS)
    return MODELS[name]()


def example_i(n: int, seed: int | np.random.Generator) -> pd.DataFrame:
    """A table of the paper's Example (i).

    Examples
    --------
    >>> example_i(3, seed=0).columns.tolist()
    ['X', 'T', 'R', 'Y']
    """
    return example_i_model().sample(n, seed)


@cache
def example_i_truth() -> Truth:
    """The graphs of Example (i): physical and descriptive ones agree."""
    return example_i_model().truth()


def example_ii(n: int, seed: int | np.random.Generator) -> pd.DataFrame:
    """A table of the paper's Example (ii).

    Examples
    --------
    >>> example_ii(3, seed=0).columns.tolist()
    ['X', 'T', 'R', 'Y']
    """
    return example_ii_model().sample(n, seed)


@cache
def example_ii_truth() -> Truth:
    """The graphs of Example (ii): T -> Y is physical in both contexts, descriptive for R = 1 only."""
    return example_ii_model().truth()


def clinic(n: int, seed: int | np.random.Generator) -> pd.DataFrame:
    """A table of patients that are `"healthy"` or `"sick"`, with columns of every kind.

    Returns
    -------
    DataFrame
        `age`, `pressure` and `dose` are continuous, `smoker` is text, `visits` counts, `complaint` is an ordered
        categorical, and `status` is the context; the equations are those of `clinic_model()`.

    Examples
    --------
    >>> clinic(50, seed=0)["complaint"].dtype.ordered
    True
    """
    import pandas as pd

    table = clinic_model().sample(n, seed)
    scale = pd.CategoricalDtype(["none", "mild", "strong"], ordered=True)
    words = np.asarray(scale.categories)[table["complaint"]]
    return table.assign(
        smoker=np.where(table["smoker"] == 1, "yes", "no"), complaint=pd.Series(words, dtype=scale, index=table.index)
    )


@cache
def clinic_truth() -> Truth:
    """The graphs of `clinic`: pressure decides about the dose of the sick only."""
    return clinic_model().truth()


def soil_moisture(n: int, seed: int | np.random.Generator) -> pd.DataFrame:
    """A table of daily anomalies over land whose mechanisms depend on whether the soil is `"dry"` or `"wet"`.

    Returns
    -------
    DataFrame
        Six continuous columns in standard units and the column `soil`; the equations are those of
        `soil_moisture_model()`, the true graphs `soil_moisture_truth()`.

    Examples
    --------
    >>> sorted(soil_moisture(50, seed=0)["soil"].unique().tolist())
    ['dry', 'wet']
    """
    return soil_moisture_model().sample(n, seed)


@cache
def soil_moisture_truth() -> Truth:
    """The graphs of `soil_moisture`: rain feeds evapotranspiration on dry soil, runoff on wet soil."""
    return soil_moisture_model().truth()

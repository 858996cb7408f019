"""Small systems with known graphs: the examples of the paper, soil moisture (Fig. 1), land
surfaces, proteins.

Every `..._model()` by equations is an `EquationSCM`: `sample(n, seed)` draws a table, `truth()`
finds its four kinds of graph. `MODELS` lists them by name. `path` has the CSV files that ship with
the library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
import scipy

from causalcontext.data.frames import frame_of, pd
from causalcontext.errors import check_choice, check_whole
from causalcontext.examples.equations import EquationSCM
from causalcontext.examples.series import NO_COPY, SeriesModel
from causalcontext.examples.truth import Truth
from causalcontext.kernels.arrays import Floats


def example_i_model() -> EquationSCM:
    """Example (i): the mechanism T -> Y is switched off where R = 0.

    R is caused by X and T, so that looking only at the rows of one context makes X and T dependent.
    """
    return EquationSCM(
        "R",
        {
            "X": lambda noise: noise,
            "T": lambda noise: noise,
            "R": lambda X, T, noise: X + T + 0.3 * noise > 0,
            "Y": lambda R, T, noise: 1.5 * R * T + noise,
        },
    )


def example_ii_model() -> EquationSCM:
    """Example (ii): Y flattens below T = 0.8, and such values of T come with R = 0.

    Y does not depend on R; the support problem makes T -> Y vanish from the rows R = 0 all the
    same.
    """
    return EquationSCM(
        "R",
        {
            "X": lambda noise: noise,
            "T": lambda noise: noise,
            "R": lambda X, T, noise: 0.3 * X + T + 0.1 * noise > 0,
            "Y": lambda T, noise: 2.0 * np.maximum(T, 0.8) + 0.5 * noise,
        },
    )


def example_ii_shifted_model() -> EquationSCM:
    """Example (ii) with a shift of Y by R: weakly context-sufficient, yet not
    single-graph-sufficient.
    """
    equations = dict(example_ii_model().equations)
    equations["Y"] = lambda R, T, noise: 2.0 * np.maximum(T, 0.8) + R + 0.5 * noise
    return EquationSCM("R", equations)


def daylight_model() -> EquationSCM:
    """App. "Strictness": solar power is 0 at night, so that nothing depends on it there; not weakly
    sufficient.
    """
    return EquationSCM(
        "day",
        {
            "day": lambda noise: noise > 0,
            "sunlight": lambda day, noise: day * (3.0 + noise),
            "growth": lambda sunlight, noise: sunlight + noise,
        },
    )


def soil_moisture_model() -> EquationSCM:
    """Daily anomalies over land whose mechanisms depend on whether the soil is dry or wet.

    Rain and radiation decide, up to noise, whether the soil moisture exceeds a threshold: the
    context is an effect of the system. Wet soil has water to spare, so that only radiation drives
    evapotranspiration, and rain runs off. Dry soil takes up the rain: nothing runs off, and
    evapotranspiration waits for water. Radiation warms the air, and warmth and evapotranspiration
    moisten it, in the same way everywhere.
    """
    return EquationSCM(
        "soil",
        {
            "precipitation": lambda noise: noise,
            "radiation": lambda noise: noise,
            "soil": lambda precipitation, radiation, noise: (
                precipitation - radiation + 0.5 * noise > 0.0
            ),
            "evapotranspiration": lambda radiation, precipitation, soil, noise: (
                0.8 * radiation + np.where(soil, 0.0, 0.9 * precipitation) + 0.7 * noise
            ),
            "temperature": lambda radiation, noise: 0.9 * radiation + 0.7 * noise,
            "humidity": lambda evapotranspiration, temperature, noise: (
                0.8 * evapotranspiration + 0.8 * temperature + 0.7 * noise
            ),
            "runoff": lambda precipitation, soil, noise: (
                np.where(soil, 0.9 * precipitation, 0.0) + 0.7 * noise
            ),
        },
        labels={0: "dry", 1: "wet"},
    )


def clinic_model() -> EquationSCM:
    """Patients whose treatment depends on whether they count as healthy or sick; columns of every
    kind.

    Blood pressure rises with age and with smoking, and decides, up to noise, who is called sick:
    the context is an effect of the system. The sick are dosed by their pressure, the healthy by
    habit, and the sick come more often. Whoever gets a higher dose complains more.
    """
    return EquationSCM(
        "status",
        {
            "age": lambda noise: 55.0 + 12.0 * noise,
            "smoker": lambda age, noise: -0.3 - 0.05 * (age - 55.0) + noise > 0.0,
            "pressure": lambda age, smoker, noise: (
                125.0 + 0.5 * (age - 55.0) + 9.0 * smoker + 7.0 * noise
            ),
            "status": lambda pressure, noise: (pressure - 128.0) / 6.0 + noise > 0.0,
            "dose": lambda status, pressure, noise: (
                2.0 + np.where(status, 0.1 * (pressure - 128.0), 0.0) + 0.6 * noise
            ),
            "visits": (
                lambda status, noise: (
                    # counts with these means, by the quantiles of normal noise
                    scipy.special.pdtr(np.arange(25), np.where(status, 4.0, 1.5)[:, None])
                    < scipy.special.ndtr(noise)[:, None]
                ).sum(axis=1)
            ),
            "complaint": lambda dose, noise: np.digitize(1.2 * (dose - 2.0) + noise, (-0.5, 1.0)),
        },
        labels={0: "healthy", 1: "sick"},
    )


def farm_model() -> EquationSCM:
    """Fields, some of them irrigated because it rained too little, and a cause that tables of
    `farm` do not have.

    Where the soil is good, farmers spread more fertiliser, and the yield is larger anyhow. How much
    they spread depends on its price, and it reaches the plants where there is water.
    """
    return EquationSCM(
        "water",
        {
            "soil": lambda noise: noise,
            "price": lambda noise: noise,
            "rain": lambda noise: noise,
            "water": lambda rain, noise: noise - rain > 0.0,
            "fertiliser": lambda soil, price, noise: 0.8 * soil - 0.8 * price + noise,
            "uptake": lambda fertiliser, water, noise: (
                np.where(water, 0.9 * fertiliser, 0.0) + noise
            ),
            "yield": lambda uptake, soil, noise: 0.8 * uptake + soil + noise,
        },
        labels={0: "rain-fed", 1: "irrigated"},
    )


def farm(n: int, seed: int | np.random.Generator) -> pd.DataFrame:
    """A table of `farm_model`, without the quality of the soil, which nobody has measured.

    >>> list(farm(100, seed=1).columns)
    ['price', 'rain', 'water', 'fertiliser', 'uptake', 'yield']
    """
    return farm_model().sample(n, seed).drop(columns="soil")


def soil_feedback_model() -> EquationSCM:
    """Fig. 1 as drawn, unrolled by a day: rain and latent heat set soil moisture; dry soil acts on
    tomorrow's heat.
    """
    return EquationSCM(
        "soil",
        {
            "latent_heat": lambda noise: noise,
            "precipitation": lambda noise: noise,
            "soil": lambda latent_heat, precipitation, noise: (
                precipitation - latent_heat + 0.5 * noise > 0.0
            ),
            "latent_heat_next_day": lambda latent_heat, soil, noise: (
                np.where(soil, 0.0, latent_heat) + 0.7 * noise
            ),
        },
        labels={0: "dry", 1: "wet"},
    )


def orientation_collider_model() -> EquationSCM:
    """App. "Orientation rules", first example: X -> Z <- Y in context 0, X -> Y in context 1."""
    return EquationSCM(
        "R",
        {
            "R": lambda noise: noise > 0,
            "X": lambda noise: noise,
            "Y": lambda R, X, noise: np.where(R, 1.5 * X, 0.0) + noise,
            "Z": lambda R, X, Y, noise: np.where(R, 0.0, 1.2 * X + 1.2 * Y) + noise,
        },
    )


def orientation_flip_model() -> EquationSCM:
    """App. "Orientation rules", second example: X -> Y; Y -> Z in context A, Z -> Y in context
    B.

    Y acts on Z by .7 and not by 1.5: with equal strengths X and Z are nearly independent given Y
    over both contexts (a partial correlation of .03), so that no search by tests finds the link.
    """
    return EquationSCM(
        "R",
        {
            "R": lambda noise: noise > 0,
            "X": lambda noise: noise,
            "Y": lambda R, X, Z, noise: X + np.where(R, 1.5 * Z, 0.0) + noise,
            "Z": lambda R, Y, noise: np.where(R, 0.0, 0.7 * Y) + noise,
        },
        labels={0: "A", 1: "B"},
    )


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

    >>> named_model("orientation-flip").truth().union.mark("Y", "Z")
    '<=>'
    """
    check_choice("the name of a model", name, MODELS)
    return MODELS[name]()


def example_i(n: int, seed: int | np.random.Generator) -> pd.DataFrame:
    """A table of the paper's Example (i).

    >>> example_i(3, seed=0).columns.tolist()
    ['X', 'T', 'R', 'Y']
    """
    return example_i_model().sample(n, seed)


def example_ii(n: int, seed: int | np.random.Generator) -> pd.DataFrame:
    """A table of the paper's Example (ii).

    >>> example_ii(3, seed=0).columns.tolist()
    ['X', 'T', 'R', 'Y']
    """
    return example_ii_model().sample(n, seed)


@cache
def example_ii_truth() -> Truth:
    """The graphs of Example (ii): T -> Y is physical in both contexts, descriptive for R = 1
    only.
    """
    return example_ii_model().truth()


def clinic(n: int, seed: int | np.random.Generator) -> pd.DataFrame:
    """A table of patients that are `"healthy"` or `"sick"`, with columns of every kind.

    Returns
    -------
    DataFrame
        `age`, `pressure` and `dose` are continuous, `smoker` is text, `visits` counts, `complaint`
        is an ordered categorical, and `status` is the context; the equations are those of
        `clinic_model()`.

    >>> clinic(50, seed=0)["complaint"].dtype.ordered
    True
    """
    table = clinic_model().sample(n, seed)
    scale = pd.CategoricalDtype(["none", "mild", "strong"], ordered=True)
    words = np.asarray(scale.categories)[table["complaint"]]
    return table.assign(
        smoker=np.where(table["smoker"] == 1, "yes", "no"),
        complaint=pd.Series(words, dtype=scale, index=table.index),
    )


def soil_moisture(n: int, seed: int | np.random.Generator) -> pd.DataFrame:
    """A table of daily anomalies over land whose mechanisms depend on whether the soil is `"dry"`
    or `"wet"`.

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
    """The graphs of `soil_moisture`: rain feeds evapotranspiration on dry soil, runoff on wet
    soil.
    """
    return soil_moisture_model().truth()


def land_surface_model() -> SeriesModel:
    """Daily anomalies over land whose fluxes are limited by water or by energy, as supply and
    demand decide.

    Moisture is fed by rain and drained by yesterday's latent heat, which closes a loop; radiation
    is the demand. Moisture and radiation together decide the regime, and have no link: a search
    inside one regime sees one all the same. Latent heat follows radiation where energy limits it
    and moisture where water does; sensible heat takes what radiation leaves over.
    """
    names = ("rain", "radiation", "moisture", "temperature", "latent", "sensible")
    rain, radiation, moisture, temperature, latent, sensible = range(6)
    slopes = np.zeros((2, 6, 2, 6))

    def link(cause: int, effect: int, lag: int, water: float, energy: float | None = None) -> None:
        slopes[:, effect, lag, cause] = water, water if energy is None else energy

    for node, persistence in enumerate((0.3, 0.6, 0.7, 0.6, 0.3, 0.3)):
        link(node, node, 1, persistence)
    link(rain, moisture, 0, 0.5)
    link(latent, moisture, 1, -0.4)
    link(radiation, temperature, 0, 0.4)
    link(sensible, temperature, 1, 0.4)
    link(radiation, latent, 0, 0.0, 0.6)
    link(moisture, latent, 0, 0.6, 0.0)
    link(radiation, sensible, 0, 0.7, 0.2)
    weights = np.zeros((2, 6))
    weights[0, [moisture, radiation]] = 1.0, -0.9
    return SeriesModel(
        names,
        "regime",
        ("water-limited", "energy-limited"),
        slopes,
        np.zeros((2, 6)),
        np.array([NO_COPY, NO_COPY, NO_COPY, NO_COPY, 0, 0]),
        np.array([rain, radiation, moisture, 6, latent, sensible, temperature]),
        weights,
        np.zeros(6),
        0.0,
        0.5,
        np.zeros(1),
        np.array([1.0, 1.0, 0.8, 0.7, 0.7, 0.7]),
    )


def land_surface(rows: int, seed: int | np.random.Generator) -> pd.DataFrame:
    """A table of consecutive days over land whose regime is `"energy-limited"` or
    `"water-limited"`.

    Examples
    --------
    >>> land_surface(5, seed=1).columns.tolist()
    ['rain', 'radiation', 'moisture', 'temperature', 'latent', 'sensible', 'regime']
    """
    return land_surface_model().sample(rows, seed)


FLUX_TOWER_LINKS = {
    "daylight": {},
    "Rg": {"Rg(t-1)": "day", "daylight": ""},
    "Tair": {"Tair(t-1)": "", "Rg": "", "H(t-1)": ""},
    "VPD": {"VPD(t-1)": "", "Tair": "", "LE(t-1)": ""},
    "VPD > 1": {"VPD": ""},
    "SWC": {"SWC(t-1)": "", "LE(t-1)": ""},
    "GPP": {"Rg": "", "VPD > 1": ""},
    "LE": {"LE(t-1)": "", "SWC(t-1)": "", "Rg": "day", "VPD": "day", "daylight": "", "VPD > 1": ""},
    "H": {"H(t-1)": "", "Rg": "", "LE": ""},
}
"""The causes of every column of `flux_tower`, with "day" where they act by day only; the hour also
drives Rg.
"""


def flux_tower(days: int, seed: int | np.random.Generator) -> pd.DataFrame:
    """A table of consecutive half hours of sun, air, soil and plants, as a tower with
    eddy-covariance sensors has it.

    Radiation (Rg, W/m2) follows the hour and clouds that last. It warms the air (Tair, Celsius),
    and warm air is dry (VPD, vapour pressure deficit, kPa). Leaves take up carbon (GPP) along a
    curve that saturates with light, and by day they evaporate water (LE, latent heat, W/m2), which
    drains the soil (SWC, %) and moistens the air of the next half hour. Sensible heat (H, W/m2) is
    the energy that is left, and warms the air. Where VPD exceeds 1 kPa, stomata close: uptake and
    evaporation respond less to light.

    Parameters
    ----------
    days : int
        Of 48 half hours each.
    seed : int or Generator

    Returns
    -------
    DataFrame
        `time`, seven continuous columns, and `daylight`, which is `"day"` or `"night"`.
        `FLUX_TOWER_LINKS` has the true causes of every column.

    Examples
    --------
    >>> flux_tower(2, seed=1).columns.tolist()
    ['time', 'daylight', 'Rg', 'Tair', 'VPD', 'SWC', 'GPP', 'LE', 'H']
    """
    check_whole("days", days, 1)
    rows = 48 * days
    noise = np.random.default_rng(seed).standard_normal((rows, 7))
    hour = np.arange(rows) % 48 / 2.0
    day = (hour > 6.0) & (hour < 18.0)
    clear = np.where(day, 800.0 * np.sin(np.pi * (hour - 6.0) / 12.0), 0.0)
    rg, air, vpd, soil, gpp, le, h = np.zeros((7, rows))
    # The last place stands for what was before the first, until it is reached.
    air[-1] = 15.0
    vpd[-1] = 0.6
    soil[-1] = 16.0
    for t in range(rows):
        clouds = 0.6 * (rg[t - 1] - clear[t - 1]) + 40.0 * noise[t, 0]
        rg[t] = clear[t] + (clouds if day[t] else 3.0 * noise[t, 0])
        air[t] = 1.2 + 0.9 * air[t - 1] + 0.0015 * rg[t] + 0.004 * h[t - 1] + 0.35 * noise[t, 1]
        vpd[t] = (
            0.6 * vpd[t - 1]
            + 0.055 * np.exp(0.1 * air[t])
            - 0.0004 * le[t - 1]
            + 0.08 * noise[t, 2]
        )
        soil[t] = 0.4 + 0.985 * soil[t - 1] - 0.002 * le[t - 1] + 0.3 * noise[t, 3]
        uptake, evaporation = (18.0, 0.10) if vpd[t] > 1.0 else (32.0, 0.25)
        gpp[t] = uptake * rg[t] / (rg[t] + 400.0) + 1.5 * noise[t, 4]
        le[t] = (
            0.3 * le[t - 1]
            + 2.0 * (soil[t - 1] - 12.0)
            + day[t] * (evaporation * rg[t] + 40.0 * vpd[t])
            + 15.0 * noise[t, 5]
        )
        h[t] = 0.3 * h[t - 1] + 0.4 * rg[t] - 0.4 * le[t] + 12.0 * noise[t, 6]
    values = frame_of(
        {"Rg": rg, "Tair": air, "VPD": vpd, "SWC": soil, "GPP": gpp, "LE": le, "H": h}
    )
    values.insert(0, "daylight", np.where(day, "day", "night"))
    values.insert(0, "time", pd.date_range("2024-06-01", periods=rows, freq="30min"))
    return values


PROTEINS = ("Raf", "Mek", "Plcg", "PIP2", "PIP3", "Erk", "Akt", "PKA", "PKC", "P38", "Jnk")
CONDITIONS = {
    "cd3cd28": 853,
    "cd3cd28+icam2": 902,
    "cd3cd28+aktinhib": 911,
    "cd3cd28+g0076": 723,
    "cd3cd28+psitect": 810,
    "cd3cd28+u0126": 799,
    "cd3cd28+ly": 848,
    "pma": 913,
    "b2camp": 707,
}
"""Rows under every experimental condition of the measured table: 7,466 in all."""
EFFECTS = {
    "Plcg": {},
    "PIP3": {"Plcg": 0.5},
    "PIP2": {"Plcg": 0.4, "PIP3": 0.6},
    "PKC": {"PIP2": 0.25, "Plcg": 0.25},
    "PKA": {"PKC": 0.3},
    "Raf": {"PKC": 0.35, "PKA": -0.3},
    "Mek": {"Raf": 0.8, "PKC": 0.2, "PKA": -0.2},
    "Erk": {"Mek": 0.3, "PKA": 0.6},
    "Akt": {"Erk": 0.8, "PKA": 0.3, "PIP3": 0.2},
    "P38": {"PKC": 0.7, "PKA": 0.2},
    "Jnk": {"PKC": 0.6, "PKA": 0.2},
}
"""Direct effects on the logarithms, causes before effects."""
SILENCED = {"cd3cd28+g0076": "PKC", "cd3cd28+u0126": "Mek", "cd3cd28+ly": "PIP3"}
"""Inhibitors: the protein is there, but acts on nothing."""
CLAMPED = {"cd3cd28+psitect": "PIP2", "pma": "PKC", "b2camp": "PKA"}
"""Experiments that set a protein, whatever its causes do."""


def proteins(
    seed: int | np.random.Generator = 0, scale: str = "raw", rows: int | None = None
) -> pd.DataFrame:
    """A table of 11 proteins and the column `condition`, as large as the one of Sachs et al. unless
    `rows` are given.

    `scale` is "raw", as measured, where columns are skewed, or "log"; `rows` is about how many
    there are in all, in the proportions of the measured table.

    >>> proteins(seed=0).shape
    (7466, 12)
    """
    check_choice("scale", scale, ("raw", "log"))
    if rows is not None:
        check_whole("rows", rows, 1)
    generator = np.random.default_rng(seed)
    parts = []
    for position, (condition, n) in enumerate(CONDITIONS.items()):
        count = n if rows is None else max(1, round(rows * n / 7466))
        values = dict[str, Floats]()
        level = 0.6 * np.cos(1.9 * position)  # Erk falls where PKA rises, which hides their link
        shifts = {
            name: float(0.45 * np.cos(2.3 * position + 1.7 * PROTEINS.index(name)))
            for name in PROTEINS
        }
        shifts |= {"PKA": float(level), "Erk": float(-2.15 * level)}
        for name, causes in EFFECTS.items():
            noise = 0.7 * generator.standard_normal(count) + 0.3 * (
                generator.standard_gamma(1.5, count) - 1.5
            )
            silent = causes if CLAMPED.get(condition) == name else (SILENCED.get(condition),)
            values[name] = (
                shifts[name]
                + noise
                + sum(b * values[c] for c, b in causes.items() if c not in silent)
            )
        parts.append(frame_of(values)[list(PROTEINS)].assign(condition=condition))
    table = pd.concat(parts, ignore_index=True)
    return (
        table
        if scale == "log"
        else table.assign(**{name: np.exp(table[name] + 4.0) for name in PROTEINS})
    )

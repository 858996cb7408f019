"""A land surface whose fluxes are limited by energy or by water, and which of them decides itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from causalcontext.simulate.series import NO_COPY, SeriesModel

if TYPE_CHECKING:
    import pandas as pd


def land_surface_model() -> SeriesModel:
    """Daily anomalies over land whose fluxes are limited by water or by energy, as supply and demand decide.

    Moisture is fed by rain and drained by yesterday's latent heat, which closes a loop; radiation is the demand.
    Moisture and radiation together decide the regime, and have no link: a search inside one regime sees one all the
    same. Latent heat follows radiation where energy limits it and moisture where water does; sensible heat takes what
    radiation leaves over.
    """
    names = ("rain", "radiation", "moisture", "temperature", "latent", "sensible")
    rain, radiation, moisture, temperature, latent, sensible = range(6)
    slopes = np.zeros((2, 6, 2, 6))

    def link(cause: int, effect: int, lag: int, water: float, energy: float | None = None) -> None:
        slopes[:, effect, lag, cause] = water, water if energy is None else energy

    for node, own in enumerate((0.3, 0.6, 0.7, 0.6, 0.3, 0.3)):
        link(node, node, 1, own)
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
        names, "regime", ("water-limited", "energy-limited"), slopes, np.zeros((2, 6)),
        np.array([NO_COPY, NO_COPY, NO_COPY, NO_COPY, 0, 0]),
        np.array([rain, radiation, moisture, 6, latent, sensible, temperature]), weights, np.zeros(6), 0.0, 0.5,
        np.zeros(1), np.array([1.0, 1.0, 0.8, 0.7, 0.7, 0.7]),
    )  # fmt: skip


def land_surface(rows: int, seed: int | np.random.Generator) -> pd.DataFrame:
    """A table of consecutive days over land whose regime is `"energy-limited"` or `"water-limited"`.

    Examples
    --------
    >>> land_surface(5, seed=1).columns.tolist()
    ['rain', 'radiation', 'moisture', 'temperature', 'latent', 'sensible', 'regime']
    """
    return land_surface_model().sample(rows, seed)

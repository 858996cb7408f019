"""A proxy for the table of Sachs et al. (2005): its size, names, skewed columns and experiments, simulated.

The measured table may not be shipped, so examples and benchmarks that need one like it use this. Links follow the
consensus network; the numbers are made up.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from causalcontext.errors import check_choice, check_whole
from causalcontext.kernels.arrays import Floats

PROTEINS = ("Raf", "Mek", "Plcg", "PIP2", "PIP3", "Erk", "Akt", "PKA", "PKC", "P38", "Jnk")
CONDITIONS = {"cd3cd28": 853, "cd3cd28+icam2": 902, "cd3cd28+aktinhib": 911, "cd3cd28+g0076": 723,
              "cd3cd28+psitect": 810, "cd3cd28+u0126": 799, "cd3cd28+ly": 848, "pma": 913, "b2camp": 707}  # fmt: skip
"""Rows under every experimental condition of the measured table: 7,466 in all."""
EFFECTS = {
    "Plcg": {}, "PIP3": {"Plcg": 0.5}, "PIP2": {"Plcg": 0.4, "PIP3": 0.6}, "PKC": {"PIP2": 0.25, "Plcg": 0.25},
    "PKA": {"PKC": 0.3}, "Raf": {"PKC": 0.35, "PKA": -0.3}, "Mek": {"Raf": 0.8, "PKC": 0.2, "PKA": -0.2},
    "Erk": {"Mek": 0.3, "PKA": 0.6}, "Akt": {"Erk": 0.8, "PKA": 0.3, "PIP3": 0.2}, "P38": {"PKC": 0.7, "PKA": 0.2},
    "Jnk": {"PKC": 0.6, "PKA": 0.2},
}  # fmt: skip
"""Direct effects on the logarithms, causes before effects."""
SILENCED = {"cd3cd28+g0076": "PKC", "cd3cd28+u0126": "Mek", "cd3cd28+ly": "PIP3"}
"""Inhibitors: the protein is there, but acts on nothing."""
CLAMPED = {"cd3cd28+psitect": "PIP2", "pma": "PKC", "b2camp": "PKA"}
"""Experiments that set a protein, whatever its causes do."""


def proteins(seed: int | np.random.Generator = 0, scale: str = "raw", rows: int | None = None) -> pd.DataFrame:
    """A table of 11 proteins and the column `condition`, as large as the one of Sachs et al. unless `rows` are given.

    Parameters
    ----------
    seed : int or Generator
    scale : {"raw", "log"}
        As measured, where columns are skewed, or their logarithms.
    rows : int, optional
        About how many in all, in the proportions of the measured table; by default all 7,466.

    Examples
    --------
    >>> proteins(seed=0).shape
    (7466, 12)
    """
    check_choice("scale", scale, ("raw", "log"))
    if rows is not None:
        check_whole("rows", rows, 1)
    generator = np.random.default_rng(seed)
    parts = [_condition(name, n if rows is None else max(1, round(rows * n / 7466)), generator)
             for name, n in CONDITIONS.items()]  # fmt: skip
    table = pd.concat(parts, ignore_index=True)
    return table if scale == "log" else table.assign(**{name: np.exp(table[name] + 4.0) for name in PROTEINS})


def _condition(name: str, rows: int, generator: np.random.Generator) -> pd.DataFrame:
    """The logarithms under one condition."""
    values: dict[str, Floats] = {}
    for protein, causes in EFFECTS.items():
        noise = 0.7 * generator.standard_normal(rows) + 0.3 * (generator.standard_gamma(1.5, rows) - 1.5)
        acting = {} if CLAMPED.get(name) == protein else {c: b for c, b in causes.items() if SILENCED.get(name) != c}
        values[protein] = _shift(protein, name) + noise + sum(b * values[c] for c, b in acting.items())
    return pd.DataFrame(values)[list(PROTEINS)].assign(condition=name)


def _shift(protein: str, condition: str) -> float:
    """What a condition does to the level of a protein; Erk falls where PKA rises, which hides their link."""
    place = list(CONDITIONS).index(condition)
    if protein in ("PKA", "Erk"):
        level = 0.6 * np.cos(1.9 * place)
        return float(level if protein == "PKA" else -2.15 * level)
    return float(0.45 * np.cos(2.3 * place + 1.7 * PROTEINS.index(protein)))

"""Small systems with known graphs: the paper's Examples (i) and (ii), and soil moisture (Fig. 1)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from causalcontext.graphs.graph import Graph
from causalcontext.simulate.truth import Truth

Links = tuple[tuple[str, str], ...]


def example_i(n: int, seed: int | np.random.Generator) -> pd.DataFrame:
    """A table of the paper's Example (i): the mechanism T -> Y is switched off where R = 0.

    R is caused by X and T, so that looking only at the rows of one context makes X and T dependent.

    Examples
    --------
    >>> example_i(3, seed=0).columns.tolist()
    ['X', 'T', 'R', 'Y']
    """
    x, t, noise_r, noise_y = np.random.default_rng(seed).standard_normal((4, n))
    r = (x + t + 0.3 * noise_r > 0).astype(np.int64)
    return pd.DataFrame({"X": x, "T": t, "R": r, "Y": 1.5 * r * t + noise_y})


def example_i_truth() -> Truth:
    """The graphs of Example (i): physical and descriptive ones agree."""
    names = ("X", "T", "R", "Y")
    everywhere: Links = (("X", "R"), ("T", "R"), ("R", "Y"))
    graphs = {0: _graph(names, everywhere), 1: _graph(names, (*everywhere, ("T", "Y")))}
    return Truth(physical=graphs, descriptive=graphs, union=graphs[1])


def example_ii(n: int, seed: int | np.random.Generator) -> pd.DataFrame:
    """A table of the paper's Example (ii): Y flattens below T = 0.8, and such values of T come with R = 0.

    Y does not depend on R; the support problem makes T -> Y vanish from the rows R = 0 all the same.

    Examples
    --------
    >>> example_ii(3, seed=0).columns.tolist()
    ['X', 'T', 'R', 'Y']
    """
    x, t, noise_r, noise_y = np.random.default_rng(seed).standard_normal((4, n))
    r = (0.3 * x + t + 0.1 * noise_r > 0).astype(np.int64)
    return pd.DataFrame({"X": x, "T": t, "R": r, "Y": 2.0 * np.maximum(t, 0.8) + 0.5 * noise_y})


def example_ii_truth() -> Truth:
    """The graphs of Example (ii): T -> Y is physical in both contexts, descriptive for R = 1 only."""
    names = ("X", "T", "R", "Y")
    upstream: Links = (("X", "R"), ("T", "R"))
    full, flat = _graph(names, (*upstream, ("T", "Y"))), _graph(names, upstream)
    return Truth(physical={0: full, 1: full}, descriptive={0: flat, 1: full}, union=full)


SOIL_NAMES = ("precipitation", "radiation", "soil", "evapotranspiration", "temperature", "humidity", "runoff")
SOIL_LINKS: Links = (
    ("precipitation", "soil"),
    ("radiation", "soil"),
    ("soil", "evapotranspiration"),
    ("soil", "runoff"),
    ("radiation", "evapotranspiration"),
    ("radiation", "temperature"),
    ("evapotranspiration", "humidity"),
    ("temperature", "humidity"),
)


def soil_moisture(n: int, seed: int | np.random.Generator) -> pd.DataFrame:
    """A table of daily anomalies over land whose mechanisms depend on whether the soil is `"dry"` or `"wet"`.

    Rain and radiation decide, up to noise, whether the soil moisture exceeds a threshold: the context is an
    effect of the system. Wet soil has water to spare, so that only radiation drives evapotranspiration, and
    rain runs off. Dry soil takes up the rain: nothing runs off, and evapotranspiration waits for water.
    Radiation warms the air, and warmth and evapotranspiration moisten it, in the same way everywhere.

    Returns
    -------
    DataFrame
        Six continuous columns in standard units and the column `soil`; the true graphs are
        `soil_moisture_truth()`.

    Examples
    --------
    >>> sorted(soil_moisture(50, seed=0)["soil"].unique().tolist())
    ['dry', 'wet']
    """
    generator = np.random.default_rng(seed)
    noise = {name: generator.standard_normal(n) for name in SOIL_NAMES}
    precipitation, radiation = noise["precipitation"], noise["radiation"]
    wet = precipitation - radiation + 0.5 * noise["soil"] > 0.0
    temperature = 0.9 * radiation + 0.7 * noise["temperature"]
    taken_up = np.where(wet, 0.0, 0.9 * precipitation)
    evapotranspiration = 0.8 * radiation + taken_up + 0.7 * noise["evapotranspiration"]
    return pd.DataFrame({
        "precipitation": precipitation,
        "radiation": radiation,
        "soil": np.where(wet, "wet", "dry"),
        "evapotranspiration": evapotranspiration,
        "temperature": temperature,
        "humidity": 0.8 * evapotranspiration + 0.8 * temperature + 0.7 * noise["humidity"],
        "runoff": np.where(wet, 0.9 * precipitation, 0.0) + 0.7 * noise["runoff"],
    })  # fmt: skip


def soil_moisture_truth() -> Truth:
    """The graphs of `soil_moisture`: rain feeds evapotranspiration on dry soil, runoff on wet soil."""
    dry_only, wet_only = ("precipitation", "evapotranspiration"), ("precipitation", "runoff")
    graphs = {
        "dry": _graph(SOIL_NAMES, (*SOIL_LINKS, dry_only)),
        "wet": _graph(SOIL_NAMES, (*SOIL_LINKS, wet_only)),
    }
    union = _graph(SOIL_NAMES, (*SOIL_LINKS, dry_only, wet_only))
    return Truth(physical=graphs, descriptive=graphs, union=union)


def _graph(names: tuple[str, ...], links: Links) -> Graph:
    return Graph.from_edges(names, [(cause, effect, "-->") for cause, effect in links])

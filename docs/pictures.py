"""The pictures of the pages, painted anew for every build: `python docs/pictures.py FOLDER`."""

import sys
from pathlib import Path

import matplotlib
import numpy as np

import causalcontext as cc
from causalcontext.examples import example_ii_truth, soil_moisture_truth


def paint_all(folder: Path) -> None:
    """Every picture is in the folder, as SVG."""
    matplotlib.use("Agg")
    from matplotlib import pyplot

    folder.mkdir(parents=True, exist_ok=True)
    table = cc.examples.soil_moisture(2000, seed=1)
    adaptive, masked, pooled = (
        cc.discover(table, "soil", alpha=0.01, method=name) for name in ("pc-ac", "pc-m", "pc-p")
    )
    adaptive.plot(path=folder / "contexts.svg")
    default = cc.discover(table, "soil")
    default.plot(
        "union", path=folder / "union.svg"
    )  # docs/soil-moisture.svg of the README is a copy
    adaptive.plot("difference", path=folder / "difference.svg")
    masked.plot("union", path=folder / "masked.svg")
    pooled.plot("union", path=folder / "pooled.svg")
    soil_moisture_truth().union.plot(path=folder / "truth.svg")
    flat = example_ii_truth()
    flat.physical[0].plot(path=folder / "physical.svg")
    flat.descriptive[0].plot(path=folder / "descriptive.svg")
    endpoints = [
        ("A", "B", "-->"),
        ("B", "C", "o->"),
        ("D", "C", "<->"),
        ("D", "E", "o-o"),
        ("B", "E", "x-x"),
    ]
    cc.Graph.from_edges("ABCDE", endpoints, kind="pag").plot(path=folder / "ends.svg")
    farm = cc.examples.farm(5000, seed=2)
    fields = cc.discover(farm, "water", alpha=0.01, method="fci-ac", contested="bidirected")
    fields.plot(path=folder / "farm.svg")
    days = cc.examples.land_surface(1500, seed=1)
    cc.discover(days, "regime", lags=2, method="score-ac").plot(
        "union", path=folder / "land-surface.svg"
    )
    noisy = cc.examples.soil_moisture(400, seed=1).assign(
        dust=np.random.default_rng(0).standard_t(2, 400)
    )
    cc.calibrate(noisy, "soil").plot(folder / "calibration.svg")
    pyplot.close("all")


if __name__ == "__main__":
    paint_all(Path(sys.argv[1]))

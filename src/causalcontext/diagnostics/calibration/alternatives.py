"""Named ways in which a response may depend on the other end of a query, put on top of a null table."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from causalcontext.data.dataset import Dataset
from causalcontext.diagnostics.calibration.nulls import NullColumn
from causalcontext.diagnostics.calibration.questions import DrawnQuery
from causalcontext.kernels.arrays import Bools, Floats

Random = np.random.Generator
Change = Callable[[Dataset, DrawnQuery, NullColumn, float, Random], Floats | None]
NONE = "none"
"""What the table calls an alternative that makes no sense for a query."""


def changed_column(name: str, data: Dataset, draw: DrawnQuery, null: NullColumn, effect: float,
                   random: Random) -> tuple[str, Floats | None]:  # fmt: skip
    """The alternative that was used, and the response under it; None where the alternative makes no sense.

    Two categories have no mean: "mean" stands for "association" there.
    """
    is_number = data.kinds[draw.response].is_number
    if not is_number and name == "mean":
        name, effect = "association", min(effect, 1.0)
    if is_number == (name == "association"):
        return NONE, None
    changed = ALTERNATIVES[name](data, draw, null, effect, random)
    return (NONE, None) if changed is None else (name, changed)


def shifted_mean(data: Dataset, draw: DrawnQuery, null: NullColumn, effect: float, random: Random) -> Floats:
    """A shift in one category of the other end, or a slope on it, by `effect` standard deviations of the noise."""
    is_number = data.kinds[draw.other].is_number
    shift = _scaled(data, draw, draw.other) if is_number else _one_group(data, draw, random)
    return np.asarray(null.fitted + null.noise + effect * _spread(data, draw, null) * shift)


def other_slope(data: Dataset, draw: DrawnQuery, null: NullColumn, effect: float, random: Random) -> Floats | None:
    """Another slope on the first condition that is a number, in one group of the other end."""
    numbers = [column for column in draw.given if data.kinds[column].is_number]
    if not numbers:
        return None
    tilt = _scaled(data, draw, numbers[0]) * _one_group(data, draw, random)
    return np.asarray(null.fitted + null.noise + effect * _spread(data, draw, null) * tilt)


def other_variance(data: Dataset, draw: DrawnQuery, null: NullColumn, effect: float, random: Random) -> Floats:
    """Noise that is 1 + `effect` times as large in one group of the other end."""
    return np.asarray(null.fitted + null.noise * (1.0 + effect * _one_group(data, draw, random)))


def association(data: Dataset, draw: DrawnQuery, null: NullColumn, effect: float, random: Random) -> Floats:
    """Every category of the other end has a category of the response tied to it, taken with probability `effect`."""
    occurring = np.unique(null.fitted)
    _, other = np.unique(np.asarray(data.columns[draw.other]), return_inverse=True)
    tied = random.permutation(occurring)[other % occurring.size]
    return np.where(random.random(data.n_rows) < effect, tied, null.fitted)


ALTERNATIVES: dict[str, Change] = {
    "mean": shifted_mean,
    "slope": other_slope,
    "variance": other_variance,
    "association": association,
}


def _one_group(data: Dataset, draw: DrawnQuery, random: Random) -> Floats:
    """1 in the rows of one category of the other end, drawn at random, or above its median; 0 elsewhere."""
    values = np.asarray(data.columns[draw.other], dtype=np.float64)
    if data.kinds[draw.other].is_number:
        return np.asarray(values > np.median(values[_answering(data, draw)]), dtype=np.float64)
    return np.asarray(values == random.choice(np.unique(values)), dtype=np.float64)


def _scaled(data: Dataset, draw: DrawnQuery, column: int) -> Floats:
    """A column in units of its standard deviation in the rows that answer, around its mean there."""
    values = np.asarray(data.columns[column], dtype=np.float64)
    inside = values[_answering(data, draw)]
    spread = inside.std()
    return np.asarray((values - inside.mean()) / (spread if spread > 0.0 else 1.0))


def _spread(data: Dataset, draw: DrawnQuery, null: NullColumn) -> float:
    """The standard deviation of the noise in the rows that answer."""
    return float(null.noise[_answering(data, draw)].std())


def _answering(data: Dataset, draw: DrawnQuery) -> Bools:
    """True for the rows that answer the query; for all, where its context happens to have none."""
    inside: Bools = np.full(data.n_rows, True) if draw.level is None else data.codes == draw.level
    return inside if inside.any() else ~inside

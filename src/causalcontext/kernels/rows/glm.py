"""The largest likelihood of a generalised linear model, by Newton steps: the one solver for classes
and counts (`src/kernels/glm.hpp`).

A family (`kernels.rows.likelihoods`) is a function that gives the log-likelihood with its
derivatives; everything else is the same for all of them. A ridge on chosen coefficients keeps them
finite where classes are separated; the likelihood is reported without it. Without a ridge separated
classes do no harm either: the coefficients run away, while the likelihood converges to its
supremum, and so the gain of a step to nothing.
"""

from __future__ import annotations

import math

import numpy as np
import scipy

from causalcontext import _kernels
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.rows.likelihoods import ORDINAL, POISSON

RIDGE = 1e-2
"""On slopes of standardised columns, where they have to be finite."""
NO_TIES: Ints = np.empty(0, dtype=np.int64)


def fit_glm(
    family: int,
    design: Floats,
    response: Ints,
    classes: int,
    slopes: Floats,
    ridge: float,
    tolerance: float,
) -> float:
    """The log-likelihood at its maximum, less a ridge on all but the intercepts.

    The family is `LOGIT`, `ORDINAL` or `POISSON`; the first row of the design, shape (width, rows),
    is 1. The response has classes 0, 1, ..., or counts, for which `classes` is 2. `slopes` is where
    to start, then the maximum: `(classes - 1) * width` for a logit, one class after the other, the
    last one having none; `classes - 1 + width - 1` for proportional odds, the cuts, in order,
    first; `width` for counts. A Newton step that promises less than the tolerance is the last one.
    """
    penalty = np.empty(slopes.size)
    curvature = np.empty((slopes.size, slopes.size))
    write_ridge(family, classes, len(design), ridge, penalty)
    return maximise(
        family,
        design,
        response,
        classes - 1,
        NO_TIES,
        penalty,
        slopes,
        curvature,
        -math.inf,
        tolerance,
    )


def first_slopes(family: int, response: Ints, classes: int, width: int) -> Floats:
    """Coefficients without any effect: they give the shares of the classes, or the mean count."""
    if family == POISSON:
        return np.concatenate([[math.log(max(response.mean(), 1e-6))], np.zeros(width - 1)])
    slopes = np.zeros(classes - 1 + width - 1 if family == ORDINAL else (classes - 1) * width)
    write_start(response, classes, family == ORDINAL, width, slopes)
    return slopes


def probabilities(family: int, design: Floats, classes: int, slopes: Floats) -> Floats:
    """Of every class in every row, shape (rows, classes); `design` has shape (width, rows)."""
    if family == ORDINAL:
        below = scipy.special.expit(
            slopes[: classes - 1] - (slopes[classes - 1 :] @ design[1:])[:, None]
        )
        return np.asarray(np.maximum(np.diff(below, axis=1, prepend=0.0, append=1.0), 0.0))
    predictor = np.zeros((design.shape[1], classes))
    predictor[:, :-1] = (slopes.reshape(classes - 1, design.shape[0]) @ design).T
    return np.asarray(scipy.special.softmax(predictor, axis=1))


def maximise(
    family: int,
    design: Floats,
    response: Ints,
    free: int,
    ties: Ints,
    ridge: Floats,
    slopes: Floats,
    curvature: Floats,
    needed: float,
    tolerance: float,
) -> float:
    """The largest log-likelihood; `slopes` is where to start and then the maximum.

    `free` is the number of classes but one. `ties` has the place of every coefficient of the family
    in `slopes`, -1 for those that are 0; some may share one; if it is empty, each has its own.
    `ridge` has the shape of `slopes`. `curvature` is written: the lower triangle of the negative
    Hessian, ridge included, at the maximum or one short step before. Where the maximum is clearly
    below what is `needed`, the search for it ends, with -inf. A Newton step that promises less than
    the tolerance is the last one.
    """
    likelihood: float = _kernels.maximise(
        family, design, response, free, ties, ridge, slopes, curvature, needed, tolerance
    )
    return likelihood


def write_ridge(family: int, classes: int, width: int, ridge: float, out: Floats) -> None:
    """The ridge of every coefficient of a model; intercepts and cuts have none."""
    _kernels.write_ridge(family, classes, width, ridge, out)


def write_start(codes: Ints, classes: int, ordered: bool, width: int, slopes: Floats) -> None:
    """The intercepts are those of the shares of the classes."""
    _kernels.write_start(codes, classes, ordered, width, slopes)


def is_out_of_reach(
    family: int,
    design: Floats,
    codes: Ints,
    free: int,
    ridge: Floats,
    slopes: Floats,
    inverse: Floats,
    needed: float,
) -> bool:
    """Whether the maximum is clearly below what is needed, by the gradient alone.

    `inverse` is the inverse of a negative Hessian from elsewhere, so twice as much hope is kept.
    """
    return bool(
        _kernels.is_out_of_reach(family, design, codes, free, ridge, slopes, inverse, needed)
    )


def drawn_exceedances(
    family: int,
    base: Floats,
    design: Floats,
    below: Floats,
    start_small: Floats,
    start_large: Floats,
    observed: float,
    uniforms: Floats,
    most: int,
) -> tuple[int, int]:
    """How often classes drawn from the smaller of two models give a likelihood ratio as large as
    the observed one.

    How many draws reach `observed`, and how many were made before `most` of them did. `base` and
    `design` have shape (width, rows), `below`, cumulative probabilities of the classes, (rows,
    classes), `uniforms` (draws, rows); `start_small` are the coefficients of the smaller model,
    `start_large` the same in the larger one.
    """
    reached: tuple[int, int] = _kernels.drawn_exceedances(
        family, base, design, below, start_small, start_large, observed, uniforms, most
    )
    return reached

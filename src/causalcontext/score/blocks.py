"""What regressions are fitted on: moments and prices of some contexts, of all with own levels, and with own slopes."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.score.columns import CURVES as OFFERED_CURVES
from causalcontext.score.columns import LEVEL, DesignColumns
from causalcontext.score.options import ScoreOptions
from causalcontext.score.setup import Setup

PLAIN, MIXED = range(2)
"""Designs: columns that live on all rows of a block; columns that live in some contexts."""


@dataclass(frozen=True, eq=False)
class Block:
    """One block, before all of them go into one table."""

    matrix: Floats
    design: int
    mask: int
    by_context: bool
    parameters: float
    cost: Floats


@dataclass(frozen=True, eq=False)
class DesignFacts:
    """What is known of the columns of a design: `about`, `first` and `extra` of a regression."""

    about: Ints
    first: Ints
    extra: Floats


def price(options: ScoreOptions, rows: float) -> float:
    """What a parameter costs in a block of so many rows."""
    return 0.5 * options.penalty * log(max(rows, 2.0))


def plain_design(setup: Setup, columns: DesignColumns, options: ScoreOptions) -> DesignFacts:
    q, p, extra = columns.size, setup.variables, max(setup.contexts - 1, 0)
    about = np.zeros((7, q + extra), dtype=np.int64)
    about[0, :q], about[0, q:] = columns.owner, p
    about[1] = -1
    about[1, :q] = [_partner(offer.owner, offer.partner, place >= columns.first[p])
                    for place, offer in enumerate(columns.offers)]  # fmt: skip
    about[2] = about[3] = np.arange(q + extra)
    about[5, :q] = _basic(setup, columns)
    about[6, :q] = columns.curved
    surcharge = columns.surcharge(setup.total) + options.parent_price(p)
    return DesignFacts(about, columns.first, np.append(surcharge, np.zeros(extra)))


def _partner(owner: int, partner: int, proposed: bool) -> int:
    """The second owner; a proposed column of one variable counts as its product with itself."""
    return owner if proposed and partner < 0 else partner


def _basic(setup: Setup, columns: DesignColumns) -> NDArray[np.bool_]:
    """The columns that a required parent must have: the number itself, all levels of a category but one."""
    number = np.arange(columns.size) - columns.first[columns.owner]
    level = np.array([offer.kind == LEVEL for offer in columns.offers], dtype=bool)
    enough = np.where(level, np.maximum(setup.classes[columns.owner] - 1, 1), 1)
    return np.asarray((number < enough) & (np.arange(columns.size) < columns.first[setup.variables]))


def block_of(setup: Setup, columns: DesignColumns, options: ScoreOptions, mask: int) -> Block:
    """The rows of some contexts; of all contexts with indicators of these at the end."""
    k, q = setup.contexts, columns.size
    members = [r for r in range(k) if mask >> r & 1]
    n, means = setup.n[members], columns.means[members]
    away = means - n @ means / n.sum()
    matrix = np.zeros((q + max(k - 1, 0),) * 2)
    matrix[:q, :q] = (columns.scatter[members].sum(axis=0) + (away.T * n) @ away) / n.sum()
    if len(members) == k and k > 1:
        share = setup.n[: k - 1] / setup.total
        matrix[q:, :q] = share[:, None] * away[: k - 1]
        matrix[:q, q:] = matrix[q:, :q].T
        matrix[q:, q:] = np.diag(share) - np.outer(share, share)
    return Block(matrix, PLAIN, mask, False, 2.0, np.full(len(matrix), price(options, float(n.sum()))))


def shifted_block(setup: Setup, columns: DesignColumns, options: ScoreOptions) -> Block:
    """All rows, around the means of their own contexts."""
    k, q = setup.contexts, columns.size
    matrix = np.zeros((q + k - 1,) * 2)
    matrix[:q, :q] = columns.scatter.sum(axis=0) / setup.total
    return Block(matrix, PLAIN, (1 << k) - 1, True, 1.0 + k, np.full(len(matrix), price(options, setup.total)))


def mixed_block(setup: Setup, columns: DesignColumns, options: ScoreOptions) -> tuple[DesignFacts, Block]:
    """Columns that live in some contexts only, around their means there; a curve pays twice for being chosen then.

    The responses come first, with the numbers that they have in the plain design, and are nobody's columns.
    """
    k, q, p = setup.contexts, columns.size, setup.variables
    plain, everything = plain_design(setup, columns, options), (1 << k) - 1
    source, mask = np.repeat(np.arange(q), everything), np.tile(np.arange(1, everything + 1), q)
    place = np.concatenate([np.arange(q), source])
    lives = np.concatenate([np.full(q, everything), mask])
    matrix = _mixed_moments(columns.scatter, setup.total)
    about = plain.about[:, place]
    about[0, :q], about[1, :q] = p, -1
    about[2] = place
    about[3] = np.concatenate([np.arange(q), q + np.searchsorted(source, source)])
    about[4] = lives
    about[5] &= (lives == everything) & (np.arange(len(place)) >= q)
    first = q + np.searchsorted(source, columns.first)
    prices = np.array([price(options, setup.block_rows(contexts)) for contexts in range(everything + 1)])
    extra = plain.extra[place] + log(OFFERED_CURVES) * (columns.curved[place] & (lives != everything))
    block = Block(matrix, MIXED, everything, True, 1.0 + k, prices[lives])
    return DesignFacts(about, first.astype(np.int64), extra), block


def _mixed_moments(scatter: Floats, total: float) -> Floats:
    """Covariances of q columns, then of each of them in every set of contexts; `scatter` is that of single contexts."""
    k, q = scatter.shape[:2]
    sets = (1 << k) - 1
    within = [scatter[[r for r in range(k) if mask >> r & 1]].sum(axis=0) / total for mask in range(sets + 1)]
    lives = [(slice(0, q), sets), *((slice(q + mask - 1, None, sets), mask) for mask in range(1, sets + 1))]
    matrix = np.zeros((q + q * sets,) * 2)
    for rows, one in lives:
        for columns, other in lives:
            if one & other:
                matrix[rows, columns] = within[one & other]
    return matrix

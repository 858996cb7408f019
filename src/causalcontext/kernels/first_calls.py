"""Compiling ahead: kernels that Python calls, with arguments of the types that it calls them with.

Only types count. A search that calls a kernel with other types has it compiled when it does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from causalcontext.kernels.calls import kind_of
from causalcontext.kernels.levels.gaussian import Fit, Sheets, Views, Workspace
from causalcontext.kernels.levels.neighbours import Neighbours, Pairs
from causalcontext.kernels.levels.skeleton import Decisions, Level, Masks, keep_better, search_pairs
from causalcontext.kernels.levels.votes import Ballots, Sizes, count_votes
from causalcontext.kernels.orders.node_data import NO_BENCH
from causalcontext.kernels.orders.node_scores import calls_kind, fit, fit_call, fit_kind
from causalcontext.kernels.orders.partitions import best_partition
from causalcontext.kernels.orders.selection import select_call
from causalcontext.kernels.orders.set_scores import best_extras, score_sets
from causalcontext.kernels.orders.single_fits import fit_many
from causalcontext.kernels.rows.class_choice import choice_call, choose_columns
from causalcontext.kernels.rows.class_scores import class_call, class_fit
from causalcontext.kernels.rows.clear_change import Cells, bound_from_moments, bound_of_logit, most_lost
from causalcontext.kernels.rows.logit import fit_logit
from causalcontext.kernels.rows.logit_rows import logit_call, logit_pass
from causalcontext.kernels.rows.number_scores import number_call
from causalcontext.kernels.rows.robust_change import fill_gate, fill_parts

Called = tuple[tuple[Any, tuple[Any, ...]], ...]
"""Kernels, each with arguments."""
REAL = tuple(np.zeros((1,) * dimensions) for dimensions in range(4))
WHOLE = tuple(np.zeros((1,) * dimensions, dtype=np.int64) for dimensions in range(4))
YES = tuple(np.zeros((1,) * dimensions, dtype=np.bool_) for dimensions in range(3))
"""Arrays by their number of dimensions."""


class Halves(NamedTuple):
    """What one process compiles, what another one beside it, and the kernels that are on disk when that one is done."""

    here: Callable[[], None]
    beside: Callable[[], None]
    kernels: tuple[Any, ...]


def compile_search() -> None:
    """What searches levels is compiled."""
    compile_calls(searching())


def compile_votes() -> None:
    """What votes on colliders is compiled."""
    compile_calls(voting())


def compile_levels() -> None:
    """What searches levels and votes on colliders is compiled."""
    compile_calls((*searching(), *voting()))


def compile_changes() -> None:
    """What compares a number between contexts is compiled."""
    compile_calls(comparing())


def compile_numbers() -> None:
    """What scores numbers, and sets of columns, is compiled."""
    select_call()
    number_call()
    compile_calls(scoring())


def compile_classes() -> None:
    """What scores categories, and nodes of both kinds, is compiled."""
    logit_call()
    class_call()
    choice_call()
    fit_call()
    compile_calls(proposing())


def compile_calls(called: Called) -> None:
    """Kernels are compiled for these arguments, or found on disk."""
    for kernel, samples in called:
        kernel.compile(tuple(map(kind_of, samples)))


def searching() -> Called:
    """What a search of levels calls."""
    found = Decisions(REAL[3], WHOLE[3].astype(np.int32), WHOLE[3].astype(np.int16))
    kept = Decisions(*(array[0] for array in found))
    return (
        (search_pairs, (_level(), 1, 1, Pairs(*[WHOLE[1]] * 3), found, _workspace(), WHOLE[1])),
        (keep_better, (kept, WHOLE[1], found, 1)),
    )


def voting() -> Called:
    """What votes on colliders calls."""
    ballots = Ballots(*[WHOLE[1]] * 6)
    return ((count_votes, (_level(), 1, 1, ballots, Sizes(1, 1, 1), WHOLE[1], WHOLE[1], _workspace())),)


def comparing() -> Called:
    """What compares a number between contexts calls."""
    groups, fits = (REAL[2], WHOLE[1]), (REAL[2], REAL[1], WHOLE[1], REAL[2])
    return (
        (fill_parts, (REAL[2], REAL[1], WHOLE[1], *groups, *fits, REAL[1])),
        (bound_from_moments, (Cells(WHOLE[1], REAL[2], REAL[3]), WHOLE[1])),
        (fit_logit, (REAL[2], WHOLE[1], REAL[2], 1.0, 1.0)),
        (bound_of_logit, (1.0, 1, False)),
        (most_lost, (REAL[2], 1, REAL[1], 1.0, 1.0)),
        (fill_gate, (*groups, *fits, REAL[1])),
    )


def scoring() -> Called:
    """What scores nodes and sets of columns calls."""
    return (
        (fit_many, (fit_kind(), calls_kind(), NO_BENCH, WHOLE[2], YES[2], REAL[1], REAL[2], WHOLE[2])),
        (score_sets, (calls_kind(), NO_BENCH, WHOLE[2], WHOLE[2], REAL[2])),
    )


def proposing() -> Called:
    """What proposes further columns and mergers of contexts calls."""
    return (
        (best_extras, (NO_BENCH, WHOLE[2], WHOLE[2], YES[1], REAL[3])),
        (best_partition, (1, WHOLE[3], 1, REAL[1])),
    )


def _level() -> Level:
    views = Views(REAL[3], REAL[3], WHOLE[1], REAL[2], 1)
    sheets = Sheets(WHOLE[1], WHOLE[1], WHOLE[1], WHOLE[1], 1, WHOLE[1])
    neighbours = Neighbours(WHOLE[1], WHOLE[1], WHOLE[1], WHOLE[2])
    masks = Masks(WHOLE[1], WHOLE[1], WHOLE[2], WHOLE[2], WHOLE[1])
    return Level(views, sheets, neighbours, masks, 1.0, 1)


def _workspace() -> Workspace:
    return Workspace(Fit(REAL[3], REAL[3], REAL[3], WHOLE[2]), WHOLE[2], REAL[1])


LEVELS = Halves(compile_search, compile_votes, (count_votes,))
"""For a search by tests on moments."""
TESTS = Halves(compile_levels, compile_changes,
               (bound_from_moments, bound_of_logit, most_lost, fill_gate, fit_logit, fill_parts))  # fmt: skip
"""For one that also compares numbers between contexts."""
SCORES = Halves(compile_numbers, compile_classes, (logit_pass, class_fit, choose_columns, best_extras, fit))
"""For a search by scores; what else it needs is compiled when it does."""

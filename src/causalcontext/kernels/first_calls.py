"""Compiling ahead: kernels that Python calls, with arguments of the types that it calls them with.

Only types count. A search that calls a kernel with other types has it compiled when it does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from causalcontext.kernels.calls import kind_of
from causalcontext.kernels.levels.gaussian import Fit, Sheets, Views, Workspace
from causalcontext.kernels.levels.neighbours import Neighbours, Pairs, fill_pools, fill_reach
from causalcontext.kernels.levels.skeleton import Decisions, Level, Masks, keep_better, search_pairs
from causalcontext.kernels.levels.votes import Ballots, Sizes, count_votes
from causalcontext.kernels.only_compiling import compile_only
from causalcontext.kernels.orders.exact_orders import fill_path, fill_prefixes, fill_suffixes, subset_scores
from causalcontext.kernels.orders.node_data import NO_BENCH
from causalcontext.kernels.orders.node_scores import calls_kind, fit, fit_call, fit_kind
from causalcontext.kernels.orders.order_moves import climb
from causalcontext.kernels.orders.order_state import Moves, Problem, State
from causalcontext.kernels.orders.partitions import Partitions, best_partition
from causalcontext.kernels.orders.selection import copy_call, copy_fit, copy_kind, select, select_call
from causalcontext.kernels.orders.set_scores import best_extras, score_sets
from causalcontext.kernels.orders.single_fits import fit_many
from causalcontext.kernels.rows.class_choice import choice_call, choose_columns
from causalcontext.kernels.rows.class_scores import class_call, class_fit, maximise, weighted_products, write_start
from causalcontext.kernels.rows.clear_change import Cells, bound_from_moments, bound_of_logit, most_lost
from causalcontext.kernels.rows.fits_by_context import sweep
from causalcontext.kernels.rows.laws import law_gain, law_table
from causalcontext.kernels.rows.logit import fit_logit
from causalcontext.kernels.rows.logit_rows import logit_call, logit_kind, logit_pass
from causalcontext.kernels.rows.number_scores import number_call, number_gain
from causalcontext.kernels.rows.robust_change import fill_gate, fill_parts
from causalcontext.kernels.rows.scan import (
    add_blocks,
    add_cross_products,
    centre_by_level,
    count_by_level,
    digest_rows,
    fill_order,
    mirror,
    scan,
)

Called = tuple[tuple[Any, tuple[Any, ...]], ...]
"""Kernels, each with arguments."""
Hands = tuple[tuple[str, ...], ...]
"""Names of parts, one tuple for every process; parts with much in common go together."""
REAL = tuple(np.zeros((1,) * dimensions) for dimensions in range(4))
WHOLE = tuple(np.zeros((1,) * dimensions, dtype=np.int64) for dimensions in range(4))
YES = tuple(np.zeros((1,) * dimensions, dtype=np.bool_) for dimensions in range(4))
"""Arrays by their number of dimensions."""


class Part(NamedTuple):
    """Kernels that one process compiles: those that Python calls, and those that are called through pointers."""

    called: Callable[[], Called]
    behind: tuple[tuple[Any, Callable[[], Any]], ...] = ()
    """Each with the function that makes its pointer."""

    @property
    def kernels(self) -> tuple[Any, ...]:
        return (*(kernel for kernel, _ in self.behind), *(kernel for kernel, _ in self.called()))


def compile_parts(*names: str) -> None:
    """Some parts are on disk, by a process that only compiles."""
    compile_only(kernel for name in names for kernel in PARTS[name].kernels)
    for name in names:
        compile_part(PARTS[name])


def compile_part(part: Part) -> None:
    """The kernels of a part are compiled, or found on disk."""
    for _, make_pointer in part.behind:
        make_pointer()
    for kernel, samples in part.called():
        kernel.compile(tuple(map(kind_of, samples)))


def together(first: Hands, then: Hands) -> Hands:
    """What two searches need, which take as many processes."""
    return tuple(one + other for one, other in zip(first, then, strict=True))


def surveying() -> Called:
    """What looks at a table, and sums its moments, calls."""
    bits, codes = REAL[1].view(np.uint64), WHOLE[1].astype(np.int32)
    return (
        (scan, (bits[None], codes, 1, bits, WHOLE[2], WHOLE[2], YES[1])),
        (count_by_level, (codes, YES[1], WHOLE[1])),
        (fill_order, (codes, YES[1], WHOLE[1], WHOLE[1])),
        (centre_by_level, (REAL[2], WHOLE[1], WHOLE[1], *[REAL[2]] * 5)),
        (add_blocks, (REAL[2], 1, 1, REAL[2], 1, 1)),
        (mirror, (REAL[3],)),
        (digest_rows, (bits, 1)),
    )


def searching() -> Called:
    """What a search of levels calls."""
    found = Decisions(REAL[3], WHOLE[3].astype(np.int32), WHOLE[3].astype(np.int16))
    kept = Decisions(*(array[0] for array in found))
    return (
        (search_pairs, (_level(), 1, 1, Pairs(*[WHOLE[1]] * 3), found, _workspace(), WHOLE[1])),
        (keep_better, (kept, WHOLE[1], found, 1)),
        (fill_reach, (_neighbours(), Pairs(*[WHOLE[1]] * 3), WHOLE[1], WHOLE[1])),
        (fill_pools, (_neighbours(), *[WHOLE[1]] * 5)),
    )


def voting() -> Called:
    """What votes on colliders calls."""
    ballots = Ballots(*[WHOLE[1]] * 6)
    return ((count_votes, (_level(), 1, 1, ballots, Sizes(1, 1, 1), WHOLE[1], WHOLE[1], _workspace())),)


def comparing() -> Called:
    """What compares a number between contexts calls."""
    return (
        (fill_parts, (REAL[2], REAL[1], WHOLE[1], *_GROUPS, *_FITS, REAL[1])),
        (bound_from_moments, (Cells(WHOLE[1], REAL[2], REAL[3]), WHOLE[1])),
        (sweep, (REAL[2], 1, 1)),
    )


def guarding() -> Called:
    """What the gate before such a comparison, and its logits, call."""
    return (
        (fill_gate, (*_GROUPS, *_FITS, REAL[1])),
        (fit_logit, (REAL[2], WHOLE[1], REAL[2], 1.0, 1.0)),
        (bound_of_logit, (1.0, 1, False)),
        (most_lost, (REAL[2], 1, REAL[1], 1.0, 1.0)),
    )


def scoring() -> Called:
    """What scores nodes and sets of columns calls."""
    return (
        (fit_many, (fit_kind(), calls_kind(), NO_BENCH, WHOLE[2], YES[2], REAL[1], REAL[2], WHOLE[2])),
        (score_sets, (calls_kind(), NO_BENCH, WHOLE[2], WHOLE[2], REAL[2])),
        (law_gain, (REAL[1], 1, 1.0, law_table(), REAL[1])),
    )


def proposing() -> Called:
    """What proposes further columns and mergers of contexts calls."""
    return (
        (best_extras, (NO_BENCH, WHOLE[2], WHOLE[2], YES[1], REAL[3])),
        (best_partition, (1, WHOLE[3], 1, REAL[1])),
    )


def ordering() -> Called:
    """What an exact search over orders calls."""
    return (
        (subset_scores, (fit_kind(), calls_kind(), NO_BENCH, 1, 1, YES[1], WHOLE[2], REAL[1], WHOLE[1])),
        (fill_suffixes, (REAL[3], 1, WHOLE[1], REAL[1])),
        (fill_prefixes, (REAL[2], 1, 1, REAL[1], WHOLE[1])),
        (fill_path, (REAL[3], 1, WHOLE[1], REAL[1], REAL[1], 1.0, WHOLE[1], REAL[1], WHOLE[2])),
    )


def climbing() -> Called:
    """What a search that moves nodes in orders calls."""
    slots = Partitions(1, WHOLE[2], WHOLE[3], WHOLE[1])
    problem = Problem(Moves(fit_kind(), copy_kind(), calls_kind()), slots, YES[2], YES[2])
    state = State(NO_BENCH, REAL[2], YES[3], YES[1], WHOLE[3], YES[2], REAL[2], YES[2], YES[1], WHOLE[1])
    return ((climb, (problem, state, WHOLE[1], WHOLE[2], WHOLE[1], False)),)


def explaining() -> Called:
    """What fits classes once more, for their equation, calls, and what multiplies columns."""
    return (
        (add_cross_products, (REAL[2], 1, 1, REAL[2])),
        (write_start, (WHOLE[1], 1, False, 1, REAL[1])),
        (maximise, (logit_kind(), REAL[2], WHOLE[1], 1, False, REAL[1], REAL[2], 1.0, 1.0)),
        (weighted_products, (REAL[2], REAL[1], 1, 1, False, REAL[2])),
    )


def _level() -> Level:
    views = Views(REAL[3], REAL[3], WHOLE[1], REAL[2], 1)
    sheets = Sheets(WHOLE[1], WHOLE[1], WHOLE[1], WHOLE[1], 1, WHOLE[1])
    masks = Masks(WHOLE[1], WHOLE[1], WHOLE[2], WHOLE[2], WHOLE[1])
    return Level(views, sheets, _neighbours(), masks, 1.0, 1)


def _neighbours() -> Neighbours:
    return Neighbours(WHOLE[1], WHOLE[1], WHOLE[1], WHOLE[2])


def _workspace() -> Workspace:
    return Workspace(Fit(REAL[3], REAL[3], REAL[3], WHOLE[2]), WHOLE[2], REAL[1])


_GROUPS, _FITS = (REAL[2], WHOLE[1]), (REAL[2], REAL[1], WHOLE[1], REAL[2])
PARTS = {
    "moments": Part(surveying),
    "search": Part(searching),
    "votes": Part(voting),
    "comparisons": Part(comparing),
    "gates": Part(guarding),
    "numbers": Part(scoring, ((select, select_call), (number_gain, number_call))),
    "proposals": Part(proposing),
    "orders": Part(ordering),
    "climbs": Part(climbing, ((copy_fit, copy_call),)),
    "classes": Part(explaining, ((logit_pass, logit_call), (class_fit, class_call), (choose_columns, choice_call),
                                 (fit, fit_call))),
}  # fmt: skip
"""All that is compiled ahead."""
LEVELS: Hands = (("moments", "votes"), ("search",))
"""What a search by tests on moments needs."""
TESTS: Hands = (("moments", "search", "votes"), ("comparisons", "gates"))
"""What one needs that also compares numbers between contexts."""
SCORES: Hands = (("moments", "numbers", "orders"), ("classes", "proposals"))
"""What a search by scores needs in a small table, where orders are searched exactly; what else, when it does."""
CLIMBS: Hands = (("moments", "numbers", "proposals"), ("classes", "climbs"))
"""What it needs in a larger one."""

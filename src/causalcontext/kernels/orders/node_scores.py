"""The score of a node in a block: columns by moments, then the chosen set once on the rows.

Moments choose the columns. What is chosen is evaluated on the rows: the noise density of a number, the logit of a
category. A set of columns is evaluated once and remembered.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from causalcontext.kernels.arrays import ONE, Bools, Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.function_pointers import FunctionPointer, no_function, pointer_kind, pointer_to
from causalcontext.kernels.handles import Note, fetch
from causalcontext.kernels.limits import SMALLEST_VARIANCE
from causalcontext.kernels.orders.kept_fits import KeptFits, find, keep, name_of_fit, recall
from causalcontext.kernels.orders.node_data import (
    BY_CONTEXT,
    CURVES,
    DENSITIES,
    DESIGN,
    FIT_ARRAYS,
    KIND,
    LIMIT,
    MASK,
    NO_FIT_ARRAYS,
    NUMBER,
    ORDERED,
    START,
    WIDTH,
    BlockTables,
    Calls,
    FitRows,
    Memory,
    Required,
    classes_of,
    kind_of,
    name_of,
    regression_of,
    store,
)
from causalcontext.kernels.orders.regressions import (
    BASIC,
    CLOSED,
    CONTEXTS,
    END,
    LENGTH,
    OWNER,
    PATH,
    SOURCE,
    TAKEN,
    UNKNOWN,
    BlockRegression,
    Fits,
    Scratch,
    price_of,
)
from causalcontext.kernels.orders.selection import select_kind, select_pointer
from causalcontext.kernels.rows.class_choice import choice_kind, choice_pointer
from causalcontext.kernels.rows.class_scores import class_kind, class_pointer, ordered_pointer
from causalcontext.kernels.rows.logit_rows import logit_kind, logit_pointer
from causalcontext.kernels.rows.noise_densities import DensityTable, density_kind, density_pointer
from causalcontext.kernels.rows.number_scores import number_kind, number_pointer


@cache
def fit_pointer() -> FunctionPointer:
    """`fit` behind a pointer."""
    return pointer_to(fit, *_samples())


def fit_kind() -> Any:
    """The type of `fit_pointer`."""
    return pointer_kind(*_samples())


def calls_kind() -> Calls:
    """The types of `calls_for`."""
    return Calls(select_kind(), number_kind(), density_kind(), choice_kind(), class_kind(), logit_kind(), logit_kind())


def _samples() -> tuple[Any, ...]:
    return NO_FIT_ARRAYS, calls_kind(), 0, 0, 0


@cache
def calls_for(densities: bool, classes: bool, ordered: bool) -> Calls:
    """The functions that a fit calls; what no node needs is not compiled."""
    numbers = (
        (number_pointer(), density_pointer())
        if densities
        else (no_function(number_kind()), no_function(density_kind()))
    )
    if classes:
        others = choice_pointer(), class_pointer(), logit_pointer(), ordered_pointer() if ordered else logit_pointer()
    else:
        others = tuple(map(no_function, (choice_kind(), class_kind(), logit_kind(), logit_kind())))
    return Calls(select_pointer(), *numbers, *others)


@kernel
def fit(arrays: Note, calls: Calls, block: int, node: int, slot: int) -> float:
    """Choose columns of `work.candidates` for a node in a block, and write them with their score, which is returned.

    `arrays` is the note of `FitArrays`.
    """
    facts, fits, kept = (
        fetch(arrays, FIT_ARRAYS, BlockTables).block[block],
        fetch(arrays, FIT_ARRAYS, Fits),
        fetch(arrays, FIT_ARRAYS, KeptFits),
    )
    kind, name = fetch(arrays, FIT_ARRAYS, FitRows).node[node, KIND], np.uint64(0)
    if facts[LIMIT] < 0 or (facts[DESIGN] == 1 and kind != NUMBER):
        whole, matters = fits.whole[node, slot], fits.matters[node, slot]
        whole[END], whole[LENGTH], whole[TAKEN] = CLOSED, 0, 0
        for j in range(matters.size):
            matters[j] = False
        fits.scores[node, slot] = -math.inf
        return -math.inf
    if kept.names.size > 0:
        name = name_of_fit(kept.keys, kind_of(facts), node, fetch(arrays, FIT_ARRAYS, Scratch).candidates)
        place = find(kept.names, name)
        if kept.names[place] == name:
            score = recall(kept, place, fits, node, slot)
            fits.scores[node, slot] = score
            return score
    if kind == NUMBER:
        score = _fit_number(arrays, calls, block, node, slot)
    else:
        score = _fit_classes(arrays, calls, block, node, slot)
    fits.scores[node, slot] = score
    if kept.names.size > 0:
        keep(kept, name, fits, node, slot, score)
    return score


@kernel
def _fit_number(arrays: Note, calls: Calls, block: int, node: int, slot: int) -> float:
    """The score of a number: Gaussian, plus what a noise density gains."""
    tables, rows, memory = (
        fetch(arrays, FIT_ARRAYS, BlockTables),
        fetch(arrays, FIT_ARRAYS, FitRows),
        fetch(arrays, FIT_ARRAYS, Memory),
    )
    facts, whole = tables.block[block], fetch(arrays, FIT_ARRAYS, Fits).whole[node, slot]
    left = calls.select(arrays, block, node, rows.facts[CURVES] == 0.0, slot)
    table = regression_of(tables, block)
    chosen, count = whole[PATH + (whole.size - 3) // 2 :], whole[TAKEN]
    score = tables.number[block, START] - 0.5 * table.rows * math.log(max(left, SMALLEST_VARIANCE))
    for place in range(count):
        score -= price_of(table, chosen[place], ONE)
    if rows.facts[DENSITIES] == 0.0:
        return float(score)
    name = name_of(facts, table.about, rows.keys, node, chosen, count)
    place = find(memory.names, name)
    if memory.names[place] == name:
        return float(score + memory.scores[place])
    pair, slopes, work = np.zeros((2, count), dtype=np.int64), np.zeros(count), fetch(arrays, FIT_ARRAYS, Scratch)
    for t in range(count):
        pair[0, t], pair[1, t] = table.about[SOURCE, chosen[t]], table.about[CONTEXTS, chosen[t]]
        slopes[t] = work.small[4, t, 0]
    gain = calls.number_gain(
        rows.values,
        rows.starts,
        facts[MASK],
        facts[BY_CONTEXT] == 1,
        rows.node[node],
        pair,
        slopes,
        table.rows,
        fetch(arrays, FIT_ARRAYS, DensityTable),
        calls.density_gain,
    )
    store(memory, place, name, gain)
    return float(score + gain)


@kernel
def _fit_classes(arrays: Note, calls: Calls, block: int, node: int, slot: int) -> float:
    """The score of a category; the columns that are left of the choice are written."""
    tables, rows, memory = (
        fetch(arrays, FIT_ARRAYS, BlockTables),
        fetch(arrays, FIT_ARRAYS, FitRows),
        fetch(arrays, FIT_ARRAYS, Memory),
    )
    fits, forced, facts = (
        fetch(arrays, FIT_ARRAYS, Fits),
        fetch(arrays, FIT_ARRAYS, Required).links[node],
        tables.block[block],
    )
    table, whole = regression_of(tables, block), fits.whole[node, slot]
    chosen, plain, width = whole[PATH + (whole.size - 3) // 2 :], rows.facts[CURVES] == 0.0, rows.node[node, WIDTH]
    sets, prices, name = np.full((3, chosen.size + 1), -1), np.zeros((3, chosen.size)), np.uint64(0)
    for turn in range(1, -1, -1):
        if turn == 1 or not plain:
            calls.select(arrays, block, node, plain or turn == 0, slot)
            own = name_of(facts, table.about, rows.keys, node, chosen, whole[TAKEN])
            name = (name << np.uint64(7)) ^ (name >> np.uint64(57)) ^ own
        _put(table, width, forced, chosen, whole[TAKEN], sets[turn], prices[turn])
    if not plain:
        whole[END] = UNKNOWN
        matters = fits.matters[node, slot]
        for j in range(matters.size):
            matters[j] = True
    name |= np.uint64(1)
    place = find(memory.names, name)
    if memory.names[place] == name:
        score = memory.scores[place]
        for t in range(memory.columns[place, 0] + 1):
            sets[0, t] = memory.columns[place, t]
    else:
        own_rows = classes_of(tables, rows, block, node)
        one_pass = calls.ordered_pass if rows.node[node, KIND] == ORDERED else calls.logit_pass
        score = calls.choose_columns(own_rows, calls.class_fit, one_pass, sets, prices)
        if store(memory, place, name, score):
            for t in range(sets[0, 0] + 1):
                memory.columns[place, t] = sets[0, t]
    whole[TAKEN] = sets[0, 0]
    for t in range(sets[0, 0]):
        chosen[t] = sets[0, 1 + t]
        if forced[table.about[OWNER, chosen[t]]] and table.about[BASIC, chosen[t]] == 1:
            score -= price_of(table, chosen[t], width)
    return float(score)


@kernel
def _put(
    table: BlockRegression, width: int, forced: Bools, chosen: Ints, count: int, goal: Ints, price: Floats
) -> None:
    """Write a set of columns with their prices; required ones are beyond price."""
    goal[0] = count
    for t in range(count):
        column = chosen[t]
        goal[1 + t] = column
        required = forced[table.about[OWNER, column]] and table.about[BASIC, column] == 1
        price[t] = math.inf if required else price_of(table, column, width)

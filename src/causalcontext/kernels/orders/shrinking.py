"""Which columns of a grown path stay: those that pay, in disjoint contexts."""

from __future__ import annotations

import math

from causalcontext.kernels.arrays import NOBODY, Bools, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.orders.regressions import (
    BASIC,
    CONTEXTS,
    FAMILY,
    LENGTH,
    OWNER,
    PATH,
    TAKEN,
    BlockRegression,
    Scratch,
    Target,
    invert,
    price_of,
    solve,
    weight_of,
)


@kernel
def start_with_path(table: BlockRegression, whole: Ints) -> None:
    """Start with the columns of the path; those of one family that share contexts are replaced by disjoint ones.

    x everywhere and x in context 0 together span the same as x in context 0 and x in the others, but only the latter
    say in which contexts x matters.
    """
    room = (whole.size - 3) // 2
    chosen = whole[PATH + room :]
    count = 0
    for t in range(whole[LENGTH]):
        column = whole[PATH + t]
        family, seen = table.about[FAMILY, column], False
        for earlier in range(t):
            seen = seen or (table.about[CONTEXTS, column] > 0 and table.about[FAMILY, whole[PATH + earlier]] == family)
        if seen:
            continue
        if table.about[CONTEXTS, column] == 0:
            chosen[count] = column
            count += 1
            continue
        everything, done = 0, 0
        for other in range(t, whole[LENGTH]):
            if table.about[FAMILY, whole[PATH + other]] == family:
                everything |= table.about[CONTEXTS, whole[PATH + other]]
        while done != everything and count < room:
            part = _part(table, whole, t, family, everything & ~done)
            done |= part
            chosen[count] = family + part - 1
            count += 1
    whole[TAKEN] = count


@kernel
def _part(table: BlockRegression, whole: Ints, t: int, family: int, open_contexts: int) -> int:
    """The contexts that no column of a family tells apart from the first open one."""
    lowest = open_contexts & -open_contexts
    part = open_contexts
    for other in range(t, whole[LENGTH]):
        column = whole[PATH + other]
        if table.about[FAMILY, column] == family:
            mask = table.about[CONTEXTS, column]
            part &= mask if mask & lowest else ~mask
    return part


@kernel
def shrink(table: BlockRegression, target: Target, forced: Bools, whole: Ints, work: Scratch) -> None:
    """Drop columns, or merge two of a family, where the loss is below the price, the cheapest first."""
    chosen = whole[PATH + (whole.size - 3) // 2 :]
    while True:
        solve(table.covariance, chosen, whole[TAKEN], target, work)
        invert(work.small[0], work.small[1], target.width)
        first, second, lowest = -1, -1, 1.0
        for place in range(whole[TAKEN]):
            column = chosen[place]
            if forced[table.about[OWNER, column]] and table.about[BASIC, column] == 1:
                continue
            value = _loss(place, NOBODY, whole[TAKEN], target.width, work)
            value /= weight_of(table, column, target.width)
            if value < lowest:
                first, second, lowest = place, -1, value
            for other in range(place):
                if (
                    table.about[CONTEXTS, column] == 0
                    or table.about[FAMILY, chosen[other]] != table.about[FAMILY, column]
                ):
                    continue
                both = _merged(table, column, chosen[other])
                saved = (price_of(table, column, target.width) + price_of(table, chosen[other], target.width)
                         - price_of(table, both, target.width))  # fmt: skip
                value = _loss(place, other, whole[TAKEN], target.width, work) * math.exp(-2.0 * saved / table.rows)
                if value < lowest:
                    first, second, lowest = place, other, value
        if first < 0:
            return
        if second >= 0:
            chosen[second] = _merged(table, chosen[first], chosen[second])
        for place in range(first, whole[TAKEN] - 1):
            chosen[place] = chosen[place + 1]
        whole[TAKEN] -= 1


@kernel
def _merged(table: BlockRegression, one: int, other: int) -> int:
    """The column of a family that lives in the contexts of two."""
    return int(table.about[FAMILY, one] + (table.about[CONTEXTS, one] | table.about[CONTEXTS, other]) - 1)


@kernel
def _loss(place: int, other: int, count: int, d: int, work: Scratch) -> float:
    """By what factor the response's residual variance grows without a column, or if two columns have one slope."""
    inverse, slopes = work.small[3], work.small[4]
    explained, spread = 0.0, 0.0
    for a in range(d):
        for b in range(d):
            left = slopes[place, a] - (slopes[other, a] if other >= 0 else 0.0)
            right = slopes[place, b] - (slopes[other, b] if other >= 0 else 0.0)
            explained += left * work.small[1, a, b] * right
    for t in range(count):
        value = inverse[t, place] if t >= place else 0.0
        if other >= 0 and t >= other:
            value -= inverse[t, other]
        spread += value * value
    return 1.0 + explained / spread

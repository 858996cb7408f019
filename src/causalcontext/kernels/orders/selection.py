"""Which columns a node takes from its candidates: grow and shrink on covariances, with a memory.

Every variable offers columns: itself, and perhaps curves of itself. Growing is a pivoted Cholesky
factorisation: the column that raises the penalised likelihood most comes next, as long as the score
rises, and with patience a little longer: two causes may hide each other. Then columns that do not
pay are dropped. The response is one column for a number, and several (the indicators of all levels
but one) for a category; the likelihood is the Gaussian one, Wilks' lambda. Columns of variables
that are no candidates go along, so that every fit knows whose candidacy matters: who was taken
anywhere along the path, or would have been. In a search over orders that spares most regressions.

Gains are compared without logarithms: a column that leaves the share 1 - q of the response's
(generalised) variance pays if (1 - q) exp(2 price / rows) < 1.
"""

from __future__ import annotations

import math

from causalcontext.kernels.arrays import NOBODY, NOTHING, Bools, Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.handles import Note, PointerTo, fetch
from causalcontext.kernels.limits import SAME_COLUMN_BELOW, SMALL_COLUMN_BELOW, SMALLEST_VARIANCE
from causalcontext.kernels.orders.fit_arrays import (
    BASIC,
    CLASS,
    CLOSED,
    CONTEXTS,
    CURVED,
    END,
    FACTOR,
    FAMILY,
    FIT_ARRAYS,
    KIND,
    LEAST,
    LEFT,
    LENGTH,
    NO_FIT_ARRAYS,
    ONLY_IF_IT_PAYS,
    OWNER,
    PARTNER,
    PATH,
    TAKEN,
    VALUE,
    WELCOME,
    FitRows,
    Fits,
    Regression,
    Scratch,
    regression_of,
    response_covariance,
    row_of,
    shared_values,
)

NO_VARIANCE = 1e-12
PATIENCE = 1
"""How many columns in a row may be taken that do not pay by themselves, in the hope of one that
pays then.
"""


@kernel
def select(arrays: Note, block: int, node: int, plain: bool, slot: int) -> float:
    """Choose columns of `work.candidates`, only plain ones if asked; what is left of the variance
    of a number.

    `arrays` is the note of `FitArrays`. Afterwards `fits.whole` has the chosen columns,
    `work.small[4]` their slopes and `work.small[0]` the residual covariance of the response.
    Required parents always stay.
    """
    table = regression_of(arrays, block, node)
    fits = fetch(arrays, FIT_ARRAYS, Fits)
    work = fetch(arrays, FIT_ARRAYS, Scratch)
    whole = fits.whole[node, slot]
    matters = fits.matters[node, slot]
    whole[LENGTH] = 0
    whole[TAKEN] = 0
    for j in range(matters.size):
        matters[j] = False
    if table.most < 0:
        whole[END] = CLOSED
        return math.inf
    inside, count = _list(table, plain, matters.size > 0, work)
    _grow(table, inside, count, whole, matters, work)
    _start_with_path(table, whole)
    _shrink(table, whole, fetch(arrays, FIT_ARRAYS, FitRows).node[node, KIND] == CLASS, work)
    return float(work.small[0, 0, 0])


select_pointer = PointerTo(select, lambda: (NO_FIT_ARRAYS, 0, 0, False, 0))


@kernel
def copy_fit(arrays: Note, node: int, source: int, goal: int) -> float:
    """Copy the fit of one slot to another; its score."""
    fits = fetch(arrays, FIT_ARRAYS, Fits)
    whole = fits.whole[node]
    matters = fits.matters[node]
    for t in range(whole.shape[1]):
        whole[goal, t] = whole[source, t]
    for j in range(matters.shape[1]):
        matters[goal, j] = matters[source, j]
    fits.scores[node, goal] = fits.scores[node, source]
    return float(fits.scores[node, goal])


copy_pointer = PointerTo(copy_fit, lambda: (NO_FIT_ARRAYS, 0, 0, 0))


@kernel
def _list(table: Regression, plain: bool, asked: bool, work: Scratch) -> tuple[int, int]:
    """List columns on offer, with covariances and prices; if asked, then those of one more
    candidate; how many each.
    """
    p = work.candidates.size
    about = table.about
    line = work.line
    inside, m = NOTHING, NOTHING
    for turn in range(2 if asked else 1):
        inside = m
        for part in range(p if plain else p + 1):
            if part < p and (part == table.node or work.candidates[part] == (turn == 1)):
                continue
            for column in range(table.first[part], table.first[part + 1]):
                if plain and about[CURVED, column] == 1:
                    break
                owner = about[OWNER, column]
                variance = table.variance[column]
                newcomer = part
                if part == p:
                    newcomer = _newcomer(work.candidates, owner, about[PARTNER, column], table.node)
                    if newcomer < 0 or (newcomer < p) != (turn == 1):
                        continue
                if variance < SMALL_COLUMN_BELOW:
                    continue
                required = turn == 0 and table.required[owner] and about[BASIC, column] == 1
                work.listed[0, m] = column
                work.listed[1, m] = newcomer
                line[LEFT, m] = variance
                line[LEAST, m] = SAME_COLUMN_BELOW * variance
                line[FACTOR, m] = 0.0 if required else _factor(table, column)
                m += 1
    for a in range(table.width):
        row = row_of(table, table.response + a)
        shared = work.shared[a]
        for place in range(m):
            shared[place] = row[work.listed[0, place]]
    response_covariance(table, work.small[0])
    return (inside if asked else m), m


@kernel
def _newcomer(candidates: Bools, one: int, other: int, node: int) -> int:
    """The variable that a product lacks among the candidates: the number of variables if none, -1
    if two.
    """
    if node in (one, other) or not (one == other or candidates[one] or candidates[other]):
        return -1
    if candidates[one] and candidates[other]:
        return candidates.size
    return other if candidates[one] else one


@kernel
def _grow(
    table: Regression, inside: int, count: int, whole: Ints, matters: Bools, work: Scratch
) -> None:
    """Grow the path, and note whose columns were taken, and whose would have been."""
    most = table.most
    d = table.width
    room = (whole.size - PATH) // 2
    size = NOTHING
    in_vain = 0
    kept = 0
    whole[END] = WELCOME
    while True:
        invert(work.small[0], work.small[1], d)
        best, value = _next(d, inside, count, work.line, work.shared, work.small)
        if best < 0:
            if in_vain == PATIENCE:
                whole[END] = ONLY_IF_IT_PAYS
            break
        if value > 0.0:
            if size - kept >= most or (value >= 1.0 and in_vain == PATIENCE) or size >= room:
                whole[END] = ONLY_IF_IT_PAYS if size - kept < most and size < room else CLOSED
                break
            in_vain = 0 if value < 1.0 else in_vain + 1
        else:
            kept += 1
        column = work.listed[0, best]
        whole[PATH + size] = column
        if matters.size > 0:  # for the column, or outside the candidates for a better one
            matters[table.about[OWNER, column]] = True
            if table.about[PARTNER, column] >= 0:
                matters[table.about[PARTNER, column]] = True
            for place in range(inside, count):
                own = work.line[VALUE, place]
                if own < value or (own == value and work.listed[0, place] < column):
                    matters[work.listed[1, place]] = True
        _take(table, column, best, count, size, work)
        size += 1
    whole[LENGTH] = size
    bar = math.inf if whole[END] == WELCOME else 1.0
    for place in range(inside, count if whole[END] != CLOSED else inside):
        if work.line[VALUE, place] < bar:
            matters[work.listed[1, place]] = True


@kernel
def _next(
    d: int, inside: int, count: int, line: Floats, by_response: Floats, small: Floats
) -> tuple[int, float]:
    """What every column in the list would leave, times its price; the best of those on offer, -1 if
    there is none.
    """
    # all places at once, so that compilers use vector instructions
    left = line[LEFT]
    least = line[LEAST]
    price = line[FACTOR]
    value = line[VALUE]
    floor = SMALLEST_VARIANCE / max(small[0, 0, 0], SMALLEST_VARIANCE)
    for place in range(count):
        value[place] = 0.0
    for a in range(d):
        for b in range(d):
            one = by_response[a]
            other = by_response[b]
            factor = small[1, a, b]
            for place in range(count):
                value[place] += one[place] * factor * other[place]
    for place in range(count):
        explained = value[place]
        share = max(1.0 - explained / left[place], floor) * price[place]
        value[place] = share if left[place] > least[place] and explained > 0.0 else math.inf
    best = -1
    lowest = math.inf
    for place in range(inside):
        if value[place] < lowest:
            best = place
            lowest = value[place]
    return best, lowest


@kernel
def _take(table: Regression, column: int, best: int, m: int, size: int, work: Scratch) -> None:
    """Regress the response and everything in the list on the next column, which is not taken
    again.
    """
    row = row_of(table, column >> table.bits)
    own_values = shared_values(table, column)
    d = table.width
    left = work.line[LEFT]
    value = work.rows[size]
    own = work.small[3, 0]
    load = work.small[2, 0]
    root = math.sqrt(left[best])
    for a in range(size):
        own[a] = work.rows[a, best]
    for a in range(d):
        load[a] = work.shared[a, best] / root
    for place in range(m):
        value[place] = row[work.listed[0, place] & own_values]
    for a in range(size):
        earlier = work.rows[a]
        step = own[a]
        for place in range(m):
            value[place] -= earlier[place] * step
    for place in range(m):
        value[place] /= root
        left[place] -= value[place] * value[place]
    for a in range(d):
        shared = work.shared[a]
        step = load[a]
        for place in range(m):
            shared[place] -= value[place] * step
    for a in range(d):
        for b in range(d):
            work.small[0, a, b] -= load[a] * load[b]
    left[best] = -1.0


@kernel
def _start_with_path(table: Regression, whole: Ints) -> None:
    """Start with the columns of the path; those of one family that share contexts are replaced by
    disjoint ones.

    x everywhere and x in context 0 together span the same as x in context 0 and x in the others,
    but only the latter say in which contexts x matters.
    """
    room = (whole.size - PATH) // 2
    chosen = whole[PATH + room :]
    count = 0
    for t in range(whole[LENGTH]):
        column = whole[PATH + t]
        family = table.about[FAMILY, column]
        seen = False
        for earlier in range(t):
            seen = seen or (
                table.about[CONTEXTS, column] > 0
                and table.about[FAMILY, whole[PATH + earlier]] == family
            )
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
def _part(table: Regression, whole: Ints, t: int, family: int, open_contexts: int) -> int:
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
def _shrink(table: Regression, whole: Ints, is_category: bool, work: Scratch) -> None:
    """Drop columns, or merge two of a family, where the loss is below the price, the cheapest
    first.
    """
    chosen = whole[PATH + (whole.size - PATH) // 2 :]
    while True:
        solve(table, chosen, whole[TAKEN], work)
        for a in range(
            table.width if is_category else 0
        ):  # no column seems to explain what has no variance left
            work.small[0, a, a] += SMALLEST_VARIANCE
        invert(work.small[0], work.small[1], table.width)
        first = -1
        second = -1
        lowest = 1.0
        for place in range(whole[TAKEN]):
            column = chosen[place]
            if table.required[table.about[OWNER, column]] and table.about[BASIC, column] == 1:
                continue
            value = _loss(place, NOBODY, whole[TAKEN], table.width, work) / _factor(table, column)
            if value < lowest:
                first = place
                second = -1
                lowest = value
            for other in range(place):
                related = table.about[FAMILY, chosen[other]] == table.about[FAMILY, column]
                if table.about[CONTEXTS, column] == 0 or not related:
                    continue
                both = _merged(table, column, chosen[other])
                saved = (
                    price_of(table, column) + price_of(table, chosen[other]) - price_of(table, both)
                )
                value = _loss(place, other, whole[TAKEN], table.width, work) * math.exp(
                    -2.0 * saved / table.rows
                )
                if value < lowest:
                    first = place
                    second = other
                    lowest = value
        if first < 0:
            return
        if second >= 0:
            chosen[second] = _merged(table, chosen[first], chosen[second])
        for place in range(first, whole[TAKEN] - 1):
            chosen[place] = chosen[place + 1]
        whole[TAKEN] -= 1


@kernel
def _merged(table: Regression, one: int, other: int) -> int:
    """The column of a family that lives in the contexts of two."""
    return int(
        table.about[FAMILY, one] + (table.about[CONTEXTS, one] | table.about[CONTEXTS, other]) - 1
    )


@kernel
def _loss(place: int, other: int, count: int, d: int, work: Scratch) -> float:
    """By what factor the response's residual variance grows without a column, or if two columns
    have one slope.
    """
    inverse = work.small[3]
    slopes = work.small[4]
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


@kernel
def price_of(table: Regression, column: int) -> float:
    """What a column costs, a parameter for every column of the response."""
    return float(table.cost[column] * table.width + table.extra[column])


@kernel
def _factor(table: Regression, column: int) -> float:
    """The price of a column as a factor on the variance that is left."""
    if table.width == 1:
        return float(table.weight[column])
    return math.exp(2.0 * price_of(table, column) / table.rows)


@kernel
def invert(matrix: Floats, inverse: Floats, size: int) -> None:
    """The inverse of a covariance; directions without variance are left out."""
    if size == 1:
        inverse[0, 0] = 1.0 / matrix[0, 0] if matrix[0, 0] > NO_VARIANCE else 0.0
        return
    for i in range(size):
        for j in range(size):
            inverse[i, j] = -matrix[i, j]
    for k in range(size):
        pivot = -inverse[k, k]
        if pivot <= NO_VARIANCE + 1e-10 * matrix[k, k]:
            for i in range(size):
                inverse[i, k] = 0.0
                inverse[k, i] = 0.0
            continue
        for i in range(size):
            for j in range(size):
                if i != k and j != k:
                    inverse[i, j] += inverse[i, k] * inverse[k, j] / pivot
        for i in range(size):
            if i != k:
                inverse[i, k] /= pivot
                inverse[k, i] /= pivot
        inverse[k, k] = 1.0 / pivot


@kernel
def solve(table: Regression, chosen: Ints, count: int, work: Scratch) -> None:
    """Regress the response: slopes in `small[4]`, rest in `small[0]`, the factor and its inverse in
    `small[2:4]`.
    """
    left = work.small[0]
    factor = work.small[2]
    inverse = work.small[3]
    slopes = work.small[4]
    d = table.width
    for j in range(count):
        row = row_of(table, chosen[j] >> table.bits)
        own_values = shared_values(table, chosen[j])
        for i in range(j + 1):
            value = row[chosen[i] & own_values]
            for a in range(i):
                value -= factor[j, a] * factor[i, a]
            factor[j, i] = value / factor[i, i] if i < j else math.sqrt(max(value, 1e-12))
    for i in range(count):
        inverse[i, i] = 1.0 / factor[i, i]
        for j in range(i + 1, count):
            value = 0.0
            for a in range(i, j):
                value -= factor[j, a] * inverse[a, i]
            inverse[j, i] = value / factor[j, j]
    response_covariance(table, left)
    for a in range(d):
        row = row_of(table, table.response + a)
        for i in range(count):
            value = 0.0
            for j in range(i + 1):
                value += inverse[i, j] * row[chosen[j]]
            slopes[i, a] = value
    for i in range(count):
        for a in range(d):
            for b in range(d):
                left[a, b] -= slopes[i, a] * slopes[i, b]
    for i in range(count):
        for a in range(d):
            value = 0.0
            for j in range(i, count):
                value += inverse[j, i] * slopes[j, a]
            slopes[i, a] = value

"""Counts of neighbours in rank space, for many shuffled copies of one column at once.

All distances are small integers: the gap between two ranks, 0 or `far` between two codes, the
largest over columns. A row of the table of distances is thus an array of 16-bit integers that stays
in the nearest cache, a count of neighbours is one pass over it that the compiler turns into vector
instructions, and the distance to the k-th neighbour is found by a few such counts: cheaper than any
sort or tree. Integers are cast all along, since a wider accumulator would cost the vectors most of
their lanes.
"""

from __future__ import annotations

import numpy as np

from causalcontext.kernels.arrays import Bools, Floats, Ints, Shorts
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.draws import stream_of, uniform_at

_short = np.int16


def shuffled_information(
    shuffled: Shorts,
    is_code: Bools,
    columns: Shorts,
    psi: Floats,
    far: int,
    neighbours: float,
    strict: bool,
) -> Floats:
    """The estimate of the conditional mutual information of x and y given Z for every shuffled copy
    of x.

    `shuffled`, shape (copies, rows), has ranks or codes of x, `columns`, shape (1 + conditions,
    rows), those of y, then of the conditions; `is_code` says which of them all are codes. `psi` is
    the digamma function at 0 (not used), 1, 2, and so on; `far` is the distance between two codes,
    larger than that between any two ranks; of `neighbours` below 1, the share counts of the rows
    at less than `far` from a row, itself included. `strict` counts as
    Frenzel and Pompe do (closer than the k-th neighbour, the row itself included), else as Mesner
    and Shalizi do (as close as the k-th neighbour, the row itself left out).
    """
    totals = np.zeros(shuffled.shape[0])
    _add_information(shuffled, is_code, columns, psi, far, neighbours, strict, totals)
    return totals


@kernel
def _add_information(
    shuffled: Shorts,
    is_code: Bools,
    columns: Shorts,
    psi: Floats,
    far: int,
    neighbours: float,
    strict: bool,
    totals: Floats,
) -> None:
    copies, rows = shuffled.shape
    near_y = np.empty(rows, _short)
    near_given = np.empty(rows, _short)
    near = np.empty(rows, _short)
    for i in range(rows):
        near_given[:] = 0
        for c in range(1, columns.shape[0]):
            _widen(columns[c], columns[c, i], near_given, near_given, is_code[c + 1], far)
        _widen(columns[0], columns[0, i], near_given, near_y, is_code[1], far)
        radius = far // 4
        for b in range(copies):
            x = shuffled[b]
            _widen(x, x[i], near_y, near, is_code[0], far)
            reachable = _within(near, far - 1)
            k = int(neighbours * reachable) if neighbours < 1.0 else int(neighbours)
            k = min(max(k, 1), reachable - 1)  # at least one and at most all at less than `far`
            if k == 0:
                continue
            radius = _radius(near, k + 1, radius, far)
            with_x = _both_within(
                x, x[i], near_given, is_code[0], far, max(radius - 1, 0) if strict else radius
            )
            totals[b] += _term(near, near_y, near_given, psi, with_x, radius, k, strict)
    totals /= rows


def nearest_rows(columns: Shorts, is_code: Bools, far: int, most: int, seed: np.uint64) -> Ints:
    """The `most` nearest rows of every row, itself among them, at less than `far`; -1 where there
    are fewer.

    Among rows that are equally far the last places are given at random, from a stream for every
    row.
    """
    found = np.full((columns.shape[1], most), -1)
    _find_nearest(columns, is_code, far, seed, found)
    return found


@kernel
def _find_nearest(columns: Shorts, is_code: Bools, far: int, seed: np.uint64, found: Ints) -> None:
    rows, most = found.shape
    near = np.empty(rows, _short)
    for i in range(rows):
        near[:] = 0
        for c in range(columns.shape[0]):
            _widen(columns[c], columns[c, i], near, near, is_code[c], far)
        radius = min(_radius(near, min(most, rows), 1, far), far - 1)
        taken = 0
        tied = 0
        stream = stream_of(seed, i)
        for j in range(rows):
            if near[j] < radius:
                found[i, taken] = j
                taken += 1
        for j in range(rows):
            if near[j] == radius:
                place = taken + tied
                if place >= most:
                    place = taken + int(uniform_at(stream, tied) * (tied + 1))
                if place < most:
                    found[i, place] = j
                tied += 1


def local_shuffles(
    nearest: Ints, loose: Ints, strata: Ints, starts: Ints, first: int, copies: int, seed: np.uint64
) -> Ints:
    """For copies from the `first` on and every row, the row whose x it takes: of its stratum, or
    one of its nearest.

    Rows in `strata`, of which one ends where the next of `starts` begins, are permuted within their
    stratum. A `loose` row takes one of its nearest rows that no loose row before it took, if there
    is one; the order of loose rows and that of their nearest rows are drawn anew for every copy.
    Every copy has a stream of its own, so that one call for many copies gives what many calls give.
    """
    sources = np.empty((copies, loose.size + strata.size), np.int64)
    _draw_shuffles(nearest, loose, strata, starts, first, seed, sources)
    return sources


@kernel
def _draw_shuffles(
    nearest: Ints,
    loose: Ints,
    strata: Ints,
    starts: Ints,
    first: int,
    seed: np.uint64,
    sources: Ints,
) -> None:
    """Draws are numbered by what they are for: places of strata, places of loose rows, choices of
    donors.
    """
    used = np.empty(sources.shape[1], np.bool_)
    order = np.empty_like(loose)
    donors = np.empty_like(strata)
    for b in range(sources.shape[0]):
        stream = stream_of(seed, first + b)
        order[:] = loose
        donors[:] = strata
        used[:] = False
        for s in range(starts.size - 1):
            for last in range(starts[s + 1] - 1, starts[s], -1):
                drawn = starts[s] + int(uniform_at(stream, last) * (last - starts[s] + 1))
                donors[last], donors[drawn] = donors[drawn], donors[last]
        for position in range(strata.size):
            sources[b, strata[position]] = donors[position]
        turn = strata.size
        for last in range(loose.size - 1, 0, -1):
            drawn = int(uniform_at(stream, turn + last) * (last + 1))
            order[last], order[drawn] = order[drawn], order[last]
        turn += loose.size
        for place in range(
            loose.size
        ):  # takes any of its nearest rows that are free; any of them if none is
            i = order[place]
            number = 0
            free = 0
            while number < nearest.shape[1] and nearest[i, number] >= 0:
                free += not used[nearest[i, number]]
                number += 1
            skipped = int(uniform_at(stream, turn + place) * (free if free > 0 else number))
            donor = nearest[i, skipped]
            if free > 0:
                at = 0
                while used[nearest[i, at]] or skipped > 0:
                    skipped -= not used[nearest[i, at]]
                    at += 1
                donor = nearest[i, at]
            used[donor] = True
            sources[b, i] = donor


@kernel
def _term(
    near: Shorts,
    near_y: Shorts,
    near_given: Shorts,
    psi: Floats,
    with_x: int,
    radius: int,
    k: int,
    strict: bool,
) -> float:
    """What one row with so many neighbours in x and Z contributes to the estimate, times the number
    of rows.
    """
    if strict:
        inside = max(radius - 1, 0)
        return float(
            psi[k] - psi[with_x] - psi[_within(near_y, inside)] + psi[_within(near_given, inside)]
        )
    tied = _within(near, radius) - 1
    return float(
        psi[tied]
        - psi[with_x - 1]
        - psi[_within(near_y, radius) - 1]
        + psi[_within(near_given, radius) - 1]
    )


@kernel
def _radius(near: Shorts, k: int, guess: int, far: int) -> int:
    """The smallest radius with k rows or more, the row itself counted; a good guess makes it
    fast.
    """
    below = -1
    at_below = 0
    above = far
    at_above = near.size
    radius = min(max(guess, 0), far - 1)
    misses = 0
    while above - below > 1:
        count = _within(near, radius)
        if count >= k:
            above, at_above = radius, count
        else:
            below, at_below = radius, count
        misses += 1
        if misses < 3 and count > 0:
            radius += int(np.ceil(0.5 * (k - count) * radius / count)) - (1 if count >= k else -1)
        elif misses % 2 == 0:
            radius = (above + below) // 2
        else:
            radius = below + (above - below) * (k - at_below) // max(at_above - at_below, 1)
        radius = min(max(radius, below + 1), above - 1)
    return above


@kernel
def _widen(
    values: Shorts, centre: int, before: Shorts, after: Shorts, is_code: bool, far: int
) -> None:
    """`after` is the larger of `before` and the distance in one more column."""
    middle = _short(centre)
    beyond = _short(far)
    if is_code:
        for j in range(values.size):
            after[j] = before[j] if values[j] == middle else beyond
    else:
        for j in range(values.size):
            after[j] = max(_short(abs(_short(values[j] - middle))), before[j])


@kernel
def _within(near: Shorts, radius: int) -> int:
    """How many distances are at most the radius."""
    limit = _short(radius)
    count = _short(0)
    for j in range(near.size):
        count = _short(count + _short(near[j] <= limit))
    return int(count)


@kernel
def _both_within(
    values: Shorts, centre: int, near: Shorts, is_code: bool, far: int, radius: int
) -> int:
    """How many rows are within the radius, both in one column and in what was measured before."""
    middle = _short(centre)
    limit = _short(radius)
    count = _short(0)
    if is_code:
        for j in range(values.size):
            count = _short(count + _short((values[j] == middle) & (near[j] <= limit)))
    else:
        for j in range(values.size):
            count = _short(
                count + _short(max(_short(abs(_short(values[j] - middle))), near[j]) <= limit)
            )
    return int(count)

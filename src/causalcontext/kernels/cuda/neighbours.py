"""Counts of neighbours in rank space on a card: a block of threads for every row, its permutations
one after the other.

Twins of `kernels/rows/neighbours.py`, called alike. All distances are integers, so every count is
exact; the terms of the rows are added up in a fixed order, so that statistics are those of the CPU
but for the last digit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, float64, int16, int32

from causalcontext.kernels.arrays import Bools, Floats, Ints, Shorts
from causalcontext.kernels.draws import GOLDEN, ONE, splitmix64

UNIT = 2.0**-53
"""The distance between two random numbers."""
THREADS = 256
WARP = 32
MOST_ROWS = 12_000
"""Two 16-bit distances a row have to fit into the 48 kB of memory that a block has to itself."""
COPIES_PER_BLOCK = 25
"""Permutations that a block looks at: the radius of the last one is a good guess for the next."""


def shuffled_information(
    shuffled: Shorts,
    is_code: Bools,
    columns: Shorts,
    psi: Floats,
    far: int,
    neighbours: float,
    strict: bool,
) -> Floats:
    """The estimate for every shuffled copy of x, as on the CPU."""
    copies, rows = shuffled.shape
    terms = cuda.device_array((copies, rows), np.float64)
    totals = cuda.device_array(copies, np.float64)
    grid = rows, -(-copies // COPIES_PER_BLOCK)
    _information[grid, THREADS, 0, 4 * rows](
        cuda.to_device(shuffled),
        cuda.to_device(is_code),
        cuda.to_device(columns),
        cuda.to_device(psi),
        np.int32(far),
        float(neighbours),
        bool(strict),
        terms,
    )
    _add_up[copies, THREADS](terms, totals)
    found: Floats = totals.copy_to_host()
    return found


def nearest_rows(columns: Shorts, is_code: Bools, far: int, most: int, seed: np.uint64) -> Ints:
    """The `most` nearest rows of every row, as on the CPU."""
    rows = columns.shape[1]
    found = cuda.to_device(np.full((rows, most), -1))
    given = cuda.to_device(np.ascontiguousarray(columns))
    _nearest[rows, THREADS, 0, 2 * rows](
        given, cuda.to_device(is_code), np.int32(far), np.int32(most), seed, found
    )
    nearest: Ints = found.copy_to_host()
    return nearest


mixed = cuda.jit(device=True)(splitmix64)


@cuda.jit(device=True)
def stream_of(seed: Any, number: Any) -> Any:
    """The stream of a row or a copy, as in `src/kernels/draws.hpp`."""
    return mixed(seed + (np.uint64(number) + ONE) * GOLDEN)


@cuda.jit(device=True)
def uniform_at(stream: Any, turn: Any) -> Any:
    """The number of that turn, from 0 up to 1."""
    return float(mixed(stream + (np.uint64(turn) + ONE) * GOLDEN) >> np.uint64(11)) * UNIT


@cuda.jit(device=True)
def _distance(value: Any, centre: Any, is_code: Any, far: Any) -> Any:
    if is_code:
        return 0 if value == centre else far
    return abs(np.int32(value) - np.int32(centre))


@cuda.jit(device=True)
def _block_sum(value: Any, slots: Any) -> Any:
    """The sum over all threads of a block, known to every one of them; in two steps through shared
    memory.
    """
    cuda.syncthreads()
    slots[cuda.threadIdx.x] = value
    cuda.syncthreads()
    if cuda.threadIdx.x < WARP:
        part = np.int32(0)
        for other in range(cuda.threadIdx.x, cuda.blockDim.x, WARP):
            part += slots[other]
        slots[cuda.threadIdx.x] = part
    cuda.syncthreads()
    total = np.int32(0)
    for lane in range(WARP):
        total += slots[lane]
    return total


@cuda.jit(device=True)
def _within(near: Any, rows: Any, radius: Any, slots: Any) -> Any:
    """How many distances are at most the radius."""
    count = np.int32(0)
    for j in range(cuda.threadIdx.x, rows, cuda.blockDim.x):
        if near[j] <= radius:
            count += 1
    return _block_sum(count, slots)


@cuda.jit(device=True)
def _radius(near: Any, rows: Any, k: Any, guess: Any, far: Any, slots: Any) -> Any:
    """The smallest radius with k rows or more, by widening steps around a guess, then by halves."""
    below = np.int32(-1)
    above = np.int32(far)
    width = np.int32(8)
    radius = min(max(np.int32(guess), np.int32(0)), np.int32(far - 1))
    while above - below > 1:
        if _within(near, rows, radius, slots) >= k:
            above = radius
            radius = above - width
        else:
            below = radius
            radius = below + width
        width *= 4
        if radius <= below or radius >= above:
            radius = (above + below) // 2
    return above


@cuda.jit(device=True)
def _of_given(columns: Any, is_code: Any, i: Any, j: Any, far: Any) -> Any:
    found = np.int32(0)
    for c in range(1, columns.shape[0]):
        found = max(found, _distance(columns[c, j], columns[c, i], is_code[c + 1], far))
    return found


BELOW = 0
REACHABLE = 1
WINDOW = 2
"""Rows of slots: distances before the window, distances at less than `far`, and the window, a few
bins each.
"""
RADIUS = 0
START = 1
LOW = 2
HIGH = 3
TIED = 4
NEIGHBOURS = 5
"""What the first thread tells the others: the radius (-1 while unknown), where the window starts,
the bounds of the radius, how many distances are at most as large, and how many neighbours are
looked for."""


@cuda.jit(device=True)
def _add_slots(slots: Any, sums: Any) -> None:
    """Let `sums` hold the sum of every row of slots, in two steps of few threads."""
    thread = np.uint32(cuda.threadIdx.x)
    cuda.syncthreads()
    if thread < WARP:
        for which in range(3):
            part = np.int32(0)
            other = thread
            while other < THREADS:
                part += slots[which, other]
                other += np.uint32(WARP)
            slots[which, thread] = part
    cuda.syncthreads()
    if thread < 3:
        total = np.int32(0)
        for lane in range(WARP):
            total += slots[thread, lane]
        sums[thread] = total
    cuda.syncthreads()


@cuda.jit(device=True)
def _fill_bins(
    x: Any, centre: Any, is_code: Any, near: Any, far: Any, start: Any, bins: Any, slots: Any
) -> None:
    """Count the distances below `start`, those at less than `far`, and those in a window of one bin
    a distance.
    """
    rows = np.uint32(x.shape[0])
    j = np.uint32(cuda.threadIdx.x)
    below = np.int32(0)
    reachable = np.int32(0)
    end = np.int32(start + THREADS)
    bins[j] = 0
    cuda.syncthreads()
    while j < rows:
        found = max(_distance(x[j], centre, is_code, far), np.int32(near[rows + j]))
        if found < start:
            below += 1
        elif found < end:
            cuda.atomic.add(bins, np.uint32(found - start), 1)
        if found < far:
            reachable += 1
        j += np.uint32(THREADS)
    thread = np.uint32(cuda.threadIdx.x)
    slots[BELOW, thread] = below
    slots[REACHABLE, thread] = reachable
    slots[WINDOW, thread] = np.int32(0)


@cuda.jit(device=True)
def _look_for_radius(bins: Any, sums: Any, neighbours: Any, told: Any) -> None:
    """Find the radius in the window, or say where to look next; done by one thread."""
    below = sums[BELOW]
    reachable = sums[REACHABLE]
    start = told[START]
    k = np.int32(neighbours * reachable) if neighbours < 1.0 else np.int32(neighbours)
    k = min(max(k, np.int32(1)), reachable - 1)
    told[NEIGHBOURS] = k
    if below > k:
        told[HIGH] = start - 1
        start = np.int32(start * (float(k + 1) / below)) - THREADS // 2
    else:
        bin_ = np.uint32(0)
        while bin_ < THREADS and below + bins[bin_] <= k:
            below += bins[bin_]
            bin_ += np.uint32(1)
        if bin_ < THREADS:
            told[RADIUS] = start + np.int32(bin_)
            told[TIED] = below + bins[bin_]
        else:
            told[LOW] = start + THREADS - 1
            start = (
                told[LOW]
                + 1
                + np.int32(0.5 * told[LOW] * (float(k + 1 - below) / max(below, np.int32(1))))
            )
    told[START] = max(min(start, told[HIGH] - np.int32(THREADS - 1)), told[LOW] + 1)


@cuda.jit
def _information(
    shuffled: Any,
    is_code: Any,
    columns: Any,
    psi: Any,
    far: Any,
    neighbours: Any,
    strict: Any,
    terms: Any,
) -> None:
    """The term of every copy and row, shape (copies, rows).

    `near` holds the distances of all rows to that of the block, in the conditions and with y. The
    radius is looked for in a window of distances around that of the last copy, and in others where
    it is not there.
    """
    near = cuda.shared.array(0, int16)
    bins = cuda.shared.array(THREADS, int32)
    slots = cuda.shared.array((3, THREADS), int32)
    sums = cuda.shared.array(3, int32)
    told = cuda.shared.array(6, int32)
    rows = np.uint32(shuffled.shape[1])
    i = cuda.blockIdx.x
    thread = np.uint32(cuda.threadIdx.x)
    j = thread
    while j < rows:
        given = _of_given(columns, is_code, i, j, far)
        near[j] = given
        near[rows + j] = max(given, _distance(columns[0, j], columns[0, i], is_code[1], far))
        j += np.uint32(THREADS)
    if thread == 0:
        told[RADIUS] = far // 4
    first = cuda.blockIdx.y * COPIES_PER_BLOCK
    for b in range(first, min(first + COPIES_PER_BLOCK, shuffled.shape[0])):
        x = shuffled[b]
        centre = np.int32(shuffled[b, i])
        if thread == 0:
            told[START] = max(told[RADIUS] - np.int32(THREADS // 2), np.int32(0))
            told[RADIUS] = -1
            told[LOW] = -1
            told[HIGH] = far
            told[NEIGHBOURS] = 1
        cuda.syncthreads()
        while told[RADIUS] < 0 and told[NEIGHBOURS] > 0:
            _fill_bins(x, centre, is_code[0], near, far, told[START], bins, slots)
            _add_slots(slots, sums)
            if thread == 0:
                _look_for_radius(bins, sums, neighbours, told)
            cuda.syncthreads()
        radius = told[RADIUS]
        inside = max(radius - 1, np.int32(0)) if strict else radius
        with_x = np.int32(0)
        with_y = np.int32(0)
        alone = np.int32(0)
        j = thread
        while j < rows:
            if near[j] <= inside:
                alone += 1
                if near[rows + j] <= inside:
                    with_y += 1
                if _distance(x[j], centre, is_code[0], far) <= inside:
                    with_x += 1
            j += np.uint32(THREADS)
        slots[0, thread] = with_x
        slots[1, thread] = with_y
        slots[2, thread] = alone
        _add_slots(slots, sums)
        if thread == 0:
            k = told[NEIGHBOURS]
            term = 0.0
            if k > 0 and strict:
                term = psi[k] - psi[sums[0]] - psi[sums[1]] + psi[sums[2]]
            elif k > 0:
                term = psi[told[TIED] - 1] - psi[sums[0] - 1] - psi[sums[1] - 1] + psi[sums[2] - 1]
            else:
                told[RADIUS] = far // 4
            terms[b, i] = term
        cuda.syncthreads()


@cuda.jit
def _add_up(terms: Any, totals: Any) -> None:
    """The mean term of every copy, by one block each, always in the same order."""
    parts = cuda.shared.array(THREADS, float64)
    b = cuda.blockIdx.x
    thread = cuda.threadIdx.x
    total = 0.0
    for i in range(thread, terms.shape[1], THREADS):
        total += terms[b, i]
    parts[thread] = total
    width = THREADS // 2
    while width > 0:
        cuda.syncthreads()
        if thread < width:
            parts[thread] += parts[thread + width]
        width //= 2
    if thread == 0:
        totals[b] = parts[0] / terms.shape[1]


@cuda.jit
def _nearest(columns: Any, is_code: Any, far: Any, most: Any, seed: Any, found: Any) -> None:
    """The nearest rows of every row; the first thread of a block gives out the places, in the order
    of the rows.
    """
    near = cuda.shared.array(0, int16)
    slots = cuda.shared.array(THREADS, int32)
    rows = columns.shape[1]
    i = cuda.blockIdx.x
    for j in range(cuda.threadIdx.x, rows, cuda.blockDim.x):
        away = np.int32(0)
        for c in range(columns.shape[0]):
            away = max(away, _distance(columns[c, j], columns[c, i], is_code[c], far))
        near[j] = away
    cuda.syncthreads()
    radius = min(_radius(near, rows, min(most, rows), 1, far, slots), far - 1)
    if cuda.threadIdx.x == 0:
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

"""Which columns are functions of others? A logarithm beside its number, an age group beside the age, a product.

Given the others, such a column carries no information, so no method can tell whose links are whose. Columns that rise
or fall from the first row to the last, as trends do, have the same order without being functions of each other. (Of
columns that are linear functions of each other `methods/auto.py` says so.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import scipy

from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset
from causalcontext.errors import listed
from causalcontext.kernels.arrays import Bools, Floats, Values

ROWS_OF_A_GLANCE, ROWS_OF_A_LOOK = 60, 2000
GAPS = (1, 2, 3, 5)
"""Rows of a glance that are so far apart are compared."""
FEWEST_REPEATS = 8
"""Pairs of these with the same value, before a function that is not monotone is thought of."""
FEWEST_OF_A_VALUE = 5
"""Rows of the rarest value of a column of two values, before two columns that agree mean anything."""
CLEAR = 30.0
"""In nats: how improbable it is, by the number of ways to arrange the rows, that unrelated columns look like this."""
MOST_NAMED, TINY = 3, 1e-300
MOST_MULTIPLIED, FEWEST_MULTIPLIED = 60, 20
"""Columns of which products are looked for, and complete rows of a glance that this needs."""
PRODUCT = 1.0 - 1e-9
"""A correlation above this is one of a column and the same column, rounded when it was written."""


def words_about_functions(data: Dataset) -> str:
    """A sentence on system variables that are functions of others, in every row; empty without any.

    >>> from causalcontext.data.tables import read_table
    >>> size = np.arange(20.0) * 7 % 20
    >>> words_about_functions(read_table({"size": size, "log": np.log(1 + size), "Y": size % 7}, None)).split("; ")[0]
    'log and size are functions of each other in every row: no method can tell their links apart'
    """
    found = set(functions_of_columns(data))
    both = sorted(tuple(sorted(pair)) for pair in found if pair[0] < pair[1] and pair[::-1] in found)
    one_way = sorted(pair for pair in found if pair[::-1] not in found)
    said = [f"{a} and {b} are functions of each other" for a, b in both]
    said += [f"{value} is a function of {of}" for value, of in one_way]
    known = {frozenset(pair) for pair in found}
    said += [f"{value} is the {'square of ' + a if a == b else f'product of {a} and {b}'}"
             for value, a, b in products_of_columns(data) if frozenset((value, a)) not in known or a != b]  # fmt: skip
    if not said:
        return ""
    return (f"{listed(said, MOST_NAMED, 'such case')} in every row: no method can tell their links apart; leave one of "
            "them out")  # fmt: skip


def functions_of_columns(data: Dataset) -> Iterator[tuple[str, str]]:
    """Pairs (value, column) of system variables: in every row that has both, the column determines the value."""
    rows, some = (slice(None, None, max(1, data.n_rows // most)) for most in (ROWS_OF_A_GLANCE, ROWS_OF_A_LOOK))
    few = np.array([data.columns[place][rows] for place in data.system], dtype=np.float64)
    named = np.array([data.kinds[place] is Kind.CATEGORICAL for place in data.system], dtype=bool)
    possible = _may_determine(few)
    possible[:, named] |= _may_be_groups(few, few[named])
    np.fill_diagonal(possible, False)
    for of, value in np.argwhere(possible).tolist():
        pair = np.asarray(data.columns[data.system[value]]), np.asarray(data.columns[data.system[of]])
        ways = 0.0
        if named[value]:
            usable = np.isfinite(pair[0]) & np.isfinite(pair[1])
            place = np.unique(pair[0][usable], return_inverse=True)[1]
            order = np.argsort(np.bincount(place, pair[1][usable]) / np.bincount(place), kind="stable")
            levels = np.full(pair[0].shape, np.nan)  # by the mean of the other column: the order of words means nothing
            levels[usable] = np.argsort(order)[place]
            pair, ways = (levels, pair[1]), scipy.special.gammaln(len(np.unique(levels[np.isfinite(levels)])) + 1)
        if _is_function(pair[0][some], pair[1][some], clear=0.0) and _is_function(*pair, clear=CLEAR + ways):
            yield data.names[data.system[value]], data.names[data.system[of]]


def products_of_columns(data: Dataset) -> Iterator[tuple[str, str, str]]:
    """System variables (value, a, b): in every row that has all three, the value is a line in a times b."""
    numbers = [place for place in data.system if data.kinds[place].is_number]
    rows = slice(None, None, max(1, data.n_rows // ROWS_OF_A_GLANCE))
    if not 1 < len(numbers) <= MOST_MULTIPLIED:
        return
    few = _complete([data.columns[place][rows] for place in numbers])
    if few.shape[1] < FEWEST_MULTIPLIED:
        return
    a, b = np.triu_indices(len(numbers))
    alike = np.argwhere(np.abs(_standardised(few[a] * few[b]) @ _standardised(few).T) > PRODUCT)
    for value, x, y in ((numbers[k], numbers[a[pair]], numbers[b[pair]]) for pair, k in alike.tolist()):
        three = _complete([data.columns[place] for place in (value, x, y)])
        whole = _standardised(np.array([three[0], three[1] * three[2], three[1], three[2]]))
        is_line = np.abs(whole[0] @ whole[2:].T) > PRODUCT  # a factor that hardly varies, or a copy of one
        if value not in (x, y) and abs(whole[0] @ whole[1]) > PRODUCT and not is_line.any():
            yield data.names[value], data.names[x], data.names[y]


def _complete(columns: Sequence[Values]) -> Floats:
    """The rows that have all values, shape (columns, rows), in units of the largest."""
    values = np.array(columns, dtype=np.float64)
    values = values[:, np.isfinite(values).all(axis=0)]
    return np.asarray(values / np.maximum(np.abs(values).max(axis=1, keepdims=True, initial=0.0), TINY))


def _standardised(values: Floats) -> Floats:
    """Rows with mean 0 and length 1; of constants 0."""
    centred = values - values.mean(axis=1, keepdims=True)
    return np.asarray(centred / np.maximum(np.sqrt((centred**2).sum(axis=1, keepdims=True)), TINY))


def _may_determine(values: Floats) -> Bools:
    """Entry (i, j): no two of some rows contradict that column i determines column j, which is not constant in them."""
    with np.errstate(invalid="ignore"):
        step = np.concatenate([values[:, gap:] - values[:, :-gap] for gap in GAPS], axis=1)
        up, down, same = (found.astype(np.float32) for found in (step > 0.0, step < 0.0, step == 0.0))
    against = up @ down.T
    monotone = (up @ up.T + down @ down.T == 0.0) | (against + against.T == 0.0)
    broken, repeats, varies = same @ (up + down).T > 0.0, same.sum(axis=1) >= FEWEST_REPEATS, (up + down).any(axis=1)
    possible = ~broken & (monotone | repeats[:, None]) & varies
    return np.asarray(possible)


def _may_be_groups(values: Floats, levels: Floats) -> Bools:
    """Entry (i, j): in the order of column i, the rows of every level of j stand together, as far as some rows show."""
    order = np.argsort(values, axis=1)
    here = np.isfinite(np.take_along_axis(values, order, axis=1))
    found = np.zeros((len(values), len(levels)), dtype=bool)
    for j, own in enumerate(levels):
        sorted_levels = own[order]
        usable = here & np.isfinite(sorted_levels)
        breaks = (np.diff(sorted_levels, axis=1) != 0.0) & usable[:, 1:] & usable[:, :-1]
        found[:, j] = breaks.sum(axis=1) < len(np.unique(own[np.isfinite(own)]))
    return found


def _is_function(value: Floats, of: Floats, clear: float = CLEAR) -> bool:
    """Whether equal values of the one have equal values of the other, more clearly than by chance."""
    usable = np.isfinite(value) & np.isfinite(of)
    value, of = value[usable], of[usable]
    order = np.lexsort((value, of))
    step, same = np.diff(value[order]), np.diff(of[order]) == 0.0
    counts = np.unique(value, return_counts=True)[1]
    if len(counts) < 2 or (same & (step != 0.0)).any() or (len(counts) == 2 and counts.min() < FEWEST_OF_A_VALUE):
        return False
    if _is_monotone(step):
        if _is_monotone(np.diff(value)) and _is_monotone(np.diff(of)):
            return False
        return bool(scipy.special.gammaln(value.size + 1) - scipy.special.gammaln(counts + 1).sum() > clear)
    return bool(-np.count_nonzero(same) * np.log(((counts / value.size) ** 2).sum()) > clear)


def _is_monotone(step: Floats) -> bool:
    return bool((step >= 0.0).all() or (step <= 0.0).all())

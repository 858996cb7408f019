"""Which columns are functions of each other? A logarithm beside its number, an age group beside the age.

Given the one, the other carries no information, so no method can tell whose links are whose. Columns that rise or fall
from the first row to the last, as trends do, have the same order without being functions of each other.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import gammaln

from causalcontext.data.dataset import Dataset
from causalcontext.errors import listed
from causalcontext.kernels.arrays import Bools, Floats

ROWS_OF_A_GLANCE = 60
FEWEST_OF_A_VALUE = 5
"""Rows of the rarest value of a column of two values, before two columns that agree mean anything."""
CLEAR = 30.0
"""In nats: how improbable it is, by the number of ways to arrange the rows, that unrelated columns look like this."""
MOST_NAMED = 3


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
    if not said:
        return ""
    return (f"{listed(said, MOST_NAMED, 'such pair')} in every row: no method can tell their links apart; leave one of "
            "them out")  # fmt: skip


def functions_of_columns(data: Dataset) -> Iterator[tuple[str, str]]:
    """Pairs (value, column) of system variables: in every row that has both, the column determines the value."""
    rows = slice(None, None, max(1, data.n_rows // ROWS_OF_A_GLANCE))
    few = np.array([data.columns[place][rows] for place in data.system], dtype=np.float64)
    for k, of in enumerate(data.system):
        for place in np.flatnonzero(_may_be_functions(few, k)):
            value = data.system[place]
            if value != of and _is_function(np.asarray(data.columns[value]), np.asarray(data.columns[of])):
                yield data.names[value], data.names[of]


def _may_be_functions(values: Floats, k: int) -> Bools:
    """Which rows of an array do not contradict, at neighbouring values of row k, that they are functions of it."""
    order = np.argsort(values[k], kind="stable")
    order = order[np.isfinite(values[k][order])]
    step = np.diff(values[:, order], axis=1)
    same = step[k] == 0.0
    with np.errstate(invalid="ignore"):
        monotone = ~(step < 0.0).any(axis=1) | ~(step > 0.0).any(axis=1)
    broken = (same & (step != 0.0) & np.isfinite(step)).any(axis=1)
    return np.asarray(~broken & (monotone | (2 * np.count_nonzero(same) > same.size)))


def _is_function(value: Floats, of: Floats) -> bool:
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
        return bool(gammaln(value.size + 1) - gammaln(counts + 1).sum() > CLEAR)
    return bool(-np.count_nonzero(same) * np.log(((counts / value.size) ** 2).sum()) > CLEAR)


def _is_monotone(step: Floats) -> bool:
    return bool((step >= 0.0).all() or (step <= 0.0).all())

"""From a table to a prepared test: one pass over the rows, and what is done about missing values."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from causalcontext.data.checks import check_stock
from causalcontext.data.dataset import Dataset
from causalcontext.data.holes import holes, with_holes_filled
from causalcontext.data.stock import Stock, drop_empty_levels, take_stock
from causalcontext.independence.protocol import IndependenceTest, PreparedTest
from causalcontext.independence.testwise import PreparedTestwise


class Preparation(NamedTuple):
    """A checked table without empty contexts, its moments, and the test for it."""

    data: Dataset
    stock: Stock
    prepared: PreparedTest


def prepare(data: Dataset, test: IndependenceTest, missing: str) -> Preparation:
    """What a search needs to begin with.

    Raises
    ------
    DataError
        The table cannot be searched; see `check_stock`.
    """
    stock = take_stock(data, missing)
    gaps = holes(data) if missing == "testwise" else {}
    if gaps:
        return _prepare_testwise(data, stock, test)
    check_stock(stock, data, missing)
    data, stock = drop_empty_levels(data, stock)
    return Preparation(data, stock, test.prepare(data, stock))


def _prepare_testwise(data: Dataset, observed: Stock, test: IndependenceTest) -> Preparation:
    """The same with missing values: only rows without a context are dropped."""
    filled = with_holes_filled(data)
    stock = take_stock(filled)
    infinite = replace(stock, infinite=observed.infinite)
    check_stock(infinite, data, "listwise")
    stock = replace(stock, missing=observed.missing, fingerprint=observed.fingerprint)
    kept, stock = drop_empty_levels(data, stock)
    filled = replace(filled, columns=_codes_of(kept, filled), levels=kept.levels, codes=kept.codes)
    return Preparation(kept, stock, PreparedTestwise(test, filled, stock, holes(kept)))


def _codes_of(kept: Dataset, filled: Dataset) -> tuple[np.ndarray, ...]:
    """The columns of `filled` with the context of `kept`."""
    return tuple(kept.codes if i == kept.context else column for i, column in enumerate(filled.columns))

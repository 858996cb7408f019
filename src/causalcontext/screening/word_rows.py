"""Rows that hold words where all others hold numbers: a second header, or units.

One such row turns every number column into text. It is no observation, so it is left out. A word in
one column alone is another matter: a typing error, or a code for a missing value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from causalcontext.data.columns import WORDS
from causalcontext.errors import listed
from causalcontext.kernels.arrays import Bools
from causalcontext.screening.columns import ColumnCells
from causalcontext.screening.settings import (
    FEWEST_COLUMNS_OF_WORDS,
    FEWEST_NUMBERS_BESIDE_WORDS,
    MOST_CELLS_OF_WORDS_SHOWN,
    MOST_ROWS_OF_WORDS,
)


@dataclass(frozen=True)
class WordRows:
    """Rows of words, and the sentence on them."""

    rows: Bools
    told: str


def rows_of_words(columns: Sequence[ColumnCells]) -> WordRows | None:
    """The rows that hold words in every column that holds numbers elsewhere, with the sentence on
    them; None if there are none.

    Only columns of text are asked, since a column of numbers holds no word. The rows must be the
    same ones in `FEWEST_COLUMNS_OF_WORDS` columns, and `MOST_ROWS_OF_WORDS` at most.
    """
    word_columns: list[tuple[ColumnCells, Bools]] = []
    for cells in columns:
        if (
            cells.values is None
            and str in cells.families
            and (rows := _words_in(cells)) is not None
        ):
            word_columns.append((cells, rows))
    if len(word_columns) < FEWEST_COLUMNS_OF_WORDS:
        return None
    everywhere = np.logical_and.reduce([rows for _, rows in word_columns])
    # A word in one column alone, in another row, is a matter of its own.
    if not everywhere.any() or everywhere.sum() > MOST_ROWS_OF_WORDS:
        return None
    numbers = [int(row) + 1 for row in np.flatnonzero(everywhere)]
    first = numbers[0] - 1
    shown = [f"{cells.name} = {cells.levels[cells.codes[first]]!r}" for cells, _ in word_columns]
    many = len(numbers) > 1
    examples = listed(shown[:MOST_CELLS_OF_WORDS_SHOWN])
    listing = listed([f"{number:,}" for number in numbers], MOST_ROWS_OF_WORDS)
    sentence = (
        f"row{'s' if many else ''} {listing}"
        f" {'hold' if many else 'holds'} words where all other rows hold numbers"
        f" ({examples}), as a second header or a row of units does:"
        f" {'they are' if many else 'it is'} left out"
    )
    return WordRows(everywhere, sentence)


def _words_in(cells: ColumnCells) -> Bools | None:
    """The rows that hold words in a column of numbers, shape (rows,); None for another column.

    Words for missing values (`WORDS`) are none of them. A column of numbers has
    `FEWEST_NUMBERS_BESIDE_WORDS` rows of numbers and at most `MOST_ROWS_OF_WORDS` of words.
    """
    codes = np.asarray(cells.codes, dtype=np.int64)
    known = codes >= 0
    levels = [str(level).strip() for level in cells.levels]
    is_word = np.array(
        [not _is_number(level) and level not in WORDS for level in levels], dtype=bool
    )
    if not is_word.any() or is_word.sum() > MOST_ROWS_OF_WORDS:
        return None
    rows = np.zeros(len(known), dtype=bool)
    rows[known] = is_word[codes[known]]
    count = int(rows.sum())
    enough = int(known.sum()) - count >= FEWEST_NUMBERS_BESIDE_WORDS
    return rows if 0 < count <= MOST_ROWS_OF_WORDS and enough else None


def _is_number(text: str) -> bool:
    """True if Python reads a text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True

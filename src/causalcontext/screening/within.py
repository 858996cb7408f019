"""Numbers that are exact lines of others in every context, with other slopes in each: a prediction
made by ward.

A mechanism that holds within some contexts only is none of them, and no mechanism of nature leaves
nothing over.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from causalcontext.errors import listed
from causalcontext.kernels.arrays import Floats
from causalcontext.screening.lines import (
    linear_relations,
)
from causalcontext.screening.relations import (
    Columns,
    Relation,
)
from causalcontext.screening.settings import (
    FEWEST_ROWS_OF_A_RELATION,
    MOST_CONTEXTS_ONE_BY_ONE,
    MOST_TERMS_WRITTEN,
    SPARE_ROWS_OF_A_REGRESSION,
)


def relations_in_every_context(columns: Columns, gone: frozenset[int]) -> list[Relation]:
    """Numbers that are exact linear functions of other numbers in every context."""
    places = np.flatnonzero(columns.is_context)
    if not places.size:
        return []
    known = np.isfinite(columns.values[places]).all(axis=0)
    cells, cell_of_row = np.unique(columns.values[places][:, known], axis=1, return_inverse=True)
    rows = [np.flatnonzero(known)[cell_of_row.ravel() == cell] for cell in range(cells.shape[1])]
    enough = FEWEST_ROWS_OF_A_RELATION + SPARE_ROWS_OF_A_REGRESSION + int(columns.is_number.sum())
    if not 1 < len(rows) <= MOST_CONTEXTS_ONE_BY_ONE or min(len(own) for own in rows) < enough:
        return []
    others = gone | set(np.flatnonzero(~columns.is_number).tolist())
    by_value: list[dict[int, Relation]] = []
    for own in rows:
        here = replace(columns, values=np.ascontiguousarray(columns.values[:, own]))
        by_value.append(
            {
                found.value: found
                for found in linear_relations(here, others, logs=False, closely=True)
            }
        )
        if not set.intersection(*(set(found) for found in by_value)):
            return []
    values = sorted(set.intersection(*(set(found) for found in by_value)))
    return [_joined(columns, [found[value] for found in by_value], rows) for value in values]


def _joined(columns: Columns, relations: list[Relation], rows: list[np.ndarray]) -> Relation:
    """One relation of those of every context."""
    parts = tuple(sorted({part for relation in relations for part in relation.parts}))
    value = relations[0].value
    words = dict[int, str]()
    slopes = dict[int, Floats]()
    contexts = listed(
        [columns.names[place] for place in np.flatnonzero(columns.is_context).tolist()]
    )
    for column in (value, *parts):
        if not all(column in relation.words for relation in relations):
            continue
        others = sorted(columns.names[other] for other in (value, *parts) if other != column)
        listing = listed(others, MOST_TERMS_WRITTEN, "column")
        words[column] = f"is a linear function of {listing} within every value of {contexts}"
        if column != value:
            slopes[column] = np.full(columns.values.shape[1], np.nan)
            for relation, own in zip(relations, rows, strict=True):
                slopes[column][own] = relation.slopes[column]
    return Relation(value, parts, words, slopes)

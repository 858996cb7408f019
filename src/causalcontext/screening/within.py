"""Numbers that are exact lines of others in every context, with other slopes in each: a prediction
made by ward.

A mechanism that holds within some contexts only is none of them, and no mechanism of nature leaves
nothing over. Without this look such a prediction sent the whole table to tests, which lost links
and turned arrows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from causalcontext.errors import listed
from causalcontext.kernels.arrays import Floats
from causalcontext.screening.lines import linear_relations
from causalcontext.screening.relations import Columns, Relation
from causalcontext.screening.settings import (
    FEWEST_ROWS_OF_A_RELATION,
    MOST_CONTEXTS_ONE_BY_ONE,
    MOST_TERMS_WRITTEN,
    SPARE_ROWS_OF_A_REGRESSION,
)


def relations_in_every_context(columns: Columns, gone: frozenset[int]) -> list[Relation]:
    """The numbers that are exact linear functions of other numbers in every context.

    Each context is searched by itself as `linear_relations` searches the table, for exact relations
    alone, and a number must be a function in all of them. There must be rows to spare in the
    smallest: one for every number, and those of a relation. With more than
    `MOST_CONTEXTS_ONE_BY_ONE` contexts none is looked for.
    """
    places = np.flatnonzero(columns.is_context)
    if not places.size:
        return []
    known = np.isfinite(columns.values[places]).all(axis=0)
    contexts, context_of_row = np.unique(
        columns.values[places][:, known], axis=1, return_inverse=True
    )
    rows = [
        np.flatnonzero(known)[context_of_row.ravel() == context]
        for context in range(contexts.shape[1])
    ]
    enough = FEWEST_ROWS_OF_A_RELATION + SPARE_ROWS_OF_A_REGRESSION + int(columns.is_number.sum())
    if (
        not 1 < len(rows) <= MOST_CONTEXTS_ONE_BY_ONE
        or min(len(rows_inside) for rows_inside in rows) < enough
    ):
        return []
    others = gone | set(np.flatnonzero(~columns.is_number).tolist())
    by_context: list[dict[int, Relation]] = []
    shared: set[int] | None = None
    for rows_inside in rows:
        inside = replace(columns, values=np.ascontiguousarray(columns.values[:, rows_inside]))
        relations = linear_relations(inside, others, logs=False, closely=True)
        by_value = {relation.value: relation for relation in relations}
        by_context.append(by_value)
        shared = set(by_value) if shared is None else shared & set(by_value)
        if not shared:
            return []
    return [
        _joined(columns, [by_value[value] for by_value in by_context], rows)
        for value in sorted(shared or ())
    ]


def _joined(columns: Columns, relations: list[Relation], rows: list[np.ndarray]) -> Relation:
    """One relation of those that hold in every context.

    Its parts are those of any context. A column may be left out in place of the value where every
    context has words for it; its slopes, shape (rows,), are those of the context of each row.
    """
    parts = tuple(sorted({part for relation in relations for part in relation.parts}))
    value = relations[0].value
    words = dict[int, str]()
    slopes = dict[int, Floats]()
    contexts = listed(
        [columns.names[context] for context in np.flatnonzero(columns.is_context).tolist()]
    )
    for column in (value, *parts):
        if not all(column in relation.words for relation in relations):
            continue
        others = sorted(columns.names[other] for other in (value, *parts) if other != column)
        listing = listed(others, MOST_TERMS_WRITTEN, "column")
        words[column] = f"is a linear function of {listing} within every value of {contexts}"
        if column != value:
            slopes[column] = np.full(columns.values.shape[1], np.nan)
            for relation, rows_inside in zip(relations, rows, strict=True):
                slopes[column][rows_inside] = relation.slopes[column]
    return Relation(value, parts, words, slopes)

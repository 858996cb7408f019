"""Covariances that kernels read by index equal the dense matrix of all columns, made from the rows."""

import numpy as np
import pytest
from score_tables import curved_table, design_of

from causalcontext.kernels.orders.fit_arrays import covariance_of, regression_of, response_covariance


def dense_covariance(design, block):
    """The covariance of all columns of a block within its intercepts; columns that nobody has are 0."""
    groups, about = design.groups(block)[design.data.cells], design.about(block)
    rows = groups >= 0
    lives = (about[4][:, None] >> groups[rows] & 1) if design.bits(block) else 1.0
    columns = design.values[about[2]][:, rows] * lives
    for group in np.unique(groups[rows]):
        here = groups[rows] == group
        columns[:, here] -= columns[:, here].mean(axis=1, keepdims=True)
    return columns @ columns.T / rows.sum()


def crossed(rows):
    """Three binary contexts in a table of curves."""
    table = curved_table(rows, 5)
    generator = np.random.default_rng(rows)
    return table.assign(S=generator.integers(2, size=rows), T=(table["B"] > 1).astype(int))


@pytest.mark.parametrize("context", ["R", ["R", "S"], ["R", "S", "T"]])
def test_covariances_by_index_are_those_of_all_columns(context):
    design = design_of(crossed(400)[["A", "B", "D", *context]], context)
    sets = [reader.cells(mask) for reader in design.data.readers for mask in range(1, 1 << reader.levels)]
    blocks = design.pooled(sets) + [block for q in range(len(design.data.readers)) for block in design.changing(q)]
    tables, node = design.tables(), 1
    for block in dict.fromkeys(blocks):
        table, dense = regression_of(tables, design.rows, block, node), dense_covariance(design, block)
        columns, bits = np.arange(len(dense)), design.bits(block)
        own = np.array([[covariance_of(table, one, other) for other in columns] for one in columns[:: 1 + bits]])
        np.testing.assert_allclose(own, dense[:: 1 + bits], atol=1e-12)
        np.testing.assert_allclose(table.variance[: len(dense)], dense.diagonal(), atol=1e-12)
        response = (table.response << bits) + (1 << bits) - 1
        np.testing.assert_allclose(table.covariance[table.response], dense[response], atol=1e-12)
        left = np.zeros((1, 1))
        response_covariance(table, left)
        assert left[0, 0] == pytest.approx(dense[response, response] + table.blur, abs=1e-12)

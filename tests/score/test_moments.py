"""Covariances that kernels make row by row equal the dense matrix of all columns, made from the
rows.
"""

import numpy as np
import pytest
from score_tables import curved_table, design_of, workspace_of

from causalcontext.kernels.orders import fit_arrays
from causalcontext.kernels.orders.fit_arrays import BLURS, RESPONSE
from causalcontext.score.workspace import FitWorkspace


def dense_covariance(design, block):
    """The covariance of all columns of a block within its intercepts; columns that nobody has are
    0.
    """
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


def kept_row(workspace, block, source):
    """The covariances of a column of the rows with all columns of a block, as the kernels keep
    them.
    """
    kept = workspace.covariances
    columns = workspace.arrays.tables.means.shape[1]
    (place,) = np.flatnonzero(kept.names == block * columns + source + 1)
    length = columns << workspace.design.bits(block)
    return kept.entries[kept.start[place] : kept.start[place] + length]


@pytest.mark.parametrize("context", ["R", ["R", "S"], ["R", "S", "T"]])
def test_rows_of_covariances_are_those_of_all_columns(context):
    design = design_of(crossed(400)[["A", "B", "D", *context]], context)
    sets = [
        reader.cells(mask)
        for reader in design.data.readers
        for mask in range(1, 1 << reader.levels)
    ]
    blocks = design.pooled(sets) + [
        block for q in range(len(design.data.readers)) for block in design.changing(q)
    ]
    workspace = FitWorkspace(design, curves=True, densities=False)
    node = 1
    facts, source = workspace.arrays.rows.facts, int(design.rows.node[node, RESPONSE])
    for block in dict.fromkeys(blocks):
        bits, dense = design.bits(block), dense_covariance(design, block)
        columns = np.arange(len(dense))
        everywhere = (1 << bits) - 1
        workspace.score([(block, node, [(s << bits) + everywhere]) for s in columns >> bits])
        for column in columns[:: 1 + bits]:
            shared = columns & (column | -(1 << bits))
            own = kept_row(workspace, block, column >> bits)[shared]
            np.testing.assert_allclose(own, dense[column], atol=1e-12)
        variance = workspace.arrays.tables.variance[block, : len(dense)]
        np.testing.assert_allclose(variance, dense.diagonal(), atol=1e-12)
        response = (source << bits) + everywhere
        left = workspace.score([(block, node, [])])[0, 1]
        assert left == pytest.approx(dense[response, response] + facts[BLURS + node], abs=1e-12)
    assert workspace.covariances.filled[0] == (workspace.covariances.names > 0).sum() > len(blocks)


def test_rows_are_made_anew_where_there_is_no_room_for_more(monkeypatch):
    """With room for eight rows of the longest kind every fit is the same."""
    scores = []
    for rows, entries in ((16, 1), (1 << 16, 1 << 24)):
        monkeypatch.setattr(fit_arrays, "KEPT_ROWS", rows)
        monkeypatch.setattr(fit_arrays, "KEPT_ENTRIES", entries)
        design = design_of(crossed(300).drop(columns="T"), ["R", "S"])
        workspace = workspace_of(design)
        tasks = [(block, node) for block in range(len(design.tables().block)) for node in range(4)]
        fits, slopes, sets = workspace.fit(tasks, np.arange(6) != np.array(tasks)[:, 1:])
        gains = workspace.extras(
            [(*task, columns) for task, columns in zip(tasks, sets, strict=True)]
        )
        scores.append([fits, slopes, gains, [columns.tolist() for columns in sets]])
    for few, many in zip(*scores, strict=True):
        assert np.array_equal(few, many) if isinstance(few, np.ndarray) else few == many

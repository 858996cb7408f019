"""Mechanisms of many causes: how many columns a path may take grows with the rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from score_tables import design_of

import causalcontext as cc
from causalcontext.score.design import POOLED
from causalcontext.score.workspace import FitWorkspace


def test_a_mechanism_of_twenty_causes_takes_them_all() -> None:
    """At most 12 were taken, and nothing said so."""
    rng = np.random.default_rng(0)
    causes = rng.normal(size=(1_000, 20))
    rows = (
        pd.DataFrame(causes)
        .rename(columns="X{}".format)
        .assign(Y=causes.sum(axis=1) + rng.normal(size=1_000))
    )
    design = design_of(rows, None)
    names = [design.data.table.names[place] for place in design.data.position]
    node, block = names.index("Y"), design.block(POOLED, design.everything)
    offered = np.arange(design.data.candidates) != node
    _, _, (columns,) = FitWorkspace(design, curves=False).fit([(block, node)], [offered])
    assert sorted(design.owner[columns].tolist()) == np.flatnonzero(offered).tolist()


def dense_table(
    seed: int, columns: int = 30, degree: int = 10, rows: int = 1_000
) -> tuple[pd.DataFrame, set[frozenset[str]]]:
    """Lines with weights of .5 to 2, and its links."""
    rng = np.random.default_rng(seed)
    values, links = np.zeros((columns, rows)), set()
    for effect in range(columns):
        for cause in np.flatnonzero(rng.random(effect) < degree / (columns - 1)).tolist():
            values[effect] += rng.choice([-1.0, 1.0]) * rng.uniform(0.5, 2.0) * values[cause]
            links.add(frozenset((f"V{cause}", f"V{effect}")))
        values[effect] += rng.normal(size=rows)
    table = pd.DataFrame(
        {f"V{place}": values[place] / values[place].std() for place in rng.permutation(columns)}
    )
    return table, links


@pytest.mark.slow
def test_dense_tables_of_lines_have_nearly_all_links_right() -> None:
    """Paths of at most 12 columns lost some in half of the tables, and took others in their
    place.
    """
    wrong = 0
    for seed in range(6):
        table, links = dense_table(seed)
        found = {
            frozenset((edge.source, edge.target)) for edge in cc.discover(table).graphs["all"].edges
        }
        wrong += len(found ^ links)
    assert wrong <= 12


def test_a_workspace_knows_only_blocks_that_were_there_before_it() -> None:
    """The kernels read beyond the tables of others, which could end the process."""
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 4))).rename(columns="X{}".format)
    design = design_of(rows.assign(R=np.arange(200) % 2), "R")
    design.block(POOLED, design.everything)
    workspace, late = FitWorkspace(design, curves=False), design.changing(0)[0]
    with pytest.raises(AssertionError):
        workspace.fit([(late, 0)], [np.zeros(design.data.candidates, dtype=bool)])


@pytest.mark.parametrize(("columns", "few", "rows"), [(12, 12, 60), (18, 14, 90)])
def test_a_small_context_fits_no_noise(columns: int, few: int, rows: int) -> None:
    """With nearly as many columns as rows a context can be fitted without a residual."""
    links = []
    for seed in range(3):
        random = np.random.default_rng([seed, columns, few, rows])
        noise = random.standard_normal((rows, columns))
        table = pd.DataFrame(noise, columns=[f"v{place}" for place in range(columns)])
        table["g"] = np.where(np.arange(rows) < few, "small", "large")
        links.append(len(cc.discover(table, "g", method="score-ac").union.edges))
    assert np.mean(links) <= 4.0  # 33 and 70 where such a context takes all columns that it can

"""Stability when the rows are gone: blocks of rows are drawn, and a sample has the moments of the
rows in them.
"""

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.data.moments import BLOCKS, Moments
from causalcontext.diagnostics.stability import drawn_moments
from causalcontext.kernels.draws import GOLDEN, ONE, splitmix64

pa = pytest.importorskip("pyarrow")

PC = {"method": "pc-ac", "test": "partial-correlation", "alpha": 0.01}


def make_table(rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    dry = rng.random(rows) < 0.3
    x = rng.standard_normal((rows, 4))
    x[:, 1] -= 0.6 * x[:, 0] * dry
    x[:, 2] += 0.02 * x[:, 1]
    return pd.DataFrame(x + np.array([50.0, 0, -3, 0]), columns=list("ABCD")).assign(
        R=np.where(dry, "dry", "wet")
    )


def scanned(table, **options):
    return cc.scan(
        pa.Table.from_pandas(table, preserve_index=False).to_reader(1000),
        "R",
        sample=2000,
        **options,
    )


def blocks_of(rows: int):
    """The block of every row."""
    with np.errstate(over="ignore"):
        hashes = splitmix64(((np.arange(rows) // 512).astype(np.uint64) + ONE) * GOLDEN)
    return (hashes % np.uint64(BLOCKS)).astype(int)


def test_blocks_are_those_of_the_rows():
    table = make_table(30_000)
    found, number = scanned(table), blocks_of(30_000)
    values, codes = table[list("ABCD")].to_numpy(), (table["R"] == "wet").to_numpy().astype(int)
    for block, moments in enumerate(found.blocks):
        twin = Moments.of_rows(values[number == block], codes[number == block], 2)
        assert np.array_equal(moments.rows, twin.rows)
        np.testing.assert_allclose(moments.mean, twin.mean, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(moments.scatter, twin.scatter, rtol=1e-9, atol=1e-8)


def test_a_sample_has_the_moments_of_its_rows():
    table = make_table(30_000)
    found, number = scanned(table), blocks_of(30_000)
    values, codes = table[list("ABCD")].to_numpy(), (table["R"] == "wet").to_numpy().astype(int)
    drawn, generator = drawn_moments(list(found.blocks), 4, 7), np.random.default_rng([7, 4])
    for cell in range(2):
        there = np.flatnonzero([block.rows[cell] for block in found.blocks])
        times = np.zeros(BLOCKS, dtype=int)
        times[there] = generator.multinomial(there.size, np.full(there.size, 1 / there.size))
        mine = np.repeat(np.arange(30_000), times[number] * (codes == cell))
        twin = Moments.of_rows(values[mine], np.zeros(mine.size, dtype=int), 1)
        assert drawn.rows[cell] == twin.rows[0]
        np.testing.assert_allclose(drawn.mean[cell], twin.mean[0], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(drawn.scatter[cell], twin.scatter[0], rtol=1e-9, atol=1e-8)


@pytest.mark.slow
def test_blocks_tell_as_much_as_rows():
    table = make_table(30_000)
    result, inside = cc.discover(scanned(table), **PC), cc.discover(table, "R", **PC)
    mine, theirs = result.stability(60), inside.stability(60)
    assert np.abs(mine.frequency.sum(axis=-1) - theirs.frequency.sum(axis=-1)).max() < 0.35
    strong = theirs.frequency.sum(axis=-1) == 1.0
    assert mine.frequency.sum(axis=-1)[strong].min() > 0.95


def test_what_cannot_be_drawn_is_refused_in_one_sentence(tmp_path):
    table = make_table(4000)
    result = cc.discover(scanned(table), **PC)
    with pytest.raises(cc.OptionError, match="7 blocks of rows"):
        result.stability(3)
    result.save(tmp_path / "result.json")
    with pytest.raises(cc.OptionError, match="loaded"):
        cc.load(tmp_path / "result.json").stability(3)


def test_tests_that_look_at_rows_draw_from_the_sample():
    table = make_table(4000)
    found = scanned(table)
    result = cc.discover(found, method="pc-ac")
    stable = result.stability(3)
    assert stable.samples == 3
    assert (stable.frequency.sum(axis=-1).max(axis=0) > 0)[result.union.endpoints > 0].all()

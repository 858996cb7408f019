"""Tables on clusters: worker processes of Dask and Spark find what is found in memory."""

import os
import shutil
import sys

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.data.accumulate import unpacked
from causalcontext.data.clusters import merged_all
from causalcontext.data.scan import columns_of, finished
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table

pa = pytest.importorskip("pyarrow")

pytestmark = pytest.mark.filterwarnings(
    "ignore:PySpark does not yet fully support pandas:FutureWarning"
)
TEST = {"method": "pc-ac", "test": "partial-correlation", "alpha": 0.01}


def make_table(rows: int = 4000, seed: int = 0) -> pd.DataFrame:
    """Two regimes, one of which breaks a link; some values are missing."""
    rng = np.random.default_rng(seed)
    dry = rng.random(rows) < 0.4
    x = rng.standard_normal((rows, 4))
    x[:, 1] += 0.8 * x[:, 0] * dry
    x[:, 2] += 0.7 * x[:, 1] + dry
    table = pd.DataFrame(x + np.array([1e3, 0, -3, 0]), columns=["A", "B x", "C.y", "D"])
    table["E"] = rng.integers(-5, 5, rows)
    return table.assign(R=np.where(dry, "dry", "wet"))


def same_as_in_memory(found, table, sample: int) -> None:
    """Return if a scan is that of the table in memory, and so are the marks."""
    one = cc.scan(pa.Table.from_pandas(table, preserve_index=False).to_reader(), "R", sample=sample)
    twin = gather_statistics(read_table(table, "R"))
    assert found.statistics.fingerprint == one.statistics.fingerprint == twin.fingerprint
    assert found.rows == len(table)
    assert found.data.n_rows == sample
    for mine, theirs in zip(found.data.columns, one.data.columns, strict=True):
        assert np.array_equal(mine, theirs)
    assert len(found.blocks) == len(one.blocks) > 1
    for mine, theirs in zip(found.blocks, one.blocks, strict=True):
        assert np.array_equal(mine.rows, theirs.rows)
        np.testing.assert_allclose(mine.scatter, theirs.scatter, rtol=1e-9, atol=1e-9)
    assert dict(cc.discover(found, **TEST).graphs) == dict(cc.discover(table, "R", **TEST).graphs)


def test_what_travels_is_whole_again():
    table = make_table(900)
    batch = pa.RecordBatch.from_pandas(table, preserve_index=False)
    columns = columns_of(batch.schema, "R", None)
    parts = []
    for begin in range(0, 900, 200):
        found = columns.accumulator(300)
        found.sample.expect(900)
        found = unpacked(found.packed())
        found.add(batch.slice(begin, 200), begin)
        parts.append(unpacked(found.packed()))
    same_as_in_memory(finished(merged_all(parts), columns, "parts"), table, 300)


@pytest.mark.slow
def test_worker_processes_of_dask():
    dataframe = pytest.importorskip("dask.dataframe")
    distributed = pytest.importorskip("dask.distributed")
    table = make_table()
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as client:
        parted = dataframe.from_pandas(table, npartitions=5, sort=False)
        found = cc.scan(parted, "R", sample=700)
        assert len(client.scheduler_info()["workers"]) == 2
    same_as_in_memory(found, table, 700)


@pytest.fixture(scope="module")
def spark():
    sql = pytest.importorskip(
        "pyspark.sql", reason="pyspark is not installed: pip install 'causalcontext[spark]'"
    )
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, and there is none on the path")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "4").getOrCreate()
    yield session
    session.stop()
    del os.environ["PYSPARK_PYTHON"]


def on_spark(session, table, partitions):
    """The table in partitions, in its order; made of rows, since Spark warns of recent versions of
    pandas.
    """
    rows = [tuple(row) for row in table.astype(object).to_numpy().tolist()]
    return session.createDataFrame(
        session.sparkContext.parallelize(rows, partitions), list(table.columns)
    )


@pytest.mark.parametrize("partitions", [1, 3, 20])
def test_spark_gives_the_same(spark, partitions):
    table = make_table()
    same_as_in_memory(cc.scan(on_spark(spark, table, partitions), "R", sample=700), table, 700)


def test_spark_tables_are_searched_by_discover(spark):
    table = make_table(600)
    parted = on_spark(spark, table, 2)
    assert dict(cc.discover(parted, "R", **TEST).graphs) == dict(
        cc.discover(table, "R", **TEST).graphs
    )
    with pytest.raises(cc.NotYetError, match="holds string"):
        cc.scan(on_spark(spark, table.assign(T="text"), 2), "R")
    with pytest.raises(cc.OptionError, match="listwise"):
        cc.discover(parted, "R", missing="testwise")


def test_spark_tables_that_cannot_be_added_up(spark):
    from pyspark.sql import functions

    parted = on_spark(spark, make_table(600), 2)
    timed = parted.withColumn("A", functions.current_timestamp())
    failing = parted.withColumn("A", functions.udf(lambda value: 1 / 0, "double")("A"))
    many = spark.range(4000).select(
        (functions.col("id") % 1500).alias("R"),
        functions.rand(1).alias("A"),
        functions.rand(2).alias("B"),
    )
    exact = parted.withColumn("A", functions.col("A").cast("decimal(10,3)"))
    assert cc.scan(exact, "R").rows == 600
    for source, words in (
        (timed, "holds timestamp"),
        (failing, "ZeroDivisionError.*PYSPARK_PYTHON"),
        (many, "^R has more than 1000 values"),
        (parted.filter("A > 1e9"), "no rows"),
    ):
        with pytest.raises(cc.CausalContextError, match=words):
            cc.scan(source, "R")

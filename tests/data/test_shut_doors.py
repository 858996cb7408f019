"""Tables of Dask as their users have them: columns chosen, text, joined partitions, workers that
lack the library.
"""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.data import clusters, tables
from causalcontext.data.scan import columns_of
from causalcontext.data.streams import is_lazy

pa = pytest.importorskip("pyarrow")
dataframe = pytest.importorskip("dask.dataframe")
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")
TEST = {"method": "pc-ac", "test": "partial-correlation", "alpha": 0.01}


def make_table(rows: int = 600) -> pd.DataFrame:
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        random.standard_normal((rows, 10)), columns=[f"X{number}" for number in range(10)]
    )
    table["X1"] += table["X0"]
    table["R"] = np.where(table["X0"] + random.standard_normal(rows) > 0, 1, 0)
    return table


@pytest.fixture
def in_memory_only(monkeypatch):
    """Reading a table of Dask into memory is a failure."""

    def refuse(*_):
        raise AssertionError("the table was brought into memory")

    monkeypatch.setattr(
        type(dataframe.from_pandas(make_table(20), npartitions=2)), "compute", refuse
    )


def graphs_of(result):
    return {value: graph.edges for value, graph in result.graphs.items()}


def test_columns_chosen_of_a_folder_of_many_small_files(tmp_path):
    """Dask joins the small files when columns are chosen, in one of its two ways to partitions."""
    table = make_table()
    (tmp_path / "many").mkdir()
    for number, begin in enumerate(range(0, len(table), 12)):
        table.iloc[begin : begin + 12].to_parquet(
            tmp_path / "many" / f"part-{number:02}.parquet", index=False
        )
    stored = dataframe.read_parquet(tmp_path / "many")
    wanted = ["X0", "X1", "R"]
    expected = graphs_of(cc.discover(table[wanted], "R", **TEST))
    assert graphs_of(cc.discover(stored[wanted], "R", **TEST)) == expected
    assert graphs_of(cc.discover(cc.scan(stored, "R", columns=wanted), **TEST)) == expected


def test_text_in_joined_partitions():
    table = make_table().assign(R=lambda table: table["R"].map({0: "dry", 1: "wet"}))
    parted = dataframe.from_pandas(table, npartitions=9, sort=False).repartition(npartitions=2)
    found = cc.scan(parted, "R")
    assert found.statistics.fingerprint == cc.scan(iter([table]), "R").statistics.fingerprint
    pieces = [table.iloc[:200], table.iloc[200:]]
    joined = pd.concat(
        [piece.astype({"R": "string[pyarrow]"}) for piece in pieces], ignore_index=True
    )
    assert joined["R"].array.__arrow_array__().num_chunks > 1
    columns = columns_of(pa.Schema.from_pandas(joined), "R", None)
    start = columns.accumulator(100)
    start.sample.expect(600)
    assert clusters.accumulated_frame(joined, start, 0).rows == 600


@pytest.mark.parametrize(
    "options",
    [
        {"context": "R", "kinds": {"X9": "ordered"}},
        {"context": "T"},
        {"context": cc.threshold("X0", 0.0)},
        {"context": "R", "transform": "ranks"},
    ],
)
def test_tables_of_dask_stay_where_they_are(options, in_memory_only):
    table = make_table().assign(
        T=lambda table: table["R"].map({0: "dry", 1: "wet"}), X9=lambda table: table["R"] * 2
    )
    table = table.drop(columns=["R"] if options["context"] != "R" else [])
    parted = dataframe.from_pandas(table, npartitions=3, sort=False)
    assert not is_lazy(parted)
    context = options.pop("context")
    options |= {"method": "pc-ac"}
    assert graphs_of(cc.discover(parted, context, **options)) == graphs_of(
        cc.discover(table, context, **options)
    )


def test_what_needs_rows_in_memory_is_refused(in_memory_only):
    parted = dataframe.from_pandas(make_table(), npartitions=2, sort=False)
    for options in ({"lags": 1}, {"missing": "model"}, {"missing": "testwise"}, {"na_values": -9}):
        with pytest.raises(
            cc.CausalContextError, match=r"lags with a Dask table|needs the table in memory"
        ):
            cc.discover(parted, "R", **options)
    with pytest.raises(cc.DataError, match=r"on a cluster.*table\.compute\(\)"):
        cc.check(parted, "R")
    with pytest.raises(cc.DataError, match="on a cluster"):
        tables.eager_frame(parted, None)


def test_workers_that_cannot_import_the_library_are_named(monkeypatch):
    class Client:
        def run(self, function, text):
            return {
                "tcp://one": function(text),
                "tcp://two": function(text.replace("causalcontext", "a_library_that_nobody_has")),
            }

        def run_on_scheduler(self, function, text):
            return function(text.replace("causalcontext", "a_library_that_nobody_has"))

    monkeypatch.setattr(clusters, "_active_client", Client)
    expected = "^tcp://two and the scheduler of the Dask cluster cannot import causalcontext"
    with pytest.raises(cc.DataError, match=expected):
        cc.scan(dataframe.from_pandas(make_table(), npartitions=2), "R")


FOREIGN = """
import pandas, numpy, dask.dataframe as dd
from distributed import Client, LocalCluster
if __name__ == "__main__":
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None)
    with cluster, Client(cluster) as client:
        client.wait_for_workers(1)
        client.run(exec, "import os, sys; sys.path[:] = "
                         "[place for place in sys.path if not os.path.isdir(os.path.join(place, 'causalcontext'))]; "
                         "sys.meta_path[:] = [one for one in sys.meta_path if 'editable' not in repr(one).lower()]")
        import causalcontext as cc
        table = dd.from_pandas(pandas.DataFrame(numpy.random.default_rng(0).normal(size=(60, 3)), columns=list("ABC")),
                               npartitions=2)
        try:
            cc.scan(table)
        except cc.DataError as error:
            print("refused:", error)
"""


@pytest.mark.slow
def test_a_client_does_not_wait_for_workers_without_the_library(tmp_path):
    script = tmp_path / "foreign.py"
    script.write_text(FOREIGN)
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=120
    )
    assert "refused: tcp://" in done.stdout, done.stdout + done.stderr
    assert "cannot import causalcontext" in done.stdout

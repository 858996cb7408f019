"""The same graphs, whatever the columns are called, in which order they come, and how the work is
done.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import causalcontext as cc
from causalcontext_lab.simulate import random_model
from marks import rest_slow

METHODS = ("pc-ac", "pc-m", "pc-p", "pc-b")
SEEDS = rest_slow(range(4))


def simulated(seed: int, contexts: int = 3, n: int = 600) -> tuple[pd.DataFrame, str]:
    """A table of a random model with a context, and the name of the context."""
    model = random_model(nodes=9, density=0.35, contexts=contexts, changes=2, seed=seed)
    return model.sample(n, seed=seed + 100), model.context_name


def edges_by_name(
    result: cc.ContextGraphs,
    name: Callable[[str], str] = str,
    value: Callable[[Any], Any] = lambda value: value,
) -> dict[Any, set[tuple[str, str, str]]]:
    """The edges of every context; those without a direction with their ends in alphabetical
    order.
    """

    def normal(edge: Any) -> tuple[str, str, str]:
        source, target = name(edge.source), name(edge.target)
        if edge.mark != "-->" and target < source:
            source, target = target, source
        return source, target, edge.mark

    return {
        value(context): {normal(edge) for edge in graph.edges}
        for context, graph in result.graphs.items()
    }


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rule", ["majority", "conservative"])
@pytest.mark.parametrize("method", METHODS)
def test_order_of_columns_and_rows(method: str, rule: str, seed: int) -> None:
    table, context = simulated(seed)
    generator = np.random.default_rng(seed)
    shuffled = table[generator.permutation(table.columns)].iloc[generator.permutation(len(table))]
    expected = cc.discover(table, context, method=method, collider_rule=rule)
    found = cc.discover(shuffled, context, method=method, collider_rule=rule)
    assert edges_by_name(found) == edges_by_name(expected)
    assert found.union.adjacency.any()


@pytest.mark.parametrize(
    ("seed", "method"), rest_slow([(52, "pc-ac"), (116, "pc-m"), (135, "pc-m")], fast=2)
)
def test_order_of_columns_where_no_set_of_neighbours_separates(method: str, seed: int) -> None:
    """A set that separated two variables may lose members later, so that no set of neighbours
    separates them.
    """
    model = random_model(nodes=10, density=0.4, contexts=2 + seed % 3, changes=2, seed=seed)
    table = model.sample(150 + 4 * seed, seed=seed)
    shuffled = table[np.random.default_rng(seed).permutation(table.columns)]
    expected = cc.discover(table, model.context_name, method=method, alpha=0.1)
    found = cc.discover(shuffled, model.context_name, method=method, alpha=0.1)
    assert edges_by_name(found) == edges_by_name(expected)


@pytest.mark.parametrize("method", METHODS)
def test_the_first_rule_keeps_the_skeleton_in_any_order(method: str) -> None:
    """With the rule of classic PC orientations may depend on the order of the columns, adjacencies
    may not.
    """
    table, context = simulated(5)
    expected = cc.discover(table, context, method=method, collider_rule="first")
    found = cc.discover(table[table.columns[::-1]], context, method=method, collider_rule="first")
    for value, graph in expected.graphs.items():
        assert np.array_equal(graph.adjacency, found.graphs[value].adjacency[::-1, ::-1])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("method", METHODS)
def test_names_of_columns(method: str, seed: int) -> None:
    table, context = simulated(seed)
    names = dict(
        zip(table.columns, ["[b]", "9", " ", "é", "x y", "--> b", "R", "A", "ä"], strict=True)
    )
    expected = cc.discover(table, context, method=method)
    found = cc.discover(table.rename(columns=names), names[context], method=method)
    assert edges_by_name(found) == edges_by_name(expected, name=names.__getitem__)


RELABELINGS = {
    "text": ["low", "mid", "high"],
    "another order": [7, -3, 2],
    "text of numbers": ["10", "9", "1e1"],
    "declared floats": [0.5, -1.5, 2.0],
}


@pytest.mark.parametrize("labels", rest_slow(RELABELINGS.values()), ids=RELABELINGS)
@pytest.mark.parametrize("method", METHODS)
def test_values_of_the_context(method: str, labels: list[Any]) -> None:
    table, context = simulated(1)
    expected = cc.discover(table, context, method=method)
    relabeled = table.assign(**{context: [labels[value] for value in table[context]]})
    found = cc.discover(relabeled, context, method=method, kinds={context: "categorical"})
    assert found.contexts == tuple(sorted(labels))
    assert edges_by_name(found) == edges_by_name(expected, value=labels.__getitem__)


@pytest.mark.parametrize("method", METHODS)
def test_a_categorical_gives_its_own_order(method: str) -> None:
    table, context = simulated(1)
    labels = ["low", "mid", "high"]
    column = pd.Categorical.from_codes(table[context], categories=labels, ordered=True)
    found = cc.discover(table.assign(**{context: column}), context, method=method)
    assert found.contexts == ("low", "mid", "high")
    expected = cc.discover(table, context, method=method)
    assert edges_by_name(found) == edges_by_name(expected, value=labels.__getitem__)


@pytest.mark.parametrize("test", ["partial-correlation", "fisher-z"])
@pytest.mark.parametrize("method", METHODS)
def test_threads(method: str, test: str) -> None:
    """Not only the graphs: every number of the log, and the number of tests."""
    table, context = simulated(2)
    one, two = (
        cc.discover(table, context, method=method, test=test, n_jobs=jobs) for jobs in (1, 2)
    )
    assert one == two


def test_threads_on_a_larger_table() -> None:
    generator = np.random.default_rng(0)
    values = generator.standard_normal((400, 60))
    values[:, 1:] += 0.5 * values[:, :-1]
    table = pd.DataFrame(values, columns=[f"V{place}" for place in range(60)]).assign(
        R=generator.integers(0, 3, 400)
    )
    assert cc.discover(table, "R", method="pc-ac", alpha=0.2) == cc.discover(
        table, "R", method="pc-ac", alpha=0.2, n_jobs=2
    )


def clinic() -> pd.DataFrame:
    return cc.examples.clinic(400, seed=1)


def levels() -> pd.DataFrame:
    """Categories alone, which few rows of each depend on."""
    table = clinic()
    grades = {
        name: pd.qcut(table[name], 3, labels=list("abc")).astype(str)
        for name in ("age", "pressure")
    }
    return table[["smoker", "status"]].assign(**grades)


def soil() -> pd.DataFrame:
    return cc.examples.soil_moisture(300, seed=1)


POOLS: dict[str, tuple[Callable[[], pd.DataFrame], str, dict[str, Any]]] = {
    "levels on moments": (soil, "soil", {"method": "pc-ac", "test": "partial-correlation"}),
    "open paths": (soil, "soil", {"method": "fci-ac"}),
    "change between contexts": (soil, "soil", {"method": "pc-ac"}),
    "nearest rows": (soil, "soil", {"method": "pc-ac", "test": "cmi-knn", "max_given": 1}),
    "bases of splines": (soil, "soil", {"method": "pc-ac", "test": "basis"}),
    "ranks": (soil, "soil", {"method": "pc-ac", "test": "gaussian-ranks"}),
    "permuted tables": (levels, "status", {"method": "pc-ac", "test": "g-squared"}),
    "columns of all kinds": (clinic, "status", {"method": "pc-ac"}),
    "orders": (soil, "soil", {"method": "score-ac", "search": "order"}),
    "all orders": (soil, "soil", {"method": "score-ac", "search": "exact"}),
    "orders, columns of all kinds": (clinic, "status", {"method": "score-ac"}),
    "windows": (
        lambda: cc.examples.land_surface(300, seed=1),
        "regime",
        {"method": "pc-ac", "lags": 1},
    ),
}
"""A search for every family of kernels that threads share: its table, context and options."""


@pytest.mark.parametrize("pool", POOLS)
def test_eight_threads_give_the_answers_of_one(pool: str) -> None:
    table, context, options = POOLS[pool]
    one, eight = (cc.discover(table(), context, n_jobs=jobs, **options) for jobs in (1, 8))
    assert one == eight


FORMATS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "polars": pl.from_pandas,
    "pyarrow": pa.Table.from_pandas,
    "pandas with pyarrow dtypes": lambda table: table.convert_dtypes(dtype_backend="pyarrow"),
    "pandas with an index": lambda table: table.set_index(
        pd.Index(range(len(table), 0, -1), name="day")
    ),
    "mapping": lambda table: {name: table[name].to_numpy() for name in table},
}


@pytest.mark.parametrize("make", FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize(
    "labels", rest_slow([["dry", "mild", "wet"], [0, 1, 2]]), ids=["text", "integers"]
)
def test_kinds_of_tables(make: Callable[[pd.DataFrame], Any], labels: list[Any]) -> None:
    table, context = simulated(3)
    table = table.assign(**{context: [labels[value] for value in table[context]]})
    assert cc.discover(make(table), context) == cc.discover(table, context)


def test_a_table_that_is_read_in_batches() -> None:
    """Its cross products are added up in another order: all is the same up to rounding."""
    table, context = simulated(3)
    lazy, eager = (cc.discover(one, context) for one in (pl.from_pandas(table).lazy(), table))
    assert (lazy.graphs, lazy.tests_run, lazy.data) == (eager.graphs, eager.tests_run, eager.data)
    assert (lazy.log.given == eager.log.given).all()
    np.testing.assert_allclose(lazy.log.p, eager.log.p, atol=1e-12)


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays(order: Any) -> None:
    table, context = simulated(3)
    array = np.array(table.to_numpy(dtype=np.float64), order=order)
    found = cc.discover(array, context, names=list(table.columns))
    assert found.contexts == (0, 1, 2)
    assert edges_by_name(found) == edges_by_name(cc.discover(table, context))


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet"])
def test_files(tmp_path: Path, ending: str) -> None:
    table, context = simulated(3)
    path = tmp_path / f"table.{ending}"
    if ending == "parquet":
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
    assert cc.discover(cc.read_file(path), context) == cc.discover(table, context)


CONTEXT_VALUES: dict[str, Callable[[pd.Series], Any]] = {
    "int": lambda codes: codes,
    "str": lambda codes: codes.map({0: "dry", 1: "wet"}),
    "bool": lambda codes: codes.astype(bool),
    "float": lambda codes: codes.map({0: 0.5, 1: 0.1}),
    "categorical": lambda codes: pd.Categorical.from_codes(codes, categories=["wet", "dry"]),
    "categorical of int": lambda codes: pd.Categorical.from_codes(codes, categories=[9, 3]),
}


@pytest.mark.parametrize("values", CONTEXT_VALUES.values(), ids=CONTEXT_VALUES)
@pytest.mark.parametrize("method", rest_slow(METHODS))
def test_saved_and_loaded(tmp_path: Path, method: str, values: Callable[[pd.Series], Any]) -> None:
    table, context = simulated(4, contexts=2)
    table = table.assign(**{context: values(table[context])})
    result = cc.discover(table, context, method=method, kinds={context: "categorical"})
    result.save(tmp_path / "result.json")
    again = cc.load(tmp_path / "result.json")
    assert again == result
    assert [type(value) for value in again.contexts] == [type(value) for value in result.contexts]
    assert list(again.graphs) == list(result.graphs)


@pytest.mark.parametrize("method", METHODS)
def test_saved_and_loaded_without_a_context(tmp_path: Path, method: str) -> None:
    table, context = simulated(4)
    result = cc.discover(table.drop(columns=context), method=method)
    result.save(tmp_path / "result.json")
    assert cc.load(tmp_path / "result.json") == result
    assert list(result.graphs) == ["all"]


TESTS = (
    "auto",
    "partial-correlation",
    "fisher-z",
    "sandwich",
    "gaussian-ranks",
    "tsagris",
    "conditional-gaussian",
)


def random_case(seed: int, two: bool = False) -> tuple[pd.DataFrame, list[str], dict[str, Any]]:
    """A table with contexts that it causes, and a call of `discover` that suits it."""
    generator = np.random.default_rng([seed, 77])
    model = random_model(nodes=6, density=0.4, contexts=int(generator.integers(2, 4)), seed=seed)
    table = model.sample(int(generator.integers(120, 400)), seed=seed)
    system = [name for name in table if name != model.context_name]
    contexts = [model.context_name]
    if two:
        driver = table[system[0]] + generator.standard_normal(len(table)) * table[system[0]].std()
        table["S"] = np.where(driver > driver.median(), "high", "low")
        contexts.append("S")
    if generator.random() < 0.4:
        table[system[-1]] = pd.cut(table[system[-1]], 3, labels=["a", "b", "c"]).astype(str)
    options = {
        "method": str(generator.choice(["pc-ac", "pc-ac", "pc-m", "pc-p", "pc-b"])),
        "test": str(generator.choice(TESTS)),
        "masked_scope": str(generator.choice(["adaptive", "cycle", "always"])),
        "max_given": int(generator.integers(1, 4)),
    }
    if options["method"] != "pc-ac":
        del options["masked_scope"]
    return table, contexts, options


def varied_first(count: int) -> list[Any]:
    """Seeds: the first three have different methods and tests, with one context and with two; the
    others are slow.
    """
    first = (5, 7, 8)
    return rest_slow([*first, *(seed for seed in range(count) if seed not in first)], fast=3)


@pytest.mark.parametrize("seed", varied_first(200))
def test_one_context_and_a_list_of_one(seed: int) -> None:
    table, contexts, options = random_case(seed)
    one, listed = (cc.discover(table, context, **options) for context in (contexts[0], contexts))
    assert one == listed
    pd.testing.assert_frame_equal(one.tests(), listed.tests())


@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("seed", varied_first(150))
def test_units_and_offsets(seed: int, two: bool) -> None:
    table, contexts, options = random_case(seed, two)
    generator = np.random.default_rng([seed, 78])
    moved = table.copy()
    for name in table.columns.drop(contexts):
        if table[name].dtype.kind == "f":
            factor = 10.0 ** generator.uniform(-8, 8) * generator.choice([-1.0, 1.0])
            offset = generator.choice([0.0, 1e3, 1e6, 1e9]) * table[name].std()
            moved[name] = (table[name] + offset) * factor
    expected, found = (cc.discover(data, contexts, **options) for data in (table, moved))
    assert edges_by_name(found) == edges_by_name(expected)

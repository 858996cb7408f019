"""The naive twins against scipy, closed forms and brute force: a yardstick has to be right
itself.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, TypeVar

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import naive

LEVELS = (0, 1)
T = TypeVar("T")


def computed(value: T | None) -> T:
    """The value, which must not be untestable here."""
    assert value is not None
    return value


def correlated_rows(seed: int, n: int = 60) -> NDArray[np.float64]:
    """Four columns with shifted means and different scales, some negatively correlated."""
    noise = np.random.default_rng(seed).normal(size=(n, 4))
    mixing = np.array([[1.0, 0, 0, 0], [-0.6, 1, 0, 0], [0.4, -0.5, 1, 0], [0.3, 0.2, -0.8, 1]])
    return np.asarray(noise @ mixing.T * [1.0, 5.0, 0.1, 2.0] + [100.0, -30.0, 0.0, 7.0])


def two_contexts(first: int, second: int) -> NDArray[np.int64]:
    """This many rows of context 0, then of context 1."""
    return np.repeat([0, 1], [first, second])


def pairs(text: str) -> set[frozenset[str]]:
    """The pairs of "XY YZ" as a set of edges."""
    return {frozenset(word) for word in text.split()}


def arrows(text: str) -> set[tuple[str, str]]:
    """The pairs of "XY YZ" as arrows X -> Y, Y -> Z."""
    return {(word[0], word[1]) for word in text.split()}


def graph_of(text: str) -> nx.DiGraph:
    """The directed graph with these arrows."""
    return nx.DiGraph(list(arrows(text)))


def separation_oracle(
    union: nx.DiGraph, contexts: dict[Any, nx.DiGraph], context: str
) -> naive.Answer:
    """d-separation as a test: all rows ask the union graph, one context's rows its graph given
    R.
    """

    def answer(x: str, y: str, given: tuple[str, ...], where: Any) -> float:
        graph = union if where is None else contexts[where]
        conditions = set(given) if where is None else {*given, context}
        return float(nx.is_d_separator(graph, {x}, {y}, conditions))

    return answer


def random_dag(seed: int, size: int, density: float) -> nx.DiGraph:
    """A random DAG over the first capital letters; the causal order is not the alphabetical one."""
    generator = np.random.default_rng(seed)
    order = [chr(ord("A") + int(i)) for i in generator.permutation(size)]
    graph = nx.DiGraph()
    graph.add_nodes_from(sorted(order))
    graph.add_edges_from(
        pair for pair in itertools.combinations(order, 2) if generator.random() < density
    )
    return graph


def test_partial_correlation_without_conditions_is_pearson() -> None:
    data = correlated_rows(1)
    r, t, df, p = computed(naive.partial_correlation(data, 0, 1, ()))
    expected = stats.pearsonr(data[:, 0], data[:, 1])
    assert (r, p) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)
    assert r < 0
    assert df == 58
    assert t == pytest.approx(r * math.sqrt(58 / (1 - r**2)))


@pytest.mark.parametrize("given", [(2,), (3, 2)])
def test_partial_correlation_comes_from_the_inverse_covariance(given: tuple[int, ...]) -> None:
    data = correlated_rows(2)
    precision = np.linalg.inv(np.cov(data[:, [0, 1, *given]].T))
    r, _, df, _ = computed(naive.partial_correlation(data, 0, 1, given))
    assert r == pytest.approx(
        -precision[0, 1] / math.sqrt(precision[0, 0] * precision[1, 1]), rel=1e-9
    )
    assert df == 60 - len(given) - 2


def test_partial_correlation_counts_ranks() -> None:
    data = correlated_rows(3)
    wide = np.column_stack([data, 3 * data[:, 2] - 1, np.full(60, 4.0)])
    once, repeated = (naive.partial_correlation(wide, 0, 1, given) for given in [(2,), (2, 4, 5)])
    assert repeated == pytest.approx(once, rel=1e-9)


def test_statistics_ignore_units_and_origins() -> None:
    data, context = correlated_rows(14), two_contexts(30, 30)
    moved = data * [1e-7, 1e9, 1e-11, 3.0] + [0.1, 1e14, 1e-6, -1e5]
    for given in [(), (2,), (2, 3)]:
        correlations = [
            computed(naive.partial_correlation(rows, 0, 1, given)) for rows in (data, moved)
        ]
        assert correlations[1] == pytest.approx(correlations[0], rel=1e-6)
        changes = [
            computed(naive.context_change(rows, context, 0, given)) for rows in (data, moved)
        ]
        assert changes[1] == pytest.approx(changes[0], rel=1e-6)


def test_partial_correlation_is_untestable_without_residuals_or_rows() -> None:
    data = correlated_rows(4)
    wide = np.column_stack([data, data[:, 0] + 2 * data[:, 2], np.full(60, 0.7)])
    assert naive.partial_correlation(wide, 4, 1, (0, 2)) is None
    assert naive.partial_correlation(wide, 5, 1, ()) is None
    assert computed(naive.partial_correlation(data[:9], 0, 1, (2, 3)))[2] == 5
    assert naive.partial_correlation(data[:8], 0, 1, (2, 3)) is None
    assert naive.partial_correlation(data[:0], 0, 1, ()) is None


def test_a_copy_is_the_strongest_dependence() -> None:
    data = correlated_rows(5)
    wide = np.column_stack([data, -data[:, 0]])
    assert computed(naive.partial_correlation(wide, 0, 4, ()))[3] < 1e-100
    assert computed(naive.fisher_z(wide, 0, 4, ()))[2] < 1e-20


def test_fisher_z_is_its_closed_form() -> None:
    data = correlated_rows(6)
    r, z, p = computed(naive.fisher_z(data, 0, 1, (2,)))
    assert r == computed(naive.partial_correlation(data, 0, 1, (2,)))[0]
    assert z == pytest.approx(math.sqrt(60 - 1 - 3) * 0.5 * math.log((1 + r) / (1 - r)))
    assert p == pytest.approx(math.erfc(abs(z) / math.sqrt(2)))


def test_stratified_correlation_sums_over_contexts() -> None:
    data, context = correlated_rows(7), np.repeat([0, 1, 2], [30, 27, 3])
    rs = [stats.pearsonr(*data[context == level, :2].T).statistic for level in LEVELS]
    expected = 27 * math.atanh(rs[0]) ** 2 + 24 * math.atanh(rs[1]) ** 2
    statistic, df, p = computed(naive.stratified_partial_correlation(data, context, 0, 1, ()))
    assert (statistic, df) == pytest.approx((expected, 2))
    assert p == pytest.approx(math.exp(-expected / 2))


def test_stratified_correlation_leaves_out_a_context_where_a_column_is_constant() -> None:
    data, context = correlated_rows(8), two_contexts(30, 30)
    data[context == 1, 0] = 3.3
    statistic, df, _ = computed(
        naive.stratified_partial_correlation(data, context, 0, 1, (2,), "fisher-z")
    )
    _, z, _ = computed(naive.fisher_z(data[context == 0], 0, 1, (2,)))
    assert (statistic, df) == pytest.approx((z**2, 1))
    data[:, 0] = 3.3
    assert naive.stratified_partial_correlation(data, context, 0, 1, (2,)) is None


def test_stratified_correlation_sees_slopes_that_cancel() -> None:
    generator = np.random.default_rng(9)
    x, context = generator.normal(size=200), two_contexts(100, 100)
    data = np.column_stack([x, np.where(context == 0, x, -x) + generator.normal(size=200)])
    assert computed(naive.partial_correlation(data, 0, 1, ()))[3] > 0.05
    assert computed(naive.stratified_partial_correlation(data, context, 0, 1, ()))[2] < 1e-10


def test_context_change_without_conditions_compares_variances() -> None:
    data, context = correlated_rows(10), two_contexts(35, 25)
    sizes, variances = [35, 25], [data[context == level, 0].var() for level in LEVELS]
    ratio = 60 * math.log(data[:, 0].var()) - sum(np.log(variances) * sizes)
    statistic, df, p = computed(naive.context_change(data, context, 0, ()))
    assert df == 2
    assert 0.8 * ratio < statistic < ratio
    assert p == pytest.approx(math.exp(-statistic / 2))
    changed = computed(naive.context_change(-3 * data + 50, context, 0, ()))
    assert changed == pytest.approx((statistic, df, p))


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second", "given"), [(20, 20, (1, 2, 3)), (12, 40, (1,))])
def test_context_change_has_the_mean_and_level_of_chi_squared(
    first: int, second: int, given: tuple[int, ...]
) -> None:
    context = two_contexts(first, second)
    found = [
        computed(naive.context_change(correlated_rows(seed, first + second), context, 0, given))
        for seed in range(1500)
    ]
    df = len(given) + 2
    assert {result[1] for result in found} == {df}
    standard_error = math.sqrt(2 * df / len(found))
    assert np.mean([result[0] for result in found]) == pytest.approx(df, abs=4 * standard_error)
    rejected = sum(result[2] < 0.05 for result in found)
    assert (
        stats.binom.ppf(1e-4, len(found), 0.045)
        <= rejected
        <= stats.binom.ppf(1 - 1e-4, len(found), 0.06)
    )


@pytest.mark.parametrize("change", ["mean", "slope", "variance"])
def test_context_change_sees_mean_slope_and_variance(change: str) -> None:
    generator = np.random.default_rng(11)
    z, noise, context = (
        generator.normal(size=200),
        generator.normal(size=200),
        two_contexts(100, 100),
    )
    altered = {"mean": z + 1 + noise, "slope": 2 * z + noise, "variance": z + 2 * noise}[change]
    data = np.column_stack([np.where(context == 0, z + noise, altered), z])
    assert computed(naive.context_change(data, context, 0, (1,)))[2] < 1e-4


def test_context_change_leaves_out_small_contexts() -> None:
    data, context = correlated_rows(12), np.repeat([0, 1, 2], [30, 23, 7])
    inside = context < 2
    with_small = naive.context_change(data, context, 0, (1, 2))
    assert with_small == pytest.approx(
        naive.context_change(data[inside], context[inside], 0, (1, 2))
    )
    assert computed(naive.context_change(data, context, 0, (1,)))[1] == 2 * 3
    assert naive.context_change(data, np.where(context == 1, 0, context), 0, (1, 2)) is None


def test_context_change_counts_ranks() -> None:
    data, context = correlated_rows(13), two_contexts(30, 30)
    wide = np.column_stack([data, 2 * data[:, 1] + 5, np.where(context == 0, 1.0, data[:, 2])])
    once, repeated = (naive.context_change(wide, context, 0, given) for given in [(1,), (1, 4)])
    assert repeated == pytest.approx(once)
    assert computed(naive.context_change(wide, context, 0, (5,)))[1] == (1 + 1) + (2 + 1) - (2 + 1)
    assert naive.context_change(wide, context, 4, (1,)) is None
    assert naive.context_change(wide, context, 5, ()) is None


EXAMPLE_UNION = graph_of("XR TR RY TY")
EXAMPLE = separation_oracle(EXAMPLE_UNION, {0: graph_of("XR TR RY"), 1: EXAMPLE_UNION}, "R")
"""The paper's Example (i): X -> R <- T, R -> Y, and T -> Y only in context 1."""


def test_example_one_by_each_rule() -> None:
    adaptive, masked, pooled = (
        naive.pc_stable_contexts(EXAMPLE, "RTXY", "R", LEVELS, rule)
        for rule in ("adaptive", "masked", "pooled")
    )
    assert adaptive[0].edges == pairs("RX RT RY")
    assert adaptive[1].edges == pairs("RX RT RY TY")
    assert masked[0].edges == pairs("TX")
    assert masked[1].edges == pairs("TX TY")
    assert list(pooled) == [None]
    assert pooled[None].edges == pairs("RX RT RY TY")


def test_separating_sets_are_all_of_the_removing_size_with_the_context_where_it_was_masked() -> (
    None
):
    adaptive = naive.pc_stable_contexts(EXAMPLE, "RTXY", "R", LEVELS, "adaptive")
    assert adaptive[0].separations == {
        frozenset("TX"): [frozenset()],
        frozenset("TY"): [frozenset("R")],
        frozenset("XY"): [frozenset("R")],
    }
    assert adaptive[1].separations == {
        frozenset("TX"): [frozenset()],
        frozenset("XY"): [frozenset("RT")],
    }
    masked = naive.pc_stable_contexts(EXAMPLE, "RTXY", "R", LEVELS, "masked")
    assert masked[0].separations == {
        frozenset("TY"): [frozenset("R")],
        frozenset("XY"): [frozenset("R")],
    }
    assert masked[1].separations == {frozenset("XY"): [frozenset("RT")]}


def listed_separations(*known: tuple[str, str, Any]) -> Callable[..., float | None]:
    """A test that finds just these (pair, given, where) independent."""
    independent = {(frozenset(pair), frozenset(given), where) for pair, given, where in known}
    return lambda x, y, given, where: float(
        (frozenset((x, y)), frozenset(given), where) in independent
    )


def test_links_at_the_context_use_the_union_of_neighbours_and_are_shared() -> None:
    answer = listed_separations(
        ("AR", "", None), ("BR", "", None), ("AY", "", 0), ("RY", "AB", None)
    )
    graphs = naive.pc_stable_contexts(answer, "ABRY", "R", LEVELS, "adaptive")
    assert graphs[0].edges == pairs("AB BY")
    assert graphs[1].edges == pairs("AB BY AY")
    assert [graphs[level].separations[frozenset("RY")] for level in LEVELS] == [
        [frozenset("AB")]
    ] * 2


def test_removals_within_a_level_use_the_neighbours_from_before_it() -> None:
    answer = listed_separations(("BC", "", None), ("AB", "C", None), ("AC", "B", None))
    graph = naive.pc_stable_contexts(answer, "ABC", "A", LEVELS, "pooled")[None]
    assert graph.edges == set()


def test_an_untestable_pair_stays() -> None:
    graph = naive.pc_stable_contexts(lambda *_: None, "ABC", "A", LEVELS, "pooled")[None]
    assert graph == (pairs("AB AC BC"), {})


def test_knowledge_and_the_largest_set_are_honoured() -> None:
    def run(**options: Any) -> naive.Skeleton:
        return naive.pc_stable_contexts(EXAMPLE, "RTXY", "R", LEVELS, "adaptive", **options)[0]

    assert run(max_given=0).edges == pairs("RX RT RY TY XY")
    assert run(required=["TX"]).edges == pairs("RX RT RY TX")
    absent = run(absent=["RT"])
    assert frozenset("RT") not in absent.edges
    assert frozenset("RT") not in absent.separations
    assert run(possible_parent=lambda _, z: z != "R").edges == pairs("RX RT RY TY XY")


@pytest.mark.parametrize("seed", range(25))
def test_search_on_random_dags_recovers_the_equivalence_class(seed: int) -> None:
    dag = random_dag(seed, size=5, density=(0.3, 0.5, 0.7)[seed % 3])
    nodes, answer = sorted(dag), separation_oracle(dag, {}, "A")
    graph = naive.pc_stable_contexts(answer, nodes, "A", LEVELS, "pooled")[None]
    assert graph.edges == {frozenset(arrow) for arrow in dag.edges}
    for pair, sets in graph.separations.items():
        assert sets
        assert all(nx.is_d_separator(dag, {min(pair)}, {max(pair)}, set(chosen)) for chosen in sets)

    found = set()
    for x, w, y in itertools.permutations(nodes, 3):
        if (
            x < y
            and pairs(f"{x}{w} {w}{y}") <= graph.edges
            and frozenset((x, y)) not in graph.edges
        ):
            separating, containing = naive.collider_votes(
                answer, graph.edges, (x, w, y), "pooled", "A", None
            )
            assert separating > 0
            assert containing in (0, separating)
            found |= {(x, w), (y, w)} if containing == 0 else set()
    rest = graph.edges - {frozenset(arrow) for arrow in found}
    assert naive.meek(found, rest) == naive.cpdag(dag.edges)


def test_collider_votes_count_the_context_in_masked_sets() -> None:
    graphs = naive.pc_stable_contexts(EXAMPLE, "RTXY", "R", LEVELS, "adaptive")
    edges = graphs[0].edges

    def votes(triple: tuple[str, str, str], **options: Any) -> tuple[int, int]:
        return naive.collider_votes(EXAMPLE, edges, triple, "adaptive", "R", 0, **options)

    assert votes(("X", "R", "T")) == (1, 0)
    assert votes(("X", "R", "Y")) == (1, 1)
    assert votes(("X", "R", "Y"), max_given=0) == (0, 0)
    assert votes(("X", "R", "Y"), possible_parent=lambda _, z: z != "R") == (0, 0)


def test_cpdag_of_small_graphs() -> None:
    assert naive.cpdag(arrows("XY YZ")) == (set(), pairs("XY YZ"))
    assert naive.cpdag(arrows("XY ZY")) == (arrows("XY ZY"), set())
    assert naive.cpdag(arrows("XY ZY YW")) == (arrows("XY ZY YW"), set())
    assert naive.cpdag(arrows("XY YZ XZ")) == (set(), pairs("XY YZ XZ"))
    assert naive.cpdag([]) == (set(), set())


@pytest.mark.parametrize(
    ("directed", "undirected", "implied"),
    [
        ("CA", "AB", "AB"),
        ("AC CB", "AB", "AB"),
        ("CB DB", "AB AC AD", "AB"),
        ("CD DB", "AB AC AD", "AB"),
    ],
    ids=["R1", "R2", "R3", "R4"],
)
def test_each_rule_of_meek(directed: str, undirected: str, implied: str) -> None:
    after, left = naive.meek(arrows(directed), pairs(undirected))
    assert after == arrows(directed) | arrows(implied)
    assert left == pairs(undirected) - pairs(implied)


@pytest.mark.parametrize(
    ("directed", "undirected", "triple"),
    [("CA", "AB", "CAB"), ("CB DB", "AB AC AD", "CAD"), ("CD DB", "AB AC AD", "BAC")],
    ids=["R1", "R3", "R4"],
)
def test_meek_uses_no_ambiguous_triple(directed: str, undirected: str, triple: str) -> None:
    ambiguous = [(triple[0], triple[1], triple[2])]
    assert naive.meek(arrows(directed), pairs(undirected), ambiguous) == (
        arrows(directed),
        pairs(undirected),
    )


def test_meek_refuses_a_conflict() -> None:
    with pytest.raises(ValueError, match="contradict"):
        naive.meek(arrows("CA DB"), pairs("AB"))


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        (["-->", "<--", "o-o"], "<=>"),
        (["x-x", "o-o", "", "-->"], "-->"),
        (["<--", "x-x"], "<--"),
        (["x-x", "o-o"], "o-o"),
        (["x-x", ""], "x-x"),
        (["", ""], ""),
    ],
)
def test_union_mark(marks: list[str], expected: str) -> None:
    assert naive.union_mark(marks) == naive.union_mark(marks[::-1]) == expected


def test_holm_by_hand() -> None:
    assert naive.holm([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.09, 0.09, 0.5])
    assert naive.holm([0.7, 0.6]) == [1.0, 1.0]
    assert naive.holm([]) == []

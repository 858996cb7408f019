"""Every local score from moments equals its twin from rows: lines and curves, noise densities,
logits.
"""

import naive_densities
import naive_score
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from score_tables import (
    curved_table,
    data_of,
    design_of,
    fits_of,
    kinds_table,
    model_table,
    workspace_of,
)

from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.kernels.orders.slots import (
    NodeSlots,
    best_partition,
    best_score,
    chosen_slots,
    readers_in_reach,
)
from causalcontext.kernels.rows.class_choice import ClassRows, choose_columns
from causalcontext.kernels.rows.likelihoods import LOGIT
from causalcontext.kernels.rows.noise_densities import MANY, best_density
from causalcontext.knowledge import Knowledge
from causalcontext.score.columns import LINEAR
from causalcontext.score.data import members, score_data
from causalcontext.score.design import MIXED, PLAIN, POOLED, SHIFTED, ScoreDesign
from causalcontext.score.options import ScoreOptions
from marks import rest_slow


@pytest.fixture
def generator():
    return np.random.default_rng(20)


READ = np.array([True])
"""The reader has what it needs."""


def rows_of(design, block, columns):
    """The columns of a regression on its rows, intercepts first; the rows; the sum of the columns'
    prices.
    """
    data, (kind, mask, coding), about = design.data, design.key(block), design.about(block)
    code = data.codes[-1]
    rows = np.isin(code, members(mask, data.contexts))
    code, values, merging = code[rows], data.contexts, 0.0
    if coding > 0:  # two values, each of which is one or more of the context's
        values, merging = 2, np.log(2 ** (data.contexts - 1) - 1)
        code = data.codings[coding].groups[code]
    shifts = (
        [(code == r).astype(float) for r in range(values)]
        if kind != POOLED
        else [np.ones(len(code))]
    )
    lives = [about[4, c] for c in columns]
    own = [
        design.values[about[2, c], rows] * ((where >> code & 1) if where else 1.0)
        for c, where in zip(columns, lives, strict=True)
    ]
    sizes = [np.isin(code, members(where, values)).sum() if where else len(code) for where in lives]
    everywhere = (0, (1 << values) - 1)
    curved = sum(
        about[6, c] * (1 if where in everywhere else 2)
        for c, where in zip(columns, lives, strict=True)
    )
    price = sum(np.log(size) for size in sizes) + curved * np.log(10) + merging
    return np.stack([*shifts, *own], axis=1), rows, price


def naive_number(design, block, node, columns, densities):
    """The score of a number from its rows, by least squares."""
    matrix, rows, price = rows_of(design, block, columns)
    response = design.values[design.first[node], rows]
    residual = naive_score.regression_residual(response, matrix)
    shifts = matrix.shape[1] - len(columns)
    score = naive_score.log_likelihood(residual) - np.log(len(residual)) * (shifts + 1) - price
    gain = best_density(residual, len(residual), np.zeros(MANY + 5))
    return score + (gain if densities else 0.0)


def columns_for(tables, design, node, generator, size):
    """Random columns of other variables; of those that live in some contexts only one per
    variable.
    """
    about, first = tables.about[design], tables.first[design]
    offered = [
        c
        for c in range(first[0], first[-2])
        if about[0, c] != node and (design == PLAIN or about[4, c] > 0)
    ]
    chosen, families = [], set()
    for c in generator.permutation(offered).tolist():
        if len(chosen) < size and (design == PLAIN or about[3, c] not in families):
            chosen.append(c)
            families.add(about[3, c])
    return chosen


def places_of(data):
    """The number of every variable by its name."""
    return {data.table.names[column]: j for j, column in enumerate(data.position)}


@pytest.mark.parametrize("contexts", [1, 2, 3])
@pytest.mark.parametrize("densities", [False, True])
def test_scores_of_numbers_are_those_of_the_rows(contexts, densities, generator):
    table = curved_table(400, 3, max(contexts, 2)).assign(
        Q=lambda t: -5.0 * t["A"] + generator.normal(size=400)
    )
    table = table[generator.permutation(table.columns)]
    design = design_of(
        table if contexts > 1 else table.drop(columns="R"), "R" if contexts > 1 else None
    )
    workspace = workspace_of(design, densities=densities)
    wanted, tables = [], design.tables()
    for block in range(len(tables.block)):
        for size in (0, 1, 4):
            node = int(generator.integers(design.data.responses))
            columns = columns_for(tables, tables.block[block, 2], node, generator, size)
            wanted.append((block, node, columns))
    for (block, node, columns), row in zip(wanted, workspace.score(wanted), strict=True):
        assert row[0] == pytest.approx(
            naive_number(design, block, node, columns, densities), abs=1e-5
        )


def test_without_curves_and_laws_it_is_the_linear_gaussian_score():
    design = design_of(model_table(400, 3, nodes=6), densities=False)
    workspace = workspace_of(design, curves=False)
    first, values, code = design.first, design.data.values.T, design.data.codes[-1]
    assert workspace.arrays.rows.facts[1] == 0.0
    for parents in ((), (1,), (0, 3, 4)):
        columns = [int(first[j]) for j in parents]
        found = workspace.score(
            [(block, 2, columns) for block in range(design.block(SHIFTED, 3, 0) + 1)]
        )[:, 0]
        naive = [
            naive_score.local_score(values[np.isin(code, members(mask, 2))], 2, parents, 2.0)
            for mask in (1, 2, 3)
        ]
        naive.append(naive_score.shifted_score(values, code, 2, parents, 2.0))
        assert found == pytest.approx(naive, abs=1e-6)


def test_columns_span_what_they_are_made_of():
    """A variable's columns are centred, of variance 1 and uncorrelated, and span the functions they
    stand for.
    """
    columns = design_of(curved_table(500, 2))
    data = columns.data
    for j in range(data.responses):
        own = columns.values[columns.first[j] : columns.first[j + 1]]
        assert np.allclose(own @ own.T / 500, np.eye(len(own)), atol=1e-6)
        assert columns.functions[columns.first[j]].kind == LINEAR
        x = data.values[j]
        knots = np.quantile(x, [0.2, 0.4, 0.6, 0.8])
        steps = np.quantile(x, [0.2, 0.35, 0.5, 0.65, 0.8])
        functions = [
            x,
            x * x,
            *(np.maximum(x - k, 0) ** 2 for k in knots),
            *((x > s).astype(float) for s in steps),
        ]
        for function in functions:
            centred = function - function.mean()
            assert naive_score.regression_residual(centred, own.T) == pytest.approx(0.0, abs=1e-5)
    code = data.codes[-1]
    for r in range(2):
        here = columns.values[:, code == r]
        assert columns.means[r] == pytest.approx(here.mean(axis=1))
        assert columns.scatter[r] == pytest.approx(
            np.cov(here, bias=True) * here.shape[1], abs=1e-6
        )


DENSITIES = {
    "normal": lambda g: g.normal(size=600),
    "exponential": lambda g: 7.0 - 2.0 * g.exponential(size=600),
    "uniform": lambda g: g.uniform(-3, 1, size=600),
    "heavy": lambda g: g.standard_t(5, size=600),
    "two hills": lambda g: np.where(g.random(600) < 0.6, -2.0, 1.5) + 0.7 * g.normal(size=600),
}


@pytest.mark.parametrize("name", DENSITIES)
def test_a_noise_law_gains_what_a_general_optimiser_finds(name, generator):
    residual = DENSITIES[name](generator)
    found = best_density(residual, 600.0, np.zeros(MANY + 5))
    naive = naive_densities.density_gain(residual)
    assert found == pytest.approx(naive, abs=0.3 + 0.01 * naive)
    assert (found > 0) == (name != "normal")


def test_gaussian_noise_rarely_gets_a_law(generator):
    density = np.zeros(MANY + 5)
    taken = sum(best_density(generator.normal(size=200), 200.0, density) > 0 for _ in range(300))
    assert taken <= 9


def test_constant_and_tiny_residuals_have_no_law():
    density = np.zeros(MANY + 5)
    assert best_density(np.zeros(50), 50.0, density) == 0.0
    assert best_density(1e-9 * np.random.default_rng(1).exponential(size=50), 50.0, density) == 0.0


def test_growing_takes_what_raises_the_score_and_the_score_is_that_of_the_columns(generator):
    design = design_of(curved_table(300, 11), densities=False)
    workspace = workspace_of(design)
    p, blocks = design.data.responses, len(design.tables().block)
    tasks = [(block, node) for block in range(blocks) for node in range(p)]
    candidates = generator.random((len(tasks), p)) < 0.7
    candidates[np.arange(len(tasks)), [node for _, node in tasks]] = False
    scores, sets = fits_of(workspace, tasks, candidates)
    for (block, node), allowed, score, chosen in zip(tasks, candidates, scores, sets, strict=True):
        assert score == pytest.approx(naive_number(design, block, node, chosen, False), abs=1e-5)
        about = design.about(block)
        assert allowed[about[0, chosen]].all()
        fewer = [[c for c in chosen if c != one] for one in chosen]
        assert all(naive_number(design, block, node, rest, False) <= score + 1e-6 for rest in fewer)


def test_forced_parents_stay():
    knowledge = Knowledge(required=[("X1", "X0"), ("X3", "X0")])
    data = data_of(model_table(300, 13), knowledge=knowledge)
    place = places_of(data)
    design = ScoreDesign(data, ScoreOptions(), False)
    _, sets = fits_of(
        workspace_of(design, False), [(2, place["X0"])], [np.arange(data.responses) != place["X0"]]
    )
    assert {int(design.first[place[name]]) for name in ("X1", "X3")} <= set(sets[0])


@pytest.mark.parametrize("contexts", [2, 3, 4])
@pytest.mark.parametrize("more", [1, 2])
def test_best_partition_is_the_best_of_all(contexts, more, generator):
    blocks = (1 << contexts) - 2
    slots = one_reader(contexts, blocks, np.zeros((2, blocks + more), dtype=np.int64))
    for _ in range(50):
        scores = generator.normal(size=1 + blocks + more)
        ways = [way for way in naive_score.partitions(list(range(contexts))) if len(way) > 1]
        worth = [sum(scores[sum(1 << r for r in block)] for block in way) for way in ways]
        assert best_partition(contexts, blocks, slots.joins[:, 0, 1:], scores[1:]) == pytest.approx(
            max(worth)
        )
        best = max([*worth, scores[0], *scores[1 + blocks :]])
        assert best_score(slots, 0, scores, READ) == pytest.approx(best)
        assert sum(scores[slot] for slot in chosen_slots(slots, 0, scores, READ)) == pytest.approx(
            best
        )
        assert chosen_slots(slots, 0, scores, ~READ) == [0]
        bound = slots._replace(may=np.array([[False, True]]))
        assert best_score(bound, 0, scores, READ) == pytest.approx(
            max([*worth, *scores[1 + blocks :]])
        )
        assert 0 not in chosen_slots(bound, 0, scores, READ)


def one_reader(cells, blocks, joins):
    """The slots of one node and one reader, which needs nobody."""
    count = 1 + joins.shape[1]
    joined = np.hstack([np.zeros((2, 1), dtype=np.int64), joins])[:, None]
    return NodeSlots(
        np.zeros((1, count), dtype=np.int64),
        joined,
        np.array([[1, cells, blocks, count]]),
        np.minimum(np.arange(count), 1) - 1,
        np.array([[-1, -1]]),
        np.ones((1, 2), dtype=bool),
    )


def test_of_two_readers_the_better_one_is_read_where_its_needs_come_first(generator):
    may = np.ones((1, 3), dtype=bool)
    slots = NodeSlots(
        np.zeros((1, 7), dtype=np.int64),
        np.zeros((2, 1, 7), dtype=np.int64),
        np.array([[1, 2, 2, 4], [4, 2, 2, 7]]),
        np.array([-1, 0, 0, 0, 1, 1, 1]),
        np.array([[1, -1], [1, 2]]),
        may,
    )
    for _ in range(50):
        scores = generator.normal(size=7)
        ways = [[[0]], [[1, 2], [3]], [[4, 5], [6]]]
        for usable in ((False, False), (True, False), (True, True)):
            open_ways = [
                way
                for own, there in zip(ways, (True, *usable), strict=True)
                if there
                for way in own
            ]
            best = max(scores[way].sum() for way in open_ways)
            assert best_score(slots, 0, scores, np.array(usable)) == pytest.approx(best)
            assert scores[chosen_slots(slots, 0, scores, np.array(usable))].sum() == pytest.approx(
                best
            )
    for place, in_reach in (
        ([1, 0, 2], [True, False]),
        ([2, 0, 1], [True, True]),
        ([0, 1, 2], [False, False]),
    ):
        assert readers_in_reach(slots.needs, np.array(place), 0).tolist() == in_reach


def test_best_cut_of_a_merge_tree(generator):
    joins = np.array([[0, 1, 2, 3, 4, 0, 2, 5, 7, 0], [0, 1, 2, 3, 4, 1, 3, 4, 6, 0]])
    slots = one_reader(5, 9, joins)
    cuts = [[7, 6], [7, 2, 3], [5, 4, 6], [5, 4, 2, 3], [0, 1, 4, 6], [0, 1, 4, 2, 3]]
    for _ in range(50):
        scores = generator.normal(size=11)
        best = max(sum(scores[1 + slot] for slot in cut) for cut in cuts)
        assert best_partition(5, 9, joins, scores[1:]) == pytest.approx(best)
        chosen = chosen_slots(slots, 0, scores, READ)
        assert sum(scores[chosen]) == pytest.approx(max(best, scores[0], scores[10]))


@pytest.mark.parametrize("contexts", [2, 3])
@pytest.mark.parametrize("parents", [(), (1,), (0, 2, 4)])
def test_the_context_score_is_that_of_a_general_optimiser(contexts, parents):
    design = design_of(model_table(300, 5, contexts=contexts, nodes=6, context_noise=2.0))
    data, workspace, pooled = (
        design.data,
        workspace_of(design),
        design.block(POOLED, design.everything),
    )
    naive = naive_score.context_score(data.values.T, data.codes[-1], parents, 2.0)
    columns = [int(design.first[j]) for j in parents]
    assert workspace.score([(pooled, data.responses, columns)])[0, 0] == pytest.approx(
        naive, abs=1e-4
    )


def ordered_score(codes, design, price):
    """Proportional odds by a general optimiser, with the ridge of the logit."""
    classes = int(codes.max()) + 1

    def parts(slopes):
        cuts = np.concatenate(
            [[-np.inf], np.cumsum([slopes[0], *np.exp(slopes[1 : classes - 1])]), [np.inf]]
        )
        eta = design @ slopes[classes - 1 :]
        with np.errstate(over="ignore"):
            below = 1 / (1 + np.exp(-(cuts[codes + 1] - eta))) - 1 / (
                1 + np.exp(-(cuts[codes] - eta))
            )
        return np.log(np.maximum(below, 1e-300))

    def loss(slopes):
        return -parts(slopes).sum() + 0.5e-2 * np.sum(slopes[classes - 1 :] ** 2)

    start = np.zeros(classes - 1 + design.shape[1])
    start[0] = -1.0
    best = minimize(loss, start, method="BFGS", options={"gtol": 1e-6, "maxiter": 2000})
    return parts(best.x).sum() - price * len(start)


def test_categories_and_ordered_columns_are_scored_by_their_logits():
    design = design_of(kinds_table(400, 4))
    data, first, workspace = design.data, design.first, workspace_of(design)
    place, pooled, values = places_of(data), design.block(POOLED, 3), design.values
    for parents in ((), ("N",), ("N", "M")):
        columns = [int(first[place[name]]) for name in parents]
        codes = data.codes[place["K"]]
        naive = naive_score.context_score(
            values[columns].T.reshape(400, -1), codes, range(len(columns)), 2.0
        )
        found = workspace.score([(pooled, place[name], columns) for name in ("K", "O")])[:, 0]
        assert found[0] == pytest.approx(naive, abs=1e-3)
        order = ordered_score(
            data.codes[place["O"]], values[columns].T.reshape(400, -1), np.log(400)
        )
        assert found[1] == pytest.approx(order, abs=1e-2)


def test_a_count_is_no_better_known_than_its_bin(generator):
    """The likelihood is that of the count plus a uniform number in its bin, averaged over that
    number.
    """
    rows = kinds_table(400, 4)
    design = design_of(rows, densities=False)
    data, first, workspace = design.data, design.first, workspace_of(design)
    place = places_of(data)
    pooled, columns = design.block(POOLED, 3), [int(first[place["N"]]), int(first[place["K"]])]
    found = workspace.score([(pooled, place["M"], columns)])[0, 0]
    spread = rows["M"].std(ddof=0)
    assert data.gap[place["M"]] == pytest.approx(1.0 / spread)
    matrix = np.column_stack([np.ones(400), design.values[columns].T])
    residual = naive_score.regression_residual(data.values[place["M"]], matrix)
    variance = np.mean(
        [np.var(residual + generator.uniform(-0.5, 0.5, 400) / spread) for _ in range(2000)]
    )
    naive = -200 * (np.log(variance) + 1 + np.log(2 * np.pi)) - np.log(400) * 4
    assert found == pytest.approx(naive, abs=0.5)
    assert data.gap[place["N"]] == 0.0


def test_the_density_of_a_count_is_no_more_than_its_probability():
    """Densities in a bin times its width are probabilities: in the mean never more than the shares
    of the counts.
    """
    generator = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "L": generator.poisson(generator.choice([1.0, 3.0, 6.0], 500)),
            "X": generator.normal(size=500),
        }
    )
    table = read_table(rows, None, kinds={"L": "count"})
    data = score_data(table, gather_statistics(table), Knowledge().links(table.names))
    workspace = workspace_of(ScoreDesign(data, ScoreOptions(), True))
    found = workspace.score([(0, places_of(data)["L"], [])])[0, 0] + 2 * np.log(500)
    count = rows["L"].to_numpy()
    width = np.sqrt(count + 0.875) - np.sqrt(np.maximum(count - 0.125, 0.0))
    likelihood = found + np.sum(np.log(width / np.std(np.sqrt(count + 0.375))))
    shares = np.bincount(count) / 500
    assert likelihood < np.sum(np.log(shares[count])) + 3.0
    assert likelihood > np.sum(np.log(shares[count])) - 60.0


def test_a_category_offers_its_levels_and_a_number_its_curves():
    design = design_of(kinds_table(400, 4))
    first, place = design.first, places_of(design.data)
    sizes = {name: int(first[j + 1] - first[j]) for name, j in place.items() if name != "R"}
    assert sizes["K"] == 3
    assert sizes["O"] == 3
    assert sizes["N"] == 11
    codes = design.data.codes[place["K"]]
    own = design.values[first[place["K"]] : first[place["K"] + 1]]
    for level in range(3):
        assert np.corrcoef(own[level], codes == level)[0, 1] == pytest.approx(1.0)


def test_separated_contexts_have_a_finite_score(generator):
    x = generator.normal(size=200)
    design = design_of(
        pd.DataFrame({"X": x, "Y": generator.normal(size=200), "R": (x > 0).astype(int)})
    )
    names = {position: place for place, position in enumerate(design.data.position)}
    scores, sets = fits_of(workspace_of(design), [(2, 2)], [[True, True]])
    assert {int(design.about(2)[0, c]) for c in sets[0]} == {names[0]}
    assert -2 * np.log(200) - 8 < scores[0] < 0


def test_up_to_four_contexts_may_have_slopes_of_their_own():
    for contexts, mixed in (
        (2, 1),
        (3, 1 + 3),
        (4, 1 + 7),
        (5, 0),
    ):  # merged values: all ways to make two of them
        design = design_of(model_table(300, 1, contexts=contexts))
        assert [design.key(block)[0] for block in design.changing(0)] == [SHIFTED] + [MIXED] * mixed


def test_values_are_merged_in_every_way_that_is_no_reader_of_its_own():
    table = curved_table(400, 1).assign(S=np.arange(400) % 2, T=np.arange(400) % 3)
    data = data_of(table[["A", "B", "R", "S"]], ["R", "S"])
    single = {reader.groups.tobytes() for reader in data.readers[:2]}
    ways = {
        tuple(groups) if groups[0] == 0 else tuple(1 - groups)
        for groups in (one.groups for _, one in data.merged)
    }
    assert {q for q, _ in data.merged} == {2}
    assert ways == {(0, 0, 0, 1), (0, 0, 1, 0), (0, 1, 0, 0), (0, 1, 1, 1), (0, 1, 1, 0)}
    assert not single & {one.groups.tobytes() for _, one in data.merged}
    several = data_of(
        table[["A", "B", "R", "T"]], ["R", "T"]
    )  # a pair of six values has no mixed model
    assert [q for q, _ in several.merged] == [1, 1, 1]


def correlations(scatter):
    scale = np.sqrt(np.diagonal(scatter))
    return scatter / scale[:, None] / scale


def test_a_long_table_is_scored_on_part_of_its_rows(monkeypatch):
    import causalcontext.score.data as module

    table = model_table(4000, 5)
    whole = design_of(table, curves=False)
    monkeypatch.setattr(module, "MOST_ROWS", 1000)
    part = design_of(table, curves=False)
    assert part.data.values.shape[1] == 1000
    assert part.data.weight == 4.0
    own, all_rows = (design.scatter[1, :7, :7] for design in (part, whole))
    assert correlations(own) == pytest.approx(correlations(all_rows), abs=1e-9)
    wanted = [(2, 7, [0, 1]), (2, 0, [2, 3]), (2, 0, [])]
    a, b = (workspace_of(design, curves=False).score(wanted)[:, 0] for design in (whole, part))
    assert b[0] == pytest.approx(a[0], rel=0.1)
    assert b[1] - b[2] == pytest.approx(a[1] - a[2], rel=0.05)


def thinned(values, codes, classes, price):
    """What `choose_columns` leaves of all columns, and its score."""
    starts = np.array([0, len(codes)])
    rows = ClassRows(
        np.ascontiguousarray(values.T),
        codes,
        starts,
        np.zeros(1, dtype=np.int64),
        classes,
        False,
        1.0,
        1.0,
    )
    sets, prices = np.full((3, values.shape[1] + 1), -1), np.full((3, values.shape[1]), price)
    sets[0] = [values.shape[1], *range(values.shape[1])]
    score = choose_columns(rows, LOGIT, sets, prices)
    return sets[0, 1 : 1 + sets[0, 0]].tolist(), score


@pytest.mark.parametrize(("classes", "seed"), rest_slow([(3, 1), (2, 0), (5, 2)]))
def test_columns_of_a_logit_are_dropped_where_that_pays(classes, seed):
    """Separated classes, negative correlations, a column without effect and one that is nearly
    another.
    """
    generator = np.random.default_rng(seed)
    values = generator.normal(size=(400, 6)) @ (np.eye(6) - 0.4 * np.eye(6, k=1)) + 3.0
    values[:, 5] = values[:, 0] + 0.1 * generator.normal(size=400)
    index = (
        4.0 * (values[:, 0] - 3.0) - 0.6 * (values[:, 1] - 3.0) + 0.3 * generator.logistic(size=400)
    )
    codes = np.searchsorted(np.quantile(index, np.arange(1, classes) / classes), index)
    price = 6.0 * (classes - 1)
    chosen, score = thinned(values, codes, classes, price)

    def naive(columns):
        likelihood = naive_score.logit_likelihood(values[:, columns], codes)
        return likelihood - price * len(columns) - (classes - 1)

    assert score == pytest.approx(naive(chosen), abs=0.02)
    for column in chosen:
        assert naive([c for c in chosen if c != column]) < score + 0.02
    assert naive([]) < score < 0.0


def test_many_classes_are_thinned_out_on_some_rows_and_scored_on_all():
    generator = np.random.default_rng(3)
    codes = np.repeat(np.arange(9), 1000)
    values = generator.normal(size=(9000, 11))
    values[:, :2] += 0.4 * generator.normal(size=(9, 2))[codes]
    chosen, score = thinned(values, codes, 9, 60.0)
    assert chosen == [0, 1]
    naive = naive_score.logit_likelihood(values[:, :2], codes)
    assert score == pytest.approx(naive - 120.0 - 8.0, abs=0.02)


def test_a_curve_may_live_in_one_context():
    """The residual variance of a mixed model is that of a regression on the rows, with the curve
    times its context.
    """
    design = design_of(curved_table(300, 1))
    workspace, block = workspace_of(design), design.block(MIXED, 3, 0)
    owner, _, source, _, lives, _, curved = design.tables().about[PLAIN + 1]
    node, codes, values = 3, design.data.codes[-1], design.values
    bent = np.flatnonzero((curved == 1) & (lives == 1) & (owner == 1))[0]
    straight = np.flatnonzero((curved == 0) & (lives == 3) & (owner == 0))[-1]
    score, left, *slopes = workspace.score([(block, node, [bent, straight])])[0]
    matrix = np.stack(
        [codes == 0, codes == 1, values[source[bent]] * (codes == 0), values[source[straight]]]
    ).T
    found, (squares,), *_ = np.linalg.lstsq(
        matrix.astype(float), values[design.response[node]], rcond=None
    )
    assert left == pytest.approx(squares / 300, rel=1e-9)
    assert slopes[:2] == pytest.approx(found[2:], rel=1e-7)
    assert np.isfinite(score)

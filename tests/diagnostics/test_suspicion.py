"""Which links may stand for a hidden common cause: twins of both statistics, level, power, files,
what is not asked.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import linalg, optimize, stats
from scipy.interpolate import BSpline

import causalcontext as cc
from causalcontext.data.moments import Moments
from causalcontext.diagnostics import correlated_errors, hidden_drivers, hidden_node
from causalcontext.diagnostics.correlated_errors import EquationClimb, StraightEquations
from causalcontext.diagnostics.hidden_causes import (
    cubic_spline,
    residual_dependence,
    shape_dependence,
    standard_noise,
)
from causalcontext.diagnostics.hidden_drivers import smoothed_process
from causalcontext.diagnostics.hidden_node import (
    HiddenNode,
    compare_hidden_causes,
    with_hidden_node,
)
from questions import suspicion_of


def table(seed, hidden=1.0, n=1000, noise="standard_normal"):
    """A -> X, B -> Y, a hidden cause of X and Y, or X -> Y in its place; R changes C alone."""
    rng = np.random.default_rng(seed)
    a, b, x, y, c, common = getattr(rng, noise)(size=(6, n))
    x = x + 1.2 * a + hidden * common
    y = y + 1.2 * b + hidden * common + (0.0 if hidden else x)
    r = (a + 0.5 * rng.standard_normal(n) > np.median(a)).astype(int)
    return pd.DataFrame(
        {"A": a, "B": b, "X": x, "Y": y, "C": c + np.where(r == 1, 1.0, -0.5) * b, "R": r}
    )


def rank_functions(residual):
    """Legendre polynomials of the ranks, written out."""
    n = len(residual)
    place = (
        np.array([(residual < value).sum() + 0.5 * (residual == value).sum() for value in residual])
        / n
        * 2
        - 1
    )
    found = np.column_stack(
        [
            place,
            1.5 * place**2 - 0.5,
            2.5 * place**3 - 1.5 * place,
            (35 * place**4 - 30 * place**2 + 3) / 8,
        ]
    )
    return found - found.mean(axis=0)


def naive_dependence(of_cause, of_effect, design):
    """The statistic, entry by entry, with the inverse of a Kronecker product in the directions that
    are left.
    """
    n = len(of_cause)
    whole, g = rank_functions(of_cause)[:, :3], rank_functions(of_effect)
    f = whole - design @ np.linalg.pinv(design) @ whole
    _, lengths, axes = np.linalg.svd(f / np.sqrt(n), full_matrices=False)
    f = np.column_stack(
        [
            f @ axis
            for axis, length in zip(axes, lengths, strict=True)
            if length**2 > 0.1 * np.mean([np.sum(one**2) / n for one in whole.T])
        ]
    )
    return naive_p_value(f, g)


def naive_p_value(f, g):
    n = len(f)
    columns = product(range(f.shape[1]), range(g.shape[1]))
    products = np.array([np.sum(f[:, a] * g[:, b]) / np.sqrt(n) for a, b in columns])
    covariance = np.kron(f.T @ f / n, g.T @ g / n)
    return stats.chi2.sf(products @ np.linalg.solve(covariance, products), len(products))


@pytest.mark.parametrize("seed", range(3))
def test_the_dependence_of_residuals_is_that_of_a_naive_twin(seed):
    rng = np.random.default_rng(seed)
    cause, effect = rng.exponential(size=(2, 80))
    design = np.column_stack([np.ones(80), cause + rng.standard_normal(80)])
    assert residual_dependence(cause, effect, design) == pytest.approx(
        naive_dependence(cause, effect, design)
    )
    curves = np.column_stack([np.ones(80), *cubic_spline(cause + 0.5 * rng.standard_normal(80))])
    assert residual_dependence(cause, effect, curves) == pytest.approx(
        naive_dependence(cause, effect, curves)
    )


def test_a_spline_follows_cubic_pieces_between_quartiles_and_leaves_nothing_of_its_own_variable():
    x = np.random.default_rng(1).standard_normal(200)
    knots = np.quantile(x, [0, 0.25, 0.5, 0.75, 1])
    twin = BSpline.design_matrix(
        x, np.concatenate([[knots[0]] * 3, knots, [knots[-1]] * 3]), 3
    ).toarray()
    design = np.column_stack([np.ones(200), *cubic_spline(x)])
    np.testing.assert_allclose(
        design @ np.linalg.lstsq(design, twin, rcond=None)[0], twin, atol=1e-8
    )
    assert np.isnan(residual_dependence(x, np.random.default_rng(2).standard_normal(200), design))


def confounded(rng, n, hidden):
    """Residuals of a cause and of an effect after straight lines, and the design of the effect."""
    a, x, y, common = rng.exponential(size=(4, n)) - 1.0
    x = x + a + hidden * common
    y = y + x + hidden * common
    own, design = np.column_stack([np.ones(n), a]), np.column_stack([np.ones(n), x])
    left = [z - m @ np.linalg.lstsq(m, z, rcond=None)[0] for m, z in ((own, x), (design, y))]
    return residual_dependence(left[0], left[1], design)


def test_the_dependence_of_residuals_has_its_level_although_slopes_are_fitted_and_sees_a_hidden_cause():
    rng = np.random.default_rng(5)
    level = np.mean([confounded(rng, 300, 0.0) < 0.05 for _ in range(400)])
    assert 0.02 < level < 0.085  # within three standard errors of .05
    assert np.mean([confounded(rng, 300, 1.0) < 0.01 for _ in range(40)]) > 0.6


def test_the_dependence_of_shapes_is_that_of_a_naive_twin_and_ignores_shifts_and_stretches():
    rng = np.random.default_rng(0)
    cause, noise = rng.exponential(size=(2, 200))
    unit = noise / noise.std()
    waves = [(wave, size) for size in (0.7, 1.4, 2.1) for wave in (np.sin, np.cos)]

    def means(shift=0.0, stretch=0.0):
        return np.array(
            [np.mean(wave(size * (unit + shift + stretch * unit))) for wave, size in waves]
        )

    moved = np.stack(
        [(means(1e-5) - means(-1e-5)) / 2e-5, (means(0.0, 1e-5) - means(0.0, -1e-5)) / 2e-5]
    )
    kept = np.column_stack([wave(size * unit) for wave, size in waves]) @ linalg.null_space(moved)
    kept = kept - kept.mean(axis=0)
    lengths, axes = np.linalg.svd(kept, full_matrices=False)[1:]
    kept = kept @ axes[lengths**2 > 0.005 * np.sum(lengths**2)].T
    twin = naive_p_value(rank_functions(cause)[:, :3], kept)
    assert shape_dependence(cause, noise) == pytest.approx(twin, rel=1e-4)
    assert shape_dependence(cause, 7.0 * noise) == pytest.approx(twin, rel=1e-4)
    assert np.isnan(shape_dependence(cause, np.zeros(200)))


def test_the_mean_and_the_spread_of_noise_are_those_of_a_general_optimiser():
    rng = np.random.default_rng(1)
    x = rng.standard_normal(300)
    design = np.column_stack([np.ones(300), x])
    y = 2.0 - x + np.exp(0.4 * x) * rng.standard_normal(300)

    def minus(parameters):
        log_scale = design @ parameters[2:]
        return np.sum(log_scale + 0.5 * ((y - design @ parameters[:2]) * np.exp(-log_scale)) ** 2)

    best = optimize.minimize(minus, np.zeros(4)).x
    twin = (y - design @ best[:2]) * np.exp(-design @ best[2:])
    np.testing.assert_allclose(standard_noise(y, design, design), twin, atol=0.01)


def shapes(rng, n, hidden, uneven=0.0):
    """A cause without causes: all that depends on it may be a curve or a spread, but not another
    shape.
    """
    x, y, common = rng.exponential(size=(3, n)) - 1.0
    x = x + hidden * common
    y = y * np.exp(uneven * x) + x + hidden * common
    design = np.column_stack([np.ones(n), *cubic_spline(x)])
    return shape_dependence(x, standard_noise(y, design, design))


def test_the_dependence_of_shapes_has_its_level_beside_an_uneven_spread_and_sees_a_hidden_cause():
    rng = np.random.default_rng(6)
    for uneven in (0.0, 0.5):
        level = np.mean([shapes(rng, 1000, 0.0, uneven) < 0.05 for _ in range(300)])
        assert 0.02 < level < 0.1  # .06 and more, by the fitted curves
    assert np.mean([shapes(rng, 500, 1.5) < 0.01 for _ in range(40)]) > 0.6


def equations(values, columns):
    p = len(columns)
    codes = np.zeros(len(values), dtype=np.int64)
    may = np.ones((p + 1, p + 1), dtype=bool)
    may[p] = may[:, p] = False
    free = np.append(np.ones(p, dtype=bool), False)
    return StraightEquations(
        Moments.of_rows(values, codes, 1),
        (*columns, frozenset()),
        free,
        may,
        np.zeros_like(may),
        np.zeros((1, p + 1, p + 1), dtype=bool),
        np.ones((p + 1, 1)),
        1.0,
    )


def naive_score(values, causes, children, price):
    """The largest log-likelihood over slopes and a covariance of the errors, by a general
    optimiser, less prices.
    """
    standard = (values - values.mean(axis=0)) / values.std(axis=0)
    n, p = standard.shape
    places = [(effect, cause) for effect, own in enumerate(causes) for cause in own]

    def minus(parameters):
        errors = standard.copy()
        for slope, (effect, cause) in zip(parameters, places, strict=False):
            errors[:, effect] -= slope * standard[:, cause]
        root = np.diag(np.exp(parameters[len(places) : len(places) + p]))
        rest = parameters[len(places) + p :]
        for value, (i, j) in zip(
            rest, [(i, j) for i in children for j in children if i > j], strict=True
        ):
            root[i, j] = value
        covariance = root @ root.T
        inside = np.trace(np.linalg.solve(covariance, errors.T @ errors / n)) - p
        return 0.5 * n * (np.linalg.slogdet(covariance)[1] + inside)

    pairs = len(children) * (len(children) - 1) // 2
    found = optimize.minimize(minus, np.zeros(len(places) + p + pairs), method="BFGS")
    return -found.fun - price * np.log(n) * (len(places) + pairs)


@pytest.mark.parametrize("children", [(), (2, 3)])
def test_the_score_of_correlated_errors_is_that_of_a_general_optimiser(children):
    values = table(3, n=300)[["A", "B", "X", "Y"]].to_numpy()
    causes = [(), (), (0,), (1,)]
    columns = tuple(frozenset((cause, 1) for cause in own) for own in causes)
    ours, _ = EquationClimb(equations(values, columns)).scored(
        (*columns, frozenset()), children, 0.0
    )
    assert ours == pytest.approx(naive_score(values, causes, children, 1.0), abs=0.01)


def test_models_with_a_hidden_cause_gain_where_there_is_one_and_nothing_where_none_can_be_told():
    def gains(names, **options):
        values = table(4, **options)[list(names)].to_numpy()
        return compare_hidden_causes(equations(values, tuple(frozenset() for _ in names))).better

    assert gains("ABXY")[0].children == (2, 3)
    assert not gains("ABXY", hidden=0.0)
    assert not gains("XY")  # two arrows and a hidden cause are equivalent


def hidden_in_contexts(seed, n=1000):
    """A, B, C, then X, Y and Z below one of them each; a hidden cause of X and Y, and of Z in the
    second context.
    """
    rng = np.random.default_rng(seed)
    codes, (a, b, c, x, y, z, common) = rng.integers(2, size=n), rng.standard_normal((7, n))
    x, y, z = a + x + common, b + y + common, c + z + np.where(codes, -1.2 * common, 0.3)
    columns = (
        *[frozenset()] * 3,
        frozenset({(0, 3)}),
        frozenset({(1, 3)}),
        frozenset({(2, 3), (6, 2)}),
    )
    values, free = np.column_stack([a, b, c, x, y, z]), np.append(np.ones(6, dtype=bool), False)
    may = np.outer(free, free) | (np.arange(7)[:, None] == 6)
    given = StraightEquations(
        Moments.of_rows(values, codes, 2),
        (*columns, frozenset()),
        free,
        may,
        np.zeros_like(may),
        np.zeros((2, 7, 7), dtype=bool),
        np.ones((7, 2)),
        1.0,
    )
    return given, (values - values.mean(axis=0)) / values.std(axis=0), codes


def test_the_likelihood_of_a_hidden_node_is_that_of_full_covariances_and_no_step_lowers_it():
    given, values, codes = hidden_in_contexts(1, n=300)
    noise = np.where(np.arange(7)[:, None] == 4, [[1.0, 1.5]], 1.0)
    node = HiddenNode(EquationClimb(with_hidden_node(replace(given, noise=noise))))
    own, whole = node.climb.given.columns, np.column_stack([values, np.zeros(300), np.ones(300)])
    columns = (*own[:3], own[3] | {(6, 3)}, own[4] | {(6, 3)}, own[5] | {(6, 2)}, *own[6:])
    fit, values_on_the_way = node.started(columns), []
    for _ in range(30):
        values_on_the_way.append(node.expect(fit))
        naive = 0.5 * 300 * 3 * (np.log(2 * np.pi) + 1) + np.log(1.5) * (codes == 1).sum()
        for r in (0, 1):
            covariance = np.outer(fit.loading[r], fit.loading[r]) + np.diag(
                fit.left * noise[[3, 4, 5], r] ** 2
            )
            naive += stats.multivariate_normal.logpdf(
                whole[codes == r] @ fit.errors[r].T, np.zeros(3), covariance
            ).sum()
        assert values_on_the_way[-1] == pytest.approx(naive)
        fit = node.fitted(columns, fit.children)
    assert fit.loading[0, 2] == 0.0
    assert (np.diff(values_on_the_way) > -1e-8).all()
    assert values_on_the_way[-1] > values_on_the_way[0] + 1.0


def test_a_hidden_cause_of_a_third_variable_in_one_context_is_found():
    given, _, _ = hidden_in_contexts(2)
    best = compare_hidden_causes(given).better[0]
    assert best.children == (3, 4, 5)
    assert best.columns == given.columns


@pytest.fixture(scope="module")
def results():
    return {hidden: cc.discover(table(1, hidden), "R") for hidden in (0.0, 1.0)}


def named(result):
    result.diagnose()
    edges = result.edges()
    return {
        frozenset(pair)
        for pair in edges.loc[
            edges["hidden cause"].eq("suspected"), ["source", "target"]
        ].to_numpy()
    }


def test_a_hidden_cause_is_named_and_silence_is_no_clearance(results):
    assert frozenset("XY") in named(results[1.0])
    caution = results[1.0].diagnose().about("hidden causes")[0]
    assert "X" in caution.message
    assert "not cleared" in caution.advice
    assert not named(results[0.0])
    note = results[0.0].diagnose().about("hidden causes")[0]
    assert note.severity == 0
    assert "not cleared" in note.advice


def test_saved_results_and_reports_have_the_suspicion(results, tmp_path):
    result = results[1.0]
    result.diagnose()
    result.save(tmp_path / "r.json")
    pd.testing.assert_frame_equal(cc.load(tmp_path / "r.json").edges(), result.edges())
    result.report(tmp_path / "r.html")
    assert (
        '"hidden": "suspected"' in (tmp_path / "r.html").read_text()
        or '"hidden":"suspected"' in (tmp_path / "r.html").read_text()
    )


def test_the_names_of_columns_and_the_units_do_not_matter(results):
    other = table(1)[["Y", "R", "C", "X", "B", "A"]] * {
        "Y": 1e3,
        "R": 1,
        "C": 1,
        "X": -1e-3,
        "B": 5,
        "A": 1,
    }
    assert named(cc.discover(other, "R")) == named(results[1.0])


def test_other_noise_is_asked_by_residuals_and_columns_that_are_no_numbers_are_not_asked():
    with_groups = table(2, noise="exponential").assign(K=lambda t: np.where(t["X"] > 1, "u", "v"))
    result = cc.discover(with_groups, "R", keep=["K"])
    assert set(result.edges()["hidden cause"]) == {"not asked"}
    result.diagnose()
    found = result.edges().to_dict("records")
    words = {frozenset((row["source"], row["target"])): row["hidden cause"] for row in found}
    assert words[frozenset("XY")] == "suspected"
    assert {word for pair, word in words.items() if "K" in pair} <= {"not asked"}
    assert "categories" in " ".join(
        finding.message for finding in result.diagnose().about("hidden causes")
    )


def bent_table(seed, hidden, spread=0.0, noise="standard_normal", n=600):
    """A -> X and B -> Y along curves, a hidden cause of X and Y or none, X -> Y; the noise of Y
    grows with B.

    With exponential noise the curve of A has an angle: the search takes a saturation for a line,
    and what a line does not follow looks like a hidden cause.
    """
    rng = np.random.default_rng(seed)
    a, b, x, y, common = getattr(rng, noise)(size=(5, n)) - (noise == "standard_exponential")
    x = (
        x
        + 1.5 * (np.tanh(2 * a) if noise == "standard_normal" else np.abs(a))
        + hidden * (common**2 - 1)
    )
    y = y * np.exp(spread * b) + 1.5 * np.abs(b) + x + hidden * common
    return pd.DataFrame({"A": a, "B": b, "X": x, "Y": y})


def test_a_hidden_cause_is_seen_beside_curves_and_an_uneven_spread_is_not_taken_for_one():
    assert frozenset("XY") in named(cc.discover(bent_table(1, 1.0), method="score-ac"))
    result = cc.discover(bent_table(1, 0.0, 0.5), method="score-ac")
    result.diagnose()
    found = result.edges().to_dict("records")
    words = {frozenset((row["source"], row["target"])): row["hidden cause"] for row in found}
    assert words[frozenset("XY")] == words[frozenset("BY")] == "not seen"


def test_beside_other_noise_a_curve_of_a_cause_without_causes_explains_all_that_depends_on_it():
    result = cc.discover(bent_table(1, 0.0, noise="standard_exponential"), method="score-ac")
    assert ("B", "Y") not in suspicion_of(result).asked
    assert "a curve or an uneven spread would explain" in str(result.diagnose())


def test_a_hidden_cause_that_is_taken_for_an_uneven_spread_is_seen():
    """X has no causes, so that every dependence may be one of mean and spread, but for the shape of
    the noise.
    """
    rng = np.random.default_rng(3)
    a, x, y, z, common = rng.exponential(size=(5, 1000))
    x, y = x + 1.5 * common, a + y + 1.5 * common
    result = cc.discover(pd.DataFrame({"A": a, "X": x, "Y": y, "Z": x + z}), method="score-ac")
    assert any(equation.spread for equation in result.evidence.mechanisms.equations)
    assert named(result) == {frozenset("XY")}


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["standard_normal", "standard_exponential"])
@pytest.mark.parametrize("spread", [0.0, 0.4])
def test_level_and_power_beside_curves(noise, spread):
    clean = [
        cc.discover(bent_table(100 + s, 0.0, spread, noise), method="score-ac") for s in range(30)
    ]
    assert (
        sum(bool(suspicion_of(one).suspected) for one in clean) <= 3
    )  # at most three or four links a table at .005
    if spread == 0.0:
        hidden = [
            cc.discover(bent_table(200 + s, 1.0, 0.0, noise), method="score-ac") for s in range(20)
        ]
        assert sum(frozenset("XY") in named(one) for one in hidden) >= 10


def test_a_link_that_turns_round_takes_the_place_of_what_it_did_in_some_contexts():
    """Three columns of one cause in two contexts were tied, and scored 4e20."""
    values = table(4)[["A", "B", "X", "Y"]].to_numpy()
    codes = np.arange(len(values)) % 2
    base = equations(values, [frozenset()] * 4)
    columns = (frozenset({(2, 1)}), frozenset(), frozenset({(0, 2)}), frozenset(), frozenset())
    given = replace(
        base,
        moments=Moments.of_rows(values, codes, 2),
        noise=np.ones((5, 2)),
        columns=columns,
        links=np.zeros((2, 5, 5), dtype=bool),
    )
    climb = EquationClimb(given)
    for _, changed in climb.moves(given.columns, None, climb.nodes):
        for _, columns in changed:
            masks = [[mask for cause, mask in columns if cause == one] for one in range(5)]
            assert all(sum(own) <= 3 for own in masks)  # no context twice


def test_instruments_show_a_hidden_cause_beside_a_link():
    """Z1, Z2 and Z3 act on X alone, which acts on Y; a search without hidden causes links all of
    them with Y.
    """
    rng = np.random.default_rng(2)
    z, common = rng.standard_normal((1000, 3)), rng.standard_normal(1000)
    x = z @ [1.0, 0.9, -0.8] + 1.2 * common + rng.standard_normal(1000)
    y = x - 1.2 * common + rng.standard_normal(1000)
    into = [frozenset((i, 1) for i in range(causes)) for causes in (0, 0, 0, 3, 4)]
    found = compare_hidden_causes(equations(np.column_stack([z, x, y]), into))
    assert found.better[0].children == (3, 4)
    assert found.better[0].columns[4] == {(3, 1)}


def test_curves_over_time_are_not_asked_and_a_sentence_says_so():
    given = series(3, hidden=False, n=300)
    bent = given.assign(X=given["X"] + 0.8 * given["A"].shift(1, fill_value=0.0) ** 2)
    result = cc.discover(bent, lags=1, method="score-ac")
    assert result.evidence.curved
    assert set(result.edges()["hidden cause"]) <= {"not asked"}
    assert "with lags" in result.diagnose().about("hidden causes")[0].message


def test_links_that_no_model_is_compared_for_are_not_called_asked():
    """With several contexts an equation that changes with one of them is not climbed anew."""
    random = np.random.default_rng(4)
    r, s = random.integers(2, size=(2, 600))
    x = 2.0 * r + random.normal(size=600)
    rows = pd.DataFrame({"R": r, "S": s, "X": x, "Y": x + 2.0 * s + random.normal(size=600)})
    found = suspicion_of(cc.discover(rows, ["R", "S"], method="score-ac"))
    assert ("X", "Y") not in found.asked
    assert "change with one of several contexts" in found.why_not


def test_a_count_may_cause_a_number():
    random = np.random.default_rng(0)
    given = table(1, n=400)
    count = random.poisson(3.0, len(given))
    found = cc.discover(
        given.assign(N=count, Y=given["Y"] + count), "R", method="score-ac", kinds={"N": "count"}
    )
    assert found.union.mark("N", "Y") == "-->"
    words = {
        frozenset((row["source"], row["target"])): row["hidden cause"]
        for row in found.edges().to_dict("records")
    }
    assert words[frozenset("NY")] == "not asked"


def test_a_variable_that_others_determine_is_tied_to_no_other_error():
    random = np.random.default_rng(3)
    for _ in range(30):
        a, b = random.normal(size=(2, 50))
        values = np.column_stack([a, b, a + b, 1e3 * a - b])
        causes = frozenset({(0, 1), (1, 1)})
        climb = EquationClimb(equations(values, [frozenset(), frozenset(), causes, causes]))
        assert climb.scored(climb.given.columns, (2, 3), 0.3)[0] == -np.inf


def series(seed, hidden=True, n=500, context=False):
    """A and B drive X and Y, which a hidden process with memory drives, too; or X drives Y in its
    place.
    """
    rng = np.random.default_rng(seed)
    values, memory, r = np.zeros((n + 100, 4)), 0.0, 0
    regimes = np.zeros(n + 100, dtype=int)
    for t in range(1, n + 100):
        memory = 0.9 * memory + rng.standard_normal()
        a, b, x, y = 0.6 * values[t - 1] + rng.standard_normal(4)
        x += 0.5 * values[t - 1, 0] + (0.6 * memory if hidden else 0.0)
        y += 0.5 * values[t - 1, 1] + (0.6 * memory if hidden else 0.5 * values[t - 1, 2])
        r = int(0.5 * a + 1.5 * r + rng.standard_normal() > 0.75)
        values[t], regimes[t] = (a, b + (0.5 * values[t - 1, 0] if context and r else 0.0), x, y), r
    table = pd.DataFrame(values[100:], columns=list("ABXY"))
    return table.assign(R=regimes[100:]) if context else table


def between(suspicion, first, second):
    """Suspected links between two columns, at any lags."""
    return [
        pair
        for pair in suspicion.suspected
        if {first, second} == {name.split("(")[0] for name in pair}
    ]


@pytest.mark.parametrize(
    ("memory", "loading"), [(0.8, [0.7, -0.4]), (0.0, [0.9, 0.5, 0.3]), (-0.5, [0.2, 1.5])]
)
def test_the_smoothed_process_is_that_of_the_joint_distribution(memory, loading):
    rng, rows, loading = np.random.default_rng(1), 60, np.array(loading)
    left, errors = rng.uniform(0.5, 2.0, len(loading)), rng.standard_normal((len(loading), 60))
    ours = smoothed_process(errors, loading, left, memory, 1.0 - memory**2)
    spread = 1.0  # a filter that runs until it stands still
    for _ in range(2000):
        spread = memory**2 / (1.0 / spread + (loading**2 / left).sum()) + 1.0 - memory**2
    covariance = np.zeros((rows, rows))
    covariance[0, 0] = spread
    for t in range(1, rows):
        covariance[t, :t] = covariance[:t, t] = memory * covariance[t - 1, :t]
        covariance[t, t] = memory**2 * covariance[t - 1, t - 1] + 1.0 - memory**2
    joint = np.kron(np.outer(loading, loading), covariance) + np.kron(np.diag(left), np.eye(rows))
    towards = np.kron(loading, covariance)
    flat = errors.reshape(-1)
    density = stats.multivariate_normal.logpdf(flat, cov=joint) + 0.5 * flat.size * np.log(
        2.0 * np.pi
    )
    assert ours.likelihood == pytest.approx(density)
    np.testing.assert_allclose(ours.mean, towards @ np.linalg.solve(joint, flat), atol=1e-9)
    known = covariance - towards @ np.linalg.solve(joint, towards.T)
    assert ours.variance == pytest.approx(known[30, 30])
    assert ours.neighbours == pytest.approx(known[30, 31], abs=1e-9)


@pytest.mark.parametrize("context", [False, True])
def test_a_hidden_process_is_suspected_behind_the_links_that_it_makes(context):
    result = cc.discover(series(1, context=context), "R" if context else None, lags=2)
    assert between(suspicion_of(result), "X", "Y")
    true = {("A(t-1)", "X"), ("B(t-1)", "Y"), *((name, f"{name}(t-1)") for name in "ABXY")}
    assert not true & set(suspicion_of(result).suspected)
    edges = result.edges()
    word = edges.set_index(["source", "target"])["hidden cause"]
    assert word["A(t-1)", "X"] == "not seen"
    assert "suspected" in set(word)
    finding = result.diagnose().about("hidden causes")[0]
    assert "X" in str(finding)
    assert "too few lags" in str(finding)


@pytest.mark.parametrize("context", [False, True])
def test_a_true_lagged_link_is_not_suspected(context):
    result = cc.discover(series(2, hidden=False, context=context), "R" if context else None, lags=2)
    assert ("X(t-1)", "Y") in suspicion_of(result).asked
    assert not suspicion_of(result).suspected


def test_a_search_by_tests_with_lags_is_asked_as_well():
    result = cc.discover(series(1), method="pc-ac", lags=2)
    assert between(suspicion_of(result), "X", "Y")
    assert "hidden common cause may stand behind" in str(
        result.diagnose().about("hidden causes")[0]
    )


def test_a_pag_over_time_is_not_asked():
    result = cc.discover(series(1), method="fci-ac", lags=2)
    assert not suspicion_of(result).asked
    assert not result.diagnose().about("hidden causes")


def test_a_saved_result_with_lags_keeps_its_suspicion(tmp_path):
    result = cc.discover(series(1), lags=2)
    result.diagnose()
    result.save(tmp_path / "r.json")
    assert suspicion_of(cc.load(tmp_path / "r.json")) == suspicion_of(result)


@pytest.mark.slow
@pytest.mark.parametrize("context", [False, True])
def test_level_and_power_over_time(context):
    key, names = ("R" if context else None), range(20)
    clean = [
        suspicion_of(cc.discover(series(100 + s, False, 300, context), key, lags=2)) for s in names
    ]
    driven = [
        suspicion_of(cc.discover(series(200 + s, True, 300, context), key, lags=2)) for s in names
    ]
    assert sum(bool(one.suspected) for one in clean) <= 2
    assert sum(bool(between(one, "X", "Y")) for one in driven) >= 12


def test_over_time_many_contexts_are_not_compared(monkeypatch):
    """Nine columns in 16 contexts took more than a minute."""
    monkeypatch.setattr("causalcontext.diagnostics.hidden_drivers.MOST_DRIVER_PRODUCTS", 0)
    result = cc.discover(series(1), method="pc-ac", lags=2)
    assert "combinations of contexts are not compared" in suspicion_of(result).why_not


def dense_series():
    """Ten columns that a common cause links with each other, in three contexts; and their links."""
    rng = np.random.default_rng(3)
    values = rng.standard_normal((180, 10)) + rng.standard_normal((180, 1))
    table = pd.DataFrame(values, columns=[f"V{j}" for j in range(10)]).assign(R=np.arange(180) % 3)
    return cc.discover(table, "R", method="pc-m", lags=1, max_given=0)


def test_over_time_equations_without_the_hidden_process_are_fitted_once(monkeypatch):
    """A dense table took two minutes and far more than 100,000 regressions."""
    fits, solved = [], correlated_errors._solved
    result = dense_series()
    monkeypatch.setattr(
        correlated_errors, "_solved", lambda gram, right: fits.append(0) or solved(gram, right)
    )
    assert len(suspicion_of(result).asked) == result.union.adjacency.sum() / 2
    assert len(fits) < 20_000


def test_over_time_a_dense_table_is_asked_in_part(monkeypatch):
    """The first pairs of columns alone are asked, and the finding says so."""
    monkeypatch.setattr(hidden_drivers, "MOST_COMPARISON_WORK", 10_000)
    result = dense_series()
    assert 0 < len(suspicion_of(result).asked) < result.union.adjacency.sum() / 2
    assert "least correlated, were not asked" in suspicion_of(result).why_not
    assert "least correlated, were not asked" in str(result.diagnose())


def test_links_of_a_dense_table_are_asked_in_part(monkeypatch):
    """All of them would take too long, and the finding says so."""
    monkeypatch.setattr(hidden_node, "MOST_COMPARISON_WORK", 1000)
    result = cc.discover(table(1), "R", method="score-ac")
    whole = cc.discover(table(1), "R", method="score-ac", time_limit=None)
    assert "were not asked" in str(result.diagnose())
    monkeypatch.undo()
    assert "were not asked" not in str(whole.diagnose())
    assert set(suspicion_of(result).asked) < set(suspicion_of(whole).asked)

"""Pictures of graphs with lags: nothing cut off, no lag without a link, and links that can be
followed one by one.
"""

from itertools import combinations

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot

import causalcontext as cc
from causalcontext.drawing.paint import label_of, label_place
from causalcontext.drawing.plot import result_picture
from causalcontext.drawing.strokes import context_panel, union_panel
from causalcontext.drawing.time_layout import lagged_lines, result_layout, sorted_rows
from causalcontext.graphs.lag_names import split
from causalcontext_lab.simulate import SeriesDesign, random_series_model

matplotlib.use("Agg")
DESIGNS = [(3, 1, 1), (5, 2, 2), (5, 3, 3), (7, 2, 4), (7, 3, 5), (7, 2, 6)]
LONG_NAMES = {"X1": "sea surface temperature anomaly", "X2": "precipitation_flux_total"}


def series(variables, lags, seed):
    return random_series_model(SeriesDesign(variables, lags=lags), seed).sample(800, seed)


def with_forcing():
    table = series(5, 1, 8)
    forcing = np.random.default_rng(0).normal(size=len(table))
    table = table.assign(X1=table["X1"] + 0.8 * forcing, forcing=forcing).rename(columns=LONG_NAMES)
    values = np.array(["energy-limited", "water-limited"])[table["R"]]
    return cc.discover(
        table.assign(R=values), context="R", lags=2, covariates=["forcing"], method="score-ac"
    )


@pytest.fixture(scope="module")
def results():
    found = [
        cc.discover(series(*design), context="R", lags=design[1], method="score-ac")
        for design in DESIGNS
    ]
    found += [
        cc.discover(series(7, 2, seed), context="R", lags=2, method="pc-ac", alpha=0.2)
        for seed in (4, 11)
    ]
    return [
        *found,
        cc.discover(series(5, 1, 9).drop(columns="R"), lags=2, method="score-ac"),
        with_forcing(),
    ]


def along(route, steps=24):
    """Points on a route, densely enough for distances between routes."""
    share = np.linspace(0, 1, steps)[:, None]
    pieces = [route[place : place + 4] for place in range(0, len(route) - 1, 3)]
    return np.concatenate(
        [
            (1 - share) ** 3 * a
            + 3 * (1 - share) ** 2 * share * b
            + 3 * (1 - share) * share**2 * c
            + share**3 * d
            for a, b, c, d in pieces
        ]
    )


def test_all_boxes_links_and_labels_are_inside_and_boxes_apart(results):
    for result in results:
        found = result_layout(result)
        shown = found.size.all(axis=1)
        low, high = (found.centre - found.size / 2)[shown], (found.centre + found.size / 2)[shown]
        apart = (low[:, None] >= high[None]).any(axis=2) | (high[:, None] <= low[None]).any(axis=2)
        assert (apart | np.eye(shown.sum(), dtype=bool)).all()
        corners = [low.min(axis=0), high.max(axis=0), *found.routes.values()]
        assert (np.vstack(corners) >= 0).all()
        assert (np.vstack(corners) <= [found.width, found.height]).all()


def test_labels_are_whole_inside_and_on_no_box(results):
    labels = 0
    for result in results:
        found = result_layout(result)
        taken = [(*centre, *size) for centre, size in zip(found.centre, found.size, strict=True)]
        for stroke in union_panel(result).strokes:
            if words := label_of(stroke):
                x, y, wide, high = label_place(found.routes[stroke.pair], words, taken)
                labels += 1
                assert "…" not in words
                assert x - wide / 2 >= 0
                assert x + wide / 2 <= found.width
                assert all(
                    abs(x - a) >= (wide + c) / 2 or abs(y - b) >= (high + d) / 2
                    for a, b, c, d in taken
                )
                taken.append((x, y, wide, high))
    assert labels > 3


def test_every_lag_that_is_shown_has_a_link(results):
    left_out = 0
    for result in results:
        found = result_layout(result)
        lags = np.array([split(name)[1] for name in result.names])
        linked = {0, *lags[result.union.adjacency.any(axis=1)].tolist()}
        assert set(lags[found.size.all(axis=1)].tolist()) == linked
        assert set(lags[~found.size.any(axis=1)].tolist()).isdisjoint(linked)
        left_out += len(linked) < lags.max() + 1
    assert left_out


def test_links_end_apart_at_the_sides_of_their_boxes(results):
    for result in results:
        found = result_layout(result)
        ends = []
        for (i, j), route in found.routes.items():
            for box, point in ((i, route[0]), (j, route[-1])):
                assert abs(point[0] - found.centre[box, 0]) == pytest.approx(found.size[box, 0] / 2)
                assert abs(point[1] - found.centre[box, 1]) < found.size[box, 1] / 2
                ends.append(point)
        for one, other in combinations(ends, 2):
            assert np.abs(one - other).max() >= 0.8


def test_links_do_not_run_on_top_of_each_other(results):
    for result in results:
        lines = [along(route) for route in result_layout(result).routes.values()]
        for one, other in combinations(lines, 2):
            near = np.linalg.norm(one[:, None] - other[None], axis=2).min(axis=1) < 0.3
            assert near.mean() < 0.2


def test_links_pass_no_box(results):
    for result in results:
        found = result_layout(result)
        for (i, j), route in found.routes.items():
            line = along(route)[1:-1]
            for box in set(range(len(found.centre))) - {i, j}:
                inside = (np.abs(line - found.centre[box]) < found.size[box] / 2 - 1e-9).all(axis=1)
                assert not inside.any(), (result.names[i], result.names[j], result.names[box])


def test_a_variable_keeps_its_row(results):
    for result in results:
        found = result_layout(result)
        rows = {
            split(name)[0]: found.centre[result.names.index(split(name)[0]), 1]
            for name in result.names
        }
        for place, name in enumerate(result.names):
            if found.size[place].all():
                assert found.centre[place, 1] == rows[split(name)[0]]


def test_long_names_and_their_lags_are_written_whole():
    names = ["sea surface temperature anomaly(t-2)", "precipitation_flux_total"]
    assert lagged_lines(names) == (
        ("sea surface", "temperature", "anomaly(t-2)"),
        ("precipitation_", "flux_total"),
    )


def test_names_that_are_cut_to_the_same_text_differ():
    names = [f"{'a' * 60}{ending}(t-{lag})" for lag in (2, 1) for ending in "xy"]
    assert len(set(lagged_lines(names))) == 4


def test_rows_are_sorted_so_that_links_are_short():
    random = np.random.default_rng(0)
    for _ in range(20):
        links = random.integers(7, size=(12, 2))
        row = sorted_rows(7, [(int(a), int(b)) for a, b in links])
        assert sorted(row.tolist()) == list(range(7))
        assert (
            np.abs(row[links[:, 0]] - row[links[:, 1]]).sum()
            <= np.abs(links[:, 0] - links[:, 1]).sum()
        )


def test_rows_stay_in_order_without_links():
    assert sorted_rows(4, [(1, 1)]).tolist() == [0, 1, 2, 3]


def test_the_summary_has_own_lags_on_a_line_of_their_own():
    table = series(4, 1, 9).rename(columns=LONG_NAMES)
    result = cc.discover(table, context="R", lags=1, method="score-ac")
    lines = result_picture(result, "summary").layout.lines
    assert ("sea surface", "temperature", "anomaly", "own lag 1") in lines


def test_nothing_of_a_lag_that_is_left_out_is_painted(tmp_path):
    result = cc.discover(
        cc.examples.land_surface(1500, seed=1), context="regime", lags=2, method="score-ac"
    )
    (axes,) = result.plot("union", path=tmp_path / "union.svg")
    texts = {text.get_text() for text in axes.texts}
    assert {"rain(t-1)", "rain", "energy-limited", "water-limited"} <= texts
    assert not any("(t-2)" in text for text in texts)
    pyplot.close("all")


def test_several_contexts_are_named_by_their_values():
    table = series(4, 1, 9).assign(S=np.random.default_rng(0).choice(["cold", "warm"], 800))
    result = cc.discover(table, context=["R", "S"], lags=1, method="pc-ac", alpha=0.2)
    labels = {stroke.label for stroke in union_panel(result).strokes}
    assert any(
        "0, cold" in label or "1, warm" in label or "0, warm" in label or "1, cold" in label
        for label in labels
    )
    assert not any("(" in label for label in labels)


def test_titles_of_several_contexts_say_what_a_threshold_says_about_its_column():
    table = cc.examples.flux_tower(15, seed=1)[["daylight", "Rg", "VPD", "GPP"]]
    result = cc.discover(
        table, context=["daylight", cc.threshold("VPD", 1.0)], lags=1, method="pc-ac", alpha=0.01
    )
    titles = [context_panel(result, value).title.split("   ")[0] for value in result.contexts]
    assert titles == [
        f"daylight = {light}, VPD {air} 1" for light in ("day", "night") for air in ("<=", ">")
    ]
    panels = result.plot("time-series")
    assert len({panel.get_position().y0 for panel in panels[:4]}) == 2
    pyplot.close("all")

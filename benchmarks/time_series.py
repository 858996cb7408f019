"""score-ac and pc-ac with lags on random systems in time, against the truth; PCMCI+ beside them if
it is installed.

Systems are those of `simulate.random_series_model`: 6 variables, 2 lags, a context of 2 values
caused by the system, two variables that lose a link or turn its sign in one context. Rates are over
the links of the window graphs of all contexts: lagged ones by (source, lag, target) without a
variable's own past, contemporaneous ones without direction. A change is a link that only one
context has, or whose slope turns its sign. pc-ac, pc-m and pc-p (`--methods`) run at alpha .01, as
does PCMCI+ with partial correlation: on all rows, and on the rows of each value of R(t) and of
R(t-1); J-PCMCI+ takes R for an observed context that nothing causes, which it is not here.
`--resampling` asks how many false links are found in samples of the windows.
"""

from __future__ import annotations

import argparse
import importlib.util
import resource
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

import causalcontext as cc
from causalcontext.examples import land_surface_model
from causalcontext.graphs.lag_names import at
from causalcontext.progress import Watch, nobody
from causalcontext.score.options import ScoreOptions
from causalcontext.search.lagged.algorithm import LEVEL
from causalcontext.timeseries.scored import score_windows
from causalcontext.timeseries.windows import SeriesWindows, half_of_blocks
from causalcontext_lab.simulate import SeriesDesign, SeriesModel, random_series_model
from measuring import machine, markdown_table


@dataclass(frozen=True)
class Cell:
    """A row of the table: what is drawn, how many times, and what is asked for."""

    name: str
    design: SeriesDesign
    rows: int
    target: str = ""
    reads: tuple[int, ...] = ()
    """Only systems whose changing variables depend on the context at just these lags."""


TESTED = ("pc-ac", "pc-m", "pc-p")
MIDDLE = SeriesDesign(autocorrelation=0.6)
HARD = SeriesDesign(variables=8, lags=3, autocorrelation=0.9, coefficients=(0.15, 0.35), changes=3)
CELLS = {
    "acceptance": [
        Cell("a .3", SeriesDesign(autocorrelation=0.3), 500, ".97/.004 .97/.006 .83/.6 .87/.03"),
        Cell(
            "a .3", SeriesDesign(autocorrelation=0.3), 1000, "1.00/.0002 1.00/.001 .98/.05 .99/.000"
        ),
        Cell("a .6", MIDDLE, 1000, ".995/.001 .99/.003 .95/.1 .97/.01"),
        Cell("a .9", SeriesDesign(autocorrelation=0.9), 500, ".98/.003 .98/.004 .87/.3 .95/.01"),
        Cell(
            "weak",
            replace(MIDDLE, coefficients=(0.1, 0.3)),
            1000,
            ".82/.005 .75/.005 .35/.15 .43/.01",
        ),
        Cell("hard", HARD, 1000, ".98/.002 .95/.003 .80/.25 .90/.01"),
        Cell("no change", replace(MIDDLE, changes=0), 1000, ".99/.001 .99/.003 -/.05 -/.01"),
    ],
    "inside": [
        Cell("a .9", SeriesDesign(autocorrelation=0.9), 1000),
        Cell("lagged cause of R", replace(MIDDLE, into_context="lagged"), 1000),
        Cell("persistent", replace(MIDDLE, persistence=2.0), 1000),
        Cell("three contexts", replace(MIDDLE, contexts=3), 1000),
        Cell("shift", replace(MIDDLE, shift=True), 1000),
    ],
    "copies": [
        Cell(
            f"a {level}, {name}",
            SeriesDesign(autocorrelation=level),
            1000,
            "1.00/.001 1.00/.006 .95/.25",
            reads,
        )
        for level in (0.3, 0.9)
        for name, reads in (("R(t)", (0,)), ("R(t-1)", (1,)), ("both", (0, 1)))
    ],
    "outside": [
        Cell("t4 noise", replace(MIDDLE, noise="t4"), 1000),
        Cell("exponential noise", replace(MIDDLE, noise="exponential"), 1000),
        Cell("tanh links", replace(MIDDLE, bend="tanh"), 1000),
        Cell("quadratic links", replace(MIDDLE, bend="quadratic"), 1000),
    ],
}


@dataclass(frozen=True, eq=False)
class Found:
    """Links by context, shape (K, L + 1, d, d) as [context, lag, cause, effect]; directions; signs;
    links at R.
    """

    links: np.ndarray
    signs: np.ndarray
    directed: np.ndarray
    children: np.ndarray
    copies: np.ndarray
    parents: np.ndarray
    alarm: bool | None = None


def true_links(model: SeriesModel) -> Found:
    """What the system is made of."""
    slopes = model.slopes.transpose(0, 2, 3, 1)
    return Found(
        slopes != 0,
        np.sign(slopes),
        slopes != 0,
        model.reads >= 0,
        model.reads,
        model.into_context != 0,
    )


def ours(table: pd.DataFrame, model: SeriesModel, lags: int, **options: Any) -> Found:
    """score-ac with lags, unless another method is named."""
    result = cc.discover(
        table, context=model.context, lags=lags, **({"method": "score-ac"} | options)
    )
    d, k, names = len(model.names), len(model.labels), model.names
    links = np.zeros((k, lags + 1, d, d), dtype=bool)
    signs, directed = np.zeros(links.shape), np.zeros(links.shape, dtype=bool)
    slopes = {(row.source, row.target, row.context): row.slope for row in result.series.slopes}
    for r, value in enumerate(model.labels):
        graph = result.graphs[value]
        for lag in range(lags + 1):
            for i, cause in enumerate(names):
                for j, effect in enumerate(names):
                    mark = graph.mark(at(cause, lag), effect) if lag or i != j else ""
                    links[r, lag, i, j] = mark != ""
                    directed[r, lag, i, j] = mark == "-->"
                    slope = slopes.get(
                        (at(cause, lag), effect, value),
                        slopes.get((at(effect, lag), cause, value), 0.0),
                    )
                    signs[r, lag, i, j] = np.sign(slope) if mark else 0.0
    copies = np.array(
        [
            (
                -1
                if (copy := result.reads[name]) is None
                else copy[1]
                if isinstance(copy[1], int)
                else -2
            )
            for name in names
        ]
    )
    first = result.graphs[model.labels[0]]
    parents = np.array(
        [
            [first.mark(at(name, lag), model.context) == "-->" for name in names]
            for lag in range(lags + 1)
        ]
    )
    return Found(
        links,
        signs,
        directed,
        copies != -1,
        copies,
        parents,
        None if result.series.beyond_lags is None else result.series.beyond_lags <= LEVEL,
    )


def choice(method: str) -> dict[str, Any]:
    """A method of ours; those that test at the level of PCMCI+."""
    return {"method": method} | ({"alpha": 0.01} if method in TESTED else {})


def by(method: str) -> Callable[..., Found]:
    """score-ac, pc-ac, pc-m or pc-p with lags."""

    def run(table: pd.DataFrame, model: SeriesModel, lags: int, **options: Any) -> Found:
        return ours(table, model, lags, **options, **choice(method))

    return run


def pcmci(mask: int | None) -> Callable[[pd.DataFrame, SeriesModel, int], Found]:
    """PCMCI+ of tigramite: on all rows, or on those of each value of R so many steps ago."""

    def run(table: pd.DataFrame, model: SeriesModel, lags: int) -> Found:
        from tigramite import data_processing
        from tigramite.independence_tests.parcorr import ParCorr
        from tigramite.pcmci import PCMCI

        values, codes = _values_and_codes(table, model)
        found = []
        for r in range(1 if mask is None else len(model.labels)):
            if mask is None:
                frame, test = data_processing.DataFrame(values), ParCorr()
            else:
                other = np.concatenate([np.ones(mask, dtype=bool), codes[: len(codes) - mask] != r])
                hidden = np.repeat(other[:, None], values.shape[1], axis=1)
                frame, test = data_processing.DataFrame(values, mask=hidden), ParCorr(mask_type="y")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                search = PCMCI(dataframe=frame, cond_ind_test=test, verbosity=0)
                found.append(search.run_pcmciplus(tau_max=lags, pc_alpha=0.01))
        return _of_tigramite(found, model, lags)

    return run


def jpcmci(table: pd.DataFrame, model: SeriesModel, lags: int) -> Found:
    """J-PCMCI+ of tigramite, R being a context of time that was observed."""
    from tigramite import data_processing
    from tigramite.independence_tests.parcorr import ParCorr
    from tigramite.jpcmciplus import JPCMCIplus

    values, codes = _values_and_codes(table, model)
    d = values.shape[1]
    nodes = dict.fromkeys(range(d), "system") | {d: "time_context"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wide = {0: np.column_stack([values, codes.astype(float)])}
        frame = data_processing.DataFrame(wide, analysis_mode="multiple")
        search = JPCMCIplus(
            dataframe=frame, cond_ind_test=ParCorr(), node_classification=nodes, verbosity=0
        )
        found = search.run_jpcmciplus(tau_min=0, tau_max=lags, pc_alpha=0.01)
    children = (found["graph"][d, :d] == "-->").any(axis=1)
    system = {"graph": found["graph"][:d, :d], "val_matrix": found["val_matrix"][:d, :d]}
    return replace(_of_tigramite([system], model, lags), children=children)


PEERS: dict[str, Callable[..., Found]] = {
    "PCMCI+ on all rows": pcmci(None),
    "PCMCI+ inside each R(t)": pcmci(0),
    "PCMCI+ inside each R(t-1)": pcmci(1),
    "J-PCMCI+": jpcmci,
}


def _values_and_codes(table: pd.DataFrame, model: SeriesModel) -> tuple[np.ndarray, np.ndarray]:
    codes = table[model.context].map({label: r for r, label in enumerate(model.labels)})
    return table[list(model.names)].to_numpy(), codes.to_numpy()


def _of_tigramite(results: Sequence[dict[str, np.ndarray]], model: SeriesModel, lags: int) -> Found:
    """The arrays of one search for all contexts, or of one for each."""
    d, k = len(model.names), len(model.labels)
    chosen = list(results) * (k if len(results) == 1 else 1)
    marks = np.stack([one["graph"].transpose(2, 0, 1) for one in chosen])
    signs = np.stack([np.sign(one["val_matrix"].transpose(2, 0, 1)) for one in chosen])
    none = np.zeros(d, dtype=bool)
    return Found(
        marks != "",
        np.where(marks != "", signs, 0.0),
        marks == "-->",
        none,
        np.full(d, -1),
        np.zeros((lags + 1, d), dtype=bool),
    )


def counts(truth: Found, found: Found) -> dict[str, np.ndarray]:
    """(hits, true ones, false ones, absent ones) by kind of link."""
    d = truth.links.shape[2]
    other = ~np.eye(d, dtype=bool)
    upper = np.triu(np.ones((d, d), dtype=bool), 1)
    now = [np.logical_or(x.links[:, 0], x.links[:, 0].swapaxes(1, 2)) for x in (truth, found)]
    changed = [_changed(x) for x in (truth, found)]
    right = found.directed[:, 0] & truth.links[:, 0]
    wrong = found.directed[:, 0] & truth.links[:, 0].swapaxes(1, 2)
    reading = truth.copies >= 0
    return {
        "lagged": _rates(truth.links[:, 1:], found.links[:, 1:], other),
        "own": _rates(truth.links[:, 1:], found.links[:, 1:], np.eye(d, dtype=bool)),
        "now": _rates(now[0], now[1], upper),
        "changes": _rates(changed[0], changed[1], np.ones((d, d), dtype=bool)),
        "children": _rates(truth.children, found.children, np.ones(d, dtype=bool)),
        "parents": _rates(truth.parents, found.parents, np.ones(d, dtype=bool)),
        "direction": np.array([right.sum(), now[0][:, upper].sum(), wrong.sum(), 1]),
        "copy": np.array(
            [
                (truth.copies == found.copies)[reading & found.children].sum(),
                (reading & found.children).sum(),
                0,
                1,
            ]
        ),
    }


def _rates(truth: np.ndarray, found: np.ndarray, where: np.ndarray) -> np.ndarray:
    wide = np.broadcast_to(where, truth.shape)
    return np.array(
        [
            (truth & found & wide).sum(),
            (truth & wide).sum(),
            (~truth & found & wide).sum(),
            (~truth & wide).sum(),
        ]
    )


def _changed(found: Found) -> np.ndarray:
    """Links, shape (L + 1, d, d), that not all contexts have with the same sign."""
    signs = found.signs.copy()
    signs[:, 0] = np.where(signs[:, 0] != 0, signs[:, 0], signs[:, 0].swapaxes(1, 2))
    signs[:, 0] = np.triu(signs[:, 0])
    return signs.min(axis=0) != signs.max(axis=0)


def cell_row(cell: Cell, models: int, seed: int, method: Callable[..., Found]) -> list[str]:
    """The rates of one method in one cell."""
    totals: dict[str, np.ndarray] = {}
    spent = []
    for number in range(models * (5 if cell.reads else 1)):
        model = random_series_model(cell.design, np.random.default_rng([seed, number]))
        if len(spent) == models or (
            cell.reads and {*model.reads[model.reads >= 0].tolist()} != {*cell.reads}
        ):
            continue
        table = model.sample(cell.rows, np.random.default_rng([seed, number, 1]))
        if table["R"].value_counts(normalize=True).reindex(model.labels).fillna(
            0
        ).min() < 0.4 / len(model.labels):
            continue
        start = time.process_time()
        found = method(table, model, cell.design.lags)
        spent.append(time.process_time() - start)
        for kind, value in counts(true_links(model), found).items():
            totals[kind] = totals.get(kind, 0) + value

    def rate(kind: str, digits: int = 4) -> str:
        hits, true, false, absent = totals[kind]
        return f"{hits / true if true else float('nan'):.3f}/{false / max(absent, 1):.{digits}f}"

    hits, true, false, _ = totals["changes"]
    right, links, wrong, _ = totals["direction"]
    copied, read, _, _ = totals["copy"]
    return [
        cell.name,
        str(cell.rows),
        rate("lagged"),
        rate("now"),
        f"{hits / true if true else float('nan'):.3f}/{false / len(spent):.2f}",
        rate("children", 3),
        rate("parents", 3),
        f"{totals['own'][2] / totals['own'][3]:.4f}",
        f"{right / links:.2f}/{wrong / links:.2f}",
        f"{copied / read:.2f}" if read else "-",
        f"{np.median(spent[1:] or spent):.3f}",
        cell.target,
    ]


HEADER = [
    "system",
    "T",
    "lagged TPR/FPR",
    "contemporaneous",
    "changes found/false",
    "children of R",
    "parents of R",
    "own lags FPR",
    "directions right/wrong",
    "copy right",
    "CPU s",
    "target",
]


def land(models: int, seed: int, rows: int, method: str) -> str:
    """How often the land-surface example is found exactly, and with a link of radiation and
    moisture.
    """
    model, right, false = land_surface_model(), 0, 0
    truth = true_links(model)
    for number in range(models):
        found = by(method)(model.sample(rows, seed=[seed, number]), model, 2)  # type: ignore[arg-type]
        links = np.zeros_like(found.links)
        links[:, :2] = truth.links
        now = [x | x.swapaxes(1, 2) for x in (links[:, 0], found.links[:, 0])]
        false += bool(now[1][:, 1, 2].any())
        right += bool(
            (now[0] == now[1]).all()
            and (links[:, 1:] == found.links[:, 1:]).all()
            and (found.children == truth.children).all()
        )
    return (
        f"land surface, T = {rows}: all links right in {right} of {models}, radiation - moisture in"
        f" {false} of {models}"
    )


def long_series(models: int, seed: int, method: str) -> str:
    """How often every link, label and direction is right with very many rows."""
    right = 0
    for number in range(models):
        design = SeriesDesign(autocorrelation=(0.3, 0.6, 0.9)[number % 3])
        model = random_series_model(design, np.random.default_rng([seed, number]))
        table = model.sample(20_000, np.random.default_rng([seed, number, 1]))
        result = cc.discover(table, context="R", lags=2, **choice(method))
        right += all(
            set(result.graphs[value].edges) == set(model.truth[value].edges)
            for value in model.labels
        )
    return f"T = 20,000: all links right in {right} of {models}"


def independent(tables: int, seed: int, method: str) -> str:
    """False links between independent persistent series, phi .95."""
    false = []
    for number in range(tables):
        random = np.random.default_rng([seed, number])
        noise = random.normal(size=(1300, 7))
        values = np.zeros_like(noise)
        for t in range(1, len(values)):
            values[t] = 0.95 * values[t - 1] + noise[t]
        table = pd.DataFrame(values[300:, :6], columns=list("ABCDEF")).assign(
            R=np.where(values[300:, 6] > 0, "high", "low")
        )
        result = cc.discover(table, context="R", lags=2, **choice(method))
        edges = result.summary.to_frame()
        false.append(int((edges["source"] != edges["target"]).sum()))
    return (
        f"independent series, phi .95, T = 1000: {np.mean(false):.3f} false links a table ({tables}"
        " tables)"
    )


def wide(seed: int) -> str:
    """Processor time and peak memory of 30 variables with 3 lags, once kernels are loaded; lines
    suffice.
    """
    for design, rows in (
        (MIDDLE, 300),
        (replace(MIDDLE, variables=30, lags=3, coefficients=(0.2, 0.4)), 5000),
    ):
        table = random_series_model(design, np.random.default_rng(seed)).sample(
            rows, np.random.default_rng([seed, 1])
        )
        start = time.process_time()
        cc.discover(table, context="R", lags=3, method="score-ac")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return (
        f"30 variables, 3 lags, 5,000 rows: {time.process_time() - start:.1f} s of processor time,"
        f" {peak:.0f} MB at most, the library itself included"
    )


def alarms(models: int, seed: int, method: str) -> str:
    """How often the lag alarm goes off."""
    long = replace(MIDDLE, lags=3)
    hits = {"too few lags": 0, "enough lags": 0}
    needed = 0
    for number in range(models):
        model = random_series_model(long, np.random.default_rng([seed, number]))
        table = model.sample(1000, np.random.default_rng([seed, number, 1]))
        if (model.slopes[:, :, 2:] != 0).any():
            needed += 1
            hits["too few lags"] += _rings(
                cc.discover(table, context="R", lags=1, **choice(method))
            )
        hits["enough lags"] += _rings(cc.discover(table, context="R", lags=3, **choice(method)))
    few, enough = hits.values()
    return f"lag alarm: {few} of {needed} with too few lags, {enough} of {models} with enough"


def _rings(result: cc.ContextGraphs) -> bool:
    return any("lag alarm" in warning for warning in result.warnings)


def false_rates(trap: Trap, models: int, seed: int, method: Callable[..., Found]) -> list[str]:
    """Lagged and contemporaneous TPR/FPR after something was done to the table, and how often the
    lag alarm rang.
    """
    totals: dict[str, np.ndarray] = {}
    rang: list[bool | None] = []
    for number in range(models):
        model = random_series_model(trap.design, np.random.default_rng([seed, number]))
        random = np.random.default_rng([seed, number, 1])
        table, options = trap.make(model.sample(trap.rows, random), model, random)
        found = method(table, model, trap.design.lags, **options)
        rang.append(found.alarm)
        for kind, value in counts(true_links(model), found).items():
            totals[kind] = totals.get(kind, 0) + value
    rates = [
        f"{totals[kind][0] / totals[kind][1]:.3f}/{totals[kind][2] / totals[kind][3]:.4f}"
        for kind in ("lagged", "now")
    ]
    return [trap.name, *rates, "-" if None in rang else f"{sum(map(bool, rang))} of {models}"]


def with_gaps(respected: bool) -> Callable[..., Any]:
    """60 holes in the rows."""

    def make(
        table: pd.DataFrame, model: SeriesModel, random: np.random.Generator
    ) -> tuple[pd.DataFrame, dict[str, Any]]:
        holes = random.choice(np.arange(20, len(table) - 20), 60, replace=False)
        gone = np.unique(np.concatenate([hole + np.arange(5) for hole in holes]))
        left = table.assign(t=np.arange(len(table))).drop(index=[g for g in gone if g < len(table)])
        return (left, {"time": "t"}) if respected else (left.drop(columns="t"), {})

    return make


def with_units(units: int, effects: str) -> Callable[..., Any]:
    """Series of several units whose levels differ."""

    def make(
        table: pd.DataFrame, model: SeriesModel, random: np.random.Generator
    ) -> tuple[pd.DataFrame, dict[str, Any]]:
        rows = len(table) // units
        parts = [model.sample(rows, random).assign(unit=unit) for unit in range(units)]
        for part in parts:
            part[list(model.names)] += (
                random.normal(scale=2.0, size=len(model.names))
                * table[list(model.names)].std().to_numpy()
            )
        return pd.concat(parts), {"units": "unit", "unit_effects": effects}

    return make


def with_cycle(known: bool) -> Callable[..., Any]:
    """A daily cycle of 48 steps in half of the variables."""

    def make(
        table: pd.DataFrame, model: SeriesModel, random: np.random.Generator
    ) -> tuple[pd.DataFrame, dict[str, Any]]:
        driven = list(random.permutation(model.names)[: len(model.names) // 2])
        wave = np.sin(2 * np.pi * np.arange(len(table)) / 48)[:, None]
        table[driven] += wave * table[driven].std().to_numpy()
        table = table.assign(t=np.arange(len(table)))
        return table, {"time": "t"} | ({"covariates": [cc.cycle("t", 48)]} if known else {})

    return make


def with_missing(missing: str) -> Callable[..., Any]:
    """A tenth of all cells missing at random."""

    def make(
        table: pd.DataFrame, model: SeriesModel, random: np.random.Generator
    ) -> tuple[pd.DataFrame, dict[str, Any]]:
        cells = table[list(model.names)].to_numpy(copy=True)
        cells[random.random(cells.shape) < 0.1] = np.nan
        return table.assign(**dict(zip(model.names, cells.T, strict=True))), {"missing": missing}

    return make


def with_noise(share: float) -> Callable[..., Any]:
    """Measurement noise of a share of the variance."""

    def make(
        table: pd.DataFrame, model: SeriesModel, random: np.random.Generator
    ) -> tuple[pd.DataFrame, dict[str, Any]]:
        names = list(model.names)
        scale = table[names].std().to_numpy() * np.sqrt(share)
        table[names] += random.normal(size=table[names].shape) * scale
        return table, {}

    return make


def with_hidden_driver(level: float) -> Callable[..., Any]:
    """A persistent driver of two variables that is not in the table."""

    def make(
        table: pd.DataFrame, model: SeriesModel, random: np.random.Generator
    ) -> tuple[pd.DataFrame, dict[str, Any]]:
        d, k = len(model.names), len(model.labels)
        slopes = np.zeros((k, d + 1, model.lags + 1, d + 1))
        slopes[:, :d, :, :d] = model.slopes
        slopes[:, d, 1, d] = level
        for child in random.permutation(d)[:2]:
            slopes[:, child, int(random.integers(2)), d] = random.uniform(0.3, 0.6) * random.choice(
                [-1.0, 1.0]
            )
        wide = replace(
            model,
            names=(*model.names, "hidden"),
            slopes=slopes,
            intercepts=np.pad(model.intercepts, ((0, 0), (0, 1))),
            reads=np.append(model.reads, -1),
            order=np.append(d, np.where(model.order == d, d + 1, model.order)),
            into_context=np.pad(model.into_context, ((0, 0), (0, 1))),
            centre=np.append(model.centre, 0.0),
            spread=np.append(model.spread, 1.0),
        )
        return wide.sample(len(table), random).drop(columns="hidden"), {}

    return make


def resampling(models: int, seed: int, samples: int = 10) -> str:
    """False lagged links in samples of the windows, drawn in three ways, beside those in all
    windows.
    """
    totals = dict.fromkeys(
        ("all windows", "rows with replacement", "blocks with replacement", "halves of blocks"), 0.0
    )
    found_true = dict.fromkeys(totals, 0.0)
    for number in range(models):
        model = random_series_model(MIDDLE, np.random.default_rng([seed, number]))
        table = model.sample(500, np.random.default_rng([seed, number, 1]))
        result = cc.discover(table, context="R", lags=MIDDLE.lags, method="score-ac")
        windows, random = result.windowed, np.random.default_rng([seed, number, 2])
        assert windows is not None
        count = len(windows.table.row)
        for how in totals:
            runs = 1 if how == "all windows" else samples
            for _ in range(runs):
                false, hits = _lagged_links(windows, model, _drawn(how, count, random))
                totals[how] += false / runs
                found_true[how] += hits / runs
    rows = [
        [how, f"{totals[how] / models:.2f}", f"{found_true[how] / models:.3f}"] for how in totals
    ]
    return markdown_table(
        ["sample of 500 windows", "false lagged links a search", "lagged TPR"], rows
    )


def _drawn(how: str, count: int, random: np.random.Generator) -> np.ndarray:
    """The windows of one sample."""
    if how == "rows with replacement":
        return random.integers(count, size=count)
    if how == "blocks with replacement":
        length = int(np.ceil(1.5 * count ** (1 / 3)))
        starts = random.integers(count - length + 1, size=-(-count // length))
        return np.concatenate([np.arange(start, start + length) for start in starts])[:count]
    return (
        np.flatnonzero(half_of_blocks(count, (int(random.integers(2**31)), 0)))
        if how == "halves of blocks"
        else np.arange(count)
    )


def _lagged_links(
    windows: SeriesWindows, model: SeriesModel, rows: np.ndarray
) -> tuple[int, float]:
    """False lagged links between different variables, and the share of the true ones that is
    found.
    """
    half = replace(windows, all_windows=windows.all_windows.some(rows))
    outcome = score_windows(half, half.links(cc.Knowledge()), ScoreOptions(), 0, 1, Watch(nobody))
    d, lags = len(model.names), model.lags
    place = {node: number for number, node in enumerate(windows.nodes)}
    earlier = [[place[at(name, lag)] for name in model.names] for lag in range(1, lags + 1)]
    now = [place[name] for name in model.names]
    links = np.stack(
        [outcome.endpoints[:, np.array(there)[:, None], now] != 0 for there in earlier], axis=1
    )
    truth, other = true_links(model).links[:, 1:], ~np.eye(d, dtype=bool)
    false = (links & ~truth & other).any(axis=0).sum()
    return int(false), float((links & truth & other).sum() / (truth & other).sum())


@dataclass(frozen=True)
class Trap:
    """What is done to a table of a random system."""

    name: str
    design: SeriesDesign
    rows: int
    make: Callable[..., Any]


STRONG, CALM = SeriesDesign(autocorrelation=0.9), SeriesDesign(autocorrelation=0.3)
TRAPS = [
    Trap("60 gaps, ignored", MIDDLE, 1500, with_gaps(False)),
    Trap("60 gaps, `time` given", MIDDLE, 1500, with_gaps(True)),
    Trap("5 units of 240, levels kept", MIDDLE, 1200, with_units(5, "none")),
    Trap("5 units of 240, means removed", MIDDLE, 1200, with_units(5, "means")),
    Trap("20 units of 60, levels kept", MIDDLE, 1200, with_units(20, "none")),
    Trap("20 units of 60, means removed", MIDDLE, 1200, with_units(20, "means")),
    Trap("40 units of 30, means removed", MIDDLE, 1200, with_units(40, "means")),
    Trap("daily cycle, ignored", MIDDLE, 1500, with_cycle(False)),
    Trap("daily cycle, `cc.cycle`", MIDDLE, 1500, with_cycle(True)),
    Trap("10 % of cells missing, windows", MIDDLE, 1500, with_missing("windows")),
    Trap("the same, interpolated", MIDDLE, 1500, with_missing("interpolate")),
]
WEAK = [
    Trap("10 % measurement noise, a .3", CALM, 1000, with_noise(0.1)),
    Trap("10 % measurement noise, a .9", STRONG, 1000, with_noise(0.1)),
    Trap("30 % measurement noise, a .9", STRONG, 1000, with_noise(0.3)),
    Trap("hidden driver, a .3", CALM, 1000, with_hidden_driver(0.3)),
    Trap("hidden driver, a .9", STRONG, 1000, with_hidden_driver(0.9)),
]
"""Where every method invents links; nothing that a user could say helps."""


def traps(chosen: Sequence[Trap], models: int, seed: int, method: Callable[..., Found]) -> str:
    """What goes wrong where the rows are not what they seem, and what helps."""
    rows = [false_rates(trap, models, seed, method) for trap in chosen]
    return markdown_table(["table", "lagged TPR/FPR", "contemporaneous", "lag alarm"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--cells", default="acceptance", help="acceptance, inside, outside, copies, or several"
    )
    parser.add_argument("--models", type=int, default=40)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--only", default="", help="cells whose name begins so")
    parser.add_argument(
        "--methods", default="score-ac", help="score-ac, pc-ac, pc-m, pc-p or several with commas"
    )
    parser.add_argument(
        "--peers",
        nargs="?",
        default="",
        const=";".join(PEERS),
        help="PCMCI+ too, if tigramite is installed; some by name, with semicolons",
    )
    parser.add_argument(
        "--extras", action="store_true", help="the land example, independent series, the alarm"
    )
    parser.add_argument("--traps", action="store_true", help="gaps, units, cycles, missing values")
    parser.add_argument(
        "--weak", action="store_true", help="measurement noise, hidden drivers; every method"
    )
    parser.add_argument(
        "--wide", action="store_true", help="time and memory of 30 variables with 3 lags"
    )
    parser.add_argument(
        "--resampling", action="store_true", help="false links in samples of the windows"
    )
    arguments = parser.parse_args()
    print(machine())
    named = [name for name in arguments.methods.split(",") if name]
    methods: dict[str, Callable[..., Found]] = {name: by(name) for name in named}
    if arguments.peers and importlib.util.find_spec("tigramite") is not None:
        methods |= {name: PEERS[name] for name in arguments.peers.split(";")}
    cells = [
        cell
        for name in arguments.cells.split(",")
        if name
        for cell in CELLS[name]
        if cell.name.startswith(arguments.only)
    ]
    for name, method in methods.items() if cells else ():
        rows = [cell_row(cell, arguments.models, arguments.seed, method) for cell in cells]
        print(f"\n{name}, {arguments.models} systems a row\n")
        print(markdown_table(HEADER, rows))
    for name in named if arguments.traps else ():
        print(f"\n{name}\n")
        print(traps(TRAPS, arguments.models, arguments.seed, by(name)))
    for name, method in methods.items() if arguments.weak else ():
        print(f"\n{name}\n")
        print(traps(WEAK, arguments.models, arguments.seed, method))
    if arguments.wide:
        print(f"\n{wide(arguments.seed)}")
    if arguments.resampling:
        print()
        print(resampling(arguments.models, arguments.seed))
    half = max(arguments.models // 2, 1)
    for name in named if arguments.extras else ():
        print(f"\n{name}\n")
        print(land(half, arguments.seed, 1500, name))
        print(long_series(half, arguments.seed, name))
        print(independent(arguments.models, arguments.seed, name))
        print(alarms(arguments.models, arguments.seed, name))


if __name__ == "__main__":
    main()

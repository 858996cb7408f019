"""Hidden processes over time: the PAGs of fci-ac over the window beside LPCMCI and PCMCI+ (of
tigramite) on one table.

Six observed processes with links at lags 0 to 2, and two hidden ones, each an autocorrelated cause
of two or three of the others. What is counted are pairs with an end at time t of the window of two
lags: a pair is true if no set of observed variables of the window separates it (the maximal
ancestral graph of the window), an end is right if it is true of who causes whom.

    python benchmarks/hidden_series.py                              # 40 systems a cell python
    benchmarks/hidden_series.py --systems 5 --seed 100       # fewer, others python
    benchmarks/hidden_series.py --peers --lpcmci 20          # with tigramite, where it is installed
    python benchmarks/hidden_series.py --suspicion                  # links of score-ac that
    diagnose() suspects python benchmarks/hidden_series.py --effects                    # intervals
    of effects in the PAGs that are found python benchmarks/hidden_series.py --alarms --method pc-ac
    # lag alarms and shared time, on clean series too

What `--suspicion` counts are links that `discover` finds ("false": no such link is in the system)
and those that `edges()` calls suspected. With a context they are systems of `time_series.py`, with
one persistent driver of two variables that is left out.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

import causalcontext as cc
from causalcontext.diagnostics.hidden_causes import suspicion_of
from causalcontext.diagnostics.shared_time import shared_time
from causalcontext.graphs.endpoints import Endpoint
from causalcontext.graphs.lag_names import at
from causalcontext.graphs.paths import mag_adjacency, reach
from causalcontext_lab.simulate import SeriesDesign, random_series_model
from measuring import machine, markdown_table
from time_series import with_hidden_driver

OBSERVED, HIDDEN, LAGS, BEFORE = 6, 2, 2, 10
"""`BEFORE` steps before the window are unrolled: a hidden process connects what is far apart."""
BURN_IN, LARGEST = 300, 0.97
NOISE = {"Gaussian": "normal", "exponential": "exponential"}


class System(NamedTuple):
    """Coefficients, shape (lags + 1, processes, processes): lag, cause, effect; the hidden
    processes are the last.
    """

    coefficients: np.ndarray
    noise: np.ndarray

    def sample(
        self, rows: int, random: np.random.Generator, noise_law: str = "normal"
    ) -> pd.DataFrame:
        """A table of the observed processes."""
        size, total = len(self.noise), rows + BURN_IN
        now = np.linalg.inv(np.eye(size) - self.coefficients[0])
        values, noise = (
            np.zeros((total, size)),
            getattr(random, noise_law)(size=(total, size)) * self.noise,
        )
        for t in range(LAGS, total):
            past = sum(values[t - lag] @ self.coefficients[lag] for lag in range(1, LAGS + 1))
            values[t] = (past + noise[t]) @ now
        return pd.DataFrame(values[BURN_IN:, :OBSERVED], columns=[f"X{i}" for i in range(OBSERVED)])

    def truth(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Which nodes of the window are adjacent, row causes column, and which are linked directly.

        Shape (nodes, nodes), earliest first. Direct are links, and two effects of one hidden
        process at one time.
        """
        links, size, times = self.coefficients != 0, len(self.noise), LAGS + 1 + BEFORE
        graph = np.zeros((times * size, times * size), dtype=bool)
        for t, lag in product(range(times), range(LAGS + 1)):
            if t >= lag:
                graph[(t - lag) * size : (t - lag + 1) * size, t * size : (t + 1) * size] = links[
                    lag
                ]
        nodes = [(BEFORE + step) * size + i for step in range(LAGS + 1) for i in range(OBSERVED)]
        hidden = [t * size + i for t in range(times) for i in range(OBSERVED, size)]
        driven = (graph[hidden][:, nodes].T.astype(int) @ graph[hidden][:, nodes]) > 0
        direct = graph[np.ix_(nodes, nodes)] | driven
        return mag_adjacency(graph, nodes), reach(graph)[np.ix_(nodes, nodes)], direct | direct.T

    def effect(self, cause: int, effect: int, lag: int) -> float:
        """What a unit more of one process does to another so many steps later."""
        size = len(self.noise)
        now, found = (
            np.linalg.inv(np.eye(size) - self.coefficients[0]),
            np.zeros((LAGS + lag + 1, size)),
        )
        found[LAGS] = now[cause]
        for k in range(LAGS + 1, LAGS + lag + 1):
            found[k] = (
                sum(found[k - before] @ self.coefficients[before] for before in range(1, LAGS + 1))
                @ now
            )
        return float(found[-1, effect])


def system(
    autocorrelation: float, random: np.random.Generator, hidden_processes: int = HIDDEN
) -> System:
    """A stationary system: own lags near the autocorrelation, 1.25 links a process, and hidden
    causes.
    """
    size = OBSERVED + hidden_processes
    while True:
        links, order = np.zeros((LAGS + 1, size, size)), random.permutation(OBSERVED)
        own = random.uniform(max(autocorrelation - 0.2, 0.05), autocorrelation, size)
        links[1, range(size), range(size)] = own
        pairs = [(i, j) for i, j in product(range(OBSERVED), repeat=2) if i != j]
        for i, j in (pairs[k] for k in random.permutation(len(pairs))[: round(1.25 * OBSERVED)]):
            lag = 0 if random.random() < 0.4 else int(random.integers(1, LAGS + 1))
            if lag or np.flatnonzero(order == i)[0] < np.flatnonzero(order == j)[0]:
                links[lag, i, j] = random.choice((-1, 1)) * random.uniform(0.3, 0.6)
        for hidden in range(OBSERVED, size):
            for j in random.choice(OBSERVED, size=random.integers(2, 4), replace=False):
                links[int(random.integers(0, 2)), hidden, j] = random.choice(
                    (-1, 1)
                ) * random.uniform(0.4, 0.8)
        if _radius(links) <= LARGEST:
            return System(links, random.uniform(0.7, 1.3, size))


def _radius(links: np.ndarray) -> float:
    size = links.shape[1]
    now = np.linalg.inv(np.eye(size) - links[0])
    companion = np.eye(size * LAGS, k=-size)
    companion[:size] = np.concatenate([(links[lag] @ now).T for lag in range(1, LAGS + 1)], axis=1)
    return float(np.abs(np.linalg.eigvals(companion)).max())


def by_fci(table: pd.DataFrame, **options: object) -> np.ndarray:
    """The ends of the window graph that the library finds."""
    return (
        cc.discover(table, lags=LAGS, **{"method": "fci-ac", "alpha": 0.01, **options})
        .graphs["all"]
        .endpoints
    )


def by_tigramite(table: pd.DataFrame, name: str, alpha: float) -> np.ndarray:
    """The same of LPCMCI or PCMCI+."""
    from tigramite import data_processing
    from tigramite.independence_tests.parcorr import ParCorr
    from tigramite.lpcmci import LPCMCI
    from tigramite.pcmci import PCMCI

    frame = data_processing.DataFrame(table.to_numpy(), var_names=list(table))
    if name == "LPCMCI":
        found = LPCMCI(frame, ParCorr(), verbosity=0).run_lpcmci(tau_max=LAGS, pc_alpha=alpha)[
            "graph"
        ]
    else:
        found = PCMCI(frame, ParCorr(), verbosity=0).run_pcmciplus(tau_max=LAGS, pc_alpha=alpha)[
            "graph"
        ]
    size = OBSERVED * (LAGS + 1)
    ends, which = (
        np.zeros((size, size), dtype=np.int8),
        {
            "-": Endpoint.TAIL,
            ">": Endpoint.ARROW,
            "<": Endpoint.ARROW,
            "o": Endpoint.CIRCLE,
            "x": Endpoint.CONFLICT,
        },
    )
    for i, j, lag in np.argwhere(found != ""):
        a, b = (LAGS - lag) * OBSERVED + i, LAGS * OBSERVED + j
        mark = found[i, j, lag]
        ends[b, a], ends[a, b] = which[mark[0]], which[mark[2]]
    if name != "LPCMCI":
        ends[(ends == Endpoint.CIRCLE) | (ends.T == Endpoint.CIRCLE) & (ends > 0)] = Endpoint.CIRCLE
    return ends


def counted(
    ends: np.ndarray, adjacent: np.ndarray, causes: np.ndarray, direct: np.ndarray
) -> Counter[str]:
    """Pairs and ends with an end at time t; arrowheads that time gives are not counted."""
    now = np.zeros(adjacent.shape, dtype=bool)
    now[-OBSERVED:] = now[:, -OBSERVED:] = True
    past = now.copy()
    past[-OBSERVED:, -OBSERVED:] = False
    pairs, here = np.triu(now, 1), ends > 0
    effects = causes.T
    head, tail = (ends == Endpoint.ARROW) & now, (ends == Endpoint.TAIL) & now
    by_time = np.zeros_like(past)
    by_time[:-OBSERVED, -OBSERVED:] = True
    return Counter(
        {
            "true": int((adjacent & pairs).sum()),
            "found": int((adjacent & here & pairs).sum()),
            "false": int((~adjacent & pairs).sum()),
            "false found": int((~adjacent & here & pairs).sum()),
            "near": int((direct & pairs).sum()),
            "near found": int((direct & here & pairs).sum()),
            "heads": int((head & ~by_time).sum()),
            "heads right": int((head & ~by_time & ~effects).sum()),
            "tails": int(tail.sum()),
            "tails right": int((tail & effects).sum()),
        }
    )


def methods(peers: bool) -> Iterator[tuple[str, Callable[[pd.DataFrame], np.ndarray]]]:
    """What is compared, by name."""
    yield "fci-ac", by_fci
    if peers:
        yield "LPCMCI", lambda table: by_tigramite(table, "LPCMCI", 0.01)
        yield "PCMCI+", lambda table: by_tigramite(table, "PCMCI+", 0.01)


def table_of(
    cell: str, level: float, rows: int, hidden: int, random: np.random.Generator
) -> tuple[pd.DataFrame, dict[str, object], set[frozenset[str]]]:
    """A series, how to search it, and its links, by the names of their ends."""
    if cell == "context":
        model = random_series_model(SeriesDesign(autocorrelation=level), random)
        table, names, links = (
            model.sample(rows, random),
            model.names,
            (model.slopes != 0).any(axis=0),
        )
        table = with_hidden_driver(level)(table, model, random)[0] if hidden else table
        options, true = (
            {"context": "R", "lags": model.lags},
            np.argwhere(links.transpose(1, 2, 0)).tolist(),
        )
    else:
        drawn = system(level, random, hidden)
        table, names, options = (
            drawn.sample(rows, random, NOISE[cell]),
            [f"X{i}" for i in range(OBSERVED)],
            {},
        )
        options["lags"] = LAGS
        true = np.argwhere(drawn.coefficients[:, :OBSERVED, :OBSERVED] != 0).tolist()
    return table, options, {frozenset((at(names[i], lag), names[j])) for lag, i, j in true}


def suspected(
    cell: str, level: float, rows: int, hidden: int, seeds: range, method: str
) -> Counter[str]:
    """Series and links, false ones apart, and how many are suspected."""
    count: Counter[str] = Counter()
    for seed in seeds:
        random = np.random.default_rng([seed, round(10 * level), hidden])
        table, options, true = table_of(cell, level, rows, hidden, random)
        result = cc.discover(table, method=method, **options)
        begin = time.process_time()
        found = suspicion_of(result)
        count["seconds"] += time.process_time() - begin
        named = {frozenset(pair) for pair in found.suspected}
        for edge in result.labeled_union:
            if options.get("context") in (edge.source.split("(")[0], edge.target):
                continue
            kind = "true" if {edge.source, edge.target} in true else "false"
            count.update(
                {
                    kind: 1,
                    f"{kind} named": {edge.source, edge.target} in named,
                    "asked": found.word(edge.source, edge.target) != "not asked",
                }
            )
        count.update(
            series=1,
            warned=bool(named),
            rings=any("lag alarm" in one for one in result.warnings),
            shared=bool(result.diagnose().about("shared time")),
        )
    return count


def suspicion(asked: argparse.Namespace) -> None:
    """Print the table of suspected links."""
    lines, seeds = [], range(asked.seed, asked.seed + asked.systems)
    for cell, level, rows, hidden in product(
        asked.cells, asked.autocorrelation, asked.rows, (0, 1, 2)
    ):
        if cell == "context" and hidden == 2:
            continue
        found = suspected(cell, level, rows, hidden, seeds, asked.method)
        links = found["true"] + found["false"]
        lines.append(
            (
                cell,
                level,
                rows,
                hidden,
                f"{found['warned']} of {found['series']}",
                f"{found['false named']} of {found['false']}",
                f"{found['true named']} of {found['true']}",
                f"{found['asked'] / max(links, 1):.2f}",
                found["rings"],
                found["shared"],
                f"{found['seconds'] / found['series']:.2f} s",
            )
        )
        print(lines[-1], flush=True)
    print(
        markdown_table(
            (
                "cell",
                "autocorrelation",
                "T",
                "hidden",
                "series warned",
                "false links named",
                "true links named",
                "asked",
                "lag alarm",
                "shared time",
                "processor time",
            ),
            lines,
        )
    )
    print(machine())


SERIES = {
    "clean": (0, LAGS),
    "one lag too few": (0, LAGS - 1),
    "a season": (0, LAGS),
    "one hidden": (1, LAGS),
    "two hidden": (2, LAGS),
}
PERIOD, SEASON = 24, 0.5
"""Steps of the season that the first two columns share, and its amplitude, where the noise has a
spread of about 1.
"""


def alarms(asked: argparse.Namespace) -> None:
    """Print on how many series the lag alarm rings, and on how many `diagnose()` names a shared
    trend or season.
    """
    lines, options = [], {"alpha": 0.01} if asked.method == "pc-ac" else {}
    for level, rows, (what, (hidden, lags)) in product(
        asked.autocorrelation, asked.rows, SERIES.items()
    ):
        count: Counter[str] = Counter()
        for seed in range(asked.seed, asked.seed + asked.systems):
            random = np.random.default_rng([seed, round(10 * level), hidden])
            drawn = system(level, random, hidden)
            table = drawn.sample(rows, random)
            if what == "a season":
                table[["X0", "X1"]] += (
                    SEASON * np.sin(np.arange(rows) * 2 * np.pi / PERIOD)[:, None]
                )
            result = cc.discover(table, lags=lags, method=asked.method, **options)
            count.update(
                rings=any("lag alarm" in one for one in result.warnings),
                shared=any(shared_time(result)),
            )
        lines.append((level, rows, what, asked.systems, count["rings"], count["shared"]))
        print(lines[-1], flush=True)
    print(
        markdown_table(("autocorrelation", "T", "series", "of", "lag alarm", "shared time"), lines)
    )
    print(machine())


def effects(asked: argparse.Namespace) -> None:
    """Print how many effects are told that are not 0 by the graph, and how many of their intervals
    have the truth.
    """
    lines = []
    for level, rows, hidden in product(asked.autocorrelation, asked.rows, (0, 1, 2)):
        count: Counter[str] = Counter()
        for seed in range(asked.seed, asked.seed + asked.systems):
            random = np.random.default_rng([seed, round(10 * level), hidden])
            drawn = system(level, random, hidden)
            result = cc.discover(drawn.sample(rows, random), lags=LAGS, method="fci-ac", alpha=0.01)
            for row in result.effects().itertuples():
                truth = drawn.effect(int(row.x[1:]), int(row.y[1:]), row.lag)
                told = row.identified and row.se > 0
                count.update(asked=1, told=told, covered=told and row.low <= truth <= row.high)
        lines.append(
            (
                level,
                rows,
                hidden,
                count["asked"],
                count["told"],
                f"{count['covered'] / max(count['told'], 1):.3f}",
            )
        )
        print(lines[-1], flush=True)
    print(
        markdown_table(
            ("autocorrelation", "T", "hidden", "a way leads", "told", "intervals with the truth"),
            lines,
        )
    )
    print(machine())


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--systems", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument(
        "--lpcmci", type=int, default=40, help="systems that LPCMCI is run on, which takes long"
    )
    parser.add_argument("--rows", type=int, nargs="*", default=[500, 1000])
    parser.add_argument("--autocorrelation", type=float, nargs="*", default=[0.3, 0.9])
    parser.add_argument("--suspicion", action="store_true")
    parser.add_argument("--effects", action="store_true")
    parser.add_argument("--alarms", action="store_true")
    parser.add_argument(
        "--cells", nargs="*", default=[*NOISE, "context"], choices=[*NOISE, "context"]
    )
    parser.add_argument("--method", default="auto", help="for --suspicion and --alarms")
    asked = parser.parse_args()
    if asked.suspicion or asked.effects or asked.alarms:
        (suspicion if asked.suspicion else effects if asked.effects else alarms)(asked)
        return
    chosen, rows = dict(methods(asked.peers)), []
    by_fci(system(0.3, np.random.default_rng(0)).sample(200, np.random.default_rng(0)))
    for level, length in product(asked.autocorrelation, asked.rows):
        counts, seconds = {name: Counter() for name in chosen}, dict.fromkeys(chosen, 0.0)
        systems = {
            name: min(asked.systems, asked.lpcmci if name == "LPCMCI" else asked.systems)
            for name in chosen
        }
        for number in range(asked.systems):
            random = np.random.default_rng([asked.seed + number, round(10 * level)])
            model = system(level, random)
            table, truth = model.sample(length, random), model.truth()
            for name, search in (
                (name, search) for name, search in chosen.items() if number < systems[name]
            ):
                begin = time.process_time()
                ends = search(table)
                seconds[name] += time.process_time() - begin
                counts[name] += counted(ends, *truth)
        for name, found in counts.items():
            wrong = found["heads"] - found["heads right"] + found["tails"] - found["tails right"]
            rows.append(
                (
                    level,
                    length,
                    name,
                    systems[name],
                    *(
                        f"{found[a] / max(found[b], 1):.3f}"
                        for a, b in (
                            ("near found", "near"),
                            ("found", "true"),
                            ("false found", "false"),
                        )
                    ),
                    *(
                        f"{found[a + ' right'] / max(found[a], 1):.3f} ({found[a]})"
                        for a in ("heads", "tails")
                    ),
                    f"{wrong / systems[name]:.1f}",
                    f"{seconds[name] / systems[name]:.3f} s",
                )
            )
            print(rows[-1], flush=True)
    print(
        markdown_table(
            (
                "autocorrelation",
                "T",
                "method",
                "systems",
                "TPR, direct",
                "TPR, all",
                "FPR",
                "arrowheads right",
                "tails right",
                "wrong a system",
                "processor time",
            ),
            rows,
        )
    )
    print(machine("tigramite"))


if __name__ == "__main__":
    main()

"""What the package says of one table, in parts, as plain values that JSON can hold.

Only the public contract is asked, and `searched` is the only call of `discover`: a change of the
keywords is one change here. Numbers have nine significant digits; a part that is refused holds the
sentence of the refusal among the words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from drawn import Case

import causalcontext as cc

PARTS = ("graphs", "edges", "effects", "changes", "mechanisms", "words")
"""The parts of a record, each a line of its file, so that a commit may rewrite one of them alone."""
DIGITS = 9
EFFECTS = (("X", "Z"), ("Y", "W"))
"""The pairs whose effects are asked, where the table has them."""
EXPLAINED = (("X", "Z"), ("Y", "R"))
KEYS = {
    "edges": {"source": "", "mark": "", "target": "", "contexts": "in"},
    "effects": {
        "x": "of",
        "lag": "lag",
        "x_level": "to",
        "reference": "from",
        "y": "on",
        "of_level": "level",
        "context": "in",
        "versus": "versus",
    },
    "changes": {
        "source": "",
        "mark": "",
        "target": "",
        "kind": "",
        "present": "present in",
        "absent": "absent in",
    },
    "mechanisms": {"cause": "", "effect": "-->", "context": "in"},
}
"""The columns that name a row of a table, each with the words that stand before its value."""
NOISE = 1e-9
"""The relative size of the noise under which a record has to stay the same when it is made."""
Record = dict[str, Any]
Table = dict[str, Any]


def searched(table: pd.DataFrame, context: Any, keywords: Mapping[str, Any]) -> cc.ContextGraphs:
    """The result of a search: the one place where the golden set calls `discover`."""
    return cc.discover(table, context, **keywords)


def record(case: Case, seed: int, shake: int = 0, **more: Any) -> Record:
    """All parts of the record of a case, drawn from a seed; with `more` keywords for the search."""
    table = shaken(case.system.draw(seed), shake)
    try:
        result = searched(table, case.context, {**case.keywords, **more})
    except cc.CausalContextError as error:
        return {"words": {"discover is refused": str(error)}}
    return recorded(result, case)


def shaken(table: pd.DataFrame, shake: int) -> pd.DataFrame:
    """The table with every number multiplied by 1 plus noise, other noise for every shake; 0 is none.

    Columns in which numbers repeat keep their values, since ties mean something.
    """
    if shake == 0:
        return table
    random = np.random.default_rng(shake)
    table = table.copy()
    for name in table.columns:
        column = table[name]
        if column.dtype == np.float64 and column.dropna().is_unique:
            table[name] = column * (1.0 + NOISE * random.uniform(-1.0, 1.0, len(table)))
    return table


def recorded(result: cc.ContextGraphs, case: Case) -> Record:
    """All parts of a result, after the questions whose answers its tables show."""
    ask(result)
    words: dict[str, Any] = {"warnings": list(result.warnings), "notes": list(result.notes)}
    parts: Record = {"graphs": graphs_of(result)}
    early = "X(t-1)" if case.with_lags else "X"
    named = set(result.names)
    asked: dict[str, list[tuple[str, Callable[[], pd.DataFrame]]]] = {
        "edges": [("edges()", lambda: edges_of(result))],
        "effects": [
            (f"effects({x!r}, {y!r})", lambda x=x, y=y: result.effects(x, y))
            for x, y in EFFECTS
            if {x, y} <= named
        ],
        "changes": [],
        "mechanisms": [("mechanisms()", result.mechanisms)],
    }
    if len(result.contexts) > 1:
        first, last = result.contexts[0], result.contexts[-1]
        asked["changes"] = [("changes(first, last)", lambda: result.changes(first, last))]
    for part, questions in asked.items():
        parts[part], said = rows_of(part, questions)
        words.update(said)
    for x, y in ((early, "Y"), *EXPLAINED):
        if {x, y} <= named:
            words[f"explain({x!r}, {y!r})"] = explained(result, x, y)
    parts["words"] = words
    return parts


def ask(result: cc.ContextGraphs) -> None:
    """Ask what `edges()` and `changes()` show from then on; what cannot be asked stays open."""
    result.diagnose()
    result.probabilities()
    with suppress(cc.OptionError):
        result.second_opinion()


OF_SCORES = ["score", "model", "margin", "hidden cause", "p_edge", "p_direction"]
"""The columns of `edges()` that only a search by scores fills."""


def edges_of(result: cc.ContextGraphs) -> pd.DataFrame:
    """The table of edges, without the columns that its method does not fill, and without shares of
    samples, which are not asked for.
    """
    empty = [] if result.settings.method == "score-ac" else OF_SCORES
    return result.edges().drop(columns=[*empty, "stability"])


def explained(result: cc.ContextGraphs, x: str, y: str) -> list[str]:
    """The lines of the reasons for an edge, or of the refusal to give them."""
    try:
        return result.explain(x, y).split("\n")
    except cc.CausalContextError as error:
        return [f"refused: {error}"]


def graphs_of(result: cc.ContextGraphs) -> dict[str, Any]:
    """The marks of every graph, by pairs in the order of the alphabet, and the types of contexts."""
    graphs = {f"context {text(value)}": marks(graph) for value, graph in result.graphs.items()}
    graphs["union"] = marks(result.union)
    graphs["labeled union"] = sorted(
        f"{' '.join(ordered(edge.source, edge.mark, edge.target))} in {text(edge.contexts)}"
        for edge in result.labeled_union
    )
    graphs["contexts"] = [f"{type(value).__name__} {text(value)}" for value in result.contexts]
    return graphs


def marks(graph: cc.Graph) -> dict[str, str]:
    """The mark of every pair that has an edge."""
    pairs = {f"{x}, {y}": graph.mark(x, y) for x, y in combinations(sorted(graph.names), 2)}
    return {pair: mark for pair, mark in pairs.items() if mark}


MIRRORED = {"-->": "<--", "<--": "-->", "o->": "<-o", "<-o": "o->"}


def ordered(source: str, mark: str, target: str) -> tuple[str, str, str]:
    """The same edge, read in the order of the alphabet."""
    if source <= target:
        return source, mark, target
    return target, MIRRORED.get(mark, mark), source


def rows_of(
    part: str, questions: Iterable[tuple[str, Callable[[], pd.DataFrame]]]
) -> tuple[Table, dict[str, Any]]:
    """The numbers of the answers' rows, by name, and the words in them or for their refusal."""
    rows: dict[str, dict[str, Any]] = {}
    words: dict[str, Any] = {}
    for name, question in questions:
        try:
            answer = question()
        except cc.CausalContextError as error:
            words[f"{name} is refused"] = str(error)
            continue
        spoken: dict[str, list[str]] = {}
        for values in answer.to_dict("records"):
            key = row_key(part, values, rows)
            rows[key] = {}
            for column, value in values.items():
                if column in KEYS[part]:
                    continue
                if isinstance(value, str):
                    if value:
                        spoken.setdefault(f"{column}: {value}", []).append(key)
                else:
                    rows[key][str(column)] = plain(value)
        if spoken:
            words[name] = dict(sorted(spoken.items()))
    return as_table(rows), words


def row_key(part: str, values: Mapping[str, Any], taken: Mapping[str, Any]) -> str:
    """The name of a row: what stands in the columns that name it, and a number if it is not new."""
    named = [
        f"{before} {text(values[column])}".strip()
        for column, before in KEYS[part].items()
        if column in values and text(values[column])
    ]
    key = " ".join(named)
    number = 1
    unique = key
    while unique in taken:
        number += 1
        unique = f"{key} #{number}"
    return unique


def as_table(rows: Mapping[str, Mapping[str, Any]]) -> Table:
    """Rows as lists below one list of columns."""
    columns = sorted({column for row in rows.values() for column in row})
    return {
        "columns": columns,
        "rows": {key: [row.get(column) for column in columns] for key, row in rows.items()},
    }


def text(value: Any) -> str:
    """A value as it is read: nothing for one that is missing, values of a tuple with commas."""
    if isinstance(value, tuple | list):
        return ", ".join(
            f"({text(part)})" if isinstance(part, tuple) else text(part) for part in value
        )
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    if isinstance(value, float | np.floating):
        return f"{value:.{DIGITS}g}"
    return str(value)


def plain(value: Any) -> Any:
    """A value as JSON holds it: numbers with nine significant digits, None for NaN."""
    if isinstance(value, tuple | list | np.ndarray):
        return [plain(part) for part in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        if np.isnan(value):
            return None
        return float(f"{value:.{DIGITS}g}") if np.isfinite(value) else str(value)
    return value if value is None or isinstance(value, str) else str(value)

"""What works with what: the axes of the library, a small table for every place on them, and the
rules of refusal.

`RULES` is the one table: `test_combinations.py` holds the library to it, and the page
`docs/what-works-with-what.md` is made of it: `python tests/combinations.py` writes the page. When a
refusal goes, its rule is deleted here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations as pairs_of
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import causalcontext as cc
from causalcontext.methods.registry import METHOD_OPTIONS, METHODS

AXES = {
    "method": ("auto", "pc-ac", "pc-m", "pc-p", "pc-b", "fci-ac", "score-ac"),
    "context": ("none", "one", "several", "threshold", "bins"),
    "time": ("static", "lags", "panel"),
    "columns": ("continuous", "categories", "ordered", "counts", "curves"),
    "storage": ("in memory", "scanned"),
}
QUESTIONS = (
    "discover",
    "explain",
    "changes",
    "effects",
    "mechanisms",
    "diagnose",
    "stability",
    "report",
    "save and load",
)
ROWS, SAMPLE = 160, 100


@dataclass(frozen=True, eq=False)
class Rule:
    """Where a question is refused (an axis that is not named: everywhere), with which words, and
    why that is so.
    """

    words: str
    why: str
    where: dict[str, tuple[str, ...]]

    def applies(self, cell: Cell, question: str) -> bool:
        """Whether it refuses a question about a search."""
        return all(
            (question if axis == "question" else getattr(cell, axis)) in values
            for axis, values in self.where.items()
        )


RULES = (
    Rule(
        "there is only one graph; pass context=... to discover to compare contexts",
        "without a context there is nothing to compare",
        {"context": ("none",), "question": ("changes",)},
    ),
)


@dataclass(frozen=True)
class Cell:
    """A search, by its place on every axis."""

    method: str
    context: str
    time: str
    columns: str
    storage: str

    def __str__(self) -> str:
        return " | ".join((self.method, self.context, self.time, self.columns, self.storage))


def cells() -> list[Cell]:
    """All searches."""
    return [Cell(*place) for place in product(*AXES.values())]


def few_cells() -> list[Cell]:
    """Some searches that have every place of an axis with every place of every other one,
    preferably possible ones.
    """
    left = {cell: _pairs(cell) for cell in cells()}
    possible = {cell: refusal(cell, "discover") is None for cell in left}
    missing, found = set().union(*left.values()), []
    while missing:
        found.append(max(left, key=lambda cell: (len(left[cell] & missing), possible[cell])))
        missing -= left[found[-1]]
    return found


def _pairs(cell: Cell) -> set[tuple[str, str]]:
    """The places of a search, two by two."""
    return set(pairs_of([f"{axis} {getattr(cell, axis)}" for axis in AXES], 2))


def refusal(cell: Cell, question: str) -> Rule | None:
    """The rule that refuses a question about a search; a search that is refused answers nothing."""
    found = (
        rule for asked in ("discover", question) for rule in RULES if rule.applies(cell, asked)
    )
    return next(found, None)


def table(cell: Cell) -> pd.DataFrame:
    """X -> Y, X -> C -> Z, with contexts R and S that X causes and that Y and Z read; C is of the
    kind in question.
    """
    random = np.random.default_rng(7)
    noise = random.normal(size=(ROWS, 3))
    x = noise[:, 0].copy()
    if cell.time != "static":
        for t in range(1, ROWS):
            x[t] += 0.4 * x[t - 1]
    r = np.where(x + random.normal(size=ROWS) > 0, "wet", "dry")
    s = random.integers(2, size=ROWS)
    cause = x if cell.time == "static" else np.concatenate([[0.0], x[:-1]])
    y = (
        (2.0 * cause**2 if cell.columns == "curves" else 1.5 * cause)
        + (r == "wet")
        + 0.5 * noise[:, 1]
    )
    drive = 1.2 * x + random.normal(size=ROWS)
    c: Any = {
        "continuous": drive,
        "curves": drive,
        "categories": np.array(["a", "b", "c"])[np.digitize(drive, [-0.7, 0.7])],
        "ordered": pd.Categorical(
            np.array(["low", "mid", "high"])[np.digitize(drive, [-0.7, 0.7])],
            ["low", "mid", "high"],
            ordered=True,
        ),
        "counts": random.poisson(np.exp(0.5 * np.clip(drive, -3, 3))),
    }[cell.columns]
    z = (drive > 0) * np.where(s == 1, 2.0, 0.5) + 0.5 * noise[:, 2]
    found = pd.DataFrame({"X": x, "Y": y, "C": c, "Z": z})
    if cell.context in ("one", "several"):
        found["R"] = r
    if cell.context == "several":
        found["S"] = s
    if cell.time == "panel":
        found["unit"] = np.arange(ROWS) * 2 // ROWS
    return found


def context(cell: Cell) -> Any:
    """What is passed as `context`."""
    return {
        "none": None,
        "one": "R",
        "several": ["R", "S"],
        "threshold": cc.threshold("X", 0.0),
        "bins": cc.bins("X", quantiles=3),
    }[cell.context]


OF_CURVES: dict[str, dict[str, Any]] = {"score-ac": {"curves": "always"}, "auto": {}}
"""What is passed besides for columns with curves, where it is not a test for curves."""


def options(cell: Cell) -> dict[str, Any]:
    """What is passed besides."""
    found: dict[str, Any] = {"method": cell.method}
    if cell.time != "static":
        found["lags"] = 1
    if cell.time == "panel":
        found["units"] = "unit"
    if cell.columns == "counts":
        found["kinds"] = {"C": "count"}
    if cell.columns == "curves":
        found |= OF_CURVES.get(cell.method, {"test": "basis"})
    return found


def searched(cell: Cell) -> cc.ContextGraphs:
    """The result of a search."""
    rows, named, chosen = table(cell), context(cell), options(cell)
    if cell.storage == "in memory":
        return cc.discover(rows, named, **chosen)
    columns = (
        None if cell.context == "bins" else named
    )  # quantiles are not known before all rows were read
    parts = iter([rows.iloc[:100], rows.iloc[100:]])
    follow = {name: chosen[name] for name in ("lags", "units") if name in chosen}
    found = cc.scan(parts, columns, kinds=chosen.pop("kinds", None), sample=SAMPLE, **follow)
    return cc.discover(found, named, **chosen)


def asked(result: cc.ContextGraphs, question: str, folder: Path) -> Any:
    """The answer of a result."""
    early = "X" if result.series is None else "X(t-1)"
    if question == "explain":
        return result.explain(early, "Y")
    if question == "changes":
        return result.changes(result.contexts[0], result.contexts[-1])
    if question == "effects":
        return result.effects("X", "Y")
    if question == "mechanisms":
        return result.mechanisms()
    if question == "diagnose":
        return result.diagnose()
    if question == "stability":
        return result.stability(samples=2)
    if question == "report":
        return result.report(folder / "report.html")
    result.save(folder / "result.json")
    assert cc.load(folder / "result.json") == result
    return None


def answers(cell: Cell, folder: Path, questions: Sequence[str] = QUESTIONS) -> dict[str, str]:
    """What every question is refused with; "" where it is answered."""
    try:
        result = searched(cell)
    except cc.CausalContextError as error:
        return dict.fromkeys(questions, str(error))
    check_used(cell, result)
    found = {}
    for question in questions:
        try:
            if question != "discover":
                asked(result, question, folder)
            found[question] = ""
        except cc.CausalContextError as error:
            found[question] = str(error)
    return found


def check_used(cell: Cell, result: cc.ContextGraphs) -> None:
    """Nothing of what was passed was ignored in silence."""
    assert (
        len(result.contexts)
        == {"none": 1, "one": 2, "several": 4, "threshold": 2, "bins": 3}[cell.context]
    )
    assert {"X", "Y", "C", "Z"} <= set(result.names)
    kind = {"categories": "categorical", "ordered": "ordered", "counts": "count"}.get(
        cell.columns, "continuous"
    )
    assert result.data.kinds[result.names.index("C")] == kind
    assert ("X(t-1)" in result.names) == (cell.time != "static")
    if cell.time == "panel":
        assert result.windows.starts % 2 == 0, "windows start anew in each of two units"
    if cell.columns == "curves":
        assert result.union.mark("X" if cell.time == "static" else "X(t-1)", "Y"), (
            "the link is a parabola"
        )
    if cell.storage == "scanned":
        what = "rows" if cell.time == "static" else "windows"
        assert any(f"a random sample of {SAMPLE} {what}" in note for note in result.notes)
    if cell.method != "auto":
        assert result.settings.method == cell.method


def share_refused(rules: Sequence[Rule] = RULES) -> dict[Rule | None, float]:
    """The share of all questions about all searches that each rule refuses; None: those that are
    answered.
    """
    count = Counter(refusal(cell, question) for cell in cells() for question in QUESTIONS)
    return {rule: count[rule] / count.total() for rule in (*rules, None)}


PAGE = Path(__file__).parent.parent / "docs" / "what-works-with-what.md"
HEAD = """# What works with what

Special words are in the [glossary](glossary.md).

Every method works with every kind of context, with and without [lags](time-series.md), with columns of every kind, in
memory and [scanned](any-size.md), and every result answers every question, but for the limits below. What is not
possible is refused in one sentence, and nothing is ignored in silence: `tests/test_combinations.py` tries all {cells:,}
combinations of

{axes}

on small tables. {answered} % of them are answered, {refused} % are refused.

In the tables, "no" refuses every kind of column and every question; a number alone refers to a limit in the list below, for some of them.
"""
OPTIONS = """
## Options

The options that not all methods use. An option that the method does not use is refused in one sentence if it is passed
with another value than its default. "auto" has no options: it takes pc-ac or score-ac with their defaults; "static"
means: without lags only. `unit_effects` needs `units`. All methods use all other options.

| | {methods} |
|---|{rule}
"""
TAIL = """
## Limits

| | refused with | where | why | share of all combinations |
|---|---|---|---|---|
"""
NAMED = {
    "method": "method",
    "context": "context",
    "time": "rows",
    "columns": "columns",
    "storage": "table",
    "question": "question",
}


def page() -> str:
    """The page of the documentation."""
    shares, number = share_refused(), {rule: place for place, rule in enumerate(RULES, 1)}
    axes = "\n".join(
        f"- {NAMED[axis]}: {', '.join(values)}"
        for axis, values in (*AXES.items(), ("question", QUESTIONS))
    )
    answered = 100 * shares[None]
    parts = [
        HEAD.format(
            cells=len(cells()) * len(QUESTIONS),
            axes=axes,
            answered=f"{answered:.1f}",
            refused=f"{100 - answered:.1f}",
        )
    ]
    for storage, time in product(AXES["storage"], AXES["time"]):
        parts.append(
            f"\n## {storage.capitalize()}, {time}\n\n| method | {' | '.join(AXES['context'])} |\n"
            f"|---|{'---|' * len(AXES['context'])}\n"
        )
        for method in AXES["method"]:
            marks = [_mark(method, kind, time, storage, number) for kind in AXES["context"]]
            parts.append(f"| {method} | {' | '.join(marks)} |\n")
    parts += [
        OPTIONS.format(methods=" | ".join(AXES["method"]), rule="---|" * len(AXES["method"])),
        *_options(),
        TAIL,
    ]
    for rule, place in number.items():
        where = "; ".join(
            f"{NAMED[axis]}: {', '.join(values)}" for axis, values in rule.where.items()
        )
        parts.append(
            f"| {place} | {rule.words} | {where} | {rule.why} | {100 * shares[rule]:.1f} % |\n"
        )
    return "".join(parts)


def _options() -> list[str]:
    """A line for every option that not all methods use."""
    used = {name: [METHODS[method] for method in AXES["method"]] for name in METHOD_OPTIONS}
    said = {
        name: [
            "" if name not in method.options else "static" if name in method.static else "yes"
            for method in methods
        ]
        for name, methods in used.items()
    }
    return [f"| `{name}` | {' | '.join(words)} |\n" for name, words in said.items()]


def _mark(method: str, kind: str, time: str, storage: str, number: dict[Rule, int]) -> str:
    """What the page says about a method, a kind of context, rows and a table: "yes", limits, or
    "no" and why.
    """
    found = [
        refusal(Cell(method, kind, time, columns, storage), question)
        for columns in AXES["columns"]
        for question in QUESTIONS
    ]
    named = ", ".join(
        str(place) for place in sorted({number[rule] for rule in found if rule is not None})
    )
    return f"no: {named}" if None not in found else named or "yes"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(
        f"{100 - 100 * share_refused()[None]:.1f} % of {len(cells()) * len(QUESTIONS):,}"
        " combinations are refused"
    )

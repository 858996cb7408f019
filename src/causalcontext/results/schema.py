"""Is the content of a result file what it claims to be? Types, lengths and ranges, before anything
is made of it.

A rule looks like what it allows: `str`, `bool`, `int`, `float` (any finite number) and `object`
(anything) are types, `range(3)` is a whole number in that range, a frozen set one of its words,
`[str]` a list of texts, `[str, ...]` one of at least one text, `(str, int)` a list with an entry of
its own kind at every place, `{"a": str, "b?": int}` a mapping that must have `a` and may have `b`,
`{...: int}` a mapping with any keys. A function of a value and of the words for its place is a rule
of its own. What is not allowed raises `ValueError` with one sentence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import inf, isfinite
from typing import Any

from causalcontext.ci_tests.protocol import TRAITS
from causalcontext.data.columns import Kind
from causalcontext.graphs.endpoints import GraphKind
from causalcontext.graphs.lag_names import window_names
from causalcontext.kernels.arrays import Values
from causalcontext.model_checks.violations import KINDS as VIOLATIONS
from causalcontext.results.cut import CUT, VERDICTS
from causalcontext.results.equations import KINDS as TERMS
from causalcontext.results.equations import SCALES, SPREADS
from causalcontext.results.few_rows import LEVEL_TYPES
from causalcontext.results.notes import About
from causalcontext.results.settings import MOST_DEPTH
from causalcontext.screening.left_out import Why
from causalcontext.search.rules import CHECKS, RULES

FROM_0 = range(2**62)
"""Any whole number from 0."""
TYPE_WORDS = {str: "a text", bool: "true or false", int: "a whole number", float: "a number"}


def check_range(array: Values, low: float, high: float, where: str) -> None:
    """Return if all numbers of an array lie within a range."""
    if array.size and not (low <= array.min() and array.max() <= high):
        raise ValueError(f"{where} holds a number that is not from {low} to {high}")


def check(rule: Any, value: Any, where: str = "") -> None:
    """Return if a value is what a rule allows; else the sentence names the place and says what was
    expected.
    """
    if isinstance(rule, dict):
        _check_mapping(rule, value, where)
    elif isinstance(rule, list | tuple):
        _check_list(rule, value, where)
    elif isinstance(rule, range):
        whole = isinstance(value, int) and not isinstance(value, bool) and value in rule
        most = "" if rule == FROM_0 else f" to {rule.stop - 1}"
        demand(whole, value, where, f"a whole number from {rule.start}{most}")
    elif isinstance(rule, frozenset):
        demand(isinstance(value, str) and value in rule, value, where, "one of the known words")
    elif rule in TYPE_WORDS:
        demand(_is_of_type(value, rule), value, where, TYPE_WORDS[rule])
    elif rule is not object:
        rule(value, where)


def _check_mapping(rule: dict[Any, Any], value: Any, where: str) -> None:
    """Check the entries of a mapping: those that the rule names, or all by the rule of `...`.

    A name that ends with "?" may be missing.
    """
    demand(isinstance(value, dict), value, where or "the file", "a mapping")
    entries = dict.fromkeys(value, rule[...]) if ... in rule else rule
    for written, inner in entries.items():
        key = written if ... in rule else written.removesuffix("?")
        path = f"{where}.{key}" if where else key
        if key in value:
            check(inner, value[key], path)
        elif key == written:
            raise ValueError(f"{path} is missing")


def _check_list(rule: list[Any] | tuple[Any, ...], value: Any, where: str) -> None:
    """Check a list: of a tuple every entry by its own rule, of a list all by its first rule.

    `...` in a list of rules demands one entry or more.
    """
    if isinstance(rule, tuple):
        right = isinstance(value, list) and len(value) == len(rule)
        demand(right, value, where, f"a list of {len(rule)}")
        rules: Sequence[Any] = rule
    else:
        least = int(... in rule)
        right = isinstance(value, list) and len(value) >= least
        demand(right, value, where, f"a list of {least} or more")
        rules = [rule[0]] * len(value)
    for index, (inner, entry) in enumerate(zip(rules, value, strict=True)):
        check(inner, entry, f"{where}[{index}]")


def _is_of_type(value: Any, kind: type) -> bool:
    """True for a value of a type of JSON: a bool is no number, a float may be whole but is
    finite.
    """
    if isinstance(value, bool) or kind is bool:
        return isinstance(value, bool) and kind is bool
    if kind is float:
        return isinstance(value, int | float) and isfinite(value)
    return isinstance(value, kind)


def demand(right: bool, value: Any, where: str, expected: str) -> None:
    """Return if a value is right; else the sentence says what was expected."""
    if not right:
        shown = repr(value)
        raise ValueError(
            f"{where} is {shown if len(shown) <= 40 else shown[:37] + '...'}, expected {expected}"
        )


def none_or(inner: Any) -> Callable[[Any, str], None]:
    """Nothing, or what another rule allows."""
    return lambda value, where: None if value is None else check(inner, value, where)


def between(low: float, high: float) -> Callable[[Any, str], None]:
    """A number between two others, which are not allowed themselves."""

    def rule(value: Any, where: str) -> None:
        check(float, value, where)
        demand(low < value < high, value, where, f"a number between {low} and {high}")

    return rule


def check_content(content: Mapping[str, Any]) -> None:
    """Return if everything that a result is made of is there and of the right kind and length; else
    a `ValueError`.
    """
    check({"names": [str, ...], "context": object, "data": object}, content)
    names = content["names"]
    if len(set(names)) < len(names):
        raise ValueError("names holds a name twice")
    _check_context(content["context"], names)
    count = len(names)
    contexts = len(content["context"]["cells"])
    position = range(count)
    graph = range(contexts)
    name = frozenset(names)
    rules = frozenset(rule.name for rule in RULES)
    array = {"type": frozenset(("<f8", "<i8")), "shape": [FROM_0], "base64": str}
    check(
        {
            "complete": bool,
            "kind": frozenset(kind.value for kind in GraphKind),
            "graphs": {...: [{"source": name, "target": name, "mark": str}]},
            "settings": {
                "method": str,
                "test": str,
                "alpha": between(0.0, 1.0),
                "collider_rule": str,
                "max_given": none_or(FROM_0),
                "missing": str,
                "seed": int,
                "knowledge": {...: object},
                "version": str,
                "masked_scope": str,
                "orientation": str,
                "indicator": none_or(name),
                "score": {...: object},
                "possible_dsep": none_or(range(1, FROM_0.stop)),
                "contested": str,
                "context_confounded": bool,
                "series": {...: object},
                "transform": frozenset(("none", "ranks")),
                "test_traits?": [frozenset(TRAITS)],
            },
            "data": {
                "rows": (FROM_0,) * contexts,
                "lost": (FROM_0,) * contexts,
                "without_context": FROM_0,
                "emptied": [(object, FROM_0)],
                "fingerprint": str,
                "kinds": (frozenset(Kind),) * count,
                "levels": ([object],) * count,
            },
            "tests_run": {...: FROM_0},
            "log": {"labels": [(str, str)]},
            "origins": [(graph, position, position, rules, graph, [position])],
            "doubts": [(rules | {entry.name for entry in CHECKS}, graph, position, position)],
            "warnings": [str],
            "notes": [str],
            "claims": _claims(content.get("claims"), name),
            "compared?": [(graph, graph, [_change(name, graph)])],
            "violations": none_or([(frozenset(VIOLATIONS), [name, ...], float, str)]),
            "suspicion": none_or(
                {"suspected": [(name, name)], "asked": [(name, name)], "why_not": str}
            ),
            "diagnosis?": [
                {
                    "topic": str,
                    "severity": range(3),
                    "message": str,
                    "advice": str,
                    "evidence": {...: object},
                }
            ],
            "stability?": {
                "samples": range(1, FROM_0.stop),
                "frequency": array,
                "labels": [(position, position, [([graph], between(0.0, 1.000001))])],
            },
            "other_cuts?": {"places": [float, ...], "endpoints": array},
            "evidence": none_or(_evidence(count, contexts)),
            "moments": none_or({...: array}),
            "rows?": {
                "columns": (array,) * count,
                "codes": array,
                "kinds": (frozenset(Kind),) * count,
                "dtypes": (str,) * count,
                "declared": [name],
                "share": between(0.0, 1.000001),
            },
            "order_draws?": _order_draws(content.get("order_draws"), count),
            "wrong_cells?": {
                "cells": [(FROM_0, str, float, float), ...],
                "left_out": [FROM_0],
                "kept": [(graph, position, position, str)],
            },
            "cuts?": [_cut],
            "thin?": {
                "context": str,
                "levels": [(bool, [(frozenset(LEVEL_TYPES), object), ...]), ...],
                "rows": [(FROM_0, FROM_0), ...],
                "untested": [(str, FROM_0)],
            },
            "doubtful_scales?": [
                {
                    "columns": [str],
                    "kinds": [str],
                    "reason": str,
                    "by_ranks": bool,
                    "near?": bool,
                    "as_causes?": bool,
                }
            ],
            "left_out?": [
                {
                    "column": str,
                    "why": frozenset(why.value for why in Why),
                    "reason": str,
                    "of": [str],
                }
            ],
        },
        content,
    )
    for kind in ("notes", "warnings"):
        check({f"{kind}_about?": [(range(len(content[kind])), frozenset(About), str)]}, content)
    if "series" in content:
        _check_series(content["series"], names, contexts)


def _change(name: frozenset[str], graph: range) -> Any:
    """A difference between two contexts, in the order of `results.changes.Change`."""
    number = none_or(float)
    return (
        *(name, name, str, str, graph, graph),
        *(number,) * 5,
        *(bool, str, str, str),
    )


def _claims(stored: Any, name: frozenset[str]) -> Any:
    """The claims that stood, why there are none, or nothing where no engine was asked."""
    return str if isinstance(stored, str) else none_or([(name, name, str, str)])


def _order_draws(stored: Any, count: int) -> Any:
    """The rule of drawn orders in a file, or of the sentence why there are none."""
    if isinstance(stored, str):
        return str
    distinct = stored.get("distinct") if isinstance(stored, dict) else None
    number = range(max(count, 2))
    return {
        "distinct": [[number], ...],
        "place": [range(len(distinct) if isinstance(distinct, list) else 0), ...],
    }


def _check_context(context: Any, names: list[str]) -> None:
    """Return if the description of the contexts of a file holds together."""
    position = none_or(range(len(names)))
    several = isinstance(context, dict) and isinstance(context.get("source"), list)
    check(
        {
            "variables": [{"name": frozenset(names), "levels": [object, ...], "types": [str]}],
            "cells": [[FROM_0], ...],
            "source": [position] if several else position,
        },
        context,
        "context",
    )
    sizes = [len(variable["levels"]) for variable in context["variables"]]
    demand(
        min(sizes, default=2) > 1, sizes, "the number of levels of a context variable", "2 or more"
    )
    for cell in context["cells"]:
        if len(cell) != len(sizes) or any(
            level >= size for level, size in zip(cell, sizes, strict=True)
        ):
            raise ValueError(f"context.cells holds {cell!r}, which is no combination of levels")


def _evidence(count: int, contexts: int) -> dict[str, Any]:
    """The fields of a file after a search by scores."""
    position = range(count)
    cells = [range(contexts), ...]
    term = {
        "kind": frozenset(TERMS),
        "causes": [position, ...],
        "place": float,
        "average": float,
        "slopes": [float, ...],
        "contexts": cells,
        "second": float,
        "shares": [float],
    }
    spread = {
        "shape": frozenset(SPREADS),
        "cause": range(-1, count),
        "centre": float,
        "unit": float,
        "slope": float,
        "average": float,
        "contexts": [range(contexts)],
    }
    equation = {
        "effect": position,
        "contexts": cells,
        "kind": frozenset(SCALES),
        "terms": [term],
        "intercepts": [[float, ...], ...],
        "noise": float,
        "density": [float],
        "spread": [spread],
    }

    def whole_equation(value: Any, where: str) -> None:
        check(equation, value, where)
        demand(
            len(value["intercepts"]) == len(value["contexts"]),
            value,
            where,
            "an intercept for every context",
        )
        for part in (value, *value["terms"]):
            once = len(set(part["contexts"])) == len(part["contexts"])
            demand(once, part, where, "every context once")
        for term in value["terms"]:
            right = len(term["causes"]) == 1 + (term["kind"] == "product")
            demand(right, term, where, "two causes of a product, else one")
            demand(
                len(term["shares"]) == 2 * (term["second"] >= 0),
                term,
                where,
                "the shares of two levels",
            )

    return {
        "score": float,
        "penalty": float,
        "search": str,
        "transform": str,
        "starts": FROM_0,
        "agreeing": FROM_0,
        "curved": bool,
        "curves_gain": none_or(float),
        "scales_gain": none_or(float),
        "model": [str],
        "contradicted": [str],
        "contradictions?": [(str, [str])],
        "wrong_cells": str,
        "undecided": [(range(contexts), position, position, position)],
        "mechanisms": none_or({"scales": [_scale], "equations": [whole_equation]}),
    }


def _cut(value: Any, where: str) -> None:
    """A cut that was looked for: an interval if and only if there is one."""
    number = {"value", "evidence", "required", "smooth"}
    check(
        {
            "column": str,
            "verdict": frozenset(VERDICTS),
            "low": none_or(float),
            "high": none_or(float),
            "changed": [str],
            "places": [float, ...],
            "scores": [float, ...],
        }
        | dict.fromkeys(number, float),
        value,
        where,
    )
    is_consistent = (value["verdict"] == CUT,) * 2 == (
        value["low"] is not None,
        value["high"] is not None,
    )
    demand(is_consistent, value["verdict"], where, "an interval of a cut, and of nothing else")
    demand(
        len(value["places"]) == len(value["scores"]),
        len(value["places"]),
        where,
        "as many scores as places",
    )
    demand(len(value) == 11, sorted(value), where, "a cut")


def _scale(value: Any, where: str) -> None:
    """Return if a scale has the fields that its kind needs."""
    check(
        {
            "kind": frozenset(SCALES),
            "centre": float,
            "spread": between(0.0, inf),
            "places": [float],
            "scores": [float],
            "levels": [object],
            "spike": between(-1.0, 1.0),
        },
        value,
        where,
    )
    scores, levels, places = (len(value[name]) for name in ("scores", "levels", "places"))
    right = {"ordered": scores == levels, "category": True}.get(
        value["kind"], places > 0 and scores in (0, places)
    )
    demand(right, value, where, "as many scores as there are places or levels")


def _check_series(series: Any, names: list[str], contexts: int) -> None:
    """The fields of a file after a search with lags, whose nodes are its variables at all times."""
    name = frozenset(names)
    size = none_or(float)
    check(
        {
            "variables": [name, ...],
            "lags": FROM_0,
            "covariates": [name],
            "windows": {...: FROM_0},
            "beyond_lags?": size,
        },
        series,
        "series",
    )
    variables = series["variables"]
    lags = series["lags"]
    covariates = series["covariates"]
    right = (lags + 1) * len(variables) + len(covariates) == len(names)
    right = right and [*window_names(variables, lags), *covariates] == names
    demand(right, variables, "series.variables", "what the nodes are made of")

    def lags_read(value: Any, where: str) -> None:
        check([FROM_0, ...] if isinstance(value, list) else FROM_0, value, where)

    def copies(value: Any, where: str) -> None:
        several = isinstance(value, list) and list in map(type, value[:1])
        check([(name, lags_read)] if several else (name, lags_read), value, where)

    check(
        {
            "reads": {...: none_or(copies)},
            "slopes": [(name, name, object, bool, size, size, size, size, size)],
            "copies?": [range(lags + 1)],
            "depth?": range(MOST_DEPTH * (lags + 1) + 1),
        },
        series,
        "series",
    )
    slopes = Counter((source, target) for source, target, *_ in series["slopes"])
    demand(
        {*slopes.values()} <= {contexts},
        len(series["slopes"]),
        "series.slopes",
        "a row of every link and context",
    )

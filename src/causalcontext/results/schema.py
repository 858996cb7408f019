"""Is the content of a result file what it claims to be? Types, lengths and ranges, before anything is made of it.

A check is a function of a value and of the words for its place, and raises `ValueError` with one sentence:
`each(whole(0))` is a list of whole numbers from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, isfinite
from typing import Any

from causalcontext.data.kinds import Kind
from causalcontext.graphs.endpoints import GraphKind
from causalcontext.graphs.lag_names import window_names
from causalcontext.kernels.arrays import Values
from causalcontext.model_checks.violations import KINDS as VIOLATIONS
from causalcontext.results.equations import KINDS as TERMS
from causalcontext.results.equations import SCALES, SPREADS
from causalcontext.results.notes import About
from causalcontext.search.rules import CHECKS, RULES

Check = Callable[[Any, str], None]


def check_range(array: Values, low: float, high: float, where: str) -> None:
    """Return if all numbers of an array lie within a range."""
    if array.size and not (low <= array.min() and array.max() <= high):
        raise ValueError(f"{where} holds a number that is not from {low} to {high}")


def anything(value: Any, where: str) -> None:
    """Whatever it is."""


def text(value: Any, where: str) -> None:
    """A text."""
    demand(isinstance(value, str), value, where, "a text")


def truth(value: Any, where: str) -> None:
    """True or false."""
    demand(isinstance(value, bool), value, where, "true or false")


def whole(low: int | None = None, high: int | None = None) -> Check:
    """A whole number in a range."""

    def check(value: Any, where: str) -> None:
        right = isinstance(value, int) and not isinstance(value, bool)
        right = right and (low is None or value >= low) and (high is None or value <= high)
        endpoints = f" from {low}" if high is None else f" from {low} to {high}"
        demand(right, value, where, f"a whole number{'' if low is None else endpoints}")

    return check


def number(low: float, high: float) -> Check:
    """A number between two others."""

    def check(value: Any, where: str) -> None:
        right = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
        demand(right and low < value < high, value, where, f"a number between {low} and {high}")

    return check


finite = number(-inf, inf)
"""Any number."""


def one_of(*allowed: str) -> Check:
    """One of some texts."""
    known = frozenset(allowed)

    def check(value: Any, where: str) -> None:
        demand(isinstance(value, str) and value in known, value, where, "one of the known words")

    return check


def none_or(inner: Check) -> Check:
    """Nothing, or what another check allows."""
    return lambda value, where: None if value is None else inner(value, where)


def one_or_each(inner: Check, several: Callable[[Any], bool]) -> Check:
    """What another check allows, or a list of it where there are several."""
    return lambda value, where: (each(inner) if several(value) else inner)(value, where)


def each(inner: Check, least: int = 0, most: int | None = None) -> Check:
    """A list of so many entries, all of one kind."""

    def check(value: Any, where: str) -> None:
        right = isinstance(value, list) and len(value) >= least and (most is None or len(value) <= most)
        demand(right, value, where, f"a list of {least if most == least else f'{least} or more'}")
        for place, entry in enumerate(value):
            inner(entry, f"{where}[{place}]")

    return check


def tuple_of(*inner: Check) -> Check:
    """A list with an entry of its own kind at every place."""

    def check(value: Any, where: str) -> None:
        demand(isinstance(value, list) and len(value) == len(inner), value, where, f"a list of {len(inner)}")
        for place, (entry, entry_check) in enumerate(zip(value, inner, strict=True)):
            entry_check(entry, f"{where}[{place}]")

    return check


def mapping(inner: Check) -> Check:
    """A mapping whose values are all of one kind."""

    def check(value: Any, where: str) -> None:
        demand(isinstance(value, dict), value, where, "a mapping")
        for key, entry in value.items():
            inner(entry, f"{where}.{key}")

    return check


def keys(inner: Mapping[str, Check]) -> Check:
    """A mapping with at least these keys."""

    def check(value: Any, where: str) -> None:
        demand(isinstance(value, dict), value, where or "the file", "a mapping")
        for key, entry_check in inner.items():
            path = f"{where}.{key}" if where else key
            if key not in value:
                raise ValueError(f"{path} is missing")
            entry_check(value[key], path)

    return check


def known_keys(inner: Mapping[str, Check]) -> Check:
    """A mapping of which these keys are as they should be, where it has them."""

    def check(value: Any, where: str) -> None:
        mapping(anything)(value, where)
        keys({key: entry_check for key, entry_check in inner.items() if key in value})(value, where)

    return check


def demand(right: bool, value: Any, where: str, expected: str) -> None:
    """Return if a value is right; else the sentence says what was expected."""
    if not right:
        shown = repr(value)
        raise ValueError(f"{where} is {shown if len(shown) <= 40 else shown[:37] + '...'}, expected {expected}")


MOST_DEPTH = 4
"""The past that was conditioned on is at most so many windows long."""


def check_content(content: Mapping[str, Any]) -> None:
    """Return if everything that a result is made of is there and of the right kind and length.

    Raises
    ------
    ValueError
        A sentence that names the place.
    """
    keys({"names": each(text, least=1), "context": anything, "data": anything})(content, "")
    names = content["names"]
    if len(set(names)) < len(names):
        raise ValueError("names holds a name twice")
    _check_context(content["context"], names)
    count, contexts = len(names), len(content["context"]["cells"])
    place, graph, name = whole(0, count - 1), whole(0, contexts - 1), one_of(*names)
    keys({
        "complete": truth,
        "kind": one_of(*(kind.value for kind in GraphKind)),
        "graphs": mapping(each(keys({"source": name, "target": name, "mark": text}))),
        "settings": _settings(names),
        "data": _data(count, contexts),
        "tests_run": mapping(whole(0)),
        "log": keys({"labels": each(tuple_of(text, text))}),
        "origins": each(tuple_of(graph, place, place, one_of(*(rule.name for rule in RULES)), graph, each(place))),
        "doubts": each(tuple_of(one_of(*(entry.name for entry in (*RULES, *CHECKS))), graph, place, place)),
        "warnings": each(text),
        "notes": each(text),
        "claims": text if isinstance(content.get("claims"), str) else each(tuple_of(name, name, text, text)),
        "violations": each(tuple_of(one_of(*VIOLATIONS), each(name, least=1), finite)),
        "evidence": none_or(_evidence(count, contexts)),
        "moments": none_or(mapping(keys({"type": one_of("<f8", "<i8"), "shape": each(whole(0)), "base64": text}))),
    })(content, "")  # fmt: skip
    mark = tuple_of(whole(0, len(content["notes"]) - 1), one_of(*About), text)
    each(mark)(content.get("notes_about", []), "notes_about")  # older files do not say what notes are about
    if "wrong_cells" in content:
        cell = tuple_of(whole(0), text, finite, finite)
        keys({"cells": each(cell, least=1), "left_out": each(whole(0)),
              "kept": each(tuple_of(graph, place, place, text))})(content["wrong_cells"], "wrong_cells")  # fmt: skip
    if "series" in content:
        _check_series(content["series"], names)


def _check_context(context: Any, names: list[str]) -> None:
    variable = keys({"name": one_of(*names), "levels": each(anything, least=2), "types": each(text)})
    place = none_or(whole(0, len(names) - 1))
    source = each(place) if isinstance(context, dict) and isinstance(context.get("source"), list) else place
    keys({"variables": each(variable), "cells": each(each(whole(0)), least=1), "source": source})(context, "context")
    sizes = [len(variable["levels"]) for variable in context["variables"]]
    for cell in context["cells"]:
        if len(cell) != len(sizes) or any(level >= size for level, size in zip(cell, sizes, strict=True)):
            raise ValueError(f"context.cells holds {cell!r}, which is no combination of levels")


def _settings(names: list[str]) -> Check:
    return keys({"method": text, "test": text, "alpha": number(0.0, 1.0), "collider_rule": text,
                 "max_given": none_or(whole(0)), "missing": text, "seed": whole(), "knowledge": mapping(anything),
                 "version": text, "masked_scope": text, "orientation": text, "indicator": none_or(one_of(*names)),
                 "score": mapping(anything), "possible_dsep": none_or(whole(1)), "contested": text,
                 "context_confounded": truth, "series": mapping(anything),
                 "transform": one_of("none", "ranks")})  # fmt: skip


def _evidence(count: int, contexts: int) -> Check:
    """What a search by scores leaves behind; older files do not have all of it."""
    mechanisms = none_or(keys({"scales": each(_scale), "equations": each(_equation(count, contexts))}))
    return known_keys({"score": finite, "penalty": finite, "search": text, "transform": text, "starts": whole(0),
                       "agreeing": whole(0), "curved": truth, "curves_gain": none_or(finite),
                       "scales_gain": none_or(finite), "model": each(text), "contradicted": each(text),
                       "mechanisms": mechanisms, "wrong_cells": text,
                       "undecided": each(tuple_of(whole(0, contexts - 1), *[whole(0, count - 1)] * 3))})  # fmt: skip


def _check_series(series: Any, names: list[str]) -> None:
    """What a search with lags leaves behind, and that its variables at all times are the nodes."""
    keys({"variables": each(one_of(*names), least=1), "lags": whole(0), "covariates": each(one_of(*names)),
          "windows": mapping(whole(0))})(series, "series")  # fmt: skip
    known_keys({"beyond_lags": none_or(finite)})(series, "series")
    variables, lags, covariates = series["variables"], series["lags"], series["covariates"]
    right = (lags + 1) * len(variables) + len(covariates) == len(names)
    right = right and [*window_names(variables, lags), *covariates] == names
    demand(right, variables, "series.variables", "what the nodes are made of")
    name, size = one_of(*names), none_or(finite)
    lags_read = one_or_each(whole(0), lambda value: isinstance(value, list))
    copies = one_or_each(
        tuple_of(name, lags_read), lambda value: isinstance(value, list) and list in map(type, value[:1])
    )
    slope = tuple_of(name, name, anything, truth, size, size, size, size, size)
    keys({"reads": mapping(none_or(copies)), "slopes": each(slope)})(series, "series")
    known_keys({"copies": each(whole(0, lags)), "depth": whole(0, MOST_DEPTH * (lags + 1))})(series, "series")


def _scale(value: Any, where: str) -> None:
    """How a column of a model is measured."""
    keys({"kind": one_of(*SCALES), "centre": finite, "spread": number(0.0, inf), "places": each(finite),
          "scores": each(finite), "levels": each(anything)})(value, where)  # fmt: skip
    scores, levels, places = (len(value[name]) for name in ("scores", "levels", "places"))
    right = {"ordered": scores == levels, "category": True}.get(value["kind"], places > 0 and scores in (0, places))
    demand(right, value, where, "as many scores as there are places or levels")


def _equation(count: int, contexts: int) -> Check:
    """The mechanism of an effect in some contexts."""
    place, cells = whole(0, count - 1), each(whole(0, contexts - 1), least=1)
    term = keys({"kind": one_of(*TERMS), "causes": each(place, least=1, most=2), "place": finite, "average": finite,
                 "slopes": each(finite, least=1), "contexts": cells})  # fmt: skip
    spread = keys({"shape": one_of(*SPREADS), "cause": whole(-1, count - 1), "centre": finite, "unit": finite,
                   "slope": finite, "average": finite, "contexts": each(whole(0, contexts - 1))})  # fmt: skip
    whole_equation = keys({"effect": place, "contexts": cells, "kind": one_of(*SCALES), "terms": each(term),
                           "intercepts": each(each(finite, least=1), least=1), "noise": finite,
                           "density": each(finite)})  # fmt: skip

    def check(value: Any, where: str) -> None:
        whole_equation(value, where)
        known_keys({"spread": each(spread)})(value, where)
        demand(len(value["intercepts"]) == len(value["contexts"]), value, where, "an intercept for every context")
        for one in value["terms"]:
            demand(
                len(one["causes"]) == 1 + (one["kind"] == "product"), one, where, "two causes of a product, else one"
            )

    return check


def _data(count: int, contexts: int) -> Check:
    by_context = each(whole(0), least=contexts, most=contexts)
    return keys({"rows": by_context, "lost": by_context, "without_context": whole(0),
                 "emptied": each(tuple_of(anything, whole(0))), "fingerprint": text,
                 "kinds": each(one_of(*Kind), least=count, most=count)})  # fmt: skip

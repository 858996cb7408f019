"""Is the content of a result file what it claims to be? Types, lengths and ranges, before anything is made out of it.

A check is a function of a value and of the words for its place, and raises `ValueError` with one sentence. Checks are
put together: `each(whole(0))` is a list of whole numbers from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, isfinite
from typing import Any

from causalcontext.graphs.ends import Kind
from causalcontext.guards.misfits import KINDS as MISFITS
from causalcontext.kernels.arrays import Values
from causalcontext.results.equations import KINDS as TERMS
from causalcontext.results.equations import SCALES
from causalcontext.results.notes import About
from causalcontext.search.rules import CHECKS, RULES

Check = Callable[[Any, str], None]


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
    place, graph = whole(0, count - 1), whole(0, contexts - 1)
    keys({
        "complete": truth,
        "kind": one_of(*(kind.value for kind in Kind)),
        "graphs": mapping(each(keys({"source": one_of(*names), "target": one_of(*names), "mark": text}))),
        "settings": _settings(names),
        "data": _data(count, contexts),
        "tests_run": mapping(whole(0)),
        "log": keys({"labels": each(tuple_of(text, text))}),
        "origins": each(tuple_of(graph, place, place, one_of(*(rule.name for rule in RULES)), graph, each(place))),
        "doubts": each(tuple_of(one_of(*(entry.name for entry in (*RULES, *CHECKS))), graph, place, place)),
        "warnings": each(text),
        "notes": each(text),
        "claims": _claims(names),
        "misfits": each(tuple_of(one_of(*MISFITS), each(one_of(*names), least=1), number(-inf, inf))),
        "evidence": none_or(_evidence(count, contexts)),
        "moments": none_or(mapping(keys({"type": one_of("<f8", "<i8"), "shape": each(whole(0)), "base64": text}))),
    })(content, "")  # fmt: skip
    _check_marks(content)


def _check_marks(content: Mapping[str, Any]) -> None:
    """What notes are about; older files do not say it."""
    mark = tuple_of(whole(0, len(content["notes"]) - 1), one_of(*About), text)
    each(mark)(content.get("notes_about", []), "notes_about")


def _check_context(context: Any, names: list[str]) -> None:
    variable = keys({"name": one_of(*names), "levels": each(anything, least=2), "types": each(text)})
    keys({"variables": each(variable), "cells": each(each(whole(0)), least=1),
          "source": none_or(whole(0, len(names) - 1))})(context, "context")  # fmt: skip
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
    """What a search by scores leaves behind; older files have no mechanisms."""
    mechanisms = none_or(keys({"scales": each(_scale), "equations": each(_equation(count, contexts))}))

    def check(value: Any, where: str) -> None:
        mapping(anything)(value, where)
        mechanisms(value.get("mechanisms"), f"{where}.mechanisms")

    return check


def _scale(value: Any, where: str) -> None:
    """How a column of a model is measured."""
    finite = number(-inf, inf)
    keys({"kind": one_of(*SCALES), "centre": finite, "spread": number(0.0, inf), "places": each(finite),
          "scores": each(finite), "levels": each(anything)})(value, where)  # fmt: skip
    scores, levels, places = (len(value[name]) for name in ("scores", "levels", "places"))
    right = {"ordered": scores == levels, "category": True}.get(value["kind"], places > 0 and scores in (0, places))
    _demand(right, value, where, "as many scores as there are places or levels")


def _equation(count: int, contexts: int) -> Check:
    """The mechanism of an effect in some contexts."""
    finite, place, cells = number(-inf, inf), whole(0, count - 1), each(whole(0, contexts - 1), least=1)
    term = keys({"kind": one_of(*TERMS), "causes": each(place, least=1, most=2), "place": finite, "average": finite,
                 "slopes": each(finite, least=1), "contexts": cells})  # fmt: skip
    whole_equation = keys({"effect": place, "contexts": cells, "kind": one_of(*SCALES), "terms": each(term),
                           "intercepts": each(each(finite, least=1), least=1), "noise": finite,
                           "law": each(finite)})  # fmt: skip

    def check(value: Any, where: str) -> None:
        whole_equation(value, where)
        _demand(len(value["intercepts"]) == len(value["contexts"]), value, where, "an intercept for every context")
        for one in value["terms"]:
            _demand(
                len(one["causes"]) == 1 + (one["kind"] == "product"), one, where, "two causes of a product, else one"
            )

    return check


def _claims(names: list[str]) -> Check:
    """A reason, or claims of change."""
    listed = each(tuple_of(one_of(*names), one_of(*names), text, text))

    def check(value: Any, where: str) -> None:
        (text if isinstance(value, str) else listed)(value, where)

    return check


def _data(count: int, contexts: int) -> Check:
    by_context = each(whole(0), least=contexts, most=contexts)
    return keys({"rows": by_context, "lost": by_context, "without_context": whole(0),
                 "emptied": each(tuple_of(anything, whole(0))), "kinds": each(text, least=count, most=count),
                 "fingerprint": text})  # fmt: skip


def check_range(array: Values, low: float, high: float, where: str) -> None:
    """Return if all numbers of an array lie within a range."""
    if array.size and not (low <= array.min() and array.max() <= high):
        raise ValueError(f"{where} holds a number that is not from {low} to {high}")


def anything(value: Any, where: str) -> None:
    """Whatever it is."""


def text(value: Any, where: str) -> None:
    """A text."""
    _demand(isinstance(value, str), value, where, "a text")


def truth(value: Any, where: str) -> None:
    """True or false."""
    _demand(isinstance(value, bool), value, where, "true or false")


def whole(low: int | None = None, high: int | None = None) -> Check:
    """A whole number in a range."""

    def check(value: Any, where: str) -> None:
        right = isinstance(value, int) and not isinstance(value, bool)
        right = right and (low is None or value >= low) and (high is None or value <= high)
        ends = f" from {low}" if high is None else f" from {low} to {high}"
        _demand(right, value, where, f"a whole number{'' if low is None else ends}")

    return check


def number(low: float, high: float) -> Check:
    """A number between two others."""

    def check(value: Any, where: str) -> None:
        right = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
        _demand(right and low < value < high, value, where, f"a number between {low} and {high}")

    return check


def one_of(*allowed: str) -> Check:
    """One of some texts."""
    known = frozenset(allowed)

    def check(value: Any, where: str) -> None:
        _demand(isinstance(value, str) and value in known, value, where, "one of the known words")

    return check


def none_or(inner: Check) -> Check:
    """Nothing, or what another check allows."""
    return lambda value, where: None if value is None else inner(value, where)


def each(inner: Check, least: int = 0, most: int | None = None) -> Check:
    """A list of so many entries, all of one kind."""

    def check(value: Any, where: str) -> None:
        right = isinstance(value, list) and len(value) >= least and (most is None or len(value) <= most)
        _demand(right, value, where, f"a list of {least if most == least else f'{least} or more'}")
        for place, entry in enumerate(value):
            inner(entry, f"{where}[{place}]")

    return check


def tuple_of(*inner: Check) -> Check:
    """A list with an entry of its own kind at every place."""

    def check(value: Any, where: str) -> None:
        _demand(isinstance(value, list) and len(value) == len(inner), value, where, f"a list of {len(inner)}")
        for place, (entry, entry_check) in enumerate(zip(value, inner, strict=True)):
            entry_check(entry, f"{where}[{place}]")

    return check


def mapping(inner: Check) -> Check:
    """A mapping whose values are all of one kind."""

    def check(value: Any, where: str) -> None:
        _demand(isinstance(value, dict), value, where, "a mapping")
        for key, entry in value.items():
            inner(entry, f"{where}.{key}")

    return check


def keys(inner: Mapping[str, Check]) -> Check:
    """A mapping with at least these keys."""

    def check(value: Any, where: str) -> None:
        _demand(isinstance(value, dict), value, where or "the file", "a mapping")
        for key, entry_check in inner.items():
            path = f"{where}.{key}" if where else key
            if key not in value:
                raise ValueError(f"{path} is missing")
            entry_check(value[key], path)

    return check


def _demand(right: bool, value: Any, where: str, expected: str) -> None:
    if not right:
        shown = repr(value)
        raise ValueError(f"{where} is {shown if len(shown) <= 40 else shown[:37] + '...'}, expected {expected}")

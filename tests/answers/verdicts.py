"""The verdict on accidents: tables are searched before and after, and clean answers are kept."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import spreadsheets  # noqa: F401  (more accidents register there)
from bases import Base, clean_base
from cases import Case, untouched

from accidents import ACCIDENTS
from answers import Answer, Figures, Verdict, answer_to, figures_of, verdict_on


@dataclass(frozen=True)
class Outcome:
    """What accidents did to one table."""

    base: str
    seed: int
    before: Figures
    after: Figures
    answer: Answer
    seconds: tuple[float, float]


@cache
def clean(base: str, seed: int) -> tuple[Base, Answer]:
    """A clean table and the answer to it, searched once."""
    found = clean_base(base, seed)
    return found, answer_to(untouched(found))


def case_of(accidents: Sequence[str], base: Base, seed: int) -> Case | None:
    """The table after some accidents, one after the other; None where one of them cannot happen to
    it.
    """
    case: Case | None = untouched(base)
    for name in accidents:
        assert case is not None
        random = np.random.default_rng([seed, zlib.crc32(name.encode())])
        try:
            case = ACCIDENTS[name].change(case, random)
        except TypeError:  # cells that hold words by now are no numbers to compute with
            return None
        if case is None:
            return None
    return case


def outcome_of(accidents: Sequence[str], base: str, seed: int) -> Outcome | None:
    """What some accidents do to a table; None where they cannot happen to it."""
    known, before = clean(base, seed)
    case = case_of(accidents, known, seed)
    if case is None:
        return None
    answer = answer_to(case)
    as_it_was = figures_of(replace(untouched(known), affected=case.affected), before, before)
    if case.everywhere:  # nothing that the other context changes can be claimed, nor asked
        as_it_was = replace(as_it_was, claims=0.0, covered=float("nan"))
    return Outcome(
        base,
        seed,
        as_it_was,
        figures_of(case, answer, before),
        answer,
        (before.seconds, answer.seconds),
    )


def judged(
    accidents: Sequence[str], base: str, seeds: Iterable[int]
) -> tuple[Verdict, list[Outcome]] | None:
    """The verdict on some tables of a base, and what happened to each; None where the accidents
    cannot happen.
    """
    outcomes = [found for seed in seeds if (found := outcome_of(accidents, base, seed)) is not None]
    if not outcomes:
        return None
    return verdict_on([one.after for one in outcomes], [one.before for one in outcomes]), outcomes

"""The options of `calibrate`, once, for the library and for the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from causalcontext.ci_tests.protocol import IndependenceTest
from causalcontext.ci_tests.registry import find_test
from causalcontext.diagnostics.calibration.alternatives import ALTERNATIVES
from causalcontext.diagnostics.calibration.nulls import NULLS
from causalcontext.diagnostics.calibration.questions import check_named
from causalcontext.errors import OptionError, check_choice, check_jobs, check_level, check_whole
from causalcontext.options import option


@dataclass(frozen=True)
class CalibrationOptions:
    """What to calibrate, and how; `calibrate` says what each of them means."""

    test: str | IndependenceTest = option("auto", "NAME", "auto, or a test by name: tsagris, cmi-knn, ...")
    x: str | None = option(None, "COLUMN", "One end of a pair; all kinds without.")
    y: str | None = option(None, "COLUMN", "The other end.")
    given: Sequence[str] | None = option(None)
    null: str = option("permutation", "NAME", "permutation or bootstrap.")
    alternative: str = option("mean", "NAME", "mean, slope, variance or association.")
    effect: float = option(0.5, "NUMBER", "In standard deviations of the noise.")
    alpha: float = option(0.05, "NUMBER", "Larger p-values mean independence.")
    repeats: int = option(200, "N", "Null tables for every row of the answer.")
    largest_given: int = option(2, "N", "The largest number of conditions.")
    kinds: Mapping[str, str] | None = option(None)
    missing: str = option("raise", "MODE", "Missing values: raise, or listwise (drop rows).")
    seed: int = option(0, "N", "Same seed, same answer.")
    n_jobs: int = option(1, "N", "Processes; -1 for all cores.", "jobs")

    def __post_init__(self) -> None:
        find_test(self.test)
        check_choice("null", self.null, NULLS)
        check_choice("alternative", self.alternative, ALTERNATIVES)
        check_choice("missing", self.missing, ("raise", "listwise"))
        if not _real(self.effect) or not 0.0 <= self.effect < np.inf:
            raise OptionError(f"effect is {self.effect!r}, expected a number from 0")
        if self.alternative == "association" and self.effect > 1.0:
            raise OptionError(f"effect is {self.effect!r}, expected a probability: between 0 and 1 for 'association'")
        check_level("alpha", self.alpha)
        check_whole("repeats", self.repeats, 1)
        check_whole("largest_given", self.largest_given, 0)
        check_whole("seed", self.seed)
        check_jobs(self.n_jobs)
        check_named(self.x, self.y, self.given)

    def settings(self, context: str | None) -> dict[str, Any]:
        """What a report says about how it was made."""
        return {
            "context": None if context is None else str(context), "test": find_test(self.test).name,
            "x": self.x, "y": self.y, "given": None if self.given is None else list(self.given), "null": self.null,
            "alternative": self.alternative, "effect": float(self.effect), "alpha": float(self.alpha),
            "repeats": int(self.repeats), "largest_given": int(self.largest_given), "missing": self.missing,
            "seed": int(self.seed),
        }  # fmt: skip


class CalibrationKeywords(TypedDict, total=False):
    """The fields of `CalibrationOptions`, for type checkers."""

    test: str | IndependenceTest
    x: str | None
    y: str | None
    given: Sequence[str] | None
    null: str
    alternative: str
    effect: float
    alpha: float
    repeats: int
    largest_given: int
    kinds: Mapping[str, str] | None
    missing: str
    seed: int
    n_jobs: int


def _real(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)

"""The options of `discover`, once: the library, the command line and the estimator `PCAC` all take
these.

A new option is one field here (and one line in `Keywords`, which type checkers and editors read);
its metadata say what the command line shows. Everything is checked when the options are made,
before any long work.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from inspect import Parameter, signature
from typing import Any, TypedDict, TypeVar

from causalcontext import errors
from causalcontext.ci_tests.protocol import IndependenceTest
from causalcontext.ci_tests.registry import DEVICES, find_test
from causalcontext.data.as_written import parsed_codes
from causalcontext.data.checks import check_missing_option
from causalcontext.data.sample import SAMPLE
from causalcontext.data.series_options import (
    Covariates,
    SeriesOptions,
    series_options,
    time_columns,
    with_written_cycles,
)
from causalcontext.errors import OptionError
from causalcontext.knowledge import Knowledge
from causalcontext.methods.registry import METHODS, SPECIAL
from causalcontext.score.options import ScoreOptions
from causalcontext.screening.cells import DECIMALS, POINT
from causalcontext.screening.screen import DAMAGED
from causalcontext.search.colliders import COLLIDER_RULES
from causalcontext.search.fci import CONTESTED
from causalcontext.search.masked_tests import SCOPES

ORIENTATIONS = ("across", "within")
Function = TypeVar("Function", bound=Callable[..., Any])


def option(default: Any, shown: str = "", text: str = "", name: str = "") -> Any:
    """A field with what the command line needs: how its value is called, and a text; without a text
    it has none.
    """
    return field(default=default, metadata={"shown": shown, "text": text, "name": name})


@dataclass(frozen=True)
class Options:
    """How to search; `discover` says what each of them means."""

    method: str = option(
        "auto",
        "NAME",
        "auto (score-ac or pc-ac, a note says why), pc-ac (the paper's), pc-m, pc-p, "
        "pc-b, fci-ac, score-ac.",
    )
    test: str | IndependenceTest = option(
        "auto", "NAME", "auto (by the kinds of columns), or a test by name: tsagris, cmi-knn, ..."
    )
    alpha: float = option(0.05, "NUMBER", "Larger p-values mean independence.")
    knowledge: Knowledge | None = option(None)
    max_given: int | None = option(None, "N", "The largest conditioning set.")
    collider_rule: str = option("majority", "NAME", "majority, conservative or first.")
    masked_scope: str = option("adaptive", "NAME", "pc-ac: adaptive, cycle or always.")
    orientation: str = option("across", "NAME", "pc-ac, fci-ac: across contexts, or within each.")
    possible_dsep: int | None = option(
        None, "N", "fci-ac: the largest set that may hold non-neighbours."
    )
    contested: str = option(
        "conflict", "NAME", "fci-ac: contested arrowheads are a conflict, or bidirected."
    )
    context_confounded: bool = option(
        True, "", "fci-ac: whether the context may have hidden common causes."
    )
    kinds: Mapping[str, str] | None = option(None)
    missing: str = option(
        "raise",
        "MODE",
        "Missing values: raise, model (use every observed cell), listwise (drop "
        "rows) or testwise (drop them test by test); with lags raise, model, windows or "
        "interpolate.",
    )
    na_values: Any = option(
        None, "VALUES", "Values that mean missing: -9999 or -9999,. for example.", "na"
    )
    keep: Sequence[str] | None = option(
        None,
        "COLUMNS",
        "Columns, separated by commas, that are searched although "
        "they would be left out: a total beside its parts, an id.",
    )
    strict: bool = option(False, "", "Stop where columns would be left out, in place of a warning.")
    damaged: str = option(
        "auto",
        "NAME",
        "Duplicate rows, a row of totals, codes for missing values, imputed means "
        "and values carried forward: auto (left out, with a warning), or keep.",
    )
    decimal: str = option(
        POINT, "MARK", "What stands before the decimals of numbers in text: . or ,"
    )
    convert: bool = option(
        False,
        "",
        "Read numbers in text with one unit (12 kg) or thousands separators, and merge "
        "levels that differ only in case or spaces.",
    )
    n_jobs: int = option(1, "N", "Threads; -1 for all cores.", "jobs")
    device: str = option(
        "cpu", "NAME", "cpu, cuda (an NVIDIA card), or auto: a card if a usable one is present."
    )
    seed: int = option(0, "N", "For random starts, and tests that draw random numbers.")
    search: str = option(
        "auto", "NAME", "score-ac: auto (the quicker one), order, or exact for small tables."
    )
    transform: str = option(
        "auto", "NAME", "none, or ranks (normal scores of every column); score-ac also: auto."
    )
    starts: int | None = option(None, "N", "score-ac: random starts.")
    curves: str = option(
        "auto", "NAME", "score-ac: auto (if they raise the score enough), never or always."
    )
    penalty: float = option(2.0, "NUMBER", "score-ac: the penalty per parameter; 1 is the BIC.")
    wrong_cells: str = option(
        "auto",
        "NAME",
        "score-ac: auto (replace cells that look wrong, if that shortens the "
        "description), or keep.",
    )
    sample: int = option(
        SAMPLE, "N", "Size of the random sample of rows that is kept of a table read in batches."
    )
    time_limit: float | None = option(
        None, "SECONDS", "Stop the search after this time and return the result so far."
    )
    lags: int | None = option(None, "N", "Rows are a time series: the largest lag of a cause.")
    time: str | Sequence[str] | None = option(
        None,
        "COLUMN",
        "With lags: the column that orders the rows; gaps are "
        "respected. DATE,TIME: in two columns.",
    )
    units: str | None = option(
        None, "COLUMN", "With lags: the column that names the series of a panel."
    )
    step: str | float | None = option(
        None, "STEP", "With lags: the time between two rows, such as 30min."
    )
    context_lags: Sequence[int] | str | None = option(
        None, "LAGS", "With lags: the context lags that mechanisms may depend on, 0,1 by default."
    )
    covariates: Covariates = option(
        None,
        "COLUMNS",
        "With lags: columns, separated by commas, that may be causes but not effects.",
    )
    cycle: str | None = option(
        None,
        "COLUMN:PERIOD",
        "With lags: cycles of the time column as covariates, TIMESTAMP:1D or TIMESTAMP:1D:2, ...",
    )
    unit_effects: str = option(
        "means", "NAME", "With units: means (each unit's mean is subtracted) or none."
    )
    time_effects: str = option(
        "none",
        "NAME",
        "With units and time: means (what all units share at a time is subtracted) or none.",
    )

    def __post_init__(self) -> None:
        allowed = {
            "method": METHODS,
            "collider_rule": COLLIDER_RULES,
            "device": DEVICES,
            "masked_scope": SCOPES,
            "orientation": ORIENTATIONS,
            "contested": CONTESTED,
            "damaged": DAMAGED,
            "decimal": DECIMALS,
        }
        for name, choices in allowed.items():
            errors.check_choice(name, getattr(self, name), choices)
        if self.lags is None:
            check_missing_option(self.missing)
        find_test(self.test)
        errors.check_level("alpha", self.alpha)
        if self.max_given is not None:
            errors.check_whole("max_given", self.max_given, 0, ", or None for no limit")
        errors.check_whole("seed", self.seed, 0)
        errors.check_whole("sample", self.sample, 1)
        errors.check_jobs(self.n_jobs)
        errors.check_truth("context_confounded", self.context_confounded)
        if self.possible_dsep is not None:
            errors.check_whole(
                "possible_dsep", self.possible_dsep, 1, ", or None for neighbours alone"
            )
        if self.knowledge is not None and not isinstance(self.knowledge, Knowledge):
            raise OptionError(
                f"knowledge is a {type(self.knowledge).__name__}, expected a Knowledge object"
            )
        if self.missing == "testwise" and self.method == "score-ac" and self.lags is None:
            raise OptionError(
                "missing is 'testwise', which is for methods that test; pass missing='model', or "
                "method='pc-ac'"
            )
        errors.check_truth("strict", self.strict)
        errors.check_truth("convert", self.convert)
        _ = self.score, self.series, self.kept, parsed_codes(self.na_values)
        self._check_used()

    @property
    def score(self) -> ScoreOptions:
        """Those of the score-based engine."""
        return ScoreOptions(
            self.search,
            self.transform,
            self.starts,
            self.penalty,
            self.time_limit,
            self.curves,
            wrong_cells=self.wrong_cells,
        )

    @property
    def named_for_tests(self) -> tuple[str, ...]:
        """The options that `auto` takes for a wish for tests, and that are not as by default."""
        named = self._named(("alpha", *METHODS["pc-ac"].options))
        return (*named, "missing='testwise'") if self.missing == "testwise" else named

    def _check_used(self) -> None:
        """Return if the method uses all options that are not as by default."""
        chosen = self.method
        said = f"method is {self.method!r}"
        if self.method == "auto" and self.named_for_tests:
            chosen = "pc-ac"
            said = f"{self.named_for_tests[0]}, which is for searches by tests, is passed, too"
        for name in self._named(SPECIAL):
            if name not in METHODS[chosen].options:
                users = [
                    repr(user)
                    for user, method in METHODS.items()
                    if name in method.options and user != "auto"
                ]
                plural = "method" if len(users) == 1 else "methods"
                raise OptionError(
                    f"{name} is for {plural} {errors.listed(users, 6)}, and {said}; leave {name}"
                    f" out, or pass method={users[0]}"
                )
            if self.lags is not None and name in METHODS[chosen].static:
                raise OptionError(f"{name} is for searches without lags; leave {name} out, or lags")
        if self.lags is None and self._named(("time_effects",)):
            raise OptionError(
                f"time_effects is {errors.shortly(self.time_effects)}, which is for panels; pass "
                "lags=..., time=... and units=..., too"
            )
        if self.search == "exact" and self.starts is not None:
            raise OptionError(
                f"starts is {errors.shortly(self.starts)}, which is for climbs from random orders,"
                " and search is 'exact'; leave starts out, or pass search='order'"
            )
        if self.units is None and self._named(("unit_effects",)):
            raise OptionError(
                f"unit_effects is {errors.shortly(self.unit_effects)}, which is for panels; pass "
                "lags=... and units=..., the column that names the series, too"
            )

    def _named(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of some options that are not as by default; anything but a number, text or None is
        not.
        """
        default = {entry.name: default_of(entry) for entry in fields(self)}
        plain = {
            name: isinstance(getattr(self, name), (int, float, str, type(None))) for name in names
        }
        return tuple(
            name for name in plain if not (plain[name] and getattr(self, name) == default[name])
        )

    @property
    def series(self) -> SeriesOptions | None:
        """How rows follow each other in time; None where they do not."""
        time = None if self.time is None else ", ".join(time_columns(self.time))
        covariates = with_written_cycles(self.covariates, self.cycle)
        return series_options(
            self.lags,
            time=time,
            units=self.units,
            step=self.step,
            covariates=covariates,
            context_lags=self.context_lags,
            unit_effects=self.unit_effects,
            missing=self.missing,
            time_effects=self.time_effects,
        )

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns that are searched although they would be left out."""
        return names_to_keep(self.keep)

    @property
    def threads(self) -> int:
        """The number of threads that is meant."""
        return (os.cpu_count() or 1) if self.n_jobs == -1 else int(self.n_jobs)


def names_to_keep(keep: Any) -> tuple[str, ...]:
    """The names of columns out of a sequence, or out of text with commas.

    >>> names_to_keep("total, id"), names_to_keep(["a,b"]), names_to_keep(None)
    (('total', 'id'), ('a,b',), ())
    """
    if keep is None:
        return ()
    named = keep.split(",") if isinstance(keep, str) else keep
    if not isinstance(named, Sequence) or not all(isinstance(name, str | int) for name in named):
        raise OptionError(
            f"keep is {errors.shortly(keep)}, expected names of columns such as ['total']"
        )
    return tuple(str(name).strip() for name in named)


class Keywords(TypedDict, total=False):
    """The fields of `Options`, for type checkers."""

    method: str
    test: str | IndependenceTest
    alpha: float
    knowledge: Knowledge | None
    max_given: int | None
    collider_rule: str
    masked_scope: str
    orientation: str
    possible_dsep: int | None
    contested: str
    context_confounded: bool
    kinds: Mapping[str, str] | None
    missing: str
    na_values: Any
    keep: Sequence[str] | None
    strict: bool
    damaged: str
    decimal: str
    convert: bool
    n_jobs: int
    device: str
    seed: int
    search: str
    transform: str
    starts: int | None
    curves: str
    penalty: float
    wrong_cells: str
    sample: int
    time_limit: float | None
    lags: int | None
    time: str | Sequence[str] | None
    units: str | None
    step: str | float | None
    context_lags: Sequence[int] | str | None
    covariates: Covariates
    cycle: str | None
    unit_effects: str
    time_effects: str


def made(kind: type[Any], given: Mapping[str, Any], caller: str) -> Any:
    """An object of options from keywords; one that is unknown is an error that names its
    neighbour.
    """
    known = kind.__dataclass_fields__
    for name in given:
        if name not in known:
            raise OptionError(
                f"{caller} has no option {name!r}{errors.did_you_mean(name, list(known))}"
            )
    return kind(**given)


def default_of(entry: Field[Any]) -> Any:
    """The default of a field."""
    return Parameter.empty if entry.default is MISSING else entry.default


def takes(kind: type[Any]) -> Callable[[Function], Function]:
    """Let `help()` and editors show the options that a function takes as keywords."""
    more = [
        Parameter(
            entry.name, Parameter.KEYWORD_ONLY, default=default_of(entry), annotation=entry.type
        )
        for entry in fields(kind)
    ]
    return lambda function: with_parameters(function, more)


def with_parameters(
    function: Function, more: Iterable[Parameter], eval_str: bool = False
) -> Function:
    """The function, which says that it takes some parameters after its own, in place of any
    keywords.
    """
    own = signature(function, eval_str=eval_str)
    first = [
        parameter
        for parameter in own.parameters.values()
        if parameter.kind is not Parameter.VAR_KEYWORD
    ]
    function.__signature__ = own.replace(parameters=[*first, *more])  # type: ignore[attr-defined]
    return function

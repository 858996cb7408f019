"""The options of `discover`, once: the library, the command line and the estimator all take these.

`Options` has what every method understands; what belongs to one method is a field of that method's
object (`methods/`), and `options_of` puts a keyword beside a method's name into it. A new option is
one field, and one line in `Keywords` or `MethodKeywords`, which type checkers and editors read; its
metadata say what the command line shows. Everything is checked when the options are made, before
any long work. CONTRIBUTING.md lists every place that an option needs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, fields, replace
from inspect import Parameter, signature
from typing import Any, TypedDict, TypeVar

from causalcontext import errors
from causalcontext.ci_tests.protocol import IndependenceTest
from causalcontext.ci_tests.registry import DEVICES
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
from causalcontext.errors import OptionError, listed, shortly
from causalcontext.knowledge import Knowledge
from causalcontext.methods.method_object import MethodObject, call_of, default_of, option
from causalcontext.methods.registry import AUTO, METHOD_OPTIONS, METHODS, method_of, owners
from causalcontext.score.options import ScoreOptions
from causalcontext.screening.cells import DECIMALS, POINT
from causalcontext.screening.screen import DAMAGED

Function = TypeVar("Function", bound=Callable[..., Any])
OF_CELLS = "Reading the table"
"""The heading of the options that say what the cells of a table mean."""
OF_RUNS = "Running"
"""The heading of the options that say where, how long and with which random numbers it runs."""
IN_TIME = "Rows in time"
"""The heading of the options of a time series."""
BY_TESTS = "pc-ac"
"""The method that an error shows where several that test would do."""


@dataclass(frozen=True)
class Options:
    """The options of a search; `discover` says what each of them means."""

    method: str | MethodObject = option(
        "auto",
        "NAME",
        "auto (score-ac or pc-ac, a note says why), pc-ac (the paper's), pc-m, pc-p, "
        "pc-b, fci-ac, score-ac; the options of each are below.",
    )
    knowledge: Knowledge | None = option(None)
    kinds: Mapping[str, str] | None = option(None)
    missing: str = option(
        "raise",
        "MODE",
        "Missing values: raise, model (use every observed cell), listwise (drop "
        "rows) or testwise (drop them test by test); with lags raise, model, windows or "
        "interpolate.",
        group=OF_CELLS,
    )
    na_values: Any = option(
        None,
        "VALUES",
        "Values that mean missing: -9999 or -9999,. for example.",
        "na",
        group=OF_CELLS,
    )
    keep: Sequence[str] | None = option(
        None,
        "COLUMNS",
        "Columns, separated by commas, that are searched although "
        "they would be left out: a total beside its parts, an id.",
        group=OF_CELLS,
    )
    strict: bool = option(
        False, "", "Stop where columns would be left out, in place of a warning.", group=OF_CELLS
    )
    damaged: str = option(
        "auto",
        "NAME",
        "Duplicate rows, a row of totals, codes for missing values, imputed means "
        "and values carried forward: auto (left out, with a warning), or keep.",
        group=OF_CELLS,
    )
    decimal: str = option(
        POINT,
        "MARK",
        "What stands before the decimals of numbers in text: . or ,",
        group=OF_CELLS,
    )
    convert: bool = option(
        False,
        "",
        "Read numbers in text with one unit (12 kg) or thousands separators, and merge "
        "levels that differ only in case or spaces.",
        group=OF_CELLS,
    )
    transform: str = option(
        "auto",
        "NAME",
        "none, or ranks (normal scores of every column); score-ac also: auto.",
        group=OF_CELLS,
    )
    sample: int = option(
        SAMPLE,
        "N",
        "Size of the random sample of rows that is kept of a table read in batches.",
        group=OF_CELLS,
    )
    n_jobs: int = option(1, "N", "Threads; -1 for all cores.", "jobs", group=OF_RUNS)
    device: str = option(
        "cpu",
        "NAME",
        "cpu, cuda (an NVIDIA card), or auto: a card if a usable one is present.",
        group=OF_RUNS,
    )
    seed: int = option(
        0, "N", "For random starts, and tests that draw random numbers.", group=OF_RUNS
    )
    time_limit: float | None = option(
        None,
        "SECONDS",
        "Stop the search after this time and return the result so far.",
        group=OF_RUNS,
    )
    lags: int | None = option(
        None, "N", "Rows are a time series: the largest lag of a cause.", group=IN_TIME
    )
    time: str | Sequence[str] | None = option(
        None,
        "COLUMN",
        "With lags: the column that orders the rows; gaps are "
        "respected. DATE,TIME: in two columns.",
        group=IN_TIME,
    )
    units: str | None = option(
        None,
        "COLUMN",
        "With lags: the column that names the series of a panel.",
        group=IN_TIME,
    )
    step: str | float | None = option(
        None,
        "STEP",
        "With lags: the time between two rows, such as 30min.",
        group=IN_TIME,
    )
    context_lags: Sequence[int] | str | None = option(
        None,
        "LAGS",
        "With lags: the context lags that mechanisms may depend on, 0,1 by default.",
        group=IN_TIME,
    )
    covariates: Covariates = option(
        None,
        "COLUMNS",
        "With lags: columns, separated by commas, that may be causes but not effects.",
        group=IN_TIME,
    )
    cycle: str | None = option(
        None,
        "COLUMN:PERIOD",
        "With lags: cycles of the time column as covariates, TIMESTAMP:1D or TIMESTAMP:1D:2, ...",
        group=IN_TIME,
    )
    unit_effects: str = option(
        "means",
        "NAME",
        "With units: means (each unit's mean is subtracted) or none.",
        group=IN_TIME,
    )
    time_effects: str = option(
        "none",
        "NAME",
        "With units and time: means (what all units share at a time is subtracted) or none.",
        group=IN_TIME,
    )

    def __post_init__(self) -> None:
        method_of(self.method)
        allowed = {"device": DEVICES, "damaged": DAMAGED, "decimal": DECIMALS}
        for name, choices in allowed.items():
            errors.check_choice(name, getattr(self, name), choices)
        if self.lags is None:
            check_missing_option(self.missing)
        errors.check_whole("seed", self.seed, 0)
        errors.check_whole("sample", self.sample, 1)
        errors.check_jobs(self.n_jobs)
        if self.knowledge is not None and not isinstance(self.knowledge, Knowledge):
            raise OptionError(
                f"knowledge is a {type(self.knowledge).__name__}, expected a Knowledge object"
            )
        if self.missing == "testwise" and self.method_name == "score-ac" and self.lags is None:
            raise OptionError(
                "missing is 'testwise', which is for methods that test; pass missing='model', or "
                "method='pc-ac'"
            )
        errors.check_truth("strict", self.strict)
        errors.check_truth("convert", self.convert)
        _ = self.score, self.series, self.kept, parsed_codes(self.na_values)
        self._check_used()

    @property
    def method_object(self) -> MethodObject:
        """The method with its options."""
        return method_of(self.method)

    @property
    def method_name(self) -> str:
        """The name of the method."""
        return self.method_object.name

    @property
    def of_methods(self) -> dict[str, Any]:
        """The options of the method, and of the other ones by default."""
        return METHOD_OPTIONS | self.method_object.values

    @property
    def score(self) -> ScoreOptions:
        """Those of the score-based engine."""
        values = self.of_methods
        return ScoreOptions(
            values["search"],
            self.transform,
            values["starts"],
            values["penalty"],
            self.time_limit,
            values["curves"],
            wrong_cells=values["wrong_cells"],
        )

    def _check_used(self) -> None:
        """Return if the method uses all options that are not as by default.

        An option that would change nothing is an error, with what to leave out or to pass as well:
        who sets it expects something of it.
        """
        method = self.method_object
        if self.lags is not None:
            for name in METHODS[method.name].static:
                if name in method.changed:
                    raise OptionError(
                        f"{name} is for searches without lags; leave {name} out, or lags"
                    )
        if self.device != "cpu" and not method.tests:
            raise OptionError(
                f"device is {self.device!r}, which is for methods that test, and method is"
                f" {method.name!r}; leave device out, or pass method={BY_TESTS!r}"
            )
        if self.lags is None and not _is_word(self.time_effects, "none"):
            raise OptionError(
                f"time_effects is {shortly(self.time_effects)}, which is for panels; pass "
                "lags=..., time=... and units=..., too"
            )
        if self.units is None and not _is_word(self.unit_effects, "means"):
            raise OptionError(
                f"unit_effects is {shortly(self.unit_effects)}, which is for panels; pass "
                "lags=... and units=..., the column that names the series, too"
            )

    @property
    def series(self) -> SeriesOptions | None:
        """The order of rows in time; None where they do not follow each other.

        Names of time columns are joined as they are in the table that is searched, and cycles
        become covariates.
        """
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
        """The columns that are searched although they would be left out, as `keep` names them."""
        return names_to_keep(self.keep)

    @property
    def threads(self) -> int:
        """The number of threads that is meant: all cores for -1."""
        return (os.cpu_count() or 1) if self.n_jobs == -1 else int(self.n_jobs)


def _is_word(value: object, word: str) -> bool:
    """True where a value is that text; any other object, an array too, is not."""
    return isinstance(value, str) and value == word


def names_to_keep(keep: Any) -> tuple[str, ...]:
    """The names of columns out of a sequence, or out of text with commas.

    A sequence may have names with commas in them, text may not.

    >>> names_to_keep("total, id"), names_to_keep(["a,b"]), names_to_keep(None)
    (('total', 'id'), ('a,b',), ())
    """
    if keep is None:
        return ()
    named = keep.split(",") if isinstance(keep, str) else keep
    if not isinstance(named, Sequence) or not all(isinstance(name, str | int) for name in named):
        raise OptionError(f"keep is {shortly(keep)}, expected names of columns such as ['total']")
    return tuple(str(name).strip() for name in named)


_BY_TESTS = [name for name, method in METHODS.items() if method.kind.tests]
"""The methods that test."""
ENTRIES: dict[str, Field[Any]] = {entry.name: entry for entry in fields(Options)}
for _method in METHODS.values():
    for _entry in fields(_method.kind):  # type: ignore[arg-type]
        ENTRIES.setdefault(_entry.name, _entry)
"""Every option by name, those of methods last; of an option of several methods the first field."""


def group_of(name: str) -> str:
    """The heading under which `--help` and the app list an option: what it is about, or the methods
    that have it.

    >>> group_of("penalty"), group_of("lags"), group_of("seed")
    ('Options of score-ac', 'Rows in time', 'Running')
    >>> group_of("alpha")
    'Options of methods that test, and of score-ac'
    """
    if name not in METHOD_OPTIONS:
        return str(ENTRIES[name].metadata["group"])
    users = owners(name)
    others = [user for user in users if user not in _BY_TESTS]
    if not set(_BY_TESTS) <= set(users):
        return f"Options of {listed(users, len(users))}"
    if others:
        return f"Options of methods that test, and of {listed(others, len(others))}"
    return f"Options of methods that test: {', '.join(_BY_TESTS)}"


class MethodKeywords(TypedDict, total=False):
    """The options of methods, for type checkers."""

    test: str | IndependenceTest
    alpha: float
    max_given: int | None
    collider_rule: str
    masked_scope: str
    orientation: str
    possible_dsep: int | None
    contested: str
    context_confounded: bool
    search: str
    starts: int | None
    curves: str
    penalty: float
    wrong_cells: str


class Keywords(MethodKeywords, total=False):
    """The fields of `Options`, and those of the methods' objects, for type checkers."""

    method: str | MethodObject
    knowledge: Knowledge | None
    kinds: Mapping[str, str] | None
    missing: str
    na_values: Any
    keep: Sequence[str] | None
    strict: bool
    damaged: str
    decimal: str
    convert: bool
    transform: str
    sample: int
    n_jobs: int
    device: str
    seed: int
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


def options_of(given: Mapping[str, Any], caller: str) -> Options:
    """The options that keywords say: those of a method, beside its name, are put into its object.

    >>> options_of({"method": "pc-ac", "alpha": 0.01}, "discover").method
    cc.PCAC(alpha=0.01)
    """
    common = [entry.name for entry in fields(Options)]
    for name in given:
        if name not in common and name not in METHOD_OPTIONS:
            near = errors.did_you_mean(name, [*common, *METHOD_OPTIONS])
            raise OptionError(f"{caller} has no option {name!r}{near}")
    of_method = {name: value for name, value in given.items() if name in METHOD_OPTIONS}
    rest = {name: value for name, value in given.items() if name in common}
    if of_method:
        rest["method"] = _with_options(rest.get("method", AUTO), of_method)
    return Options(**rest)


def _with_options(method: Any, given: dict[str, Any]) -> MethodObject:
    """The method with the options that stand beside its name, if they are its own.

    Beside an object of a method, which holds its options, they are an error that shows the call
    with all of them in the object.
    """
    chosen = method_of(method)
    if not set(given) <= set(chosen.defaults()):
        raise _not_used(chosen, given)
    if not isinstance(method, str):
        call = call_of(type(chosen), chosen.changed | given)
        raise OptionError(
            f"{listed(given)} {'stands' if len(given) == 1 else 'stand'} beside the object of a"
            f" method, which holds its options: pass method={call}"
        )
    return replace(chosen, **given)  # type: ignore[type-var]


def _not_used(method: MethodObject, given: dict[str, Any]) -> OptionError:
    """The error that a method does not have some options, with the call to write.

    The call is that of a method that has all of them, if there is one, best of the method by tests.
    """
    name = next(name for name in given if name not in method.defaults())
    together = [user for user in owners(name) if set(given) <= set(METHODS[user].options)]
    users = together or owners(name)
    shown = given if together else {name: given[name]}
    user = BY_TESTS if BY_TESTS in users else users[0]
    call = call_of(METHODS[user].kind, shown)
    if set(_BY_TESTS) <= set(users):
        whose = "methods that test"
    else:
        whose = f"method{'s' if len(users) > 1 else ''} {listed(map(repr, users), len(users))}"
    if method.name == AUTO:
        belongs = f"{listed(shown)} belong{'s' if len(shown) == 1 else ''} to {whose}"
        options = ", ".join(f"{option}={value!r}" for option, value in shown.items())
        return OptionError(f"{belongs}: pass method={call}, or method={user!r}, {options}")
    return OptionError(
        f"{name} belongs to {whose}, and method is {method.name!r}: leave {name} out, or pass"
        f" method={call}"
    )


def made(kind: type[Any], given: Mapping[str, Any], caller: str) -> Any:
    """An object of options from keywords; one that is unknown is an error that names its neighbour.

    Parameters
    ----------
    kind : type
        A dataclass whose fields are the options.
    given : mapping
        Values by name.
    caller : str
        The function that the error is about.
    """
    known = kind.__dataclass_fields__
    for name in given:
        if name not in known:
            raise OptionError(
                f"{caller} has no option {name!r}{errors.did_you_mean(name, list(known))}"
            )
    return kind(**given)


def takes(kind: type[Any]) -> Callable[[Function], Function]:
    """A decorator that lets `help()` and editors show the options that a function takes as
    keywords.

    Options of methods are shown as one keyword mapping: each method's object lists its own.
    """
    more = [
        Parameter(
            entry.name, Parameter.KEYWORD_ONLY, default=default_of(entry), annotation=entry.type
        )
        for entry in fields(kind)
    ]
    if kind is Options:
        more.append(Parameter("method_options", Parameter.VAR_KEYWORD))
    return lambda function: with_parameters(function, more)


def with_parameters(
    function: Function, more: Iterable[Parameter], eval_str: bool = False
) -> Function:
    """The function, which says that it takes some parameters after its own, in place of any
    keywords.

    The signature alone is changed: `help()` and editors show it, and calls are as they were.
    """
    own_signature = signature(function, eval_str=eval_str)
    first = [
        parameter
        for parameter in own_signature.parameters.values()
        if parameter.kind is not Parameter.VAR_KEYWORD
    ]
    function.__signature__ = own_signature.replace(parameters=[*first, *more])  # type: ignore[attr-defined]
    return function

"""Ordinary accidents, in families: each is a small function from a case to a case, with a sentence
of what happened.

What an accident may do to the answer about the other columns stands in its entry: nothing (`SAME`),
or true things may get lost where a warning says so (`TOLD`), or the table may be refused by a
sentence that names the column (`REFUSED`). Nothing false may be said after any of these. Where
cells of a column in the middle are lost for good, its causes may seem to act on its effects by
themselves: there a warning has to name the column (`WARNED`).
"""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from cases import Case

import causalcontext as cc

Change = Callable[[Case, np.random.Generator], Case | None]


class Allowed(StrEnum):
    """What an accident may do to an answer."""

    SAME = "nothing"
    TOLD = "less is found, and a warning says why"
    REFUSED = "less is found with a warning, or the table is refused with the name of the column"
    WARNED = "what rests on the damaged column may be wrong, and a warning names it"


SAME, TOLD, REFUSED, WARNED = Allowed


@dataclass(frozen=True, eq=False)
class Accident:
    """An accident: what happened, what it may do, and how it is done; None where it cannot happen
    to a table.
    """

    name: str
    family: str
    says: str
    allowed: Allowed
    change: Change


ACCIDENTS: dict[str, Accident] = {}
_family = ""


def accident(
    says: str, allowed: Allowed = SAME, name: str = "", family: str = ""
) -> Callable[[Change], Change]:
    """Register an accident of a family, or of the present one."""

    def register(change: Change) -> Change:
        own = name or change.__name__.strip("_")
        assert own not in ACCIDENTS, own
        ACCIDENTS[own] = Accident(own, family or _family, says, allowed, change)
        return change

    return register


def by_family() -> dict[str, list[Accident]]:
    """The accidents of every family."""
    found: dict[str, list[Accident]] = {}
    for one in ACCIDENTS.values():
        found.setdefault(one.family, []).append(one)
    return found


def in_units(cells: pd.Series) -> pd.Series:
    """A column in standard units."""
    return (cells - cells.mean()) / cells.std()


def with_noise(cells: pd.Series, share: float, rng: np.random.Generator) -> pd.Series:
    """A column with noise of so many standard deviations."""
    return cells + share * cells.std() * rng.standard_normal(len(cells))


def rounded(cells: pd.Series, step: float) -> pd.Series:
    """A column rounded to steps of so many standard deviations."""
    width = step * cells.std()
    return (cells / width).round() * width


# ------------------------------------------------------------------------------------------------------------
# order

_family = "order"


@accident("the rows are shuffled")
def rows_shuffled(case: Case, rng: np.random.Generator) -> Case:
    return case.with_rows(rng.permutation(len(case.table)))


@accident("the rows are in reverse order")
def rows_reversed(case: Case, rng: np.random.Generator) -> Case:
    return case.with_rows(np.arange(len(case.table))[::-1])


@accident("the second half of the rows comes first")
def halves_swapped(case: Case, rng: np.random.Generator) -> Case:
    return case.with_rows(np.roll(np.arange(len(case.table)), len(case.table) // 2))


@accident("even rows come before odd ones")
def even_rows_first(case: Case, rng: np.random.Generator) -> Case:
    return case.with_rows(np.argsort(np.arange(len(case.table)) % 2, kind="stable"))


def _sorted_by(role: str, down: bool) -> Change:
    def change(case: Case, rng: np.random.Generator) -> Case:
        cells = case.column(getattr(case, role)).to_numpy()
        order = np.argsort(cells, kind="stable")
        return case.with_rows(order[::-1] if down else order)

    return change


for _role, _words in (
    ("cause", "a cause"),
    ("middle", "a column in the middle"),
    ("sink", "an effect"),
):
    accident(f"the rows are sorted by {_words}", name=f"sorted_by_{_role}")(
        _sorted_by(_role, False)
    )
    accident(f"the rows are sorted down by {_words}", name=f"sorted_down_{_role}")(
        _sorted_by(_role, True)
    )


@accident("the rows are sorted by the context")
def sorted_by_context(case: Case, rng: np.random.Generator) -> Case | None:
    if case.context is None:
        return None
    return case.with_rows(np.argsort(case.is_second, kind="stable"))


@accident("the rows are sorted by the context, and inside it by a number")
def sorted_by_context_and_number(case: Case, rng: np.random.Generator) -> Case | None:
    if case.context is None:
        return None
    return case.with_rows(np.lexsort((case.column(case.middle).to_numpy(), case.is_second)))


@accident("the rows are sorted by groups of a number, and inside them by another number")
def sorted_by_groups(case: Case, rng: np.random.Generator) -> Case:
    groups = case.column(case.cause).rank().to_numpy() // (len(case.table) / 10)
    return case.with_rows(np.lexsort((case.column(case.sink).to_numpy(), groups)))


@accident("the columns are shuffled")
def columns_shuffled(case: Case, rng: np.random.Generator) -> Case:
    return case.with_table(case.table.iloc[:, rng.permutation(case.table.shape[1])])


@accident("the columns are in reverse order")
def columns_reversed(case: Case, rng: np.random.Generator) -> Case:
    return case.with_table(case.table.iloc[:, ::-1])


# -------------------------------------------------------------------------------------------
# identifiers and clocks

_family = "identifiers and clocks"


def _identifiers(rows: int, rng: np.random.Generator) -> dict[str, tuple[str, Any]]:
    """Columns that tell rows apart, or say when they were written, with a sentence each."""
    hours = pd.Timestamp("2021-03-01") + pd.to_timedelta(np.arange(rows) * 5, unit="h")
    shuffled = rng.permutation(rows)
    names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    return {
        "case_no": ("a column 1, 2, 3, ...", np.arange(1, rows + 1)),
        "countdown": ("row numbers, the last first", np.arange(rows)[::-1]),
        "by_tens": ("row numbers 10, 20, 30, ...", 10 * np.arange(1, rows + 1)),
        "Unnamed: 0": ("the index that pandas wrote into the file", np.arange(rows)),
        "float_no": ("row numbers 1.0, 2.0, 3.0, ...", np.arange(1.0, rows + 1.0)),
        "shuffled_no": ("row numbers of an earlier order", shuffled + 1),
        "account": (
            "unique whole numbers of nine digits",
            rng.choice(9 * 10**8, rows, replace=False) + 10**8,
        ),
        "barcode": (
            "unique whole numbers of six digits",
            rng.choice(9 * 10**5, rows, replace=False) + 10**5,
        ),
        "sample_key": ("keys such as K-00017", [f"K-{place:05d}" for place in shuffled]),
        "hash": ("hexadecimal keys", [f"{value:08x}" for value in rng.integers(0, 2**32, rows)]),
        "uuid": ("UUIDs", [str(uuid.UUID(bytes=rng.bytes(16))) for _ in range(rows)]),
        "mail": (
            "addresses, different in every row",
            [f"user{place}@example.org" for place in shuffled],
        ),
        "remark": (
            "free text, different in every row",
            [f"checked at {x:.6f}, looks fine" for x in rng.random(rows)],
        ),
        "date": ("dates, increasing", hours.normalize()),
        "stamp": ("times, increasing", hours),
        "stamp_shuffled": ("times in random order", hours[shuffled]),
        "stamp_zone": ("times with a time zone", hours.tz_localize("UTC")),
        "date_text": ("dates as text such as 2021-03-01", hours.strftime("%Y-%m-%d")),
        "date_dots": ("dates as text such as 01.03.2021", hours.strftime("%d.%m.%Y")[shuffled]),
        "date_digits": ("dates as numbers such as 20210301", hours.strftime("%Y%m%d").astype(int)),
        "seconds": ("seconds since 1970", hours.astype("int64") // 10**9),
        "duration": ("durations", pd.to_timedelta(rng.integers(60, 9000, rows), unit="s")),
        "year": ("a year in random order", rng.integers(2012, 2022, rows)),
        "weekday": ("days of the week in random order", np.array(names)[rng.integers(0, 7, rows)]),
        "hour": ("hours of the day in random order", rng.integers(0, 24, rows)),
    }


def _with_identifier(column: str) -> Change:
    def change(case: Case, rng: np.random.Generator) -> Case:
        return case.beside(**{column: _identifiers(len(case.table), rng)[column][1]})

    return change


for _column, (_words, _) in _identifiers(10, np.random.default_rng(0)).items():
    accident(f"beside: {_words}", name=_column.replace(": ", "_").lower())(
        _with_identifier(_column)
    )


@accident("the rows are sorted by a cause and then numbered: the number is its rank")
def numbered_after_sorting(case: Case, rng: np.random.Generator) -> Case:
    ordered = case.with_rows(np.argsort(case.column(case.cause).to_numpy(), kind="stable"))
    return ordered.beside(of=(case.cause,), row_no=np.arange(1, len(case.table) + 1))


@accident("a text column of the same key for every three rows")
def keys_of_groups(case: Case, rng: np.random.Generator) -> Case:
    groups = rng.permutation(len(case.table)) // 3
    return case.beside(visit_key=[f"V{group:04d}" for group in groups])


# -----------------------------------------------------------------------------------------------
# numbers as text

_family = "numbers as text"


def _written(write: Callable[[float], str], few: bool = False) -> Change:
    def change(case: Case, rng: np.random.Generator) -> Case:
        cells = case.column(case.sink)
        cells = rounded(cells, 0.25) if few else cells
        return case.with_cells(case.sink, [write(value) for value in cells])

    return change


_WAYS: tuple[tuple[str, str, Callable[[float], str]], ...] = (
    ("plain_text", "numbers as text such as '12.3'", lambda x: f"{x:.3f}"),
    ("with_unit", "a unit in all cells, '12.3 kg'", lambda x: f"{x:.1f} kg"),
    ("with_unit_close", "a unit without a space, '12.3mg/l'", lambda x: f"{x:.2f}mg/l"),
    ("with_percent", "a percent sign in all cells", lambda x: f"{x:.1f}%"),
    ("with_currency", "a currency before all numbers, '$ 12.30'", lambda x: f"$ {x:.2f}"),
    ("decimal_comma", "decimal commas", lambda x: f"{x:.2f}".replace(".", ",")),
    ("thousands", "thousands separators, '1,234.5'", lambda x: f"{1000 * x:,.1f}"),
    ("with_spaces", "spaces around the numbers", lambda x: f"  {x:.2f} "),
    ("scientific", "numbers such as '1.23E+01'", lambda x: f"{x:.3E}"),
    ("in_quotes", "numbers in quotes", lambda x: f"'{x:.2f}'"),
)
for _name, _words, _write in _WAYS:
    accident(_words, REFUSED, name=f"text_{_name}")(_written(_write))
for _name, _words, _write in _WAYS[1:2] + _WAYS[5:6]:
    accident(f"{_words}, of few different values", REFUSED, name=f"text_{_name}_few")(
        _written(_write, few=True)
    )


def _some_words(word: str, share: float) -> Change:
    def change(case: Case, rng: np.random.Generator) -> Case:
        cells = case.column(case.sink).astype(object).to_numpy().copy()
        cells[rng.random(len(cells)) < share] = word
        return case.with_cells(case.sink, cells)

    return change


for _name, _word, _share in (
    ("na", "n/a", 0.03),
    ("dash", "-", 0.03),
    ("below", "<0.5", 0.02),
    ("unknown", "unknown", 0.01),
    ("some_units", "12 kg", 0.01),
):
    accident(f"'{_word}' among the numbers of a column", REFUSED, name=f"text_{_name}")(
        _some_words(_word, _share)
    )


# ------------------------------------------------------------------------------------- functions of
# other columns

_family = "functions of columns"


def _of_middle(how: Callable[[pd.Series, np.random.Generator], Any]) -> Change:
    def change(case: Case, rng: np.random.Generator) -> Case:
        return case.beside(
            of=(case.middle,), derived=np.asarray(how(case.column(case.middle), rng))
        )

    return change


_FUNCTIONS: tuple[tuple[str, str, Callable[[pd.Series, np.random.Generator], Any]], ...] = (
    ("copy", "a column twice", lambda x, rng: x),
    ("other_unit", "a column in another unit", lambda x, rng: 2.54 * x + 11.0),
    (
        "other_unit_rounded",
        "a column in another unit, rounded",
        lambda x, rng: rounded(2.54 * x, 0.1),
    ),
    ("opposite", "a column with the opposite sign", lambda x, rng: -x),
    (
        "coarse",
        "a column rounded to a third of a standard deviation",
        lambda x, rng: rounded(x, 0.33),
    ),
    ("trace_of_noise", "a column with noise of 0.001 sd", lambda x, rng: with_noise(x, 0.001, rng)),
    ("measured_twice", "a column with noise of 0.02 sd", lambda x, rng: with_noise(x, 0.02, rng)),
    ("logarithm", "its logarithm", lambda x, rng: np.log(in_units(x) + 6.0)),
    (
        "logarithm_rounded",
        "its logarithm, rounded",
        lambda x, rng: np.log(in_units(x) + 6.0).round(2),
    ),
    ("square", "its square", lambda x, rng: in_units(x) ** 2),
    (
        "square_all_positive",
        "its square, of positive numbers",
        lambda x, rng: (in_units(x) + 6.0) ** 2,
    ),
    ("root", "its square root", lambda x, rng: np.sqrt(in_units(x) + 6.0)),
    ("exponential", "its exponential", lambda x, rng: np.exp(in_units(x))),
    ("reciprocal", "one over it", lambda x, rng: 1.0 / (in_units(x) + 6.0)),
    ("rank", "its rank", lambda x, rng: x.rank()),
    (
        "percentile",
        "its percentile as a whole number",
        lambda x, rng: np.ceil(100 * x.rank(pct=True)).astype(int),
    ),
    ("standard_units", "it in standard units", lambda x, rng: in_units(x)),
    (
        "above_mean",
        "whether it is above its mean, as 0/1",
        lambda x, rng: (x > x.mean()).astype(int),
    ),
    (
        "above_limit",
        "whether it is above a limit, as True/False",
        lambda x, rng: x > x.quantile(0.7),
    ),
    (
        "thirds",
        "its third, in words",
        lambda x, rng: pd.qcut(x, 3, labels=["low", "middle", "high"]).astype(str),
    ),
    ("deciles", "its decile, 1 to 10", lambda x, rng: pd.qcut(x, 10, labels=False) + 1),
    ("as_text", "it as text with a digit", lambda x, rng: [f"{value:.1f}" for value in x]),
)
for _name, _words, _how in _FUNCTIONS:
    accident(f"beside a column: {_words}", name=f"derived_{_name}")(_of_middle(_how))


def _of_two(how: Callable[[pd.Series, pd.Series, np.random.Generator], Any]) -> Change:
    """A function of two columns in positive units, so that ratios are those of lengths and
    weights.
    """

    def change(case: Case, rng: np.random.Generator) -> Case:
        x, y = in_units(case.column(case.middle)) + 6.0, in_units(case.column(case.sink)) + 6.0
        return case.beside(of=(case.middle, case.sink), combined=np.asarray(how(x, y, rng)))

    return change


def _sum_of_columns(case: Case, digits: int | None, noise: float, rng: np.random.Generator) -> Case:
    x, y = case.column(case.middle), case.column(case.sink)
    total = x + y
    total = total if digits is None else total.round(digits)
    total = total + noise * total.std() * rng.standard_normal(len(total))
    return case.beside(of=(case.middle, case.sink), total=total.to_numpy())


@accident("the sum of two columns beside them")
def total(case: Case, rng: np.random.Generator) -> Case:
    return _sum_of_columns(case, None, 0.0, rng)


@accident("the sum of two columns beside them, in whole numbers")
def total_rounded(case: Case, rng: np.random.Generator) -> Case:
    return _sum_of_columns(case, 0, 0.0, rng)


@accident("the sum of two columns beside them, with noise of 0.01 sd")
def total_noisy(case: Case, rng: np.random.Generator) -> Case:
    return _sum_of_columns(case, None, 0.01, rng)


@accident("the difference of two columns beside them")
def difference(case: Case, rng: np.random.Generator) -> Case:
    return case.beside(
        of=(case.cause, case.sink),
        gap=(case.column(case.cause) - case.column(case.sink)).to_numpy(),
    )


@accident("the mean of three columns beside them")
def mean_of_three(case: Case, rng: np.random.Generator) -> Case:
    names = (case.cause, case.middle, case.sink)
    score = np.mean([in_units(case.column(name)) for name in names], axis=0)
    return case.beside(of=names, score=score)


for _name, _words, _combine in (
    ("product", "the product of two columns", lambda x, y, rng: x * y),
    ("ratio", "the ratio of two columns", lambda x, y, rng: x / y),
    ("ratio_rounded", "the ratio of two columns, rounded", lambda x, y, rng: (x / y).round(1)),
    ("mass_index", "x / y^2, as the body mass index", lambda x, y, rng: x / y**2),
    ("mass_index_rounded", "x / y^2, rounded", lambda x, y, rng: (100 * x / y**2).round(1)),
    ("share", "the share x / (x + y) in percent", lambda x, y, rng: 100 * x / (x + y)),
):
    accident(f"beside two columns: {_words}", name=f"combined_{_name}")(_of_two(_combine))


@accident("three unrelated percentages that sum to 100")
def percentages(case: Case, rng: np.random.Generator) -> Case:
    parts = rng.gamma(3.0, 1.0, (3, len(case.table)))
    sand, silt, clay = 100.0 * parts / parts.sum(axis=0)
    return case.beside(sand=sand, silt=silt, clay=clay)


@accident("three unrelated percentages that sum to 100, in whole numbers")
def percentages_rounded(case: Case, rng: np.random.Generator) -> Case:
    parts = rng.gamma(3.0, 1.0, (3, len(case.table)))
    sand, silt, clay = np.round(100.0 * parts / parts.sum(axis=0))
    return case.beside(sand=sand, silt=silt, clay=clay)


def _category(case: Case, rng: np.random.Generator) -> tuple[Case, np.ndarray]:
    """The case with an unrelated category of three levels, and its cells."""
    cells = np.array(["oak", "pine", "ash"])[rng.integers(0, 3, len(case.table))]
    return case.beside(tree=cells), cells


@accident("0/1 columns for every level of a category beside it")
def dummies(case: Case, rng: np.random.Generator) -> Case:
    with_category, cells = _category(case, rng)
    return with_category.beside(
        **{f"tree_{level}": (cells == level).astype(int) for level in ("ash", "oak", "pine")}
    )


@accident("True/False columns for all levels of a category but one")
def dummies_but_one(case: Case, rng: np.random.Generator) -> Case:
    with_category, cells = _category(case, rng)
    return with_category.beside(**{f"tree_{level}": cells == level for level in ("oak", "pine")})


@accident("the code 1, 2, 3 of a category beside it")
def code_of_category(case: Case, rng: np.random.Generator) -> Case:
    with_category, cells = _category(case, rng)
    return with_category.beside(
        tree_code=pd.Series(cells).map({"ash": 1, "oak": 2, "pine": 3}).to_numpy()
    )


def _regression(case: Case) -> tuple[pd.Series, np.ndarray]:
    target = case.column(case.sink)
    others = [
        in_units(case.column(name)).to_numpy() for name in case.numbers() if name != case.sink
    ]
    design = np.column_stack([np.ones(len(target)), *others])
    return target, design @ np.linalg.lstsq(design, target.to_numpy(), rcond=None)[0]


@accident("the predictions of a regression of one column on the others")
def predictions(case: Case, rng: np.random.Generator) -> Case:
    return case.beside(of=(case.sink,), predicted=_regression(case)[1])


@accident("the residuals of a regression of one column on the others")
def residuals(case: Case, rng: np.random.Generator) -> Case:
    target, predicted = _regression(case)
    return case.beside(of=(case.sink,), residual=target.to_numpy() - predicted)


# ---------------------------------------------------------------------------------------------- the
# context itself

_family = "the context"


def _recoded(codes: Callable[[np.ndarray], Any]) -> Change:
    """The context written in another way; only contexts of two values."""

    def change(case: Case, rng: np.random.Generator) -> Case | None:
        truth = case.base.truth
        if (
            truth.context is None
            or truth.values is None
            or case.column(truth.context).nunique() > 2
        ):
            return None
        second = case.is_second
        cells = codes(second)
        table = case.table.copy()
        table[case.now(truth.context)] = cells
        kept = list(np.asarray(cells, dtype=object))
        values = {
            truth.values[0]: kept[int(np.argmin(second))],
            truth.values[1]: kept[int(np.argmax(second))],
        }
        return replace(case, table=table, values=values)

    return change


for _name, _words, _codes in (
    ("as_0_1", "0 and 1", lambda second: second.astype(int)),
    ("as_1_2", "1 and 2", lambda second: second.astype(int) + 1),
    ("as_floats", "0.0 and 1.0", lambda second: second.astype(float)),
    ("as_bool", "True and False", lambda second: second),
    ("as_letters", "other words", lambda second: np.where(second, "B", "A")),
):
    accident(f"the context is written as {_words}", name=f"context_{_name}")(_recoded(_codes))


@accident("the context is a pandas category with a level that does not occur")
def context_as_category(case: Case, rng: np.random.Generator) -> Case | None:
    if case.context is None:
        return None
    table, name = case.table.copy(), case.now(case.base.truth.context)
    levels = sorted(table[name].unique())
    table[name] = table[name].astype(pd.CategoricalDtype([*levels, "never"]))
    return case.with_table(table)


def _beside_context(how: Callable[[Case, np.random.Generator], Any]) -> Change:
    def change(case: Case, rng: np.random.Generator) -> Case | None:
        if case.context is None:
            return None
        return case.beside(of=(case.base.truth.context,), twin=np.asarray(how(case, rng)))

    return change


for _name, _words, _twin in (
    ("copy", "the context a second time", lambda case, rng: case.column(case.base.truth.context)),
    ("code", "a 0/1 code of the context", lambda case, rng: case.is_second.astype(int)),
    ("code_bool", "a True/False code of the context", lambda case, rng: case.is_second),
    (
        "nearly",
        "a code of the context with 1 % errors",
        lambda case, rng: (case.is_second ^ (rng.random(len(case.table)) < 0.01)).astype(int),
    ),
    (
        "other_words",
        "the context in capital letters",
        lambda case, rng: case.column(case.base.truth.context).str.upper(),
    ),
    (
        "finer",
        "a finer column, of which the context is a function",
        lambda case, rng: (
            case.column(case.base.truth.context) + rng.choice(["-1", "-2", "-3"], len(case.table))
        ),
    ),
):
    accident(f"beside: {_words}", name=f"context_beside_{_name}")(_beside_context(_twin))


def _odd_values(odd: Callable[[str], Any], share: float) -> Change:
    """Some cells of the second context in another way of writing."""

    def change(case: Case, rng: np.random.Generator) -> Case | None:
        truth = case.base.truth
        if truth.context is None or truth.values is None:
            return None
        table, name = case.table.copy(), case.now(truth.context)
        value = case.values.get(truth.values[1], truth.values[1])
        if not isinstance(value, str):
            return None
        cells = table[name].astype(object).to_numpy().copy()
        cells[case.is_second & (rng.random(len(cells)) < share)] = odd(value)
        table[name] = cells
        return replace(case.with_table(table, str(value), str(odd(value))))

    return change


accident("some cells of the context in capital letters", TOLD, name="context_capitals")(
    _odd_values(str.upper, 0.06)
)
accident("a space behind some values of the context", TOLD, name="context_space")(
    _odd_values(lambda x: x + " ", 0.06)
)
accident("some values of the context with a typing error", TOLD, name="context_typo")(
    _odd_values(lambda x: x + "s", 0.03)
)


def _context_missing(share: float) -> Change:
    def change(case: Case, rng: np.random.Generator) -> Case | None:
        if case.context is None:
            return None
        table, name = case.table.copy(), case.now(case.base.truth.context)
        table[name] = table[name].astype(object).mask(rng.random(len(table)) < share, None)
        return case.with_table(table, str(name))

    return change


accident("2 % of the context are missing", REFUSED, name="context_missing_2")(
    _context_missing(0.02)
)
accident("12 % of the context are missing", REFUSED, name="context_missing_12")(
    _context_missing(0.12)
)


def _rare_context(rows: int) -> Change:
    def change(case: Case, rng: np.random.Generator) -> Case | None:
        if case.context is None:
            return None
        table, name = case.table.copy(), case.now(case.base.truth.context)
        cells = table[name].astype(object).to_numpy().copy()
        if not isinstance(cells[0], str):
            return None
        cells[rng.choice(len(cells), rows, replace=False)] = "odd"
        table[name] = cells
        return case.with_table(table, "odd")

    return change


def _idle_context(rows: int) -> Change:
    """Another context, of which one value has a few rows, or half of them."""

    def change(case: Case, rng: np.random.Generator) -> Case | None:
        if case.context is None:
            return None
        cells = np.full(len(case.table), "plain", dtype=object)
        cells[rng.choice(len(cells), rows or len(cells) // 2, replace=False)] = "special"
        found = case.beside("special", batch=cells)
        assert case.base.truth.values is not None
        values = dict.fromkeys(case.base.truth.values, "plain")
        return replace(
            found, context="batch", values=values, everywhere=True, alike=(("plain", "special"),)
        )

    return change


for _rows in (3, 6, 12):
    accident(f"a further value of the context in {_rows} rows", TOLD, name=f"context_rare_{_rows}")(
        _rare_context(_rows)
    )
for _rows in (4, 9, 20):
    accident(
        f"the context is another one, which does nothing, with a value of {_rows} rows",
        TOLD,
        name=f"context_idle_{_rows}",
    )(_idle_context(_rows))
accident("the context is a coin; the real one is a column", name="context_idle")(_idle_context(0))


def _split_context(parts: str) -> Change:
    """The second value of the context in several levels, drawn by lot, which behave the same."""

    def change(case: Case, rng: np.random.Generator) -> Case | None:
        truth = case.base.truth
        if (
            truth.context is None
            or truth.values is None
            or case.column(truth.context).nunique() > 2
        ):
            return None
        second = case.is_second
        level = str(case.values.get(truth.values[1], truth.values[1]))
        names = [f"{level} {part}" for part in parts]
        table = case.table.copy()
        cells = table[case.now(truth.context)].astype(object)
        cells[second] = rng.choice(names, int(second.sum()))
        table[case.now(truth.context)] = cells
        pairs = tuple((x, y) for x in names for y in names if x < y)
        values = {**case.values, truth.values[1]: names[0]}
        return replace(case, table=table, values=values, alike=pairs)

    return change


for _number, _parts in (("two", "ab"), ("three", "abc")):
    accident(
        f"a value of the context is {_number} that behave the same", name=f"context_split_{_number}"
    )(_split_context(_parts))


@accident("a second context that does nothing")
def context_second(case: Case, rng: np.random.Generator) -> Case | None:
    if case.context is None:
        return None
    found = case.beside(coin=np.where(rng.random(len(case.table)) < 0.5, "heads", "tails"))
    levels = {value: case.values.get(value, value) for value in case.base.truth.values or ()}
    return replace(
        found,
        context=[case.now(case.base.truth.context), "coin"],
        values={value: (level, "heads") for value, level in levels.items()},
        alike=tuple(((level, "heads"), (level, "tails")) for level in levels.values()),
    )


# -------------------------------------------------------------------------------------- constants
# and rare levels

_family = "constants and rare levels"


def _unrelated(how: Callable[[Case, np.random.Generator], Any]) -> Change:
    def change(case: Case, rng: np.random.Generator) -> Case | None:
        cells = how(case, rng)
        return None if cells is None else case.beside(extra=cells)

    return change


def _with_ones(case: Case, rng: np.random.Generator, ones: int, low: Any, high: Any) -> np.ndarray:
    cells = np.full(len(case.table), low)
    cells[rng.choice(len(cells), ones, replace=False)] = high
    return cells


def _in_second(case: Case, rng: np.random.Generator, elsewhere: float) -> np.ndarray | None:
    if case.context is None:
        return None
    return np.where(case.is_second, rng.standard_normal(len(case.table)), elsewhere)


for _name, _words, _allowed, _how in (
    ("constant", "a constant number", SAME, lambda case, rng: np.full(len(case.table), 3.0)),
    ("constant_text", "a constant word", SAME, lambda case, rng: np.full(len(case.table), "v1.2")),
    (
        "constant_bool",
        "a column of False",
        SAME,
        lambda case, rng: np.zeros(len(case.table), dtype=bool),
    ),
    ("empty", "a column without a value", SAME, lambda case, rng: np.full(len(case.table), np.nan)),
    ("empty_text", "a column of empty text", SAME, lambda case, rng: np.full(len(case.table), "")),
    (
        "constant_or_missing",
        "a constant with missing cells",
        SAME,
        lambda case, rng: np.where(rng.random(len(case.table)) < 0.1, np.nan, 1.0),
    ),
    (
        "one_other_cell",
        "a number with one other cell",
        SAME,
        lambda case, rng: _with_ones(case, rng, 1, 0.0, 1.0),
    ),
    (
        "three_ones",
        "a flag with three ones",
        SAME,
        lambda case, rng: _with_ones(case, rng, 3, 0, 1),
    ),
    (
        "rare_flag",
        "a flag that is rare",
        SAME,
        lambda case, rng: (rng.random(len(case.table)) < 0.015).astype(int),
    ),
    (
        "rare_amount",
        "an amount that is nearly always 0",
        SAME,
        lambda case, rng: np.where(
            rng.random(len(case.table)) < 0.02, rng.gamma(2.0, 30.0, len(case.table)), 0.0
        ),
    ),
    (
        "many_zeros",
        "an amount of which half is 0",
        SAME,
        lambda case, rng: np.where(
            rng.random(len(case.table)) < 0.5, rng.gamma(2.0, 30.0, len(case.table)), 0.0
        ),
    ),
    (
        "constant_in_context",
        "a number that is 0 in one context",
        SAME,
        lambda case, rng: _in_second(case, rng, 0.0),
    ),
    (
        "missing_in_context",
        "a number that is missing in one context",
        REFUSED,
        lambda case, rng: _in_second(case, rng, np.nan),
    ),
    (
        "levels_18",
        "a text column of 18 levels",
        SAME,
        lambda case, rng: [f"town {place}" for place in rng.integers(0, 18, len(case.table))],
    ),
    (
        "levels_35",
        "a text column of 35 levels",
        SAME,
        lambda case, rng: [f"town {place}" for place in rng.integers(0, 35, len(case.table))],
    ),
    (
        "levels_300",
        "a text column of some 300 levels",
        SAME,
        lambda case, rng: [f"name {place}" for place in rng.integers(0, 330, len(case.table))],
    ),
    (
        "uneven_levels",
        "a text column of many levels, most of them rare",
        SAME,
        lambda case, rng: [
            f"type {int(place)}" for place in np.minimum(rng.geometric(0.3, len(case.table)), 30)
        ],
    ),
    (
        "level_of_two_rows",
        "a category with a level of two rows",
        SAME,
        lambda case, rng: np.where(
            _with_ones(case, rng, 2, 0, 1) == 1,
            "rare",
            np.where(rng.random(len(case.table)) < 0.5, "left", "right"),
        ),
    ),
):
    accident(f"beside: {_words}", _allowed, name=f"extra_{_name}")(_unrelated(_how))


# -----------------------------------------------------------------------------------------------------------
# damage

_family = "damage"


def _spoilt(share: float, value: float) -> Change:
    def change(case: Case, rng: np.random.Generator) -> Case:
        cells = case.column(case.middle)
        return case.with_cells(case.middle, cells.mask(rng.random(len(cells)) < share, value))

    return change


for _name, _share, _value, _allowed in (
    ("minus_9999", 0.02, -9999.0, TOLD),
    ("minus_1", 0.04, -1.0, WARNED),
    ("zero", 0.04, 0.0, WARNED),
    ("999", 0.03, 999.0, WARNED),
    ("99999", 0.02, 99999.0, TOLD),
):
    accident(f"{_value:g} in {_share:.0%} of a column", _allowed, name=f"code_{_name}")(
        _spoilt(_share, _value)
    )


@accident("-9999 in 2 % of all numbers", TOLD)
def codes_everywhere(case: Case, rng: np.random.Generator) -> Case:
    about = [str(case.now(name)) for name in case.numbers()]
    return case.with_numbers(
        lambda cells: cells.mask(rng.random(len(cells)) < 0.02, -9999.0), *about
    )


@accident("a decimal point at the wrong place in one cell", TOLD)
def typo(case: Case, rng: np.random.Generator) -> Case:
    cells = case.column(case.middle).to_numpy().copy()
    cells[rng.integers(len(cells))] *= 1000.0
    return case.with_cells(case.middle, cells)


@accident("a decimal point at the wrong place in ten cells", TOLD)
def typos(case: Case, rng: np.random.Generator) -> Case:
    cells = case.column(case.middle).to_numpy().copy()
    cells[rng.choice(len(cells), 10, replace=False)] *= 100.0
    return case.with_cells(case.middle, cells)


@accident("cells of two columns are swapped in 1 % of the rows", WARNED)
def cells_swapped(case: Case, rng: np.random.Generator) -> Case:
    swapped = rng.random(len(case.table)) < 0.01
    one, other = case.column(case.middle).copy(), case.column(case.sink).copy()
    found = case.with_cells(case.middle, one.where(~swapped, other))
    return found.with_cells(case.sink, other.where(~swapped, one))


_TWICE = ("duplicate", "duplicates", "twice", "copies", "equal", "repeated", "same", "rows")


@accident("4 % of the rows twice", TOLD)
def some_rows_twice(case: Case, rng: np.random.Generator) -> Case:
    rows = len(case.table)
    return case.with_rows(
        np.concatenate([np.arange(rows), rng.choice(rows, rows // 25, replace=False)]), *_TWICE
    )


@accident("all rows three times, one after the other", TOLD)
def rows_thrice(case: Case, rng: np.random.Generator) -> Case:
    return case.with_rows(np.repeat(np.arange(len(case.table)), 3), *_TWICE)


@accident("all rows twice, in random order", TOLD)
def rows_twice_shuffled(case: Case, rng: np.random.Generator) -> Case:
    return case.with_rows(rng.permutation(np.tile(np.arange(len(case.table)), 2)), *_TWICE)


@accident("a row of sums at the end", TOLD)
def row_of_sums(case: Case, rng: np.random.Generator) -> Case:
    last = case.table.iloc[[0]].copy()
    for name in case.table:
        if pd.api.types.is_numeric_dtype(case.table[name]):
            last[name] = case.table[name].sum()
    table = pd.concat([case.table, last], ignore_index=True)
    return case.with_table(table, "row", "sums", "totals", "cells")


@accident("all values above a limit are the limit", WARNED)
def capped(case: Case, rng: np.random.Generator) -> Case:
    cells = case.column(case.middle)
    return case.with_cells(case.middle, cells.clip(upper=cells.quantile(0.85)))


@accident("all values below a limit are the limit", WARNED)
def floored(case: Case, rng: np.random.Generator) -> Case:
    cells = case.column(case.middle)
    return case.with_cells(case.middle, cells.clip(lower=cells.quantile(0.2)))


@accident("the mean in place of 15 % missing cells", WARNED)
def mean_imputed(case: Case, rng: np.random.Generator) -> Case:
    cells = case.column(case.middle)
    return case.with_cells(case.middle, cells.mask(rng.random(len(cells)) < 0.15, cells.mean()))


@accident("the value of the row before in place of 20 % missing cells", WARNED)
def carried_forward(case: Case, rng: np.random.Generator) -> Case:
    cells = case.column(case.middle)
    return case.with_cells(case.middle, cells.mask(rng.random(len(cells)) < 0.2).ffill().bfill())


@accident("one column is rounded to a standard deviation", WARNED)
def one_rounded(case: Case, rng: np.random.Generator) -> Case:
    return case.with_cells(case.middle, rounded(case.column(case.middle), 1.0))


@accident("all numbers are rounded to a standard deviation", WARNED)
def all_rounded(case: Case, rng: np.random.Generator) -> Case:
    return case.with_numbers(
        lambda cells: rounded(cells, 1.0), "few", "rounded", "coarse", "values"
    )


@accident("all numbers are rounded to a third of a standard deviation", WARNED)
def all_rounded_finely(case: Case, rng: np.random.Generator) -> Case:
    return case.with_numbers(
        lambda cells: rounded(cells, 0.33), "few", "rounded", "coarse", "values"
    )


@accident("an infinite cell", REFUSED)
def infinite(case: Case, rng: np.random.Generator) -> Case:
    cells = case.column(case.middle).to_numpy().copy()
    cells[rng.integers(len(cells))] = np.inf
    return case.with_cells(case.middle, cells)


@accident("three empty rows at the end", REFUSED)
def empty_rows(case: Case, rng: np.random.Generator) -> Case:
    order = [*range(len(case.table)), -1, -1, -1]
    return case.with_table(case.table.reindex(order).reset_index(drop=True), "missing", "empty")


@accident("families of three in neighbouring rows share half of all noise", TOLD)
def families(case: Case, rng: np.random.Generator) -> Case | None:
    if case.table is not case.base.table:
        return None
    rows = len(case.table)

    def noise(name: str) -> np.ndarray:
        shared = np.repeat(rng.standard_normal(rows // 3 + 1), 3)[:rows]
        return np.sqrt(0.5) * shared + np.sqrt(0.5) * rng.standard_normal(rows)

    return case.with_table(case.base.draw(noise), "depend", "rows", "families", "groups")


@accident(
    "families of four share half of all noise, their rows are shuffled, a column names them",
    WARNED,
)
def families_by_key(case: Case, rng: np.random.Generator) -> Case | None:
    if case.table is not case.base.table:
        return None
    rows = len(case.table)

    def noise(name: str) -> np.ndarray:
        shared = np.repeat(rng.standard_normal(rows // 4 + 1), 4)[:rows]
        return np.sqrt(0.5) * shared + np.sqrt(0.5) * rng.standard_normal(rows)

    order = rng.permutation(rows)
    drawn = case.with_table(case.base.draw(noise), "alike").with_rows(order)
    return drawn.beside(family=[f"family {row // 4}" for row in order])


# ------------------------------------------------------------------------------------------------
# scales and kinds

_family = "scales and kinds"


def _scaled(factor: float, offset: float, every: bool) -> Change:
    def change(case: Case, rng: np.random.Generator) -> Case:
        names = case.numbers() if every else [case.middle]
        table = case.table.copy()
        for name in names:
            table[case.now(name)] = case.column(name) * factor + offset
        scale = {name: case.scale.get(name, 1.0) * factor for name in names}
        return replace(case, table=table, scale={**case.scale, **scale})

    return change


for _name, _words, _factor, _offset in (
    ("tiny", "times 1e-9", 1e-9, 0.0),
    ("huge", "times 1e12", 1e12, 0.0),
    ("offset_6", "plus a million", 1.0, 1e6),
    ("offset_8", "plus a hundred million", 1.0, 1e8),
    ("negative", "times -1", -1.0, 0.0),
):
    accident(f"one column {_words}", name=f"one_{_name}")(_scaled(_factor, _offset, False))
    accident(f"all numbers {_words}", name=f"all_{_name}")(_scaled(_factor, _offset, True))


@accident("all numbers in standard units")
def all_standardised(case: Case, rng: np.random.Generator) -> Case:
    scale = {name: case.scale.get(name, 1.0) / case.column(name).std() for name in case.numbers()}
    return replace(case.with_numbers(in_units), scale={**case.scale, **scale})


@accident("all numbers as whole numbers, in steps of a twentieth of a standard deviation")
def all_whole(case: Case, rng: np.random.Generator) -> Case:
    scale = {
        name: case.scale.get(name, 1.0) * 20.0 / case.column(name).std() for name in case.numbers()
    }
    changed = case.with_numbers(lambda cells: (20.0 * (in_units(cells) + 6.0)).round().astype(int))
    return replace(changed, scale={**case.scale, **scale})


@accident("all numbers as float32")
def all_float32(case: Case, rng: np.random.Generator) -> Case:
    return case.with_numbers(lambda cells: cells.astype("float32"))


@accident("numbers as pandas' Float64, as objects, and as Decimals")
def other_dtypes(case: Case, rng: np.random.Generator) -> Case:
    table = case.table.copy()
    table[case.now(case.cause)] = case.column(case.cause).astype("Float64")
    table[case.now(case.middle)] = case.column(case.middle).astype(object)
    table[case.now(case.sink)] = [Decimal(f"{value:.10f}") for value in case.column(case.sink)]
    return case.with_table(table)


@accident("text as pandas categories")
def text_as_categories(case: Case, rng: np.random.Generator) -> Case:
    names = [
        name
        for name in case.table
        if pd.api.types.is_string_dtype(case.table[name]) or case.table[name].dtype == object
    ]
    return case.with_table(case.table.astype(dict.fromkeys(names, "category")))


# --------------------------------------------------------------------------------------------
# names, files, frames

_family = "names, files and frames"


def _renamed(write: Callable[[int, str], Any]) -> Change:
    def change(case: Case, rng: np.random.Generator) -> Case | None:
        if case.names:
            return None
        own = {name: write(place, name) for place, name in enumerate(case.base.table)}
        context = (
            [own.get(name, name) for name in case.context]
            if isinstance(case.context, list)
            else own.get(case.context, case.context)
        )
        about = tuple(str(own.get(word, word)) for word in case.about)
        return replace(
            case,
            table=case.table.rename(columns=own),
            names=own,
            context=context,
            about=(*case.about, *about),
        )

    return change


_RESERVED = ("None", "all", "nan", "lambda", "context", "target", "index", "class", "R")
for _name, _words, _write in (
    ("spaces", "with spaces and brackets", lambda place, name: f" {name} [unit {place}]"),
    ("unicode", "in other alphabets", lambda place, name: f"名前_{name}_ñ{place}"),
    ("marks", "with quotes, dots and slashes", lambda place, name: f"{name}.'{place}'/\"\\"),
    ("reserved", "such as None, all, lambda", lambda place, name: _RESERVED[place]),
    ("long", "of 250 letters", lambda place, name: "long_" * 50 + name),
    ("lags", "such as X(t-1)", lambda place, name: f"{name}(t-{place + 1})"),
    ("arrows", "such as a --> b", lambda place, name: f"{name} --> {place}"),
    ("numbers", "0, 1, 2", lambda place, name: place),
    (
        "case",
        "that differ in capitals alone",
        lambda place, name: "".join(
            letter.upper() if place >> bit & 1 else letter for bit, letter in enumerate("abcd")
        ),
    ),
):
    accident(f"columns have names {_words}", name=f"names_{_name}")(_renamed(_write))


def _handed(search: Callable[[pd.DataFrame, dict[str, Any]], cc.ContextGraphs]) -> Change:
    def change(case: Case, rng: np.random.Generator) -> Case:
        return replace(case, hand_over=search)

    return change


def _by_csv(table: pd.DataFrame, how: dict[str, Any]) -> cc.ContextGraphs:
    with tempfile.TemporaryDirectory() as folder:
        table.to_csv(path := Path(folder, "table.csv"), index=False)
        return cc.discover(path, **how)


def _by_parquet(table: pd.DataFrame, how: dict[str, Any]) -> cc.ContextGraphs:
    with tempfile.TemporaryDirectory() as folder:
        table.to_parquet(path := Path(folder, "table.parquet"), index=False)
        return cc.discover(path, **how)


def _saved(table: pd.DataFrame, how: dict[str, Any]) -> cc.ContextGraphs:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "result.json")
        cc.discover(table, **how).save(path)
        return cc.load(path)


def _as_polars(table: pd.DataFrame, how: dict[str, Any]) -> cc.ContextGraphs:
    import polars

    return cc.discover(polars.DataFrame({name: table[name].to_numpy() for name in table}), **how)


def _as_arrow(table: pd.DataFrame, how: dict[str, Any]) -> cc.ContextGraphs:
    import pyarrow

    return cc.discover(pyarrow.Table.from_pandas(table, preserve_index=False), **how)


for _name, _words, _search in (
    ("csv_file", "the table is a CSV file", _by_csv),
    ("parquet_file", "the table is a Parquet file", _by_parquet),
    ("saved_and_loaded", "the result is saved and loaded again", _saved),
    ("polars_table", "the table is one of polars", _as_polars),
    ("arrow_table", "the table is one of pyarrow", _as_arrow),
):
    accident(_words, name=_name)(_handed(_search))


@accident("the index of the table is shuffled")
def index_shuffled(case: Case, rng: np.random.Generator) -> Case:
    return case.with_table(case.table.set_axis(rng.permutation(len(case.table))))


@accident("the index of the table has duplicates")
def index_repeated(case: Case, rng: np.random.Generator) -> Case:
    return case.with_table(case.table.set_axis(np.arange(len(case.table)) % 50))


@accident("the index of the table is made of dates")
def index_of_dates(case: Case, rng: np.random.Generator) -> Case:
    return case.with_table(
        case.table.set_axis(pd.date_range("2020-01-01", periods=len(case.table)))
    )


@accident("another seed is passed")
def another_seed(case: Case, rng: np.random.Generator) -> Case:
    return case.asking(seed=11)


# -----------------------------------------------------------------------------------------------
# unrelated columns

_family = "unrelated columns"


def _columns(how: Callable[[int, np.random.Generator], dict[str, Any]]) -> Change:
    def change(case: Case, rng: np.random.Generator) -> Case:
        return case.beside(**how(len(case.table), rng))

    return change


def _hidden(rows: int, rng: np.random.Generator) -> dict[str, Any]:
    hidden, one, other = rng.standard_normal((3, rows))
    return {"u": hidden + 0.5 * one, "v": hidden + 0.5 * other}


Columns = Callable[[int, np.random.Generator], dict[str, Any]]


def _pair(effect: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Columns:
    def make(rows: int, rng: np.random.Generator) -> dict[str, Any]:
        cause, noise = rng.standard_normal((2, rows))
        return {"u": cause, "v": effect(cause, noise)}

    return make


def _product(rows: int, rng: np.random.Generator) -> dict[str, Any]:
    u, w, noise = rng.standard_normal((3, rows))
    return {"u": u, "w": w, "v": u * w + 0.5 * noise}


_UNRELATED: Sequence[tuple[str, str, Columns]] = (
    ("normal", "a normal column", lambda n, rng: {"u": rng.standard_normal(n)}),
    ("lognormal", "a lognormal column", lambda n, rng: {"u": np.exp(1.3 * rng.standard_normal(n))}),
    ("uniform", "a uniform column", lambda n, rng: {"u": rng.random(n)}),
    ("heavy_tails", "a column with heavy tails", lambda n, rng: {"u": rng.standard_t(2.2, n)}),
    (
        "two_heaps",
        "a column with two heaps",
        lambda n, rng: {"u": rng.standard_normal(n) + 5.0 * rng.integers(0, 2, n)},
    ),
    ("counts", "a column of counts", lambda n, rng: {"u": rng.poisson(4.0, n)}),
    ("ratings", "ratings from 1 to 5", lambda n, rng: {"u": rng.integers(1, 6, n)}),
    (
        "words",
        "a text column of two levels",
        lambda n, rng: {"u": rng.choice(["train", "test"], n)},
    ),
    ("weights", "survey weights", lambda n, rng: {"u": rng.gamma(4.0, 0.25, n)}),
    (
        "five",
        "five columns of noise",
        lambda n, rng: {f"u{k}": rng.standard_normal(n) for k in range(5)},
    ),
    (
        "thirty",
        "thirty columns of noise",
        lambda n, rng: {f"u{k}": rng.standard_normal(n) for k in range(30)},
    ),
    ("line", "two columns, a line with each other", _pair(lambda u, e: u + 0.7 * e)),
    (
        "curve",
        "two columns, a wave with each other",
        _pair(lambda u, e: 2.0 * np.cos(2.0 * u) + 0.5 * e),
    ),
    ("uneven", "two columns, uneven noise", _pair(lambda u, e: u + np.exp(0.8 * u) * e)),
    (
        "spread",
        "two columns, of which one scatters the other",
        _pair(lambda u, e: np.exp(0.8 * u) * e),
    ),
    ("product", "three columns, a product", _product),
    ("hidden", "two columns with a hidden common cause", _hidden),
    ("walk", "a random walk", lambda n, rng: {"u": rng.standard_normal(n).cumsum()}),
    (
        "waves",
        "a wave over the rows",
        lambda n, rng: {"u": np.sin(np.arange(n) / 20.0) + 0.3 * rng.standard_normal(n)},
    ),
)
for _name, _words, _make in _UNRELATED:
    accident(f"beside, unrelated: {_words}", name=f"unrelated_{_name}")(_columns(_make))


@accident("beside: a column's value of the row before")
def row_before(case: Case, rng: np.random.Generator) -> Case:
    return case.beside(before=np.roll(case.column(case.middle).to_numpy(), 1))


# ---------------------------------------------------------------------------------------------------
# missing cells

_family = "missing cells"


def _missing(name: str, share: float, **options: Any) -> Change:
    def change(case: Case, rng: np.random.Generator) -> Case:
        cells = case.column(getattr(case, name))
        found = case.with_cells(getattr(case, name), cells.mask(rng.random(len(cells)) < share))
        return replace(
            found,
            affected=case.affected,
            options={**case.options, **options},
            about=(*found.about, "missing"),
        )

    return change


for _name, _role, _share, _options in (
    ("stops", "middle", 0.08, {}),
    ("listwise", "middle", 0.08, {"missing": "listwise"}),
    ("listwise_sink", "sink", 0.15, {"missing": "listwise"}),
    ("model", "middle", 0.08, {"missing": "model"}),
    ("model_sink", "sink", 0.15, {"missing": "model"}),
):
    accident(
        f"{_share:.0%} of a column are"
        f" missing{', ' + repr(_options['missing']) if _options else ''}",
        REFUSED if not _options else TOLD,
        name=f"missing_{_name}",
    )(_missing(_role, _share, **_options))


@accident("an unrelated column with missing cells, rows dropped", TOLD)
def missing_in_unrelated(case: Case, rng: np.random.Generator) -> Case:
    cells = rng.standard_normal(len(case.table))
    cells[rng.random(len(cells)) < 0.1] = np.nan
    return case.beside("missing", extra=cells).asking(missing="listwise")

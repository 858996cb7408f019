"""Text that holds numbers: "12.5", "12,5", "1,234", "12 kg", "45 %"; read as numbers, or refused
with two of its cells.

Text of plain numbers is read as numbers. Whatever else a cell has is refused, until the caller says
how it is meant: `decimal=","` for decimal commas, `convert=True` for units and thousands
separators.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from causalcontext.data.columns import MOSTLY, WORDS, check_no_typing_error
from causalcontext.errors import DataError
from causalcontext.kernels.arrays import Floats
from causalcontext.screening.settings import (
    FEWEST_NUMBERS_IN_TEXT,
    LEVELS_IN_ANY_TABLE,
    MOST_UNITS_OF_A_COLUMN,
    TEXTS_OF_A_GLANCE,
)

POINT = "."
COMMA = ","
DECIMALS = (POINT, COMMA)
"""The signs that may stand before the decimals of a number."""
_UNIT_WORDS = """
kg g mg µg μg ug ng t lb lbs oz l ml dl cl m cm mm km µm μm nm in ft yd mi ha
s sec ms min mins h hr hrs hour hours day days week weeks mo month months yr yrs year years
°c °f °k kw mw gw wh kwh mwh mv kv ma hz khz mhz ghz pa kpa hpa mpa bar mbar mmhg kn kj cal kcal
mol mmol µmol iu ppm ppb kb mb gb tb bpm db % ‰ € $ £ ¥ eur usd gbp chf
"""
UNITS = frozenset(_UNIT_WORDS.split())
"""Units that a column of few different cells needs; any letters do behind the numbers of one with
many.
"""

_CURRENCY = "€$£¥"
_UNIT = (
    rf"[{_CURRENCY}%‰°µμΩ]?[^\W\d_]{{0,8}}(?:/[^\W\d_]{{1,6}})?[²³23]?(?:/[^\W\d_]{{1,6}}[²³23]?)?"
)
_CELL = re.compile(
    rf"(?P<before>[{_CURRENCY}]|USD|EUR|GBP|CHF)?\s*(?P<sign>[+\-−]?)(?P<body>[\d.,'"
    r" \u00a0\u202f’]*\d"
    rf"(?:[eE][+-]?\d+)?)\.?\s*(?P<unit>{_UNIT})"
)
_PLAIN = re.compile(r"(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?")
_DECIMAL_COMMA = re.compile(r"\d*,\d+|\d{1,3}(?:[.' \u00a0\u202f’]\d{3})+(?:,\d+)?")
_IN_THREES = re.compile(r"\d{1,3}(?:([,' \u00a0\u202f’])\d{3})(?:\1\d{3})*(?P<rest>\.\d+)?")
_QUOTED = re.compile(r"""(?:(['"])(?P<inside>[^'"]*)\1|'(?P<marked>[^'"]+))""")
"""Quotes around a cell, or the apostrophe before it that makes it text in a spreadsheet."""
_MARKS = re.compile(r"[,' \u00a0\u202f’]")
_CODE = re.compile(r"0\d+")


@dataclass(frozen=True)
class Cell:
    """A cell of text that holds a number.

    Attributes
    ----------
    text : str
    value : float
    unit : str
        The letters or signs around the number; empty for none.
    commas : bool
        True if it has digits behind a decimal comma.
    thirds : bool
        True if its digits stand in groups of three.
    code : bool
        True for a whole number that begins with 0, as keys do.
    """

    text: str
    value: float
    unit: str
    commas: bool = False
    thirds: bool = False
    code: bool = False

    @property
    def is_plain(self) -> bool:
        """True without unit, decimal comma and separators, as a program reads numbers."""
        return not (self.unit or self.commas or self.thirds)


@dataclass(frozen=True)
class TextNumbers:
    """The numbers that text is read as, or the reason why it is refused.

    Attributes
    ----------
    values : Floats, shape (texts,), or None
        One number for every text; None where text is refused.
    note : str
        The sentence on text that was read.
    problem : str
        The sentence on text that is refused.
    """

    values: Floats | None = None
    note: str = ""
    problem: str = ""


def text_numbers(
    name: str, texts: Sequence[Any], decimal: str = POINT, convert: bool = False
) -> TextNumbers | None:
    """The numbers that the different texts of a column hold, or why they are refused.

    None if it holds none.

    >>> text_numbers("dose", ["12.5", "3", "4.1"]).values.tolist()
    [12.5, 3.0, 4.1]
    >>> print(text_numbers("dose", ["12 kg", "3 kg", "4 kg"]).problem)
    column 'dose' is text: numbers with the unit kg, such as '12 kg' and '3 kg'; \
pass convert=True to read the numbers, or declare kinds={'dose': 'categorical'} if they are levels
    >>> text_numbers("site", ["north", "south"]) is None
    True
    """
    plain = [text if isinstance(text, str) else str(text) for text in texts]
    decimal = _decimal_of(plain, decimal)
    cells = _cells_of_texts(plain, decimal)
    if cells is None:
        return None
    known = sorted((cell for cell in cells if cell is not None), key=lambda cell: cell.text)
    no_numbers = [text for text, cell in zip(plain, cells, strict=True) if cell is None]
    words = [text for text in no_numbers if text.strip() in WORDS]
    others = [text for text in no_numbers if text.strip() not in WORDS]
    if len(known) < FEWEST_NUMBERS_IN_TEXT or len(known) < MOSTLY * (len(known) + len(others)):
        return None
    if all(cell.is_plain for cell in known):
        return _of_plain_numbers(name, plain, cells, bool(words or others))
    if others:
        return _refused(
            name,
            known,
            f"mostly numbers, but {min(others)!r} is none; correct it, or drop the column",
        )
    return _of_marked_numbers(name, plain, cells, words, decimal, convert)


def _cells_of_texts(texts: Sequence[str], decimal: str) -> list[Cell | None] | None:
    """The number in every text, None for a text without; None where the first texts show that a
    column hardly holds any.
    """
    glance = texts[:TEXTS_OF_A_GLANCE]
    cells = [cell_of(text, decimal) for text in glance]
    numbers = sum(cell is not None for cell in cells)
    if numbers < MOSTLY * sum(text.strip() not in WORDS for text in glance):
        return None
    return [*cells, *(cell_of(text, decimal) for text in texts[TEXTS_OF_A_GLANCE:])]


def _decimal_of(texts: Sequence[str], decimal: str) -> str:
    """The decimal sign of a column, where the caller has passed one for the whole table.

    A column without any comma whose points are no separators has points: another one has the
    commas.
    """
    if decimal != COMMA or any("," in text for text in texts):
        return decimal
    has_points = any(not cell_of(text, COMMA) for text in texts if "." in text)
    return POINT if has_points else COMMA


def cell_of(text: str, decimal: str = POINT) -> Cell | None:
    """The number in a cell of text, and how it is written; None if it holds none.

    >>> cell_of("'12.5'").value
    12.5
    >>> cell_of("1,234.5 kg").value, cell_of("1.234,5", ",").value, cell_of("city 12")
    (1234.5, 1234.5, None)
    """
    quoted = _QUOTED.fullmatch(text.strip())
    inside = (quoted["inside"] or quoted["marked"] or "") if quoted else text
    match = _CELL.fullmatch(inside.strip())
    if match is None:
        return None
    body = match["body"].strip()
    unit = match["before"] or match["unit"]
    sign = -1.0 if match["sign"] in ("-", "−") else 1.0
    if decimal == COMMA and _DECIMAL_COMMA.fullmatch(body):
        number = re.sub(r"[.' \u00a0\u202f’]", "", body).replace(",", ".")
        return Cell(text, sign * float(number), unit, commas="," in body)
    if _PLAIN.fullmatch(body):
        if decimal == COMMA and "." in body:
            return None
        return Cell(text, sign * float(body), unit, code=_CODE.fullmatch(body) is not None)
    if _IN_THREES.fullmatch(body):
        # "1,234" may be either
        either = (
            body.count(",") == 1
            and "." not in body
            and _MARKS.sub("", body.replace(",", "")).isdigit()
        )
        return Cell(text, sign * float(_MARKS.sub("", body)), unit, commas=either, thirds=True)
    if _DECIMAL_COMMA.fullmatch(body):
        return Cell(
            text,
            sign * float(re.sub(r"[.' \u00a0\u202f’]", "", body).replace(",", ".")),
            unit,
            commas=True,
        )
    return None


def _of_plain_numbers(
    name: str, texts: Sequence[str], cells: Sequence[Cell | None], mixed: bool
) -> TextNumbers | None:
    """Plain numbers as numbers, unless they are the codes of a category; refused if other cells are
    among them.

    Few whole numbers, and whole numbers that begin with 0, may be codes, and stay text. With other
    cells among them (`mixed`) a typing error is looked for.
    """
    known = [cell for cell in cells if cell is not None]
    if any(cell.code for cell in known):
        return None
    if mixed:
        try:
            check_no_typing_error(name, sorted(texts))
        except DataError as error:
            return TextNumbers(problem=str(error))
        return None
    if len(known) <= LEVELS_IN_ANY_TABLE and all(cell.value.is_integer() for cell in known):
        return None
    return TextNumbers(
        np.array([cell.value for cell in known]), f"{name} is text of numbers, and read as numbers"
    )


def _of_marked_numbers(
    name: str,
    plain: Sequence[str],
    cells: Sequence[Cell | None],
    words: Sequence[str],
    decimal: str,
    convert: bool,
) -> TextNumbers | None:
    """Numbers with units, decimal commas or thousands separators, as the caller says that they are
    meant; None where the column holds levels or keys.

    Units are looked at first, since numbers of several units are none; then decimal commas, then
    separators. "1,234" may be either, and the way that is named says so.
    """
    known = sorted((cell for cell in cells if cell is not None), key=lambda cell: cell.text)
    units = sorted({cell.unit for cell in known})
    if len(units) > 1:
        return _of_several_units(name, plain, cells, known, units)
    refused = _refused_marks(name, known, decimal, convert)
    if refused is not None:
        return refused
    unit = units[0]
    is_known = not unit or unit.casefold().partition("/")[0] in UNITS
    if len(known) <= LEVELS_IN_ANY_TABLE and not is_known:
        return None  # levels such as 0x and 1x
    if unit and not convert:
        return _refused(
            name, known, f"numbers with the unit {unit}", "pass convert=True to read the numbers"
        )
    if words:
        return TextNumbers(
            problem=(
                f"column {name!r} is text that holds numbers such as {known[0].text!r}, and "
                f"{words[0]!r}; if it means a missing value pass na_values={[*words]!r}"
            )
        )
    in_unit = f" in {unit}" if unit else ""
    return TextNumbers(
        np.array([cell.value for cell in cells if cell is not None]),
        f"{name} is text such as {known[0].text!r}, and read as numbers{in_unit}",
    )


def _of_several_units(
    name: str,
    plain: Sequence[str],
    cells: Sequence[Cell | None],
    known: Sequence[Cell],
    units: Sequence[str],
) -> TextNumbers | None:
    """The reason why numbers of several units are refused; None where these are keys or levels.

    One letter behind some numbers is a typing error, such as 2o.
    """
    if "" in units and max(map(len, units)) == 1 and units[1:] != ["%"]:
        return _of_plain_numbers(name, plain, cells, True)
    are_keys = len(units) > MOST_UNITS_OF_A_COLUMN or any(cell.code for cell in known)
    if are_keys or ("" not in units and len(known) <= LEVELS_IN_ANY_TABLE):
        return None
    shown = [
        next(cell for cell in known if cell.unit == unit) for unit in [*units[1:], units[0]][:2]
    ]
    return _refused(
        name,
        shown,
        "its numbers have different units, or some have none; make them alike, or drop the column",
    )


def _refused_marks(
    name: str, known: Sequence[Cell], decimal: str, convert: bool
) -> TextNumbers | None:
    """The reason why numbers with decimal commas or thousands separators are refused; None where
    there are none, or the caller says how they are meant.
    """
    with_commas = [cell for cell in known if cell.commas and decimal != COMMA]
    if any(not cell.thirds for cell in with_commas):
        return _refused(
            name, with_commas, "numbers with decimal commas", "pass decimal=',' to read them"
        )
    separated = [cell for cell in known if cell.thirds]
    if not separated or convert:
        return None
    also = ", or decimal=',' if these are decimal commas" if with_commas else ""
    return _refused(
        name,
        separated,
        "numbers with thousands separators",
        f"pass convert=True to read them{also}",
    )


def _refused(name: str, cells: Sequence[Cell], description: str, way: str = "") -> TextNumbers:
    """The sentence on a column that is refused, with two of its cells.

    `description` says what the cells are, and `way` what the caller may do; without a way, there is
    no option that reads them.
    """
    two = " and ".join(repr(cell.text) for cell in cells[:2])
    if not way:
        return TextNumbers(problem=f"column {name!r} is text such as {two}: {description}")
    levels = f"or declare kinds={{{name!r}: 'categorical'}} if they are levels"
    return TextNumbers(
        problem=f"column {name!r} is text: {description}, such as {two}; {way}, {levels}"
    )


def merged_levels(counts: Mapping[Any, int]) -> dict[str, tuple[str, ...]]:
    """Levels that differ only in case or spaces, by the most frequent spelling.

    `counts` has the number of rows of every level; of spellings as frequent the first one in the
    alphabet stays.

    >>> merged_levels({"icu": 470, "ICU ": 30, "normal": 500})
    {'icu': ('ICU ',)}
    """
    alike: dict[str, list[str]] = {}
    for level in counts:
        if isinstance(level, str):
            alike.setdefault(" ".join(level.split()).casefold(), []).append(level)
    merged = {}
    for spellings in alike.values():
        if len(spellings) > 1:
            first, *others = sorted(spellings, key=lambda level: (-counts[level], level))
            merged[first] = tuple(others)
    return merged

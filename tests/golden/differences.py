"""What differs between two records, in lines that a person can read.

Marks, names and counts are compared exactly. Numbers may differ by a millionth of their size, and by
`FLOOR` near zero: other processors and other linear algebra add in another order. A number within a
sentence may differ by one unit of its last printed digit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import zip_longest
from math import log
from typing import Any

from records import PARTS

RELATIVE = 1e-6
FLOOR = 1e-9
P_VALUES = ("p", "q", "p-value")
SMALLEST = 1e-300
"""P-values below it may have been rounded to 0."""
MOST = 12
"""The most lines that are printed of one part of one table."""
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
ABSENT = "absent"


def differences(
    before: Mapping[str, Any], after: Mapping[str, Any], parts: tuple[str, ...] = PARTS
) -> list[str]:
    """A line for everything in which a record differs from another one; none if they agree."""
    lines: list[str] = []
    for part in parts:
        found = list(part_differences(part, before.get(part), after.get(part)))
        lines.extend(f"{part}: {line}" for line in found[:MOST])
        if len(found) > MOST:
            lines.append(f"{part}: and {len(found) - MOST} more")
    return lines


def part_differences(part: str, before: Any, after: Any) -> Iterator[str]:
    """The lines of one part."""
    if before is None or after is None:
        if before != after:
            yield ABSENT + " before" if before is None else ABSENT + " now"
    elif part == "graphs":
        yield from graph_differences(before, after)
    elif part == "words":
        yield from word_differences(before, after)
    else:
        yield from table_differences(before, after)


def graph_differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Pairs whose mark differs."""
    for name in united(before, after):
        old = before.get(name)
        new = after.get(name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            for pair in united(old, new):
                marks = old.get(pair, ABSENT), new.get(pair, ABSENT)
                if marks[0] == marks[1]:
                    continue
                yield f"{name}, {pair}: {marks[0]}  ->  {marks[1]}"
        elif name == "labeled union":
            yield from (f"{name}, {edge}: gone" for edge in old or () if edge not in (new or ()))
            yield from (f"{name}, {edge}: new" for edge in new or () if edge not in (old or ()))
        elif old != new:
            yield f"{name}: {shown(old)}  ->  {shown(new)}"


def table_differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Columns and rows that came or went, and values that differ."""
    columns = united(dict.fromkeys(before["columns"]), dict.fromkeys(after["columns"]))
    for column in columns:
        if column not in after["columns"] and after["rows"]:
            yield f"column {column!r} is gone"
        if column not in before["columns"] and before["rows"]:
            yield f"column {column!r} is new"
    for key in united(before["rows"], after["rows"]):
        if key not in after["rows"]:
            yield f"row {key}: gone"
        elif key not in before["rows"]:
            yield f"row {key}: new"
        else:
            old = dict(zip(before["columns"], before["rows"][key], strict=True))
            new = dict(zip(after["columns"], after["rows"][key], strict=True))
            for column in columns:
                if column not in old or column not in new:
                    continue
                if not close(old[column], new[column], column in P_VALUES):
                    yield f"{key}, {column}: {shown(old[column])}  ->  {shown(new[column])}"


def word_differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Sentences that differ, the old one above the new one."""
    for name in united(before, after):
        old = sentences(before.get(name))
        new = sentences(after.get(name))
        lost = [line for line in old if not any(same_words(line, other) for other in new)]
        gained = [line for line in new if not any(same_words(line, other) for other in old)]
        for one, other in zip_longest(lost, gained):
            if one is not None:
                yield f"{name}\n      - {one}"
            if other is not None:
                yield f"{name}\n      + {other}"
        same = not lost and not gained
        if same and not (len(old) == len(new) and all(map(same_words, old, new))):
            yield f"{name}: the same sentences in another order or number"


def sentences(value: Any) -> list[str]:
    """The sentences of a list, or those of a table with the rows that they stand in."""
    if value is None:
        return []
    if isinstance(value, Mapping):
        return [f"{words}  (in {row})" for words, rows in value.items() for row in rows]
    return [value] if isinstance(value, str) else list(value)


def same_words(before: str, after: str) -> bool:
    """Whether two sentences are the same, but for the last digit of a number."""
    if before == after:
        return True
    if NUMBER.split(before) != NUMBER.split(after):
        return False
    return all(map(same_number, NUMBER.findall(before), NUMBER.findall(after)))


def same_number(before: str, after: str) -> bool:
    """Whether two printed numbers are the same, but for one unit of the last digit; whole ones
    exactly.
    """
    if before == after:
        return True
    if before.lstrip("-").isdigit() or after.lstrip("-").isdigit():
        return False
    numbers = Decimal(before), Decimal(after)
    unit = min(Decimal(1).scaleb(int(number.as_tuple().exponent)) for number in numbers)
    return abs(numbers[0] - numbers[1]) <= unit


def close(before: Any, after: Any, is_p_value: bool = False) -> bool:
    """Whether two values are the same: numbers within the tolerance, all others exactly.

    The smaller a p-value, the larger is the relative error that its statistic leaves in it.
    """
    if isinstance(before, list) and isinstance(after, list):
        return len(before) == len(after) and all(map(close, before, after))
    if not (is_number(before) and is_number(after)):
        return bool(before == after)
    size = max(abs(before), abs(after))
    if is_p_value:
        return abs(before - after) <= max(SMALLEST, RELATIVE * size * (1.0 - log(size or 1.0)))
    return abs(before - after) <= max(FLOOR, RELATIVE * size)


def is_number(value: Any) -> bool:
    """Whether a value is a number, True and False excluded."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def shown(value: Any) -> str:
    """A value in a line."""
    if value is None:
        return "none"
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value))}]"
    return str(value)


def united(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The names in either of two mappings, in their order."""
    return list(dict.fromkeys((*before, *after)))

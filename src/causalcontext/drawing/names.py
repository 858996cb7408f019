"""Names of variables in boxes: on one to three short lines, control characters spelled out.

Names are data. A name of 200 characters, with a newline or an unprintable character, must neither
break the picture nor vanish from it; two names that are cut to the same text get a number each.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from causalcontext.drawing.settings import MOST_NAME_LINES, NAME_LINE

_JOINERS = "\u200c\u200d"
"""Unprintable, but part of how some scripts and emoji are written."""
_BREAK = re.compile(r"(?<=[\s_\-./])")


def shown_names(names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """One to three lines for every name, no two names alike.

    >>> shown_names(["X", "sea surface temperature", "a" * 60])
    (('X',), ('sea surface', 'temperature'), ('aaaaaaaaaaaaa-', 'aaaaaaaaaaaaa-', 'aaaaaaaaaaaaa…'))
    """
    lines = [_lines(printable(name)) for name in names]
    count = Counter(lines)
    seen: Counter[tuple[str, ...]] = Counter()
    shown = []
    for found in lines:
        seen[found] += 1
        last = f"{shortened(found[-1], NAME_LINE - 3)} #{seen[found]}"
        shown.append(found if count[found] == 1 else (*found[:-1], last))
    return tuple(shown)


def printable(text: str) -> str:
    """The text on one line, with unprintable characters spelled out and spaces at its ends made
    visible.
    """
    if text.isprintable() and text and text == text.strip(" "):
        return text
    bare = text.strip(" ")
    start = len(text) - len(text.lstrip(" ")) if bare else 0
    spelled = "".join(
        letter if letter.isprintable() or letter in _JOINERS else repr(letter)[1:-1]
        for letter in bare
    )
    return "␣" * start + spelled + "␣" * (len(text) - start - len(bare)) or "''"


def shortened(text: str, most: int) -> str:
    """The text, cut with an ellipsis if it is longer than `most`."""
    return text if len(text) <= most else text[: most - 1] + "…"


def text_width(text: str) -> float:
    """The width of a text in units of its font size, a little too large rather than too small."""
    return sum(1.05 if unicodedata.east_asian_width(letter) in "WF" else 0.62 for letter in text)


def _lines(name: str) -> tuple[str, ...]:
    lines: list[str] = []
    rest = name
    while len(rest) > NAME_LINE + 4 * (not lines) and len(lines) < MOST_NAME_LINES - 1:
        first = ""
        pieces = _BREAK.split(rest)
        while pieces and len(first + pieces[0]) <= NAME_LINE + 1:
            first += pieces.pop(0)
        cut = first.strip() or rest[: NAME_LINE - 1]
        lines.append(cut if first.strip() else cut + "-")
        rest = "".join(pieces) if first.strip() else rest[NAME_LINE - 1 :]
    return *lines, shortened(rest, NAME_LINE + 4 * (not lines))

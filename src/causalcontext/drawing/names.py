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
    for name_lines in lines:
        seen[name_lines] += 1
        last = f"{shortened(name_lines[-1], NAME_LINE - 3)} #{seen[name_lines]}"
        shown.append(name_lines if count[name_lines] == 1 else (*name_lines[:-1], last))
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
    """The text, cut with an ellipsis if it is longer than `most`; the ellipsis counts."""
    return text if len(text) <= most else text[: most - 1] + "…"


def text_width(text: str) -> float:
    """The width of a text in units of its font size, a little too large rather than too small.

    A letter is .62 wide, a wide one of East Asian scripts 1.05.
    """
    return sum(1.05 if unicodedata.east_asian_width(letter) in "WF" else 0.62 for letter in text)


def _lines(name: str) -> tuple[str, ...]:
    """The lines of a name: broken behind blanks, `_`, `-`, `.` and `/`, else anywhere with a
    hyphen.

    A name that is a little too long (four characters) stays on one line. What is left for the last
    line is cut with an ellipsis.
    """
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

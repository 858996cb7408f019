"""Colours that people with any kind of colour vision tell apart (Okabe and Ito), on paper too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

INK = "#222222"
SOFT = "#9a9a9a"
CONTEXT_FILL = "#2b2b2b"
BOX_FILL = "#ffffff"
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_FEW_TO_MANY = ("#c6dbef", "#9ecae1", "#6baed6", "#3182bd", "#08519c")


def has_own_colours(contexts: Sequence[Any]) -> bool:
    """Whether there are few enough contexts for a colour each."""
    return len(contexts) <= len(_COLOURS)


def context_colour(contexts: Sequence[Any], place: int) -> str:
    """The colour of a context; all the same if there are too many to tell apart."""
    return _COLOURS[place] if has_own_colours(contexts) else _COLOURS[0]


def text_colour(colours: Sequence[str]) -> str:
    """A colour for words about such a line: its own if that is dark enough to read."""
    return colours[0] if len(colours) == 1 and colours[0] in _COLOURS[:4] else INK


def share_colour(count: int, total: int) -> str:
    """From light (in few contexts) to dark (in nearly all), for more contexts than there are colours."""
    return _FEW_TO_MANY[min(int(len(_FEW_TO_MANY) * count / total), len(_FEW_TO_MANY) - 1)]

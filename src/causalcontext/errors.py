"""Every error this library raises on purpose.

CausalContextError
├── DataError            the table cannot be used as it is
│   └── NotYetError      a kind of column or option that this version does not handle
├── KnowledgeError       the expert knowledge contradicts itself or names unknown columns
├── OptionError          an argument has a value that means nothing
├── FileError            a file cannot be read or written
└── InterruptedSearch    Ctrl-C during a search; carries what was done so far

All but the last are also `ValueError`, so that code which never heard of this tree still catches them.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


class CausalContextError(Exception):
    """The root of the tree."""


class DataError(CausalContextError, ValueError):
    """The table cannot be used as it is."""


class NotYetError(DataError):
    """Something sensible that this version does not handle."""


class KnowledgeError(CausalContextError, ValueError):
    """Expert knowledge that contradicts itself, or names columns that are not there."""


class OptionError(CausalContextError, ValueError):
    """An argument has a value that means nothing."""


class FileError(CausalContextError, ValueError):
    """A file cannot be read or written."""


class InterruptedSearch(CausalContextError, KeyboardInterrupt):
    """The search was stopped by Ctrl-C; `result` holds what was decided until then.

    It is a `KeyboardInterrupt` too, so a script that does not ask for it ends as usual.
    """

    def __init__(self, result: Any) -> None:
        super().__init__("the search was interrupted; .result holds what was decided so far")
        self.result = result


def check_choice(what: str, value: object, allowed: Iterable[str]) -> None:
    """Return if `value` is one of `allowed`, else say which were expected and which was probably meant."""
    options = list(allowed)
    if value in options:
        return
    expected = ", ".join(repr(option) for option in options)
    raise OptionError(f"{what} is {value!r}, expected one of {expected}{did_you_mean(value, options)}")


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """A question that suggests the nearest known name, or nothing."""
    options = {str(option).casefold(): str(option) for option in known}
    close = difflib.get_close_matches(str(name).casefold(), options, n=1, cutoff=0.6)
    return f"; did you mean {options[close[0]]!r}?" if close else ""

"""Every error this library raises on purpose.

CausalContextError
├── DataError            the table cannot be used as it is
│   └── NotYetError      a kind of column or option that this version does not handle
├── KnowledgeError       the expert knowledge contradicts itself or names unknown columns
├── OptionError          an argument has a value that means nothing
│   └── NoSuchNameError  a context or a column that is not there
├── FileError            a file cannot be read or written
└── InterruptedSearch    Ctrl-C during a search; carries what was done so far

All but the last are also `ValueError`, so that code which never heard of this tree still catches
them.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from causalcontext.settings import LARGEST_NUMBER, LONGEST_QUOTE

_LONG_QUOTE = re.compile(
    rf"""(?<!\w)(['"])((?:(?!\1|\\).|\\.){{{LONGEST_QUOTE - 1}}})(?:(?!\1|\\).|\\.){{2,}}\1(?!\w)"""
)
"""Text in quotes that is too long to show; an apostrophe has a letter beside it."""


class CausalContextError(Exception):
    """The root of the tree; of what a message quotes, such as a name, the first 80 characters are
    shown.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(_LONG_QUOTE.sub(r"\1\2…\1", message))


class DataError(CausalContextError, ValueError):
    """The table cannot be used as it is."""


class NotYetError(DataError):
    """Something sensible that this version does not handle."""


class KnowledgeError(CausalContextError, ValueError):
    """Expert knowledge that contradicts itself, or names columns that are not there."""


class OptionError(CausalContextError, ValueError):
    """An argument has a value that means nothing."""


class NoSuchNameError(OptionError, KeyError):
    """A context or a column that is not there; also a `KeyError`, as every mapping raises."""

    def __str__(self) -> str:
        return str(self.args[0])


class FileError(CausalContextError, ValueError):
    """A file cannot be read or written."""


class InterruptedSearch(CausalContextError, KeyboardInterrupt):
    """The search was stopped by Ctrl-C; `result` holds what was decided until then.

    It is a `KeyboardInterrupt` too, so a script that does not catch it ends as usual.
    """

    def __init__(self, result: Any) -> None:
        super().__init__("the search was interrupted; .result holds what was decided so far")
        self.result = result


def check_choice(what: str, value: object, allowed: Iterable[str]) -> None:
    """Return if `value` is one of `allowed`, else say which were expected and which was probably
    meant.
    """
    options = list(allowed)
    if isinstance(value, str) and value in options:
        return
    expected = ", ".join(repr(option) for option in options)
    raise OptionError(
        f"{what} is {shortly(value)}, expected one of {expected}{did_you_mean(value, options)}"
    )


def check_whole(what: str, value: object, least: int | None = None, rest: str = "") -> None:
    """Return if `value` is a whole number, and not below `least` if there is one."""
    if is_whole(value) and (least is None or value >= least):  # type: ignore[operator]
        return
    begin = "" if least is None else f" from {least}"
    raise OptionError(f"{what} is {shortly(value)}, expected a whole number{begin}{rest}")


def check_level(what: str, value: object) -> None:
    """Return if `value` is a number between 0 and 1."""
    if not isinstance(value, int | float | np.floating) or not 0.0 < value < 1.0:
        raise OptionError(f"{what} is {shortly(value)}, expected a number between 0 and 1")


def check_jobs(value: object) -> None:
    """Return if `value` is a number of workers: at least 1, or -1 for all cores."""
    if not is_whole(value) or value != -1:
        check_whole("n_jobs", value, 1, ", or -1 for all cores")


def check_truth(what: str, value: object) -> None:
    """Return if `value` is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise OptionError(f"{what} is {shortly(value)}, expected True or False")


def check_positive(what: str, value: object, rest: str = "") -> None:
    """Return if `value` is a finite number above 0."""
    plain = isinstance(value, int | float | np.integer | np.floating) and not isinstance(
        value, bool
    )
    if not plain or not 0 < value <= LARGEST_NUMBER:  # type: ignore[operator]
        raise OptionError(f"{what} is {shortly(value)}, expected a positive number{rest}")


def shortly(value: object) -> str:
    """A value on one line of a message; of a long one the beginning."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**LONGEST_QUOTE:
        return f"a number of more than {LONGEST_QUOTE} digits"
    text = " ".join(repr(value).split())
    return text if len(text) <= LONGEST_QUOTE else f"{text[: LONGEST_QUOTE - 1]}…"


def listed(items: Iterable[object], most: int = 5, what: str = "") -> str:
    """Some things in words: the first few, and how many more there are, one of which is called
    `what`.

    >>> listed(["X", "Y", "Z"]), listed(["X"]), listed("ABCDEFG")
    ('X, Y and Z', 'X', 'A, B, C, D, E and 2 more')
    >>> listed([2001, 2002, 2003], most=2, what="year"), listed("ABC", most=1, what="column")
    ('2001, 2002 and 1 more year', 'A and 2 more columns')
    """
    things = list(items)
    words = [str(item) for item in things[: max(most, 0)]]
    more = len(things) - most
    if more > 0:
        named = f" {what}{'s' if more > 1 else ''}" if what else ""
        words.append(f"{more} more{named}")
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def value_text(value: object) -> str:
    """The value of a context in a sentence; a combination of values in brackets.

    >>> value_text("dry"), value_text(("dry", "north")), value_text(1)
    ('dry', '(dry, north)', '1')
    """
    return f"({', '.join(map(str, value))})" if isinstance(value, tuple) else str(value)


def is_whole(value: object) -> bool:
    """True if a value is a whole number; a truth value is none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def check_are_columns(wanted: Iterable[object], names: Collection[object]) -> None:
    """Return if a table has all of some columns."""
    for name in wanted:
        if name not in names:
            raise DataError(f"the table has no column {name!r}{did_you_mean(name, names)}")


def install(extra: str) -> str:
    """The commands that bring an extra, of a published version and of a clone.

    >>> install("app")
    "pip install 'causalcontext[app]' (in a clone: pip install '.[app]')"
    """
    return f"pip install 'causalcontext[{extra}]' (in a clone: pip install '.[{extra}]')"


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """A question that suggests the nearest known name, or nothing."""
    options = {str(option).casefold(): str(option) for option in known}
    close = difflib.get_close_matches(str(name).casefold(), options, n=1, cutoff=0.6)
    return f"; did you mean {options[close[0]]!r}?" if close else ""

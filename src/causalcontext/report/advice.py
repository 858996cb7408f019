"""Advice in the language of the place where it is read: Python, the command line, the app.

Messages of the library spell options as Python does, `missing='model'`. The command line and the
app print the same messages, and say `--missing model` and `missing: model`; each names its own form
of an option here, once.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import fields

from causalcontext.options import Options

KNOWN = {entry.name: entry for entry in fields(Options)}
FLAGS = {
    name: f"--{entry.metadata['name'] or name.replace('_', '-')}" for name, entry in KNOWN.items()
}
FLAGS |= {"kinds": "--kind", "context": "--context"}
"""What the command line calls the options."""
CALLS = {
    "save the result with rows=True": "search again with --keep-rows",
    "result.diagnose()": "--diagnose",
    "result.second_opinion()": "--diagnose",
    "second_opinion() compares both": "search again with --diagnose",
    "result.stability()": "causalcontext stability",
}
"""What the command line calls the questions to a result."""
OF_FILES = re.compile(
    r",? or pass pandas\.read_csv\([^()]*\)(,? if (that is its own|the column is text)| with the"
    r" encoding it has)?"
)
"""What only a program can do: the command line and the app read files alone."""
_VALUE = r"""'[^']*'|"[^"]*"|\[[^\]]*\]|\{[^}]*\}|cc\.\w+\((?:[^()]|\([^()]*\))*\)|""" + (
    r"""\.\.\.|[-+]?[\w.]*\w|"""
)
_OPTION = re.compile(
    rf"(?<![\w.(])(?P<name>{'|'.join(sorted([*KNOWN, 'context'], key=len, reverse=True))})"
    rf"=(?P<value>{_VALUE})"
)
_COLUMN = r"""(?P<quote>['"])(?P<column>.+?)(?P=quote)"""
_CUT = re.compile(rf"""cc\.threshold\({_COLUMN}, ['"]?(?P<value>[-+\w.]+)['"]?\)""")
_BINS = re.compile(
    rf"cc\.bins\({_COLUMN}, (?:edges=\[(?P<edges>[^\]]*)\]|quantiles=(?P<number>\d+))\)"
)
_OF_PYTHON = re.compile(rf"\b(?P<name>{'|'.join(name for name in KNOWN if '_' in name)})\b")
Word = Callable[[str, str], str]
"""`word(name, value)`: how a place says that an option has a value; the value is as Python writes
it.
"""


def on_the_command_line(message: str) -> str:
    """The message with options as the command line takes them.

    Examples
    --------
    >>> said = "pass missing='model', or kinds={'x': 'count'}, or na_values=[-9999, '.']"
    >>> on_the_command_line(said)
    'pass --missing model, or --kind x=count, or --na=-9999,.'
    >>> on_the_command_line('pass context=cc.threshold("VPD", "best") with lags=...')
    "pass --context 'VPD > best' with --lags N"
    >>> said = "save it in UTF-8, or pass pandas.read_csv(path, sep=';'); max_given is -1"
    >>> on_the_command_line(said)
    'save it in UTF-8; --max-given is -1'
    """
    for call, flag in CALLS.items():
        message = message.replace(call, flag)
    said = _said(message, _flag)
    return _OF_PYTHON.sub(lambda match: FLAGS[match["name"]], said)


def in_the_app(message: str) -> str:
    """The message with options as the page of the app calls them.

    >>> in_the_app("pass missing='model', or kinds={'x': 'count'}")
    'pass missing: model, or kind of x: count'
    """
    return _said(message, _label)


def _said(message: str, word: Word) -> str:
    if "=" not in message and "_" not in message and "cc." not in message:
        return message
    message = OF_FILES.sub("", message)
    message = _BINS.sub(_bins_as_condition, _CUT.sub(r"'\g<column> > \g<value>'", message))
    return _OPTION.sub(lambda match: word(match["name"], match["value"]), message)


def _bins_as_condition(match: re.Match[str]) -> str:
    edges = match["number"] or match["edges"].replace(" ", "")
    return f"'{match['column']} bins {edges}'"


def _flag(name: str, value: str) -> str:
    """An option as the command line takes it."""
    flag = FLAGS[name]
    if name == "knowledge":
        said = re.search(r"\((\w+)=", value)
        return f"{flag} FILE" if said is None else f"{flag} FILE with {said[1]}"
    if name == "covariates" and "cycle(" in value:
        return "--cycle COLUMN:PERIOD"
    if name == "kinds" and value.startswith("{"):
        return " ".join(f"{flag} {shlex.quote('='.join(pair))}" for pair in _pairs(value))
    if value in ("True", "False"):
        return flag if value == "True" else flag.replace("--", "--no-", 1)
    if value in ("", "..."):
        shown = KNOWN[name].metadata["shown"] if name in KNOWN else "COLUMN"
        return f"{flag} {shown}" if value else flag
    plain = _plain(value)
    return (
        f"{flag}={shlex.quote(plain)}" if plain.startswith("-") else f"{flag} {shlex.quote(plain)}"
    )


def _label(name: str, value: str) -> str:
    """An option as a page shows it."""
    if name == "kinds" and value.startswith("{"):
        return ", ".join(f"kind of {column}: {kind}" for column, kind in _pairs(value))
    label = name.replace("_", " ")
    return label if value in ("", "...") else f"{label}: {_plain(value)}"


def _pairs(mapping: str) -> list[tuple[str, str]]:
    """Columns and kinds of `{'x': 'count'}`."""
    return re.findall(r"""['"](.+?)['"]: ['"](\w+)['"]""", mapping)


def _plain(value: str) -> str:
    """A value without the quotes and brackets of Python; several of them with commas."""
    if value.startswith("["):
        return ",".join(_plain(part.strip()) for part in value[1:-1].split(","))
    return value[1:-1] if len(value) > 1 and value[0] in "'\"" and value[-1] == value[0] else value

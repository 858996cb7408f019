"""Advice in the language of the place where it is read: Python, the command line, the app.

Messages of the library spell options as Python does, `missing='model'`. The command line and the
app print the same messages, and say `--missing model` and `missing: model`; each names its own form
of an option here, once.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping

from causalcontext.methods.registry import METHODS
from causalcontext.options import ENTRIES as KNOWN

FLAGS = {
    name: f"--{entry.metadata['name'] or name.replace('_', '-')}" for name, entry in KNOWN.items()
}
FLAGS |= {"kinds": "--kind", "context": "--context"}
"""The names of options on the command line."""
OF_FILES = re.compile(
    r",? or pass pandas\.read_csv\([^()]*\)(,? if (that is its own|the column is text)| with the"
    r" encoding it has)?"
)
"""Advice that only a program can follow: the command line and the app read files alone."""
_NAMES = {method.kind.__name__: name for name, method in METHODS.items()}
_OBJECT = re.compile(
    rf"method=cc\.(?P<kind>{'|'.join(_NAMES)})"
    r"\((?P<options>(?:[^()]|\([^()]*\))*)\)(?:, or method=.*$)?"
)
"""The object of a method, and the same in keywords after it."""
_VALUE = (
    r"""'[^']*'|"[^"]*"|\[(?:'[^']*'|"[^"]*"|[^\]'"])*\]|\{[^}]*\}|cc\.\w+\((?:[^()]|\([^()]*\))*\)|"""
    + (r"""\.\.\.|[-+]?[\w.]*\w|""")
)
_OPTION = re.compile(
    rf"(?<![\w.])(?<!\w\()(?P<name>{'|'.join(sorted([*KNOWN, 'context'], key=len, reverse=True))})"
    rf"=(?P<value>{_VALUE})"
)
_COLUMN = r"""(?P<quote>['"])(?P<column>.+?)(?P=quote)"""
_CUT = re.compile(rf"""cc\.threshold\({_COLUMN}, ['"]?(?P<value>[-+\w.]+)['"]?\)""")
_BINS = re.compile(
    rf"cc\.bins\({_COLUMN}, (?:edges=\[(?P<edges>[^\]]*)\]|quantiles=(?P<number>\d+))\)"
)
DIAGNOSIS = "the table 'Diagnosis' of the report"
"""The table of a report that was asked for a diagnosis."""
_WHY = "the card 'Why is it there, or missing?' of the report"
CARDS = {
    "the column n of tests()": _WHY,
    "see n in tests()": f"see {_WHY}",
    "explain()": _WHY,
    "labels()": _WHY,
    "tests()": _WHY,
    "changes()": "the card 'What differs between the contexts?' of the report",
    "effects()": "the card 'What does a change do?' of the report",
    "diagnose()": DIAGNOSIS,
    "to_frame()": DIAGNOSIS,
    "edges()": "the table 'Edges' of the report",
    "flagged_cells()": "the table 'Cells taken for wrong' of the report",
    "second_opinion()": DIAGNOSIS,
    "result.diagnose()": DIAGNOSIS,
    "result.second_opinion()": DIAGNOSIS,
}
"""The card of a report that shows the answer of a method of the result."""
STABILITY = {"result.stability()": "Check stability"}
"""The button of the app; a report has none."""
COMMANDS = {
    "the column n of tests()": "causalcontext explain",
    "see n in tests()": "see causalcontext explain",
    "explain()": "causalcontext explain",
    "labels()": "causalcontext explain",
    "tests()": "causalcontext explain",
    "changes()": "causalcontext changes",
    "effects()": "causalcontext effects",
    "diagnose()": "--diagnose",
    "result.diagnose()": "--diagnose",
    "result.second_opinion()": "--diagnose",
    "result.report(path, diagnose=True)": "--diagnose",
    "second_opinion() compares both": "search again with --diagnose",
    "result.stability()": "causalcontext stability",
    "effects(x, y, by_path=True)": "causalcontext effects RESULT X Y --by-path",
    "save(path, rows=True)": "discover with --keep-rows",
    "save the result with rows=True": "search again with --keep-rows",
    "rows=True": "--keep-rows",
    ', "listwise" to drop': ", --missing listwise to drop",
    'or "testwise" to drop': "or --missing testwise to drop",
    ", or None for no limit": "",
    ", or None for neighbours alone": "",
    ", or None for rows without an order": "",
    "of seconds, or None": "of seconds",
    "such as (0, 1)": "such as 0,1",
    "kinds has": "--kind has",
    "find_contexts": "contexts",
    "cc.discover": "discover",
    "and result.cut has its value": "and prints it",
    " (as table.drop_duplicates() does)": "",
}
"""The spelling on the command line of calls that Python does not write as an option."""


def _spelled(known: Mapping[str, str]) -> re.Pattern[str]:
    """Any of some spellings, the longest that fits."""
    whole = (
        rf"(?<![\w.]){re.escape(word)}" if word[0].isalpha() else re.escape(word)
        for word in sorted(known, key=len, reverse=True)
    )
    return re.compile(rf"(?:{'|'.join(whole)})(?!\w)")


_FOR_PROGRAMS = re.compile(
    r", or None for (?:no limit|neighbours alone|rows without an order)|(?<=seconds), or None"
    r"| \(as table\.drop_duplicates\(\) does\)"
)
"""Parts of a sentence that only a program can use."""
_IN_CARDS = _spelled(CARDS)
_IN_BUTTONS = _spelled(STABILITY)
_IN_COMMANDS = _spelled(COMMANDS)
_OF_PYTHON = re.compile(rf"\b(?P<name>{'|'.join(name for name in KNOWN if '_' in name)})\b")
_SUBJECT = re.compile(
    rf"^(?P<begin>(?:error: )?)(?P<name>{'|'.join([*KNOWN, 'context'])})(?= (?:is|belongs to) )"
    rf"|(?<=\bleave )(?P<left>{'|'.join(KNOWN)})(?= out\b)"
)
"""An option that a refusal is about, as its first word, or that is to be left out."""
_JOINED = re.compile(r"(?P<method>--method \S+), (?=--)")
"""A method and an option of it, which are one command."""
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
    >>> on_the_command_line("pass method=cc.PCAC(alpha=0.01), or method='pc-ac', alpha=0.01")
    'pass --method pc-ac --alpha 0.01'
    >>> on_the_command_line("lags is -1, expected a whole number from 1")
    '--lags is -1, expected a whole number from 1'
    >>> said = "save it in UTF-8, or pass pandas.read_csv(path, sep=';'); max_given is -1"
    >>> on_the_command_line(said)
    'save it in UTF-8; --max-given is -1'
    >>> on_the_command_line("flagged_cells() lists them, diagnose() says what they change")
    "the table 'Cells taken for wrong' of the report lists them, --diagnose says what they change"
    """
    commands = _IN_COMMANDS.sub(lambda match: COMMANDS[match[0]], message)
    said = _JOINED.sub(r"\g<method> ", _said(in_a_report(commands), _flag))
    said = _SUBJECT.sub(
        lambda match: f"{match['begin'] or ''}{FLAGS[match['name'] or match['left']]}", said
    )
    return _OF_PYTHON.sub(lambda match: FLAGS[match["name"]], said)


def in_the_app(message: str) -> str:
    """The message with options as the page of the app calls them.

    >>> in_the_app("pass missing='model', or kinds={'x': 'count'}")
    'pass missing: model, or kind of x: count'
    """
    plain = _FOR_PROGRAMS.sub("", message)
    buttons = _IN_BUTTONS.sub(lambda match: STABILITY[match[0]], plain)
    return _said(in_a_report(buttons), _label)


def in_python(message: str) -> str:
    """The message itself, which is spelled for Python."""
    return message


def in_a_report(message: str, diagnosed: bool = True) -> str:
    """The message with the cards of a report in place of the methods that return the same;
    `diagnosed` is False for a report that has no table of a diagnosis.

    >>> in_a_report("see explain() for these pairs")
    "see the card 'Why is it there, or missing?' of the report for these pairs"
    >>> in_a_report("diagnose() says what they change", diagnosed=False)
    'diagnose() says what they change'
    """
    if "()" not in message:
        return message
    shown = CARDS
    if not diagnosed:
        shown = {call: card for call, card in CARDS.items() if card != DIAGNOSIS}
    return _IN_CARDS.sub(lambda match: shown.get(match[0], match[0]), message)


def _said(message: str, word: Word) -> str:
    """The message with every option in the words of a place; a message without any stays as it is.

    Objects of methods become keywords first, then cuts and bins become conditions, and last each
    `name=value` is spelled by `word`.
    """
    if "=" not in message and "_" not in message and "cc." not in message:
        return message
    message = _OBJECT.sub(_in_keywords, OF_FILES.sub("", message))
    message = _BINS.sub(_bins_as_condition, _CUT.sub(r"'\g<column> > \g<value>'", message))
    return _OPTION.sub(lambda match: word(match["name"], match["value"]), message)


def _in_keywords(match: re.Match[str]) -> str:
    """The object of a method as keywords: its name, and its options."""
    options = f", {match['options']}" if match["options"] else ""
    return f"method={_NAMES[match['kind']]!r}{options}"


def _bins_as_condition(match: re.Match[str]) -> str:
    """Bins of a column as a condition on it: their number, or their edges."""
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

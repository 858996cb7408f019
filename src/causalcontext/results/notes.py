"""Sentences that come with a result and know what they are about: their words may change, what they
do may not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from causalcontext.model_checks.violations import Violation, score_words


class About(StrEnum):
    """The subjects of sentences."""

    SEARCH = "search"
    RESIDUALS = "residuals"
    """Contradictions of a model by its residuals."""
    FUNCTION = "function of a column"
    """A context variable that a column determines."""
    CUT = "time limit"
    """Steps that a time limit left out of a search whose graphs are oriented all the same."""
    UNDECIDED = "context or bend"
    """Mechanisms that a context changes, or that have a bend which all contexts share."""
    CELLS = "wrong cells"
    """Cells and rows that were taken for wrong."""
    TESTS = "search by tests"
    """Why a table was searched by tests, where a search by scores is the default."""


TOLD_FIRST = frozenset(set(About) - {About.SEARCH})
"""Topics that a reader must know before believing the answer: these sentences are warnings, all
others notes.
"""


class ResultNote(str):
    """A sentence, and what it is about: a str with a topic.

    Examples
    --------
    >>> note = ResultNote("residuals of X are skewed", About.RESIDUALS, "compare with pc-ac")
    >>> note, about(note).value, about("a text").value
    ('residuals of X are skewed; compare with pc-ac', 'residuals', 'search')
    """

    about: About
    found: str  # the sentence without its advice
    advice: str  # what to do; empty where there is no such part

    def __new__(cls, found: str, about: About = About.SEARCH, advice: str = "") -> ResultNote:
        note = super().__new__(cls, f"{found}; {advice}" if advice else found)
        note.about = about
        note.found = found
        note.advice = advice
        return note


def about(note: str) -> About:
    """The subject of a sentence; a plain text is about the search."""
    return note.about if isinstance(note, ResultNote) else About.SEARCH


def was_cut(notes: Sequence[str]) -> bool:
    """True where one of the sentences says that a time limit cut a search short."""
    return any(about(note) is About.CUT for note in notes)


def divided(sentences: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The warnings among some sentences, and the notes, which say how a result was made.

    The warning that a search was cut comes first: what the others say is of an unfinished model.

    >>> skewed = ResultNote("residuals of X are skewed", About.RESIDUALS)
    >>> divided([ResultNote("curves were tried"), skewed])
    (('residuals of X are skewed',), ('curves were tried',))
    """
    warnings = []
    notes = []
    for sentence in sentences:
        if about(sentence) in TOLD_FIRST:
            warnings.append(sentence)
        else:
            notes.append(sentence)
    warnings.sort(key=lambda sentence: about(sentence) is not About.CUT)
    return tuple(warnings), tuple(notes)


def residual_notes(violations: Sequence[Violation], context: bool) -> list[ResultNote]:
    """The sentences about residuals that speak against a score-based model."""
    words = (score_words(violation, context) for violation in violations)
    return [ResultNote(sentence, About.RESIDUALS, remedy) for sentence, remedy in words]


def marked(notes: Sequence[str]) -> list[tuple[int, str, str]]:
    """Place, subject and advice of the sentences that are about something else than the search, for
    a file.
    """
    kept = ((index, note) for index, note in enumerate(notes) if isinstance(note, ResultNote))
    return [
        (index, note.about.value, note.advice)
        for index, note in kept
        if note.about is not About.SEARCH
    ]


def with_marks(
    texts: Sequence[str], marks: Sequence[tuple[int, str, str]], key: str
) -> tuple[str, ...]:
    """The sentences of a file with what they are about again; `key` is where the file has the
    marks.
    """
    notes = list(texts)
    for index, subject, advice in marks:
        ending = f"; {advice}" if advice else ""
        if not texts[index].endswith(ending):
            raise ValueError(f"{key} has advice that sentence {index} does not end with")
        notes[index] = ResultNote(texts[index].removesuffix(ending), About(subject), advice)
    return tuple(notes)

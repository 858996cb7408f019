"""The end of a search: what it can say about its own result is found once, and kept.

Tables then read it. After every search these are the differences between the contexts; after a
search by scores also the model checks, and all that speaks against a claim. The model checks take
as long as a search by tests, which leaves them to questions, but for whether rows depend on each
other: nothing that was tested may be believed then.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from causalcontext.results.changes import compare_contexts
from causalcontext.results.kept import answers_of, with_answers
from causalcontext.results.settings import COMPARED_AT_ONCE
from causalcontext.results.violations import violations_of, words_about_rows

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs


def finished(result: ContextGraphs) -> ContextGraphs:
    """The result of a search that makes the model checks itself, with their sentences among its
    warnings, and with its contexts compared.
    """
    violations_of(result)
    checked = with_answers(replace(result, warnings=result.cautions), answers_of(result))
    return compared(checked)


def with_words_about_rows(result: ContextGraphs) -> ContextGraphs:
    """The result of a search by tests, with a warning where rows depend on each other."""
    words = words_about_rows(result.searched)
    if not words:
        return result
    return with_answers(replace(result, warnings=(*result.warnings, *words)), answers_of(result))


def compared(result: ContextGraphs) -> ContextGraphs:
    """The same result, which keeps the differences between its contexts from now on.

    After a search by tests that was cut short nothing is compared: a limit of its time has passed.
    """
    if result.complete or result.evidence is not None:
        compare_contexts(result.searched, COMPARED_AT_ONCE)
    return result


def with_same_answers(result: ContextGraphs, other: ContextGraphs) -> ContextGraphs:
    """A copy of a result that differs from another one in words alone, with what that one keeps."""
    return with_answers(result, answers_of(other))

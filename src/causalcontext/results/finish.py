"""The end of a search: what it can say about its own result is found once, and kept.

Tables then read it. After a search by scores these are the model checks and the comparison of the
contexts, with all that speaks against a claim; together they take about a fifth of the search.
Tests are as quick as these, so a search by tests leaves them to questions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from causalcontext.results.changes import compare_contexts
from causalcontext.results.kept import answers_of, with_answers
from causalcontext.results.settings import COMPARED_AT_ONCE
from causalcontext.results.violations import violations_of

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs


def finished(result: ContextGraphs) -> ContextGraphs:
    """The result of a search that makes the model checks itself, with their sentences among its
    warnings.
    """
    violations_of(result)
    told = with_answers(replace(result, warnings=result.cautions), answers_of(result))
    if told.evidence is not None:
        compare_contexts(told.searched, COMPARED_AT_ONCE)
    return told


def with_same_answers(result: ContextGraphs, other: ContextGraphs) -> ContextGraphs:
    """A copy of a result that differs from another one in words alone, with what that one keeps."""
    return with_answers(result, answers_of(other))

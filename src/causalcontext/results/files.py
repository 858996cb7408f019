"""Results from JSON files, equal to those that were saved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from causalcontext.data.files import as_path
from causalcontext.diagnostics.findings import Diagnosis
from causalcontext.diagnostics.stability import MARKS, Stability
from causalcontext.errors import CausalContextError, FileError
from causalcontext.graphs.endpoints import Endpoint, Endpoints
from causalcontext.results.content import (
    FORMAT,
    RESULT_FORMAT_VERSION,
    answers_from_dict,
    checksum,
    decoded,
    fields_from_dict,
)
from causalcontext.results.contexts import ContextGraphs
from causalcontext.results.few_rows import ThinLevels
from causalcontext.results.kept import with_answers
from causalcontext.results.thin import with_thin_levels

_DAMAGE = (
    ArithmeticError,
    AttributeError,
    CausalContextError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)
"""The other errors that are raised when a result is made out of something that is none."""


def load(path: str | Path) -> ContextGraphs:
    """The result that was saved in a JSON file, equal to the one that was saved.

    Examples
    --------
    >>> import causalcontext as cc
    >>> cc.load("missing.json")
    Traceback (most recent call last):
        ...
    causalcontext.errors.FileError: result file 'missing.json' cannot be read: No such file or
    directory
    """
    file = as_path(path)
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"result file {str(path)!r} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        # no JSON, no UTF-8, numbers without end, lists in lists in lists
        raise FileError(
            f"file {str(path)!r} is not a result of causalcontext: it is not valid JSON ({error})"
        ) from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise FileError(f"file {str(path)!r} is not a result of causalcontext")
    if content.get("format_version") != RESULT_FORMAT_VERSION:
        version = content.get("format_version")
        raise FileError(
            f"result file {str(path)!r} has format version {version}, this library reads"
            f" {RESULT_FORMAT_VERSION}; search the table again"
        )
    signature = checksum(content)
    if not signature:
        raise FileError(
            f"result file {str(path)!r} is damaged: it holds infinite numbers, or lists nested too"
            " deeply"
        )
    if content.get("checksum") != signature:
        raise FileError(
            f"result file {str(path)!r} is damaged: its checksum is another one than its"
            " content has"
        )
    try:
        thin = ThinLevels.from_dict(content["thin"]) if "thin" in content else None
        return with_thin_levels(
            _with_answers(ContextGraphs(**fields_from_dict(content)), content), thin
        )
    except _DAMAGE as error:
        raise FileError(
            f"result file {str(path)!r} is damaged: {error or type(error).__name__}"
        ) from error


def _with_answers(result: ContextGraphs, content: dict[str, Any]) -> ContextGraphs:
    """The result, with the answers to questions that were asked before it was saved."""
    answers = answers_from_dict(content, result.contexts)
    if "diagnosis" in content:
        answers.diagnosis = Diagnosis.from_list(content["diagnosis"])
    if "stability" in content:
        answers.stability = _stability(result, content["stability"])
    if "other_cuts" in content:
        answers.other_cuts = _other_cuts(result, content["other_cuts"])
    return with_answers(result, answers)


def _other_cuts(result: ContextGraphs, stored: dict[str, Any]) -> dict[float, Endpoints]:
    """The endpoints below and above other places of a cut, if they are those of a result."""
    endpoints = decoded(stored["endpoints"])
    places = stored["places"]
    shape = (len(places), 2, len(result.names), len(result.names))
    marks = [end.value for end in Endpoint]
    known = result.cut is not None and result.cut.value in places
    if not known or endpoints.shape != shape or not np.isin(endpoints, marks).all():
        raise ValueError("other_cuts is of another cut or other variables, or holds no endpoints")
    return dict(zip(places, endpoints.astype(np.int8), strict=True))


def _stability(result: ContextGraphs, content: dict[str, Any]) -> Stability:
    """The shares over bootstrap samples, if they are of the contexts and variables of a result."""
    frequency = decoded(content["frequency"])
    contexts = result.contexts
    marks = len(MARKS[result.union.kind])
    shape = (len(contexts), len(result.names), len(result.names), marks)
    if frequency.shape != shape or not ((frequency >= 0.0) & (frequency <= 1.0)).all():
        raise ValueError(
            "stability.frequency is of other contexts or variables, or holds no shares"
        )
    labels = {
        (x, y): {
            tuple(contexts[context_index] for context_index in label): share
            for label, share in shares
        }
        for x, y, shares in content["labels"]
    }
    return Stability(result, content["samples"], frequency, labels)

"""The spelling of contexts and p-values in all texts: `R = dry`, `VPD <= 0.8`, `p < 1e-16`."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from causalcontext.errors import OptionError, did_you_mean, shortly, value_text
from causalcontext.results.settings import NEARLY_ONE, SMALLEST_P

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs


def p_words(p: float) -> str:
    """A p-value with its sign, as people write it.

    Examples
    --------
    >>> p_words(0.0312), p_words(4e-12), p_words(0.0)
    ('p = 0.031', 'p = 4e-12', 'p < 1e-16')
    """
    written = p_text(p)
    return f"p {written}" if written.startswith(("<", ">")) else f"p = {written}"


def p_text(p: float) -> str:
    """A p-value, or one adjusted for several tests, for a cell of a table; empty where there is
    none.

    Examples
    --------
    >>> p_text(0.0312), p_text(0.0), p_text(0.9999), p_text(float("nan"))
    ('0.031', '< 1e-16', '> 0.99', '')
    """
    if p != p:
        return ""
    if p < SMALLEST_P:
        return f"< {SMALLEST_P:.0e}"
    if p >= NEARLY_ONE:
        return "> 0.99"
    return f"{p:.2g}" if p >= 1e-4 else f"{p:.0e}"


def share_text(share: float) -> str:
    """A probability from draws, with two digits and never 0 or 1.

    >>> share_text(0.5), share_text(1.0), share_text(0.001)
    ('0.50', '> 0.99', '< 0.01')
    """
    if share >= NEARLY_ONE:
        return "> 0.99"
    return f"{share:.2f}" if share >= 0.005 else "< 0.01"


def context_words(name: str | None, value: Any, indicator: str | None = None) -> str:
    """A value of a context variable; one that is made out of a column says what it says about the
    column.

    Examples
    --------
    >>> context_words("soil", "dry"), context_words("VPD > 0.8", "<= 0.8", indicator="VPD")
    ('soil = dry', 'VPD <= 0.8')
    >>> context_words("VPD bin", "(0.3, 0.8]", indicator="VPD")
    'VPD in (0.3, 0.8]'
    >>> context_words("1 < VPD <= 2", "not 1 < VPD <= 2", indicator="VPD")
    'not 1 < VPD <= 2'
    """
    if indicator is None:
        return f"{name} = {value_text(value)}"
    if f" {indicator} " in str(value):  # a range names its column
        return str(value)
    return f"{indicator} in {value}" if str(value).startswith("(") else f"{indicator} {value}"


def fixed_words(fixed: Mapping[str, Any], made_of: Mapping[str, str]) -> str:
    """Several context variables at once; `made_of` names the columns of which some of them are
    made.

    Examples
    --------
    >>> fixed_words({"soil": "dry", "VPD > 0.8": "<= 0.8"}, {"VPD > 0.8": "VPD"})
    'soil = dry, VPD <= 0.8'
    """
    return ", ".join(context_words(name, value, made_of.get(name)) for name, value in fixed.items())


def context_place(contexts: Sequence[Any], value: Any) -> int:
    """The place of a context value, or an error that suggests one."""
    truth = bool | np.bool_
    for index, known in enumerate(contexts):
        if (
            isinstance(value, Hashable)
            and known == value
            and isinstance(known, truth) == isinstance(value, truth)
        ):
            return index
    expected = ", ".join(repr(known) for known in contexts[:8])
    raise OptionError(
        f"there is no context {shortly(value)}{did_you_mean(value, contexts)} (expected one of"
        f" {expected})"
    )


def view_words(result: ContextGraphs) -> list[str]:
    """The rows of every view of the log: `pooled`, `R=wet`, ..."""
    fixed = (result.fixed(view) for view in range(len(result.asked.views)))
    return [
        ", ".join(f"{name}={value}" for name, value in values.items()) or "pooled"
        for values in fixed
    ]

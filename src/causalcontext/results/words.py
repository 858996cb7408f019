"""How contexts and p-values are written, once for all texts: `R = dry`, `VPD <= 0.8`, `p < 1e-300`."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from causalcontext.errors import OptionError, did_you_mean, shortly

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

SMALLEST_P = 1e-300
"""Smaller p-values are rounded to 0 by the computer; nothing has a probability of 0."""


def p_words(p: float) -> str:
    """A p-value with its sign, as people write it.

    Examples
    --------
    >>> p_words(0.0312), p_words(4e-12), p_words(0.0)
    ('p = 0.031', 'p = 4e-12', 'p < 1e-300')
    """
    if p < SMALLEST_P:
        return f"p < {SMALLEST_P:.0e}"
    return f"p = {p:.2g}" if p >= 1e-4 else f"p = {p:.0e}"


def context_words(name: str | None, value: Any, indicator: str | None = None) -> str:
    """A value of a context variable; one that is made out of a column says what it says about the column.

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
        return f"{name} = {value}"
    if f" {indicator} " in str(value):  # a range names its column
        return str(value)
    return f"{indicator} in {value}" if str(value).startswith("(") else f"{indicator} {value}"


def fixed_words(fixed: Mapping[str, Any], made_of: Mapping[str, str]) -> str:
    """Several context variables at once; `made_of` names the columns of which some of them are made.

    Examples
    --------
    >>> fixed_words({"soil": "dry", "VPD > 0.8": "<= 0.8"}, {"VPD > 0.8": "VPD"})
    'soil = dry, VPD <= 0.8'
    """
    return ", ".join(context_words(name, value, made_of.get(name)) for name, value in fixed.items())


def context_place(contexts: Sequence[Any], value: Any) -> int:
    """The place of a context value, or an error that suggests one."""
    for place, known in enumerate(contexts):
        if isinstance(value, Hashable) and known == value and isinstance(known, bool) == isinstance(value, bool):
            return place
    expected = ", ".join(repr(known) for known in contexts[:8])
    raise OptionError(
        f"there is no context {shortly(value)}{did_you_mean(value, contexts)} (expected one of {expected})"
    )


def view_words(result: ContextGraphs) -> list[str]:
    """The rows of every view of the log: `pooled`, `R=wet`, ..."""
    fixed = (result.fixed(view) for view in range(len(result.asked.views)))
    return [", ".join(f"{name}={value}" for name, value in found.items()) or "pooled" for found in fixed]

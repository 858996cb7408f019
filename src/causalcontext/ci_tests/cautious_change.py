"""A category against a number, with the logit asked always: for categories that a curve or an effect makes.

`robust-change` asks the logit only where its gate opens. Where the category is made from the conditions or from an
effect of the number, by sharp bins of a curve, the gate stays shut too often. Asking always keeps the level, and costs
power where the conditions nearly determine the category; so it is no default (docs/tests.md).
"""

from __future__ import annotations

from dataclasses import dataclass

from causalcontext.ci_tests.robust_change import RobustChange

ALWAYS = 2.0
"""A gate level above every p-value."""


@dataclass(frozen=True)
class CautiousChange(RobustChange):
    """`RobustChange` whose p-value is never smaller than that of the logit, given any conditions."""

    name: str = "cautious-change"
    gate: float = ALWAYS

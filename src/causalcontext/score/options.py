"""How the score-based engine searches, checked at the door."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from causalcontext.errors import OptionError, check_choice, check_positive, check_whole

SEARCHES = ("auto", "order", "exact")
TRANSFORMS = ("auto", "none", "ranks")
CURVES = ("auto", "never", "always")
WRONG_CELLS = ("auto", "keep")
LARGEST_PENALTY = 1000.0
"""With larger ones scores could not be compared: their differences would be lost in rounding."""
MANY_VARIABLES = 200
"""From so many variables on, the price of a parent also grows with their number."""
MOST_CURVED_VARIABLES = 150
"""Beyond so many variables curves are not tried."""
MANY_CONTEXTS = 5
"""From so many contexts on, contexts are merged, which takes longer: fewer starts, and none after the best model was
found twice."""


@dataclass(frozen=True)
class ScoreOptions:
    """The choices of the score-based engine."""

    # "order", insertion moves on orders from several random starts, or "exact", the optimum of a small problem; "auto"
    # takes the latter where it is the quicker one and no number of starts is asked for
    search: str = "auto"
    # "none", or "ranks": columns are replaced by the normal scores of their ranks; "auto" asks the likelihood
    transform: str = "auto"
    # random starts of the order search; by default 10 for up to 50 variables, 4 for up to 400, else 1; fewer for the
    # search with curves, which also starts from what was found without them
    starts: int | None = None
    penalty: float = 2.0  # each parameter costs `penalty / 2 * log(rows of its block)`; 1 is the plain BIC
    time_limit: float | None = None  # seconds after which the best model so far is returned
    curves: str = "auto"  # whether mechanisms may be curved: "never", "always", or "auto" by the likelihood
    densities: bool = True  # whether noise may have another density than the Gaussian one
    # "keep", or "auto": cells that are far from what the rest of their row leads to expect are replaced, if the
    # likelihood is for it
    wrong_cells: str = "auto"

    def __post_init__(self) -> None:
        check_choice("search", self.search, SEARCHES)
        check_choice("transform", self.transform, TRANSFORMS)
        check_choice("curves", self.curves, CURVES)
        check_choice("wrong_cells", self.wrong_cells, WRONG_CELLS)
        if self.starts is not None:
            check_whole("starts", self.starts, 1, ", or None for the default")
        check_positive("penalty", self.penalty)
        if self.penalty > LARGEST_PENALTY:
            raise OptionError(
                f"penalty is {self.penalty!r}, expected a number up to {LARGEST_PENALTY:.0f}; with that no link is left"
            )
        if self.time_limit is not None:
            check_positive("time_limit", self.time_limit, " of seconds, or None")

    def number_of_starts(self, variables: int, contexts: int, curves: bool) -> int:
        """The random starts for a table."""
        if self.starts is not None:
            return self.starts
        starts = 10 if variables <= 50 else 4 if variables <= 400 else 1
        if contexts >= MANY_CONTEXTS:
            starts = min(starts, 4)
        return min(starts, 4 if variables <= 20 else 2 if variables <= 50 else 1) if curves else starts

    def curves_offered(self, variables: int) -> bool:
        """Whether mechanisms of a table with so many variables may be curved."""
        return self.curves != "never" and variables <= MOST_CURVED_VARIABLES

    def parent_price(self, variables: int) -> float:
        """What a parent costs beyond its parameter: the extended BIC with factor 1/2, for many variables only."""
        return 0.5 * log(variables) if variables >= MANY_VARIABLES else 0.0

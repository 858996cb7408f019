"""How the score-based engine searches, checked at the door."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from causalcontext.errors import check_choice, check_positive, check_whole

SEARCHES = ("order", "exact")
TRANSFORMS = ("auto", "none", "ranks")
MANY_VARIABLES = 200
"""From so many variables on, the price of a parent also grows with their number."""


@dataclass(frozen=True)
class ScoreOptions:
    """The choices of the score-based engine.

    Attributes
    ----------
    search : {"order", "exact"}
        Insertion moves on orders from several random starts, or the exact optimum of a small problem.
    transform : {"auto", "none", "ranks"}
        Whether columns are replaced by the normal scores of their ranks; "auto" asks the likelihood.
    starts : int or None
        Random starts of the order search; by default 10 for up to 50 variables, 4 for up to 400, else 1.
    penalty : float
        Each parameter costs `penalty / 2 * log(rows of its block)`; 1 is the plain BIC.
    time_limit : float or None
        Seconds after which the best model so far is returned.
    """

    search: str = "order"
    transform: str = "auto"
    starts: int | None = None
    penalty: float = 2.0
    time_limit: float | None = None

    def __post_init__(self) -> None:
        check_choice("search", self.search, SEARCHES)
        check_choice("transform", self.transform, TRANSFORMS)
        if self.starts is not None:
            check_whole("starts", self.starts, 1, ", or None for the default")
        check_positive("penalty", self.penalty)
        if self.time_limit is not None:
            check_positive("time_limit", self.time_limit, " of seconds, or None")

    def number_of_starts(self, variables: int) -> int:
        """The random starts for so many system variables."""
        if self.starts is not None:
            return self.starts
        return 10 if variables <= 50 else 4 if variables <= 400 else 1

    def parent_price(self, variables: int) -> float:
        """What a parent costs beyond its parameter: the extended BIC with factor 1/2, for many variables only."""
        return 0.5 * log(variables) if variables >= MANY_VARIABLES else 0.0

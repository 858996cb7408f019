"""Honest marks: an edge is directed only if the best model without that direction is clearly worse.

Curves and noise densities tell directions apart that linear Gaussian models cannot, by a likelihood that is never
exactly the same; so a direction counts if forbidding it costs `CLEAR` nats, or if the best model without it has no edge
there the other way round. Where knowledge allows one direction only, nothing is asked. A direction that there was no
time to ask about is left open.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from causalcontext.graphs.endpoints import Endpoints, endpoints_of_arcs
from causalcontext.kernels.arrays import Bools, Floats
from causalcontext.score.clock import Clock
from causalcontext.score.model import FittedModel
from causalcontext.score.search import FoundModels, Rival

CLEAR = 3.0
"""What forbidding a direction must cost, in nats."""
ENOUGH = 30.0
"""Margins are not followed beyond this."""
BETTER = 1e-6
MOST_CORRECTIONS = 5


@dataclass(frozen=True, eq=False)
class Directed:
    """A model, the ends of every context, and the margin of every direction.

    Attributes
    ----------
    model : FittedModel
        The best one: a rival may have turned out to be better.
    ends : array of int, shape (K, p + 1, p + 1)
    margin : array, shape (p + 1, p + 1)
        `margin[cause, effect]`: what forbidding the direction costs, at most `ENOUGH`; NaN where it was not asked.
    """

    model: FittedModel
    endpoints: Endpoints
    margin: Floats


def direct(found: FoundModels, may: Bools, clock: Clock | None = None) -> Directed:
    """The best model with honest marks; `may[cause, effect]`: what knowledge allows. No clock: there is time enough."""
    model = found.best
    rivals = found.rivals(model) if clock is None or not clock.late else _nobody
    for _ in range(MOST_CORRECTIONS):
        links, margin, better = _ask(model, rivals, may, clock)
        if better is None:
            break
        model = better
        rivals = found.rivals(model)
    return Directed(model, _endpoints(model.links, links), margin)


def _nobody(cause: int, effect: int, floor: float) -> FittedModel | None:
    """No rival: nobody has time to look for one."""
    return None


def _ask(model: FittedModel, rivals: Rival, may: Bools,
         clock: Clock | None) -> tuple[Bools, Floats, FittedModel | None]:  # fmt: skip
    """The links that are directed, margins, and a better model if one shows up."""
    links = model.links
    directed, margin = links.copy(), np.full(links.shape[1:], np.nan)
    for cause, effect in np.argwhere(links.any(axis=0)).tolist():
        if not may[effect, cause]:
            continue
        other = None if clock is not None and clock.late else rivals(cause, effect, model.score - ENOUGH)
        if clock is not None and clock.skips("directions"):
            directed[:, cause, effect] = False
            continue
        margin[cause, effect] = ENOUGH if other is None else model.score - other.score
        if other is None:
            continue
        if other.score > model.score + BETTER:
            return directed, margin, other
        if margin[cause, effect] < CLEAR:
            directed[:, cause, effect] &= ~other.links[:, effect, cause]
    return directed, margin, None


def _endpoints(links: Bools, directed: Bools) -> Endpoints:
    forward, either = links & directed, links | links.transpose(0, 2, 1)
    return endpoints_of_arcs(forward | (either & ~forward & ~forward.transpose(0, 2, 1)))

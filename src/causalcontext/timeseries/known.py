"""Knowledge over time: a plain name means a variable at all lags, `X(t-1)` at one; time order is built in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from causalcontext.errors import KnowledgeError
from causalcontext.graphs.lag_names import split
from causalcontext.kernels.arrays import Bools
from causalcontext.knowledge import Knowledge


def allowed_links(knowledge: Knowledge, names: Sequence[str], lags: int) -> tuple[Bools, Bools]:
    """Links that may and that must be there, contexts included; shape (L + 1, d, d): lag, cause, effect.

    A forbidden link between plain names is forbidden at all lags, and so are those against tiers, into roots and out
    of sinks, but for a variable's own past. A required link holds at the lag that it names, between plain names at 0.
    """
    index = {name: place for place, name in enumerate(names)}
    lagged = [pair for pair in knowledge.forbidden if split(pair[0])[1]]
    plain = _made(knowledge, forbidden=[pair for pair in knowledge.forbidden if pair not in lagged], required=[])
    now = _made(knowledge, required=[pair for pair in knowledge.required if not split(pair[0])[1]],
                forbidden=[pair for pair in knowledge.forbidden if pair not in lagged])  # fmt: skip
    always = plain.links(names)
    may = np.repeat(always.may[None], lags + 1, axis=0)
    may[0] = now.links(names).may
    must = np.zeros_like(may)
    must[0] = now.links(names).must
    for lag in range(1, lags + 1):
        np.fill_diagonal(may[lag], True)
    for pairs, table, value in ((lagged, may, False), (knowledge.required, must, True)):
        for cause, effect in pairs:
            lag, i, j = _placed(cause, effect, index, lags)
            if lag <= lags:
                table[lag, i, j] = value
    contradicted = np.argwhere(must & ~may)
    if contradicted.size:
        lag, i, j = contradicted[0]
        raise KnowledgeError(f"the link {names[i]} --> {names[j]} at lag {lag} is both required and ruled out")
    return may, must


def _made(knowledge: Knowledge, **changed: list[tuple[str, str]]) -> Knowledge:
    content = knowledge.to_dict() | changed
    return Knowledge.from_dict(content)


def _placed(cause: str, effect: str, index: dict[str, int], lags: int) -> tuple[int, int, int]:
    (first, lag), (second, other) = split(cause), split(effect)
    if other:
        raise KnowledgeError(f"knowledge names {effect!r} as an effect; say it of the present, which repeats itself: "
                             f"({first}(t-k), {second})")  # fmt: skip
    for name, shown in ((first, cause), (second, effect)):
        if name not in index:
            raise KnowledgeError(f"knowledge names {shown!r}, which is not a column")
    return lag, index[first], index[second]

"""Where the mechanisms of a result want a column to be cut: `cc.threshold("X", "best")`."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import TYPE_CHECKING

import numpy as np

from causalcontext.data.dataset import Dataset
from causalcontext.data.indicators import Indicator, short_cut
from causalcontext.errors import DataError, NotYetError
from causalcontext.graphs.endpoints import directed
from causalcontext.kernels.arrays import Bools, Floats
from causalcontext.results.cut import CUT, UNDECIDED, Cut
from causalcontext.score.changing import Table, responses_of
from causalcontext.score.cuts import COARSER, DEMAND, CutProfile, CutResponse, beside, cut_profile, grid_of

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

AGAIN = (0.2, 0.5, 0.8)
"""Where cuts are tried so that a search may find other directions, as shares of the grid."""


def best_cuts(result: ContextGraphs, wanted: Indicator) -> tuple[Cut, ...]:
    """The cuts of a column by which mechanisms change, the strongest first; of none, the best place and its verdict.

    Parameters
    ----------
    result : ContextGraphs
        Of a search by scores without that context.
    wanted : Indicator
    """
    data = searched_rows(result)
    wanted.source(data.names, data.kinds, () if wanted.column in result.made_of.values() else data.contexts.sources)
    table = Table(data, ranks=result.evidence is not None and result.evidence.transform == "ranks")
    responses = asked_responses(result, table, wanted.column)
    values = table.values(data.position(wanted.column))
    if table.in_groups(data.position(wanted.column)) or not grid_of(values).size:
        raise DataError(f"column {wanted.column!r} has too few values, or too few rows, for a cut to be found")
    if not responses:
        return (_nothing(result, wanted.column, values, len(table.rows)),)
    found = [profile_of(responses, values)]
    if wanted.best > 1:
        pair = _pair(responses, values, found[0].places[::COARSER])
        found = pair if all(one.verdict == CUT for one in pair) else found
    return tuple(cut_of(wanted.column, profile, values) for profile in found)


def places_to_try(cuts: Sequence[Cut]) -> list[list[float]]:
    """The cuts with which to search again, since that may direct links otherwise: those found, or a few of the grid."""
    found = [cut.value for cut in cuts if cut.verdict == CUT]
    places = cuts[0].places
    return [found] if found else [[places[int(share * (len(places) - 1))]] for share in AGAIN if places]


def _nothing(result: ContextGraphs, column: str, values: Floats, rows: int) -> Cut:
    """Where everything else comes before a column, no mechanism can change with it; an error if that was declared."""
    may = (result.settings.knowledge.links(result.names) if result.windowed is None
           else result.windowed.links(result.settings.knowledge)).may  # fmt: skip
    if not may[result.position(column)].any():
        raise DataError(f"no mechanism may change with {column!r}: knowledge says that it causes nothing")
    places = grid_of(values)
    return Cut(column, float(np.median(values)), None, None, UNDECIDED, 0.0, DEMAND * log(rows), 0.0, (),
               tuple(places.tolist()), (0.0,) * len(places))  # fmt: skip


def searched_rows(result: ContextGraphs) -> Dataset:
    """The rows of a result, with lags its windows, or the sample of a table that was read in batches."""
    if result.scanned is not None:
        return result.scanned.data
    assert result.table is not None
    return result.table


def asked_responses(result: ContextGraphs, table: Table, column: str) -> list[list[CutResponse]]:
    """The mechanisms that may change with a column, by what a result directs and what is known."""
    arrows: Bools = np.any([directed(graph.endpoints) for graph in result.graphs.values()], axis=0)
    if result.windowed is None:
        return responses_of(table, column, arrows, result.settings.knowledge.links(result.names).may, None)
    options = result.windowed.options
    if options.units is not None and "means" in (options.unit_effects, options.time_effects):
        raise NotYetError("not yet: a cut that is to be found where means of units or times are taken away; pass "
                          "unit_effects='none'")  # fmt: skip
    may = result.windowed.links(result.settings.knowledge).may
    return responses_of(table, column, arrows, may, options.context_lags)


def profile_of(responses: list[list[CutResponse]], values: Floats) -> CutProfile:
    """The profile of a column in standard units, as responses have it."""
    return cut_profile(responses, (values - values.mean()) / (values.std() or 1.0))


def _pair(responses: list[list[CutResponse]], values: Floats, places: Floats) -> list[CutProfile]:
    """Two cuts, each beside the other one, the stronger first.

    Of two changes that undo each other neither is seen alone, so they are looked for together.
    """
    tried = [profile_of(_beside(responses, float(place)), values) for place in places]
    second = max(tried, key=lambda one: one.plain + float(one.scores.max()))
    for _ in range(2):
        first = second
        second = profile_of(_beside(responses, first.value), values)
    first = profile_of(_beside(responses, second.value), values)
    return sorted((first, second), key=lambda one: -one.gain)


def _beside(responses: list[list[CutResponse]], cut: float) -> list[list[CutResponse]]:
    """The same responses, to which the columns above a cut that was found are offered in every model."""

    return [[beside(one, [np.asarray(one.x > cut, dtype=np.float64)]) for one in copies] for copies in responses]


def cut_of(column: str, profile: CutProfile, values: Floats) -> Cut:
    """A profile in the units of the table."""
    centre, scale = float(values.mean()), float(values.std()) or 1.0
    ordered = np.unique(values)

    def placed(place: float) -> float:
        above = int(np.searchsorted(ordered, place * scale + centre, side="right"))
        return short_cut(float(ordered[max(above - 1, 0)]), float(ordered[min(above, len(ordered) - 1)]))

    is_cut = profile.verdict == CUT
    return Cut(column, placed(profile.value), placed(profile.low) if is_cut else None,
               placed(profile.high) if is_cut else None, profile.verdict, profile.gain, profile.demand, profile.smooth,
               profile.responses, tuple((profile.places * scale + centre).tolist()),
               tuple(profile.scores.tolist()))  # fmt: skip

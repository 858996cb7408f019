"""Rows that are no observations but summaries of all others: means, standard deviations, quartiles.

Such rows stand at an end of a sheet, or anywhere once it was sorted or shuffled. A row holds a
summary where its cells are so near to those of the summary, in most number columns, that chance
does not make it. The improbability of a row is counted in nats, in two parts:

- of each cell alone, -log p, where p is the chance that a value of the column is as near to the
  summary as the cell is. The `NEIGHBOURS_OF_A_SUMMARY` values that are nearest to the summary tell
  how dense values are there;
- less what the cells tell of each other, log c(z), where z are the normal scores of the cells and c
  is the density of a normal copula with the correlations of the columns. Of 20 columns that say the
  same, 20 cells near the mean are no more than one.

By chance their sum over q columns is a Gamma(q) number.

A row has to be improbable by `LEAST_NATS_OF_A_SUMMARY` beyond the number of places where it may
stand. Summaries are those of the rows that are none themselves: rows that are far away in most
columns, as sums and counts are, are left out of them at first, then all rows that may be summaries.
"""

from __future__ import annotations

import numpy as np
import scipy

from causalcontext.data.dataset import Dataset
from causalcontext.errors import listed
from causalcontext.kernels.arrays import Bools, Floats
from causalcontext.screening.damage.finding import (
    Damage,
    DamageKind,
    NumberColumn,
    last_digit,
    robust_units,
)
from causalcontext.screening.settings import (
    DEVIATIONS_OF_FAR_SUMMARIES,
    FEWEST_ROWS_BESIDE_TOTALS,
    LEAST_NATS_OF_A_SUMMARY,
    MEAN_WITHIN,
    MOST_COLUMNS_OF_SUMMARIES,
    MOST_ROWS_OF_SUMMARIES,
    MOST_ROWS_WITH_MEANS,
    NEIGHBOURS_OF_A_SUMMARY,
    OWN_PART_OF_SCORES,
    SUM_WITHIN,
    SUMMARY_WITHIN,
)

EXTREMES = ("lowest values", "highest values")
"""Summaries that are equal to a value of the table: there is one way of computing them."""
TIMES_ASKED = 2
OF_ALL = "all other rows"
OF_A_CONTEXT = "the other rows of their context"


def rows_of_summaries(data: Dataset, numbers: tuple[NumberColumn, ...]) -> Damage | None:
    """The rows that hold summaries of all other rows, or of those of their context; None without
    any.
    """
    asked = [column for column in numbers if len(column.distinct) > 2][:MOST_COLUMNS_OF_SUMMARIES]
    rows = data.n_rows
    if len(asked) < 2 or not 10 * FEWEST_ROWS_BESIDE_TOTALS <= rows <= MOST_ROWS_WITH_MEANS:
        return None
    values = np.array([column.values for column in asked])
    values[~np.isfinite(values)] = np.nan
    kinds = _summaries_among(values, np.ones(rows, dtype=bool))
    of = dict.fromkeys(kinds, OF_ALL)
    contexts = len(data.contexts.cells)
    for code in range(contexts if contexts > 1 else 0):
        inside = (data.codes == code) & ~np.isin(np.arange(rows), list(kinds))
        if inside.sum() >= 10 * FEWEST_ROWS_BESIDE_TOTALS:
            own = _summaries_among(values, inside)
            kinds |= own
            of |= dict.fromkeys(own, OF_A_CONTEXT)
    if not kinds:
        return None
    summaries = np.isin(np.arange(rows), list(kinds))
    words = f"{_in_words(kinds, of, rows)} left out; to search it as it is, pass damaged='keep'"
    return Damage(DamageKind.TOTALS, (), len(kinds) / rows, words, rows=summaries)


def _in_words(kinds: dict[int, str], of: dict[int, str], rows: int) -> str:
    """The place of summaries and what they hold, with a verb: 'the last 2 rows hold the means and
    standard deviations of all other rows: they are'.
    """
    where = sorted(kinds)
    many = len(where) > 1
    held = listed(list(dict.fromkeys(kinds[row] for row in where)))
    whose = listed(list(dict.fromkeys(of[row] for row in where)))
    count = f"{len(where)} rows hold" if many else "row holds"
    if where == list(range(len(where))):
        place = f"the first {count}"
    elif where == list(range(rows - len(where), rows)):
        place = f"the last {count}"
    else:
        place = f"row{'s' if many else ''} {listed([f'{row + 1:,}' for row in where])}"
        place += " hold" if many else " holds"
    return f"{place} the {held} of {whose}: {'they are' if many else 'it is'}"


def _summaries_among(values: Floats, inside: Bools) -> dict[int, str]:
    """The rows that hold summaries of the others, with the names of these.

    `values` has shape (columns, rows), and only the rows `inside`, shape (rows,), are asked.
    """
    within = np.flatnonzero(inside)
    own = values[:, within]
    own = own[[_varies(column) for column in own]]
    if len(own) < 2:
        return {}
    possible = _far_rows(own)
    for _ in range(TIMES_ASKED):  # a deviation below all values hides the lowest one at first
        possible |= _near_a_summary(own, ~possible)
        if not possible.any() or _are_many(possible):
            return {}
    found = _improbable(own, possible)
    if not found:
        return {}
    possible = np.isin(np.arange(own.shape[1]), list(found))
    possible |= _near_a_summary(own, ~possible)
    if _are_many(possible):
        return {}
    return {int(within[row]): kind for row, kind in _improbable(own, possible).items()}


def _are_many(possible: Bools) -> bool:
    """True for so many rows that they are no summaries, but nearly all rows are where one is."""
    return bool(FEWEST_ROWS_BESIDE_TOTALS * possible.sum() > len(possible))


def _varies(values: Floats) -> bool:
    """True if a column has enough values, in half of the rows at least, more than two of them
    different.
    """
    measured = values[np.isfinite(values)]
    enough = 2 * len(measured) >= max(len(values), 20 * FEWEST_ROWS_BESIDE_TOTALS)
    return enough and len(np.unique(measured)) > 2


def _far_rows(values: Floats) -> Bools:
    """True for the rows that are far away in most columns, shape (rows,), where they are few.

    Counts and sums are so far that no mean could be compared while they are among the rows.
    """
    centre, unit = np.array([robust_units(row[np.isfinite(row)]) for row in values]).T
    with np.errstate(invalid="ignore"):
        far = np.abs(values - centre[:, None]) > DEVIATIONS_OF_FAR_SUMMARIES * unit[:, None]
    rows: Bools = 2 * far.sum(axis=0) > len(values)
    return rows if rows.sum() <= MOST_ROWS_OF_SUMMARIES else np.zeros_like(rows)


def _near_a_summary(values: Floats, rest: Bools) -> Bools:
    """True for the rows that are roughly a summary of the rest in most columns, shape (rows,)."""
    near = np.zeros(values.shape[1], dtype=bool)
    spread = np.nanstd(values[:, rest], axis=1)
    for kind, ways in _summaries_of(values[:, rest]).items():
        for summary in ways:
            near |= _agrees(values, kind, summary, spread, 2.0)
    return near


def _agrees(values: Floats, kind: str, summary: Floats, spread: Floats, times: float) -> Bools:
    """True for the rows that are within a tolerance of a summary, some times wider, in most
    columns, shape (rows,).
    """
    wide = times * np.maximum(_tolerance(kind, summary, spread), SUMMARY_WITHIN * spread)
    with np.errstate(invalid="ignore"):
        hits = np.abs(values - summary[:, None]) <= wide[:, None]
    rows: Bools = 2 * hits.sum(axis=0) > np.isfinite(values).sum(axis=0)
    return rows


def _tolerance(kind: str, summary: Floats, spread: Floats) -> Floats:
    """The distance from a summary, shape (columns,), at which a cell may be one that was rounded,
    or computed in another way.
    """
    if kind == "counts":
        return np.full(len(summary), float(MOST_ROWS_OF_SUMMARIES))
    if kind in EXTREMES:
        return MEAN_WITHIN * spread
    return np.maximum(SUMMARY_WITHIN * spread, SUM_WITHIN * np.abs(summary) * (kind == "sums"))


def _summaries_of(values: Floats) -> dict[str, tuple[Floats, ...]]:
    """The summaries of rows, by name, each in all ways of computing it; shapes (columns,)."""
    count = np.isfinite(values).sum(axis=1).astype(np.float64)
    spread = np.nanstd(values, axis=1)
    deviation = spread * np.sqrt(count / np.maximum(count - 1.0, 1.0))
    quartiles = np.nanquantile(values, [0.25, 0.5, 0.75], axis=1)
    return {
        "means": (np.nanmean(values, axis=1),),
        "standard deviations": (deviation, spread),
        "sums": (np.nansum(values, axis=1),),
        "counts": (count,),
        "lowest values": (np.nanmin(values, axis=1),),
        "highest values": (np.nanmax(values, axis=1),),
        "medians": (quartiles[1],),
        "quartiles": (quartiles[0], quartiles[2]),
        "standard errors": (deviation / np.sqrt(count),),
        "variances": (deviation**2, spread**2),
    }


def _improbable(values: Floats, possible: Bools) -> dict[int, str]:
    """The rows, of those that are possible, that hold summaries of the rows that are not, with the
    names of these.

    Both the first and the last rows of a table, and the rows beside a summary, are places where one
    is expected; any other row is one of all.
    """
    rows = values.shape[1]
    places = np.full(rows, np.log(rows))
    expected = np.log(2.0 * MOST_ROWS_OF_SUMMARIES)
    places[:MOST_ROWS_OF_SUMMARIES] = expected
    places[-MOST_ROWS_OF_SUMMARIES:] = expected
    asked = _asked(values, possible)
    found: dict[int, str] = {}
    while True:
        more = {
            row: kind
            for row, (nats, kind) in asked.items()
            if row not in found and nats > places[row] + LEAST_NATS_OF_A_SUMMARY
        }
        if not more:
            return found
        found |= more
        for row in more:
            beside = slice(max(row - 1, 0), row + 2)
            places[beside] = np.minimum(places[beside], expected)


def _asked(values: Floats, possible: Bools) -> dict[int, tuple[float, str]]:
    """The improbability in nats of the rows that may be summaries, each with the name of the
    likeliest summary.

    The nats of q cells, -log p, sum to a Gamma(q) number by chance.
    """
    rest = values[:, ~possible]
    spread = np.nanstd(rest, axis=1)
    summaries = _summaries_of(rest)
    scores = _scores(values)
    links = _correlations(scores[:, ~possible])
    best: dict[int, tuple[float, str]] = {}
    for kind, ways in summaries.items():
        for summary in ways:
            agree = possible & _agrees(values, kind, summary, spread, 1.0)
            for row in np.flatnonzero(agree).tolist():
                cells = values[:, row]
                measured = np.isfinite(cells)
                nats = -np.log(_chances(cells[measured], summary[measured], rest[measured]))
                own = nats.sum() - _copula(scores[measured, row], links[np.ix_(measured, measured)])
                improbable = -float(scipy.stats.gamma.logsf(max(own, 0.0), measured.sum()))
                improbable -= float(np.log(len(summaries)))
                if improbable > best.get(row, (0.0, ""))[0]:
                    best[row] = (improbable, kind)
    return best


def _chances(cells: Floats, summary: Floats, others: Floats) -> Floats:
    """The share of the values of each column that are as near to a summary as a cell is, or within
    its last digit, shape (columns,).

    `others` has shape (columns, rows). The share is estimated from the distance d of the m nearest
    values of n, as m / n · reach / d, and is at least that of the values equal to the cell; one of
    these is not counted, since extremes and medians are values of the table.
    """
    digits = np.array([last_digit(cell) for cell in cells.tolist()])
    reach = np.maximum(np.abs(cells - summary), 0.5 * digits)
    count = others.shape[1]
    neighbours = min(NEIGHBOURS_OF_A_SUMMARY, count)
    distances = np.abs(others - summary[:, None])
    furthest = np.partition(distances, neighbours - 1, axis=1)[:, neighbours - 1]
    apart = furthest > 0.0  # 0 where a value repeats as often as neighbours are asked
    near = np.where(apart, np.minimum(reach / np.where(apart, furthest, 1.0), 1.0), 1.0)
    equal = np.maximum(np.sum(others == cells[:, None], axis=1) - 1.0, 0.0) / count
    shares: Floats = np.maximum(neighbours / count * near, equal)
    beyond = (np.sum(distances <= reach[:, None], axis=1) - 1.0) / count  # of cells far away
    chances: Floats = np.maximum(np.maximum(shares, beyond), 1.0 / count**2)
    return chances


def _scores(values: Floats) -> Floats:
    """The normal scores of the cells within their columns, shape (columns, rows); 0 of missing
    ones.
    """
    ranks = scipy.stats.rankdata(values, axis=1, nan_policy="omit")
    count = np.isfinite(values).sum(axis=1, keepdims=True)
    scores: Floats = scipy.special.ndtri(ranks / (count + 1.0))
    return np.nan_to_num(scores)


def _correlations(scores: Floats) -> Floats:
    """The correlations of scores, shape (columns, columns), 0 of those that do not vary.

    To their own ones `OWN_PART_OF_SCORES` is added, since copies have none.
    """
    centred = scores - scores.mean(axis=1, keepdims=True)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    unit = centred / np.where(length > 0.0, length, 1.0)
    own = np.eye(len(unit))
    links = unit @ unit.T * (1.0 - own) + own
    regular: Floats = (links + OWN_PART_OF_SCORES * own) / (1.0 + OWN_PART_OF_SCORES)
    return regular


def _copula(scores: Floats, links: Floats) -> float:
    """The logarithm of the density of a normal copula, at least 0: -log det R / 2
    - z' (R⁻¹ - I) z / 2.

    `scores` are z, shape (columns,), and `links` the correlations R.
    """
    size = float(np.linalg.slogdet(links)[1])
    square = float(scores @ np.linalg.solve(links, scores) - scores @ scores)
    return max(0.0, -0.5 * size - 0.5 * square)


__all__ = ["rows_of_summaries"]

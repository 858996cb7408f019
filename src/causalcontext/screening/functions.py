"""Columns that are functions of others: a total beside its parts, a logarithm, a percentage,
dummies of a category.

Given the others such a column carries no information, so no method can tell whose links are whose.
It is left out; a group goes, not the number that it was made of; of a total and its parts the one
goes whose absence leaves the best score of a model, each in the same units of density. A function
that holds within a context only is a mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import replace

import numpy as np

from causalcontext.ci_tests.designs import level_numbers
from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset, mean_ranks, without_columns
from causalcontext.data.dataset import some_rows as rows_of
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.errors import CausalContextError
from causalcontext.kernels.arrays import Bools, Ints
from causalcontext.knowledge import Knowledge
from causalcontext.progress import Watch, nobody
from causalcontext.score.data import score_data
from causalcontext.score.explore import explore_even
from causalcontext.score.options import MOST_LEVELS, Clock, ScoreOptions
from causalcontext.score.search import Effort
from causalcontext.screening.bends import bent_relations, surface_relations
from causalcontext.screening.forms import extreme_cells, form_relations
from causalcontext.screening.left_out import LeftOut, Why
from causalcontext.screening.levels import level_relations, near_copies, second_measurements
from causalcontext.screening.lines import linear_relations
from causalcontext.screening.relations import Columns, Relation, columns_of
from causalcontext.screening.settings import (
    FEWEST_ROWS_OF_A_RELATION,
    FEWEST_ROWS_OF_A_SCORED_CONTEXT,
    LARGEST_DIFFERENCE_OF_A_COPY,
    LEAST_CORRELATION_BY_ROOT_ROWS,
    LEAST_SHARE_OF_DIFFERENT_ROWS,
    MANY_MEMBERS,
    MEMBERS_OF_A_SUM_OF_TWO,
    MOST_COLUMNS_BESIDE,
    MOST_COLUMNS_SCORED,
    MOST_CONTEXTS_SCORED,
    MOST_NUMBERS_OF_A_ROW_KEY,
    MOST_ROWS_SCORED,
    MOST_SCORED_OF_MANY,
    ROUNDING_OF_COVARIANCES,
    ROUNDING_OF_SCORES,
    SHORT_DECIMALS,
    TIE_OF_MANY,
    TIE_OF_NAMES,
    TIE_OF_SCORES,
)
from causalcontext.screening.shares import share_relations
from causalcontext.screening.smooth import (
    bent_in_every_context,
    smooth_relations,
    sums_with_squares,
)
from causalcontext.screening.steps import step_relations
from causalcontext.screening.within import lines_in_every_level, relations_in_every_context
from causalcontext.search.indicator import links_without_functions
from causalcontext.views import Contexts

FAMILIES: tuple[Callable[[Columns, frozenset[int]], list[Relation]], ...] = (
    level_relations,
    form_relations,
    extreme_cells,
    lambda columns, gone: linear_relations(columns, gone, logs=False, closely=True),
    near_copies,
    bent_relations,
    lambda columns, gone: share_relations(columns, gone, closely=True),
    lambda columns, gone: linear_relations(columns, gone, logs=True, closely=True),
    lambda columns, gone: surface_relations(columns, gone, closely=True),
    relations_in_every_context,
    lambda columns, gone: linear_relations(columns, gone, logs=False, closely=False),
    lambda columns, gone: share_relations(columns, gone, closely=False),
    lambda columns, gone: linear_relations(columns, gone, logs=True, closely=False),
    lambda columns, gone: surface_relations(columns, gone, closely=False),
    bent_in_every_context,
    lines_in_every_level,
    sums_with_squares,
    step_relations,
    second_measurements,
    smooth_relations,
)
"""Searches in their order: what was certainly made, then what is exact and simple, so that a sum is
not called a product of powers. A percentage of a total goes before the total.
"""


def functions_of_others(
    data: Dataset,
    kept: Collection[str] = (),
    named: Collection[str] = (),
    linked: Collection[str] = (),
) -> tuple[LeftOut, ...]:
    """The system variables that are left out since others determine them; none of those that the
    caller keeps (`kept`).

    Of several that could go, it is none of those that knowledge has named (`named`), unless it has
    named all of them; then it is none of those of which knowledge has named a link (`linked`),
    unless it has named links of all of them. Relations are taken one after the other. The first
    choice of each is the column that looks made; where scores choose another one, all relations are
    searched again without it.

    >>> from causalcontext.data.tables import read_table
    >>> random = np.random.default_rng(1)
    >>> table = {"fever": random.normal(size=200), "cough": random.exponential(size=200)}
    >>> table["total"] = table["fever"] + table["cough"]
    >>> print(*functions_of_others(read_table(table, None)))
    total = cough + fever
    >>> print(*functions_of_others(read_table(table, None), kept=["total", "fever"]))
    cough = total - fever
    """
    columns = columns_of(data, kept, named, linked)
    different = _different_rows(columns)
    if different is not None:
        data = rows_of(data, different)
        columns = columns_of(data, kept, named, linked)
    left_out: list[LeftOut] = []
    gone: frozenset[int] = frozenset()
    waiting = _relations(columns, gone)
    while waiting:
        relation, *waiting = waiting
        default = _default(columns, relation)
        rest = gone | {_default(columns, other) for other in waiting}
        chosen = _chosen(data, columns, relation, rest)
        gone |= {chosen}
        of = [column for column in (relation.value, *relation.parts) if column != chosen]
        left_out.append(
            LeftOut(
                columns.names[chosen],
                Why.FUNCTION,
                relation.words[chosen],
                tuple(columns.names[column] for column in of),
            )
        )
        if chosen != default:
            waiting = _relations(columns, gone)
    return tuple(left_out)


def _different_rows(columns: Columns) -> Bools | None:
    """True in the rows that do not repeat an earlier one in every column but contexts, shape
    (rows,); None where all are asked.

    In a table of doubled rows, or of two sites that had the same series, every number determines
    every other one. Where rows are few in kind, as those of categories are, all of them stay.
    """
    rows = columns.values.shape[1]
    if columns.is_context.all():
        return None
    kind_of_row = np.zeros(rows, dtype=np.int64)
    for values in columns.values[~columns.is_context]:
        code = level_numbers(values)
        kind_of_row = level_numbers(kind_of_row * (code.max() + 1) + code)
        if kind_of_row.max() + 1 == rows:
            return None
    kinds, first = np.unique(kind_of_row, return_index=True)
    if len(kinds) < LEAST_SHARE_OF_DIFFERENT_ROWS * rows:
        return None
    return np.isin(np.arange(rows), first)


def _relations(columns: Columns, gone: frozenset[int]) -> list[Relation]:
    """All relations, each among columns that are left when those before it are without their
    column.

    A family is searched as long as it has new relations: of four copies of a column three go.
    """
    relations = list[Relation]()
    without = set(gone)
    for family in FAMILIES:
        more = True
        while more:
            more = False
            for relation in family(columns, frozenset(without)):
                is_whole = without.isdisjoint((relation.value, *relation.parts))
                if is_whole and _candidates(columns, relation):
                    relations.append(relation)
                    without.add(_default(columns, relation))
                    more = True
    return relations


def _candidates(columns: Columns, relation: Relation) -> list[int]:
    """The columns of a relation that may be left out, the likeliest original first."""

    possible = [column for column in relation.words if columns.may_go[column]]
    unnamed = [column for column in possible if not columns.is_named[column]]
    unlinked = [column for column in possible if not columns.is_linked[column]]
    return sorted(
        unnamed or unlinked or possible,
        key=lambda column: (*_look(columns, relation, column), column),
    )


def _look(columns: Columns, relation: Relation, column: int) -> tuple[int, bool, int, int]:
    """The rank of a column, a tuple, by its missing cells, its name, its plainness and its trust:
    the last of the order looks made. Columns of one rank look alike.
    """
    missing = int(np.isnan(columns.values[column]).sum())
    return (
        missing,
        bool(columns.sounds_made[column]),
        relation.plainness.get(column, 0),
        int(columns.standing[column]),
    )


def _default(columns: Columns, relation: Relation) -> int:
    """The column of a relation that goes unless scores say otherwise: the last one that was
    certainly made, else the last candidate.
    """
    candidates = _candidates(columns, relation)
    certain = [column for column in candidates if _is_made(columns, relation, column)]
    return certain[-1] if certain else candidates[-1]


def _is_made(columns: Columns, relation: Relation, column: int) -> bool:
    """True if a column is a prediction or a residual of least squares, or the rank or the scaled
    values of one other.

    So is the only column of a relation that was rounded, the only one whose formula has short
    decimals, and the only one that is deviations from the means of groups or shares of their sums.
    Scaled values have mean 0 and standard deviation 1, with n or n - 1, or go from 0 to 1; a total
    of such columns is none of them.
    """
    if relation.made == column or _is_plainest(relation, column, SHORT_DECIMALS):
        return True
    members = (relation.value, *relation.parts)
    if [member for member in members if _is_of_groups(columns, member)] == [column]:
        return True
    if len(relation.parts) > 1:
        return _is_of_regression(columns, relation, column)
    values = columns.values[column]
    values = values[np.isfinite(values)]
    ranks = mean_ranks(values)
    is_rank = values.std() > 0.0 and 1.0 - abs(np.corrcoef(values, ranks)[0, 1]) < 1e-12
    mean = values.mean()
    spread = values.std()
    count = values.size
    is_standard = (
        abs(mean) < ROUNDING_OF_COVARIANCES
        and min(abs(spread - 1.0), abs(spread * math.sqrt(count / (count - 1)) - 1.0))
        < ROUNDING_OF_COVARIANCES
    )
    is_scaled = (
        columns.steps[column] == 0.0
        and values.min() == 0.0
        and abs(values.max() - 1.0) < ROUNDING_OF_COVARIANCES
    )
    return bool(is_rank or is_standard or is_scaled)


def _is_plainest(relation: Relation, column: int, least: int = 0) -> bool:
    """True if the formula of a column is plainer than those of all others in a relation, of which
    none has the plainness `least`, while its own has.
    """
    others = [plain for other, plain in relation.plainness.items() if other != column]
    plainness = relation.plainness.get(column, 0)
    if not others or plainness <= max(others):
        return False
    return not least or plainness >= least > max(others)


def _is_of_groups(columns: Columns, column: int) -> bool:
    """True if the groups of a category or a context have the mean 0 of a number, or one sum: it is
    a deviation from the mean of the group, or a share of its total.
    """
    if not columns.is_number[column]:
        return False
    for groups in columns.values[~columns.is_number]:
        values = columns.values[column]
        known = np.isfinite(values) & np.isfinite(groups)
        levels, group_of_row = np.unique(groups[known], return_inverse=True)
        counts = np.bincount(group_of_row)
        if not 1 < len(levels) <= MOST_LEVELS or counts.min() < FEWEST_ROWS_OF_A_RELATION:
            continue
        sums = np.bincount(group_of_row, values[known])
        size = np.bincount(group_of_row, np.abs(values[known]))
        same_sum = np.ptp(sums) < ROUNDING_OF_COVARIANCES * size.max() and np.ptp(counts) > 0
        if same_sum or (np.abs(sums) < ROUNDING_OF_COVARIANCES * size).all():
            return True
    return False


def _is_of_regression(columns: Columns, relation: Relation, column: int) -> bool:
    """True if a column has no correlation with all others but one, or what it misses of another
    column has none.

    The first are the residuals of a regression, which are orthogonal to its regressors. The second
    are predictions: their difference from the predicted column, which is outside the relation, is
    orthogonal to all members. Covariances, shape (columns, members), are compared in standard
    deviations.
    """
    others = [j for j in (relation.value, *relation.parts) if j != column and columns.is_number[j]]
    if len(others) < 2:
        return False
    outside = [j for j in columns.numbers() if j not in (*others, column)]
    values = columns.values[[column, *others, *outside]]
    values = values[:, np.isfinite(values).all(axis=0)]
    if values.shape[1] < FEWEST_ROWS_OF_A_RELATION:
        return False
    values = values - values.mean(axis=1, keepdims=True)
    spread = np.maximum(values.std(axis=1), 1e-300)
    covariance = values @ values[: len(others) + 1].T / values.shape[1] / spread[: len(others) + 1]
    related = np.abs(covariance[0, 1:]) > ROUNDING_OF_COVARIANCES * spread[0]
    missed = (
        np.abs(covariance[len(others) + 1 :] - covariance[0])
        < ROUNDING_OF_COVARIANCES * spread[len(others) + 1 :, None]
    )
    # and no copy of the column
    is_other = (values[len(others) + 1 :] - values[0]).std(
        axis=1
    ) > LARGEST_DIFFERENCE_OF_A_COPY * spread[0]
    return bool(related.sum() == 1 or (missed.all(axis=1) & is_other).any())


def _chosen(data: Dataset, columns: Columns, relation: Relation, gone: Collection[int]) -> int:
    """The column of a relation whose absence leaves the best score.

    It is the default where nothing is to choose: there is one candidate, the default was certainly
    made, or it has more missing cells. Of the others, scores nearer than a tie to the best say
    nothing, and the last one of these goes; where both of two columns look alike, so that names
    alone would decide, scores do. The plain sum of three and more is what they are asked for most,
    since a part is seldom a total less all other parts. A table that cannot be scored leaves the
    default.
    """
    candidates = _candidates(columns, relation)
    default = _default(columns, relation)
    members = [relation.value, *relation.parts]
    named = [column for column in candidates if columns.sounds_made[column]]
    has_more_missing = (
        np.isnan(columns.values[default]).sum() > np.isnan(columns.values[candidates[0]]).sum()
    )
    if len(candidates) == 1 or _is_made(columns, relation, default) or has_more_missing:
        return default
    if len(members) > MANY_MEMBERS and named == [default]:
        return default
    scored = candidates[
        -(MOST_COLUMNS_SCORED if len(members) < MANY_MEMBERS else MOST_SCORED_OF_MANY) :
    ]
    beside = _near(columns, members, gone)
    try:
        scores = [
            _score_without(data, columns, relation, column, [*members, *beside])
            for column in scored
        ]
    except (CausalContextError, np.linalg.LinAlgError):
        return default
    best = max(scores)
    is_subtotal = len(members) > MEMBERS_OF_A_SUM_OF_TWO and _is_plainest(relation, default)
    if len(members) >= MANY_MEMBERS or is_subtotal:
        tie = TIE_OF_MANY
    elif named == [default]:
        tie = TIE_OF_NAMES
    elif (
        len(members) == 2 and len({_look(columns, relation, column) for column in candidates}) == 1
    ):
        tie = ROUNDING_OF_SCORES
    else:
        tie = TIE_OF_SCORES
    return [column for column, score in zip(scored, scores, strict=True) if not score < best - tie][
        -1
    ]


def _near(columns: Columns, members: list[int], gone: Collection[int]) -> list[int]:
    """Other columns, those that go most with the members of a relation, `MOST_COLUMNS_BESIDE` at
    most.

    The strength is the largest correlation with a member, of which chance gives about 1 / sqrt(n).
    """
    others = [
        j
        for j in range(len(columns.names))
        if j not in members and j not in gone and not columns.is_context[j]
    ]
    if not others:
        return []
    values = columns.values[[*members, *others]][:, _rows_scored(columns)]
    centred = np.nan_to_num(values - np.nanmean(values, axis=1, keepdims=True))
    centred /= np.maximum(np.sqrt((centred**2).sum(axis=1, keepdims=True)), 1e-300)
    strength = np.abs(centred[len(members) :] @ centred[: len(members)].T).max(axis=1)
    related = np.flatnonzero(
        strength > LEAST_CORRELATION_BY_ROOT_ROWS / np.sqrt(values.shape[1])
    ).tolist()
    order = sorted(related, key=lambda k: (-round(float(strength[k]), 6), others[k]))
    return [others[k] for k in order[:MOST_COLUMNS_BESIDE]]


def _score_without(
    data: Dataset, columns: Columns, relation: Relation, left_out: int, wanted: Collection[int]
) -> float:
    """The score of the best model of some columns without one, as a density of the same columns for
    all of them.

    The sum of log |d value / d column| over the rows turns the density of the others into that with
    `left_out` in place of the value. Scores are of columns in standard units, for which n log s
    makes up, s being the standard deviation of the column. `wanted` are the columns of the models.
    """
    places = {columns.places[column] for column in wanted if column != left_out}
    # Columns of which contexts are made stay, whatever they are.
    places |= {position for position in data.contexts.sources if position is not None}
    others = [
        position for position in data.system if position not in places or _is_large(data, position)
    ]
    few = _rows_scored(columns)
    table = rows_of(without_columns(data, [data.names[position] for position in others]), few)
    rows = np.bincount(table.codes[table.codes >= 0], minlength=len(table.contexts.cells))
    if len(rows) > MOST_CONTEXTS_SCORED or rows.min(initial=0) < FEWEST_ROWS_OF_A_SCORED_CONTEXT:
        table = _pooled(table)
    statistics = gather_statistics(table, "listwise")
    links = links_without_functions(Knowledge().links(table.names), table.contexts)
    effort = Effort(0, 1, Watch(nobody), Clock())
    explored = explore_even(
        score_data(table, statistics, links), ScoreOptions(transform="none"), effort, ()
    )[0]
    count = float(statistics.moments.rows.sum())
    spread = float(np.nanstd(columns.values[left_out][few]))
    slope = 0.0 if left_out == relation.value else float(np.nanmean(relation.slopes[left_out][few]))
    return float(explored.found.best.score) + count * (math.log(spread) + slope)


def _rows_scored(columns: Columns) -> Ints:
    """The numbers of the rows that are scored, the same ones whatever the order of rows and
    columns: they have the smallest keys.

    A key is the fraction of a sum of ranks, each times another irrational number.
    """
    rows = columns.values.shape[1]
    if rows <= MOST_ROWS_SCORED:
        return np.arange(rows)
    total = np.zeros(rows)
    for number, column in enumerate(columns.numbers()[:MOST_NUMBERS_OF_A_ROW_KEY]):
        total += np.sqrt(number + 0.5) * np.unique(columns.values[column], return_inverse=True)[1]
    return np.argsort(np.modf(total)[0], kind="stable")[:MOST_ROWS_SCORED]


def _is_large(data: Dataset, position: int) -> bool:
    """True if a category has more levels than a model takes."""
    return (
        data.kinds[position] in (Kind.CATEGORICAL, Kind.ORDERED)
        and len(data.categories.get(position, ())) > MOST_LEVELS
    )


def _pooled(data: Dataset) -> Dataset:
    """The table without its contexts, as one context."""
    system = list(data.system)
    return replace(
        data,
        names=tuple(data.names[position] for position in system),
        kinds=tuple(data.kinds[position] for position in system),
        columns=tuple(data.columns[position] for position in system),
        dtypes=tuple(data.dtypes[position] for position in system),
        contexts=Contexts(),
        levels=(),
        codes=np.where(data.codes >= 0, 0, -1).astype(data.codes.dtype),
        categories={
            k: data.categories[position]
            for k, position in enumerate(system)
            if position in data.categories
        },
    )

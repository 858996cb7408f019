"""One repeat: a query is drawn, its response is drawn anew, and the test answers with and without a dependence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from causalcontext.ci_tests.protocol import IndependenceTest, prepared_test
from causalcontext.ci_tests.registry import find_test
from causalcontext.data.dataset import Dataset
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.diagnostics.calibration.tables import DrawnQuery, QueryClass, changed_column, finished, null_column
from causalcontext.errors import NotYetError
from causalcontext.kernels.arrays import Floats
from causalcontext.views import CIQuery, Reason

PARTS_PER_WORKER = 16
LARGEST_SEED = 2**31


@dataclass(frozen=True, eq=False)
class Repeats:
    """What is calibrated, on which table, with which test, against what."""

    data: Dataset
    questions: tuple[QueryClass, ...]
    test: str | IndependenceTest
    null: str
    alternative: str
    effect: float
    seed: int


class Repeat(NamedTuple):
    """What one repeat of a question found; p-values are NaN where a query could not be tested."""

    question: int
    repeat: int
    x: str
    y: str
    given: tuple[str, ...]
    response: str
    test: str
    rows: int
    p: float
    reason: int
    alternative: str
    p_alternative: float


def run_repeats(plan: Repeats, repeats: int, n_jobs: int) -> Iterator[list[Repeat]]:
    """The repeats of all questions, the first of every question first."""
    work = [(question, repeat) for repeat in range(repeats) for question in range(len(plan.questions))]
    if n_jobs == 1:
        yield from ([run_repeat(plan, *task)] for task in work)
        return
    from joblib import Parallel, cpu_count, delayed

    parts = min(len(work), PARTS_PER_WORKER * (cpu_count() if n_jobs == -1 else n_jobs))
    chunks = [work[len(work) * i // parts : len(work) * (i + 1) // parts] for i in range(parts)]
    yield from Parallel(n_jobs=n_jobs, return_as="generator")(delayed(_several)(plan, chunk) for chunk in chunks)


def run_repeat(plan: Repeats, number: int, repeat: int) -> Repeat:
    """One repeat of the question of that number."""
    data, question = plan.data, plan.questions[number]
    random = question.random(plan.seed, repeat)
    draw = question.draw(len(data.contexts.cells), random)
    test = find_test(plan.test, int(random.integers(LARGEST_SEED)))
    null = null_column(data, draw, plan.null, random)
    kind = data.kinds[draw.response]
    found = answer(data, draw, finished(null.fitted + null.noise, kind), test)
    name, changed = changed_column(plan.alternative, data, draw, null, plan.effect, random)
    power = np.nan if changed is None else answer(data, draw, finished(changed, kind), test).p
    x, y = sorted((data.names[draw.response], data.names[draw.other]))
    given = tuple(sorted(data.names[column] for column in draw.given))
    return Repeat(number, repeat, x, y, given, data.names[draw.response], found.test, found.rows, found.p, found.reason,
                  name, float(power))  # fmt: skip


class Verdict(NamedTuple):
    """What a test said about one table: its name, the rows it used, its p-value or the reason why it has none."""

    test: str
    rows: int
    p: float
    reason: int


def answer(data: Dataset, draw: DrawnQuery, response: Floats, test: IndependenceTest) -> Verdict:
    """The answer to a query, on a table that holds its columns and the context, with another response."""
    small, query = query_table(data, draw, response)
    try:
        prepared = prepared_test(test, small, gather_statistics(small))
    except NotYetError:
        return Verdict("", 0, np.nan, Reason.NO_TEST)
    found = prepared.answer([query])
    label = prepared.labels[0 if found.label is None else int(found.label[0])]
    name = "" if found.reason[0] == Reason.NO_TEST else label.name
    return Verdict(name, int(found.n[0]), float(found.p[0]), int(found.reason[0]))


def query_table(data: Dataset, draw: DrawnQuery, response: Floats) -> tuple[Dataset, CIQuery]:
    """The table of one query, columns by name, and the query in it."""
    chosen = {draw.response, draw.other, *draw.given, *data.contexts.positions}
    order = sorted(chosen, key=data.names.__getitem__)
    place = {column: position for position, column in enumerate(order)}
    columns = tuple(response if column == draw.response else data.columns[column] for column in order)
    small = replace(
        data,
        names=tuple(data.names[column] for column in order),
        kinds=tuple(data.kinds[column] for column in order),
        columns=columns,
        dtypes=tuple(data.dtypes[column] for column in order),
        contexts=replace(data.contexts, positions=tuple(place[column] for column in data.contexts.positions)),
        categories={place[column]: data.categories[column] for column in order if column in data.categories},
    )
    x, y = sorted((place[draw.response], place[draw.other]))
    view = 0 if draw.level is None else small.contexts.number(small.contexts.cell(draw.level))
    return small, CIQuery(x, y, tuple(sorted(place[column] for column in draw.given)), view)


def _several(plan: Repeats, chunk: Sequence[tuple[int, int]]) -> list[Repeat]:
    return [run_repeat(plan, *task) for task in chunk]

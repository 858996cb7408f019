"""Models with hidden variables without noise: how they are written, searched, and judged."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from causalcontext.graphs.endpoints import Endpoint, GraphKind, mark_of
from causalcontext.graphs.paths import reach
from causalcontext.knowledge import Knowledge
from causalcontext.search.algorithm import algorithm_1
from causalcontext.search.batched_search import BatchedSearch
from causalcontext.search.fci import Caution, fci
from causalcontext.search.plan import Plan
from causalcontext.views import Contexts, Outcomes, Reason, adaptive
from causalcontext_lab.simulate.hidden import PreparedOracle, SeparationTest, separated
from oracle import always_trusted

TWO = Contexts((0,), ((0,), (1,)))


def written(text):
    """(names of the table, all names, stack of the two contexts) of "X>R L>Y@0 ...": R first,
    hidden names L... last.

    `A>B@0` is in context 0 alone.
    """
    arrows = [
        (a, *rest.partition("@")[::2]) for a, rest in (arrow.split(">") for arrow in text.split())
    ]
    found = list(dict.fromkeys(name for a, b, _ in arrows for name in (a, b)))
    seen = ["R", *sorted(name for name in found if name != "R" and name[0] != "L")]
    names = [*seen, *sorted(name for name in found if name[0] == "L")]
    stack = np.zeros((2, len(names), len(names)), dtype=bool)
    for a, b, where in arrows:
        stack[[int(where)] if where else [0, 1], names.index(a), names.index(b)] = True
    return seen, names, stack


def search_pags(
    prepared,
    variables,
    *,
    across=True,
    contested="bidirected",
    confounded=True,
    possible_dsep=None,
    contexts=TWO,
    links=None,
    collider_rule="majority",
    kind=GraphKind.PAG,
    rule=adaptive,
    cells=(0, 1),
):
    """What fci-ac finds with exact answers."""
    links = links or Knowledge().links([str(v) for v in range(variables)])
    plan = Plan(
        variables,
        contexts,
        rule,
        cells,
        links,
        0.5,
        variables,
        collider_rule,
        "always",
        always_trusted if across else None,
        kind,
    )
    return fci(
        BatchedSearch(prepared),
        plan,
        Caution(possible_dsep, contested, confounded),
        1,
        lambda *_: None,
    )


def search_patterns(prepared, variables):
    """What pc-ac finds with exact answers, both views asked."""
    links = Knowledge().links([str(v) for v in range(variables)])
    plan = Plan(
        variables,
        TWO,
        adaptive,
        (0, 1),
        links,
        0.5,
        variables,
        "majority",
        "always",
        always_trusted,
    )
    return algorithm_1(BatchedSearch(prepared), plan, 1, lambda *_: None)


def search_written(text, **options):
    """(names, found) for a model that is written down."""
    seen, _, stack = written(text)
    contexts = Contexts((0,), tuple((r,) for r in range(len(stack))))
    prepared = PreparedOracle(
        SeparationTest(stack, 0, seen).deviation, tuple(range(len(seen))), contexts
    )
    return seen, search_pags(prepared, len(seen), **options)


def marks(names, endpoints):
    """Every edge of a graph as text, such as {"A-->B"}, written towards its arrow, else by name."""
    found = set()
    for (i, a), (j, b) in combinations(enumerate(names), 2):
        if endpoints[i, j]:
            mark = mark_of(endpoints, i, j)
            backwards = mark[0] == "<" and mark[-1] != ">"
            found.add(f"{b}{mark_of(endpoints, j, i)}{a}" if backwards else f"{a}{mark}{b}")
    return found


def wrong_endpoints(endpoints, stack, observed):
    """Tails at what is no ancestor, and arrows at what is one; leading axes of `endpoints` as those
    of `stack`.
    """
    causes = reach(stack)[..., :observed, :observed].swapaxes(-1, -2)
    return ((endpoints == Endpoint.ARROW) & causes) | ((endpoints == Endpoint.TAIL) & ~causes)


@dataclass(frozen=True)
class Answers:
    """A test that looks answers up: {(x, y, given, view): independent}."""

    known: dict

    def answer(self, trials):
        p = np.array(
            [
                np.nan if t.view and 0 in (t.x, t.y) else float(self.known[self._key(t)])
                for t in trials
            ]
        )
        reason = np.where(np.isnan(p), Reason.CONSTANT, Reason.TESTABLE).astype(np.int8)
        return Outcomes(1 - p, np.full(len(p), np.nan), p, np.zeros(len(p), dtype=np.int64), reason)

    @staticmethod
    def _key(trial):
        return min(trial.x, trial.y), max(trial.x, trial.y), tuple(sorted(trial.given)), trial.view


def questions(variables):
    """Every (x, y, given, view) over R, the first variable, and a system in two contexts."""
    for x, y in combinations(range(variables), 2):
        rest = [z for z in range(variables) if z not in (x, y)]
        for size in range(len(rest) + 1):
            for given in combinations(rest, size):
                yield x, y, given, 0
                if x > 0 and 0 not in given:
                    yield from ((x, y, given, 1 + level) for level in (0, 1))


def signatures(stacks, variables):
    """The answer of every model to every question, shape (models, questions)."""
    answers = [
        separated(stacks, 0, x, y, given, view - 1 if view else None)
        for x, y, given, view in questions(variables)
    ]
    return np.stack(answers, axis=1)

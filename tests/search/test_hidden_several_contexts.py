"""fci-ac with several context variables, without noise: no end is wrong and no true edge removed,
whatever is hidden.

The answers come from exact joint distributions in which hidden variables, anywhere in the graph,
are summed out.
"""

from collections import Counter

import numpy as np
import pytest

from causalcontext.graphs.endpoints import Endpoint, adjacent
from causalcontext.graphs.paths import mag_adjacency, reach
from causalcontext.search.family import GraphFamily
from hidden_models import marks, search_pags, wrong_endpoints
from marks import rest_slow
from several_models import hidden_oracle, random_made_model, random_several_model, written_cells

NAMED = {
    "R is a cause of Y, or merely shares a hidden cause with it, depending on T": (
        "Z>R L>R L>Y R>A A>Y@T1 T>Y",
        ("R-->A R<->Y T-->Y Zo->R", "Ao->Y Ro->Y Ro-oA Ro-oZ T-->Y Zo->Y"),
    ),
    "X and Y are separated where T is fixed and R, an effect of both, is not": (
        "X>R Y>R X>Y@T1 T>Y",
        ("T-->Y Xo->R Y-->R", "T-->Y X-->R Xo->Y Y-->R"),
    ),
}


def search(model, columns, **options):
    oracle = hidden_oracle(model, columns)
    return search_pags(
        oracle, columns, contexts=oracle.contexts, cells=tuple(range(len(model.codes))), **options
    )


def counted(contexts, system, hidden, models, seed, **options):
    """Wrong ends, edges removed wrongly and too many, and what was found, summed over random
    models.
    """
    generator, columns, counts = np.random.default_rng(seed), contexts + system, Counter()
    between = np.zeros((columns, columns), dtype=bool)
    between[contexts:, contexts:] = True
    for _ in range(models):
        model = random_several_model(contexts, system + hidden, generator)
        found = search(model, columns, **options)
        there, here = mag_adjacency(model.truth, range(columns)), adjacent(found.endpoints)
        counts.update(
            {
                "wrong": int(wrong_endpoints(found.endpoints, model.truth, columns).sum()),
                "lost": int((there & ~here).sum()),
                "too many": int((here & ~there & between).sum()),
                "doubts": len(found.doubts) + int((found.endpoints == Endpoint.CONFLICT).sum()),
                "vary": int(((there.any(axis=0) & ~there.all(axis=0)) & between).sum()),
                "arrows": int((found.endpoints == Endpoint.ARROW).sum()),
                "tails": int((found.endpoints == Endpoint.TAIL).sum()),
            }
        )
    return counts


@pytest.mark.parametrize(
    ("contexts", "system", "hidden", "models"),
    [
        (2, 2, 2, 60),
        (2, 3, 2, 30),
        *rest_slow([(2, 2, 2, 1500), (2, 3, 2, 300), (2, 4, 2, 100), (3, 2, 2, 100)])[1:],
    ],
)
def test_nothing_wrong_in_random_models(contexts, system, hidden, models):
    for options in ({}, {"across": False}):
        counts = counted(contexts, system, hidden, models, 2, **options)
        assert not any(counts[name] for name in ("wrong", "lost", "too many", "doubts"))
        assert counts["vary"] > 0
        assert counts["tails"] > 0


@pytest.mark.parametrize("name", NAMED)
def test_named_models(name):
    """The first graph is that of T = 0, the second that of T = 1, whatever R is."""
    text, expected = NAMED[name]
    names, model = written_cells(text)
    found = search(model, len(names))
    for (_, t), endpoints in zip(model.codes, found.endpoints, strict=True):
        assert marks(names, endpoints) == set(expected[t].split())
    assert not wrong_endpoints(found.endpoints, model.truth, len(names)).any()


def test_ends_at_a_context_do_not_hold_for_other_values_of_another_one(monkeypatch):
    """What pc-ac may do, for links do not vary: here the ends say what leads to what."""
    names, model = written_cells(next(iter(NAMED.values()))[0])
    monkeypatch.setattr(
        GraphFamily, "alike", lambda self, graph, but_for: tuple(range(len(self.contexts.cells)))
    )
    assert wrong_endpoints(search(model, len(names)).endpoints, model.truth, len(names)).any()


def test_what_separates_where_t_is_0_does_so_for_both_values_of_r():
    names, model = written_cells("X>Y@T1 T>Y R>Y")
    found = search(model, len(names))
    x, y = names.index("X"), names.index("Y")
    assert [bool(adjacent(endpoints)[x, y]) for endpoints in found.endpoints] == [
        False,
        True,
        False,
        True,
    ]


def counted_with_functions(made, system, hidden, models, seed):
    """The same where context variables are functions of a column; what is wrong about the functions
    apart.
    """
    generator, contexts, columns, counts = (
        np.random.default_rng(seed),
        len(made),
        len(made) + system,
        Counter(),
    )
    between = np.zeros((columns, columns), dtype=bool)
    between[contexts:, contexts:] = True
    for _ in range(models):
        model = random_made_model(made, system + hidden, generator)
        oracle = model.oracle(columns)
        found = search_pags(
            oracle, len(oracle.nodes), contexts=oracle.contexts, cells=tuple(range(2**contexts))
        )
        ends = found.endpoints[:, :columns, :columns]
        there, here = mag_adjacency(model.truth, range(columns)), adjacent(ends)
        counts.update(
            {
                "wrong": int(wrong_endpoints(ends, model.truth, columns).sum()),
                "lost": int((there & ~here).sum()),
                "too many": int((here & ~there & between).sum()),
                "doubts": len(found.doubts) + int((found.endpoints == Endpoint.CONFLICT).sum()),
                "vary": int(((there.any(axis=0) & ~there.all(axis=0)) & between).sum()),
                "tails": int((ends == Endpoint.TAIL).sum()),
            }
        )
        for function, column in oracle.contexts.made:
            effects, causes = (
                model.caused_by(column)[:, :columns],
                reach(model.truth)[:, :columns, column].copy(),
            )
            causes[:, column] = True
            at_function, at_other = (
                found.endpoints[:, :columns, function],
                found.endpoints[:, function, :columns],
            )
            wrong = (at_function == Endpoint.TAIL) & ~effects | (
                at_other == Endpoint.ARROW
            ) & causes
            counts.update(
                {
                    "wrong functions": int(wrong.sum()),
                    "effects": int((at_function == Endpoint.TAIL).sum()),
                }
            )
    return counts


@pytest.mark.parametrize(
    ("made", "system", "hidden", "models"),
    [
        *rest_slow([((True,), 3, 2, 40), ((True,), 3, 2, 500), ((True,), 4, 2, 100)]),
        *rest_slow(
            [((False, True), 2, 2, 25), ((False, True), 3, 2, 150), ((True, True), 2, 2, 150)]
        ),
        *rest_slow([((False, False), 3, 2, 10), ((False, False), 3, 2, 60)]),
    ],
)
def test_nothing_wrong_where_contexts_are_functions_of_columns(made, system, hidden, models):
    """Links at a context variable may change with another one here: `(False, False)` are two that
    are measured.
    """
    counts = counted_with_functions(made, system, hidden, models, 3)
    assert not any(
        counts[name] for name in ("wrong", "lost", "too many", "doubts", "wrong functions")
    )
    assert counts["vary"] > 0
    assert counts["tails"] > 0
    assert not any(made) or counts["effects"] > 0

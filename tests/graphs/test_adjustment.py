"""Adjustment in PAGs: right wherever it is offered, against linear models with hidden variables."""

import numpy as np
import pytest

from causalcontext.graphs.graph import Graph
from causalcontext.graphs.paths import adjustment, connection, is_visible, possible_descendants
from causalcontext.interop import from_causal_learn

NAMES = "ABCDE"


def pag(*edges, names=NAMES):
    return Graph.from_edges(
        names, [tuple(edge.split()[i] for i in (0, 2, 1)) for edge in edges], "pag"
    )


def given(graph, x, y, fixed=()):
    found = adjustment(
        graph.endpoints,
        graph.position(x),
        graph.position(y),
        [graph.position(name) for name in fixed],
    )
    return None if found.given is None else tuple(graph.names[v] for v in found.given)


def blamed(graph, x, y, fixed=()):
    found = adjustment(
        graph.endpoints,
        graph.position(x),
        graph.position(y),
        [graph.position(name) for name in fixed],
    )
    return tuple(graph.names[v] for v in found.blamed)


def test_an_edge_is_visible_if_something_points_into_its_tail_from_outside():
    assert is_visible(pag("C o-> A", "A --> B").endpoints, 0, 1)
    assert not is_visible(pag("C o-> A", "A --> B", "C --> B").endpoints, 0, 1)
    assert not is_visible(pag("A --> B").endpoints, 0, 1)
    assert is_visible(pag("D o-> C", "C <-> A", "C --> B", "A --> B").endpoints, 0, 1)


def test_what_to_adjust_for_and_what_forbids_it():
    graph = pag("C o-> A", "D o-> A", "A --> B")
    assert given(graph, "A", "B") == ("C", "D")
    assert blamed(graph, "C", "B") == ("C", "A")
    both = pag("C o-> A", "A --> B", "D <-> A", "D --> B")
    assert given(both, "A", "B") is not None
    assert "D" in given(both, "A", "B")


def test_a_context_that_is_held_must_not_lie_on_the_way():
    graph = pag("C o-> A", "A --> D", "D --> B")
    assert given(graph, "A", "B") == ("C",)
    assert blamed(graph, "A", "B", fixed="D") == ("D", "D")
    beside = pag("C o-> A", "A --> B", "D o-> B")
    assert given(beside, "A", "B", fixed="D") == ("C", "D")


def test_connections_are_blocked_and_opened():
    chain = pag("A --> B", "B --> C")
    assert connection(chain.endpoints, 0, 2, ()) == (0, 1)
    assert connection(chain.endpoints, 0, 2, (1,)) is None
    collider = pag("A o-> B", "C o-> B", "B --> D")
    assert connection(collider.endpoints, 0, 2, ()) is None
    assert connection(collider.endpoints, 0, 2, (3,)) == (0, 1)


@pytest.mark.filterwarnings("ignore")
def test_every_offered_adjustment_gives_the_effect_of_a_model_with_hidden_variables():
    """The naive twin: the PAG of causal-learn's FCI with an oracle, and population covariances of a
    linear model.
    """
    fci = pytest.importorskip("causallearn.search.ConstraintBased.FCI").fci
    generator = np.random.default_rng(3)
    offered = asked = 0
    for _ in range(25):
        graph, slopes, observed = hidden_model(fci, generator)
        effects = np.linalg.inv(np.eye(len(slopes)) - slopes)
        covariance = effects.T @ effects
        for x in range(len(NAMES)):
            for y in np.flatnonzero(possible_descendants(graph.endpoints, x)):
                asked += 1
                found = adjustment(graph.endpoints, x, int(y)).given
                if found is not None:
                    offered += 1
                    columns = observed[[x, *found]]
                    b = np.linalg.solve(
                        covariance[np.ix_(columns, columns)], covariance[columns, observed[y]]
                    )
                    assert b[0] == pytest.approx(effects[observed[x], observed[y]])
    assert asked > 100
    assert offered > 40


def hidden_model(fci, generator, hidden=2):
    """A random linear model of five variables and two hidden ones, and its PAG by an oracle."""
    from causallearn.utils.cit import d_separation

    nodes = len(NAMES) + hidden
    order = generator.permutation(nodes)
    arcs = np.zeros((nodes, nodes), dtype=bool)
    arcs[np.ix_(order, order)] = np.triu(generator.uniform(size=(nodes, nodes)) < 0.4, 1)
    slopes = np.where(
        arcs, generator.uniform(0.5, 1.5, arcs.shape) * generator.choice([-1, 1], arcs.shape), 0.0
    )
    observed = np.sort(generator.permutation(nodes)[: len(NAMES)])
    return oracle_pag(fci, d_separation, arcs, observed), slopes, observed


def oracle_pag(fci, oracle, arcs, observed):
    """FCI on exact answers: every test is a d-separation in the graph with the hidden variables."""
    import networkx

    dag = networkx.DiGraph()
    dag.add_nodes_from(range(len(observed)))
    place = {int(node): number for number, node in enumerate(observed)}
    hidden = [node for node in range(len(arcs)) if node not in place]
    place |= {node: len(observed) + number for number, node in enumerate(hidden)}
    dag.add_nodes_from(place.values())
    dag.add_edges_from((place[int(a)], place[int(b)]) for a, b in np.argwhere(arcs))
    found, _ = fci(
        np.zeros((10, len(observed))),
        oracle,
        true_dag=dag,
        show_progress=False,
        verbose=False,
        node_names=list(NAMES),
    )
    return from_causal_learn(found, kind="pag")

"""Exact models, every small model, and the paper's assumptions as predicates: for proofs and tests.

An exact discrete model with a context has its joint distribution, and a test that cannot err. With
generic probability tables the only independences are those that the graphs imply, so that theory
can be checked without noise: pooled, or inside the rows of one context.

Does a system meet the paper's assumptions (Sec. 3.3, App. "Details on sufficiency conditions"), and
if not, why? Every predicate takes the true graphs of a system and returns a `Assumption`, which is
true or false and says why.

>>> from causalcontext.examples import named_model
>>> print(single_graph_sufficiency(named_model("example-ii").truth()))
no: for R = 0, T --> Y is in the physical graph and not in the descriptive graph

All small models with a context can be listed, and others drawn. A model is a labeled tuple of
context graphs over R and the system variables: links at R shared, parents of a node differing
between contexts only if R is one of them (children of R with unchanged parents allowed), every
context graph acyclic, no union cycle through R or its ancestors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from causalcontext import Graph
from causalcontext.data.frames import frame_of, pd
from causalcontext.errors import DataError, OptionError
from causalcontext.examples import Truth
from causalcontext.graphs import paths
from causalcontext.graphs.endpoints import causes
from causalcontext.graphs.paths import is_acyclic, is_d_separated
from causalcontext.views import Contexts
from causalcontext_lab.arrays import Bools, Floats
from causalcontext_lab.simulate.hidden import TOLERANCE, PreparedOracle, Where
from causalcontext_lab.simulate.truth import (
    TrueGraphs,
    is_strongly_acyclic,
    is_weakly_sufficient,
)

if TYPE_CHECKING:
    from causalcontext.data.dataset import Dataset


@dataclass(frozen=True, eq=False)
class DiscreteModel(TrueGraphs):
    """A joint distribution over discrete variables, one of which is the context, and the graphs it
    came from.
    """

    names: tuple[str, ...]
    context: int  # the position of the context variable R; it may be anywhere
    # shape (contexts, nodes, nodes): [r, i, j] is i -> j in context r, links at R included
    adjacency: Bools
    joint: Floats  # the probability of every combination of values, one axis per variable
    _views: dict[Where, Floats] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.joint.ndim != len(self.names) or self.joint.shape[self.context] != len(
            self.adjacency
        ):
            raise OptionError(
                f"a joint over {len(self.names)} variables needs one axis for each, and that of the"
                f" context one entry for each of {len(self.adjacency)} graphs; found the shape"
                f" {self.joint.shape}"
            )

    @property
    def contexts(self) -> Contexts:
        """The views of the model's own variables."""
        return Contexts((self.context,), tuple((level,) for level in range(len(self.adjacency))))

    def independent(self, x: int, y: int, given: Sequence[int] = (), where: Where = ()) -> bool:
        """True if `x` and `y` are independent given the variables `given`, where `where` holds."""
        return self.deviation(x, y, given, where) <= TOLERANCE

    def deviation(self, x: int, y: int, given: Sequence[int] = (), where: Where = ()) -> float:
        """The largest |P(x, y, z) P(z) - P(x, z) P(y, z)|, every probability conditional on
        `where`.
        """
        if where not in self._views:
            # the joint conditional on `where`; the fixed axes keep a length of 1
            window = [slice(None)] * self.joint.ndim
            for axis, level in where:
                window[axis] = slice(level, level + 1)
            part = self.joint[tuple(window)]
            self._views[where] = part / part.sum()
        view = self._views[where]
        rest = tuple(
            axis for axis in range(view.ndim) if axis != x and axis != y and axis not in given
        )
        p_xyz = np.add.reduce(view, axis=rest, keepdims=True)
        p_xz = np.add.reduce(p_xyz, axis=y, keepdims=True)
        p_yz = np.add.reduce(p_xyz, axis=x, keepdims=True)
        p_z = np.add.reduce(p_yz, axis=y, keepdims=True)
        return float(np.abs(p_xyz * p_z - p_xz * p_yz).max())

    def sample(self, n: int, seed: int | np.random.Generator) -> pd.DataFrame:
        """A table of `n` rows drawn from the joint: integers for the context, floats for the
        others.
        """
        cells = np.random.default_rng(seed).choice(self.joint.size, size=n, p=self.joint.ravel())
        values = np.unravel_index(cells, self.joint.shape)
        return frame_of(
            {
                name: column if node == self.context else column.astype(float)
                for node, (name, column) in enumerate(zip(self.names, values, strict=True))
            }
        )


def random_discrete_model(
    adjacency: Bools,
    context: int,
    *,
    seed: int | np.random.Generator,
    levels: int = 2,
    names: Sequence[str] | None = None,
) -> DiscreteModel:
    """A model with these context graphs, shape (contexts, nodes, nodes), and generic probability
    tables.

    The context variable, at the position `context`, has as many values as there are contexts, the
    others `levels`. Names are `R` and `X0`, `X1`, ... by position, unless given.

    A child of R has its own table in every context, even where its parents are the same; any other
    node has one table for all contexts. The joint is the product of the tables, taken separately
    for every value of R.

    >>> chain = np.zeros((2, 3, 3), dtype=bool)
    >>> chain[:, 0, 1] = chain[:, 1, 2] = True
    >>> model = random_discrete_model(chain, context=2, seed=0)
    >>> model.independent(0, 2), model.independent(0, 2, given=(1,))
    (False, True)
    """
    if not is_weakly_sufficient(adjacency, context) or not is_strongly_acyclic(adjacency, context):
        raise OptionError(
            "the context graphs violate weak context-sufficiency or strong context-acyclicity"
        )
    contexts, nodes = adjacency.shape[:2]
    shape = [contexts if node == context else levels for node in range(nodes)]
    generator = np.random.default_rng(seed)
    joint = np.ones(shape)
    for node in range(nodes):
        if not adjacency[0, context, node]:
            joint *= _random_table(adjacency[0, :, node], node, shape, generator)
            continue
        for level, links in enumerate(adjacency):
            rows = joint[(slice(None),) * context + (slice(level, level + 1),)]
            parents = links[:, node].copy()
            parents[context] = False
            rows *= _random_table(parents, node, shape, generator)
    default_names = ["R" if node == context else f"X{node}" for node in range(nodes)]
    return DiscreteModel(tuple(names or default_names), context, adjacency, joint)


def _random_table(
    parents: Bools, node: int, shape: Sequence[int], generator: np.random.Generator
) -> Floats:
    """P(node | parents) with an axis of length 1 for every other variable, away from 0 and 1."""
    size = [length if axis == node or parents[axis] else 1 for axis, length in enumerate(shape)]
    weights = generator.uniform(0.1, 1.0, size)
    return np.asarray(weights / weights.sum(axis=node, keepdims=True))


class OracleTest:
    """The independence test that knows the distribution: p is 1 where independence holds exactly,
    else 0.

    Hand it to a search in the place of a test; the table is only asked for the names of its
    columns, so that they may stand in any order.
    """

    name: str = "oracle"

    def __init__(self, model: DiscreteModel) -> None:
        self.model = model

    def prepare(self, data: Dataset | None, statistics: object = None) -> PreparedOracle:
        """The oracle for the columns of `data`; without data, for the variables in the model's own
        order.
        """
        names = self.model.names if data is None else tuple(data.names)
        if sorted(names) != sorted(self.model.names):
            raise DataError(
                f"the table has the columns {names}, the oracle's model {self.model.names}"
            )
        contexts = self.model.contexts if data is None else data.contexts
        return PreparedOracle(
            self.model.deviation, tuple(map(self.model.names.index, names)), contexts
        )


@dataclass(frozen=True)
class Assumption:
    """The verdict on an assumption, and the evidence against it."""

    holds: bool
    why: str

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return f"{'yes' if self.holds else 'no'}: {self.why}"


def weak_context_sufficiency(truth: Truth) -> Assumption:
    """The parents of a variable that is no child of the context are those of the union in every
    context.
    """
    children = causes(truth.union.endpoints)[truth.union.position(truth.context)]
    for level, graph in truth.descriptive.items():
        for name, is_child in zip(truth.union.names, children, strict=True):
            lost = _parents(truth.union, name) - _parents(graph, name)
            if lost and not is_child and name != truth.context:
                link = f"{min(lost)} --> {name}"
                return Assumption(
                    False,
                    f"{link} is absent for {truth.context} = {level}, and {name} is no child of "
                    f"{truth.context}",
                )
    return Assumption(True, f"every variable whose parents change is a child of {truth.context}")


def single_graph_sufficiency(truth: Truth) -> Assumption:
    """The descriptive, physical and counterfactual graphs of every context agree, so changes are
    physical.
    """
    kinds = {
        "physical": truth.physical,
        "descriptive": truth.descriptive,
        "counterfactual": truth.counterfactual,
    }
    for (one, first), (other, second) in combinations(kinds.items(), 2):
        for level in truth.contexts:
            for here, there, a, b in ((one, other, first, second), (other, one, second, first)):
                for cause, effect in np.argwhere(
                    causes(a[level].endpoints) & ~causes(b[level].endpoints)
                ):
                    edge = f"{a[level].names[cause]} --> {a[level].names[effect]}"
                    return Assumption(
                        False,
                        f"for {truth.context} = {level}, {edge} is in the {here} graph and not in "
                        f"the {there} graph",
                    )
    return Assumption(
        True, "the descriptive, physical and counterfactual graphs of every context agree"
    )


def weak_context_acyclicity(truth: Truth) -> Assumption:
    """The descriptive graph of every context is acyclic."""
    for level, graph in truth.descriptive.items():
        cycle = shortest_cycle(graph)
        if cycle:
            return Assumption(
                False, f"for {truth.context} = {level} there is the cycle {_arrows(cycle)}"
            )
    return Assumption(True, "the graph of every context is acyclic")


def strong_context_acyclicity(truth: Truth) -> Assumption:
    """Besides, no cycle of the union meets the context or one of its ancestors."""
    weak = weak_context_acyclicity(truth)
    if not weak:
        return weak
    links = causes(truth.union.endpoints)
    context = truth.union.position(truth.context)
    upstream = paths.ancestors(links, context)
    upstream[context] = True
    cycle = paths.shortest_cycle(links & upstream[:, None] & upstream)
    if cycle:
        words = _arrows(tuple(truth.union.names[node] for node in cycle))
        return Assumption(
            False, f"the union has the cycle {words} through {truth.context} or its ancestors"
        )
    return Assumption(
        True, f"every context is acyclic, and no union cycle meets {truth.context} or its ancestors"
    )


def r_faithfulness(model: DiscreteModel) -> Assumption:
    """Lemma "faithful": every independence of the joint, and of the rows R = r, is a separation in
    the graph of r.

    Exact, by going through all pairs and sets; meant for a handful of variables.
    """
    for level, links in enumerate(model.adjacency):
        inside = links.copy()
        inside[model.context] = inside[:, model.context] = False
        names, everyone = model.names, range(len(model.names))
        system = [node for node in everyone if node != model.context]
        here = f"{names[model.context]} = {level}"
        for nodes, graph, where in (
            (everyone, links, ()),
            (system, inside, ((model.context, level),)),
        ):
            for x, y, given in _questions(nodes):
                if model.independent(x, y, given, where) and not is_d_separated(graph, x, y, given):
                    condition = f" given {', '.join(names[z] for z in given)}" if given else ""
                    rows = f" among the rows {here}" if where else ""
                    return Assumption(
                        False,
                        f"{names[x]} and {names[y]} are independent{condition}{rows}, and not "
                        f"separated in the graph of {here}",
                    )
    return Assumption(True, "every independence is a separation in every context graph")


def shortest_cycle(graph: Graph) -> tuple[str, ...]:
    """The variables of a shortest directed cycle, in its order; empty if there is none."""
    return tuple(graph.names[node] for node in paths.shortest_cycle(causes(graph.endpoints)))


def _questions(nodes: Any) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    for x, y in combinations(nodes, 2):
        rest = [node for node in nodes if node not in (x, y)]
        for size in range(len(rest) + 1):
            for given in combinations(rest, size):
                yield x, y, given


def _parents(graph: Graph, name: str) -> set[str]:
    return {
        graph.names[cause]
        for cause in np.flatnonzero(causes(graph.endpoints)[:, graph.position(name)])
    }


def _arrows(cycle: tuple[str, ...]) -> str:
    """A cycle in words, from its first name in the alphabet on."""
    start = cycle.index(min(cycle))
    return " --> ".join((*cycle[start:], *cycle[: start + 1]))


MOST_CANDIDATES = 1_000_000
BATCH = 20_000


def every_model(variables: int = 3, contexts: int = 2, context: int = 0) -> Bools:
    """Every model with R, at the position `context`, and `variables` system variables.

    Shape (models, contexts, variables + 1, variables + 1).

    >>> len(every_model(variables=3, contexts=2))
    2553
    """
    graphs = acyclic_graphs(variables)
    candidates = 3**variables * len(graphs) ** contexts
    if candidates > MOST_CANDIDATES:
        raise OptionError(
            f"{variables} variables and {contexts} contexts make {candidates} candidates, more than"
            f" {MOST_CANDIDATES}; draw some with random_models instead"
        )
    links = np.array(list(product(range(3), repeat=variables)))
    places = np.indices((len(links), *[len(graphs)] * contexts)).reshape(contexts + 1, -1)
    return _valid(_stacks(links[places[0]], graphs[places[1:].T], context), context)


def random_models(
    count: int,
    variables: int = 4,
    contexts: int = 2,
    context: int = 0,
    *,
    seed: int | np.random.Generator,
) -> Bools:
    """`count` models drawn uniformly, with repetition, from those that `every_model` would list, in
    its shape.
    """
    generator = np.random.default_rng(seed)
    graphs = acyclic_graphs(variables)
    found: list[Bools] = []
    while sum(map(len, found)) < count:
        links = generator.integers(3, size=(BATCH, variables))
        chosen = graphs[generator.integers(len(graphs), size=(BATCH, contexts))]
        found.append(_valid(_stacks(links, chosen, context), context))
    return np.concatenate(found)[:count]


def with_hidden_cause(models: Bools, varying: bool = False, context: int = 0) -> Bools:
    """Every model with one more node, the last one: a cause of two or more of the others that no
    table has.

    From shape (models, contexts, N, N) to (more models, contexts, N + 1, N + 1). If `varying`,
    children of R may be its children in some contexts only.

    >>> len(with_hidden_cause(every_model()))
    28083
    """
    contexts = models.shape[1]
    found = []
    everywhere = [(False,) * contexts, (True,) * contexts]
    somewhere = list(product((False, True), repeat=contexts))
    for children in np.unique(models[:, 0, context], axis=0):
        chosen = models[(models[:, 0, context] == children).all(axis=1)]
        choices = np.array(
            list(product(*(somewhere if free else everywhere for free in children & varying)))
        )
        # on two nodes or more
        effects = choices[choices.any(axis=2).sum(axis=1) > 1].swapaxes(1, 2)
        stacks = np.zeros(
            (len(chosen), len(effects), *models.shape[1:2], *[models.shape[2] + 1] * 2),
            dtype=np.bool_,
        )
        stacks[..., :-1, :-1] = chosen[:, None]
        stacks[..., -1, :-1] = effects
        found.append(stacks.reshape(-1, *stacks.shape[2:]))
    return np.concatenate(found)


@cache
def acyclic_graphs(variables: int) -> Bools:
    """Every labeled acyclic directed graph: shape (graphs, variables, variables)."""
    if not 1 <= variables <= 4:
        raise OptionError(f"variables is {variables}; graphs can be listed for 1 to 4")
    cause, effect = np.nonzero(~np.eye(variables, dtype=np.bool_))
    choices = np.array(list(product((False, True), repeat=cause.size)), dtype=np.bool_)
    graphs = np.zeros((len(choices), variables, variables), dtype=np.bool_)
    graphs[:, cause, effect] = choices
    acyclic = graphs[is_acyclic(graphs)]
    acyclic.setflags(write=False)
    return acyclic


def _stacks(links: NDArray[np.integer], graphs: Bools, context: int) -> Bools:
    """Context graphs, shape (models, contexts, variables, variables), with the links at R put in.

    `links`, shape (models, variables), are 0 for no link with R, 1 for a parent of R, 2 for a
    child.
    """
    models, contexts, variables = graphs.shape[:3]
    system = np.delete(np.arange(variables + 1), context)
    stacks = np.zeros((models, contexts, variables + 1, variables + 1), dtype=np.bool_)
    stacks[:, :, system[:, None], system] = graphs
    stacks[:, :, system, context] = (links == 1)[:, None, :]
    stacks[:, :, context, system] = (links == 2)[:, None, :]
    return stacks


def _valid(stacks: Bools, context: int) -> Bools:
    """The models that meet weak context-sufficiency and strong context-acyclicity."""
    sufficient = stacks[is_weakly_sufficient(stacks, context)]
    return sufficient[is_strongly_acyclic(sufficient, context)]

"""Exact models, every small model, and the paper's assumptions as predicates: for proofs and tests."""

from causalcontext.simulate.testing.discrete import DiscreteModel, OracleTest, random_discrete_model
from causalcontext.simulate.testing.enumerate import every_model, random_models, with_hidden_cause
from causalcontext.simulate.testing.predicates import (
    Assumption,
    r_faithfulness,
    short_union_cycles,
    shortest_cycle,
    single_graph_sufficiency,
    strong_context_acyclicity,
    weak_context_acyclicity,
    weak_context_sufficiency,
)

__all__ = [
    "Assumption",
    "DiscreteModel",
    "OracleTest",
    "every_model",
    "r_faithfulness",
    "random_discrete_model",
    "random_models",
    "short_union_cycles",
    "shortest_cycle",
    "single_graph_sufficiency",
    "strong_context_acyclicity",
    "weak_context_acyclicity",
    "weak_context_sufficiency",
    "with_hidden_cause",
]

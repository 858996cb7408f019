"""Graphs for other tools and back, one file per tool; a graph that a format cannot hold is refused,
never changed.
"""

from causalcontext.graphs.dags import to_dag, to_dags
from causalcontext.interop.adjacency import (
    conflicts_as_undirected,
    from_adjacency,
    from_mark_table,
    to_adjacency,
    to_mark_table,
)
from causalcontext.interop.causal_learn import from_causal_learn, to_causal_learn
from causalcontext.interop.dot import to_dot
from causalcontext.interop.networkx_graph import (
    from_gml,
    from_graphml,
    from_networkx,
    labeled_to_networkx,
    to_gml,
    to_graphml,
    to_networkx,
)
from causalcontext.interop.tetrad import from_tetrad, to_tetrad
from causalcontext.interop.tigramite import from_tigramite, to_tigramite

__all__ = [
    "conflicts_as_undirected",
    "from_adjacency",
    "from_causal_learn",
    "from_gml",
    "from_graphml",
    "from_mark_table",
    "from_networkx",
    "from_tetrad",
    "from_tigramite",
    "labeled_to_networkx",
    "to_adjacency",
    "to_causal_learn",
    "to_dag",
    "to_dags",
    "to_dot",
    "to_gml",
    "to_graphml",
    "to_mark_table",
    "to_networkx",
    "to_tetrad",
    "to_tigramite",
]

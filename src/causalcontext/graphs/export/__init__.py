"""Doors to other tools, one file each. What a format cannot say is refused in a sentence, never changed in silence."""

from causalcontext.graphs.dags import to_dag, to_dags
from causalcontext.graphs.export.adjacency import (
    conflicts_as_undirected,
    from_adjacency,
    from_mark_table,
    to_adjacency,
    to_mark_table,
)
from causalcontext.graphs.export.causal_learn import from_causal_learn, to_causal_learn
from causalcontext.graphs.export.dagitty import from_dagitty, to_dagitty
from causalcontext.graphs.export.dot import to_dot
from causalcontext.graphs.export.gml import from_gml, to_gml
from causalcontext.graphs.export.graphml import from_graphml, to_graphml
from causalcontext.graphs.export.networkx_graph import from_networkx, labeled_to_networkx, to_networkx
from causalcontext.graphs.export.tetrad import from_tetrad, to_tetrad
from causalcontext.graphs.export.tigramite import from_tigramite, to_tigramite

__all__ = [
    "conflicts_as_undirected",
    "from_adjacency",
    "from_causal_learn",
    "from_dagitty",
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
    "to_dagitty",
    "to_dags",
    "to_dot",
    "to_gml",
    "to_graphml",
    "to_mark_table",
    "to_networkx",
    "to_tetrad",
    "to_tigramite",
]

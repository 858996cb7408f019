"""Graphs by context: a mapping whose error for a wrong context says which there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from causalcontext.errors import NoSuchNameError, OptionError
from causalcontext.results.words import context_place

if TYPE_CHECKING:
    from causalcontext.graphs.graph import Graph


class GraphsByContext(Mapping[Any, "Graph"]):
    """The graph of every context, by the value of the context; read only.

    Examples
    --------
    >>> import causalcontext as cc
    >>> dry = cc.Graph.from_edges("XY", [("X", "Y", "-->")])
    >>> GraphsByContext({"dry": dry, "wet": dry})["wett"]
    Traceback (most recent call last):
        ...
    causalcontext.errors.NoSuchNameError: there is no context 'wett'; did you mean 'wet'? (expected
    one of 'dry', 'wet')
    """

    def __init__(self, graphs: Mapping[Any, Graph]) -> None:
        self._graphs: dict[Any, Graph] = dict(graphs)

    def __getitem__(self, value: Any) -> Graph:
        try:
            return self._graphs[value]
        except (KeyError, TypeError):
            pass
        contexts = tuple(self._graphs)
        try:
            return self._graphs[contexts[context_place(contexts, value)]]
        except OptionError as error:
            raise NoSuchNameError(str(error)) from None

    def __iter__(self) -> Iterator[Any]:
        return iter(self._graphs)

    def __len__(self) -> int:
        return len(self._graphs)

    def __repr__(self) -> str:
        return repr(self._graphs)

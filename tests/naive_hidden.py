"""Separation, inducing paths and MAGs by listing all paths: slow and obvious."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, combinations

Links = Sequence[Sequence[bool]]


def paths(links: Links, x: int, y: int) -> Iterator[tuple[int, ...]]:
    """Every path between two nodes, whatever way its arrows point."""

    def extended(path: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if path[-1] == y:
            yield path
            return
        for v in range(len(links)):
            if v not in path and (links[path[-1]][v] or links[v][path[-1]]):
                yield from extended((*path, v))

    return extended((x,))


def descendants(links: Links, node: int) -> set[int]:
    """A node and everything that arrows lead to from it."""
    found = {node}
    while more := {v for u in found for v in range(len(links)) if links[u][v]} - found:
        found |= more
    return found


def is_collider(links: Links, before: int, node: int, after: int) -> bool:
    return bool(links[before][node] and links[after][node])


def is_open(links: Links, path: Sequence[int], given: Sequence[int]) -> bool:
    """Whether no node of a path blocks it."""
    for before, node, after in zip(path, path[1:], path[2:], strict=False):
        if is_collider(links, before, node, after):
            if not descendants(links, node) & set(given):
                return False
        elif node in given:
            return False
    return True


def separated(links: Links, x: int, y: int, given: Sequence[int]) -> bool:
    return not any(is_open(links, path, given) for path in paths(links, x, y))


def leaves_open(links: Links, start: int, y: int, given: Sequence[int]) -> bool:
    """Whether a path is open whose first arrow points away from its start."""
    return any(
        links[path[0]][path[1]] and is_open(links, path, given) for path in paths(links, start, y)
    )


def has_inducing_path(links: Links, x: int, y: int, observed: Sequence[int]) -> bool:
    """Whether a path has no observed non-collider inside, and every collider is an ancestor of an
    end.
    """
    for path in paths(links, x, y):
        inner = list(zip(path, path[1:], path[2:], strict=False))
        colliders = {
            node for before, node, after in inner if is_collider(links, before, node, after)
        }
        if all(node in colliders or node not in observed for node in path[1:-1]) and all(
            descendants(links, node) & {x, y} for node in colliders
        ):
            return True
    return False


def some_set_separates(links: Links, x: int, y: int, observed: Sequence[int]) -> bool:
    rest = [v for v in observed if v not in (x, y)]
    return any(separated(links, x, y, given) for given in subsets(rest))


def subsets(members: Sequence[int]) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(combinations(members, size) for size in range(len(members) + 1))


def possible_d_sep(adjacency: Links, colliders: set[tuple[int, int, int]], x: int) -> set[int]:
    """What is reached from x by paths on which every inner node is a collider or in a triangle with
    its neighbours.
    """
    found = set()
    for v in range(len(adjacency)):
        for path in paths(adjacency, x, v) if v != x else ():
            triples = zip(path, path[1:], path[2:], strict=False)
            if all(
                adjacency[a][c] or (min(a, c), b, max(a, c)) in colliders for a, b, c in triples
            ):
                found.add(v)
                break
    return found

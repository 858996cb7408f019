"""Slow, obvious twins of what the package computes fast, written from the paper and from textbooks.

Statistics work on raw rows: `data` has one float column for every system variable, `context` one
integer level for every row. Then come the skeleton (Algorithm 1 of the paper, masked and pooled PC)
and orientation, as loops over Python sets. Nothing is imported from the package, so that agreement
with it means something.

A statistic that cannot be computed is `None` (untestable), never a number.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

Floats = NDArray[np.float64]
Node = Any  # a name or a column number; all nodes of a graph are of one sortable type
Pair = frozenset[Node]
Arrow = tuple[Node, Node]
Answer = Callable[[Node, Node, tuple[Node, ...], Any], float | None]
PossibleParent = Callable[[Node, Node], bool]

FEWEST_DEGREES = 5
STRATIFIED_KINDS = ("partial-correlation", "fisher-z")


def partial_correlation(
    data: Floats, x: int, y: int, given: Sequence[int]
) -> tuple[float, float, int, float] | None:
    """Correlation of the residuals of x and y, its t statistic, n - rank(Z) - 2 and the two-sided
    p-value.
    """
    found = residual_correlation(data, x, y, given)
    if found is None or (df := len(data) - found[1] - 2) < FEWEST_DEGREES:
        return None
    r = found[0]
    unexplained = (1 - r) * (1 + r)
    t = r * math.sqrt(df / unexplained) if unexplained > 0 else math.copysign(math.inf, r)
    return r, t, df, float(2 * stats.t.sf(abs(t), df))


def fisher_z(
    data: Floats, x: int, y: int, given: Sequence[int]
) -> tuple[float, float, float] | None:
    """The same correlation, z = sqrt(n - rank(Z) - 3) atanh(r), and the two-sided normal
    p-value.
    """
    found = partial_correlation(data, x, y, given)
    if found is None:
        return None
    r, _, df, _ = found
    z = math.sqrt(df - 1) * inverse_tanh(r)
    return r, z, float(2 * stats.norm.sf(abs(z)))


def stratified_partial_correlation(
    data: Floats,
    context: NDArray[np.integer[Any]],
    x: int,
    y: int,
    given: Sequence[int],
    kind: str = "partial-correlation",
) -> tuple[float, int, float] | None:
    """The sum over contexts of (n_r - rank(Z) - 3) atanh(r)^2, the number of its terms, and the
    chi2 p-value.

    Contexts with too few rows, or where a residual is zero, leave the sum and its degrees of
    freedom. Both kinds of test share this one statistic; `kind` only says on whose behalf it is
    asked.
    """
    if kind not in STRATIFIED_KINDS:
        raise ValueError(f"kind is {kind!r}, expected one of {STRATIFIED_KINDS}")
    if len(data) - len(given) - 2 < FEWEST_DEGREES:
        return None
    terms = []
    for level in np.unique(context):
        rows = data[context == level]
        found = residual_correlation(rows, x, y, given)
        if found is not None and (weight := len(rows) - found[1] - 3) > 0:
            terms.append(weight * inverse_tanh(found[0]) ** 2)
    if not terms:
        return None
    return sum(terms), len(terms), float(stats.chi2.sf(sum(terms), len(terms)))


def context_change(
    data: Floats, context: NDArray[np.integer[Any]], y: int, given: Sequence[int]
) -> tuple[float, int, float] | None:
    """The corrected likelihood ratio LR* of "one regression of y on Z for all contexts", its df and
    p-value.

    LR* = LR df / E0, where E0 is the exact mean of LR under Gaussian noise. Contexts with fewer
    than |Z| + 6 rows are left out of everything; the numbers of coefficients are the ranks of the
    fits.
    """
    found = context_change_parts(data, context, y, given)
    if found is None:
        return None
    ratio, expected, df = found
    statistic = ratio * df / expected
    return statistic, df, float(stats.chi2.sf(statistic, df))


def context_change_parts(
    data: Floats, context: NDArray[np.integer[Any]], y: int, given: Sequence[int]
) -> tuple[float, float, int] | None:
    """LR, its exact mean under Gaussian noise, and its degrees of freedom."""
    large = [level for level in np.unique(context) if (context == level).sum() >= len(given) + 6]
    if len(large) < 2:
        return None
    pieces = [data[context == level] for level in large]
    whole = gaussian_fit(data[np.isin(context, large)], y, given)
    parts = [gaussian_fit(piece, y, given) for piece in pieces]
    if whole is None or any(part is None for part in parts):
        return None
    usable = [part for part in parts if part is not None]
    ratio = whole.log_variance - sum(part.log_variance for part in usable)
    expected = whole.expected_log_variance - sum(part.expected_log_variance for part in usable)
    return ratio, expected, sum(part.rank + 1 for part in usable) - (whole.rank + 1)


class GaussianFit(NamedTuple):
    """n log(RSS / n), its mean for unit-variance Gaussian noise, and the rank of the regression."""

    log_variance: float
    expected_log_variance: float
    rank: int


def gaussian_fit(rows: Floats, y: int, given: Sequence[int]) -> GaussianFit | None:
    """What one regression of y on Z contributes to the likelihood ratio; None if it leaves no
    residual.

    RSS is chi-squared with n - rank degrees of freedom, so E log RSS = digamma((n - rank) / 2) +
    log 2.
    """
    n = len(rows)
    residuals, rank = fit(rows[:, y], rows[:, list(given)])
    if vanishes(residuals, rows[:, y]):
        return None
    observed = n * math.log(float(residuals @ residuals) / n)
    expected = n * (float(special.digamma((n - rank) / 2)) + math.log(2 / n))
    return GaussianFit(observed, expected, rank)


def residual_correlation(
    rows: Floats, x: int, y: int, given: Sequence[int]
) -> tuple[float, int] | None:
    """Correlation of the residuals of x and y on Z, and the rank of Z without intercept, if
    defined.
    """
    if len(rows) == 0:
        return None
    conditions = rows[:, list(given)]
    residual_x, rank = fit(rows[:, x], conditions)
    residual_y, _ = fit(rows[:, y], conditions)
    if vanishes(residual_x, rows[:, x]) or vanishes(residual_y, rows[:, y]):
        return None
    r = residual_x @ residual_y / (np.linalg.norm(residual_x) * np.linalg.norm(residual_y))
    return float(np.clip(r, -1, 1)), rank - 1


def fit(target: Floats, conditions: Floats) -> tuple[Floats, int]:
    """The residuals of least squares on an intercept and the conditions, and the rank of the two
    together.
    """
    design = np.column_stack(
        [np.ones(len(target)), *(standardised(column) for column in conditions.T)]
    )
    shifted = target - target.mean()
    coefficients, _, rank, _ = np.linalg.lstsq(design, shifted, rcond=1e-9)
    return shifted - design @ coefficients, int(rank)


def standardised(column: Floats) -> Floats:
    """The column with mean 0 and variance 1, or zeros if constant: beside an intercept, the same
    space.
    """
    centred = column - column.mean()
    return np.zeros(len(column)) if is_constant(column) else centred / centred.std()


def is_constant(column: Floats) -> bool:
    """Whether the column moves by no more than rounding."""
    return bool(np.linalg.norm(column - column.mean()) <= 1e-12 * np.linalg.norm(column))


def vanishes(residuals: Floats, column: Floats) -> bool:
    """Whether the residuals of a column are nothing but rounding."""
    spread = np.linalg.norm(column - column.mean())
    return is_constant(column) or bool(np.linalg.norm(residuals) <= 1e-8 * spread)


def inverse_tanh(r: float) -> float:
    """atanh, infinite at -1 and 1."""
    return math.copysign(math.inf, r) if abs(r) >= 1 else math.atanh(r)


class Skeleton(NamedTuple):
    """The edges that are left, and for every pair that a test removed, all sets that separate it.

    These are the separating sets of the size that removed the pair. A set that separates within the
    rows of one context holds the context, whatever was conditioned on there.
    """

    edges: set[Pair]
    separations: dict[Pair, list[frozenset[Node]]]


def anything_is_possible(node: Node, candidate: Node) -> bool:
    """No knowledge: any neighbour may be in a conditioning set."""
    return True


def pc_stable_contexts(
    answer: Answer,
    nodes: Sequence[Node],
    context: Node,
    levels: Sequence[Any],
    rule: str,
    alpha: float = 0.05,
    *,
    max_given: int | None = None,
    required: Iterable[Iterable[Node]] = (),
    absent: Iterable[Iterable[Node]] = (),
    possible_parent: PossibleParent = anything_is_possible,
) -> dict[Any, Skeleton]:
    """One skeleton for every level by the rule "adaptive" or "masked"; by "pooled" one skeleton,
    under None.

    Parameters
    ----------
    answer : callable
        `answer(x, y, given, where)`: the p-value on the rows of context `where` (None: all rows),
        or None if untestable.
    nodes, context, levels
        All nodes, the context among them; which one is the context; its values.
    max_given : int, optional
        The size of the largest conditioning set, the context counted.
    required, absent : pairs of nodes
        Never tested; `required` ones stay, `absent` ones are removed at the start, without a
        separating set.
    possible_parent : callable
        `possible_parent(x, z)`: whether z may be in a set taken from the neighbours of x.
    """
    gone = {frozenset(pair) for pair in absent}
    fixed = {frozenset(pair) for pair in required}
    pairs = [frozenset(pair) for pair in itertools.combinations(sorted(nodes), 2)]
    start = [
        pair for pair in pairs if pair not in gone and not (rule == "masked" and context in pair)
    ]
    graphs = {level: Skeleton(set(start), {}) for level in ([None] if rule == "pooled" else levels)}
    largest = len(nodes) - 2 if max_given is None else min(max_given, len(nodes) - 2)

    for size in range(largest + 1):
        before = {level: set(graph.edges) for level, graph in graphs.items()}
        for pair in start:
            if pair in fixed:
                continue
            for group, edges in groups_deciding(pair, before, context, rule):
                if pair not in edges:
                    continue
                sets = candidate_sets(pair, edges, size, possible_parent)
                found = separating(answer, pair, sets, rule, context, group[0], alpha)
                for level in group if found else []:
                    graphs[level].edges.remove(pair)
                    graphs[level].separations[pair] = found
    return graphs


def pc_stable_cells(
    answer: Callable[[Node, Node, tuple[Node, ...], tuple[tuple[Node, Any], ...]], float | None],
    nodes: Sequence[Node],
    contexts: Sequence[Node],
    cells: Sequence[tuple[Any, ...]],
    alpha: float = 0.05,
) -> dict[tuple[Any, ...], set[Pair]]:
    """The skeleton of every cell with several context variables: those among the conditions are
    fixed, no others.

    A link at context variables is decided once for the cells that differ in these alone, from the
    union of their edges.
    """
    pairs = [frozenset(pair) for pair in itertools.combinations(sorted(nodes), 2)]
    graphs = {cell: set(pairs) for cell in cells}
    for size in range(len(nodes) - 1):
        before = {cell: set(edges) for cell, edges in graphs.items()}
        for pair in pairs:
            for cell in cells:
                others = [j for j, context in enumerate(contexts) if context not in pair]
                alike = (
                    [c for c in cells if all(c[j] == cell[j] for j in others)]
                    if pair & set(contexts)
                    else [cell]
                )
                union = set().union(*(before[c] for c in alike))
                if pair not in before[cell]:
                    continue
                for chosen in candidate_sets(pair, union, size, anything_is_possible):
                    where = tuple(
                        (c, level) for c, level in zip(contexts, cell, strict=True) if c in chosen
                    )
                    p = answer(*sorted(pair), tuple(sorted(chosen - set(contexts))), where)
                    if p is not None and p > alpha:
                        graphs[cell].discard(pair)
    return graphs


def groups_deciding(
    pair: Pair, before: dict[Any, set[Pair]], context: Node, rule: str
) -> list[tuple[list[Any], set[Pair]]]:
    """The contexts that decide together on a pair, with the edges its candidate sets come from.

    Adaptive links at the context are decided once for all contexts, from the union of their edges
    (where the neighbours of the context are the same in each); everything else by every context for
    itself.
    """
    if rule == "adaptive" and context in pair:
        return [(list(before), set().union(*before.values()))]
    return [([level], edges) for level, edges in before.items()]


def candidate_sets(
    pair: Pair, edges: Iterable[Pair], size: int, possible_parent: PossibleParent
) -> list[frozenset[Node]]:
    """Every set of this size from the other neighbours of the one node or of the other, each
    once.
    """
    sets = set()
    for node in pair:
        usable = [z for z in neighbours(node, edges) - pair if possible_parent(node, z)]
        sets |= {frozenset(chosen) for chosen in itertools.combinations(usable, size)}
    return sorted(sets, key=sorted)


def separating(
    answer: Answer,
    pair: Pair,
    sets: Iterable[frozenset[Node]],
    rule: str,
    context: Node,
    level: Any,
    alpha: float,
) -> list[frozenset[Node]]:
    """Those of the sets that make the pair independent, each on the rows that the rule names.

    Line 8 of Algorithm 1: with the context in the set, its rows only, and the context leaves the
    conditions.
    """
    x, y = sorted(pair)
    found = []
    for chosen in sets:
        one_context = rule == "masked" or (rule == "adaptive" and context in chosen)
        given = chosen - {context} if one_context else chosen
        p = answer(x, y, tuple(sorted(given)), level if one_context else None)
        if p is not None and p > alpha:
            found.append(chosen | {context} if one_context else chosen)
    return found


def neighbours(node: Node, edges: Iterable[Pair]) -> set[Node]:
    """The nodes that share an edge with this one."""
    return {other for pair in edges if node in pair for other in pair - {node}}


def collider_votes(
    answer: Answer,
    adjacency: Iterable[Pair],
    triple: tuple[Node, Node, Node],
    rule: str,
    context: Node,
    level: Any,
    alpha: float = 0.05,
    *,
    max_given: int | None = None,
    possible_parent: PossibleParent = anything_is_possible,
) -> tuple[int, int]:
    """For x - w - y in one context: how many sets separate x and y, and how many of these contain
    w.

    Asked are all subsets of the other neighbours of x, and of y, in `adjacency`, each set once. A
    set that separates within the rows of the context contains the context.
    """
    x, w, y = triple
    pair, edges = frozenset((x, y)), list(adjacency)
    most = max(len(neighbours(x, edges)), len(neighbours(y, edges)))
    sizes = range((most if max_given is None else min(max_given, most)) + 1)
    sets = [
        chosen for size in sizes for chosen in candidate_sets(pair, edges, size, possible_parent)
    ]
    found = separating(answer, pair, sets, rule, context, level, alpha)
    return len(found), sum(w in chosen for chosen in found)


def meek(
    directed: Iterable[Arrow],
    undirected: Iterable[Iterable[Node]],
    ambiguous: Iterable[tuple[Node, Node, Node]] = (),
) -> tuple[set[Arrow], set[Pair]]:
    """The arrows and the undirected edges that are left when none of Meek's rules R1-R4 applies any
    more.

    An ambiguous triple (x, w, y) may be a collider at w or not, so no rule that needs a
    non-collider uses it: R1, R3 and R4. Raises ValueError where the rules ask for both directions
    at once.
    """
    arrows, lines = set(directed), {frozenset(pair) for pair in undirected}
    unclear = {(w, frozenset((x, y))) for x, w, y in ambiguous}
    while True:
        implied = {
            (a, b)
            for line in lines
            for a, b in itertools.permutations(line)
            if meek_says(a, b, arrows, lines, unclear)
        }
        if any((b, a) in implied for a, b in implied):
            raise ValueError(f"the rules contradict each other: {sorted(implied)}")
        if not implied:
            return arrows, lines
        arrows |= implied
        lines -= {frozenset(arrow) for arrow in implied}


def meek_says(
    a: Node, b: Node, arrows: set[Arrow], lines: set[Pair], unclear: set[tuple[Node, Pair]]
) -> bool:
    """Whether one of R1-R4 turns the undirected edge a - b into a -> b."""
    nodes = {node for pair in [*arrows, *lines] for node in pair} - {a, b}
    adjacent = {frozenset(arrow) for arrow in arrows} | lines

    def line(u: Node, v: Node) -> bool:
        return frozenset((u, v)) in lines

    def no_collider(u: Node, centre: Node, v: Node) -> bool:
        endpoints = frozenset((u, v))
        return endpoints not in adjacent and (centre, endpoints) not in unclear

    if any((c, a) in arrows and no_collider(c, a, b) for c in nodes):
        return True  # R1: c -> a - b
    if any((a, c) in arrows and (c, b) in arrows for c in nodes):
        return True  # R2: a -> c -> b
    for c, d in itertools.permutations(nodes, 2):
        if (
            line(a, c)
            and line(a, d)
            and (c, b) in arrows
            and (d, b) in arrows
            and no_collider(c, a, d)
        ):
            return True  # R3: a - c -> b and a - d -> b
        joined = frozenset((a, d)) in adjacent
        if line(a, c) and (c, d) in arrows and (d, b) in arrows and joined and no_collider(c, a, b):
            return True  # R4: a - c -> d -> b
    return False


def cpdag(dag: Iterable[Arrow]) -> tuple[set[Arrow], set[Pair]]:
    """The arrows common to all DAGs with the skeleton and the v-structures of this one, and the
    other edges.

    Tries every direction of every edge: for small graphs.
    """
    truth = set(dag)
    choices = itertools.product(*[((a, b), (b, a)) for a, b in truth])
    candidates = [set(arrows) for arrows in choices]
    equivalent = [
        arrows
        for arrows in candidates
        if is_acyclic(arrows) and v_structures(arrows) == v_structures(truth)
    ]
    common = set.intersection(*equivalent)
    return common, {frozenset(arrow) for arrow in truth} - {frozenset(arrow) for arrow in common}


def v_structures(arrows: set[Arrow]) -> set[tuple[Pair, Node]]:
    """Every x -> w <- y with x and y not adjacent, as ({x, y}, w)."""
    adjacent = {frozenset(arrow) for arrow in arrows}
    return {
        (frozenset((x, y)), w)
        for (x, w), (y, v) in itertools.permutations(arrows, 2)
        if w == v and frozenset((x, y)) not in adjacent
    }


def is_acyclic(arrows: set[Arrow]) -> bool:
    """Whether removing nodes without a parent, again and again, removes all arrows."""
    while arrows:
        effects = {effect for _, effect in arrows}
        rest = {(cause, effect) for cause, effect in arrows if cause in effects}
        if rest == arrows:
            return False
        arrows = rest
    return True


def union_mark(marks: Iterable[str]) -> str:
    """The mark of a pair in the union, from its marks in all contexts, read in one direction.

    Directed wins over undirected, undirected over conflict; both directions make "<=>".
    """
    seen = set(marks)
    if {"-->", "<--"} <= seen:
        return "<=>"
    return next((mark for mark in ("-->", "<--", "o-o", "x-x") if mark in seen), "")


def union_mark_by_endpoints(marks: Iterable[str], pag: bool = False) -> str:
    """The mark of a pair in the union of any graphs, letter by letter, from its marks in all
    contexts.
    """
    present = [mark.replace("<=>", "+-+") for mark in marks if mark]
    if not present:
        return ""
    left = _union_letter({mark[0].replace("<", ">") for mark in present}, pag).replace(">", "<")
    right = _union_letter({mark[2] for mark in present}, pag)
    return f"{left}-{right}".replace("+-+", "<=>")


def _union_letter(seen: set[str], pag: bool) -> str:
    """One end: a tail here and an arrow there differ ("+"); else what says most, in PAGs what all
    say or a circle.
    """
    if "+" in seen or {"-", ">"} <= seen:
        return "+"
    if pag and len(seen) > 1:
        return "o"
    return next(letter for letter in "->ox" if letter in seen)


def orientation_round(
    endpoints: dict[Arrow, str], asked: Iterable[tuple[Node, Node, str]], pag: bool
) -> set[Arrow]:
    """Set ends (a, b), the end at b of a - b, as asked for in one round; the ends that were settled
    otherwise.

    An edge of a pattern is asked for one direction or for both, which is a conflict. In a PAG a
    tail asks for an arrow at the other end as well, and an end that is asked for both makes a
    conflict of all that is open on its edge.
    """
    wanted = [(a, b, end) for a, b, end in asked if endpoints[a, b] == "o"]
    doubts = {(a, b) for a, b, end in asked if endpoints[a, b] in "->" and endpoints[a, b] != end}
    for a, b in [place for place in endpoints if place[0] < place[1]]:
        if pag:
            claims = {(x, y, end) for x, y, end in wanted if {x, y} == {a, b}}
            claims |= {(y, x, ">") for x, y, end in claims if end == "-"}
            contested = any(
                (x, y, "-") in claims and (x, y, ">") in claims for x, y in ((a, b), (b, a))
            )
            new = {(x, y): "x" if contested else end for x, y, end in claims}
        else:
            heads = {(x, y) if end == ">" else (y, x) for x, y, end in wanted if {x, y} == {a, b}}
            new = {
                (x, y): "x" if len(heads) > 1 else end
                for h in heads
                for x, y, end in ((*h, ">"), (*h[::-1], "-"))
            }
        endpoints.update({place: end for place, end in new.items() if endpoints[place] == "o"})
    return doubts


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given: the least level of the whole family that
    rejects each.
    """
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def legacy_correlation(
    data: Floats, x: int, y: int, given: Sequence[int]
) -> tuple[float, float, float]:
    """Partial correlation of normal scores of ranks, n - 2 - |Z|, and the two-sided p-value."""
    scores = np.column_stack(
        [stats.norm.ppf((stats.rankdata(column) - 0.5) / len(column)) for column in data.T]
    )
    found = partial_correlation(scores, x, y, given)
    assert found is not None
    return found[0], found[2], found[3]


def legacy_regression(
    data: Floats, context: NDArray[np.integer[Any]], y: int, given: Sequence[int]
) -> tuple[float, int, float]:
    """The drop in deviance when all one-hot columns of the context join y ~ 1 + Z, with one df for
    every level.
    """
    one_hot = (context[:, None] == np.unique(context)).astype(float)
    return _deviance_drop(data[:, y], data[:, list(given)], one_hot)


def legacy_given_context(
    data: Floats, context: NDArray[np.integer[Any]], x: int, y: int, given: Sequence[int]
) -> tuple[float, int, float]:
    """The drop in deviance when x joins y ~ 1 + Z + one-hot context."""
    one_hot = (context[:, None] == np.unique(context)).astype(float)
    return _deviance_drop(
        data[:, y], np.column_stack([data[:, list(given)], one_hot]), data[:, [x]]
    )


def _deviance_drop(target: Floats, before: Floats, extra: Floats) -> tuple[float, int, float]:
    def residual_sum(columns: Floats) -> float:
        design = np.column_stack([np.ones(len(target)), columns])
        return float(
            ((target - design @ np.linalg.lstsq(design, target, rcond=None)[0]) ** 2).sum()
        )

    drop = len(target) * math.log(
        residual_sum(before) / residual_sum(np.column_stack([before, extra]))
    )
    return drop, extra.shape[1], float(stats.chi2.sf(drop, extra.shape[1]))


def adjacency_rates(
    found: set[Pair], true: set[Pair], nodes: Sequence[Node], told: set[Pair]
) -> dict[str, float]:
    """Rates of adjacencies; `fpr` as published: over ordered pairs, the diagonal and the told pairs
    included.
    """
    pairs = {frozenset(pair) for pair in itertools.combinations(nodes, 2)}
    found, true = found - told, true - told
    absent_ordered = len(nodes) ** 2 - 2 * len(true)
    untold_absent = pairs - told - true
    return {
        "tpr": len(found & true) / len(true) if true else math.nan,
        "fpr": 2 * len(found - true) / absent_ordered,
        "fpr_untold": 2 * len(found - true) / (absent_ordered - 2 * len(told)),
        "fpr_pairs": len(found - true) / len(untold_absent) if untold_absent else math.nan,
        "adj_prec": len(found & true) / len(found) if found else math.nan,
        "f1": 2 * len(found & true) / (len(found) + len(true)) if found or true else math.nan,
    }


def mark_rates(
    arrows: set[Arrow], adjacent: set[Pair], true: set[Arrow], told: set[Pair]
) -> dict[str, float]:
    """Right arrows among found adjacencies, and among true links."""
    right = {arrow for arrow in arrows & true if frozenset(arrow) not in told}
    found = adjacent - told
    links = {arrow for arrow in true if frozenset(arrow) not in told}
    return {
        "edge_prec": len(right) / len(found) if found else math.nan,
        "edge_rec": len(right) / len(links) if links else math.nan,
    }


def label_rates(
    found: Sequence[set[Pair]], true: Sequence[set[Pair]], context: Node
) -> dict[str, float]:
    """Of the pairs without the context that change between contexts, those that have just the right
    contexts.
    """

    def changing(graphs: Sequence[set[Pair]]) -> dict[Pair, list[bool]]:
        labels = {pair: [pair in graph for graph in graphs] for graph in graphs for pair in graph}
        return {
            pair: label for pair, label in labels.items() if not all(label) and context not in pair
        }

    here, there = changing(found), changing(true)
    right = [pair for pair in here if here[pair] == there.get(pair)]
    return {
        "label_prec": len(right) / len(here) if here else math.nan,
        "label_rec": len(right) / len(there) if there else math.nan,
    }


def bootstrap_error(values: Sequence[float], weights: Floats) -> float:
    """The standard deviation of resampled means, resample after resample."""
    means = []
    for counts in weights:
        drawn = [
            v
            for v, count in zip(values, counts, strict=True)
            for _ in range(int(count))
            if not math.isnan(v)
        ]
        if drawn:
            means.append(sum(drawn) / len(drawn))
    return float(np.std(means, ddof=1))


def regression_slope(data: Floats, x: int, y: int, given: Sequence[int]) -> tuple[float, float]:
    """The coefficient of x in least squares of y on an intercept, x and Z, and its standard
    error.
    """
    design = np.column_stack([np.ones(len(data)), data[:, x], *(data[:, z] for z in given)])
    coefficients = np.linalg.lstsq(design, data[:, y], rcond=None)[0]
    residuals = data[:, y] - design @ coefficients
    variance = residuals @ residuals / (len(data) - design.shape[1])
    covariance = variance * np.linalg.inv(design.T @ design)
    return float(coefficients[1]), float(math.sqrt(covariance[1, 1]))


def heterogeneity(slopes: Sequence[tuple[float, float]]) -> float:
    """Cochran's Q of (slope, standard error) pairs."""
    weights = [1 / error**2 for _, error in slopes]
    centre = sum(w * b for w, (b, _) in zip(weights, slopes, strict=True)) / sum(weights)
    return sum(w * (b - centre) ** 2 for w, (b, _) in zip(weights, slopes, strict=True))


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values, in the order given: the least false-discovery rate at which each is a
    discovery.
    """
    m = len(p_values)
    ranked = sorted(p_values)
    return [
        min(min(1.0, ranked[k] * m / (k + 1)) for k in range(ranked.index(p), m)) for p in p_values
    ]


def wilks(
    data: Floats, first: NDArray[Any], second: NDArray[Any], given: Sequence[int]
) -> tuple[float, int, float]:
    """Bartlett's statistic of Wilks' lambda between the indicators of two categorical columns, its
    df and p-value.
    """
    indicators = [
        np.column_stack([column == v for v in np.unique(column)[1:]]).astype(float)
        for column in (first, second)
    ]
    left, right = (
        np.column_stack([fit(column, data[:, list(given)])[0] for column in part.T])
        for part in indicators
    )
    both = np.column_stack([left, right])
    volume = (
        np.linalg.det(both.T @ both) / np.linalg.det(left.T @ left) / np.linalg.det(right.T @ right)
    )
    df = left.shape[1] * right.shape[1]
    statistic = -(len(data) - 1 - len(given) - (both.shape[1] + 1) / 2) * math.log(volume)
    return statistic, df, float(stats.chi2.sf(statistic, df))

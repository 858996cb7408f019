"""The evidence for and against every edge of a score-based result, where no tests are logged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.frames import frame_of, pd
from causalcontext.graphs.dags import UndecidedTriple
from causalcontext.graphs.endpoints import may_cause
from causalcontext.graphs.graph import LabeledUnion
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.results.equations import Mechanisms, tuples
from causalcontext.results.log import CITestLog, Decision
from causalcontext.results.settings import MOST_IN_A_WORD, ROUNDING_NATS
from causalcontext.search.sepsets import slot as slot_of

if TYPE_CHECKING:
    from causalcontext.graphs.graph import Graph

COLUMNS = [
    "context",
    "x",
    "y",
    "effect",
    "model",
    "shared by",
    "score",
    "strength",
    "n",
    "decision",
]


@dataclass(frozen=True, eq=False)
class ScoreEvidence:
    """Score differences per pair and context, and the model of every node.

    Pairs `i < j` are numbered as in the log; N variables, K contexts.

    Attributes
    ----------
    difference : ndarray of shape (K, pairs)
        The log score with the link minus that without it, everything else equal: positive for links
        that are there. NaN where the link is ruled out or required by knowledge, or would close a
        cycle.
    strength : ndarray of shape (K, pairs)
        The partial correlation of the two in the model of the effect; for links at the context its
        counterpart √(1 - exp(-2 difference / n)). Never negative at the context.
    effect : ndarray of int of shape (K, pairs)
        The variable whose model was judged, -1 for none.
    decision : ndarray of int of shape (K, pairs)
        The `Decision` about the pair.
    model : tuple of str
        For every variable "pooled" (one regression for all contexts), "shifted" (one regression, an
        intercept for each context), "mixed" (the same, and slopes that differ between contexts),
        "partitioned" (a regression for each block of contexts), "context" for the context itself.
    block : ndarray of int of shape (K, N)
        The contexts that share a variable's mechanism in a context, as a bit mask.
    rows : ndarray of int of shape (K, N)
        The rows of these contexts.
    score, penalty : float
        The score of the best model, in nats, and the price of a parameter, in units of that of BIC.
    search, transform : str
        The kind of search, and what columns were replaced by.
    starts, agreeing : int
        Random starts, and how many of them ended at the best score.
    margin : ndarray of shape (K, pairs)
        How much worse the best model without the direction of a link is, in nats, as far as that
        was followed up; NaN where there is no link or knowledge settles its direction.
    curved : bool
        True where mechanisms are more than straight lines.
    curves_gain : float
        The score with curves minus that without; NaN if straight lines left nothing to explain.
    scales_gain : float
        The score with noise of uneven spread minus that without; NaN if the spread is even.
    mechanisms : Mechanisms, optional
        The equations of all variables.
    contradictions : tuple of (str, tuple of str)
        The checks of residuals that speak against the model: kinds of `model_checks.violations`,
        each with the columns whose residuals say so; none in files that knew the kinds alone, which
        may mean any column.
    undecided : tuple of UndecidedTriple
        Unshielded triples x - w - y, x < y, that may be colliders: models that score nearly the
        same differ there.
    wrong_cells : str
        "keep", or, where wrong cells were looked for, "none" or "replaced".
    """

    difference: Floats
    strength: Floats
    effect: Ints
    decision: NDArray[np.int8]
    model: tuple[str, ...]
    block: Ints
    rows: Ints
    score: float
    penalty: float
    search: str
    transform: str
    starts: int
    agreeing: int
    margin: Floats = field(default_factory=lambda: np.empty((0, 0)))
    curved: bool = False
    curves_gain: float = float("nan")
    scales_gain: float = float("nan")
    mechanisms: Mechanisms | None = None
    contradictions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    undecided: tuple[UndecidedTriple, ...] = ()
    wrong_cells: str = "keep"

    @property
    def contradicted(self) -> tuple[str, ...]:
        """The kinds of checks that speak against the model somewhere, sorted."""
        return tuple(sorted({kind for kind, _ in self.contradictions}))

    def renumbered(self, number: Ints) -> ScoreEvidence:
        """The same for contexts with other numbers, or some of them: context r was number
        `number[r]` so far.
        """
        moved = {
            name: getattr(self, name)[number]
            for name in ("difference", "strength", "effect", "decision", "rows", "margin")
        }
        block = [
            [
                sum(1 << r for r, old in enumerate(number.tolist()) if int(mask) >> old & 1)
                for mask in row
            ]
            for row in self.block[number]
        ]
        mechanisms = (
            None if self.mechanisms is None else self.mechanisms.renumbered(number.tolist())
        )
        undecided = tuple(
            (r, x, w, y)
            for r, old in enumerate(number.tolist())
            for g, x, w, y in self.undecided
            if g == old
        )
        masks = np.array(block, dtype=masks_of(len(number)))
        return replace(self, **moved, block=masks, mechanisms=mechanisms, undecided=undecided)

    def merged(self, variable: int, context: int, contexts: Sequence[Any]) -> tuple[Any, ...]:
        """The contexts that share a variable's mechanism in one of them."""
        mask = int(self.block[context, variable])
        return tuple(value for r, value in enumerate(contexts) if mask >> r & 1)

    def frame(self, names: Sequence[str], contexts: Sequence[Any]) -> pd.DataFrame:
        """One row for every pair and context."""
        first, second = np.triu_indices(len(names), 1)
        rows = []
        for r, value in enumerate(contexts):
            for slot, (i, j) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
                effect = int(self.effect[r, slot])
                known = effect >= 0
                rows.append(
                    (
                        value,
                        names[i],
                        names[j],
                        names[effect] if known else "",
                        self.model[effect] if known else "",
                        self.merged(effect, r, contexts) if known else (),
                        self.difference[r, slot],
                        self.strength[r, slot],
                        int(self.rows[r, effect]) if known else 0,
                        Decision(int(self.decision[r, slot])).name.lower(),
                    )
                )
        return frame_of(rows, columns=COLUMNS)

    def slot(self, x: int, y: int) -> int:
        """The place of a pair."""
        return slot_of(x, y, len(self.model))

    def shape(self, x: int, y: int, context: int) -> str:
        """The shape of the link of a pair in a context; "" where that is not known."""
        effect, cause = self._ends(x, y, context)
        known = self.mechanisms is not None and effect >= 0 and self.model[cause] != "context"
        return (
            self.mechanisms.shape(effect, cause, context)
            if known and self.mechanisms is not None
            else ""
        )

    def is_spread(self, x: int, y: int, context: int) -> bool:
        """True where the spread of the noise of the one depends on the other in a context."""
        effect, cause = self._ends(x, y, context)
        return (
            self.mechanisms is not None
            and effect >= 0
            and self.mechanisms.is_spread(effect, cause, context)
        )

    def _ends(self, x: int, y: int, context: int) -> tuple[int, int]:
        """The effect of a pair in a context, -1 if it was not judged, and the other one."""
        effect = int(self.effect[context, self.slot(x, y)])
        return effect, x if effect == y else y

    def to_dict(self) -> dict[str, Any]:
        """The same as lists, numbers and text; null stands for not a number."""
        content: dict[str, Any] = {}
        for entry in fields(self):
            value = getattr(self, entry.name)
            if isinstance(value, np.ndarray):
                content[entry.name] = [[_plain(cell) for cell in row] for row in value.tolist()]
            elif isinstance(value, Mechanisms):
                content[entry.name] = value.to_dict()
            else:
                content[entry.name] = list(value) if isinstance(value, tuple) else _plain(value)
        return content | {"contradicted": list(self.contradicted)}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> ScoreEvidence:
        """The evidence of `to_dict`."""
        kinds = {
            "difference": np.float64,
            "strength": np.float64,
            "effect": np.int64,
            "decision": np.int8,
            "block": masks_of(len(content["block"])),
            "rows": np.int64,
            "margin": np.float64,
        }
        values: dict[str, Any] = {
            name: np.array(content[name], dtype=kind) for name, kind in kinds.items()
        }
        shape = values["difference"].shape
        if any(values[name].shape != shape for name in ("strength", "effect", "decision")):
            raise ValueError("the columns of the evidence differ in length")
        if "contradictions" not in content:
            content = content | {"contradictions": [[kind, []] for kind in content["contradicted"]]}
        rest = {
            entry.name: tuples(content[entry.name])
            for entry in fields(cls)
            if entry.name not in kinds
        }
        for name in ("curves_gain", "scales_gain"):
            rest[name] = float("nan") if rest[name] is None else float(rest[name])
        if rest["mechanisms"] is not None:
            rest["mechanisms"] = Mechanisms.from_dict(rest["mechanisms"])
        return cls(**values, **rest)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScoreEvidence):
            return False
        pairs = [(getattr(self, entry.name), getattr(other, entry.name)) for entry in fields(self)]
        return all(
            (
                np.array_equal(mine, theirs, equal_nan=mine.dtype.kind == "f")
                if isinstance(mine, np.ndarray)
                else mine == theirs or (mine != mine and theirs != theirs)
            )
            for mine, theirs in pairs
        )

    __hash__ = None  # type: ignore[assignment]


def masks_of(contexts: int) -> Any:
    """The type of an array of bit masks of so many contexts: with many of them whole numbers of
    Python.
    """
    return np.int64 if contexts <= MOST_IN_A_WORD else object


def score_edges(
    evidence: ScoreEvidence, graphs: Mapping[Any, Graph], names: Sequence[str]
) -> pd.DataFrame:
    """The edges of the labeled union with the evidence of the context where it is weakest.

    The margin of an edge that only some contexts direct is that of these contexts.
    """
    index = {name: position for position, name in enumerate(names)}
    contexts = list(graphs)
    rows = []
    for edge in LabeledUnion(graphs):
        slot = evidence.slot(index[edge.source], index[edge.target])
        places = [contexts.index(value) for value in edge.contexts]
        known = [r for r in places if not np.isnan(evidence.difference[r, slot])] or places
        weakest = min(known, key=lambda r: evidence.difference[r, slot])
        effect = int(evidence.effect[weakest, slot])
        both = {evidence.model[index[edge.source]], evidence.model[index[edge.target]]}
        n = evidence.rows.max() if "context" in both else evidence.rows[weakest, effect]
        alike = [
            graphs[value].mark(edge.source, edge.target) == edge.mark for value in edge.contexts
        ]
        directing = list(compress(places, alike)) or places
        margins = [float(evidence.margin[r, slot]) for r in directing if evidence.margin.size]
        margin = min((finite for finite in margins if finite == finite), default=float("nan"))
        margin = 0.0 if margin < ROUNDING_NATS else margin
        rows.append(
            (
                *edge,
                float(evidence.strength[weakest, slot]),
                float("nan"),
                int(n),
                float(evidence.difference[weakest, slot]),
                evidence.model[effect],
                margin,
            )
        )
    columns = [
        "source",
        "target",
        "mark",
        "contexts",
        "strength",
        "p-value",
        "n",
        "score",
        "model",
        "margin",
    ]
    return frame_of(rows, columns=columns)


def score_decisions(
    evidence: ScoreEvidence, graphs: Mapping[Any, Graph], names: Sequence[str], context: str | None
) -> pd.DataFrame:
    """The comparison that decided each pair in each context, in the columns of a log of tests."""
    first, second = np.triu_indices(len(names), 1)
    contexts = list(graphs)
    rows = []
    for r, graph in enumerate(graphs.values()):
        causes = [np.flatnonzero(column).tolist() for column in may_cause(graph.endpoints).T]
        for slot, (i, j) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
            effect = int(evidence.effect[r, slot])
            given = (
                tuple(names[z] for z in causes[effect] if z not in (i, j)) if effect >= 0 else ()
            )
            shared = evidence.merged(effect, r, contexts) if effect >= 0 else ()
            where = f"{context}={' or '.join(map(str, shared))}" if shared else ""
            where = "pooled" if len(shared) == len(contexts) else where
            rows.append(
                (
                    contexts[r],
                    names[i],
                    names[j],
                    given,
                    where,
                    "score" if effect >= 0 else "",
                    evidence.difference[r, slot],
                    float("nan"),
                    float("nan"),
                    int(evidence.rows[r, effect]) if effect >= 0 else 0,
                    Decision(int(evidence.decision[r, slot])).name.lower(),
                    0,
                )
            )
    return frame_of(rows, columns=list(CITestLog.COLUMNS))


def _plain(value: Any) -> Any:
    """The value itself, or None for NaN, which JSON does not have."""
    return None if value != value else value


SUSPECTED = "suspected"
NOT_SEEN = "not seen"
NOT_ASKED = "not asked"
"""The words for a link in `edges()`."""


@dataclass(frozen=True)
class HiddenSuspicion:
    """Pairs of variables by name, each sorted."""

    # links that another model with a hidden common cause does not need, or needs the other way
    # round
    suspected: tuple[tuple[str, str], ...] = ()
    # links about which the table could be asked, these among them
    asked: tuple[tuple[str, str], ...] = ()
    why_not: str = ""  # why nothing could be asked, or not of all links; "" if all were asked

    def word(self, x: str, y: str) -> str:
        """The word for a hidden cause of a link: suspected, not seen or not asked."""
        pair = (min(x, y), max(x, y))
        return (
            SUSPECTED if pair in self.suspected else NOT_SEEN if pair in self.asked else NOT_ASKED
        )

"""The place where a column cuts mechanisms in two, if it does: the verdict of `cc.threshold("X",
"best")`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from causalcontext.data.columns import number_text
from causalcontext.errors import listed
from causalcontext.results.equations import tuples

CUT, SMOOTH, UNDECIDED = VERDICTS = ("cut", "smooth change", "undecided")


@dataclass(frozen=True)
class Cut:
    """The place in a column at which mechanisms change, and what speaks for it.

    Attributes
    ----------
    column : str
    value : float
        The best place for a cut; it means something only if the verdict is "cut".
    low, high : float or None
        The 95 % interval of the place; None unless the verdict is "cut".
    verdict : {"cut", "smooth change", "undecided"}
    evidence : float
        By how many nats the log score with the cut exceeds that with the best smooth change.
    required : float
        What the evidence must exceed for a cut.
    smooth : float
        By how many nats the log score with the best smooth change exceeds that without any change.
    changed : tuple of str
        The variables whose mechanism changes.
    places, scores : tuples of float
        The cuts that were tried, and by how many nats the log score with each exceeds that without
        any change.
    """

    column: str
    value: float
    low: float | None
    high: float | None
    verdict: str
    evidence: float
    required: float
    smooth: float
    changed: tuple[str, ...]
    places: tuple[float, ...]
    scores: tuple[float, ...]

    @property
    def needed(self) -> float:
        """The height that the profile has to exceed for a cut: the smooth change, the price of the
        place, and what is required.
        """
        return max(self.scores) - self.evidence + self.required

    def to_dict(self) -> dict[str, Any]:
        """As lists, numbers and text."""
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in asdict(self).items()
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Cut:
        """The cut of `to_dict`."""
        return cls(**{key: tuples(value) for key, value in content.items()})

    def __str__(self) -> str:
        whose = f"the mechanism{'s' if len(self.changed) > 1 else ''} of {listed(self.changed)}"
        if self.verdict == CUT:
            assert self.low is not None
            assert self.high is not None
            return (
                f"{self.column} cuts {whose} at {number_text(self.value)} (95 % interval"
                f" {self.low:.4g} to {self.high:.4g}): the log score is {self.evidence:.1f} nats"
                f" above that of the best smooth change, {self.required:.1f} are required"
            )
        if self.verdict == SMOOTH:
            return (
                f"{whose} change{'' if len(self.changed) > 1 else 's'} smoothly with {self.column}:"
                " the log score of the best cut, less the price of its place, is not above that of"
                " a smooth change, so there is no cut"
            )
        if self.smooth > self.required or self.evidence > 0.0:
            return (
                f"these rows do not tell whether {self.column} cuts {whose} in two or changes it"
                f" smoothly: the log score of the best cut is {self.evidence:.1f} nats above that"
                f" of a smooth change, {self.required:.1f} are required"
            )
        return f"no mechanism was found to change with {self.column}"

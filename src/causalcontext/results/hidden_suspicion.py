"""Which links of a score-based result may stand for a hidden common cause: what was found, and what was not asked."""

from __future__ import annotations

from dataclasses import dataclass

SUSPECTED, NOT_SEEN, NOT_ASKED = "suspected", "not seen", "not asked"
"""The words for a link in `edges()`."""


@dataclass(frozen=True)
class HiddenSuspicion:
    """Pairs of variables by name, each sorted."""

    # links that another model with a hidden common cause does not need, or needs the other way round
    suspected: tuple[tuple[str, str], ...] = ()
    asked: tuple[tuple[str, str], ...] = ()  # links about which the table could be asked, these among them
    why_not: str = ""  # why nothing could be asked, or not of all links; "" if all were asked

    def word(self, x: str, y: str) -> str:
        """What is known of a link."""
        pair = (min(x, y), max(x, y))
        return SUSPECTED if pair in self.suspected else NOT_SEEN if pair in self.asked else NOT_ASKED

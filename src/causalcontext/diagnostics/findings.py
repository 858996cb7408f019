"""The parts of a diagnosis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from html import escape
from typing import Any

from causalcontext.data.frames import frame_of, pd

MOST_SHOWN = 12
"""Findings that are printed; the table has all of them."""
NOTHING = "nothing to report"


class Severity(IntEnum):
    """The weight of a finding."""

    NOTE = 0
    CAUTION = 1
    WARNING = 2


@dataclass(frozen=True)
class Finding:
    """One thing to know about a result.

    Attributes
    ----------
    topic : str
        Which check found it.
    severity : Severity
    message : str
        What was found, in a sentence.
    advice : str
        What to do about it; empty where nothing needs to be done.
    evidence : mapping
        The names and numbers behind it.
    """

    topic: str
    severity: Severity
    message: str
    advice: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        advice = f"\n    {self.advice}" if self.advice else ""
        return f"{self.severity.name.lower()}, {self.topic}: {self.message}{advice}"


@dataclass(frozen=True)
class Diagnosis:
    """The findings about a result, the most severe first."""

    findings: tuple[Finding, ...]

    def about(self, topic: str) -> tuple[Finding, ...]:
        """The findings of one check."""
        return tuple(finding for finding in self.findings if finding.topic == topic)

    def to_frame(self) -> pd.DataFrame:
        """The findings as a table."""
        rows = [
            (f.topic, f.severity.name.lower(), f.message, f.advice, dict(f.evidence))
            for f in self.findings
        ]
        return frame_of(rows, columns=["topic", "severity", "message", "advice", "evidence"])

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __str__(self) -> str:
        lines = [str(finding) for finding in self.findings[:MOST_SHOWN]]
        if len(self.findings) > MOST_SHOWN:
            lines.append(
                f"... and {len(self.findings) - MOST_SHOWN} more, less severe; see to_frame()"
            )
        return "\n".join(lines) or NOTHING

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(f.severity.name.lower())}</td><td>{escape(f.topic)}</td>"
            f"<td style='text-align:left'>{escape(f.message)}"
            + (f"<br><small>{escape(f.advice)}</small></td></tr>" if f.advice else "</td></tr>")
            for f in self.findings
        )
        head = (
            "<thead><tr><th>severity</th><th>topic</th><th"
            " style='text-align:left'>finding</th></tr></thead>"
        )
        return f"<table>{head}<tbody>{rows}</tbody></table>" if rows else f"<p>{NOTHING}</p>"

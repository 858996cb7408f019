"""The parts of a diagnosis."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from html import escape
from typing import Any

import numpy as np

from causalcontext.data.frames import frame_of, pd
from causalcontext.diagnostics.settings import MOST_FINDINGS_SHOWN

NOTHING = "nothing to report"


class Severity(IntEnum):
    """The weight of a finding: a note is to be known, a caution limits a claim, a warning endangers
    the result.
    """

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
    """The findings about a result, the most severe first.

    It is a sequence of findings; printed, it has the first `MOST_FINDINGS_SHOWN` of them, and in a
    notebook all as a table.
    """

    findings: tuple[Finding, ...]

    def about(self, topic: str) -> tuple[Finding, ...]:
        """The findings of one check."""
        return tuple(finding for finding in self.findings if finding.topic == topic)

    def to_list(self) -> list[dict[str, Any]]:
        """The findings as plain values, as a file has them; severities are numbers there."""
        return [
            {
                "topic": finding.topic,
                "severity": int(finding.severity),
                "message": finding.message,
                "advice": finding.advice,
                "evidence": {key: _plain(value) for key, value in finding.evidence.items()},
            }
            for finding in self.findings
        ]

    @classmethod
    def from_list(cls, content: list[dict[str, Any]]) -> Diagnosis:
        """The findings of `to_list`, with tuples in place of the lists of a file."""
        findings = []
        for entry in content:
            evidence = {key: _with_tuples(value) for key, value in entry["evidence"].items()}
            severity = Severity(entry["severity"])
            findings.append(
                Finding(entry["topic"], severity, entry["message"], entry["advice"], evidence)
            )
        return cls(tuple(findings))

    def to_frame(self) -> pd.DataFrame:
        """The findings as a table, a row each, in their order."""
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
        lines = [str(finding) for finding in self.findings[:MOST_FINDINGS_SHOWN]]
        if len(self.findings) > MOST_FINDINGS_SHOWN:
            more = len(self.findings) - MOST_FINDINGS_SHOWN
            lines.append(f"... and {more} more, less severe; see to_frame()")
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


def _plain(value: Any) -> Any:
    """A value as JSON has it: numbers of Python, lists, and nothing for what is not a number."""
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)


def _with_tuples(value: Any) -> Any:
    """A value of a file, with tuples in place of its lists."""
    if isinstance(value, list):
        return tuple(_with_tuples(entry) for entry in value)
    return value

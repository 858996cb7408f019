"""Causal discovery when mechanisms change with a context that may itself be an effect of the
system.

>>> import causalcontext as cc
>>> result = cc.discover(cc.examples.soil_moisture(2000, seed=1), context="soil")
>>> result.union.mark("precipitation", "soil")
'-->'
"""

import sys
from typing import Any

if sys.argv[:1] == ["-m"]:
    # `python -m causalcontext` imports this file before it can catch anything
    from causalcontext_command import leave_on_interrupt

    leave_on_interrupt()

from causalcontext import examples, satellites
from causalcontext import interop as export
from causalcontext.data.indicators import bins, threshold
from causalcontext.data.scan import Scan, scan
from causalcontext.data.series import cycle
from causalcontext.data.table_files import read_file
from causalcontext.diagnostics.check import check
from causalcontext.diagnostics.find_contexts import find_contexts
from causalcontext.discover import discover
from causalcontext.errors import (
    CausalContextError,
    DataError,
    FileError,
    InterruptedSearch,
    KnowledgeError,
    NotYetError,
    OptionError,
)
from causalcontext.graphs.graph import Graph, LabeledUnion
from causalcontext.interop.estimator import ContextDiscovery
from causalcontext.knowledge import Knowledge
from causalcontext.methods.fci_ac import FCIAC
from causalcontext.methods.pc_ac import PCAC
from causalcontext.methods.pc_b import PCB
from causalcontext.methods.pc_m import PCM
from causalcontext.methods.pc_p import PCP
from causalcontext.methods.score_ac import ScoreAC
from causalcontext.results.contexts import ContextGraphs, LaggedGraphs
from causalcontext.results.files import load
from causalcontext.version import __version__

__all__ = [
    "FCIAC",
    "PCAC",
    "PCB",
    "PCM",
    "PCP",
    "CausalContextError",
    "ContextDiscovery",
    "ContextGraphs",
    "DataError",
    "FileError",
    "Graph",
    "InterruptedSearch",
    "Knowledge",
    "KnowledgeError",
    "LabeledUnion",
    "LaggedGraphs",
    "NotYetError",
    "OptionError",
    "Scan",
    "ScoreAC",
    "__version__",
    "bins",
    "calibrate",
    "check",
    "cycle",
    "discover",
    "examples",
    "export",
    "find_contexts",
    "load",
    "read_file",
    "scan",
    "threshold",
]


def __getattr__(name: str) -> Any:
    """Names of the lab and the app, which are imported when they are first asked for."""
    return satellites.named(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *satellites.NAMES})

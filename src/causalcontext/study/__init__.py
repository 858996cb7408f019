"""Simulation studies: designs, runs that can be resumed, metrics, error bars, figures, and the
paper's whole study.
"""

from causalcontext.study.designs import Design, Setting, grid, paper_designs
from causalcontext.study.reports import failure_table, run_table, summary_table, time_table
from causalcontext.study.runner import run_study

__all__ = [
    "Design",
    "Setting",
    "failure_table",
    "grid",
    "paper_designs",
    "run_study",
    "run_table",
    "summary_table",
    "time_table",
]

"""Simulation studies: designs, runs that can be resumed, metrics, error bars, figures, and the
paper's whole study.
"""

from causalcontext_lab.study.designs import Design, Setting, grid, paper_designs
from causalcontext_lab.study.reports import failure_table, run_table, summary_table, time_table
from causalcontext_lab.study.runner import run_study

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

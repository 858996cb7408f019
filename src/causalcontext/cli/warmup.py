"""`causalcontext warmup`: everything is compiled for this machine, once.

Without it, the first search of each kind compiles what it needs. The sentence says where the code
is kept, or that no folder could be written: then every process compiles anew, and the command was
of no use.

The parts are those of `methods/ahead.py` (`PARTS`, by which a search compiles its own, and
`WHOLE`); two processes take one after the other.
"""

from __future__ import annotations

import time

from causalcontext.cli.terminal import show_page
from causalcontext.methods.ahead import is_warm, warm_up
from causalcontext.progress import duration


def warmup() -> None:
    """Compile everything for this machine ahead, so that no search has to."""
    done = is_warm()
    begin = time.perf_counter()
    folder = warm_up()
    kept = f"kept in {folder}" if folder is not None else "not kept, since no folder can be written"
    took = (
        "everything is compiled already"
        if done
        else f"compiled in {duration(time.perf_counter() - begin)}"
    )
    show_page(f"{took}, {kept}")

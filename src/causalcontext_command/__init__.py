"""The command `causalcontext`. It stands beside the package, since importing any part of that
imports the whole first.

Ctrl-C ends it as it ends a command that runs: with one sentence and exit code 130, from the first
moment on.
"""

from __future__ import annotations

import os
import signal
import sys


def main() -> None:
    """Import the library, run the command line, and leave with its exit code."""
    try:
        leave_on_interrupt()
        from causalcontext.cli.app import main as run

        if signal.getsignal(signal.SIGINT) is _leave:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        run()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        raise SystemExit(130) from None


def leave_on_interrupt() -> None:
    """From here on Ctrl-C ends the process: while it imports nothing can be lost.

    An exception could: numpy takes one that is raised inside its import for a bad installation.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def _leave(number: int, frame: object) -> None:
    sys.stderr.write("interrupted\n")
    sys.stderr.flush()
    os._exit(130)

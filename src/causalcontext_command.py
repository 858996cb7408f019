"""The command `causalcontext`. It stands beside the package, since importing any part of that imports the whole first.

Ctrl-C ends it as it ends a command that runs: with one sentence and exit code 130, from the first moment on.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Import the library, run the command line, and leave with its exit code."""
    try:
        from causalcontext.cli.app import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        raise SystemExit(130) from None

"""The command `causalcontext`. It stands beside the package, since importing any part of that imports the whole first.

Ctrl-C ends it as it ends a command that runs: with one sentence and exit code 130, from the first moment on.
"""

from __future__ import annotations

import os
import sys
from typing import Any


def main() -> None:
    """Import the library, run the command line, and leave with its exit code."""
    try:
        from causalcontext.cli.app import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        raise SystemExit(130) from None


def say_that_it_was_interrupted(kind: type[BaseException], error: BaseException, trace: Any) -> None:
    """What `python -m causalcontext` does about Ctrl-C while Python imports the package, before `main` is called."""
    if not issubclass(kind, KeyboardInterrupt):
        return sys.__excepthook__(kind, error, trace)
    sys.stderr.write("interrupted\n")
    sys.stderr.flush()
    os._exit(130)

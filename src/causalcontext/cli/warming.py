"""One line on stderr where kernels are compiled: the first minute on a machine."""

from __future__ import annotations

import logging

from causalcontext.cli.terminal import say
from causalcontext.methods.first_run import logger


class _Saying(logging.Handler):
    """Says every message once."""

    def __init__(self) -> None:
        super().__init__()
        self._said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage() not in self._said:
            self._said.add(record.getMessage())
            say(record.getMessage())


def say_when_compiling() -> None:
    """From now on the terminal is told when kernels are compiled."""
    if not any(isinstance(handler, _Saying) for handler in logger.handlers):
        logger.addHandler(_Saying())
        logger.setLevel(logging.INFO)
        logger.propagate = False

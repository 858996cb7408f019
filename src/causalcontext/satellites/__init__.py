"""The parts that are installed beside the core, a line for each name and each command.

The core imports nothing of the lab and of the app. What asks for one of these names gets it from
where this list says that it is.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

NAMES = {
    "app": "causalcontext_app",
    "calibrate": "causalcontext_lab.calibration.calibrate:calibrate",
    "simulate": "causalcontext_lab.simulate",
    "study": "causalcontext_lab.study",
}
"""Names of `causalcontext`, and what they stand for: a module, or a name in it."""
COMMANDS = {
    "app": "causalcontext_app.command:app_command",
    "calibrate": "causalcontext_lab.commands.calibrate:calibrate",
    "simulate": "causalcontext_lab.commands.simulate:simulate",
    "study": "causalcontext_lab.commands.study:study_app",
}
"""Commands of `causalcontext`, and the functions that run them."""


def named(name: str) -> Any:
    """The module, or the object in one, that a name of `causalcontext` stands for.

    Another name is an `AttributeError`.
    """
    if name not in NAMES:
        raise AttributeError(f"module 'causalcontext' has no attribute {name!r}")
    return at(NAMES[name])


def command(name: str) -> Any:
    """The function that runs a command, or the commands below it."""
    return at(COMMANDS[name])


def at(address: str) -> Any:
    """A module, or what has a name in it: `package.module` or `package.module:name`."""
    module, _, name = address.partition(":")
    imported = import_module(module)
    return getattr(imported, name) if name else imported

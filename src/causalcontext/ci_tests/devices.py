"""Where the widest work is done: on the processor, or on a CUDA card where there is one."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from operator import is_
from typing import Any

from causalcontext.ci_tests.composite import Composite
from causalcontext.errors import OptionError, check_choice

DEVICES = ("cpu", "cuda", "auto")


def usable_device(asked: str) -> tuple[str, str]:
    """The device that is used, and a note on why it is not the card that would have been taken.

    Raises `OptionError` if "cuda" is asked for and there is no card that can be used.

    Examples
    --------
    >>> usable_device("cpu")
    ('cpu', '')
    """
    check_choice("device", asked, DEVICES)
    if asked == "cpu":
        return "cpu", ""
    from causalcontext.kernels.cuda.card import obstacle

    reason = obstacle()
    if not reason:
        return "cuda", ""
    if asked == "cuda":
        raise OptionError(f"device is 'cuda', but {reason}; device='cpu' gives the same result")
    return "cpu", f"device 'auto' is the processor here: {reason}"


def on_device(test: Any, device: str) -> Any:
    """The same test with its work on that device, if it has any to give."""
    if isinstance(test, Composite):
        members = tuple(on_device(member, device) for member in test.members)
        return test if all(map(is_, members, test.members)) else replace(test, members=members)
    if getattr(test, "device", device) == device:
        return test
    if not is_dataclass(test) or isinstance(test, type) or "device" not in {field.name for field in fields(test)}:
        return test
    return replace(test, device=device)

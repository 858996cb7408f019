"""Which pictures there are and where they can be saved; loads no plotting library."""

from __future__ import annotations

from pathlib import Path as FilePath

from causalcontext.data.files import check_writable
from causalcontext.errors import OptionError

KINDS = ("contexts", "union", "difference")
TIME_KINDS = ("time-series", "summary")
"""More for results with lags; "time-series" is "contexts"."""
ENDINGS = ("png", "svg", "pdf")


def check_picture_path(path: str | FilePath) -> None:
    """Return if a picture can be written there."""
    ending = FilePath(path).suffix.lower().removeprefix(".")
    if ending not in ENDINGS:
        raise OptionError(f"cannot save a picture as {str(path)!r}: its name must end with .png, .svg or .pdf")
    check_writable(path)

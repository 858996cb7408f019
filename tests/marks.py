"""Parameters of tests of which a few run every time and the others among the slow tests."""

from collections.abc import Iterable
from typing import Any

import pytest


def rest_slow(values: Iterable[Any], fast: int = 1) -> list[Any]:
    """All values as parameters; those after the first `fast` values are marked slow. A tuple is
    several parameters.
    """
    rows = [value if isinstance(value, tuple) else (value,) for value in values]
    return [
        pytest.param(*row, marks=() if place < fast else pytest.mark.slow)
        for place, row in enumerate(rows)
    ]

"""The compiled kernels (`src/kernels`); typed functions that call them are in `kernels/`."""

from typing import Any

def __getattr__(name: str) -> Any: ...

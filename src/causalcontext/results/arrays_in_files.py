"""Arrays as text in a JSON file, and back."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from causalcontext.kernels.arrays import Values


def encoded(array: Values) -> dict[str, Any]:
    """An array of numbers of 64 bits as base64."""
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    text = base64.b64encode(little.tobytes()).decode("ascii")
    return {"type": little.dtype.str, "shape": list(array.shape), "base64": text}


def decoded(stored: dict[str, Any]) -> Values:
    """The array of `encoded`."""
    if stored["type"] not in ("<f8", "<i8"):
        raise ValueError(f"unexpected number type {stored['type']!r}")
    flat = np.frombuffer(base64.b64decode(stored["base64"], validate=True), dtype=stored["type"])
    return flat.reshape(stored["shape"]).astype(stored["type"][1:])

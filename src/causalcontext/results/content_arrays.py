"""The log and the moments of a result as files have them: lists, and bytes in base64; and back."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from causalcontext.ci_tests.protocol import Label, Strength
from causalcontext.data.moments import Moments
from causalcontext.kernels.arrays import Values
from causalcontext.results.entries import Decision, Entries
from causalcontext.results.log import CITestLog
from causalcontext.results.schema import check_range
from causalcontext.views import Contexts, Reason

_INTEGER_COLUMNS = {"decision": np.int8, "n": np.int64, "view": np.int64, "reason": np.int8, "untested": np.int64,
                    "cut": np.int64, "label": np.int8, "given": np.int16}  # fmt: skip
_FLOAT_COLUMNS = ("p", "statistic", "df")


def log_to_dict(log: CITestLog) -> dict[str, Any]:
    """Columns of lists, one list per context; null stands for not a number, "inf" for an infinite statistic."""
    columns: dict[str, Any] = {name: getattr(log, name).tolist() for name in _INTEGER_COLUMNS if name != "given"}
    for name in _FLOAT_COLUMNS:
        columns[name] = [[_number(value) for value in row] for row in getattr(log, name).tolist()]
    columns["given"] = [[[z for z in chosen if z >= 0] for chosen in row] for row in log.given.tolist()]
    return columns | {"labels": [list(label) for label in log.labels]}


def log_from_dict(columns: dict[str, Any], cells: Contexts, variables: int, sizes: tuple[int, int]) -> CITestLog:
    """The log of `log_to_dict`, if its numbers are in range; `sizes` are those of contexts and of columns."""
    contexts, most = sizes
    shape = (contexts, variables * (variables - 1) // 2)
    arrays: dict[str, Any] = {
        name: np.array(columns[name], dtype=kind).reshape(shape)
        for name, kind in _INTEGER_COLUMNS.items()
        if name != "given"
    }
    for name in _FLOAT_COLUMNS:
        arrays[name] = np.array(columns[name], dtype=np.float64).reshape(shape)
    sets = [chosen for row in columns["given"] for chosen in row]
    given = np.full((len(sets), max((len(chosen) for chosen in sets), default=0)), -1, dtype=np.int16)
    for place, chosen in enumerate(sets):
        given[place, : len(chosen)] = chosen
    labels = tuple(Label(name, Strength(strength)) for name, strength in columns["labels"])
    highest = {"decision": max(Decision), "n": np.inf, "view": len(cells.views) - 1, "reason": max(Reason),
               "untested": np.inf, "cut": np.inf, "label": max(len(labels) - 1, 0)}  # fmt: skip
    for name, high in highest.items():
        check_range(arrays[name], -1 if name == "view" else 0, high, f"log.{name}")
    check_range(given, -1, most - 1, "log.given")
    return CITestLog(Entries(**arrays, given=given.reshape(*shape, given.shape[1])), variables, labels)


def moments_to_dict(moments: Moments | None) -> dict[str, Any] | None:
    """The moments of every context, so that a loaded result can run its tests again; no rows are kept."""
    if moments is None:
        return None
    return {name: _encoded(getattr(moments, name)) for name in ("rows", "mean", "scatter")}


def moments_from_dict(moments: dict[str, Any] | None, contexts: int, variables: int) -> Moments | None:
    """The moments of `moments_to_dict`, if they are of so many contexts and variables."""
    if moments is None:
        return None
    found = Moments(*(_decoded(moments[name]) for name in ("rows", "mean", "scatter")))
    for array, shape in ((found.rows, ()), (found.mean, (variables,)), (found.scatter, (variables, variables))):
        if array.shape != (contexts, *shape) or not np.isfinite(array).all():
            raise ValueError("moments have another shape, or numbers that are not finite")
    return found


def _encoded(array: Values) -> dict[str, Any]:
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    text = base64.b64encode(little.tobytes()).decode("ascii")
    return {"type": little.dtype.str, "shape": list(array.shape), "base64": text}


def _decoded(stored: dict[str, Any]) -> Values:
    if stored["type"] not in ("<f8", "<i8"):
        raise ValueError(f"unexpected number type {stored['type']!r}")
    flat = np.frombuffer(base64.b64decode(stored["base64"], validate=True), dtype=stored["type"])
    return flat.reshape(stored["shape"]).astype(stored["type"][1:])


def _number(value: float) -> float | str | None:
    if np.isfinite(value):
        return value
    return None if np.isnan(value) else str(value)

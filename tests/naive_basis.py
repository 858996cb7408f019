"""The twin of `basis`, slow and plain: every column from rows, every regression by least
squares.
"""

import numpy as np
from scipy import stats


def columns(values: np.ndarray) -> np.ndarray:
    """A number and its curves, shape (rows, columns), each by least squares without the ones
    before.
    """
    x = (values - values.mean()) / values.std()
    hinges, steps = (
        np.quantile(x, (0.4, 0.6, 0.2, 0.8, 0.1, 0.9, 0.03, 0.97)),
        np.quantile(x, (0.2, 0.35, 0.5, 0.65, 0.8)),
    )
    offered = [
        x,
        x**2,
        *(np.where(x > k, x - k, 0.0) ** 2 for k in hinges),
        *((x > k) * 1.0 for k in steps),
    ]
    kept = np.ones((len(x), 1))
    for column in offered:
        rest = residual(column, kept)
        if np.mean(rest**2) > 1e-6 * column.var():
            kept = np.column_stack([kept, rest / rest.std()])
    return kept[:, 1:]


def residual(y: np.ndarray, design: np.ndarray) -> np.ndarray:
    return y - design @ np.linalg.lstsq(design, y, rcond=None)[0]


def chosen(y: np.ndarray, design: np.ndarray, curves: np.ndarray) -> list[int]:
    """The curves that forward selection takes for y."""
    n, taken = len(y), []
    while len(taken) < n // 10:
        here = np.column_stack([design, curves[:, taken]])
        now = np.sum(residual(y, here) ** 2)
        gains = [
            (
                -np.inf
                if j in taken or np.mean(residual(curves[:, j], here) ** 2) < 1e-6
                else n
                / 2
                * np.log(now / np.sum(residual(y, np.column_stack([here, curves[:, j]])) ** 2))
            )
            for j in range(curves.shape[1])
        ]
        if max(gains) <= 2.0:
            break
        taken.append(int(np.argmax(gains)))
    return taken


def f_test(y: np.ndarray, small: np.ndarray, more: np.ndarray) -> float:
    """The p-value of further columns."""
    large = np.column_stack([small, more])
    before, after = (np.sum(residual(y, design) ** 2) for design in (small, large))
    df, left = more.shape[1], len(y) - np.linalg.matrix_rank(large)
    return float(stats.f.sf((before - after) / df / (after / left), df, left))


def basis_test(x: np.ndarray, y: np.ndarray, given: list[np.ndarray]) -> float:
    """The p-value; columns of `given` must not depend on each other."""
    given = [z for z in given if z.min() < z.max()]
    design = np.column_stack([np.ones(len(x)), *given])
    offers = [columns(z)[:, 1:] for z in given]
    curves = np.column_stack(offers) if offers else np.empty((len(x), 0))
    if curves.shape[1]:
        both = sorted({*chosen(x, design, curves), *chosen(y, design, curves)})
        design = np.column_stack([design, curves[:, both]])
    parts = [(4.0, f_test(y, design, x[:, None]))]
    for one, other in ((x, y), (y, x)):
        bends = columns(one)[:, 1:4]
        if bends.shape[1]:
            parts.append((1.0, f_test(other, np.column_stack([design, one]), bends)))
    least = min(p / weight for weight, p in parts)
    return 1.0 - float(np.prod([1.0 - min(1.0, weight * least) for weight, _ in parts]))

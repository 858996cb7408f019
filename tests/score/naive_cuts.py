"""The profile over cuts, slowly: columns are made and refitted by least squares at every cut."""

import numpy as np


def residual_sum(columns: list[np.ndarray], y: np.ndarray) -> float:
    design = np.column_stack([np.ones_like(y), *columns])
    return float(np.sum((y - design @ np.linalg.lstsq(design, y, rcond=None)[0]) ** 2))


def score(columns: list[np.ndarray], y: np.ndarray) -> float:
    return -0.5 * len(y) * np.log(residual_sum(columns, y)) - np.log(len(y)) * len(columns)


def best_columns(offered: list[np.ndarray], y: np.ndarray) -> float:
    """The score after adding or dropping one column at a time while that pays."""
    chosen: list[int] = []
    while True:
        moves = [
            [*chosen, j]
            for j in range(len(offered))
            if j not in chosen and _is_new(offered, chosen, j)
        ]
        moves += [[k for k in chosen if k != j] for j in chosen]
        scores = [score([offered[j] for j in move], y) for move in moves]
        if not moves or max(scores) <= score([offered[j] for j in chosen], y) + 1e-7:
            return score([offered[j] for j in chosen], y)
        chosen = moves[int(np.argmax(scores))]


def _is_new(offered: list[np.ndarray], chosen: list[int], j: int) -> bool:
    own = offered[j] - offered[j].mean()
    return residual_sum([offered[k] for k in chosen], offered[j]) > 1e-6 * float(own @ own)


def score_with_cut(
    fixed: np.ndarray, above: np.ndarray, x: np.ndarray, y: np.ndarray, cut: float
) -> float:
    return best_columns([*fixed, *(above * (x > cut))], y)


def likelihood_with_cut(
    fixed: np.ndarray, above: np.ndarray, x: np.ndarray, y: np.ndarray, cut: float
) -> float:
    return -0.5 * len(y) * np.log(residual_sum([*fixed, *(above * (x > cut))], y))

"""Flagged cells row by row, with covariances of what is left of each row: no inverse is updated."""

from math import comb, log

import numpy as np
import scipy


def distance(row, mean, covariance, left):
    left = list(left)
    if not left:
        return 0.0
    away = row[left] - mean[left]
    return float(away @ np.linalg.solve(covariance[np.ix_(left, left)], away))


def wrong_cells_of_row(row, mean, covariance):
    """The cells that go, one after the other."""
    q, left = len(row), list(range(len(row)))
    if distance(row, mean, covariance, left) <= scipy.stats.chi2.isf(0.001, q):
        return []
    while (
        distance(row, mean, covariance, left) > scipy.stats.chi2.isf(0.01, len(left))
        and q - len(left) <= q // 2
    ):
        rests = {
            cell: distance(row, mean, covariance, [j for j in left if j != cell]) for cell in left
        }
        cell = min(rests, key=rests.get)
        if distance(row, mean, covariance, left) - rests[cell] <= scipy.stats.chi2.isf(0.001, 1):
            break
        left.remove(cell)
    gone = [j for j in range(q) if j not in left]
    far = len(gone) > 0 and distance(row, mean, covariance, left) > scipy.stats.chi2.isf(
        0.001, len(left)
    )
    return list(range(q)) if far or len(gone) > q / 2 else gone


def completed(row, mean, covariance, gone):
    """The row with conditional means, and the covariance that these lack."""
    left, full = [j for j in range(len(row)) if j not in gone], row.copy()
    lacking = np.zeros_like(covariance)
    across, inside = covariance[np.ix_(gone, left)], covariance[np.ix_(left, left)]
    slopes = np.linalg.solve(inside, across.T).T if left else np.zeros((len(gone), 0))
    full[gone] = mean[gone] + slopes @ (row[left] - mean[left])
    lacking[np.ix_(gone, gone)] = covariance[np.ix_(gone, gone)] - slopes @ across.T
    return full, lacking


def flag(values, passes=3):
    """Flags of rows of one context, and all values with what is expected in place of flagged
    ones.
    """
    centre = np.median(values, axis=0)
    spread = scipy.stats.median_abs_deviation(values, axis=0, scale="normal")
    z, q = (values - centre) / spread, values.shape[1]
    scores = scipy.stats.norm.ppf((scipy.stats.rankdata(z, axis=0) - 0.5) / len(z))
    mean, covariance = np.zeros(q), np.corrcoef(scores, rowvar=False) + 1e-6 * np.eye(q)
    for step in range(passes):
        gone = [wrong_cells_of_row(row, mean, covariance) for row in z]
        rows = [completed(row, mean, covariance, cells) for row, cells in zip(z, gone, strict=True)]
        full = np.array([row for row, _ in rows])
        if step < passes - 1 and any(gone):
            mean = full.mean(axis=0)
            covariance = np.cov(full, rowvar=False, bias=True) + sum(
                lacking for _, lacking in rows
            ) / len(z)
            covariance += 1e-6 * np.eye(q)
    wrong = np.zeros(values.shape, dtype=bool)
    for i, cells in enumerate(gone):
        wrong[i, cells] = True
    return wrong, np.where(wrong, centre + spread * full, values)


def dependence(away, wrong):
    """The largest mean normal score of one column, or of its sizes, where another one has single
    flags.
    """
    largest = 0.0
    for j in range(away.shape[1]):
        for k in set(range(away.shape[1])) - {j}:
            here = [
                i
                for i in range(len(away))
                if wrong[i, j] and not wrong[i].all() and not wrong[i, k]
            ]
            for column in (away[:, k], np.abs(away[:, k])) if len(here) >= 5 else ():
                scores = scipy.stats.norm.ppf((scipy.stats.rankdata(column) - 0.5) / len(column))
                largest = max(largest, abs(scores[here].mean()) * np.sqrt(len(here)))
    return largest


def names(wrong):
    """The logarithms of the numbers of choices of rows and of single cells, and of how many there
    may be.
    """
    n, q = wrong.shape
    rows = sum(row.all() for row in wrong)
    single = sum(int(row.sum()) for row in wrong if not row.all())
    return log(comb(n, rows)) + log(comb(n * q, single)) + log(n) + log(n * q)


def wide(away, wrong):
    """The better density of every column."""
    total = 0.0
    for z, flagged in zip(away.T, wrong.T, strict=True):
        if flagged.any():
            own = np.sqrt(np.mean(z[flagged] ** 2))
            normal = scipy.stats.norm.logpdf(z[flagged], scale=own).sum() - log(len(z)) / 2
            total += max(scipy.stats.t.logpdf(z[flagged], 2, scale=2.0).sum(), normal)
    return total

"""The tables that the benchmarks run on: sparse linear Gaussian systems, without and with a context,
and sparse systems of categories.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from causalcontext_lab.simulate import random_model

DEGREE = 3
"""Average number of neighbours of a variable."""


def plain_table(variables: int, rows: int, seed: int) -> pd.DataFrame:
    """A table of a random sparse linear Gaussian system: `DEGREE` neighbours on average,
    coefficients from U(.1, 1).

    The design of Kalisch and Bühlmann (2007), with a fixed number of links along a random order.
    """
    generator = np.random.default_rng(seed)
    earlier, later = np.triu_indices(variables, k=1)
    chosen = generator.choice(earlier.size, size=DEGREE * variables // 2, replace=False)
    effects = np.zeros((variables, variables))
    effects[earlier[chosen], later[chosen]] = generator.uniform(0.1, 1.0, size=chosen.size)
    values = generator.standard_normal((variables, rows))
    for node in range(variables):
        values[node] += effects[:, node] @ values
    place = generator.permutation(variables)
    return pd.DataFrame({f"X{column}": values[node] for column, node in enumerate(place)})


def category_table(variables: int, rows: int, seed: int) -> pd.DataFrame:
    """A table of a random sparse system of categories: `DEGREE` neighbours on average, two to four
    levels a column.

    A fixed number of links along a random order; the distribution of a column for every combination
    of its causes' levels is drawn from Dirichlet(1).
    """
    generator = np.random.default_rng(seed)
    earlier, later = np.triu_indices(variables, k=1)
    chosen = generator.choice(earlier.size, size=DEGREE * variables // 2, replace=False)
    levels = generator.integers(2, 5, size=variables)
    values = np.zeros((variables, rows), dtype=np.int64)
    for node in range(variables):
        combination = np.zeros(rows, dtype=np.int64)
        combinations = 1
        for cause in earlier[chosen[later[chosen] == node]]:
            combination = combination * levels[cause] + values[cause]
            combinations *= int(levels[cause])
        shares = generator.dirichlet(np.ones(levels[node]), size=combinations)
        steps = np.cumsum(shares, axis=1)[combination, :-1]
        values[node] = (generator.random(rows)[:, None] > steps).sum(axis=1)
    place = generator.permutation(variables)
    return pd.DataFrame(
        {f"X{column}": pd.Categorical(values[node]) for column, node in enumerate(place)}
    )


def context_table(variables: int, rows: int, seed: int, changes: int) -> pd.DataFrame:
    """A table with the context column "R" and `variables` columns in all, `DEGREE` neighbours on
    average.

    In each of the two contexts `changes` links of the base graph are missing, so R has up to twice
    as many children.
    """
    model = random_model(
        nodes=variables, density=DEGREE / (variables - 1), changes=changes, seed=seed
    )
    return model.sample(rows, np.random.default_rng([seed, rows]))


def wide_table(variables: int, rows: int, seed: int) -> pd.DataFrame:
    """A table of many columns with the context column "R" last: `DEGREE` neighbours on average, two
    contexts.

    Coefficients are from ±U(.3, .8), every column has variance 1, one link in twenty is missing
    where R = 0, and R shifts about three columns. Made link by link, without a matrix of all pairs.
    """
    generator = np.random.default_rng(seed)
    context = generator.integers(0, 2, rows)
    values = np.empty((variables - 1, rows))
    for node in range(variables - 1):
        values[node] = generator.standard_normal(rows)
        count = generator.binomial(node, DEGREE / variables)
        causes = generator.choice(node, size=count, replace=False) if count else ()
        for cause in causes:
            link = generator.uniform(0.3, 0.8) * generator.choice([-1, 1]) * values[cause]
            values[node] += link * context if generator.random() < 0.05 else link
        values[node] += context if generator.random() < 3 / variables else 0.0
        values[node] /= values[node].std()
    return pd.DataFrame(values.T, columns=[f"X{node}" for node in range(variables - 1)]).assign(
        R=context
    )


def paper_table(rows: int, seed: int) -> pd.DataFrame:
    """A table of the paper's main setting: 8 nodes, density .4, two contexts, one removed link in
    each.
    """
    return random_model(seed=seed).sample(rows, np.random.default_rng([seed, rows]))

"""Tables that several tests of rows in time share."""

import numpy as np
import pandas as pd


def daily_table() -> pd.DataFrame:
    """Three columns that follow the hour of the day and nothing else, and a coin for a context."""
    hours = pd.date_range("2020-01-01", periods=900, freq="h")
    daily = np.sin(2 * np.pi * np.arange(900) / 24 + 1.0)
    random = np.random.default_rng(0)
    columns = {name: 2.0 * daily + random.normal(size=900) for name in "XYZ"}
    return pd.DataFrame({**columns, "R": random.integers(2, size=900), "hour": hours})

"""A table without rows, which prints why it has none."""

from __future__ import annotations

from html import escape

import pandas as pd


class NoRows(pd.DataFrame):
    """A `DataFrame` without rows. Its text is the reason in `attrs`, and the names of its columns.

    What is computed from it is a plain `DataFrame` again.
    """

    @property
    def _constructor(self) -> type[pd.DataFrame]:
        return pd.DataFrame

    def __repr__(self) -> str:
        names = ", ".join(map(str, self.columns))
        return f"no rows: {self.attrs.get('reason', 'nothing was found')}\ncolumns: {names}"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"

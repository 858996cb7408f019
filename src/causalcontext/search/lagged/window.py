"""Which variable at which time a column is.

The nodes of a window graph come first, from the longest lag to the present, then covariates, which have no lags; then
the past beyond the window, as far as causes of causes may lie. It is conditioned on, and never a node.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Window:
    """The numbers of the columns.

    Attributes
    ----------
    variables : int
        How many, the context included.
    lags : int
        The longest lag of a cause.
    covariates : int
    context : int or None
        Which of the variables is the context.
    beyond : int or None
        How many more lags may be conditioned on; as many again by default.

    Examples
    --------
    >>> window = Window(variables=3, lags=1, covariates=1, context=2)
    >>> window.at(0, 1), window.at(0, 0), window.at(0, 2), window.nodes, window.columns
    (0, 3, 7, 7, 10)
    >>> window.shifted(3, 1), window.shifted(0, 1), window.shifted(6, 1)
    (0, 7, 6)
    """

    variables: int
    lags: int
    covariates: int = 0
    context: int | None = None
    beyond: int | None = None

    @property
    def nodes(self) -> int:
        """The columns that are nodes of a window graph."""
        return self.variables * (self.lags + 1) + self.covariates

    @property
    def depth(self) -> int:
        """The longest lag of a column."""
        return self.lags + (self.lags if self.beyond is None else self.beyond)

    @property
    def columns(self) -> int:
        """All columns."""
        return self.nodes + self.variables * (self.depth - self.lags)

    @property
    def now(self) -> tuple[int, ...]:
        """The columns at time t, covariates not among them."""
        return tuple(self.at(variable, 0) for variable in range(self.variables))

    @property
    def extra(self) -> tuple[int, ...]:
        """The covariates."""
        return tuple(range(self.nodes - self.covariates, self.nodes))

    def at(self, variable: int, lag: int) -> int:
        """The column of a variable so many steps ago."""
        if lag <= self.lags:
            return (self.lags - lag) * self.variables + variable
        return self.nodes + (lag - self.lags - 1) * self.variables + variable

    def place(self, column: int) -> tuple[int, int] | None:
        """The variable and the lag of a column; None for a covariate."""
        if column >= self.nodes:
            lag, variable = divmod(column - self.nodes, self.variables)
            return variable, lag + self.lags + 1
        if column >= self.nodes - self.covariates:
            return None
        lag, variable = divmod(column, self.variables)
        return variable, self.lags - lag

    def lag(self, column: int) -> int:
        """How many steps ago a column is; a covariate, which has no time of its own, 0."""
        place = self.place(column)
        return 0 if place is None else place[1]

    def is_now(self, column: int) -> bool:
        """Whether a column is a variable at time t."""
        place = self.place(column)
        return place is not None and place[1] == 0

    def is_context(self, column: int) -> bool:
        """Whether a column is a copy of the context."""
        place = self.place(column)
        return place is not None and place[0] == self.context

    def shifted(self, column: int, steps: int) -> int | None:
        """The same variable so many steps earlier, None beyond all columns; a covariate stays where it is."""
        place = self.place(column)
        if place is None:
            return column
        return None if place[1] + steps > self.depth else self.at(place[0], place[1] + steps)

"""Partial correlation by Student's t, the default for two numbers, or by Fisher's z; LR* for the context.

Moments instead of rows: all columns are continuous, contexts as they come. At the context the default is
`robust-change`. Fisher's z is offered to compare with other libraries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from causalcontext.ci_tests.gaussian import FISHER_LABEL, OTHER_LABELS, STUDENT_LABEL, PreparedGaussian
from causalcontext.ci_tests.protocol import Label, Needs
from causalcontext.data.dataset import Dataset
from causalcontext.data.kinds import Kind
from causalcontext.data.sufficient_statistics import SufficientStatistics
from causalcontext.kernels.levels.gaussian import FISHER, STUDENT
from causalcontext.views import CIQuery


@dataclass(frozen=True)
class LinearGaussian:
    """Partial correlation for two system variables, LR* for a context against one of them, Wilks for two contexts.

    Parameters
    ----------
    name : str
    kind : int
        `STUDENT` or `FISHER`: how the p-value of a partial correlation is computed.
    at_context : bool
        Whether a context against another variable is answered too.
    """

    name: str
    kind: int
    at_context: bool = True
    needs: ClassVar[Needs] = Needs.MOMENTS

    @property
    def labels(self) -> tuple[Label, ...]:
        """What the log calls the tests that it is made of."""
        return (FISHER_LABEL if self.kind == FISHER else STUDENT_LABEL, *OTHER_LABELS)

    def answers(self, data: Dataset, query: CIQuery) -> bool:
        """Whether all columns of a query are continuous, but for contexts; these may be ends if `at_context`."""
        contexts = data.contexts.positions
        if not self.at_context and (query.x in contexts or query.y in contexts):
            return False
        columns = (query.x, query.y, *query.given)
        return all(column in contexts or data.kinds[column] is Kind.CONTINUOUS for column in columns)

    def prepare(self, data: Dataset, statistics: SufficientStatistics) -> PreparedGaussian:
        """The test for this table."""
        return PreparedGaussian(statistics.of_columns(data), data.contexts, self.kind)


@dataclass(frozen=True)
class PartialCorrelation(LinearGaussian):
    """t-test of the partial correlation with n - rank - 2 degrees of freedom."""

    name: str = "partial-correlation"
    kind: int = STUDENT


@dataclass(frozen=True)
class FisherZ(LinearGaussian):
    """z-test of the partial correlation: atanh(r) sqrt(n - rank - 3) against the normal law."""

    name: str = "fisher-z"
    kind: int = FISHER

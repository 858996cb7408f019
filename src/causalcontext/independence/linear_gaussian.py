"""What the linear-Gaussian tests share: all columns continuous, the context as it comes, moments instead of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from causalcontext.independence.gaussian import OTHER_LABELS, PreparedGaussian, answers_gaussian, prepare_gaussian

if TYPE_CHECKING:
    from causalcontext.data.dataset import Dataset
    from causalcontext.data.survey import Survey
    from causalcontext.questions import Trial


@dataclass(frozen=True)
class LinearGaussian:
    """Partial correlation for two system variables, LR* for the context against one of them.

    Parameters
    ----------
    name : str
    kind : int
        `STUDENT` or `FISHER`: how the p-value of a partial correlation is computed.
    at_context : bool
        Whether the context against a system variable is answered too.
    """

    name: str
    kind: int
    at_context: bool = True

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the tests that it is made of."""
        return (self.name, *OTHER_LABELS)

    def answers(self, data: Dataset, trial: Trial) -> bool:
        """Whether all columns of a trial are continuous, but for the context."""
        return answers_gaussian(data, trial, self.at_context)

    def prepare(self, data: Dataset, survey: Survey) -> PreparedGaussian:
        """The test for this table."""
        return prepare_gaussian(data, survey, self.kind)

"""The tests by name. A new test is one file and one line here."""

from __future__ import annotations

from causalcontext.errors import OptionError, check_choice
from causalcontext.independence.conditional_gaussian import ConditionalGaussian
from causalcontext.independence.fisher_z import FisherZ
from causalcontext.independence.g_squared import GSquared
from causalcontext.independence.gaussian_ranks import GaussianRanks
from causalcontext.independence.partial_correlation import PartialCorrelation
from causalcontext.independence.protocol import IndependenceTest
from causalcontext.independence.regression_legacy import RegressionLegacy
from causalcontext.independence.sandwich import Sandwich
from causalcontext.independence.tsagris import Tsagris

TESTS: dict[str, IndependenceTest] = {
    "partial-correlation": PartialCorrelation(),
    "fisher-z": FisherZ(),
    "sandwich": Sandwich(),
    "gaussian-ranks": GaussianRanks(),
    "conditional-gaussian": ConditionalGaussian(),
    "tsagris": Tsagris(),
    "g-squared": GSquared(),
    "regression-legacy": RegressionLegacy(),
}
DEFAULT = "partial-correlation"


def find_test(test: str | IndependenceTest) -> IndependenceTest:
    """The test of that name; an object that follows the protocol is returned as it is.

    Examples
    --------
    >>> find_test("auto").name
    'partial-correlation'
    """
    if isinstance(test, str):
        check_choice("test", test, ("auto", *TESTS))
        return TESTS[DEFAULT if test == "auto" else test]
    if isinstance(test, type) or not isinstance(test, IndependenceTest):
        raise OptionError(f"test is {test!r}, expected a name ({', '.join(TESTS)}) or an object with a name and a "
                          "method prepare(data, stock)")  # fmt: skip
    return test

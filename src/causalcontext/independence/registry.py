"""The tests by name. A new test is one file and one line here."""

from __future__ import annotations

from causalcontext.errors import OptionError, check_choice
from causalcontext.independence.cmi_knn import CmiKnn
from causalcontext.independence.energy import EnergyDistance
from causalcontext.independence.fisher_z import FisherZ
from causalcontext.independence.partial_correlation import PartialCorrelation
from causalcontext.independence.protocol import IndependenceTest
from causalcontext.independence.rcot import Rcot
from causalcontext.independence.regression_legacy import RegressionLegacy

TESTS: dict[str, IndependenceTest] = {
    "partial-correlation": PartialCorrelation(),
    "fisher-z": FisherZ(),
    "regression-legacy": RegressionLegacy(),
    "cmi-knn": CmiKnn(),
    "rcot": Rcot(),
    "energy": EnergyDistance(),
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

import pytest

import causalcontext as cc
from causalcontext.errors import check_choice, did_you_mean


def test_suggestions_do_not_mind_case():
    assert did_you_mean("runof", ["Runoff", "Rain"]) == "; did you mean 'Runoff'?"
    assert did_you_mean("r", ["R", "X"]) == "; did you mean 'R'?"
    assert did_you_mean("zzz", ["R", "X"]) == ""


def test_choices():
    check_choice("method", "a", ["a", "b"])
    with pytest.raises(cc.OptionError, match="method is 'c', expected one of 'a', 'b'"):
        check_choice("method", "c", ["a", "b"])


def test_every_error_is_of_one_family():
    for name in ("DataError", "NotYetError", "KnowledgeError", "OptionError", "FileError"):
        kind = getattr(cc, name)
        assert issubclass(kind, cc.CausalContextError)
        assert issubclass(kind, ValueError)

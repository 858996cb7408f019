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


def test_messages_quote_at_most_eighty_characters():
    for quote in ("'", '"'):
        name = "x" * 500 + ("'" if quote == '"' else "")
        shown = str(
            cc.DataError(f"the table's column {name!r} isn't the context's; did you mean {'R'!r}?")
        )
        assert (
            shown
            == f"the table's column {quote}{'x' * 79}…{quote} isn't the context's; did you mean"
            " 'R'?"
        )
    kept = f"the table's rows are {'many, ' * 30}so that it's the reader's turn; {'y' * 80!r}"
    assert str(cc.DataError(kept)) == kept
    with pytest.raises(cc.DataError) as raised:
        cc.discover(cc.examples.soil_moisture(50, seed=1), "z" * 5000)
    assert len(str(raised.value)) < 200

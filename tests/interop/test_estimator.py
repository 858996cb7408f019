"""The estimator is `discover` with other manners."""

import pytest

import causalcontext as cc

TABLE = cc.examples.soil_moisture(600, seed=1)


def test_fit_is_discover():
    model = cc.PCAC("soil", alpha=0.01)
    assert model.fit(TABLE) is model
    assert model.result_ == cc.discover(TABLE, "soil", method="pc-ac", alpha=0.01)
    assert cc.PCAC("soil").get_params()["method"] == "pc-ac"
    assert model.contexts_ == ("dry", "wet")
    assert model.n_features_in_ == 7
    assert list(model.feature_names_in_) == list(TABLE.columns)


def test_parameters():
    model = cc.PCAC("soil", alpha=0.01)
    assert repr(model) == "PCAC(context='soil', alpha=0.01)"
    assert model.set_params(alpha=0.2).get_params()["alpha"] == 0.2
    with pytest.raises(cc.OptionError, match=r"no parameter 'aplha'; did you mean 'alpha'\?"):
        model.set_params(aplha=0.1)


def test_scikit_learn_clones_it():
    base = pytest.importorskip("sklearn.base", reason="scikit-learn is not installed")
    model = cc.PCAC("soil", alpha=0.01, knowledge=None).fit(TABLE)
    clone = base.clone(model)
    assert clone.get_params() == model.get_params()
    assert not hasattr(clone, "result_")

"""The estimator is `discover` with other manners."""

import copy
import pickle

import pytest

import causalcontext as cc

TABLE = cc.examples.soil_moisture(600, seed=1)


def test_fit_is_discover():
    model = cc.ContextDiscovery("soil", method=cc.PCAC(alpha=0.01))
    assert model.fit(TABLE) is model
    assert model.result_ == cc.discover(TABLE, "soil", method="pc-ac", alpha=0.01)
    assert cc.ContextDiscovery("soil").get_params()["method"] == "auto"
    assert model.contexts_ == ("dry", "wet")
    assert model.n_features_in_ == 7
    assert list(model.feature_names_in_) == list(TABLE.columns)


def test_parameters():
    model = cc.ContextDiscovery("soil", method=cc.PCAC(alpha=0.01))
    assert repr(model) == "ContextDiscovery(context='soil', method=cc.PCAC(alpha=0.01))"
    assert model.set_params(method__alpha=0.2).get_params()["method__alpha"] == 0.2
    assert model.method == cc.PCAC(alpha=0.2)
    with pytest.raises(cc.OptionError, match=r"no parameter 'contxt'; did you mean 'context'\?"):
        model.set_params(contxt="R")
    with pytest.raises(cc.OptionError, match="it belongs to the method, as method__alpha"):
        model.set_params(alpha=0.1)
    with pytest.raises(cc.OptionError, match=r"has no option 'aplha'; did you mean 'alpha'\?"):
        model.set_params(method__aplha=0.1)


def test_options_beside_a_name_become_its_object():
    model = cc.ContextDiscovery("soil", method="pc-ac", alpha=0.01)
    assert model.method == cc.PCAC(alpha=0.01)
    with pytest.raises(cc.OptionError, match="alpha belongs to methods that test"):
        cc.ContextDiscovery("soil", alpha=0.01)


def test_scikit_learn_clones_it():
    base = pytest.importorskip("sklearn.base", reason="scikit-learn is not installed")
    model = cc.ContextDiscovery("soil", method=cc.PCAC(alpha=0.01), knowledge=None).fit(TABLE)
    clone = base.clone(model)
    assert clone.get_params() == model.get_params()
    assert not hasattr(clone, "result_")


def test_a_fitted_one_is_pickled_and_copied():
    model = cc.ContextDiscovery("soil", method=cc.PCAC(alpha=0.01)).fit(TABLE)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert again.result_ == model.result_
        assert dict(again.graphs_) == dict(model.graphs_)
        assert again.get_params() == model.get_params()
    assert not hasattr(cc.ContextDiscovery("soil"), "graphs_")


def test_scikit_learn_looks_at_it():
    """Tags, the check for fitted ones, the picture of a pipeline, a search over its parameters."""
    validation = pytest.importorskip(
        "sklearn.utils.validation", reason="scikit-learn is not installed"
    )
    from sklearn.exceptions import NotFittedError
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import Pipeline

    model = cc.ContextDiscovery("soil", method=cc.PCAC(test="partial-correlation"))
    with pytest.raises(NotFittedError):
        validation.check_is_fitted(model)
    validation.check_is_fitted(model.fit(TABLE))
    pipeline = Pipeline([("search", model)])
    assert "ContextDiscovery" in pipeline._repr_html_()
    wanted = {"method__alpha": [0.01, 0.1]}
    found = GridSearchCV(
        model, wanted, scoring=lambda one, X, y=None: -len(one.union_.edges), cv=2
    ).fit(TABLE)
    assert found.best_params_ == {"method__alpha": 0.01}

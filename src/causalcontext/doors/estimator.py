"""`PCAC`: `discover` in the manner of scikit-learn, which need not be installed."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np

from causalcontext.discover import discover
from causalcontext.errors import OptionError, did_you_mean
from causalcontext.knowledge import Knowledge


class PCAC:
    """An estimator of one causal graph per context: parameters in, `fit(table)`, attributes with an underscore out.

    Parameters
    ----------
    context, method, test, alpha, knowledge, max_given, collider_rule, kinds, missing, n_jobs, seed
        Those of `discover`.

    Attributes
    ----------
    result_ : ContextGraphs
    graphs_ : mapping from context value to Graph
    union_ : Graph
    labeled_union_ : LabeledUnion
    contexts_ : tuple
    feature_names_in_ : array of str
    n_features_in_ : int

    Examples
    --------
    >>> import causalcontext as cc
    >>> model = cc.PCAC(context="soil", alpha=0.01).fit(cc.examples.soil_moisture(2000, seed=1))
    >>> model.graphs_["wet"].mark("precipitation", "soil")
    '-->'
    """

    def __init__(
        self,
        context: str | None = None,
        *,
        method: str = "pc-ac",
        test: Any = "auto",
        alpha: float = 0.05,
        knowledge: Knowledge | None = None,
        max_given: int | None = None,
        collider_rule: str = "majority",
        kinds: Any = None,
        missing: str = "raise",
        n_jobs: int = 1,
        seed: int = 0,
    ) -> None:
        self.context = context
        self.method = method
        self.test = test
        self.alpha = alpha
        self.knowledge = knowledge
        self.max_given = max_given
        self.collider_rule = collider_rule
        self.kinds = kinds
        self.missing = missing
        self.n_jobs = n_jobs
        self.seed = seed

    def fit(self, X: Any, y: None = None, *, names: Any = None) -> PCAC:
        """Search the table `X`, which holds the context too; `names` are the columns of an array, `y` is ignored."""
        options = self.get_params()
        context = options.pop("context")
        self.result_ = discover(X, context, names=names, **options)
        self.graphs_ = self.result_.graphs
        self.union_ = self.result_.union
        self.labeled_union_ = self.result_.labeled_union
        self.contexts_ = self.result_.contexts
        self.feature_names_in_ = np.array(self.result_.names, dtype=object)
        self.n_features_in_ = len(self.result_.names)
        return self

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; there are none deeper down."""
        return {name: getattr(self, name) for name in self._parameters()}

    def set_params(self, **parameters: Any) -> PCAC:
        """Change parameters by name."""
        known = self._parameters()
        for name, value in parameters.items():
            if name not in known:
                raise OptionError(f"PCAC has no parameter {name!r}{did_you_mean(name, known)}")
            setattr(self, name, value)
        return self

    @classmethod
    def _parameters(cls) -> list[str]:
        return [name for name in signature(cls.__init__).parameters if name != "self"]

    def __repr__(self) -> str:
        defaults = signature(type(self)).parameters
        changed = {name: value for name, value in self.get_params().items() if value is not defaults[name].default}
        return f"PCAC({', '.join(f'{name}={value!r}' for name, value in changed.items())})"

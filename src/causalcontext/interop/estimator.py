"""`PCAC`: `discover` in the manner of scikit-learn, which need not be installed."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Unpack

import numpy as np

from causalcontext.discover import discover
from causalcontext.errors import OptionError, did_you_mean
from causalcontext.options import Keywords, Options, default_of


class PCAC:
    """An estimator of one causal graph per context: parameters in, `fit(table)`, attributes with an underscore out.

    Parameters
    ----------
    context
        As for `discover`.
    **options
        All options of `discover`, by name; the method is "pc-ac" by default, whatever the columns.

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

    def __init__(self, context: Any = None, **options: Unpack[Keywords]) -> None:
        self.set_params(context=context, **(DEFAULTS | options))

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
        return {name: getattr(self, name) for name in ("context", *DEFAULTS)}

    def set_params(self, **parameters: Any) -> PCAC:
        """Change parameters by name."""
        known = ["context", *DEFAULTS]
        for name, value in parameters.items():
            if name not in known:
                raise OptionError(f"PCAC has no parameter {name!r}{did_you_mean(name, known)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        default = {"context": None} | DEFAULTS
        changed = {name: value for name, value in self.get_params().items() if value is not default[name]}
        return f"PCAC({', '.join(f'{name}={value!r}' for name, value in changed.items())})"


DEFAULTS = {entry.name: default_of(entry) for entry in fields(Options)} | {"method": "pc-ac"}

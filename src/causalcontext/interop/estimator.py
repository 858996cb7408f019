"""`PCAC`: `discover` in the manner of scikit-learn, which need not be installed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from causalcontext.discover import discover
from causalcontext.errors import OptionError, did_you_mean
from causalcontext.options import Keywords, Options, default_of

if TYPE_CHECKING:
    from causalcontext.graphs.graph import Graph, LabeledUnion
    from causalcontext.results.contexts import ContextGraphs


class PCAC:
    """An estimator of one causal graph per context: parameters in, `fit(table)`, attributes with an
    underscore out.

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

    result_: ContextGraphs

    def __init__(self, context: Any = None, **options: Unpack[Keywords]) -> None:
        self.set_params(context=context, **(DEFAULTS | options))

    def fit(self, X: Any, y: None = None, *, names: Any = None) -> PCAC:
        """Search the table `X`, which holds the context too; `names` are the columns of an array,
        `y` is ignored.
        """
        options = self.get_params()
        context = options.pop("context")
        self.result_ = discover(X, context, names=names, **options)
        return self

    # All that is known after `fit` is read off the result, which can be pickled and copied.
    @property
    def graphs_(self) -> Mapping[Any, Graph]:
        """The graph of every context."""
        return self.result_.graphs

    @property
    def union_(self) -> Graph:
        """One graph over all contexts."""
        return self.result_.union

    @property
    def labeled_union_(self) -> LabeledUnion:
        """All edges, with the contexts that have them."""
        return self.result_.labeled_union

    @property
    def contexts_(self) -> tuple[Any, ...]:
        """The values of the context."""
        return self.result_.contexts

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """The names of the columns."""
        return np.array(self.result_.names, dtype=object)

    @property
    def n_features_in_(self) -> int:
        """The number of the columns."""
        return len(self.result_.names)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "result_")

    def __sklearn_tags__(self) -> Any:
        """The tags that scikit-learn asks of estimators from version 1.6 on: missing values and
        text are taken.
        """
        from sklearn.utils import InputTags, Tags, TargetTags

        taken = InputTags(allow_nan=True, string=True, categorical=True)
        return Tags(estimator_type=None, target_tags=TargetTags(required=False), input_tags=taken)

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
        changed = {
            name: value for name, value in self.get_params().items() if value is not default[name]
        }
        return f"PCAC({', '.join(f'{name}={value!r}' for name, value in changed.items())})"


DEFAULTS = {entry.name: default_of(entry) for entry in fields(Options)} | {"method": "pc-ac"}

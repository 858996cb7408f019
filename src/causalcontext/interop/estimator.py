"""`ContextDiscovery`: `discover` in the manner of scikit-learn, which need not be installed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from causalcontext.discover import discover
from causalcontext.errors import OptionError, did_you_mean
from causalcontext.methods.method_object import MethodObject, default_of
from causalcontext.methods.registry import METHOD_OPTIONS, method_of
from causalcontext.options import Keywords, Options, options_of

if TYPE_CHECKING:
    from causalcontext.graphs.graph import Graph, LabeledUnion
    from causalcontext.results.contexts import ContextGraphs


class ContextDiscovery:
    """An estimator of one causal graph per context: parameters in, `fit(table)`, attributes with an
    underscore out.

    Parameters
    ----------
    context
        As for `discover`.
    method
        A method's name or its object, `cc.PCAC(alpha=0.01)`, "auto" by default.
    **options
        The other options of `discover`, by name. Those of a method beside its name,
        `method="pc-ac", alpha=0.01`, become the object `method=cc.PCAC(alpha=0.01)`; as parameters
        they are called `method__alpha`, as scikit-learn does with nested objects.

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
    >>> table = cc.examples.soil_moisture(2000, seed=1)
    >>> model = cc.ContextDiscovery(context="soil", method=cc.PCAC(alpha=0.01)).fit(table)
    >>> model.graphs_["wet"].mark("precipitation", "soil")
    '-->'
    """

    result_: ContextGraphs
    method: Any

    def __init__(self, context: Any = None, **options: Unpack[Keywords]) -> None:
        given: dict[str, Any] = dict(options)
        if any(name in METHOD_OPTIONS for name in given):
            of_method = {
                name: value
                for name, value in given.items()
                if name == "method" or name in METHOD_OPTIONS
            }
            given = {name: value for name, value in given.items() if name not in of_method}
            given["method"] = options_of(of_method, KIND).method
        self.set_params(context=context, **(DEFAULTS | given))

    def fit(self, X: Any, y: None = None, *, names: Any = None) -> ContextDiscovery:
        """Search the table `X`, which holds the context too; `names` are the columns of an array,
        `y` is ignored.
        """
        options = self.get_params(deep=False)
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
        """The parameters by name; deeper down those of the method, as `method__alpha`."""
        parameters = {name: getattr(self, name) for name in ("context", *DEFAULTS)}
        method = parameters["method"]
        if deep and isinstance(method, MethodObject):
            parameters |= {f"{NESTED}{name}": value for name, value in method.values.items()}
        return parameters

    def set_params(self, **parameters: Any) -> ContextDiscovery:
        """Change parameters by name; those of the method as `method__alpha`."""
        known = ["context", *DEFAULTS]
        nested: dict[str, Any] = {}
        for name, value in parameters.items():
            if name.startswith(NESTED):
                nested[name.removeprefix(NESTED)] = value
            elif name in known:
                setattr(self, name, value)
            else:
                near = did_you_mean(name, [*known, *METHOD_OPTIONS])
                if name in METHOD_OPTIONS:
                    near = f"; it belongs to the method, as {NESTED}{name}"
                raise OptionError(f"{KIND} has no parameter {name!r}{near}")
        if nested:
            method = method_of(self.method)
            self.method = type(method)(**(method.values | nested))
        return self

    def __repr__(self) -> str:
        default = {"context": None} | DEFAULTS
        changed = {
            name: value
            for name, value in self.get_params(deep=False).items()
            if value is not default[name]
        }
        return f"{KIND}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"


KIND = ContextDiscovery.__name__
NESTED = "method__"
"""The beginning of the names of a method's own parameters, as scikit-learn has it."""
DEFAULTS = {entry.name: default_of(entry) for entry in fields(Options)}

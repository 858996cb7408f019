"""The object of a method: a frozen dataclass whose fields are the options of this method.

`cc.PCAC(alpha=0.01)` says how to search: `discover(table, "R", method=cc.PCAC(alpha=0.01))`.
What every method understands is a keyword of `discover` (`options.py`). A field made by `option` is
an option everywhere: in `discover` beside the name of the method, on the command line, in the app,
in saved results.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import wraps
from inspect import Parameter
from typing import Any, ClassVar, TypeVar, dataclass_transform

from causalcontext.errors import OptionError, did_you_mean, listed

Class = TypeVar("Class", bound=type[Any])


def option(default: Any, shown: str = "", text: str = "", name: str = "", group: str = "") -> Any:
    """A field of options, with its flag on the command line.

    `shown` is the placeholder of its value in `--help`, `text` its line there, without which the
    command line has no such flag, `name` the flag where it is not the name of the field, and
    `group` the heading of its line where it is not that of its method.
    """
    metadata = {"shown": shown, "text": text, "name": name, "group": group}
    return field(default=default, metadata=metadata)


def default_of(entry: Field[Any]) -> Any:
    """The default of a field."""
    return Parameter.empty if entry.default is MISSING else entry.default


class MethodObject:
    """A method and its options; two objects with the same options are equal."""

    name: ClassVar[str] = ""
    """The method's name, as `discover(method=...)` takes it."""
    tests: ClassVar[bool] = False
    """True if the method asks independence tests."""

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """The default of every option, by name."""
        return {entry.name: default_of(entry) for entry in fields(cls)}  # type: ignore[arg-type]

    @property
    def values(self) -> dict[str, Any]:
        """The value of every option, by name."""
        return {name: getattr(self, name) for name in self.defaults()}

    @property
    def changed(self) -> dict[str, Any]:
        """The options that are not as by default."""
        defaults = self.defaults()
        return {
            name: value
            for name, value in self.values.items()
            if value is not defaults[name] and not (_is_plain(value) and value == defaults[name])
        }

    def to_dict(self) -> dict[str, Any]:
        """The method as JSON: its name and its options; a test of one's own is its name."""
        plain = {
            name: value if _is_plain(value) else str(getattr(value, "name", value))
            for name, value in self.values.items()
        }
        return {"name": self.name} | plain

    def __repr__(self) -> str:
        return call_of(type(self), self.changed)

    def __getattr__(self, name: str) -> Any:
        kind = type(self).__name__
        if name == "fit":
            raise AttributeError(
                f"{kind} is a method, which has no fit; the estimator that fits a table is"
                f" cc.ContextDiscovery, with {self!r} as its method"
            )
        raise AttributeError(f"{kind!r} object has no attribute {name!r}")


def call_of(kind: type[MethodObject], options: dict[str, Any]) -> str:
    """The call that makes an object of a method.

    >>> from causalcontext.methods.pc_ac import PCAC
    >>> call_of(PCAC, {"alpha": 0.01, "test": "cmi-knn"})
    "cc.PCAC(alpha=0.01, test='cmi-knn')"
    """
    return (
        f"cc.{kind.__name__}({', '.join(f'{name}={value!r}' for name, value in options.items())})"
    )


@dataclass_transform(frozen_default=True, kw_only_default=True)
def method_object(cls: Class) -> Class:
    """The class as a frozen dataclass of keywords, which refuses an unknown one with the nearest
    name.
    """
    made: Any = dataclass(frozen=True, kw_only=True, repr=False)(cls)
    plain_init: Callable[..., None] = made.__init__

    @wraps(plain_init)
    def checked_init(self: Any, *positional: Any, **options: Any) -> None:
        _check_keywords(made, positional, options)
        plain_init(self, **options)

    made.__init__ = checked_init
    return made  # type: ignore[no-any-return]


def _check_keywords(
    kind: type[MethodObject], positional: tuple[Any, ...], options: dict[str, Any]
) -> None:
    """Return if the arguments of a class are options of its method, by name."""
    known = list(kind.defaults())
    called = kind.__name__
    if positional or "context" in options:
        raise OptionError(
            f"cc.{called} takes options by name ({listed(known, len(known))}), and no table or"
            f" context; the estimator that fits a table is cc.ContextDiscovery, with cc.{called}()"
            " as its method"
        )
    for name in options:
        if name not in known:
            near = did_you_mean(name, known)
            has = f"; it has {listed(known, len(known))}" if known and not near else ""
            raise OptionError(f"cc.{called} has no option {name!r}{near or has}")


def _is_plain(value: object) -> bool:
    """True where a value is a number, text, a truth value or None."""
    return isinstance(value, int | float | str | None)

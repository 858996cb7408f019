"""Options of the library as options of the command line: what a dataclass of options says is what `--help` shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, fields
from inspect import Parameter, signature
from typing import Annotated, Any, get_type_hints

import typer

from causalcontext.options import default_of


def with_options(kind: type[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a command take every option that has a text for the command line, after its own parameters."""
    hints = get_type_hints(kind)

    def extended(command: Callable[..., None]) -> Callable[..., None]:
        own = signature(command, eval_str=True)
        first = [p for p in own.parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
        shown = [entry for entry in fields(kind) if entry.metadata.get("text")]
        parameters = [*first, *(_parameter(entry, hints[entry.name]) for entry in shown)]

        def run(**given: Any) -> None:
            named = {entry.metadata["name"] or entry.name: entry.name for entry in shown}
            command(**{named.get(name, name): value for name, value in given.items()})

        run.__name__, run.__doc__ = command.__name__, command.__doc__
        run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters} | {"return": None}
        return run

    return extended


def _parameter(entry: Field[Any], hint: Any) -> Parameter:
    """One option; what may be an object in the library is a name here."""
    plain = next((kind for kind in (str, float, int, bool) if hint == kind or hint == kind | None), str)
    annotation = plain | None if entry.default is None else plain
    described = typer.Option(metavar=entry.metadata["shown"] or None, help=entry.metadata["text"])
    return Parameter(entry.metadata["name"] or entry.name, Parameter.KEYWORD_ONLY, default=default_of(entry),
                     annotation=Annotated[annotation, described])  # fmt: skip

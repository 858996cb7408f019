"""`causalcontext effects`: the effect of a change of X on Y in each context, from a saved result.

    causalcontext effects result.json                       all pairs
    causalcontext effects result.json rain runoff           one
    causalcontext effects result.json rain runoff --by-path

An effect is a slope (a probability, where Y is a category), with an interval and a p-value. Where
the graph leaves open which columns to adjust for, the cell shows the range of the estimates of all
graphs that are possible. A file without rows holds moments, which are enough for slopes; standard
errors are classical then, and a sentence says so.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from causalcontext.cli.inputs import (
    JsonOption,
    ProgressOption,
    ResultArgument,
    check_outputs,
    context_text,
)
from causalcontext.cli.pipes import is_stdout, loaded, write_json
from causalcontext.cli.terminal import say, show_page, show_table
from causalcontext.graphs.lag_names import at
from causalcontext.results.empty import REASON
from causalcontext.results.words import p_text


def effects(
    file: ResultArgument,
    x: Annotated[
        str | None, typer.Argument(metavar="X", help="The cause; the context may be one.")
    ] = None,
    y: Annotated[
        str | None, typer.Argument(metavar="Y", help="The effect; without X and Y, all pairs.")
    ] = None,
    by_path: Annotated[
        bool, typer.Option("--by-path", help="One row for every directed path.")
    ] = False,
    level: Annotated[
        float, typer.Option(metavar="NUMBER", help="The coverage of the intervals.")
    ] = 0.95,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="LEVEL", help="If X is a category: the level that others are compared with."
        ),
    ] = None,
    of_level: Annotated[
        str | None,
        typer.Option(
            metavar="LEVEL", help="If Y is a category: the level whose probability is meant."
        ),
    ] = None,
    intervals: Annotated[
        str,
        typer.Option(
            metavar="WORD",
            help='"auto", "mixture" (the graph may be wrong) or "graph" (it is right).',
        ),
    ] = "auto",
    output: JsonOption = None,
    progress: ProgressOption = True,
) -> None:
    """The effect of a change of X on Y in each context, and how the contexts differ."""
    check_outputs({"--json": output}, inputs=[file])
    result = loaded(file)
    table = result.effects(
        x,
        y,
        by_path=by_path,
        level=level,
        reference=reference,
        of_level=of_level,
        intervals=intervals,
        progress=progress and sys.stderr.isatty(),
    )
    if output is not None:
        write_json(output, table)
    if is_stdout(output):
        return
    if table.empty:
        show_page(table.attrs[REASON])
        return
    header = [
        "path" if by_path else "effect of",
        "context",
        "effect",
        f"{100 * level:g} % interval",
        "p",
        "note",
    ]
    rows = [_shown(row, by_path) for row in table.to_dict("records")]
    show_table(f"effects ({result.context or 'no context'})", header, rows)
    if "mixture" in set(table.get("intervals", ())):
        say(
            "intervals average over graphs drawn by their score; --intervals graph takes the graph"
            " as given"
        )
    elif result.rows is None:
        say(
            "standard errors are classical, since the file holds no rows; discover --keep-rows"
            " keeps them, for sandwich (HC3) errors"
        )


def _shown(row: Mapping[Any, Any], by_path: bool) -> list[str]:
    """The cells of a row on the terminal: name, context, effect, interval, p-value, note.

    An effect that is not identified is the range of its possible values, or "not identified" where
    they could not be computed. An interval without width is no interval, and is left empty.
    """
    import pandas as pd

    where = "" if row["context"] is None else context_text(row["context"])
    if row.get("versus") is not None:
        where = f"{where} minus {context_text(row['versus'])}"
    cause = at(row["x"], row["lag"]) if "lag" in row else row["x"]
    name = row["path"] if by_path else f"{cause} on {row['y']}"
    if row["x_level"] is not None:
        name = f"{name}: {row['x_level']} instead of {row['reference']}"
    if row["identified"]:
        effect = f"{row['effect']:.3g}"
    else:
        values = row["values"]
        effect = f"{values[0]:.3g} ... {values[-1]:.3g}" if values else "not identified"
    no_interval = pd.isna(row["low"]) or row["low"] == row["high"]
    interval = "" if no_interval else f"{row['low']:.3g} ... {row['high']:.3g}"
    return [name, where, effect, interval, p_text(row["p"]), row["note"]]

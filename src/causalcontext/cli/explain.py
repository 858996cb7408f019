"""`causalcontext explain`: the reasons why two variables of a saved result are linked or not.

    causalcontext explain result.json rain runoff
    causalcontext explain result.json rain runoff --json reasons.json

The terminal shows the sentences of `result.explain`, one paragraph a context. `--json` has the
marks of all contexts, the stories, and the tests of this pair with their statistics, p-values and
rows.
"""

from __future__ import annotations

import json
from typing import Annotated

import typer

from causalcontext.cli.inputs import JsonOption, ResultArgument, check_outputs
from causalcontext.cli.pipes import is_stdout, loaded, write_json
from causalcontext.cli.terminal import show_page
from causalcontext.report.payload import presentable, stories


def explain(
    file: ResultArgument,
    x: Annotated[str, typer.Argument(metavar="X", help="A variable.")],
    y: Annotated[str, typer.Argument(metavar="Y", help="Another one.")],
    output: JsonOption = None,
) -> None:
    """The reasons why two variables are linked or not, context by context."""
    check_outputs({"--json": output}, inputs=[file])
    result = loaded(file)
    if not is_stdout(output):
        show_page(result.explain(x, y).replace("\n", "\n\n"))
    if output is None:
        return
    searched = result.searched
    if {x, y} <= set(searched.names):
        sentences = stories(presentable(searched), searched.position(x), searched.position(y))
    else:
        sentences = [result.explain(x, y)]
    tests = result.tests()
    chosen = tests[tests["x"].isin((x, y)) & tests["y"].isin((x, y))]
    records = json.loads(chosen.drop(columns=["x", "y"]).to_json(orient="records"))
    marks = [{"context": value, "mark": graph.mark(x, y)} for value, graph in result.graphs.items()]
    write_json(output, {"x": x, "y": y, "marks": marks, "stories": sentences, "tests": records})

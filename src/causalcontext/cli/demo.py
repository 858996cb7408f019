"""`causalcontext demo`: the main job on an example that ships with the library."""

from __future__ import annotations

from causalcontext.cli.inputs import OutputOption, ReportOption
from causalcontext.cli.pipes import is_stdout, save_result
from causalcontext.cli.terminal import say, show_page
from causalcontext.data.files import check_writable
from causalcontext.discover import discover
from causalcontext.methods.ahead import compile_ahead
from causalcontext.report.text import summary
from causalcontext.simulate.examples import soil_moisture

STORY = """Daily weather over land, simulated: rain and radiation determine whether the soil is dry or wet, and the
state of the soil determines where the rain goes. The context is an effect of the system."""


def demo(output: OutputOption = None, report: ReportOption = None) -> None:
    """The main job on an example that ships with the library: soil that is dry or wet."""
    for file in (output, report):
        if file is not None and not is_stdout(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            check_writable(file)
    compile_ahead(("orders", "scores", "levels"))
    result = discover(soil_moisture(2000, seed=1), context="soil")
    masked = discover(soil_moisture(2000, seed=1), context="soil", alpha=0.01, method="pc-m")
    if output is not None:
        save_result(result, output)
    if report is not None:
        result.report(report)
    if not is_stdout(output):
        show_page(f"{STORY}\n\n{summary(result)}\n\nWhy are rain and runoff linked on wet soil only?\n"
                  f"{result.explain('precipitation', 'runoff')}\n\nWhat would each context by itself (pc-m) claim?\n"
                  f"{masked.labeled_union}")  # fmt: skip
    if output is not None and not is_stdout(output):
        say(f"the result is in {output}")
    if report is not None:
        say(f"the report is in {report}: open it in a browser")

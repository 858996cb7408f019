"""The paper's whole simulation study as named designs (Sec. 5, App. "Further details on the simulation study")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from causalcontext.errors import check_choice
from causalcontext.study.designs import Design, grid

SAMPLES = (200, 500, 1000, 2000, 3000)
ALL_EDITS = ("add", "remove", "flip")
CONTEXT_METHODS = ("pc-ac", "pc-m", "pc-b", "pc-p", "score-ac")
"""The four methods of the paper, and ours by scores."""
BASELINES = ("fci", "cd-nod")

PARAMETRIC: Mapping[str, Design] = {
    design.name: replace(design, methods=CONTEXT_METHODS, test="partial-correlation")
    for design in (
        Design("main", grid(samples=SAMPLES)),
        Design("cycles", grid(samples=SAMPLES, cycles="enforce", edits=ALL_EDITS)),
        Design("changes-2", grid(samples=SAMPLES, changes=2)),
        Design("changes-3", grid(samples=SAMPLES, changes=3)),
        Design("density-0.6", grid(samples=SAMPLES, density=0.6)),
        Design("nodes-6", grid(samples=SAMPLES, nodes=6)),
        Design("nodes-12", grid(samples=SAMPLES, nodes=12)),
        Design("balance-1.5", grid(samples=SAMPLES, balance=1.5)),
    )
}
"""Everything that needs nothing but this library. The tables are linear and Gaussian, and so are the tests."""

UNION_BASELINES: Mapping[str, Design] = {
    f"baselines-{name}": replace(PARAMETRIC[name], name=f"baselines-{name}", methods=BASELINES, knowledge=("none",))
    for name in ("main", "cycles")
}
"""FCI-JCI0 and CD-NOD (extra `compare`), on the very tables of `main` and `cycles`."""

NONPARAMETRIC = Design("nonparametric", grid(samples=SAMPLES[:3]), knowledge=("none",), test="cmi-knn-mixed")
"""The right-hand panel of the main figure: `cmi-knn` for pairs with the context, partial correlation for the others.

Every trial is answered once, so that of the methods that share trials only the first, PC-AC, has its full time.
Without score-ac, which uses no test: it would find on these tables just what it finds in `main`.
"""

DEFAULT_TEST = replace(NONPARAMETRIC, name="default-test", test="auto")
"""The same tables with what `test="auto"` picks: `robust-change` at the context."""

AS_PUBLISHED = Design(
    "as-published",
    grid(samples=SAMPLES, generator="legacy"),
    methods=("published pc-ac", "published pc-m", "published pc-b", "published pc-p"),
    test="regression-legacy",
)
"""The main setting with the generator, the tests and the metrics behind the published figures."""

AS_PUBLISHED_BASELINES = replace(AS_PUBLISHED, name="as-published-baselines", methods=BASELINES, knowledge=("none",))


def paper_designs(
    as_published: bool = False, baselines: bool = False, nonparametric: bool = False
) -> dict[str, Design]:
    """The designs of the paper, by name; those with permutations or other libraries on request."""
    if as_published:
        found = {AS_PUBLISHED.name: AS_PUBLISHED}
        return found | ({AS_PUBLISHED_BASELINES.name: AS_PUBLISHED_BASELINES} if baselines else {})
    found = dict(PARAMETRIC)
    if nonparametric:
        found |= {design.name: design for design in (NONPARAMETRIC, DEFAULT_TEST)}
    return found | (dict(UNION_BASELINES) if baselines else {})


def paper_design(name: str) -> Design:
    """The design of that name.

    Examples
    --------
    >>> paper_design("nodes-12").settings[0].nodes
    12
    """
    extra = (NONPARAMETRIC, DEFAULT_TEST, AS_PUBLISHED, AS_PUBLISHED_BASELINES)
    known = {**PARAMETRIC, **UNION_BASELINES, **{design.name: design for design in extra}}
    check_choice("the name of a design", name, known)
    return known[name]

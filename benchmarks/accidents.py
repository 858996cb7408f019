"""What ordinary accidents of a table do to answers: the table of docs/accidents.md.

Run as `python benchmarks/accidents.py [--seeds 2] [--accident total] [--base river] [--write
docs/accidents.md]`. The accidents, the clean tables and the verdicts are those of `tests/answers/`.
One row an accident, means over all bases that it can happen to: true and false links, true and
false claims of change before > after, in how many tables a new warning names the matter, and the
verdict that most harms a reader among those of the bases. With `--accident`, `--write` replaces the
rows of these accidents and leaves all others as they stand on the page.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "answers"))
from bases import BASES
from verdicts import Outcome, judged

from accidents import Accident, by_family
from answers import Figures, Verdict

FIRST_SEED = 500
"""Seeds that no test has."""
BEGIN, END = "<!-- printed by benchmarks/accidents.py -->", "<!-- end of what was printed -->"
HEAD = (
    "what happened",
    "links",
    "false links",
    "claims",
    "false claims",
    "told in `warnings`",
    "verdict",
)


def mean(figures: Sequence[Figures], name: str) -> float:
    """The mean of one of the figures, of the tables that were not refused."""
    known = [getattr(one, name) for one in figures if not one.refused]
    return statistics.fmean(known) if known else float("nan")


def before_and_after(outcomes: Sequence[Outcome], name: str) -> str:
    """Two means, before and after an accident."""
    answered = [one for one in outcomes if not one.after.refused]
    if not answered:
        return ""
    return (
        f"{mean([one.before for one in answered], name):.1f} >"
        f" {mean([one.after for one in answered], name):.1f}"
    )


def row(accident: Accident, bases: Sequence[str], seeds: range) -> tuple[list[str], Verdict] | None:
    """The cells of an accident, and the verdict; None where it can happen to none of the bases."""
    outcomes: list[Outcome] = []
    verdicts: list[Verdict] = []
    for base in bases:
        found = judged((accident.name,), base, seeds)
        if found is not None:
            verdicts.append(found[0])
            outcomes += found[1]
    if not outcomes:
        return None
    worst = max(verdicts, key=list(Verdict).index)
    share = sum(verdict is worst for verdict in verdicts)
    where = "" if share == len(verdicts) else f" ({share} of {len(verdicts)} bases)"
    after = [one.after for one in outcomes]
    told = mean(after, "told")
    cells = [
        accident.says.replace("|", "\\|"),
        before_and_after(outcomes, "links"),
        before_and_after(outcomes, "false_links"),
        before_and_after(outcomes, "claims"),
        before_and_after(outcomes, "false_claims"),
        "" if told != told else f"{told:.0%}",
        f"{worst}{where}",
    ]
    return cells, worst


def printed_rows(page: str) -> dict[str, str]:
    """The rows that a page has between its marks, by what happened."""
    lines = page.split(BEGIN)[1].split(END)[0].splitlines()
    rows = [line for line in lines if line.startswith("| ") and not line.startswith(f"| {HEAD[0]}")]
    return {line.split(" | ")[0].removeprefix("| "): line for line in rows}


def verdict_of(line: str) -> Verdict:
    """The verdict in a row."""
    return Verdict(line.removesuffix(" |").split(" | ")[-1].split(" (")[0])


def main() -> None:
    """Print the table, or write it into the page between its marks."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=2, help="tables of each base")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--accident", nargs="*", default=[""], help="parts of names")
    parser.add_argument("--base", nargs="*", choices=list(BASES), default=list(BASES))
    parser.add_argument("--write", type=Path, help="a page whose table is replaced")
    asked = parser.parse_args()
    seeds = range(asked.first_seed, asked.first_seed + asked.seeds)
    page = asked.write.read_text(encoding="utf-8") if asked.write else ""
    known = printed_rows(page) if page and asked.accident != [""] else {}
    lines: list[str] = []
    counts = dict.fromkeys(Verdict, 0)
    for family, members in by_family().items():
        rows: list[str] = []
        for accident in members:
            if any(part in accident.name for part in asked.accident):
                found = row(accident, asked.base, seeds)
                line = f"| {' | '.join(found[0])} |" if found is not None else ""
                print(line, file=sys.stderr, flush=True)
            else:
                line = known.get(accident.says.replace("|", "\\|"), "")
            if line:
                rows.append(line)
                counts[verdict_of(line)] += 1
        if rows:
            head = [f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|"]
            lines += ["", f"## {family.capitalize()}", "", *head, *rows]
    number = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    text = "\n".join(
        [f"{sum(counts.values())} accidents, {asked.seeds} tables of each base: {number}.", *lines]
    )
    if asked.write is None:
        print(text)
        return
    before, rest = page.split(BEGIN)
    asked.write.write_text(
        f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}", encoding="utf-8"
    )


if __name__ == "__main__":
    main()

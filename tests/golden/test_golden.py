"""Whether the package says of the tables of the golden set what it said when they were written.

A failure names the table, the part, the edge, and the value before and after. Whoever meant it runs
`python tests/golden/make.py --write`, and says in the commit what changed and why.
"""

import ast
import json
from copy import deepcopy
from pathlib import Path

import pytest
from differences import differences, same_words
from drawn import CASES, FILES, METHODS
from make import KEPT, compared, kept, report
from records import PARTS

FOLDER = Path(__file__).parent
TABLES = 400
LARGEST = 3_000_000
FEW = (
    "lines/score-ac/words",
    "options/pc-ac/conservative, endogenous",
    "kinds/auto/mixed",
    "several/pc-ac/endogenous",
    "cuts/pc-m/bins",
    "missing/pc-p/testwise",
    "lags/fci-ac/one context",
    "panel/score-ac/means",
)


def check(names):
    text = report(compared(names))
    if text:
        pytest.fail(f"differs from the golden set\n{text}", pytrace=False)


def test_few_tables_are_as_they_were():
    check(FEW)


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
def test_tables_are_as_they_were(file):
    check(name for name, case in CASES.items() if case.file == file)


def test_the_files_hold_all_tables_of_all_methods():
    stored = {file: kept(file) for file in FILES}
    assert sorted(path.stem for path in KEPT.iterdir()) == sorted(FILES)
    assert sorted(name for tables in stored.values() for name in tables) == sorted(CASES)
    assert len(CASES) == TABLES
    assert {case.keywords.get("method", "auto") for case in CASES.values()} == set(METHODS)
    assert sum(path.stat().st_size for path in KEPT.iterdir()) < LARGEST


def test_every_part_of_a_kind_of_table_says_something():
    for file in FILES:
        records = kept(file).values()
        for part in (*PARTS[:3], "mechanisms", "words") if file != "refusals" else ("words",):
            answers = [record.get(part, {}) for record in records]
            assert any(answer.get("rows", answer) for answer in answers), f"{file}: no {part}"
        if file not in ("none", "refusals"):
            assert any(record["changes"]["rows"] for record in records), f"{file}: no changes"


def test_only_public_names_are_used():
    for path in FOLDER.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                assert not str(node.module).startswith("causalcontext"), path
            if isinstance(node, ast.Import):
                assert all(not name.name.startswith("causalcontext.") for name in node.names), path
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "cc":
                assert node.attr not in ("simulate", "examples"), "numpy alone draws the tables"


def changed_record(change):
    """A kept record, and the lines in which it differs from itself after a change."""
    before = kept("lines")["lines/score-ac/words"]
    after = deepcopy(before)
    change(after)
    return differences(before, json.loads(json.dumps(after)))


def first_row(record, part, column):
    """The name of the first row of a part, its values, and the place of a column."""
    key, row = next(iter(record[part]["rows"].items()))
    return key, row, record[part]["columns"].index(column)


def test_a_mark_that_changed_is_a_line():
    pairs = kept("lines")["lines/score-ac/words"]["graphs"]["context dry"]
    pair, mark = next(iter(pairs.items()))

    def change(record):
        record["graphs"]["context dry"][pair] = "x-x"

    assert changed_record(change) == [f"graphs: context dry, {pair}: {mark}  ->  x-x"]


def test_a_number_that_changed_is_a_line_and_the_last_digits_are_none():
    record = kept("lines")["lines/score-ac/words"]
    key, row, place = first_row(record, "edges", "strength")

    def change(factor):
        def changed(after):
            after["edges"]["rows"][key][place] = row[place] * factor

        return changed

    assert changed_record(change(1 + 1e-8)) == []
    lines = changed_record(change(-1.0))
    assert lines == [f"edges: {key}, strength: {row[place]}  ->  {-row[place]}"]


def test_rows_and_columns_that_came_or_went_are_lines():
    def change(record):
        record["edges"]["rows"]["A --> B in dry"] = record["edges"]["rows"].pop(
            next(iter(record["edges"]["rows"]))
        )
        record["effects"]["columns"][0] = "another"

    lines = changed_record(change)
    assert "edges: row A --> B in dry: new" in lines
    assert sum(line.endswith(": gone") for line in lines) == 1
    assert "effects: column 'another' is new" in lines


def test_a_sentence_that_changed_is_shown_with_the_old_one():
    def change(record):
        record["words"]["notes"].append("read by candlelight")

    assert changed_record(change) == ["words: notes\n      + read by candlelight"]


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("p = 0.0123", "p = 0.0124", True),
        ("p = 0.0123", "p = 0.0125", False),
        ("p = 1e-12", "p = 2e-12", True),
        ("on 300 rows", "on 301 rows", False),
        ("raises the score by 4.6", "lowers the score by 4.6", False),
    ],
)
def test_numbers_in_sentences_may_differ_by_one_unit_of_the_last_digit(before, after, same):
    assert same_words(before, after) is same

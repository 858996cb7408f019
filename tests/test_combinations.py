"""Every combination of method, context, rows, columns, table and question works, or is refused as
the page says.
"""

from itertools import product

import pytest

import combinations
from combinations import AXES, PAGE, QUESTIONS, RULES, answers, cells, few_cells, page, refusal


def check(chosen, folder):
    wrong = []
    for cell in chosen:
        for question, found in answers(cell, folder).items():
            rule = refusal(cell, question)
            if (rule is None) != (found == "") or (rule is not None and rule.words not in found):
                wrong.append(
                    f"{cell} | {question}: {found or 'answered'}; expected {rule and rule.words}"
                )
            assert "\n" not in found, "a refusal is one sentence"
    assert wrong == []


@pytest.mark.parametrize("method", AXES["method"])
def test_some_combinations_work_or_are_refused_as_the_page_says(method, tmp_path):
    check([cell for cell in few_cells() if cell.method == method], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "time", "storage"), list(product(AXES["method"], AXES["time"], AXES["storage"]))
)
def test_all_combinations_work_or_are_refused_as_the_page_says(method, time, storage, tmp_path):
    check(
        [
            cell
            for cell in cells()
            if (cell.method, cell.time, cell.storage) == (method, time, storage)
        ],
        tmp_path,
    )


def test_the_page_is_made_of_the_rules():
    assert PAGE.read_text(encoding="utf-8") == page(), "run python tests/combinations.py"


def test_every_rule_refuses_something_and_says_why():
    shares = combinations.share_refused()
    assert sum(shares.values()) == pytest.approx(1.0)
    for rule in RULES:
        assert shares[rule] > 0, f"no combination is left to {rule.words!r}"
        assert rule.why
        assert set(rule.where) <= {*AXES, "question"}
        for axis, values in rule.where.items():
            assert set(values) <= set(AXES.get(axis, QUESTIONS))

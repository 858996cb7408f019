"""The pass over blocks of rows equals its naive twin, and good starts lead to the same maximum."""

import numpy as np
import pytest
from naive_logit import naive_logit

from causalcontext.kernels.rows.class_choice import MUCH_WORK, few_rows
from causalcontext.kernels.rows.glm import (
    NO_TIES,
    RIDGE,
    first_slopes,
    fit_glm,
    is_out_of_reach,
    maximise,
    write_ridge,
)
from causalcontext.kernels.rows.likelihoods import LOGIT, ORDINAL, call_pass
from causalcontext.kernels.rows.row_blocks import AT_ONCE, add_dots, exponentials


@pytest.mark.parametrize(
    ("n", "width", "classes"), [(5, 1, 2), (129, 4, 2), (300, 3, 3), (257, 6, 5), (128, 2, 9)]
)
def test_a_pass_has_the_value_and_the_derivatives_of_its_twin(n, width, classes):
    generator = np.random.default_rng([n, width, classes])
    design = np.vstack([np.ones(n), 3.0 + 2.0 * generator.normal(size=(width - 1, n))])
    codes, slopes = generator.integers(0, classes, n), generator.normal(size=(classes - 1) * width)
    for scale in (1.0, 200.0):  # far away from the data classes are certain
        gradient, curvature = np.zeros(slopes.size), np.zeros((slopes.size, slopes.size))
        value = call_pass(LOGIT, design, codes, classes - 1, scale * slopes, gradient, curvature)
        expected = naive_logit(design, codes, classes, scale * slopes)
        assert value == pytest.approx(expected[0], rel=1e-10)
        assert gradient == pytest.approx(expected[1], rel=1e-9, abs=1e-9)
        assert np.tril(curvature) == pytest.approx(np.tril(expected[2]), rel=1e-9, abs=1e-9)
        assert (
            call_pass(
                LOGIT,
                design,
                codes,
                classes - 1,
                scale * slopes,
                gradient,
                np.empty((0, 0)),
            )
            == value
        )


def test_exponentials_have_fourteen_digits():
    line = np.concatenate([-np.linspace(0.0, 60.0, 100), [-699.0, -1e4, 0.0]])
    expected = np.exp(np.maximum(line, -700.0))
    exponentials(line)
    assert line == pytest.approx(expected, rel=1e-14, abs=0.0)


@pytest.mark.parametrize("triangle", [False, True])
@pytest.mark.parametrize("length", [3, 100, 103, AT_ONCE])
def test_dot_products_are_added_up_line_by_line(triangle, length):
    generator = np.random.default_rng(0)
    left, right, sums = (
        generator.normal(size=(9, AT_ONCE)),
        generator.normal(size=(9, AT_ONCE)),
        np.full((9, 9, 4), 0.25),
    )
    add_dots(left, right, length, triangle, sums)
    found = sums.sum(axis=2)
    expected = 1.0 + left[:, :length] @ right[:, :length].T
    assert np.tril(found) == pytest.approx(np.tril(expected))
    assert triangle or found == pytest.approx(expected)


@pytest.mark.parametrize("rare", [False, True])
def test_a_good_start_is_close_to_the_maximum_and_leads_to_it(rare):
    generator = np.random.default_rng(1)
    n, width, classes = 4000, 6, 5
    design = np.vstack([np.ones(n), generator.normal(size=(width - 1, n))])
    score = (
        generator.gumbel(size=(classes, n)) + 0.5 * generator.normal(size=(classes, width)) @ design
    )
    score[1] -= 20.0 if rare else 0.0
    codes = score.argmax(axis=0)
    cold = first_slopes(LOGIT, codes, classes, width)
    warm = cold.copy()
    assert n * cold.size**2 > MUCH_WORK
    part, few = few_rows(design, codes, classes, warm.size)
    assert (few.size == 0) == rare  # too few rows of a class: the start is as it was
    if few.size:
        fit_glm(LOGIT, part, few, classes, warm, RIDGE, 1.0)
    best = fit_glm(LOGIT, design, codes, classes, cold, RIDGE, 1e-4)
    near = call_pass(LOGIT, design, codes, classes - 1, warm, np.zeros(warm.size), np.empty((0, 0)))
    assert rare or best - near < 10 * cold.size
    again = fit_glm(LOGIT, design, codes, classes, warm, RIDGE, 1e-4)
    assert again == pytest.approx(best, abs=1e-3)


@pytest.mark.parametrize(("classes", "ordered"), [(3, False), (5, False), (4, True)])
def test_a_gradient_alone_says_what_is_out_of_reach(classes, ordered):
    generator = np.random.default_rng([classes, ordered])
    design = np.vstack([np.ones(400), generator.normal(size=(3, 400))])
    codes = np.clip(
        np.round(design[1] + design[2] + generator.logistic(size=400) + classes / 2), 0, classes - 1
    )
    codes, family = codes.astype(np.int64), ORDINAL if ordered else LOGIT
    slopes = first_slopes(family, codes, classes, 4)
    ridge, free = np.empty(slopes.size), classes - 1
    write_ridge(family, classes, 4, RIDGE, ridge)
    gradient, whole = np.zeros(slopes.size), np.zeros((slopes.size, slopes.size))
    value = call_pass(family, design, codes, classes - 1, slopes, gradient, whole)
    alone, nothing = np.zeros(slopes.size), np.empty((0, 0))
    again = call_pass(family, design, codes, classes - 1, slopes, alone, nothing)
    assert again == pytest.approx(value, abs=1e-9)
    assert np.allclose(alone, gradient, rtol=0.0, atol=1e-9)
    best, curvature = slopes.copy(), np.zeros_like(whole)
    highest = maximise(
        family, design, codes, classes - 1, NO_TIES, ridge, best, curvature, -np.inf, 1e-6
    )
    inverse = np.linalg.inv(np.tril(curvature) + np.tril(curvature, -1).T)
    for start in (slopes, best, best + 0.05):
        reach = [
            needed
            for needed in highest + np.array([-5.0, -0.1, 50.0, 500.0, 5000.0])
            if not is_out_of_reach(family, design, codes, free, ridge, start, inverse, needed)
        ]
        assert highest - 0.1 in reach
        assert highest + 5000.0 not in reach

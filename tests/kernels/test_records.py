"""Records and numbers that Python and C++ both write down are the same: arrays are handed over by
their order.
"""

import re
from pathlib import Path

import pytest

from causalcontext.kernels.levels import contingency
from causalcontext.kernels.orders import fit_arrays
from causalcontext.kernels.rows import (
    basis,
    bends,
    class_choice,
    fits_by_context,
    glm,
    likelihoods,
    noise_densities,
    number_scores,
    robust_change,
    row_blocks,
    scales,
)

HEADERS = Path(__file__).parents[2] / "src" / "kernels"
RECORDS = {
    "fit_arrays": [
        fit_arrays.BlockTables,
        fit_arrays.FitRows,
        fit_arrays.Fits,
        fit_arrays.Scratch,
        fit_arrays.Memory,
        fit_arrays.KeptRows,
        fit_arrays.KeptFits,
        fit_arrays.FitArrays,
    ],
    "contingency": [contingency.Tables],
    "noise_densities": [noise_densities.DensityTable],
    "class_choice": [class_choice.ClassRows],
    "fits_by_context": [fits_by_context.Groups, fits_by_context.ContextFits],
    "robust_change": [robust_change.CellMoments],
    "basis": [basis.Basis],
}
"""Named tuples by the header that reads them."""
NAMES_OF_PLACES = {
    "fit_arrays": [
        "NUMBER, CLASS, ORDERED, HURDLE",
        "KIND, RESPONSE, WIDTH, CLASSES, PIECES",
        "BITS, LIMIT, DESIGN, IDENTITY",
        "ROWS, START, PRICE",
        "WEIGHT, DENSITIES, CURVES, SCALES, BLURS",
        "OWNER, PARTNER, SOURCE, FAMILY, CONTEXTS, BASIC, CURVED",
        "END, LENGTH, TAKEN, PATH",
        "CLOSED, ONLY_IF_IT_PAYS, WELCOME, UNKNOWN",
    ]
}
NUMBERS = {
    "contingency": (contingency, ["MOST_LEVELS_WITH_BITS"]),
    "noise_densities": (noise_densities, ["REACH", "POINTS", "LOOKED_UP"]),
    "number_scores": (number_scores, ["IN_A_BIN", "NO_DENSITY"]),
    "scales": (scales, ["MOST_SCALES", "SHAPES", "LARGEST_LOG"]),
    "bends": (bends, ["FEWEST", "NOTHING"]),
    "row_blocks": (row_blocks, ["AT_ONCE"]),
    "glm": (glm, ["RIDGE"]),
    "class_choice": (class_choice, ["TOLERANCE", "MUCH_WORK", "FEW_ROWS"]),
    "robust_change": (robust_change, ["CLEAR"]),
    "basis": (basis, ["SAME_CURVE"]),
}


def header(name):
    return (HEADERS / f"{name}.hpp").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "record"), [(name, record) for name in RECORDS for record in RECORDS[name]]
)
def test_members_come_in_the_same_order(name, record):
    struct = record.__name__
    body = re.search(rf"struct {struct} {{.*?\n}};", header(name), re.DOTALL)
    assert body is not None
    members = tuple(re.findall(rf"&{struct}::(\w+)", body[0]))
    assert members == record._fields


@pytest.mark.parametrize(
    ("name", "places"), [(name, one) for name in NAMES_OF_PLACES for one in NAMES_OF_PLACES[name]]
)
def test_places_have_the_same_names(name, places):
    assert f"enum {{ {places} }};" in header(name)
    numbers = [getattr(fit_arrays, place) for place in places.split(", ")]
    assert numbers == list(range(len(numbers)))


@pytest.mark.parametrize(
    ("name", "constant"), [(name, one) for name, (_, names) in NUMBERS.items() for one in names]
)
def test_numbers_are_the_same(name, constant):
    written = re.search(rf"constexpr \w+ {constant} = (.*?);", header(name))
    assert written is not None
    assert float(written[1]) == getattr(NUMBERS[name][0], constant)


def test_hinges_begin_at_the_same_places():
    written = re.search(r"KNOTS\[\] = {(.*?)};", header("noise_densities"))
    assert written is not None
    assert tuple(map(float, written[1].split(", "))) == noise_densities.KNOTS


def test_codes_of_hurdles_are_the_same():
    text = header("likelihoods")
    assert f"NO_NUMBER = {likelihoods.NO_NUMBER};" in text
    assert "NUMBERS_FROM = Int(1) << 40;" in text
    assert likelihoods.NUMBERS_FROM == 1 << 40
    assert "UNIT = double(1 << 20);" in text
    assert likelihoods.UNIT == 1 << 20


def test_numbers_of_the_test_of_change_stand_in_the_same_places():
    places = re.search(r"enum Part : Int {(.*?)};", header("robust_change"), re.DOTALL)
    assert places is not None
    *names, count = re.findall(r"\w+", places[1])
    assert count == "PARTS"
    assert [name.lower().removeprefix("by_") for name in names] == [
        *robust_change.Parts._fields[:-1]
    ]

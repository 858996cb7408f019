"""Tables that ship with the library as CSV files: what they are, and where they lie."""

from __future__ import annotations

from pathlib import Path

from causalcontext.errors import check_choice

TABLES = {
    "soil": (
        "2,000 days over land, simulated: rain and radiation decide whether the soil is dry or wet"
        " (context: soil)"
    ),
    "wages": (
        "3,286 married women who worked in March 1991, US Current Population Survey (context:"
        " union)"
    ),
}
FOLDER = Path(__file__).with_name("csv")


def path(name: str) -> Path:
    """The CSV file of a table that ships with the library: "soil" or "wages".

    Examples
    --------
    >>> import causalcontext as cc
    >>> cc.read_file(cc.examples.path("soil")).shape
    (2000, 7)
    """
    check_choice("name", name, TABLES)
    return FOLDER / f"{name}.csv"

"""The looks at a table before a search, in order: first at the table as it was given, then at what was read of it.

`screened_table` leaves out columns that cannot be variables, so that reading does not stop at them; `screened_data`
leaves out functions of other columns, and says what is damaged.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from causalcontext.data.dataset import Dataset
from causalcontext.errors import DataError
from causalcontext.screening.damage import words_about_damage
from causalcontext.screening.functions import functions_of_others
from causalcontext.screening.left_out import LeftOut, words_about_left_out
from causalcontext.screening.rare_levels import with_rare_levels_together
from causalcontext.views import Contexts


@dataclass(frozen=True)
class Screening:
    """What was found before a search."""

    left_out: tuple[LeftOut, ...] = ()
    told: tuple[str, ...] = ()
    """Other sentences that a reader must know."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What belongs among the warnings of a result."""
        return tuple(words for words in (words_about_left_out(self.left_out), *self.told) if words)


NOTHING = Screening()


def screened_table(table: Any, context: Any, kinds: Mapping[str, str] | None, names: Sequence[str] | None,
                   kept: Collection[str] = ()) -> tuple[Any, Screening]:  # fmt: skip
    """The table in memory without the columns that cannot be variables.

    `kept` are columns that stay whatever they hold.
    """
    return table, NOTHING


def screened_data(data: Dataset, before: Screening, kept: Collection[str] = ()) -> tuple[Dataset, Screening]:
    """The columns that were read without the functions of others, and all that is to be said."""
    left_out = functions_of_others(data, kept)
    told = (*before.told, *words_about_damage(data))
    data, of_many_levels, merged = with_rare_levels_together(data, kept)
    left_out, told = (*left_out, *of_many_levels), (*told, *merged)
    if left_out:
        data = without_columns(data, [left.column for left in left_out])
    return data, Screening((*before.left_out, *left_out), told)


def check_strict(found: Screening) -> None:
    """Return unless columns were left out, for a caller who passed strict=True."""
    if found.left_out:
        raise DataError(f"strict is True, and the table has columns that would be "
                        f"{words_about_left_out(found.left_out)}, or drop them")  # fmt: skip


def without_columns(data: Dataset, names: Collection[str]) -> Dataset:
    """The table without some system variables.

    >>> from causalcontext.data.tables import read_table
    >>> data = read_table({"X": [1.0, 2.0], "id": [1, 2], "Y": [2.0, 5.0], "R": [0, 1]}, "R")
    >>> found = without_columns(data, ["id"])
    >>> found.names, found.contexts.positions
    (('X', 'Y', 'R'), (2,))
    """
    kept = [place for place, name in enumerate(data.names) if name not in names]
    new = {place: position for position, place in enumerate(kept)}
    contexts = replace(
        data.contexts,
        positions=tuple(new[place] for place in data.contexts.positions),
        sources=tuple(None if place is None else new[place] for place in data.contexts.sources),
    )
    assert isinstance(contexts, Contexts)
    return replace(
        data,
        names=tuple(data.names[place] for place in kept),
        kinds=tuple(data.kinds[place] for place in kept),
        columns=tuple(data.columns[place] for place in kept),
        dtypes=tuple(data.dtypes[place] for place in kept),
        contexts=contexts,
        categories={new[place]: levels for place, levels in data.categories.items() if place in new},
    )

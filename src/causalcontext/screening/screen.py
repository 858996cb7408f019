"""The looks at a table before a search, in order: first at the table as it was given, then at what was read of it.

`screened_table` leaves out columns that cannot be variables, so that reading does not stop at them; `screened_data`
leaves out functions of other columns, and says what is damaged.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from causalcontext.data.dataset import Dataset, without_columns
from causalcontext.errors import DataError, KnowledgeError
from causalcontext.screening.damage import words_about_damage
from causalcontext.screening.functions import functions_of_others
from causalcontext.screening.left_out import LeftOut, words_about_left_out


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


def screened_data(data: Dataset, before: Screening, kept: Collection[str] = (), named: Collection[str] = ()
                  ) -> tuple[Dataset, Screening]:  # fmt: skip
    """The columns that were read without the functions of others, and all that is to be said.

    `named` are the columns that knowledge names: it is an error if one of them is left out.
    """
    left_out = functions_of_others(data, kept, named)
    for left in left_out:
        if left.column in named:
            raise KnowledgeError(f"knowledge names {left.column!r}, which would be left out of the search, since "
                                 f"{left}; take it out of the knowledge, or pass keep=[{left.column!r}]")  # fmt: skip
    told = (*before.told, *words_about_damage(data))
    if left_out:
        data = without_columns(data, [left.column for left in left_out])
    return data, Screening((*before.left_out, *left_out), told)


def check_strict(found: Screening) -> None:
    """Return unless columns were left out, for a caller who passed strict=True."""
    if found.left_out:
        raise DataError(f"strict is True, and the table has columns that would be "
                        f"{words_about_left_out(found.left_out)}, or drop them")  # fmt: skip

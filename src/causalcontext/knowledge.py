"""The knowledge of an expert about links, by name, used in both phases of a search.

A required link is never tested, and oriented. A link that is ruled out in both directions is absent
by assumption: it is never tested, has no separating set, and so orients nothing. A link that is
ruled out in one direction is tested, and oriented the other way if it is there; the variable that
cannot be a cause is not conditioned on for its sake.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from causalcontext.data.files import read_toml
from causalcontext.errors import KnowledgeError, check_choice, did_you_mean
from causalcontext.graphs.paths import reach
from causalcontext.kernels.arrays import Bools, Ints

NamedPairs = Sequence[tuple[str, str]] | Sequence[Sequence[str]]


@dataclass(frozen=True)
class Links:
    """Knowledge by number: directed links that `may` exist and that `must`, shape (N, N), from row
    to column.
    """

    may: Bools
    must: Bools

    @cached_property
    def required(self) -> Bools:
        """Pairs with a required link, symmetric."""
        return self.must | self.must.T if self.must.any() else self.must

    def possible(self) -> Bools:
        """Pairs that may be linked in some direction, symmetric; a new array."""
        return self.may | self.may.T

    def rule_out(self, first: Ints, second: Ints) -> Bools:
        """True for the pairs that are ruled out in both directions."""
        return np.asarray(~(self.may[first, second] | self.may[second, first]))

    @cached_property
    def absent(self) -> Bools:
        """Pairs that are ruled out in both directions, symmetric, diagonal included."""
        return ~self.possible()


@dataclass(frozen=True)
class Knowledge:
    """Expert knowledge about links, checked for contradictions when it is made.

    Parameters
    ----------
    required, forbidden : sequences of (cause, effect)
        Links that exist in every context; directed links that exist in none. A pair that is
        forbidden both ways has no link at all.
    tiers : sequence of sequences of names
        Nothing in a later tier causes anything in an earlier one. Variables in no tier are free.
    roots, sinks : sequences of names
        Variables without causes; variables without effects.
    closed : sequence of names
        Variables all of whose links are required ones: every other link there is absent.

    Examples
    --------
    >>> knowledge = Knowledge(required=[("R", "Y")], tiers=[["X"], ["R", "Y"]])
    >>> knowledge | Knowledge(sinks=["Y"])
    Knowledge(required=(('R', 'Y'),), tiers=(('X',), ('R', 'Y')), sinks=('Y',))
    >>> Knowledge(required=[("X", "Y")], forbidden=[("X", "Y")])
    Traceback (most recent call last):
        ...
    causalcontext.errors.KnowledgeError: the link X --> Y is both required and forbidden
    """

    required: tuple[tuple[str, str], ...] = ()
    forbidden: tuple[tuple[str, str], ...] = ()
    tiers: tuple[tuple[str, ...], ...] = ()
    roots: tuple[str, ...] = ()
    sinks: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()

    def __init__(
        self,
        required: NamedPairs = (),
        forbidden: NamedPairs = (),
        tiers: Sequence[Sequence[str]] = (),
        roots: Sequence[str] = (),
        sinks: Sequence[str] = (),
        closed: Sequence[str] = (),
    ) -> None:
        put = object.__setattr__
        for what, pairs in (("required", required), ("forbidden", forbidden)):
            put(self, what, _links(what, pairs))
        put(
            self,
            "tiers",
            tuple(_names(f"tier {i + 1}", tier) for i, tier in enumerate(_listed("tiers", tiers))),
        )
        for what, names in (("roots", roots), ("sinks", sinks), ("closed", closed)):
            put(self, what, _names(what, names))
        self._check()

    @classmethod
    def context_children(cls, context: str, children: Sequence[str]) -> Knowledge:
        """The paper's "adj. R-ch.": these are children of the context, and perhaps others are.

        Examples
        --------
        >>> Knowledge.context_children("R", ["Y"]).required
        (('R', 'Y'),)
        """
        return cls(required=[(context, child) for child in _names("children", children)])

    @classmethod
    def context_neighbours(
        cls,
        context: str,
        parents: Sequence[str] = (),
        children: Sequence[str] = (),
        others: Literal["absent", "unknown"] = "absent",
    ) -> Knowledge:
        """The paper's "adj. R-all": these are the links at the context; `others` are absent, or
        left open.

        Examples
        --------
        >>> Knowledge.context_neighbours("R", parents=["X"], children=["Y"]).closed
        ('R',)
        """
        check_choice("others", others, ("absent", "unknown"))
        into = [(parent, context) for parent in _names("parents", parents)]
        out_of = [(context, child) for child in _names("children", children)]
        return cls(required=into + out_of, closed=[context] if others == "absent" else [])

    @classmethod
    def from_toml(cls, path: str | Path) -> Knowledge:
        """Knowledge from a TOML file with the keys of this class."""
        return cls.from_dict(read_toml(path, "knowledge"))

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Knowledge:
        """Knowledge from a mapping with the keys of this class."""
        known = [field.name for field in fields(cls)]
        for key in content:
            if key not in known:
                expected = ", ".join(known)
                raise KnowledgeError(
                    f"unknown key {key!r} in knowledge, expected"
                    f" {expected}{did_you_mean(key, known)}"
                )
        return cls(**content)

    def to_dict(self) -> dict[str, list[Any]]:
        """The same knowledge as lists, without empty entries."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            key: [list(item) if isinstance(item, tuple) else item for item in value]
            for key, value in values.items()
            if value
        }

    def to_toml(self) -> str:
        """The same knowledge as the text of a TOML file, which `from_toml` reads.

        Examples
        --------
        >>> print(Knowledge(required=[("R", "Y")], roots=["R"]).to_toml(), end="")
        required = [["R", "Y"]]
        roots = ["R"]
        """
        # Lists of text in JSON are lists of text in TOML, but for one letter that must be spelled
        # there.
        lines = (
            f"{key} = {json.dumps(value, ensure_ascii=False)}\n"
            for key, value in self.to_dict().items()
        )
        return "".join(lines).replace("\x7f", "\\u007f")

    @property
    def names(self) -> tuple[str, ...]:
        """Every variable that is mentioned, in order of first mention."""
        pairs = [name for pair in self.required + self.forbidden for name in pair]
        tiered = [name for tier in self.tiers for name in tier]
        return tuple(dict.fromkeys([*pairs, *tiered, *self.roots, *self.sinks, *self.closed]))

    @property
    def linked(self) -> tuple[str, ...]:
        """Every variable of a link that is required or forbidden, and every closed one, in order of
        first mention.
        """
        return Knowledge(self.required, self.forbidden, closed=self.closed).names

    def without(self, names: Collection[str]) -> Knowledge:
        """The knowledge about the other variables.

        Examples
        --------
        >>> Knowledge(tiers=[["X"], ["total"], ["Y"]], roots=["X", "total"]).without(["total"])
        Knowledge(tiers=(('X',), ('Y',)), roots=('X',))
        """
        left_out = frozenset(names)

        def others(variables: Sequence[str]) -> list[str]:
            """The variables that are not left out."""
            return [name for name in variables if name not in left_out]

        required, forbidden = (
            [pair for pair in pairs if left_out.isdisjoint(pair)]
            for pairs in (self.required, self.forbidden)
        )
        tiers = [rest for tier in self.tiers if (rest := others(tier))]
        return Knowledge(
            required, forbidden, tiers, others(self.roots), others(self.sinks), others(self.closed)
        )

    def links(self, names: Sequence[str]) -> Links:
        """The same knowledge over the variables of a table; names that are not there are an error.

        A directed link may exist unless it is forbidden, goes against the tiers, begins at a sink,
        ends at a root, touches a closed variable without being required, or would close a cycle
        with required links: what a required path leads to causes nothing at its beginning.
        """
        index = {name: position for position, name in enumerate(names)}
        for name in self.names:
            if name not in index:
                raise KnowledgeError(
                    f"knowledge names {name!r}, which is not a column{did_you_mean(name, names)}"
                )
        must = self._required_links(index)
        may = ~np.eye(len(index), dtype=bool)
        if self.required:
            linked = np.flatnonzero(must.any(axis=0) | must.any(axis=1))
            may[np.ix_(linked, linked)] &= ~reach(must[np.ix_(linked, linked)]).T
        for cause, effect in [*self.forbidden, *self._against_tiers()]:
            may[index[cause], index[effect]] = False
        may[:, [index[name] for name in self.roots]] = False
        may[[index[name] for name in self.sinks], :] = False
        for position in (index[name] for name in self.closed):
            may[position] &= must[position]
            may[:, position] &= must[:, position]
        return Links(may, must)

    def __or__(self, other: Knowledge) -> Knowledge:
        """All that either knows."""
        if not isinstance(other, Knowledge):
            return NotImplemented
        extra = other._against_tiers() if self.tiers else ()
        names = ("required", "roots", "sinks", "closed")
        both = {name: _merged(getattr(self, name), getattr(other, name)) for name in names}
        forbidden = _merged(self.forbidden, other.forbidden, extra)
        return Knowledge(forbidden=forbidden, tiers=self.tiers or other.tiers, **both)

    def __repr__(self) -> str:
        known = [(field.name, getattr(self, field.name)) for field in fields(self)]
        return f"Knowledge({', '.join(f'{name}={value!r}' for name, value in known if value)})"

    def _against_tiers(self) -> tuple[tuple[str, str], ...]:
        """The directed links that the tiers rule out."""
        return tuple(
            (late, early)
            for position, tier in enumerate(self.tiers)
            for late in tier
            for before in self.tiers[:position]
            for early in before
        )

    def _required_links(self, index: Mapping[str, int]) -> Bools:
        """The required links by number, shape (N, N), from row to column."""
        must = np.zeros((len(index), len(index)), dtype=bool)
        for cause, effect in self.required:
            must[index[cause], index[effect]] = True
        return must

    def _check(self) -> None:
        """Raise if the knowledge contradicts itself.

        A name in two tiers, a required link that is forbidden, goes against tiers, ends at a root
        or begins at a sink, a cycle of required links, and a required path into an earlier tier are
        contradictions. Each error names the link.
        """
        tiered = [name for tier in self.tiers for name in tier]
        for name in tiered:
            if tiered.count(name) > 1:
                raise KnowledgeError(f"{name!r} is in more than one tier")
        forbidden = set(self.forbidden)
        against = set(self._against_tiers())
        for cause, effect in self.required:
            link = f"the link {cause} --> {effect} is"
            if (cause, effect) in forbidden:
                raise KnowledgeError(f"{link} both required and forbidden")
            if (cause, effect) in against:
                raise KnowledgeError(
                    f"{link} required, but {effect!r} is in an earlier tier than {cause!r}"
                )
            if effect in self.roots:
                raise KnowledgeError(f"{link} required, but {effect!r} is a root: it has no causes")
            if cause in self.sinks:
                raise KnowledgeError(f"{link} required, but {cause!r} is a sink: it has no effects")
        index = {name: position for position, name in enumerate(self.names)}
        leads = reach(self._required_links(index))
        circular = [name for name in index if leads[index[name], index[name]]]
        if circular:
            raise KnowledgeError(
                f"the required links form a cycle through {', '.join(map(repr, circular))}"
            )
        for cause, effect in self._against_tiers():
            if leads[index[cause], index[effect]]:
                raise KnowledgeError(
                    f"required links lead from {cause!r} to {effect!r}, which is in an earlier tier"
                )


def _merged(*parts: Iterable[Any]) -> list[Any]:
    """The entries of all parts, each once, in order of first mention."""
    return list(dict.fromkeys(item for part in parts for item in part))


def _listed(what: str, value: Any) -> Sequence[Any]:
    """The entries of a list; a text, which would be read letter by letter, is refused."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise KnowledgeError(f"{what} is {value!r}, expected a list")
    return list(value)


def _names(what: str, value: Any) -> tuple[str, ...]:
    """The names of a list, each once; anything else than text is refused."""
    names = tuple(_listed(what, value))
    for name in names:
        if not isinstance(name, str):
            raise KnowledgeError(f"{what} holds {name!r}, expected a column name in quotes")
    return tuple(dict.fromkeys(names))


def _links(what: str, value: Any) -> tuple[tuple[str, str], ...]:
    """The pairs (cause, effect) of a list, each once; pairs of one variable with itself are
    refused.
    """
    pairs = []
    for pair in _listed(what, value):
        names = _listed(f"an entry of {what}", pair)
        if len(names) != 2 or not all(isinstance(name, str) for name in names):
            raise KnowledgeError(
                f"{what} holds {pair!r}, expected a pair (cause, effect) of column names"
            )
        if names[0] == names[1]:
            raise KnowledgeError(f"{what} holds a link from {names[0]!r} to itself")
        pairs.append((names[0], names[1]))
    return tuple(dict.fromkeys(pairs))

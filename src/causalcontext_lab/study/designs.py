"""What a study runs: a grid of settings, crossed with methods, knowledge and repeats; as an object
or a TOML file.

Every entry is checked when the design is made, before anything runs. Below are the designs of the
paper's whole simulation study by name (Sec. 5, App. "Further details on the simulation study"), and
its published data, faults included, for replication only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from causalcontext.ci_tests.registry import TESTS
from causalcontext.data.files import read_toml
from causalcontext.data.frames import frame_of, pd
from causalcontext.errors import (
    OptionError,
    check_choice,
    check_level,
    check_truth,
    check_whole,
    did_you_mean,
)
from causalcontext.examples import NOISE_LAWS
from causalcontext_lab.simulate.hidden import HiddenVariables, random_hidden_model
from causalcontext_lab.simulate.linear import (
    ContextSCM,
    add_effects,
    cut_at_quantiles,
    random_model,
)
from causalcontext_lab.simulate.random_graphs import ModelDesign, random_family

KNOWLEDGE = ("none", "r-children", "r-all")
GENERATORS = ("paper", "legacy", "hidden")
LONGEST_NAME = 100


def whole(least: int | None = None, or_none: bool = False) -> Callable[[str, object], None]:
    """A check for whole numbers, or None."""
    return lambda name, value: (
        None if or_none and value is None else check_whole(name, value, least)
    )


def share(name: str, value: object) -> None:
    """Return if `value` is a number above 0, up to 1."""
    if value != 1 or isinstance(value, bool):
        check_level(name, value)


def number(name: str, value: object) -> None:
    """Return if `value` is a finite number from 0."""
    plain = isinstance(value, int | float | np.floating) and not isinstance(value, bool)
    if not plain or not 0.0 <= value < np.inf:  # type: ignore[operator]
        raise OptionError(f"{name} is {value!r}, expected a number from 0")


def texts(name: str, value: object) -> None:
    """Return if `value` is a list of words."""
    if not isinstance(value, tuple) or not all(isinstance(entry, str) for entry in value):
        raise OptionError(f"{name} is {value!r}, expected a list of names")


SETTING: dict[str, Callable[[str, object], None]] = {
    "nodes": whole(2),
    "density": share,
    "samples": whole(1),
    "contexts": whole(2),
    "changes": whole(1),
    "edits": texts,
    "cycle_length": whole(2, or_none=True),
    "balance": number,
    "context_noise": number,
    "exogenous": check_truth,
    "hidden": whole(0),
}
DESIGN: dict[str, Callable[[str, object], None]] = {
    "methods": texts,
    "knowledge": texts,
    "repeats": whole(),
    "seed": whole(0),
    "alpha": check_level,
}


ADDED_COEFFICIENTS = (-0.5, -0.4, -0.3, -0.2, -0.1, 0.1, 0.2, 0.3, 0.4)
"""Coefficients of added links. The scripts may draw 0 too, a link without effect; such draws are
left out here.
"""


@dataclass(frozen=True, eq=False)
class LegacySCM(ContextSCM):
    """A random model whose tables are drawn as the authors' scripts draw them; its graphs are as
    they claim.

    The scripts differ from the paper's text. Their first pass starts at the noises and adds the
    links of one context after the other to the same values, so that the context depends on
    mechanisms of all contexts; then it is cut into levels. Their second pass starts at the noises
    again and adds the links of the row's own context. So the context is no function of its final
    parents, and "false" positives at it are true dependences. Both passes walk context r in the
    causal order of context r - 1, the first one in that of the base graph.
    """

    def sample(self, n: int, seed: int | np.random.Generator) -> pd.DataFrame:
        """A table of `n` rows; the context's column holds the integers 0 .. contexts - 1."""
        if n < self.contexts:
            raise OptionError(
                f"n is {n}; a table with {self.contexts} contexts needs at least as many rows"
            )
        noise = self.noise(np.random.default_rng(seed), (len(self.names), n))
        orders = (self.base_order, *self.orders)
        accumulated = noise.copy()
        for level in range(self.contexts):
            add_effects(accumulated, self.coefficients[level], orders[level])
        levels = cut_at_quantiles(accumulated[self.context], self.contexts, self.balance)
        for level in range(self.contexts):
            rows = np.flatnonzero(levels == level)
            block = noise[:, rows]
            add_effects(block, self.coefficients[level], orders[level])
            noise[:, rows] = block
        columns = {name: noise[node] for node, name in enumerate(self.names)}
        return frame_of(columns | {self.context_name: levels})


def random_legacy_model(
    nodes: int = 8,
    density: float = 0.4,
    *,
    seed: int | np.random.Generator,
    balance: float = 1.0,
    **design: Any,
) -> LegacySCM:
    """A random model as in the published study; the arguments are those of `random_model`."""
    made = ModelDesign(nodes, density, **design, added_coefficients=ADDED_COEFFICIENTS)
    family = random_family(made, np.random.default_rng(seed))
    names = tuple("R" if node == family.context else f"X{node}" for node in range(nodes))
    return LegacySCM(
        names,
        family.context,
        family.coefficients,
        family.order,
        balance=balance,
        context_noise=1.0,
        rejections=family.rejections,
    )


@dataclass(frozen=True)
class Setting:
    """Which systems are drawn, and how many rows; the meaning of every entry is that of
    `random_model`.

    With the generator "hidden", `random_hidden_model` draws two contexts over `nodes` columns, R
    included, and `hidden` variables that no table has; of the other entries only `density`, the
    share of linked pairs, counts.
    """

    nodes: int = 8
    density: float = 0.4
    samples: int = 1000
    contexts: int = 2
    changes: int = 1
    edits: tuple[str, ...] = ("remove",)
    cycles: str = "exclude"
    cycle_length: int | None = None
    balance: float = 1.0
    context_noise: float = 0.2
    noise: str = "normal"
    exogenous: bool = False
    generator: str = "paper"
    hidden: int = 0

    def __post_init__(self) -> None:
        for name, check in SETTING.items():
            check(name, getattr(self, name))
        check_choice("generator", self.generator, GENERATORS)
        check_choice("noise", self.noise, NOISE_LAWS)
        ModelDesign(
            self.nodes,
            self.density,
            self.contexts,
            self.changes,
            self.edits,
            self.cycles,
            self.cycle_length,
        )
        if self.hidden and self.generator != "hidden":
            raise OptionError(
                f"hidden is {self.hidden}, which needs the generator 'hidden', got"
                f" {self.generator!r}"
            )

    def draw_model(self, seed: np.random.Generator) -> ContextSCM | HiddenVariables:
        """A random model of this setting."""
        if self.generator == "hidden":
            return random_hidden_model(
                self.nodes - 1, self.hidden, self.density * (self.nodes - 2), seed=seed
            )
        shared = {
            name: getattr(self, name)
            for name in ("contexts", "changes", "edits", "cycles", "balance")
        }
        if self.generator == "legacy":
            return random_legacy_model(self.nodes, self.density, seed=seed, **shared)
        return random_model(
            self.nodes,
            self.density,
            seed=seed,
            context_noise=self.context_noise,
            noise=NOISE_LAWS[self.noise],
            cycle_length=self.cycle_length,
            exogenous=self.exogenous,
            **shared,
        )


@dataclass(frozen=True)
class Design:
    """A study: every setting, repeated; every method on the same tables, with every kind of
    knowledge.

    >>> design = Design("small", grid(samples=[200, 500], density=[0.3, 0.4]), repeats=10)
    >>> len(design.settings), len(design.jobs())
    (4, 40)
    """

    name: str
    settings: tuple[Setting, ...] = (Setting(),)
    methods: tuple[str, ...] = ("pc-ac", "pc-m", "pc-b", "pc-p")  # names of `study.methods.METHODS`
    knowledge: tuple[str, ...] = KNOWLEDGE  # what the methods are told about links at the context
    repeats: int = 100  # models drawn per setting
    seed: int = 0
    test: str = "auto"  # a name of the registry of tests
    alpha: float = 0.05

    def __post_init__(self) -> None:
        plain = isinstance(self.name, str) and len(self.name) <= LONGEST_NAME
        if not plain or not re.fullmatch(r"\w[\w .+=-]*", self.name):
            raise OptionError(
                f"the name of a design is {self.name!r}, expected letters, digits, spaces and . + ="
                " - _, since files are called by it"
            )
        for name, check in DESIGN.items():
            check(name, getattr(self, name))
        check_choice("test", self.test, ("auto", *TESTS))
        for kind in self.knowledge:
            check_choice("an entry of knowledge", kind, KNOWLEDGE)
        if not self.settings or not self.methods or not self.knowledge or self.repeats < 1:
            raise OptionError(
                f"design {self.name!r} is empty: it needs settings, methods, knowledge and repeats"
                " >= 1"
            )
        if any(setting.generator == "hidden" for setting in self.settings) and self.knowledge != (
            "none",
        ):
            raise OptionError(
                f"knowledge is {self.knowledge!r}; where variables are hidden, expected ('none',)"
            )
        if len(set(self.settings)) < len(self.settings):
            raise OptionError(f"design {self.name!r} has a setting twice")

    def jobs(self) -> tuple[tuple[int, int], ...]:
        """Every (place of a setting, repeat), in the order of the final table."""
        return tuple(product(range(len(self.settings)), range(self.repeats)))

    def seeds(
        self, setting: Setting, repeat: int
    ) -> tuple[np.random.Generator, np.random.Generator]:
        """Generators for the model and for its table, which depend on nothing but the setting and
        the repeat.
        """
        # Settings that differ in the number of rows alone share their models.
        entries = asdict(setting)
        if not setting.hidden:
            del entries["hidden"]  # so that settings without it have the seeds that they always had
        system = entries | {"samples": 0}
        return _generator(self.seed, repeat, "model", system), _generator(
            self.seed, repeat, "rows", entries
        )

    def to_dict(self) -> dict[str, Any]:
        """The design as plain lists, mappings, numbers and text."""
        return asdict(self)

    @classmethod
    def from_toml(cls, path: str | Path) -> Design:
        """A design from a TOML file with the keys of this class, and a table `setting` whose lists
        span a grid.
        """
        return cls.from_dict({"name": Path(path).stem} | read_toml(path, "design"))

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Design:
        """A design from a mapping with the keys of this class, and a table `setting` whose lists
        span a grid.
        """
        known = [field.name for field in fields(cls) if field.name != "settings"]
        _check_keys("a design", content, [*known, "setting"])
        setting = content.get("setting", {})
        if not isinstance(setting, Mapping):
            raise OptionError(
                f"setting is {setting!r}, expected a table: [setting], then one line for every"
                " entry"
            )
        _check_keys("the table 'setting'", setting, [field.name for field in fields(Setting)])
        plain: Any = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in content.items()
        }
        plain.pop("setting", None)
        return cls(settings=grid(**setting), **plain)


def grid(**entries: Any) -> tuple[Setting, ...]:
    """Every combination of the entries' values; a single value stands for a list of one.

    `edits` is a list itself: a list of lists spans the grid.

    >>> [setting.samples for setting in grid(samples=[200, 500], nodes=6)]
    [200, 500]
    """
    choices: dict[str, Sequence[Any]] = {}
    for name, value in entries.items():
        several = isinstance(value, list | tuple)
        choices[name] = value if several else [value]
        if several and name == "edits":
            nested = bool(value) and all(isinstance(entry, list | tuple) for entry in value)
            choices[name] = [tuple(entry) for entry in value] if nested else [tuple(value)]
    return tuple(
        Setting(**dict(zip(choices, chosen, strict=True))) for chosen in product(*choices.values())
    )


def _check_keys(what: str, content: Mapping[str, Any], known: Sequence[str]) -> None:
    for key in content:
        if key not in known:
            raise OptionError(
                f"unknown key {key!r} in {what}, expected"
                f" {', '.join(known)}{did_you_mean(key, known)}"
            )


def _generator(
    seed: int, repeat: int, purpose: str, about: Mapping[str, Any]
) -> np.random.Generator:
    text = f"{seed}|{repeat}|{purpose}|" + "|".join(
        f"{key}={value!r}" for key, value in sorted(about.items())
    )
    return np.random.default_rng(int.from_bytes(sha256(text.encode()).digest()[:16], "big"))


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
"""Everything that needs nothing but this library. The tables are linear and Gaussian, and so are
the tests.
"""

UNION_BASELINES: Mapping[str, Design] = {
    f"baselines-{name}": replace(
        PARAMETRIC[name], name=f"baselines-{name}", methods=BASELINES, knowledge=("none",)
    )
    for name in ("main", "cycles")
}
"""FCI-JCI0 and CD-NOD (extra `compare`), on the very tables of `main` and `cycles`."""

NONPARAMETRIC = Design(
    "nonparametric", grid(samples=SAMPLES[:3]), knowledge=("none",), test="cmi-knn-mixed"
)
"""The right-hand panel of the main figure: `cmi-knn` for pairs with the context, partial
correlation for the others.

Every trial is answered once, so that of the methods that share trials only the first, PC-AC, has
its full time. Without score-ac, which uses no test: it would find on these tables just what it
finds in `main`.
"""

DEFAULT_TEST = replace(NONPARAMETRIC, name="default-test", test="auto")
"""The same tables with what `test="auto"` picks: `robust-change` at the context."""

_PUBLISHED = tuple(f"published {name}" for name in ("pc-ac", "pc-m", "pc-b", "pc-p"))
AS_PUBLISHED = Design(
    "as-published", grid(samples=SAMPLES, generator="legacy"), _PUBLISHED, test="regression-legacy"
)
"""The main setting with the generator, the tests and the metrics behind the published figures."""

AS_PUBLISHED_BASELINES = replace(
    AS_PUBLISHED, name="as-published-baselines", methods=BASELINES, knowledge=("none",)
)


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

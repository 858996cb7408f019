"""Clean tables with a known truth, from a river, a factory, a shop, a greenhouse, a hospital and a
lake.

Mechanisms are strong enough for a search to find nearly all of them in so many rows, so that what
an accident does to an answer can be told from chance.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pandas as pd

Pair = tuple[str, str]
Noise = Callable[[str], np.ndarray]
"""A standard normal number for every row, by the name of the variable whose noise it is."""


@dataclass(frozen=True)
class Truth:
    """What is true of the tables of a base.

    Attributes
    ----------
    arrows : tuple of (cause, effect)
        The links of the second context, the context's own included; without a context, all links.
    context : str or None
    values : (first, second)
        Two values of the context; None without a context.
    absent : tuple of (cause, effect)
        The links that the first context lacks.
    changed : tuple of (cause, effect)
        Links and slopes that differ between the two.
    moved : tuple of str
        Variables that the context changes in any way.
    alike : tuple of (value, value)
        Contexts between which nothing differs.
    cause, middle, sink : str
        Numbers: one without a cause, one with a cause and an effect, one that causes nothing.
    asked : (cause, effect, size)
        An effect where the context has its second value.
    """

    arrows: tuple[Pair, ...]
    cause: str
    middle: str
    sink: str
    asked: tuple[str, str, float]
    context: str | None = None
    values: tuple[str, str] | None = None
    absent: tuple[Pair, ...] = ()
    changed: tuple[Pair, ...] = ()
    moved: tuple[str, ...] = ()
    alike: tuple[tuple[str, str], ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    tiers: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, eq=False)
class Base:
    """A clean table, and what is true of it."""

    name: str
    table: pd.DataFrame
    truth: Truth
    draw: Callable[[Noise], pd.DataFrame]
    """Another table of the same mechanisms, with noise of one's own."""

    @property
    def numbers(self) -> list[str]:
        """The columns of measurements."""
        return [name for name in self.table if pd.api.types.is_float_dtype(self.table[name])]

    def links(self, value: str | None, everywhere: bool) -> set[frozenset[str]]:
        """The linked pairs in a context; `everywhere` asks for those of any context."""
        truth = self.truth
        lacking = (
            truth.absent if truth.values and value == truth.values[0] and not everywhere else ()
        )
        return {frozenset(pair) for pair in truth.arrows if pair not in lacking}


def sigmoid(x: np.ndarray) -> np.ndarray:
    """The probability of logits."""
    return 1.0 / (1.0 + np.exp(-x))


def happens(probability: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Whether something happens that is so probable, by standard normal noise."""
    uniform = pd.Series(noise).rank().to_numpy() / (len(noise) + 1.0)
    return uniform < probability


def river(noise: Noise) -> pd.DataFrame:
    """Lines. Rain and melt water make a flood, in which flow carries sediment and heat takes
    oxygen.
    """
    rain, melt, heat = noise("rain"), noise("melt"), noise("heat")
    flood = happens(sigmoid(2.8 * rain + 2.8 * melt - 0.2), noise("stage"))
    flow = 0.8 * rain + 0.9 * flood + 0.7 * noise("flow")
    sediment = 0.8 * melt + flood * flow + 0.9 * noise("sediment")
    oxygen = -(0.2 + 0.9 * flood) * heat - 0.6 * flood + 0.8 * noise("oxygen")
    algae = 0.7 * sediment - 0.7 * oxygen + 0.9 * noise("algae")
    return pd.DataFrame(
        {
            "rain": 30 + 8 * rain,
            "flow": 120 + 25 * flow,
            "stage": np.where(flood, "flood", "calm"),
            "melt": 12 + 3 * melt,
            "sediment": 60 + 15 * sediment,
            "heat": 14 + 4 * heat,
            "oxygen": 9 + 1.5 * oxygen,
            "algae": 40 + 6 * algae,
        }
    )


def factory(noise: Noise) -> pd.DataFrame:
    """Curves. A shift is drawn by lot; at night pressure bends the strength of what is made."""
    speed, damp = noise("speed"), noise("damp")
    night = happens(np.full(len(speed), 0.5), noise("shift"))
    pressure = 1.5 * np.tanh(1.4 * speed) + 0.8 * night + 0.6 * noise("pressure")
    warmth = 1.4 * np.sin(1.3 * damp) + 0.6 * noise("warmth")
    strength = 1.5 * night * np.tanh(1.2 * pressure) + 1.1 * warmth + 0.7 * noise("strength")
    waste = 0.5 * strength**2 + 0.8 * warmth + 0.7 * noise("waste")
    return pd.DataFrame(
        {
            "damp": 45 + 9 * damp,
            "shift": np.where(night, "night", "day"),
            "pressure": 8 + 1.5 * pressure,
            "strength": 250 + 30 * strength,
            "speed": 90 + 12 * speed,
            "waste": 20 + 4 * waste,
            "warmth": 60 + 7 * warmth,
        }
    )


def shop(noise: Noise) -> pd.DataFrame:
    """Mixed kinds. Age and an offer make a member, who spends what the budget allows and comes more
    often.
    """
    age, offer_noise, town_noise = noise("age"), noise("offer"), noise("town")
    offer = offer_noise > 0.3
    town = np.select([town_noise > 0.5, town_noise < -0.6], ["port", "hill"], "lake")
    budget = np.select([town == "port", town == "hill"], [1.0, -1.0], 0.0) + 0.8 * noise("budget")
    member = happens(sigmoid(2.8 * age + 3.0 * (offer - 0.4)), noise("card"))
    rate = np.exp(0.6 + 0.7 * offer + 0.6 * member)
    uniform = pd.Series(noise("visits")).rank().to_numpy() / (len(age) + 1.0)
    visits = np.floor(rate * -np.log(1.0 - uniform) * 0.5 + np.sqrt(rate)).astype(int)
    spent = 0.4 * (visits - 3.0) + member * budget + 0.8 * noise("spent")
    praise = 0.7 * spent - (0.2 + 0.9 * member) * age + 0.8 * noise("praise")
    return pd.DataFrame(
        {
            "town": town,
            "age": 44 + 11 * age,
            "budget": 300 + 60 * budget,
            "offer": offer.astype(int),
            "card": np.where(member, "gold", "none"),
            "visits": visits,
            "spent": 80 + 20 * spent,
            "praise": 6 + praise,
        }
    )


def greenhouse(noise: Noise) -> pd.DataFrame:
    """Curves. Warm air and bright light open the roof, which bends what both do to growth."""
    light, air = noise("light"), noise("air")
    opened = happens(sigmoid(2.6 * light + 2.6 * air), noise("roof"))
    humidity = 1.5 * np.tanh(1.3 * air) - 0.9 * opened + 0.6 * noise("humidity")
    growth = 1.4 * np.sin(1.3 * light) + 1.6 * opened * np.tanh(humidity) + 0.6 * noise("growth")
    aroma = (0.4 + 1.4 * opened) * np.tanh(1.5 * air) + 0.6 * noise("aroma")
    harvest = 0.9 * growth + 0.5 * aroma**2 + 0.6 * noise("harvest")
    return pd.DataFrame(
        {
            "harvest": 70 + 12 * harvest,
            "light": 400 + 90 * light,
            "roof": np.where(opened, "open", "shut"),
            "growth": 25 + 5 * growth,
            "air": 22 + 4 * air,
            "humidity": 60 + 8 * humidity,
            "aroma": 5 + aroma,
        }
    )


def hospital(noise: Noise) -> pd.DataFrame:
    """Lines in three wards: in one of them a drug acts; the two others are alike."""
    age, drug = noise("age"), noise("drug")
    place = noise("ward")
    ward = np.select([place > 0.45, place < -0.45], ["east", "west"], "north")
    east = ward == "east"
    pulse = 0.8 * age + east * drug + 0.8 * noise("pulse")
    fever = (0.2 + 0.9 * east) * age + 0.7 * east + 0.8 * noise("fever")
    nights = 0.7 * pulse + 0.7 * fever + 0.9 * noise("nights")
    return pd.DataFrame(
        {
            "ward": ward,
            "age": 60 + 12 * age,
            "drug": 15 + 3 * drug,
            "pulse": 80 + 9 * pulse,
            "fever": 38 + 0.6 * fever,
            "nights": 9 + 2 * nights,
        }
    )


def lake(noise: Noise) -> pd.DataFrame:
    """Lines without a context."""
    wind, sun = noise("wind"), noise("sun")
    mixing = 0.9 * wind + 0.7 * noise("mixing")
    warm = 0.8 * sun - 0.6 * mixing + 0.7 * noise("warm")
    plankton = 0.8 * warm + 0.7 * noise("plankton")
    fish = 0.8 * plankton + 0.5 * mixing + 0.8 * noise("fish")
    return pd.DataFrame(
        {
            "wind": 6 + 2 * wind,
            "sun": 180 + 40 * sun,
            "mixing": 5 + mixing,
            "warm": 16 + 3 * warm,
            "plankton": 20 + 4 * plankton,
            "fish": 100 + 18 * fish,
        }
    )


BASES: dict[str, tuple[Callable[[Noise], pd.DataFrame], int, Truth]] = {
    "river": (
        river,
        1000,
        Truth(
            arrows=(
                ("rain", "stage"),
                ("melt", "stage"),
                ("rain", "flow"),
                ("stage", "flow"),
                ("melt", "sediment"),
                ("flow", "sediment"),
                ("stage", "sediment"),
                ("heat", "oxygen"),
                ("stage", "oxygen"),
                ("sediment", "algae"),
                ("oxygen", "algae"),
            ),
            context="stage",
            values=("calm", "flood"),
            absent=(("flow", "sediment"),),
            changed=(("flow", "sediment"), ("heat", "oxygen")),
            moved=("flow", "sediment", "oxygen"),
            cause="rain",
            middle="flow",
            sink="algae",
            asked=("flow", "sediment", 15 / 25),
        ),
    ),
    "factory": (
        factory,
        800,
        Truth(
            arrows=(
                ("speed", "pressure"),
                ("shift", "pressure"),
                ("damp", "warmth"),
                ("pressure", "strength"),
                ("shift", "strength"),
                ("warmth", "strength"),
                ("strength", "waste"),
                ("warmth", "waste"),
            ),
            context="shift",
            values=("day", "night"),
            absent=(("pressure", "strength"),),
            changed=(("pressure", "strength"),),
            moved=("pressure", "strength"),
            cause="speed",
            middle="pressure",
            sink="waste",
            asked=("warmth", "strength", 1.1 * 30 / 7),
        ),
    ),
    "shop": (
        shop,
        1000,
        Truth(
            arrows=(
                ("town", "budget"),
                ("age", "card"),
                ("offer", "card"),
                ("offer", "visits"),
                ("card", "visits"),
                ("visits", "spent"),
                ("budget", "spent"),
                ("card", "spent"),
                ("spent", "praise"),
                ("age", "praise"),
                ("card", "praise"),
            ),
            context="card",
            values=("none", "gold"),
            absent=(("budget", "spent"),),
            changed=(("budget", "spent"), ("age", "praise")),
            moved=("visits", "spent", "praise"),
            cause="age",
            middle="spent",
            sink="praise",
            asked=("budget", "spent", 20 / 60),
            kinds={"visits": "count", "offer": "categorical"},
            tiers=(
                ("town", "age", "offer"),
                ("budget",),
                ("card",),
                ("visits",),
                ("spent",),
                ("praise",),
            ),
        ),
    ),
    "greenhouse": (
        greenhouse,
        1000,
        Truth(
            arrows=(
                ("light", "roof"),
                ("air", "roof"),
                ("air", "humidity"),
                ("roof", "humidity"),
                ("light", "growth"),
                ("humidity", "growth"),
                ("roof", "growth"),
                ("air", "aroma"),
                ("roof", "aroma"),
                ("growth", "harvest"),
                ("aroma", "harvest"),
            ),
            context="roof",
            values=("shut", "open"),
            absent=(("humidity", "growth"),),
            changed=(("humidity", "growth"), ("air", "aroma")),
            moved=("humidity", "growth", "aroma"),
            cause="light",
            middle="humidity",
            sink="harvest",
            asked=("growth", "harvest", 0.9 * 12 / 5),
        ),
    ),
    "hospital": (
        hospital,
        900,
        Truth(
            arrows=(
                ("age", "pulse"),
                ("drug", "pulse"),
                ("ward", "pulse"),
                ("age", "fever"),
                ("ward", "fever"),
                ("pulse", "nights"),
                ("fever", "nights"),
            ),
            context="ward",
            values=("north", "east"),
            absent=(("drug", "pulse"),),
            changed=(("drug", "pulse"), ("age", "fever")),
            moved=("pulse", "fever"),
            alike=(("north", "west"),),
            cause="drug",
            middle="pulse",
            sink="nights",
            asked=("drug", "pulse", 9 / 3),
        ),
    ),
    "lake": (
        lake,
        600,
        Truth(
            arrows=(
                ("wind", "mixing"),
                ("sun", "warm"),
                ("mixing", "warm"),
                ("warm", "plankton"),
                ("plankton", "fish"),
                ("mixing", "fish"),
            ),
            cause="sun",
            middle="warm",
            sink="fish",
            asked=("warm", "plankton", 0.8 * 4 / 3),
        ),
    ),
}
"""For every base its mechanisms, the rows of a table, and the truth."""


def _normal(generator: np.random.Generator, rows: int, name: str) -> np.ndarray:
    return generator.standard_normal(rows)


def clean_base(name: str, seed: int) -> Base:
    """A clean table of a base."""
    mechanisms, rows, truth = BASES[name]
    generator = np.random.default_rng([seed, zlib.crc32(name.encode())])
    return Base(name, mechanisms(partial(_normal, generator, rows)), truth, mechanisms)

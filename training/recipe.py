"""How much of what goes into a model: all that differs between a real one and a tiny one."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from training import own_text
from training.fetch import Package, packages

GLOSSARY = Path(__file__).parent.parent / "src/toolcrib/text/glossaries/en-zh.txt"


class Recipe(NamedTuple):
    """What a model is made of.

    `own` are our own lists, and `requests` is how many requests are put together from them;
    `plans` are the two trainings as arguments of `training.train`, and `share` is how much of the
    second is in the mix.
    """

    packages: Sequence[Package]
    own: own_text.Own
    requests: int
    plans: Mapping[str, Sequence[str]]
    share: float = 0.3


def full() -> Recipe:
    """A short training that stays near the teacher, and a long one that knows large catalogs.

    `training.soup` measures other shares.
    """
    one = (
        "--steps-a 1000 --rate-a 1.5e-4 --wordy 8 --steps-b 450 --rate-b 1e-4 --keep 0.5"
        " --minutes-a 2 --minutes-b 2"
    )
    other = (
        "--steps-a 20000 --rate-a 4e-4 --steps-b 8000 --rate-b 7e-5 --keep 1.0"
        " --minutes-a 3.8 --minutes-b 1.8"
    )
    plans = {"one": one.split(), "other": other.split()}
    return Recipe(packages(), own_text.load(GLOSSARY), 90_000, plans)

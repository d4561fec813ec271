"""How much of what goes into a model: all that differs between a real one and a tiny one."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from training import own_text, requests
from training.corpus import Ours
from training.fetch import Package, packages

GLOSSARY = Path(__file__).parent.parent / "src/toolcrib/text/glossaries/en-zh.txt"
Plans = Mapping[str, Sequence[str]]


class Recipe(NamedTuple):
    """What a model is made of.

    `plans` are the two trainings as arguments of `training.train`, and `share` is how much of the
    second is in their mix. `fits` are what goes on from there, as arguments of `training.fit`,
    `counts` says how often each counts in their mean (once, where it says nothing), and `fit_share`
    is how much of that mean is in the model.
    """

    packages: Sequence[Package]
    ours: Ours
    plans: Plans
    fits: Plans
    counts: Mapping[str, int] = {}
    share: float = 0.3
    fit_share: float = 0.85


def full() -> Recipe:
    """A short training that stays near the teacher, and a long one that knows large catalogs.

    Then three that learn what fits and to look twice, each holding harder to the former order;
    the first two count double. `training.soup` measures other shares.
    """
    plans = {
        "one": "--steps-a 1000 --rate-a 1.5e-4 --wordy 8 --steps-b 450 --rate-b 1e-4 --keep 0.5"
        " --minutes-a 2 --minutes-b 2",
        "other": "--steps-a 20000 --rate-a 4e-4 --steps-b 8000 --rate-b 7e-5 --keep 1.0"
        " --minutes-a 3.8 --minutes-b 1.8",
    }
    fits = {
        "fit-1": "--steps 1150 --minutes 4 --rate 1.5e-4 --order 3 --seed 1",
        "fit-2": "--steps 1150 --minutes 4 --rate 1.2e-4 --order 5 --seed 2",
        "fit-3": "--steps 1150 --minutes 4 --rate 1.5e-4 --order 6 --seed 3",
    }
    ours = Ours(own_text.load(GLOSSARY), 90_000, requests.load())
    return Recipe(packages(), ours, _split(plans), _split(fits), {"fit-1": 2, "fit-2": 2})


def _split(plans: Mapping[str, str]) -> Plans:
    return {name: plan.split() for name, plan in plans.items()}

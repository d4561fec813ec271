"""How much of what goes into a model: all that differs between a real one and a tiny one."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from training import requests
from training.fetch import Weights, weights


class Recipe(NamedTuple):
    """What a model is made of.

    `write`, `teach` and each of `students` are arguments of `training.writing`, `training.teach`
    and `training.distil`. `shares` says how much each student counts in the model; the rest of it
    is the model that they began as.
    """

    teacher: Weights | None
    written: requests.Written
    write: Sequence[str]
    teach: Sequence[str]
    students: Mapping[str, Sequence[str]]
    shares: Sequence[float]


def full() -> Recipe:
    """Two students of one teacher, the second of which stays nearer to the model that both were.

    A quarter of that model keeps what the texts here have little of, such as whole dialogues.
    """
    students = {
        "one": "--minutes 12.3 --rate 6e-4 --seed 1".split(),
        "other": "--minutes 10.6 --rate 3e-4 --seed 2".split(),
    }
    write, teach = ["--seconds", "185"], ["--minutes", "6.5"]
    return Recipe(weights(), requests.load(), write, teach, students, (0.45, 0.3))

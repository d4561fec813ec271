"""The nearest spellings of a word: for typos in queries and for "did you mean".

rapidfuzz is loaded by the first word that needs it: most searches have none, and it takes longer to
load than such a search.
"""

from collections.abc import Sequence

from toolcrib.text.analyzer import fold

LONG_WORD = 8
MOST_EDITS = 2


def edits_of(word: str) -> int:
    """How many edits away a word may be to be a typo of this one."""
    return MOST_EDITS if len(word) >= LONG_WORD else 1


def typos(word: str, vocabulary: Sequence[str], *, most: int | None = 8) -> list[str]:
    """The words one edit away (two for words of eight letters and more), nearest first.

    An edit is one letter more, less, other, or two neighbours swapped.
    """
    from rapidfuzz import process  # noqa: PLC0415 - as said above, and so are the others
    from rapidfuzz.distance import OSA  # noqa: PLC0415

    edits = edits_of(word)
    found = process.extract(word, vocabulary, scorer=OSA.distance, score_cutoff=edits, limit=most)
    return [near for near, distance, _ in found if distance]


def nearest_names(
    name: str, names: Sequence[str], *, limit: int = 3, at_least: float = 50
) -> tuple[str, ...]:
    """The names most alike, best first, ties in alphabetical order; none that are unlike.

    `at_least` is a likeness in per cent.
    """
    from rapidfuzz import fuzz, process  # noqa: PLC0415

    found = process.extract(
        name, names, scorer=fuzz.WRatio, processor=fold, score_cutoff=at_least, limit=limit * 4
    )
    ranked = sorted(found, key=lambda entry: (-entry[1], entry[0]))
    return tuple(near for near, _, _ in ranked[:limit])


def list_nearest(name: str, names: Sequence[str]) -> str:
    """The nearest names as a message ends with them: `read_file, read_dir`, or `none`."""
    return ", ".join(nearest_names(name, names)) or "none"


def did_you_mean(name: str, names: Sequence[str], *, at_least: float = 50) -> str:
    """The question that a message ends with: `did you mean 'read_file'?`; "" if none is alike."""
    near = nearest_names(name, names, limit=1, at_least=at_least)
    return f"did you mean {near[0]!r}?" if near else ""


def likeness(one: str, other: str, *, at_least: float = 0) -> float:
    """How much two texts are alike, letter by letter, in per cent; 0 where it is below `at_least`.

    A bound saves most of the work where texts are unlike.
    """
    from rapidfuzz import fuzz  # noqa: PLC0415

    return fuzz.ratio(one, other, score_cutoff=at_least)

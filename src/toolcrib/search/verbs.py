"""What a query or a tool wants done: the family of its verb.

Families let "show me all buckets" meet list_buckets: the words differ, the verb family does not.
A family may have an opposite, and some destroy: a tool of such a family fits a request that asks
for just that, and hardly any other.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from toolcrib.text import Verb, is_unspaced, our_verbs, words

_OBJECT_STARTS = frozenset(
    """
    a an the this that these those it them him her us me my our your his their its all any each
    every some one two three both another everyone everybody someone
    what whatever everything
    """.split()
)


@lru_cache(maxsize=1 << 16)
def verb_family(text: str) -> str:
    """The family of the verb in a name or a request; "" if it has none that is known.

    That is the first verb in the form of a command. A word that is as often a noun counts as one
    where an article or a pronoun follows, or where there is no other: email_delete deletes, and
    "email me" sends. list_deleted_items lists.
    """
    best = min(_verbs(text), key=_doubt, default=None)  # of equal ones the first
    return best.family if best else ""


def opposite_family(family: str) -> str:
    """The family that does the opposite; "" if there is none."""
    known = our_verbs().families.get(family)
    return known.opposite if known else ""


@lru_cache(maxsize=1 << 16)
def is_destructive(name: str) -> bool:
    """Whether a tool of this name does what is hard to undo: deletes, cancels, resets, revokes.

    Only its verb counts: list_deleted_items lists, and get_removal_policy reads.
    """
    known = our_verbs().families.get(verb_family(name))
    return known is not None and known.destroys


def asks_for(family: str, text: str) -> bool:
    """Whether any word of a text is a verb of this family, in any form: deleted, 删掉."""
    return family in _families(text)


def _doubt(verb: Verb) -> tuple[bool, bool, bool]:
    """How little a word shows that it is the verb of its text; less comes first."""
    return verb.hint, not verb.base, verb.noun_like


@lru_cache(maxsize=256)
def _families(text: str) -> frozenset[str]:
    return frozenset(verb.family for verb in _verbs(text))


def _verbs(text: str) -> Iterator[Verb]:
    """The verbs of a text in order. One that is shown to be a verb is noun-like no more."""
    listed, said = our_verbs(), words(text)
    for at, word in enumerate(said):
        if is_unspaced(word):
            yield from listed.verbs_in(word)
        elif verb := listed.verb_at(said, at):
            shown = begins_object(said[at + verb.size :])
            yield verb._replace(noun_like=verb.noun_like and not shown)


def begins_object(some: Sequence[str]) -> bool:
    """Whether the first of these words comes behind a verb and hardly ever behind a noun."""
    return any(word in _OBJECT_STARTS for word in some[:1])

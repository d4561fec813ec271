"""What a query or a tool wants done: the family of its verb.

Families let "show me all buckets" meet get_bucket: the words differ, the verb family does not.
A family may have an opposite, and some destroy: a tool of such a family fits a request that asks
for just that, and hardly any other. The verbs themselves are in `toolcrib.text`.
"""

from functools import lru_cache

from toolcrib.text import our_verbs


@lru_cache(maxsize=1 << 16)
def verb_family(text: str) -> str:
    """The family of the verb in a name or a request; "" if it has none that is known."""
    verb = our_verbs().main_verb(text)
    return verb.family if verb else ""


def opposite_family(family: str) -> str:
    """The family that does the opposite; "" if there is none."""
    known = our_verbs().families.get(family)
    return known.opposite if known else ""


@lru_cache(maxsize=1 << 16)
def is_destructive(name: str) -> bool:
    """Whether a tool of this name does what is hard to undo: deletes, cancels, resets, revokes.

    Only its verb counts: list_deleted_items lists, and get_removal_policy reads.
    """
    return our_verbs().destroys(name)


def asks_for(family: str, text: str) -> bool:
    """Whether any word of a text is a verb of this family, in any form: deleted, 删掉."""
    return family in _families(text)


@lru_cache(maxsize=256)
def _families(text: str) -> frozenset[str]:
    return frozenset(verb.family for verb in our_verbs().verbs_of(text))

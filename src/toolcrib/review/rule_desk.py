"""The desk at which the operator writes rules down. Nothing that a model can reach leads here.

The file is kept in the order in which rules are tried: what denies first, then rules of a profile
before rules for all, what names a tool before what names many, and of equals the newest.
"""

import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from toolcrib.errors import ConfigError
from toolcrib.execute import MOST_RULES, Rule, read_rules, rules_json
from toolcrib.system import file_locked, write_private_file

_WILD = re.compile(r"[*?]|\[[^]]*\]")


def put_rules(path: Path, rules: Sequence[Rule]) -> None:
    """Write rules down, in a file that is made if need be.

    Each takes the place of one that was about the same. Raises `ConfigError`; then nothing is
    written.
    """
    about = {_subject(rule) for rule in rules}
    with _changing(path) as kept:
        others = [each for each in kept if _subject(each) not in about]
        kept[:] = sorted([*rules, *others], key=_rank)
        if len(kept) > MOST_RULES:
            raise ConfigError(f"{path}: has {MOST_RULES} rules already; say more with patterns")


def drop_rule(path: Path, rule: Rule) -> bool:
    """Take a rule out; whether it was there. Raises `ConfigError`."""
    with _changing(path) as kept:
        if rule not in kept:
            return False
        kept.remove(rule)
        return True


def _subject(rule: Rule) -> tuple[object, ...]:
    return rule.pattern, rule.kind, rule.profile


def _rank(rule: Rule) -> tuple[int, ...]:
    """Smaller ones are tried first."""
    if rule.verdict == "deny":
        return (0,)
    source, _, tool = rule.pattern.rpartition("/")
    is_one = not _WILD.search(tool)
    narrow = (rule.profile is not None, is_one, _spelt(tool), _spelt(source), rule.kind is not None)
    return (1, *(-int(each) for each in narrow))


def _spelt(pattern: str) -> int:
    """How many characters a pattern spells out."""
    return len(_WILD.sub("", pattern))


@contextmanager
def _changing(path: Path) -> Generator[list[Rule]]:
    """The rules as they are, alone with them; as they are left, they are written.

    In one step, through a link to where the file really is.
    """
    place = path.resolve()
    try:
        with file_locked(place):
            before = read_rules(path)
            kept = list(before)
            yield kept
            if tuple(kept) != before:
                write_private_file(place, rules_json(kept))
    except OSError as error:
        told = f"{path}: cannot be written: {error.strerror}; change its permissions"
        raise ConfigError(told) from error

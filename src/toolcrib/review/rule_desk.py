"""The desk at which the operator writes rules about calls. Nothing that a model can reach is here.

Rules stand in the file in the order in which they are tried: rules that deny, then rules of a
profile before rules for all, rules that name one tool before patterns, and of equals the newest.
"""

import json
import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from toolcrib.errors import ConfigError
from toolcrib.execute import MOST_RULES, Rule, read_rules
from toolcrib.system import file_locked, write_private_file

_WILD = re.compile(r"[*?]|\[[^]]*\]")


def put_rules(path: Path, rules: Sequence[Rule]) -> None:
    """Write rules down, in a file that is made if need be.

    Each takes the place of one that was about the same. Raises `ConfigError`; then nothing is
    written.
    """
    about = {_subject(rule) for rule in rules}
    with _editing(path) as all_rules:
        others = [each for each in all_rules if _subject(each) not in about]
        all_rules[:] = sorted([*rules, *others], key=_rank)
        if len(all_rules) > MOST_RULES:
            raise ConfigError(f"{path}: has {MOST_RULES} rules already; say more with patterns")


def drop_rule(path: Path, rule: Rule) -> bool:
    """Take a rule out; whether it was there. Raises `ConfigError`."""
    with _editing(path) as all_rules:
        if rule not in all_rules:
            return False
        all_rules.remove(rule)
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
def _editing(path: Path) -> Generator[list[Rule]]:
    """The rules of the file, locked, to edit. What the block leaves is written, in one step.

    A link is followed to where the file really is.
    """
    place = path.resolve()
    try:
        with file_locked(place):
            before = read_rules(path)
            after = list(before)
            yield after
            if tuple(after) != before:
                write_private_file(place, rules_json(after))
    except OSError as error:
        message = f"{path}: cannot be written: {error.strerror}; change its permissions"
        raise ConfigError(message) from error


def rules_json(rules: Sequence[Rule]) -> bytes:
    """The content of a file with these rules, as `RuleFile` reads it."""
    objects = [
        {key: value for key, value in asdict(rule).items() if value is not None} for rule in rules
    ]
    return (json.dumps({"rules": objects}, indent=2, ensure_ascii=False) + "\n").encode()

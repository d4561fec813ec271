"""`rules.json`: the rules that the operator's commands write, read again whenever the file changed.

    {"rules": [{"verdict": "allow", "pattern": "github/*", "kind": "read", "profile": "work"}]}

Only reading is here: the operator's side writes (`toolcrib.review`). Where the file was good and is
broken now, the rules from before hold, also after a restart, and the log says so. A file that was
never good is an error: nobody knows what it denies.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, cast, get_args

from toolcrib.errors import ConfigError
from toolcrib.execute.rulebook import Rule, Verdict
from toolcrib.model import PermissionKind
from toolcrib.system import LastGoodCopies, read_plain_file
from toolcrib.text import nearest_names

LARGEST_FILE = 1024 * 1024
MOST_RULES = 1_000
KEYS = ("verdict", "pattern", "kind", "profile")
_NO_CALLS = "No tool is called until that is corrected"
_AS_BEFORE = "Until then the rules from before hold"

_log = logging.getLogger(__name__)


class RuleFile:
    """The rules of one file, or of none. As long as the file is the same, it is not read again.

    `last_good` knows what it said when it could last be used, whoever read it then.
    """

    def __init__(self, path: Path | None, last_good: LastGoodCopies | None = None) -> None:
        self._path = path
        self._last_good = last_good
        self._reading = Lock()
        self._stamp: tuple[object, ...] | None = None
        self._rules: tuple[Rule, ...] | None = None
        self._problem = ""

    def rules(self) -> Sequence[Rule]:
        """In order. Raises `ConfigError` for a file that cannot be used and never could."""
        rules, problem = self._now()
        if rules is None:
            raise ConfigError(problem)
        return rules

    @property
    def problem(self) -> str:
        """What is wrong with the file now, and what becomes of calls; empty if nothing is."""
        rules, problem = self._now()
        if not problem:
            return ""
        return f"{problem}. {_NO_CALLS if rules is None else _AS_BEFORE}"

    def _now(self) -> tuple[tuple[Rule, ...] | None, str]:
        if self._path is None:
            return (), ""
        with self._reading:
            stamp = _stamp(self._path)
            if stamp != self._stamp:
                self._read(self._path, stamp)
            return self._rules, self._problem

    def _read(self, path: Path, stamp: tuple[object, ...]) -> None:
        self._stamp, logged, self._problem = stamp, self._problem, ""
        try:
            self._rules = self._read_and_copy(path)
        except ConfigError as error:
            self._problem = str(error)
            if self._rules is None:  # whoever opens a crib says what is wrong: see `problem`
                self._rules = self._last_good_rules(path)
            elif logged != self._problem:
                _log.warning("%s. %s", error, _AS_BEFORE)

    def _read_and_copy(self, path: Path) -> tuple[Rule, ...]:
        """The rules of the file, which is copied for the next process. Raises `ConfigError`."""
        content = _content(path)
        rules = () if content is None else _parsed(path, content)
        if self._last_good and content is None:
            self._last_good.forget(path)
        elif self._last_good and content is not None:
            self._last_good.keep(path, content)
        return rules

    def _last_good_rules(self, path: Path) -> tuple[Rule, ...] | None:
        """What the file said before this process; None if nobody knows."""
        copy = self._last_good.read(path) if self._last_good else None
        if copy is None:
            return None
        try:
            return _parsed(path, copy)
        except ConfigError:  # damaged, or of another version
            return None


def _stamp(path: Path) -> tuple[object, ...]:
    """What is another whenever the file is."""
    try:
        facts = path.stat()
    except OSError as error:
        return (error.errno,)
    return facts.st_mtime_ns, facts.st_size, facts.st_ino


def read_rules(path: Path) -> tuple[Rule, ...]:
    """The rules of the file now; none where there is no file. Raises `ConfigError`."""
    content = _content(path)
    return () if content is None else _parsed(path, content)


def _content(path: Path) -> bytes | None:
    """What the file holds; None where there is none. Raises `ConfigError`."""
    try:
        return read_plain_file(path, LARGEST_FILE)
    except FileNotFoundError:
        return None
    except OSError as error:
        message = f"{path}: cannot be read: {error.strerror}; change its permissions"
        raise ConfigError(message) from error


def _parsed(path: Path, content: bytes) -> tuple[Rule, ...]:
    """The rules in the content of a file. Raises `ConfigError`."""
    try:
        top: Any = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not JSON: {error}; correct it, or move it away") from error
    listed = cast("dict[str, Any]", top).get("rules") if isinstance(top, dict) else None
    if not isinstance(listed, list):
        message = f'{path}: is not an object with a list "rules"; correct it, or move it away'
        raise ConfigError(message)
    rules = cast("list[Any]", listed)
    if len(rules) > MOST_RULES:
        raise ConfigError(f"{path}: more than {MOST_RULES} rules; say more with patterns")
    return tuple(_rule(path, number, each) for number, each in enumerate(rules, 1))


def _rule(path: Path, number: int, value: object) -> Rule:
    where = f"{path}: rule {number}"
    if not isinstance(value, dict):
        raise ConfigError(f"{where}: is not an object; correct it")
    values = cast("Mapping[str, object]", value)
    for key in values.keys() - set(KEYS):
        near = nearest_names(key, KEYS, limit=1, at_least=0)[0]
        raise ConfigError(f"{where}: there is no key {key!r}; the nearest is {near!r}")
    texts = {key: value for key, value in values.items() if isinstance(value, str) and value}
    if texts.keys() != values.keys():
        raise ConfigError(f"{where}: each of its keys is a text; correct it")
    verdict = _word(where, "verdict", texts.get("verdict", ""), get_args(Verdict))
    if "kind" in texts:
        _word(where, "kind", texts["kind"], get_args(PermissionKind))
    return Rule(
        cast("Verdict", verdict),
        texts.get("pattern", "*"),
        cast("PermissionKind | None", texts.get("kind")),
        texts.get("profile"),
    )


def _word(where: str, key: str, word: str, words: Sequence[str]) -> str:
    if word not in words:
        raise ConfigError(f"{where}: {key} is one of {', '.join(words)}, not {word!r:.80}")
    return word

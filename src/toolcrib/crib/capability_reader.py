"""What a caller may read about a capability: a skill's text and files, an agent's card."""

from functools import partial

from toolcrib.crib.inventory import Inventory
from toolcrib.errors import SourceError
from toolcrib.execute import Caller, CallRefused, VisibleTools
from toolcrib.model import Entry, Outcome, SkillInfo
from toolcrib.session import describe, skill_file_text
from toolcrib.sources import read_skill_file, skill_files
from toolcrib.tools import OwnFiles
from toolcrib.uses import UseAdvice

MOST_OFTEN_WITH = 5


class CapabilityReader:
    """Reads for callers what they may see. Safe to share between threads."""

    def __init__(self, inventory: Inventory, advice: UseAdvice) -> None:
        self._inventory = inventory
        self._advice = advice

    def read(self, name: str, caller: Caller) -> Outcome:
        """All about a capability; `name/path` is a file of a skill. Raises `StoreError` alone."""
        own_name, _, path = name.partition("/")
        why = partial(self._inventory.why_unknown, caller=caller)
        visible = VisibleTools(self._inventory.seen_by(caller), why)
        try:
            entry = visible.resolve(own_name)
            if path:
                return Outcome(skill_file_text(entry.name, path, self._skill_file(entry, path)))
        except CallRefused as refused:
            return Outcome(error=refused.error)
        often = visible.among(self._advice.hints(entry.name).often_with)[:MOST_OFTEN_WITH]
        skill = entry.capability
        files = skill_files(skill, self._own) if isinstance(skill, SkillInfo) else ()
        return Outcome(describe(entry, often, files))

    def _skill_file(self, entry: Entry, path: str) -> str:
        """Raises `CallRefused`."""
        skill = entry.capability
        if not isinstance(skill, SkillInfo):
            message = (
                f"{entry.name!r} is a {skill.kind} and has no files; leave out '/' and the path"
            )
            raise CallRefused("bad_arguments", "arguments", message)
        try:
            return read_skill_file(skill, path, self._own)
        except SourceError as error:
            raise CallRefused("bad_arguments", "arguments", str(error)) from error

    @property
    def _own(self) -> OwnFiles:
        return OwnFiles.of(self._inventory.settings)

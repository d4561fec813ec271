"""What a caller may read about a capability: a skill's text and files, an agent's card."""

import json
from collections.abc import Sequence
from functools import partial

from toolcrib import sources
from toolcrib.crib.inventory import Inventory
from toolcrib.errors import SourceError
from toolcrib.execute import Caller, CallRefused, VisibleTools
from toolcrib.model import ASKS, AgentInfo, Entry, Outcome, SkillInfo, ToolInfo
from toolcrib.tools import OwnFiles
from toolcrib.uses import UseAdvice

MOST_OFTEN_WITH = 5
LONGEST_BODY = 16_000
LONGEST_DESCRIPTION = 4_000


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
        files = sources.skill_files(skill, self._own) if isinstance(skill, SkillInfo) else ()
        asks = self._inventory.verdict(entry, caller.profile) == "ask"
        return Outcome(describe(entry, often, files, asks=asks))

    def _skill_file(self, entry: Entry, path: str) -> str:
        """Raises `CallRefused`."""
        skill = entry.capability
        if not isinstance(skill, SkillInfo):
            message = (
                f"{entry.name!r} is a {skill.kind} and has no files; leave out '/' and the path"
            )
            raise CallRefused("bad_arguments", "arguments", message)
        try:
            return sources.read_skill_file(skill, path, self._own)
        except SourceError as error:
            raise CallRefused("bad_arguments", "arguments", str(error)) from error

    @property
    def _own(self) -> OwnFiles:
        return OwnFiles.of(self._inventory.settings)


def describe(
    entry: Entry, often_with: Sequence[str], files: Sequence[str] = (), *, asks: bool = False
) -> str:
    """All about one entry: of a tool the parameters, of a skill the text and its files."""
    capability = entry.capability
    facts = [capability.kind, capability.permission_kind, capability.owner, entry.state]
    facts += [ASKS] * asks
    lines = [f"# {entry.name} [{', '.join(facts)}]"]
    if entry.remedy:
        lines.append(f"To do: {entry.remedy}")
    lines += [_cut(capability.description, LONGEST_DESCRIPTION), *_details(entry)]
    if files:
        lines.append(f"Files, each read as `{entry.name}/PATH`: {', '.join(files)}")
    if often_with:
        lines.append(f"Often used with: {', '.join(often_with)}")
    return "\n".join(filter(None, lines))


def skill_file_text(name: str, path: str, text: str) -> str:
    """A file of a skill, with a line before it that says what it is."""
    return f"# {name}/{path}\n{_cut(text, LONGEST_BODY)}"


def _details(entry: Entry) -> list[str]:
    match entry.capability:
        case ToolInfo() as tool:
            output = f"Returns: {_compact(tool.output_schema)}" if tool.output_schema else ""
            return [f"Parameters: {_compact(tool.parameters)}", output]
        case SkillInfo(body=body, path=path):
            return [f"Folder: {path}" if path else "", _cut(body, LONGEST_BODY)]
        case AgentInfo(skills=skills, url=url):
            return [f"Skills: {', '.join(skills)}" if skills else "", f"At: {url}" if url else ""]
        case _:
            return []


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most} characters more)"


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

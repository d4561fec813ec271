"""All about one capability, in the words that a model reads."""

import json
from collections.abc import Sequence

from toolcrib.model import AgentInfo, Entry, SkillInfo, ToolInfo

LONGEST_BODY = 16_000
LONGEST_DESCRIPTION = 4_000


def description(entry: Entry, often_with: Sequence[str], files: Sequence[str] = ()) -> str:
    """All about one entry: of a tool the parameters, of a skill the text and its files."""
    what = entry.capability
    facts = [what.kind, what.permission_kind, what.owner, entry.state]
    lines = [f"# {entry.name} [{', '.join(facts)}]"]
    if entry.remedy:
        lines.append(f"To do: {entry.remedy}")
    lines += [_cut(what.description, LONGEST_DESCRIPTION), *_own(entry)]
    if files:
        lines.append(f"Files, each read as `{entry.name}/PATH`: {', '.join(files)}")
    if often_with:
        lines.append(f"Often used with: {', '.join(often_with)}")
    return "\n".join(filter(None, lines))


def file_text(name: str, path: str, text: str) -> str:
    """A file of a skill, with a line before it that says what it is."""
    return f"# {name}/{path}\n{_cut(text, LONGEST_BODY)}"


def _own(entry: Entry) -> list[str]:
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

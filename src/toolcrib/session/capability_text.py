"""A capability in the words that a model reads.

`signature` is a tool on one line, as a programmer would write it; `describe` is all about a tool, a
skill or an agent.
"""

import json
from collections.abc import Mapping, Sequence
from typing import cast

from toolcrib.model import AgentInfo, Entry, JsonObject, SkillInfo, ToolInfo

LONGEST_BODY = 16_000
LONGEST_DESCRIPTION = 4_000
MOST_PARAMETERS = 12
MOST_CHOICES = 6
LONGEST_CHOICES = 80


def signature(name: str, schema: JsonObject) -> str:
    """`name(path: string, depth?: integer)`; what may be left out has a question mark."""
    properties = _object(schema.get("properties"))
    needed = schema.get("required")
    required = cast("list[object]", needed) if isinstance(needed, list) else []
    parameters = [
        f"{key}{'' if key in required else '?'}: {_type(_object(value))}"
        for key, value in sorted(properties.items(), key=lambda pair: pair[0] not in required)
    ]
    more = ["…"] if len(parameters) > MOST_PARAMETERS else []
    return f"{name}({', '.join(parameters[:MOST_PARAMETERS] + more)})"


def _type(schema: JsonObject) -> str:
    match schema:
        case {"enum": [*choices]}:
            return _choices(choices)
        case {"type": "array", "items": {**items}}:
            return f"{_type(items)}[]"
        case {"type": str(name)}:
            return name
        case {"type": [*names]}:
            return "|".join(str(name) for name in names)
        case {"anyOf": [*schemas]} | {"oneOf": [*schemas]}:
            return "|".join(dict.fromkeys(_type(_object(each)) for each in schemas))
        case _:
            return "any"


def _choices(choices: Sequence[object]) -> str:
    text = "|".join(repr(each) for each in choices[:MOST_CHOICES])
    if len(text) > LONGEST_CHOICES:
        return "choice"
    return text + ("|…" if len(choices) > MOST_CHOICES else "")


def _object(value: object) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, Mapping) else {}


def describe(entry: Entry, often_with: Sequence[str], files: Sequence[str] = ()) -> str:
    """All about one entry: of a tool the parameters, of a skill the text and its files."""
    capability = entry.capability
    facts = [capability.kind, capability.permission_kind, capability.owner, entry.state]
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
            output = f"Returns: {compact_json(tool.output_schema)}" if tool.output_schema else ""
            return [f"Parameters: {compact_json(tool.parameters)}", output]
        case SkillInfo(body=body, path=path):
            return [f"Folder: {path}" if path else "", _cut(body, LONGEST_BODY)]
        case AgentInfo(skills=skills, url=url):
            return [f"Skills: {', '.join(skills)}" if skills else "", f"At: {url}" if url else ""]
        case _:
            return []


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most} characters more)"


def compact_json(value: object) -> str:
    """JSON in as few characters as can be, without escapes."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

"""What a guest reads of a search and of a description, within a budget of tokens."""

from collections.abc import Sequence

from toolcrib.gateway.relay import compact
from toolcrib.gateway.surface import CALL, CALL_READ, DESCRIBE
from toolcrib.model import AgentInfo, Entry, SkillInfo, ToolInfo
from toolcrib.session.found import Found
from toolcrib.text.tokens import most_tokens

LONGEST_BODY = 16_000
LONGEST_DESCRIPTION = 4_000


def search_text(found: Found, handle: str, budget: int, notes: Sequence[str] = ()) -> str:
    """What was found, and how to go on."""
    hits = [hit for answer in found.answers for hit in answer]
    lines = list(notes)
    if found.tools:
        lines.append(f"Call what is [read] with `{CALL_READ}`, all else with `{CALL}`.")
    if any(hit.kind != "tool" for hit in hits):
        lines.append(f"Read a skill or an agent with `{DESCRIBE}`.")
    if handle:
        lines.append(f"set: {handle}")
    rest = "\n".join(lines)
    return f"{found.text(budget - most_tokens(rest))}\n{rest}".strip()


def description(entry: Entry, often_with: Sequence[str]) -> str:
    """All about one entry: of a tool the parameters, of a skill the text."""
    what = entry.capability
    facts = [what.kind, what.permission_kind, what.source_id or what.source, entry.state]
    lines = [f"# {entry.name} [{', '.join(facts)}]"]
    if entry.remedy:
        lines.append(f"To do: {entry.remedy}")
    lines += [_cut(what.description, LONGEST_DESCRIPTION), *_own(entry)]
    if often_with:
        lines.append(f"Often used with: {', '.join(often_with)}")
    return "\n".join(filter(None, lines))


def _own(entry: Entry) -> list[str]:
    match entry.capability:
        case ToolInfo() as tool:
            output = f"Returns: {compact(tool.output_schema)}" if tool.output_schema else ""
            return [f"Parameters: {compact(tool.parameters)}", output]
        case SkillInfo(body=body, path=path):
            return [f"Folder: {path}" if path else "", _cut(body, LONGEST_BODY)]
        case AgentInfo(skills=skills, url=url):
            return [f"Skills: {', '.join(skills)}" if skills else "", f"At: {url}" if url else ""]
        case _:
            return []


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most} characters more)"

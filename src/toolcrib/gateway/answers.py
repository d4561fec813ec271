"""What a guest reads of a search, within a budget of tokens."""

from collections.abc import Sequence

from toolcrib.gateway.surface import CALL, CALL_READ, DESCRIBE
from toolcrib.session import SearchResult
from toolcrib.text.tokens import most_tokens


def search_text(found: SearchResult, handle: str, budget: int, notes: Sequence[str] = ()) -> str:
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
    return f"{found.text(budget - most_tokens(rest), read='')}\n{rest}".strip()

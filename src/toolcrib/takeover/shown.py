"""The difference of two texts for a person to look at, without what is secret in them."""

import difflib
import json
import re
from collections.abc import Iterator, Mapping

from toolcrib.errors import ConfigError
from toolcrib.takeover.document import Syntax
from toolcrib.takeover.jsonc import Member, Node, parse
from toolcrib.takeover.spans import Edit, applied
from toolcrib.takeover.toml_text import Statement, statements

MASK = "***"
AROUND = 2
_SECRET = re.compile(r"key|token|secret|passw|credential|auth|bearer|cookie", re.IGNORECASE)
_MAPS = frozenset({"env", "environment", "headers", "http_headers"})
_REFERENCE = re.compile(r"\$\{?[A-Za-z_][\w:-]*\}?|\{env:\w+\}")
_IN_ADDRESS = re.compile(r"(?<=//)[^/@\s\"']+(?=@)|(?<=[?&])([^=&\s\"']+)=[^&\s\"']+")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'', re.DOTALL)
_FLAG = re.compile(r"--?[\w-]+")


def diff(old: str, new: str, name: str, syntax: Syntax) -> list[str]:
    """The lines of a unified diff, with values of variables, headers and keys masked.

    Empty for equal texts; one line that says so where they differ in what is masked alone.
    """
    if old == new:
        return []
    before, after = (masked(text, syntax).splitlines() for text in (old, new))
    lines = difflib.unified_diff(before, after, name, name, n=AROUND, lineterm="")
    return list(lines) or [f"{name}: differs in values that are not shown"]


def masked(text: str, syntax: Syntax) -> str:
    """The text without its secrets, as far as they can be told; a text that is broken, not at all.

    A reference to a variable is no secret.
    """
    if syntax == "toml":
        edits = [edit for each in statements(text) for edit in _in_statement(text, each)]
    else:
        try:
            root = parse(text)
        except ConfigError:
            return MASK
        edits = list(_in_members(text, root, within=False)) if root else []
    return applied(text, edits)


def _in_members(text: str, node: Node, *, within: bool) -> Iterator[Edit]:
    for member in node.members:
        inner = within or member.key in _MAPS or _is_secret(member)
        if member.node.members:
            yield from _in_members(text, member.node, within=inner)
        else:
            yield from _in_span(text, member.node.start, member.node.end, whole=inner)


def _is_secret(member: Member) -> bool:
    return bool(_SECRET.search(member.key)) and not isinstance(member.node.value, Mapping)


def _in_statement(text: str, statement: Statement) -> Iterator[Edit]:
    if statement.header:
        return
    start = text.index("=", statement.start) + 1
    whole = any(part in _MAPS or _SECRET.search(part) for part in statement.path[1:])
    by_name = statement.path[-1].endswith(("env_var", "env_vars", "env_http_headers"))
    yield from _in_span(text, start, statement.end, whole=whole and not by_name)


def _in_span(text: str, start: int, end: int, *, whole: bool) -> Iterator[Edit]:
    """The secrets in a value; `whole`: every text in it that is no reference."""
    flag = False
    for found in _STRING.finditer(text, start, end):
        said = found[0][1:-1]
        secret = whole or flag or "Bearer " in said
        flag = bool(_FLAG.fullmatch(said) and _SECRET.search(said))
        if text[found.end() : end].lstrip()[:1] in (":", "="):  # a key, not a value
            continue
        if secret and not _REFERENCE.search(said):
            yield Edit(found.start(), found.end(), json.dumps(MASK))
        else:
            yield from _in_text(found)


def _in_text(found: re.Match[str]) -> Iterator[Edit]:
    """What is secret in an address or in `--token=...`."""
    said = found[0]
    sign = said.find("=")
    if sign > 0 and _FLAG.fullmatch(said[1:sign]) and _SECRET.search(said[1:sign]):
        yield Edit(found.start() + sign + 1, found.end() - 1, MASK)
        return
    if "://" in said:
        for part in _IN_ADDRESS.finditer(said):
            kept = f"{part[1]}=" if part[1] else ""
            yield Edit(found.start() + part.start(), found.start() + part.end(), kept + MASK)

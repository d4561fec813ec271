"""The difference of two texts for a person to look at, without the secrets in them."""

import difflib
import json
import re
from collections.abc import Iterator, Mapping

from toolcrib.client_config.document import Syntax, read_document
from toolcrib.client_config.jsonc import Member, Node, parse_jsonc
from toolcrib.client_config.spans import Edit, applied
from toolcrib.client_config.toml import Statement, statements
from toolcrib.errors import ConfigError

MASK = "***"
AROUND = 2
_SECRET = re.compile(r"key|token|secret|passw|credential|auth|bearer|cookie", re.IGNORECASE)
_MAPS = frozenset({"env", "environment", "headers", "http_headers"})
_REFERENCE = re.compile(
    r"(?:Bearer |Basic |token )?(?:\$\{(?:\w+:)?\w+\}|\$[A-Z_][A-Z0-9_]*|\{env:\w+\})"
)
_IN_ADDRESS = re.compile(r"(?<=//)[^/@\s\"']+(?=@)|(?<=[?&])([^=&\s\"']+)=[^&\s\"']+")
_TOKENS: Mapping[Syntax, re.Pattern[str]] = {
    "json": re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\]|\\.)*"', re.DOTALL),
    "toml": re.compile(
        r'#[^\n]*|"""(?:[^\\]|\\.)*?"""|\'\'\'.*?\'\'\'|"(?:[^"\\]|\\.)*"|\'[^\']*\'', re.DOTALL
    ),
}
_IN_COMMENT = re.compile(rf"((?:{_SECRET.pattern})[\w-]*[\s\"':=]+)[^\s\"',;}}]+", re.IGNORECASE)
_FLAG = re.compile(r"--?[\w-]+")


def diff(old: str, new: str, name: str, syntax: Syntax) -> list[str]:
    """The lines of a unified diff, with values of variables, headers and keys masked.

    Empty for equal texts; one line that says so where they differ in what is masked alone.
    """
    if old == new:
        return []
    before, after = (redacted(text, syntax).splitlines() for text in (old, new))
    lines = difflib.unified_diff(before, after, name, name, n=AROUND, lineterm="")
    return list(lines) or [f"{name}: differs in values that are not shown"]


def redacted(text: str, syntax: Syntax) -> str:
    """The text without its secrets, as far as they can be told; of a broken text, nothing.

    A reference to a variable is no secret.
    """
    try:
        read_document(text, syntax)
    except ConfigError:
        return MASK
    if syntax == "toml":
        edits = [edit for each in statements(text) for edit in _in_statement(text, each)]
    else:
        root = parse_jsonc(text)
        edits = list(_in_members(text, root, within=False)) if root else []
    return applied(text, [*edits, *_in_comments(text, syntax)])


def _in_comments(text: str, syntax: Syntax) -> Iterator[Edit]:
    """What looks like a secret in a server that was only commented out."""
    for match in _TOKENS[syntax].finditer(text):
        if match[0][0] in "/#":
            comment = _IN_COMMENT.sub(rf"\g<1>{MASK}", match[0])
            yield Edit(match.start(), match.end(), _IN_ADDRESS.sub(MASK, comment))


def _in_members(text: str, node: Node, *, within: bool) -> Iterator[Edit]:
    for member in node.members:
        inner = within or member.key in _MAPS or _is_secret(member)
        if member.node.members:
            yield from _in_members(text, member.node, within=inner)
        else:
            node = member.node
            yield from _in_span(text, node.start, node.end, "json", whole=inner)


def _is_secret(member: Member) -> bool:
    return bool(_SECRET.search(member.key)) and not isinstance(member.node.value, Mapping)


def _in_statement(text: str, statement: Statement) -> Iterator[Edit]:
    if statement.header:
        return
    start = text.index("=", statement.start) + 1
    whole = any(part in _MAPS or _SECRET.search(part) for part in statement.path[1:])
    by_name = statement.path[-1].endswith(("env_var", "env_vars", "env_http_headers"))
    yield from _in_span(text, start, statement.end, "toml", whole=whole and not by_name)


def _in_span(text: str, start: int, end: int, syntax: Syntax, *, whole: bool) -> Iterator[Edit]:
    """The secrets in a value; `whole`: every text in it that is no reference.

    After a key or an option whose name announces a secret, the next text is one.
    """
    announced = False
    for match in _TOKENS[syntax].finditer(text, start, end):
        token = match[0][1:-1]
        if match[0][0] in "/#":
            continue
        secret = whole or announced or "Bearer " in token
        is_key = text[match.end() : end].lstrip()[:1] in (":", "=")
        announced = bool(_SECRET.search(token)) and bool(is_key or _FLAG.fullmatch(token))
        if secret and not is_key and not _REFERENCE.fullmatch(token):
            yield Edit(match.start(), match.end(), json.dumps(MASK))
        elif not is_key:
            yield from _in_text(match)


def _in_text(match: re.Match[str]) -> Iterator[Edit]:
    """What is secret in an address or in `--token=...`."""
    token, start = match[0], match.start()
    sign = token.find("=")
    if sign > 0 and _FLAG.fullmatch(token[1:sign]) and _SECRET.search(token[1:sign]):
        yield Edit(start + sign + 1, match.end() - 1, MASK)
        return
    if "://" in token:
        for part in _IN_ADDRESS.finditer(token):
            name = f"{part[1]}=" if part[1] else ""
            yield Edit(start + part.start(), start + part.end(), name + MASK)

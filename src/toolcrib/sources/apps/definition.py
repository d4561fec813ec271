"""A tool as an app registers it, in JSON: bounded and checked, for an app is a stranger."""

import json
import re

from toolcrib.errors import DeclarationError
from toolcrib.model import JsonObject, PermissionKind, ToolInfo
from toolcrib.sources.apps.json_rpc import is_object
from toolcrib.sources.definition import permission_from

MOST_TOOLS = 500
LONGEST_TEXT = 16 * 1024
LARGEST_TOOL = 256 * 1024
KEYS = frozenset(
    {"name", "title", "description", "inputSchema", "outputSchema", "annotations"}
    | {"permission_kind", "search_hint"}
)

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_SEVERITY: tuple[PermissionKind, ...] = ("read", "write", "network", "execute", "dangerous")


def tool_from_json(raw: JsonObject, app: str, *, trusted: bool) -> ToolInfo:
    """The tool of this app. Raises `DeclarationError`, which names what is wrong with it."""
    name = raw.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise DeclarationError(f"a tool's name is {_NAME.pattern}, not {name!r:.80}")
    if strange := sorted(raw.keys() - KEYS):
        raise DeclarationError(f"tool {name!r}: there is no key {strange[0]!r:.80}")
    if len(json.dumps(raw)) > LARGEST_TOOL:
        raise DeclarationError(f"tool {name!r}: more than {LARGEST_TOOL:,} bytes; say less")
    schema = _object(raw, "inputSchema", {"type": "object"})
    if schema.get("type") != "object":
        raise DeclarationError(f"tool {name!r}: the inputSchema's type is 'object'")
    annotations = _object(raw, "annotations", {})
    return ToolInfo(
        name=name,
        description=_text(raw, "description"),
        title=_text(raw, "title"),
        search_hint=_text(raw, "search_hint"),
        source="sdk",
        source_id=app,
        parameters=schema,
        output_schema=_object(raw, "outputSchema", {}) or None,
        annotations=annotations,
        permission_kind=_permission(raw, annotations, trusted=trusted),
    )


def tool_to_json(tool: ToolInfo) -> JsonObject:
    """What an app says of this tool."""
    fields: JsonObject = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.parameters,
        "outputSchema": tool.output_schema,
        "annotations": tool.annotations,
        "permission_kind": tool.permission_kind,
        "search_hint": tool.search_hint,
    }
    return {key: value for key, value in fields.items() if value}


def _permission(raw: JsonObject, annotations: JsonObject, *, trusted: bool) -> PermissionKind:
    """The worst of what it says; `read` only if the operator trusts the app with that."""
    hinted = permission_from(annotations, believed=trusted, name=str(raw["name"]))
    if "permission_kind" not in raw:
        return hinted
    given = raw["permission_kind"]
    stated: PermissionKind | None = next((kind for kind in _SEVERITY if kind == given), None)
    if stated is None:
        kinds = ", ".join(_SEVERITY)
        raise DeclarationError(f"tool {raw['name']!r}: permission_kind is one of {kinds}")
    if trusted and hinted != "dangerous":
        return stated
    return _SEVERITY[max(_SEVERITY.index(hinted), _SEVERITY.index(stated))]


def _text(raw: JsonObject, key: str) -> str:
    value = raw.get(key, "")
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise DeclarationError(f"tool {raw['name']!r}: {key} is a text of at most {LONGEST_TEXT:,}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise DeclarationError(f"tool {raw['name']!r}: {key} has half a surrogate pair") from None
    return value


def _object(raw: JsonObject, key: str, default: JsonObject) -> JsonObject:
    value = raw.get(key, default)
    if not is_object(value):
        raise DeclarationError(f"tool {raw['name']!r}: {key} is an object")
    return value

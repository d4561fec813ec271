"""The permission kind of a tool that somebody else describes."""

from toolcrib.model import JsonObject, PermissionKind


def permission_from(
    annotations: JsonObject, *, believed: bool, override: PermissionKind | None = None
) -> PermissionKind:
    """What a tool may do to the world: the operator's word first, then MCP's annotations.

    They are the tool's own word: it may raise the kind, and lower it to `read` only if it is
    believed. Only a plain true counts, and destructive goes before read-only; what is not known is
    `write`.
    """
    if override:
        return override
    if annotations.get("destructiveHint") is True:
        return "dangerous"
    if believed and annotations.get("readOnlyHint") is True:
        return "read"
    return "network" if annotations.get("openWorldHint") is True else "write"

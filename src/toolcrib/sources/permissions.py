"""The permission kind of a tool that somebody else describes."""

from toolcrib.model import JsonObject, PermissionKind


def permission_from(
    annotations: JsonObject, *, trusted: bool, override: PermissionKind | None
) -> PermissionKind:
    """What a tool may do to the world: the operator's word first, then MCP's annotations.

    They are the server's own word: it may raise the kind, and lower it to `read` only if the
    operator trusts the server with that. Only a plain true counts; what is not known is `write`.
    """
    if override:
        return override
    if annotations.get("destructiveHint") is True:
        return "dangerous"
    if trusted and annotations.get("readOnlyHint") is True:
        return "read"
    return "network" if annotations.get("openWorldHint") is True else "write"

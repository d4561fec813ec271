"""What a server's tool can do to the world, by its operator's word before the server's own."""

from toolcrib.model import JsonObject, PermissionKind


def permission_from(
    annotations: JsonObject, *, trusted: bool, override: PermissionKind | None
) -> PermissionKind:
    """The operator's word; else the server's, which may raise and, unless trusted, not lower.

    Unknown is `write`. Only `true` and `false` count as hints: where two speak against each other,
    the graver one holds.
    """
    if override is not None:
        return override
    if annotations.get("destructiveHint") is True:
        return "dangerous"
    if annotations.get("readOnlyHint") is True:
        return "read" if trusted else "write"
    return "network" if annotations.get("openWorldHint") is True else "write"

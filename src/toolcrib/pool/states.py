"""The one state of a capability, and what to do about it."""

from collections.abc import Mapping

from toolcrib.model import Capability, State

REMEDIES: Mapping[State, str] = {
    "ready": "",
    "asleep": "call it: its server starts on demand",
    "needs_login": "the operator has to log in first: `toolcrib login {source}`",
    "changed": "its definition changed; the operator has to review it: `toolcrib review`",
    "unreviewed": "nobody has approved it yet; the operator has to: `toolcrib review`",
    "disabled": "`toolcrib enable` it, or set `available: true` where it is declared",
    "other_platform": "it does not run on this platform",
}


def remedy(state: State, source_id: str | None) -> str:
    """What to do about a state of something from this source; nothing if it is ready."""
    return REMEDIES[state].replace("{source}", source_id or "SERVER")


def state(capability: Capability, at_source: State) -> State:
    """Disabled before all, then the platform, then what its source says."""
    if not capability.enabled:
        return "disabled"
    return at_source if capability.platform_available else "other_platform"

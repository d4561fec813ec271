"""The one state of a capability, and what to do about it."""

from collections.abc import Mapping

from toolcrib.model import Capability, State

REMEDIES: Mapping[State, str] = {
    "ready": "",
    "asleep": "call it: its server starts on demand",
    "needs_login": "log in to its server first",
    "changed": "its definition changed; the operator has to review it",
    "disabled": "set `available: true` where it is declared",
    "other_platform": "it does not run on this platform",
}


def state(capability: Capability, at_source: State) -> State:
    """Disabled before all, then the platform, then what its source says."""
    if not capability.enabled:
        return "disabled"
    return at_source if capability.platform_available else "other_platform"

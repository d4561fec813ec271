"""What the pool makes of a capability: its pin, its state and what to do about that.

The pin is a hash of the whole definition, equal only if all of it is. A source that has more to
pin than we know fields for makes the pin itself, and the pool keeps it.
"""

from collections.abc import Mapping
from dataclasses import fields
from hashlib import sha256

from toolcrib.model import Capability, State
from toolcrib.strict_json import json_digest

REMEDIES: Mapping[State, str] = {
    "ready": "",
    "asleep": "call it: its server starts on demand",
    "needs_login": "the operator has to log in first: `toolcrib login {source}`",
    "changed": "its definition changed; the operator has to review it: `toolcrib review`",
    "unreviewed": "nobody has approved it yet; the operator has to: `toolcrib review`",
    "disabled": "`toolcrib enable` it, or set `available: true` where it is declared",
    "other_platform": "it does not run on this platform",
}
RECIPE_CHANGED = (
    "a tool that it calls has changed or is gone; the operator has to look: "
    "`toolcrib recipes review {}`"
)


def pin(capability: Capability) -> str:
    """A hash of the kind and of every field but the pin itself and the module."""
    named = (field.name for field in fields(capability) if field.name != "module")
    definition = {name: getattr(capability, name) for name in named}
    return json_digest(definition | {"pin": "", "kind": capability.kind})


def remedy(state: State, source_id: str | None) -> str:
    """What to do about a state of something from this source; nothing if it is ready."""
    return REMEDIES[state].replace("{source}", source_id or "SERVER")


def remedy_of(capability: Capability, state: State) -> str:
    """The same of a capability. A recipe is reviewed by a command of its own."""
    if state == "changed" and (capability.source, capability.named_by) == ("builtin", "operator"):
        return RECIPE_CHANGED.format(capability.name)
    return remedy(state, capability.source_id)


def state(capability: Capability, at_source: State) -> State:
    """Disabled before all, then the platform, then what its source says."""
    if not capability.enabled:
        return "disabled"
    return at_source if capability.platform_available else "other_platform"


def entry_print(name: str, content: str) -> int:
    """A number of a name and what is under it; a fingerprint is the sum of them."""
    return int.from_bytes(sha256(f"{name} {content}".encode()).digest())

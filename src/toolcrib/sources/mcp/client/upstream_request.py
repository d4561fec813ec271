"""A request that we send to a server for somebody: `tools/call`, `resources/read` and the like."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from toolcrib.model import Call, JsonObject

UpstreamMethod: TypeAlias = Literal[
    "tools/call",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "prompts/get",
    "completion/complete",
]
SUBSCRIPTIONS: frozenset[UpstreamMethod] = frozenset(
    {"resources/subscribe", "resources/unsubscribe"}
)


@dataclass(frozen=True, slots=True)
class UpstreamRequest:
    """One request to a server: its method and its params, as in the protocol."""

    method: UpstreamMethod
    params: JsonObject

    @classmethod
    def of(cls, call: Call) -> "UpstreamRequest":
        return cls("tools/call", {"name": call.name, "arguments": dict(call.arguments)})

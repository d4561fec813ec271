"""What may be asked of a server on somebody's behalf."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from toolcrib.model import Call, JsonObject

Method: TypeAlias = Literal[
    "tools/call",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "prompts/get",
    "completion/complete",
]
WATCHES: frozenset[Method] = frozenset({"resources/subscribe", "resources/unsubscribe"})


@dataclass(frozen=True, slots=True)
class Errand:
    """One request to a server: what the protocol calls it, and its parameters."""

    method: Method
    params: JsonObject

    @classmethod
    def of(cls, call: Call) -> "Errand":
        return cls("tools/call", {"name": call.name, "arguments": dict(call.arguments)})

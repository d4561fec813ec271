"""Who is connected, as far as they say: for the operator to see, and for nothing to rely on."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from toolcrib.gateway.server import PrincipalServer

MOST_SHOWN = 80
MODERN = "2026"
_VERSION = "io.modelcontextprotocol/protocolVersion"
_CLIENT = "io.modelcontextprotocol/clientInfo"


@dataclass(slots=True)
class ConnectedClient:
    """One connection. `name`, `version` and `era` are the client's own words."""

    principal: str
    profile: str
    pid: int = 0
    name: str = ""
    version: str = ""
    era: str = ""
    requests: int = 0
    since: float = field(default_factory=time.monotonic)
    window: PrincipalServer | None = None

    @property
    def mode(self) -> str:
        """What it is shown; "" as long as it has not said who it is."""
        if not self.window or not self.era:
            return ""
        return self.window.mode(self.name, modern=self.era >= MODERN)

    def hear(self, method: str, params: Mapping[str, Any]) -> None:
        """Note what a request says about its sender."""
        self.requests += 1
        meta = params.get("_meta")
        if method == "initialize":
            self._note(params.get("clientInfo"), params.get("protocolVersion"))
        elif not self.era and isinstance(meta, dict):
            known = cast("dict[str, Any]", meta)
            self._note(known.get(_CLIENT), known.get(_VERSION))

    def _note(self, client: object, era: object) -> None:
        about = cast("dict[str, Any]", client) if isinstance(client, dict) else {}
        self.era, self.name = _text(era), _text(about.get("name"))
        self.version = _text(about.get("version"))


def _text(said: object) -> str:
    return said[:MOST_SHOWN] if isinstance(said, str) else ""

"""How a guest is shown their tools: by what the profile says, else by size and by client."""

from fnmatch import fnmatchcase
from typing import Literal, cast

from toolcrib.gateway.modes_table import LINES
from toolcrib.settings import GatewayMode

Mode = Literal["search", "reveal", "direct", "passthrough"]


def mode_of(said: GatewayMode, *, tools: int, threshold: int, client: str, modern: bool) -> Mode:
    """The mode for a client. `auto` is `direct` for fewer tools than the threshold.

    But for none at all: there may be more soon, and not every client lists a second time.
    The modern era has no connections that a reveal could be for, and its lists may not depend on
    the client: there `reveal` is `search`, and the client's name counts for nothing.
    """
    if said == "auto":
        return _chosen(tools, threshold, "" if modern else client)
    return "search" if said == "reveal" and modern else said


def _chosen(tools: int, threshold: int, client: str) -> Mode:
    if 0 < tools < threshold:
        return "direct"
    for line in LINES:
        if fnmatchcase(client.lower(), line.name) and tools <= line.most:
            return cast("Mode", line.mode)
    return "search"

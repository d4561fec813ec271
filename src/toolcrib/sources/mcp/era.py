"""The era of a server's protocol: probed once, then remembered; never that of whoever calls."""

from collections.abc import Sequence
from typing import NamedTuple

from toolcrib.model import JsonObject
from toolcrib.sources.mcp.known import ServerFacts


class Mode(NamedTuple):
    """How to agree on a protocol revision: probe, shake hands, or take up what is remembered."""

    name: str
    discover: JsonObject | None = None


def modes(remembered: ServerFacts | None, *, is_old: bool = False) -> Sequence[Mode]:
    """What to try, in order. A server that chokes on the probe is then asked the old way.

    One that is old for sure, by its transport, is asked in no other.
    """
    if is_old:
        return (Mode("legacy"),)
    if remembered is None:
        return Mode("auto"), Mode("legacy")
    if remembered.discover is None:
        return Mode("legacy"), Mode("auto")
    return Mode(remembered.version, remembered.discover), Mode("auto")

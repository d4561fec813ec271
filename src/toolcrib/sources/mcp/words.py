"""What a server says in the middle of a call, for whoever listens: checked, and of bounded size.

It is for reading, so nothing is hidden in it.
"""

from toolcrib.model import CallContext, JsonObject, log_nowhere
from toolcrib.sources.mcp.bounded import TooLarge, bounded, clean
from toolcrib.sources.scanned import cleaned_object

LONGEST_LOGGER = 128
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""Those of the protocol, the least urgent first."""


def hand_on(message: JsonObject, running: CallContext | None) -> None:
    """Tell whoever made the call; nobody, if it is nobody's or not what the protocol has."""
    level, logger = message.get("level"), message.get("logger")
    if running is None or running.log is log_nowhere or level not in LEVELS:
        return
    try:
        data = bounded(message.get("data"))
    except TooLarge:
        return
    named = {"logger": clean(logger, LONGEST_LOGGER)} if isinstance(logger, str) else {}
    running.log({"level": level, **cleaned_object({"data": data, **named})})

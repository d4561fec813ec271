"""Which call a question or a log message of a server belongs to.

Over HTTP it comes on the stream of its request, with that request's context. On stdio nothing says
so: there it belongs to the only call under way. Where that is uncertain it is dropped, for it must
never reach another caller.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import Context, ContextVar

from toolcrib.model import CallContext, JsonObject, log_nowhere
from toolcrib.sources.definition import clean_json
from toolcrib.sources.mcp.sanitize import TooLarge, bounded_json, without_surrogates

_BELONGS_TO: ContextVar["CallContext | None"] = ContextVar("toolcrib_mcp_call", default=None)


class ActiveCalls:
    """The calls under way on one connection."""

    def __init__(self) -> None:
        self._here: dict[object, CallContext] = {}
        self._left: set[str] = set()

    @contextmanager
    def hearing(self, running: CallContext) -> Generator[None]:
        """While this lasts, the call hears what is meant for it. In a task of its own alone.

        A call that was abandoned may still speak: from then on, for its caller alone.
        """
        _BELONGS_TO.set(running)
        token, answered = object(), False
        self._here[token] = running
        try:
            yield
            answered = True
        except Exception:
            answered = True
            raise
        finally:
            del self._here[token]
            if not answered:
                self._left.add(running.caller)

    def who(self, context: Context | None = None) -> CallContext | None:
        """Whom it is for, by the context it came with (else the present one); None: nobody."""
        told = context.get(_BELONGS_TO) if context else _BELONGS_TO.get()
        if told is not None:
            return told
        only = next(iter(self._here.values())) if len(self._here) == 1 else None
        return only if only and self._left <= {only.caller} else None


# What a server says in the middle of a call, for whoever listens: checked, and of bounded size.

LONGEST_LOGGER = 128
LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""Those of the protocol, the least urgent first."""


def forward_log(message: JsonObject, running: CallContext | None) -> None:
    """Tell whoever made the call; nobody, if it is nobody's or not what the protocol has."""
    level, logger = message.get("level"), message.get("logger")
    if running is None or running.log is log_nowhere or level not in LOG_LEVELS:
        return
    try:
        data = bounded_json(message.get("data"))
    except TooLarge:
        return
    named = (
        {"logger": without_surrogates(logger, LONGEST_LOGGER)} if isinstance(logger, str) else {}
    )
    running.log({"level": level, **clean_json({"data": data, **named})})

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

LONGEST_LOGGER = 128
LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""Those of the protocol, the least urgent first."""
_CALL: ContextVar["CallContext | None"] = ContextVar("toolcrib_mcp_call", default=None)


class ActiveCalls:
    """The calls under way on one connection."""

    def __init__(self) -> None:
        self._active: dict[object, CallContext] = {}
        self._abandoned_by: set[str] = set()

    @contextmanager
    def active(self, call: CallContext) -> Generator[None]:
        """While this lasts, the call gets what belongs to it.

        The server may still speak for a call that was abandoned: from then on, what is not certain
        is for the same caller or nobody.
        """
        token, answered = object(), False
        self._active[token] = call
        try:
            yield
            answered = True
        except Exception:
            answered = True
            raise
        finally:
            del self._active[token]
            if not answered:
                self._abandoned_by.add(call.caller)

    def find(self, context: Context | None = None) -> CallContext | None:
        """The call that a message belongs to, by its context (else the present one); None: none."""
        call = context.get(_CALL) if context else _CALL.get()
        if call is not None:
            return call
        only = next(iter(self._active.values())) if len(self._active) == 1 else None
        return only if only and self._abandoned_by <= {only.caller} else None


def mark_context(call: CallContext) -> None:
    """What comes in this context belongs to the call. In a task of its own alone: it stays so."""
    _CALL.set(call)


def forward_log(message: JsonObject, call: CallContext | None) -> None:
    """Hand a log message to the call that it belongs to: bounded, without hidden characters.

    One that belongs to no call, or that the protocol does not allow, is dropped.
    """
    level, logger = message.get("level"), message.get("logger")
    if call is None or call.log is log_nowhere or level not in LOG_LEVELS:
        return
    try:
        data = bounded_json(message.get("data"))
    except TooLarge:
        return
    given: JsonObject = {"data": data}
    if isinstance(logger, str):
        given = {**given, "logger": without_surrogates(logger, LONGEST_LOGGER)}
    call.log({"level": level, **clean_json(given)})

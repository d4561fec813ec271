"""Whose a question or a word of a server is, when it comes in the middle of a call.

A server elsewhere sends it on the stream of the request that it belongs to, and so does the context
that comes with it. On the pipe of a process there is nothing that says so: there it is for the only
call under way. Where that is not certain it is for nobody, for it must never reach another guest.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import Context, ContextVar

from toolcrib.model import CallContext

_BELONGS_TO: ContextVar["CallContext | None"] = ContextVar("toolcrib_mcp_call", default=None)


class Listeners:
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

"""One call over a connection, and the outcome that its reply means, or that there is none."""

import asyncio

from toolcrib.errors import BadArguments, UnknownTool
from toolcrib.model import Call, CallContext, CallError, Json, Outcome
from toolcrib.sources.apps.json_rpc import (
    BAD_PARAMS,
    CANCELLED,
    NO_SUCH_METHOD,
    OVERLOADED,
    BadMessage,
    RemoteError,
    is_object,
)
from toolcrib.sources.apps.peer import NothingSent, Peer
from toolcrib.system import deadline_passed

LONGEST_MESSAGE = 4000

CONNECTION_LOST = CallError(
    "connection_lost",
    "call",
    "the app was gone before it answered, so nobody knows whether the call took effect; "
    "look before you call again",
    retryable=True,
    effect="unknown",
)
NOT_RUNNING = CallError(
    "not_running", "call", "the app has just gone, and nothing was sent; call again", retryable=True
)


async def call_app(peer: Peer, call: Call, context: CallContext) -> Outcome:
    """The outcome of a call. Raises `UnknownTool` and `BadArguments`, as the app says."""
    limit_s = context.deadline.left_s
    params = {"name": call.name, "arguments": call.arguments, "deadline_s": round(limit_s, 3)}
    limit = asyncio.timeout(limit_s)
    try:
        async with limit:
            return _outcome(await peer.ask("call", params, context.progress))
    except TimeoutError:
        return Outcome(error=deadline_passed(context.deadline))
    except NothingSent:
        return Outcome(error=NOT_RUNNING)
    except ConnectionError:
        return Outcome(error=CONNECTION_LOST)
    except BadMessage as error:
        raise BadArguments(f"{call.name}: {error}") from None
    except RemoteError as error:
        return _failed(error, call)


def _outcome(result: Json) -> Outcome:
    if is_object(result) and "content" in result:
        return Outcome(result["content"], result.get("structured"))
    message = "the tool ran, but the app's answer has no content; see the protocol page"
    return Outcome(error=CallError("bad_result", "call", message, effect="failed"))


def _failed(error: RemoteError, call: Call) -> Outcome:
    match error.code:
        case _ if error.code == NO_SUCH_METHOD:
            raise UnknownTool(f"no tool {call.name!r} in the app any more; search for it again")
        case _ if error.code == BAD_PARAMS:
            raise BadArguments(error.message[:LONGEST_MESSAGE])
        case _ if error.code == OVERLOADED:
            busy = CallError("overloaded", "call", "the app is busy; try again", retryable=True)
            return Outcome(error=busy)
        case _ if error.code == CANCELLED:
            message = "the app gave up, and nobody knows whether the call took effect"
            return Outcome(error=CallError("tool_cancelled", "call", message, effect="unknown"))
        case _:
            unknown = is_object(error.data) and error.data.get("effect") == "unknown"
            effect = "unknown" if unknown else "failed"
            message = error.message[:LONGEST_MESSAGE]
            return Outcome(error=CallError("tool_failed", "call", message, effect=effect))

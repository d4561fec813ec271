"""The body of a request: read whole, within bounds of size and time, before anybody acts on it."""

import asyncio
from collections.abc import Mapping

from toolcrib.execute import NotJson, read_json
from toolcrib.gateway.http.asgi import Message, Receive
from toolcrib.gateway.http.refusal import Refusal
from toolcrib.gateway.streams import MOST_VALUES

BODY_S = 20.0
LITTLE = 64 * 1024


async def read_body(receive: Receive, headers: Mapping[str, str], most: int) -> bytes:
    """All of it. Raises `Refusal` where it is too much, too slow, cut off, or no JSON."""
    said = headers.get("content-length", "0")
    if said.isdecimal() and int(said) > most:
        raise _too_large(most)
    try:
        async with asyncio.timeout(BODY_S):
            body = await _whole(receive, most)
    except TimeoutError:
        told = f"the body took longer than {BODY_S:.0f} s; send it faster"
        raise Refusal(408, "too_slow", told) from None
    if len(body) <= LITTLE:
        _check(body)
    else:
        await asyncio.to_thread(_check, body)
    return body


def _check(body: bytes) -> None:
    """Raises `Refusal` where it is no JSON, or more values than anybody needs in one message."""
    try:
        read_json(body.decode(), most_values=MOST_VALUES)
    except (NotJson, UnicodeDecodeError) as error:
        raise Refusal(400, "bad_request", f"{error}"[:200]) from None


async def _whole(receive: Receive, most: int) -> bytes:
    """The body, chunk by chunk: what a header says of its length is not what counts."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refusal(400, "bad_request", "the body was cut off")
        body += message.get("body", b"")
        if len(body) > most:
            raise _too_large(most)
        if not message.get("more_body", False):
            return bytes(body)


def _too_large(most: int) -> Refusal:
    told = f"the body has more than {most:,} bytes; send less, or set `gateway.body_bytes`"
    return Refusal(413, "too_large", told)


def replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body, and then whatever the client does next."""
    given = False

    async def receive_again() -> Message:
        nonlocal given
        if not given:
            given = True
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return receive_again

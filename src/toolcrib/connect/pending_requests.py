"""The requests without an answer, so that nothing is lost quietly when a daemon ends.

A client of the handshake era says some things once that a new daemon has to know: `initialize` and
its like. They are replayed, and the answers, which the client has already, are hidden from it.
Requests that only read are sent again. Of the others nobody knows whether they were done, and the
client is told so.
"""

import json

from toolcrib.connect.first_replies import FirstReplies
from toolcrib.connect.messages import UNKNOWN_OUTCOME, Message, failure, notification, with_id

# Asking these twice does no harm.
READ_METHODS = frozenset(
    """initialize ping server/discover tools/list resources/list resources/templates/list
    resources/read resources/subscribe resources/unsubscribe prompts/list prompts/get
    completion/complete logging/setLevel subscriptions/listen""".split()
)
READ_TOOLS = frozenset({"tool_search", "tool_describe"})
MOST_REMEMBERED = 500
UNKNOWN = (
    "the gateway ended while this ran, and nobody knows whether it was done; see whether it was"
    " before you ask again"
)


class PendingRequests:
    """The open requests of one client, and what a new daemon has to be sent first.

    Of requests that have one of the `first` replies already, the client gets no other.
    """

    def __init__(self, first: FirstReplies) -> None:
        self._first = first
        self._open: dict[str, Message] = {}
        self._replayed: set[str] = set()
        self._setup: dict[str, Message] = {}
        self._hidden: set[str] = set()
        self._questions: set[str] = set()
        self._stale: set[str] = set()
        self._lists_change = self._is_outdated = False

    @property
    def is_settled(self) -> bool:
        """Whether every request has its answer."""
        return not self._open

    def sent(self, message: Message) -> None:
        """The daemon has this now."""
        if message.method and message.id:
            self._open[message.id] = message
        elif message.method == "notifications/cancelled":
            self._open.pop(message.target, None)
        elif message.id:
            self._questions.discard(message.id)
        self._remember(message)

    def is_stale(self, message: Message) -> bool:
        """Whether the client answers a daemon that is gone."""
        stale = not message.method and message.id in self._stale
        self._stale.discard(message.id if stale else "")
        return stale

    def is_for_client(self, message: Message) -> bool:
        """Whether a message of the daemon is for the client."""
        if message.method:
            if message.id:
                self._questions.add(message.id)
            return True
        if message.id in self._hidden:
            self._hidden.discard(message.id)
            return False
        answered = self._open.pop(message.id, None)
        self._replayed.discard(message.id)
        if answered and answered.method == "initialize":
            self._lists_change = b'"listChanged":true' in message.line.replace(b" ", b"")
        if message.id in self._first.given:
            self._is_outdated |= self._first.lists_others(message.id, _result(message.line))
            return False
        return True

    def is_answered(self, message: Message) -> bool:
        """Whether the client has the reply to this request, and the daemon has to answer yet."""
        return message.id in self._first.given

    def take_outdated(self) -> list[bytes]:
        """What a client is sent whose first list of tools is another than the daemon's."""
        outdated, self._is_outdated = self._is_outdated, False
        return self.notifications() if outdated else []

    def lost(self) -> tuple[list[bytes], list[Message]]:
        """The daemon is gone: what the client is sent, and what the next daemon is sent first."""
        to_client = [_cancelled(id) for id in self._questions]
        self._stale |= self._questions
        self._questions, self._hidden = set(), set()
        replayed = [each for each in self._open.values() if self._may_replay(each)]
        lost = [each for each in self._open.values() if each not in replayed]
        waiting = [each for each in lost if not self.is_answered(each)]
        to_client += [failure(each.id, UNKNOWN_OUTCOME, UNKNOWN) for each in waiting]
        self._replayed = {each.id for each in replayed}
        self._open = {}
        return to_client, [*self._setup_for(replayed), *replayed]

    def notifications(self) -> list[bytes]:
        """What a client is sent when another daemon has taken over: lists may have changed."""
        is_initialized = self._lists_change and "initialize" in self._setup
        return [notification("notifications/tools/list_changed")] if is_initialized else []

    def _may_replay(self, message: Message) -> bool:
        only_reads = message.method in READ_METHODS or (
            message.method == "tools/call" and message.target in READ_TOOLS
        )
        return only_reads and message.id not in self._replayed

    def _setup_for(self, replayed: list[Message]) -> list[Message]:
        """What the client said once, under ids of ours; none if `initialize` itself is replayed."""
        if any(each.method == "initialize" for each in replayed):
            return []
        setup: list[Message] = []
        for number, message in enumerate(self._setup.values()):
            if message.id:
                id = f"toolcrib-connect-{number}"
                self._hidden.add(f'"{id}"')
                setup.append(Message(with_id(message.line, id), is_replayed=True))
            else:
                setup.append(Message(message.line, is_replayed=True))
        return setup

    def _remember(self, message: Message) -> None:
        """Remember what every daemon has to know, in the order in which it came."""
        match message.method:
            case "initialize" | "notifications/initialized" | "logging/setLevel":
                self._setup[message.method] = message
            case "resources/subscribe" if len(self._setup) < MOST_REMEMBERED:
                self._setup[message.target] = message
            case "resources/unsubscribe":
                self._setup.pop(message.target, None)
            case _:
                pass


def _result(line: bytes) -> object:
    try:
        return json.loads(line).get("result")
    except (ValueError, RecursionError, AttributeError):
        return None


def _cancelled(id: str) -> bytes:
    """That a question of the daemon needs no answer. The id is JSON text: a number or a word."""
    parsed = int(id) if id.lstrip("-").isdigit() else id.strip('"')
    return notification("notifications/cancelled", requestId=parsed)

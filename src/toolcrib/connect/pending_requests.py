"""What is under way between a client and the daemon, so that a daemon's end loses nothing quietly.

A client of the handshake era said things once that a new daemon has to hear again: `initialize`
and its like are repeated, and the answers, which the client has already, kept from it. Requests
that only look are sent again; of the others nobody knows whether they were done, and that is what
the client is told.
"""

from toolcrib.connect.messages import UNKNOWN_OUTCOME, Message, failure, notice, with_id

# Asking these twice does no harm.
READ_METHODS = frozenset(
    """initialize ping server/discover tools/list resources/list resources/templates/list
    resources/read resources/subscribe resources/unsubscribe prompts/list prompts/get
    completion/complete logging/setLevel subscriptions/listen""".split()
)
READ_TOOLS = frozenset({"tool_search", "tool_describe"})
MOST_KEPT = 500
UNKNOWN = (
    "the gateway ended while this ran, and nobody knows whether it was done; see whether it was"
    " before you ask again"
)


class PendingRequests:
    """The open requests of one client, and what a new daemon has to be told first."""

    def __init__(self) -> None:
        self._open: dict[str, Message] = {}
        self._repeated: set[str] = set()
        self._greeting: dict[str, Message] = {}
        self._swallowed: set[str] = set()
        self._asked: set[str] = set()
        self._stale: set[str] = set()
        self._lists_change = False

    @property
    def is_settled(self) -> bool:
        """Whether every request has its answer."""
        return not self._open

    def sent(self, message: Message) -> None:
        """The daemon has this now."""
        if message.method and message.id:
            self._open[message.id] = message
        elif message.method == "notifications/cancelled":
            self._open.pop(message.about, None)
        elif message.id:
            self._asked.discard(message.id)
        self._keep(message)

    def is_stale(self, message: Message) -> bool:
        """Whether the client answers a daemon that is gone."""
        stale = not message.method and message.id in self._stale
        self._stale.discard(message.id if stale else "")
        return stale

    def came(self, message: Message) -> bool:
        """Whether what the daemon says is for the client."""
        if message.method:
            if message.id:
                self._asked.add(message.id)
            return True
        if message.id in self._swallowed:
            self._swallowed.discard(message.id)
            return False
        answered = self._open.pop(message.id, None)
        self._repeated.discard(message.id)
        if answered and answered.method == "initialize":
            self._lists_change = b'"listChanged":true' in message.line.replace(b" ", b"")
        return True

    def lost(self) -> tuple[list[bytes], list[Message]]:
        """The daemon is gone: what the client is told, and what the next daemon is told first."""
        told = [notice("notifications/cancelled", requestId=_id(each)) for each in self._asked]
        self._stale |= self._asked
        self._asked, self._swallowed = set(), set()
        again = [each for each in self._open.values() if self._may_repeat(each)]
        lost = [each for each in self._open.values() if each not in again]
        told += [failure(each.id, UNKNOWN_OUTCOME, UNKNOWN) for each in lost]
        self._repeated = {each.id for each in again}
        self._open = {}
        return told, [*self._greetings(again), *again]

    def news(self) -> list[bytes]:
        """What a client hears when another daemon has taken over: lists may be others now."""
        greeted = self._lists_change and "initialize" in self._greeting
        return [notice("notifications/tools/list_changed")] if greeted else []

    def _may_repeat(self, message: Message) -> bool:
        looks = message.method in READ_METHODS or (
            message.method == "tools/call" and message.about in READ_TOOLS
        )
        return looks and message.id not in self._repeated

    def _greetings(self, again: list[Message]) -> list[Message]:
        """What the client said once, under ids of ours; not what it has no answer to anyway."""
        if any(each.method == "initialize" for each in again):
            return []
        greetings: list[Message] = []
        for number, message in enumerate(self._greeting.values()):
            if message.id:
                id = f"toolcrib-connect-{number}"
                self._swallowed.add(f'"{id}"')
                greetings.append(Message(with_id(message.line, id), is_greeting=True))
            else:
                greetings.append(Message(message.line, is_greeting=True))
        return greetings

    def _keep(self, message: Message) -> None:
        """Remember what every daemon has to hear, in the order in which it was said."""
        match message.method:
            case "initialize" | "notifications/initialized" | "logging/setLevel":
                self._greeting[message.method] = message
            case "resources/subscribe" if len(self._greeting) < MOST_KEPT:
                self._greeting[message.about] = message
            case "resources/unsubscribe":
                self._greeting.pop(message.about, None)
            case _:
                pass


def _id(text: str) -> object:
    """An id out of its JSON text: a number or a word."""
    return int(text) if text.lstrip("-").isdigit() else text.strip('"')

"""One question for several calls: what it covers, what was answered, and how many are used up.

It covers calls of the tools that the person was told of, as they were then, and no more of each
than they were told. Whatever else is called is asked about by itself. It is no way past a gate:
rights, state, pin, arguments and rules that deny are looked at with each call, before and after.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, Self

from toolcrib.execute.tickets import ApprovalRequest
from toolcrib.model import JsonObject, PermissionKind


class CoveredTool(NamedTuple):
    """A tool with this pin, and how many calls of it are covered."""

    name: str
    pin: str
    kind: PermissionKind
    most: int


@dataclass
class Cover:
    """The question about several calls of one caller, and its answer; None until there is one.

    `ticket` is the one that it waits for. Made for one event loop: `asking` is held while somebody
    is asked, so that calls side by side ask once.
    """

    request: ApprovalRequest
    tools: tuple[CoveredTool, ...]
    answer: bool | None = None
    ticket: str = ""
    used: dict[str, int] = field(default_factory=dict[str, int])
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def kinds(self) -> frozenset[PermissionKind]:
        """Of what kinds the covered tools are."""
        return frozenset(each.kind for each in self.tools)

    def covers(self, request: ApprovalRequest) -> bool:
        """Whether this call was asked about: its tool as it was, and not yet too many of them."""
        return request.caller == self.request.caller and any(
            (each.name, each.pin) == (request.name, request.pin)
            and self.used.get(each.name, 0) < each.most
            for each in self.tools
        )

    def use(self, request: ApprovalRequest) -> None:
        """One call more was made under it."""
        self.used[request.name] = self.used.get(request.name, 0) + 1

    def fields(self) -> JsonObject:
        """As JSON, for `of_fields`."""
        return {
            "request": asdict(self.request),
            "tools": [list(each) for each in self.tools],
            "answer": self.answer,
            "ticket": self.ticket,
            "used": self.used,
        }

    @classmethod
    def of_fields(cls, given: Mapping[str, Any]) -> Self:
        """The one that these fields were made of."""
        tools: Iterable[Any] = given["tools"]
        return cls(
            ApprovalRequest(**given["request"]),
            tuple(CoveredTool(*each) for each in tools),
            given["answer"],
            given["ticket"],
            dict(given["used"]),
        )

"""What a button of the dashboard may do, each by its name, and what runs on after the answer.

An action is bound to its subject: the ticket of one call, the full pin of one definition, one
server. There is none for more than one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from toolcrib.dashboard.login import Notice
from toolcrib.dashboard.operations import Operations
from toolcrib.errors import ToolcribError
from toolcrib.sources.mcp import RefreshResult

MOST_TASKS = 16


@dataclass
class ServerTask:
    """What is done with a server at the moment. `link`: where a person agrees to a login."""

    words: str
    link: str = ""
    notice: Notice | None = None
    work: "asyncio.Task[None] | None" = field(default=None, repr=False)


class ServerTasks:
    """What takes longer than an answer may: one thing a server, and how the last one went."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations
        self.by_server: dict[str, ServerTask] = {}

    def refresh(self, server: str, words: str) -> Notice:
        """Start a server, or list its tools, in the background."""

        async def work(_task: ServerTask) -> RefreshResult:
            return await asyncio.to_thread(self._operations.refresh, server)

        return self._begin(server, ServerTask(words), work)

    def log_in(self, server: str) -> Notice:
        """Get the address where a person agrees, and wait for them."""

        async def work(task: ServerTask) -> RefreshResult:
            def show(link: str) -> None:
                task.link, task.words = link, "Waiting until you have agreed there"

            return await asyncio.to_thread(self._operations.log_in, server, show)

        return self._begin(server, ServerTask("Asking for its login page"), work)

    def _begin(
        self,
        server: str,
        task: ServerTask,
        work: Callable[[ServerTask], Coroutine[Any, Any, RefreshResult]],
    ) -> Notice:
        running = [each for each in self.by_server.values() if each.work and not each.work.done()]
        if self.by_server.get(server) in running or len(running) >= MOST_TASKS:
            return Notice("Something is under way already; wait for its end.", is_bad=True)

        async def run() -> None:
            task.notice = await _outcome(work(task))
            task.words = task.link = ""

        self.by_server[server] = task
        task.work = asyncio.create_task(run())
        return Notice(f"{task.words}: {server}")


async def _outcome(work: Coroutine[Any, Any, RefreshResult]) -> Notice:
    try:
        result = await work
    except ToolcribError as error:
        return Notice(str(error), is_bad=True)
    if result.error:
        return Notice(f"{result.error} {result.remedy}".strip(), is_bad=True)
    return Notice(f"{result.tools} tools, listed in {result.seconds:.1f} s.")


class OperatorActions:
    """What the buttons do. Each says what came of it, or raises `ToolcribError`."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations
        self.tasks = ServerTasks(operations)

    async def allow_call(self, ticket: str) -> Notice:
        """Let this one call be made, once."""
        await asyncio.to_thread(self._operations.decide_call, ticket, allowed=True)
        return Notice(
            "Allowed once. A client that waits goes on now; another makes the call again."
        )

    async def deny_call(self, ticket: str) -> Notice:
        """Take this one call away."""
        await asyncio.to_thread(self._operations.decide_call, ticket, allowed=False)
        return Notice("Denied: this call is not made. The same call made again waits again.")

    async def approve_definition(self, server: str, tool: str, pin: str) -> Notice:
        """Let this definition be shown and called."""
        decide = self._operations.decide_definition
        await asyncio.to_thread(decide, server, tool, pin, approved=True)
        return Notice(f"{server}/{tool} is approved: it can be found and called again.")

    async def reject_definition(self, server: str, tool: str, pin: str) -> Notice:
        """Leave this definition out."""
        decide = self._operations.decide_definition
        await asyncio.to_thread(decide, server, tool, pin, approved=False)
        return Notice(f"{server}/{tool} is rejected: it stays out until it changes again.")

    async def start(self, server: str) -> Notice:
        """Start a server."""
        return self.tasks.refresh(server, "Starting")

    async def refresh(self, server: str) -> Notice:
        """List the tools of a server anew."""
        return self.tasks.refresh(server, "Listing")

    async def stop(self, server: str) -> Notice:
        """Stop a server until it is called again."""
        await asyncio.to_thread(self._operations.stop, server)
        return Notice(f"{server} is stopped. The next call starts it again.")

    async def log_in(self, server: str) -> Notice:
        """Begin a login."""
        return self.tasks.log_in(server)

    async def log_out(self, server: str) -> Notice:
        """Forget a login."""
        await asyncio.to_thread(self._operations.forget_login, server)
        return Notice(f"The login to {server} is forgotten.")

    async def enable(self, server: str) -> Notice:
        """Switch a server on."""
        await asyncio.to_thread(self._operations.switch, server, on=True)
        return Notice(f"{server} is enabled.")

    async def disable(self, server: str) -> Notice:
        """Switch a server off."""
        await asyncio.to_thread(self._operations.switch, server, on=False)
        return Notice(f"{server} is disabled: no model finds or calls its tools.")

    async def remove_key(self, name: str) -> Notice:
        """Take the key of a client back."""
        await asyncio.to_thread(self._operations.clients.remove_key, name)
        return Notice(f"The key {name} is removed: it is refused from now on.")


class Action(NamedTuple):
    """What a button with this `label` does to a subject of so many `fields`; the page `back`.

    `approves`: it lets something be called that could not be called before.
    """

    do: Callable[..., Awaitable[Notice]]
    label: str
    back: str
    fields: int = 1
    approves: bool = False


ACTIONS: Mapping[str, Action] = {
    "allow_call": Action(OperatorActions.allow_call, "Allow once", "/inbox", approves=True),
    "deny_call": Action(OperatorActions.deny_call, "Deny", "/inbox"),
    "approve_definition": Action(
        OperatorActions.approve_definition, "Approve this pin", "/inbox", fields=3, approves=True
    ),
    "reject_definition": Action(OperatorActions.reject_definition, "Reject", "/inbox", fields=3),
    "start": Action(OperatorActions.start, "Start", "/servers"),
    "refresh": Action(OperatorActions.refresh, "Refresh", "/servers"),
    "stop": Action(OperatorActions.stop, "Stop", "/servers"),
    "log_in": Action(OperatorActions.log_in, "Log in", "/servers"),
    "log_out": Action(OperatorActions.log_out, "Log out", "/servers"),
    "enable": Action(OperatorActions.enable, "Enable", "/servers"),
    "disable": Action(OperatorActions.disable, "Disable", "/servers"),
    "remove_key": Action(OperatorActions.remove_key, "Remove", "/clients"),
}
"""All there are, each by its name."""

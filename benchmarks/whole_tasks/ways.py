"""Three ways to do a task: with every definition in each request, by search, and by programs.

The session is a real one, and so are the servers; the model alone is scripted. A search that misses
a tool is followed by one that selects it by name.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from benchmarks.home import Unusable
from benchmarks.whole_tasks.conversation import Conversation, Spent
from benchmarks.whole_tasks.ground import Ground
from benchmarks.whole_tasks.task import ToolCall, WholeTask
from toolcrib import Crib
from toolcrib.adapters.wire.outcome_text import outcome_text
from toolcrib.model import Outcome
from toolcrib.program import ProgramOutcome
from toolcrib.session import RUN_TOOL, SEARCH_TOOL, Session
from toolcrib.text import tool_definition

Way = Literal["eager", "search", "code"]
WAYS: tuple[Way, ...] = ("eager", "search", "code")


async def do_task(task: WholeTask, way: Way, crib: Crib, ground: Ground) -> tuple[Spent, Any]:
    """What a task took, done in this way, and its answer. Raises `Unusable` if a call fails."""
    search, style = "off" if way == "eager" else "on", "code" if way == "code" else None
    session = crib.session(tool_search=search, style=style)
    chat = Chat(task, ground, crib, session, Conversation(ground.shown))
    chat.talk.hear([ground.filled(task.request)])
    answer = await (chat.by_programs() if way == "code" else chat.by_calls(way))
    return chat.talk.spent, answer


@dataclass(frozen=True, slots=True)
class Chat:
    """A conversation of the scripted model about a task, with a session."""

    task: WholeTask
    ground: Ground
    crib: Crib
    session: Session
    talk: Conversation

    async def by_calls(self, way: Way) -> Any:  # noqa: ANN401 - as JSON has it
        """Search if need be, then call; the answer."""
        if way == "search":
            await self._search({"queries": [*self.task.queries]})
        results: list[Sequence[str]] = []
        for turn in self.task.turns:
            calls = [self._named(call) for call in turn(results)]
            missing = self._missing(calls) if way == "search" else []
            if missing:
                await self._search({"queries": [f"select:{','.join(missing)}"]})
            results.append(await self._call(calls))
        answer = self.task.answer(results)
        self._answer(answer)
        return answer

    async def by_programs(self) -> Any:  # noqa: ANN401 - as JSON has it
        """Search, then run programs; the last gives the answer back."""
        shown = await self._search({"queries": [*self.task.queries]})
        value: Any = None
        for program in map(self.ground.filled, self.task.programs):
            check = await asyncio.to_thread(self.crib.check_program, program)
            if missing := [tool.name for tool in check.tools if f"{tool.path}(" not in shown]:
                shown += await self._search({"queries": [f"select:{','.join(missing)}"]})
            self._request()
            outcome = await self.session.call(RUN_TOOL.name, {"program": program})
            self._check(outcome, program)
            self._exchange([ToolCall(RUN_TOOL.name, {"program": program})], [outcome_text(outcome)])
            value = outcome.value if isinstance(outcome, ProgramOutcome) else None
        self._answer(value)
        return value

    async def _search(self, arguments: dict[str, Any]) -> str:
        """Search; what the model reads."""
        self._request()
        outcome = await self.session.call(SEARCH_TOOL.name, arguments)
        text = outcome_text(outcome)
        self._exchange([ToolCall(SEARCH_TOOL.name, arguments)], [text])
        return text

    async def _call(self, calls: Sequence[ToolCall]) -> Sequence[str]:
        self._request()
        texts: list[str] = []
        for call in calls:
            outcome = await self.session.call(call.tool, dict(call.arguments))
            self._check(outcome, call)
            texts.append(outcome_text(outcome))
        self._exchange(calls, texts)
        return texts

    def _named(self, call: ToolCall) -> ToolCall:
        """The call, by the name that the model sees, with its real arguments."""
        arguments = json.loads(self.ground.filled(json.dumps(call.arguments)))
        every = (*self.session.core_tools(), *self.session.deferred_tools())
        wanted = {f"mcp_{server}_{call.tool}" for server in self.task.servers}
        [name] = wanted & {tool.name for tool in every}
        return ToolCall(name, arguments)

    def _missing(self, calls: Sequence[ToolCall]) -> list[str]:
        known = {tool.name for tool in self.session.active_tools()}
        return list(dict.fromkeys(call.tool for call in calls if call.tool not in known))

    def _request(self) -> None:
        """The model is asked, with what the session lists and says."""
        about = [self.session.system_note(), self.session.deferred_summary()]
        listed = map(tool_definition, self.session.active_tools())
        self.talk.request([*listed, *filter(None, about)])

    def _exchange(self, calls: Sequence[ToolCall], texts: Sequence[str]) -> None:
        written = [{"name": call.tool, "arguments": call.arguments} for call in calls]
        self.talk.reply([json.dumps(each, ensure_ascii=False) for each in written])
        self.talk.hear(texts)

    def _answer(self, value: Any) -> None:  # noqa: ANN401 - as JSON has it
        """The model tells the user."""
        self._request()
        self.talk.reply([json.dumps(value, ensure_ascii=False)])

    def _check(self, outcome: Outcome, asked: object) -> None:
        if outcome.error:
            raise Unusable(f"{self.task.name}: {asked} failed: {outcome.error}")
        if outcome.page:
            raise Unusable(f"{self.task.name}: {asked} has more than a page")

"""A graph with a model node of its own: a real chat model searches, and calls what it finds."""

import asyncio
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import pytest
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph  # pyright: ignore[reportMissingTypeStubs]
from langgraph.runtime import Runtime
from langgraph.types import Command, Send

from tests.adapters.weather import (
    FORECAST,
    NOW,
    RADAR,
    Weather,
    grows,
    prefetching,
    raw,
    weather_crib,
)
from toolcrib import Caller, Crib, Scope
from toolcrib.adapters.langgraph import ApprovalToolNode
from toolcrib.crib import inventory_of
from toolcrib.testing import CallTool, Say, ScriptedModel, SearchTools

OSLO = CallTool(FORECAST, {"city": "Oslo"})
FIND = SearchTools("weather forecast")

Drive = Callable[[Any, Any, Any], Mapping[str, Any]]
Make = Callable[[str], BaseChatModel]


def invoke(graph: Any, given: Any, config: Any) -> Mapping[str, Any]:
    return graph.invoke(given, config)


def ainvoke(graph: Any, given: Any, config: Any) -> Mapping[str, Any]:
    return asyncio.run(graph.ainvoke(given, config))


def claude(url: str) -> ChatAnthropic:
    said: dict[str, Any] = {"model": "claude-opus-5-5", "base_url": url, "api_key": "none"}
    return ChatAnthropic(**said, max_retries=0)


def gpt(url: str) -> ChatOpenAI:
    said: dict[str, Any] = {"model": "gpt-4.1", "base_url": f"{url}/v1", "api_key": "none"}
    return ChatOpenAI(**said, max_retries=0)


@dataclass
class User:
    """The context of a run."""

    name: str


def route(state: MessagesState) -> str:
    reply = state["messages"][-1]
    assert isinstance(reply, AIMessage)
    return "tools" if reply.tool_calls or reply.invalid_tool_calls else END


class Talk:
    """A graph of two nodes, as a user would write it."""

    def __init__(
        self,
        node: ApprovalToolNode,
        chat: BaseChatModel,
        drive: Drive = invoke,
        saver: InMemorySaver | None = None,
    ) -> None:
        self.drive = drive
        self.node = node
        self.chat = chat
        flow = StateGraph(MessagesState, context_schema=User)
        flow.add_node("model", self.model)
        flow.add_node("tools", node)
        flow.add_edge(START, "model")
        flow.add_conditional_edges("model", route, ["tools", END])
        flow.add_edge("tools", "model")
        self.graph: Any = flow.compile(checkpointer=saver or InMemorySaver())

    def model(self, state: MessagesState, runtime: Runtime[User]) -> dict[str, Any]:
        tools = self.node.active_tools(state["messages"], runtime.context)
        note = SystemMessage(self.node.system_note(runtime.context) or "Be brief.")
        reply = self.chat.bind_tools(tools).invoke([note, *state["messages"]])
        return {"messages": [reply]}

    def say(self, given: Any, thread: str = "1") -> Mapping[str, Any]:
        return self.drive(self.graph, given, {"configurable": {"thread_id": thread}})

    def ask(self, text: str, thread: str = "1") -> str:
        return self.say({"messages": [HumanMessage(text)]}, thread)["messages"][-1].text


@pytest.fixture(params=[invoke, ainvoke])
def drive(request: pytest.FixtureRequest) -> Drive:
    return request.param


@pytest.fixture
def made() -> tuple[Crib, Weather]:
    return weather_crib()


@contextmanager
def playing(turns: Sequence[Any]) -> Generator[ScriptedModel]:
    with ScriptedModel(turns) as model:
        yield model
    assert model.is_over


@pytest.mark.parametrize("make", [claude, gpt])
def test_a_search_reveals_and_the_tool_is_called(
    made: tuple[Crib, Weather], drive: Drive, make: Make
):
    crib, source = made
    rome = CallTool(RADAR, {"city": "Rome"})
    with playing(
        [FIND, OSLO, Say("Sunny."), SearchTools("rain radar map"), rome, Say("No.")]
    ) as model:
        talk = Talk(ApprovalToolNode([], crib), make(model.url), drive)
        assert talk.ask("How is the weather in Oslo?") == "Sunny."
        assert talk.ask("Does it rain in Rome?") == "No."
    assert model.requests[0].sees == (NOW, "tool_search")
    assert model.requests[1].sees[:3] == (NOW, "tool_search", FORECAST)
    assert RADAR in model.requests[-1].sees
    assert [call.arguments["city"] for call in source.reached] == ["Oslo", "Rome"]
    for earlier, later in pairwise(model.requests):
        assert grows(raw(earlier.body, "tools"), raw(later.body, "tools"))


def test_a_question_is_asked_by_interrupt_and_answered_in_another_process(
    made: tuple[Crib, Weather], drive: Drive
):
    crib, source = made
    asked_for(crib, source)
    saver = InMemorySaver()
    with playing([FIND, OSLO]) as model:
        stopped = Talk(ApprovalToolNode([], crib), gpt(model.url), drive, saver).say(
            {"messages": [HumanMessage("Weather?")]}
        )
    [question] = stopped["__interrupt__"]
    assert (question.value["tool"], question.value["arguments"]) == (FORECAST, {"city": "Oslo"})
    assert source.reached == []
    anew, source = weather_crib()
    asked_for(anew, source)
    with playing([Say("Sunny.")]) as model:
        done = Talk(ApprovalToolNode([], anew), gpt(model.url), drive, saver).say(
            Command(resume=True)
        )
    assert done["messages"][-1].text == "Sunny."
    assert model.requests[0].sees[:3] == (NOW, "tool_search", FORECAST)
    assert [call.arguments for call in source.reached] == [{"city": "Oslo"}]


def asked_for(crib: Crib, source: Weather) -> None:
    """Let the forecast need leave."""
    source.tools["get_forecast"] = replace(source.tools["get_forecast"], permission_kind="write")
    inventory_of(crib).pool.refresh(source)


def test_a_tool_that_no_search_has_found_is_refused_with_the_way_to_it(made: tuple[Crib, Weather]):
    crib, source = made
    node = ApprovalToolNode([], crib)
    flow = StateGraph(MessagesState)
    flow.add_node("tools", node)
    flow.add_edge(START, "tools")
    call = {"name": RADAR, "args": {"city": "Oslo"}, "id": "1"}
    said: Any = {"messages": [AIMessage("", tool_calls=[call])]}
    refused = flow.compile().invoke(said)["messages"][-1]
    assert "not_revealed" in refused.text
    assert f"select:{RADAR}" in refused.text
    assert source.reached == []


def test_two_threads_share_no_reveals(made: tuple[Crib, Weather]):
    crib, _ = made
    with playing([FIND, Say("Found."), Say("Hi."), OSLO, Say("Sunny.")]) as model:
        talk = Talk(ApprovalToolNode([], crib), gpt(model.url))
        talk.ask("Weather?", "one")
        talk.ask("Hello", "two")
        assert model.requests[-1].sees == (NOW, "tool_search")
        assert talk.ask("In Oslo?", "one") == "Sunny."


def test_bound_tools_stand_first(made: tuple[Crib, Weather]):
    def look(where: str) -> str:
        """Look somewhere."""
        return f"nothing in {where}"

    crib, _ = made
    with playing([CallTool("look", {"where": "Oslo"}), Say("Nothing.")]) as model:
        talk = Talk(ApprovalToolNode([look], crib), gpt(model.url))
        assert talk.ask("Look") == "Nothing."
    assert model.requests[0].sees == ("look", NOW, "tool_search")
    assert b"nothing in Oslo" in model.requests[1].body


def test_the_caller_may_depend_on_the_run(made: tuple[Crib, Weather]):
    crib, _ = made

    def caller(user: User) -> Caller:
        return Caller(user.name, Scope(allowed=frozenset({NOW})))

    with playing([CallTool(NOW), Say("Late.")]) as model:
        talk = Talk(ApprovalToolNode([], crib, caller=caller), gpt(model.url))
        given = {"messages": [HumanMessage("What time is it?")]}
        thread = {"configurable": {"thread_id": "1"}}
        done = talk.graph.invoke(given, thread, context=User("ann"))
    assert done["messages"][-1].text == "Late."
    assert model.requests[0].sees == (NOW,)


def test_calls_that_are_sent_one_by_one_know_what_was_revealed(made: tuple[Crib, Weather]):
    crib, source = made

    def one_by_one(state: MessagesState) -> Any:
        calls = getattr(state["messages"][-1], "tool_calls", [])
        return [Send("tools", [call]) for call in calls] or "__end__"

    class Sending(Talk):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            flow = StateGraph(MessagesState, context_schema=User)
            flow.add_node("model", self.model)
            flow.add_node("tools", self.node)
            flow.add_edge(START, "model")
            flow.add_conditional_edges("model", one_by_one, ["tools", "__end__"])
            flow.add_edge("tools", "model")
            self.graph = flow.compile(checkpointer=InMemorySaver())

    with playing([FIND, [OSLO, CallTool(NOW)], Say("Sunny.")]) as model:
        talk = Sending(ApprovalToolNode([], crib), gpt(model.url))
        assert talk.ask("Weather?") == "Sunny."
    assert sorted(call.name for call in source.reached) == ["current_time", "get_forecast"]


def test_arguments_that_are_no_json_are_told_and_do_not_end_the_run(
    made: tuple[Crib, Weather], drive: Drive
):
    def look(where: str) -> str:
        """Look somewhere."""
        return f"nothing in {where}"

    crib, source = made
    broken = CallTool(FORECAST, '{"city": "Os')
    script = [FIND, broken, [broken, CallTool(NOW), CallTool("look", "{")], OSLO, Say("Sunny.")]
    with playing(script) as model:
        talk = Talk(ApprovalToolNode([look], crib), gpt(model.url), drive)
        assert talk.ask("Weather?") == "Sunny."
    assert model.requests[-1].body.count(b"not readable as JSON") == 3
    assert [call.name for call in source.reached] == ["current_time", "get_forecast"]


@pytest.mark.parametrize("make", [claude, gpt])
def test_what_the_user_asks_for_is_shown_before_any_search(drive: Drive, make: Make):
    crib, source = prefetching()
    with playing([Say("Hi."), OSLO, Say("Sunny.")]) as model:
        talk = Talk(ApprovalToolNode([], crib), make(model.url), drive)
        talk.ask("Hello")
        assert talk.ask(FORECAST) == "Sunny."
    assert [FORECAST in each.sees for each in model.requests] == [False, True, True]
    assert [call.name for call in source.reached] == ["get_forecast"]


def test_by_default_a_graph_can_say_that_its_model_searches_by_itself():
    crib, _ = prefetching("auto")
    node, asked = ApprovalToolNode([], crib), [HumanMessage(FORECAST)]
    assert FORECAST in str(node.active_tools(asked))
    crib, _ = prefetching("auto")
    node = ApprovalToolNode([], crib)
    assert FORECAST not in str(node.active_tools(asked, model="claude-opus-5-5"))

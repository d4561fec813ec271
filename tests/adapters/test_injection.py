"""What LangChain injects is filled in by the graph: no model sees it, and none can forge it."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import InjectedToolArg, InjectedToolCallId
from langgraph.graph import END, START, MessagesState, StateGraph  # pyright: ignore[reportMissingTypeStubs]
from langgraph.prebuilt import InjectedState, InjectedStore, ToolRuntime
from langgraph.store.memory import InMemoryStore

from toolcrib import Crib, Settings
from toolcrib.adapters.langchain import ToolcribMiddleware
from toolcrib.adapters.langgraph import ApprovalToolNode
from toolcrib.testing import CallTool, Say, ScriptedModel

STATE = Annotated[dict[str, Any], InjectedState]
MESSAGES = Annotated[list[Any], InjectedState("messages")]
TOPIC = Annotated[str, InjectedState("topic")]


@dataclass
class Context:
    user_id: str = "ann"


@pytest.fixture
def got() -> dict[str, Any]:
    return {}


@pytest.fixture
def crib(got: dict[str, Any]) -> Iterator[Crib]:
    def book(  # noqa: PLR0917
        room: str,
        user_id: Annotated[str, InjectedToolArg],
        tenant: Annotated[str, InjectedToolArg()],
        call_id: Annotated[str, InjectedToolCallId],
        state: STATE,
        messages: MESSAGES,
        store: Annotated[Any, InjectedStore()],
        runtime: ToolRuntime[Context, Any],
        config: RunnableConfig | None = None,
        topic: TOPIC = "rooms",
    ) -> str:
        """Book a room."""
        got.update(locals())
        return f"{room} is booked"

    with Crib(Settings(store=":memory:", tool_search="off", embed={"embedder": "none"})) as made:
        made.add(book)
        yield made


FILLED = {"room": "Blue", "user_id": "ann", "tenant": "acme", "topic": "rooms"}
RUN = {"configurable": {"tenant": "acme", "user_id": "not ann"}}


def model(url: str) -> ChatAnthropic:
    said: dict[str, Any] = {"model": "claude-opus-5-5", "base_url": url, "api_key": "none"}
    return ChatAnthropic(**said, max_retries=0)


def in_agent(crib: Crib, url: str, store: InMemoryStore) -> Any:
    middleware = [ToolcribMiddleware(crib)]
    make: Any = create_agent
    return make(model(url), [], middleware=middleware, context_schema=Context, store=store)


def in_node(crib: Crib, url: str, store: InMemoryStore) -> Any:
    tools, chat = ApprovalToolNode([], crib), model(url)

    def reply(state: MessagesState) -> Any:
        shown = tools.active_tools(state["messages"])
        return {"messages": [chat.bind_tools(shown).invoke(state["messages"])]}

    def route(state: MessagesState) -> str:
        return "tools" if getattr(state["messages"][-1], "tool_calls", ()) else END

    flow: Any = StateGraph(MessagesState, context_schema=Context)
    flow.add_node("model", reply)
    flow.add_node("tools", tools)
    flow.add_edge(START, "model")
    flow.add_conditional_edges("model", route, ["tools", END])
    flow.add_edge("tools", "model")
    return flow.compile(store=store)


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("make", [in_agent, in_node])
def test_the_graph_fills_in_what_no_model_sees(
    crib: Crib, got: dict[str, Any], make: Any, *, is_async: bool
):
    store = InMemoryStore()
    with ScriptedModel([CallTool("book", {"room": "Blue"}), Say("Done.")]) as provider:
        graph = make(crib, provider.url, store)
        given: dict[str, Any] = {"messages": [HumanMessage("Book Blue")]}
        if is_async:
            asyncio.run(graph.ainvoke(given, RUN, context=Context()))
        else:
            graph.invoke(given, RUN, context=Context())
        [tool] = provider.requests[0].json["tools"]
        [message] = provider.requests[1].json["messages"][-1]["content"]
    assert list(tool["input_schema"]["properties"]) == ["room"]
    assert message["content"] == "Blue is booked"
    assert {key: got[key] for key in FILLED} == FILLED
    assert got["messages"] == got["state"]["messages"]
    assert got["messages"][-1].tool_calls[0]["id"] == got["call_id"] == message["tool_use_id"]
    assert got["store"] is store
    assert got["runtime"].context == Context()
    assert got["config"]["configurable"]["tenant"] == "acme"


def test_a_model_cannot_forge_what_is_injected(crib: Crib, got: dict[str, Any]):
    forged = asyncio.run(crib.call("book", {"room": "Blue", "user_id": "bob"}))
    assert forged.error
    assert "Unknown: user_id" in forged.error.message
    assert got == {}


def test_without_a_graph_the_call_says_what_is_missing(crib: Crib, got: dict[str, Any]):
    error = asyncio.run(crib.call("book", {"room": "Blue"})).error
    assert error
    assert error.effect == "not_sent"
    assert "a framework fills in user_id, tenant, call_id, state, messages, store" in error.message
    assert got == {}

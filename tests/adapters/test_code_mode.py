"""Code mode on every adapter: the real SDK or framework, the provider faked at its wire."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import anthropic
import pytest
from agents import Agent as SdkAgent
from agents import OpenAIChatCompletionsModel, OpenAIResponsesModel, RunConfig, Runner
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph  # pyright: ignore[reportMissingTypeStubs]
from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIResponsesModel as PydanticResponses
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from tests.adapters.talks import WIRES, open_ai
from tests.adapters.weather import NOW, Weather, weather_crib
from toolcrib import Crib, Settings
from toolcrib.adapters.anthropic import AnthropicWire
from toolcrib.adapters.langchain import ToolcribMiddleware
from toolcrib.adapters.langgraph import ApprovalToolNode
from toolcrib.adapters.openai_agents import toolcrib_note, toolcrib_tools
from toolcrib.adapters.pydantic_ai import ToolcribToolset
from toolcrib.settings import ApprovalRule, ApprovalSettings, SessionSettings
from toolcrib.testing import CallTool, Request, Say, ScriptedModel, SearchTools

SEEN = (NOW, "tool_search", "tool_run")
SIGNATURE = "async def weather.get_forecast(*, city: str, days: int = ...) -> Any"
CITIES = """
import asyncio

await asyncio.gather(*[weather.get_forecast(city=each) for each in ["Oslo", "Rome"]])
"""
CODE = SessionSettings(style="code")
ASKING = ApprovalSettings(rules=(ApprovalRule(pattern="weather/get_forecast", verdict="ask"),))


def program(text: str) -> CallTool:
    return CallTool("tool_run", {"program": text})


def anthropic_http() -> Any:
    return anthropic.DefaultAsyncHttpxClient(verify=False)


def by_wire(name: str, crib: Crib, turns: Sequence[Any]) -> tuple[str, list[Request]]:
    with WIRES[name](crib, turns) as talk:
        return talk.ask("How is the weather?"), talk.model.requests


def claude(url: str) -> ChatAnthropic:
    said: dict[str, Any] = {"model": "claude-opus-5-5", "base_url": url, "api_key": "none"}
    return ChatAnthropic(**said, max_retries=0)


def gpt(url: str) -> ChatOpenAI:
    said: dict[str, Any] = {"model": "gpt-5.5", "base_url": f"{url}/v1", "api_key": "none"}
    return ChatOpenAI(**said, max_retries=0, use_responses_api=True, output_version="v0")


def langchain(make: Any, crib: Crib, model: ScriptedModel) -> str:
    agent: Any = create_agent(make(model.url), tools=[], middleware=[ToolcribMiddleware(crib)])
    done = agent.invoke({"messages": [HumanMessage("How is the weather?")]})
    return done["messages"][-1].text


def langgraph(crib: Crib, model: ScriptedModel) -> str:
    node, chat = ApprovalToolNode([], crib), claude(model.url)

    def say(state: MessagesState) -> Mapping[str, Any]:
        tools = node.active_tools(state["messages"])
        return {"messages": [chat.bind_tools(tools).invoke(state["messages"])]}

    graph: Any = StateGraph(MessagesState)
    graph.add_node("model", say)
    graph.add_node("tools", node)
    graph.add_edge(START, "model")
    graph.add_edge("tools", "model")
    graph.add_conditional_edges(
        "model", lambda state: "tools" if state["messages"][-1].tool_calls else END
    )
    done = graph.compile().invoke({"messages": [HumanMessage("How is the weather?")]})
    return done["messages"][-1].text


def pydantic_ai(make: Any, deferred: bool, crib: Crib, model: ScriptedModel) -> str:
    agent: Any = Agent(make(model), toolsets=[ToolcribToolset(crib, deferred=deferred)])
    return asyncio.run(agent.run("How is the weather?")).output


def pydantic_claude(model: ScriptedModel) -> AnthropicModel:
    client = anthropic.AsyncAnthropic(
        base_url=model.url, api_key="none", http_client=anthropic_http()
    )
    provider = AnthropicProvider(anthropic_client=client)
    return AnthropicModel("claude-opus-5-5", provider=provider, settings={"max_tokens": 100})


def pydantic_responses(model: ScriptedModel) -> PydanticResponses:
    return PydanticResponses("gpt-5.5", provider=OpenAIProvider(openai_client=open_ai(model)))


def agents_sdk(make: Any, mode: Any, crib: Crib, model: ScriptedModel) -> str:
    session = crib.session()
    note = toolcrib_note(session, mode)
    assert "tool_run" in note
    tools = toolcrib_tools(session, mode)
    agent: Any = SdkAgent(name="helper", model=make(open_ai(model)), tools=tools)
    run = Runner.run(agent, "How is the weather?", run_config=RunConfig(tracing_disabled=True))
    return asyncio.run(run).final_output


def sdk_chat(client: Any) -> Any:
    return OpenAIChatCompletionsModel("gpt-4.1", client)


def sdk_responses(client: Any) -> Any:
    return OpenAIResponsesModel("gpt-5.5", client)


def runner(crib: Crib, model: ScriptedModel) -> str:
    async def talk() -> str:
        async with anthropic.AsyncAnthropic(
            base_url=model.url, api_key="none", max_retries=0, http_client=anthropic_http()
        ) as client:
            wire = AnthropicWire(
                crib.session(), model="claude-opus-5-5", endpoint="https://api.anthropic.com"
            )
            loop = client.beta.messages.tool_runner(
                model="claude-opus-5-5",
                max_tokens=100,
                messages=[{"role": "user", "content": "How is the weather?"}],
                tools=wire.runner_tools(),
            )
            reply = await loop.until_done()
            return "".join(each.text for each in reply.content if each.type == "text")

    return asyncio.run(talk())


FRAMEWORKS: dict[str, Callable[[Crib, ScriptedModel], str]] = {
    "anthropic runner": runner,
    "langchain claude": partial(langchain, claude),
    "langchain gpt": partial(langchain, gpt),
    "langgraph": langgraph,
    "pydantic-ai claude": partial(pydantic_ai, pydantic_claude, False),
    "pydantic-ai deferred": partial(pydantic_ai, pydantic_responses, True),
    "agents chat": partial(agents_sdk, sdk_chat, "enabled"),
    "agents proxy": partial(agents_sdk, sdk_chat, "proxy"),
    "agents hosted": partial(agents_sdk, sdk_responses, "hosted"),
}


def by_framework(name: str, crib: Crib, turns: Sequence[Any]) -> tuple[str, list[Request]]:
    with ScriptedModel(turns) as model:
        answer = FRAMEWORKS[name](crib, model)
    assert model.is_over
    return answer, model.requests


ADAPTERS: dict[str, Callable[[Crib, Sequence[Any]], tuple[str, list[Request]]]] = {
    **{name: partial(by_wire, name) for name in WIRES},
    **{name: partial(by_framework, name) for name in FRAMEWORKS},
}
on_every_adapter = pytest.mark.parametrize("name", ADAPTERS)


@pytest.fixture(scope="module")
def shared() -> Any:
    crib, source = weather_crib(Settings(store=":memory:", session=CODE, approval=ASKING))
    with crib:
        yield crib, source


@pytest.fixture
def made(shared: tuple[Crib, Weather]) -> tuple[Crib, Weather]:
    shared[1].reached.clear()
    return shared


def text_of(request: Request) -> str:
    """The body, as a model reads it."""
    return re.sub(r'\\+"', '"', re.sub(r"\\+n", "\n", request.body.decode()))


@on_every_adapter
def test_a_model_finds_functions_is_told_its_mistake_and_goes_on_after_approval(
    made: tuple[Crib, Weather], name: str
):
    crib, source = made
    wrong = program('await weather.get_forecast(town="Oslo")')
    turns = [SearchTools("weather forecast"), wrong, program(CITIES), Say("It waits.")]
    answer, requests = ADAPTERS[name](crib, turns)
    assert answer == "It waits."
    assert {request.sees for request in requests} == {SEEN}
    _, found, refused, waits = map(text_of, requests)
    assert SIGNATURE in found
    assert '"city":' not in found  # no JSON Schema
    assert "line 1" in refused
    assert refused.rindex(SIGNATURE) > refused.index("line 1")
    assert not source.reached
    handle = re.search(r'`tool_run` with handle "([^"]+)" goes on', waits)
    assert handle

    for ticket in crib.operator.tickets.waiting():
        crib.operator.tickets.approve(ticket.id)
    turns = [CallTool("tool_run", {"handle": handle[1]}), Say("Sunny.")]
    answer, requests = ADAPTERS[name](crib, turns)
    assert answer == "Sunny."
    assert '["sunny in Oslo","sunny in Rome"]' in text_of(requests[-1]).replace(", ", ",")
    assert sorted(str(call.arguments["city"]) for call in source.reached) == ["Oslo", "Rome"]

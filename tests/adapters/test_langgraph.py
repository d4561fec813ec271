"""The node of seed 000 in a compiled graph: what search finds is called, and asked for."""

import asyncio
import gc
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolCall, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph  # pyright: ignore[reportMissingTypeStubs]
from langgraph.types import Command, interrupt

from tests.execute.counting import CountingSource, offered
from tests.waiting import HANG_S, until
from toolcrib import Caller, Crib, Scope
from toolcrib.adapters.langgraph import ApprovalToolNode
from toolcrib.crib import inventory_of
from toolcrib.model import JsonObject, Outcome
from toolcrib.settings import ApprovalRule, ApprovalSettings, Settings

PULL_REQUEST = "mcp_github_create_pull_request"
DELETE = "mcp_github_delete_repository"
LOOK = "mcp_github_look"
TITLED: JsonObject = {
    "type": "object",
    "properties": {"title": {"type": "string"}},
    "required": ["title"],
}

Drive = Callable[[Any, Any, Any], Mapping[str, Any]]


def invoke(graph: Any, given: Any, config: Any) -> Mapping[str, Any]:
    return graph.invoke(given, config)


def ainvoke(graph: Any, given: Any, config: Any) -> Mapping[str, Any]:
    return asyncio.run(graph.ainvoke(given, config))


class GitHub(CountingSource):
    id = "github"

    def __init__(self) -> None:
        tools = (
            offered("create_pull_request", "read", TITLED),
            offered("delete_repository", "dangerous"),
            offered("look"),
        )
        super().__init__(*(replace(tool, source_id=self.id) for tool in tools))


def call(name: str, /, *, id: str = "1", **arguments: Any) -> ToolCall:
    return ToolCall(name=name, args=arguments, id=id, type="tool_call")


class Conversation:
    """A graph whose model says what it is told to: these calls, then that it is done."""

    def __init__(self, node: ApprovalToolNode, drive: Drive, saver: InMemorySaver | None = None):
        self.drive = drive
        self.calls: Sequence[ToolCall] = ()
        self.config = {"configurable": {"thread_id": "1"}}
        flow = StateGraph(MessagesState)
        flow.add_node("model", self.model)
        flow.add_node("tools", node)
        flow.add_edge(START, "model")
        flow.add_conditional_edges("model", self.route, ["tools", END])
        flow.add_edge("tools", "model")
        self.graph = flow.compile(checkpointer=saver or InMemorySaver())

    def model(self, state: MessagesState) -> dict[str, Any]:
        answered = isinstance(state["messages"][-1], ToolMessage)
        return {"messages": [AIMessage("done" if answered else "", tool_calls=self.asked(state))]}

    def asked(self, state: MessagesState) -> list[ToolCall]:
        return [] if isinstance(state["messages"][-1], ToolMessage) else list(self.calls)

    @staticmethod
    def route(state: MessagesState) -> str:
        last = state["messages"][-1]
        return "tools" if isinstance(last, AIMessage) and last.tool_calls else END

    def say(self, *calls: ToolCall) -> Mapping[str, Any]:
        self.calls = calls
        return self.drive(self.graph, {"messages": [HumanMessage("go")]}, self.config)

    def resume(self, reply: Any) -> Mapping[str, Any]:
        return self.drive(self.graph, Command(resume=reply), self.config)


def answers(state: Mapping[str, Any]) -> list[ToolMessage]:
    return [message for message in state["messages"] if isinstance(message, ToolMessage)]


def questions(state: Mapping[str, Any]) -> list[Any]:
    return [each.value for each in state["__interrupt__"]]


def error(message: ToolMessage) -> Any:
    assert message.status == "error"
    return json.loads(str(message.content))["error"]


@pytest.fixture
def github() -> GitHub:
    return GitHub()


@pytest.fixture
def crib(github: GitHub) -> Crib:
    crib = Crib()
    crib.add_source(github)
    return crib


@pytest.fixture(params=[invoke, ainvoke])
def drive(request: pytest.FixtureRequest) -> Drive:
    return request.param


@pytest.fixture
def talk(crib: Crib, drive: Drive) -> Conversation:
    return Conversation(ApprovalToolNode([], crib), drive)


def test_a_discovered_tool_is_called_without_binding(
    talk: Conversation, crib: Crib, github: GitHub
):
    assert crib.search("create a pull request").hits[0].name == PULL_REQUEST
    [answer] = answers(talk.say(call(PULL_REQUEST, title="Fix it")))
    assert (answer.content, answer.status, answer.name) == ("done", "success", PULL_REQUEST)
    assert [(each.name, each.arguments) for each in github.reached] == [
        ("create_pull_request", {"title": "Fix it"})
    ]


def test_a_function_of_the_crib_is_called_too(talk: Conversation, crib: Crib):
    def add(a: int, b: int) -> dict[str, int]:
        """Add two numbers."""
        return {"sum": a + b}

    crib.add(add, permission_kind="read")
    [answer] = answers(talk.say(call("add", a="1", b=2)))
    assert json.loads(str(answer.content)) == {"sum": 3}
    assert answer.artifact == {"repaired": ["$.a: text read as integer"]}


def test_a_bound_tool_runs_as_in_any_tool_node(crib: Crib, drive: Drive):
    def look(where: str) -> str:
        """Look somewhere."""
        return f"nothing in {where}"

    talk = Conversation(ApprovalToolNode([look], crib), drive)
    [answer] = answers(talk.say(call("look", where="Oslo")))
    assert answer.content == "nothing in Oslo"


def test_a_bound_tool_that_the_crib_has_goes_through_the_door(
    crib: Crib, github: GitHub, drive: Drive
):
    def bound(name: str) -> str:
        """Delete without asking."""
        raise AssertionError(name)

    bound.__name__ = DELETE
    talk = Conversation(ApprovalToolNode([bound], crib), drive)
    assert questions(talk.say(call(DELETE, name="x")))
    assert not github.reached


def test_a_dangerous_call_interrupts_with_what_it_is_about(
    talk: Conversation, crib: Crib, github: GitHub
):
    [question] = questions(talk.say(call(DELETE, name="x")))
    assert question == {
        "tool": DELETE,
        "arguments": {"name": "x"},
        "permission_kind": "dangerous",
        "pin": crib.get(DELETE).capability.pin,
        "description": "To delete_repository",
        "caller": "host",
        "tool_call_id": "1",
    }
    assert not github.reached


@pytest.mark.parametrize("reply", [True, {"approved": True}])
def test_it_resumes_on_approval(talk: Conversation, github: GitHub, reply: Any):
    talk.say(call(DELETE, name="x"))
    [answer] = answers(talk.resume(reply))
    assert (answer.content, answer.status) == ("done", "success")
    assert [(each.name, each.arguments) for each in github.reached] == [
        ("delete_repository", {"name": "x"})
    ]


@pytest.mark.parametrize("reply", [False, "yes", 1, {"approved": "true"}, {"approved": 1}, [True]])
def test_anything_else_is_a_refusal(talk: Conversation, github: GitHub, reply: Any):
    talk.say(call(DELETE, name="x"))
    [answer] = answers(talk.resume(reply))
    assert error(answer)["code"] == "approval_denied"
    assert "not approved" in error(answer)["message"]
    assert not github.reached


def test_an_approval_is_for_one_call(talk: Conversation, github: GitHub):
    talk.say(call(DELETE, name="x"))
    talk.resume(True)
    assert questions(talk.say(call(DELETE, name="x")))
    assert len(github.reached) == 1


@pytest.mark.parametrize("approved", [True, False])
def test_the_harmless_call_of_a_message_runs_once(
    talk: Conversation, github: GitHub, approved: bool
):
    talk.say(call(LOOK, id="1"), call(DELETE, id="2"))
    assert not github.reached
    harmless, dangerous = answers(talk.resume(approved))
    assert harmless.content == "done"
    assert dangerous.status == ("success" if approved else "error")
    assert [each.name for each in github.reached].count("look") == 1
    assert len(github.reached) == 1 + approved


@pytest.mark.parametrize("ids", [("1", "2"), ("1", "1")])
def test_each_reply_belongs_to_its_question(
    talk: Conversation, github: GitHub, ids: tuple[str, str]
):
    first, second = ids
    talk.say(call(DELETE, id=first, name="keep"), call(DELETE, id=second, name="drop"))
    assert questions(talk.resume(False))[0]["arguments"] == {"name": "drop"}
    kept, dropped = answers(talk.resume(True))
    assert (kept.status, dropped.status) == ("error", "success")
    assert [(each.name, each.arguments) for each in github.reached] == [
        ("delete_repository", {"name": "drop"})
    ]


def test_two_calls_alike_need_two_approvals(talk: Conversation, github: GitHub):
    talk.say(call(DELETE, id="1"), call(DELETE, id="2"))
    assert talk.resume(True)["__interrupt__"]
    talk.resume(True)
    assert len(github.reached) == 2


def test_a_tool_that_changed_since_it_was_shown_is_not_called(
    talk: Conversation, crib: Crib, github: GitHub
):
    talk.say(call(DELETE))
    github.tools["delete_repository"] = replace(
        github.tools["delete_repository"], description="Delete everything"
    )
    inventory_of(crib).pool.refresh(github)
    [answer] = answers(talk.resume(True))
    assert error(answer)["code"] in {"definition_changed", "changed"}
    assert not github.reached


def test_another_process_may_go_on(crib: Crib, drive: Drive):
    saver = InMemorySaver()
    Conversation(ApprovalToolNode([], crib), drive, saver).say(call(DELETE))
    source = GitHub()
    elsewhere = Crib()
    elsewhere.add_source(source)
    talk = Conversation(ApprovalToolNode([], elsewhere), drive, saver)
    [answer] = answers(talk.resume(True))
    assert (answer.status, len(source.reached)) == ("success", 1)


def allowing(source: GitHub) -> Crib:
    """One whose rules ask nobody about anything."""
    rules = ApprovalSettings(rules=(ApprovalRule(verdict="allow"),))
    crib = Crib(Settings(store=":memory:", approval=rules))
    crib.add_source(source)
    return crib


@pytest.mark.parametrize("reply", [False, "yes", {"approved": False}])
def test_a_refusal_holds_though_the_rules_have_stopped_asking(crib: Crib, drive: Drive, reply: Any):
    saver, source = InMemorySaver(), GitHub()
    before = Conversation(ApprovalToolNode([], crib), drive, saver)
    assert questions(before.say(call(DELETE, id="1", name="x"), call(LOOK, id="2")))
    talk = Conversation(ApprovalToolNode([], allowing(source)), drive, saver)
    refused, looked = answers(talk.resume(reply))
    assert error(refused)["code"] == "approval_denied"
    assert (looked.status, [each.name for each in source.reached]) == ("success", ["look"])


def test_a_refusal_holds_also_when_the_node_is_run_again(crib: Crib, drive: Drive):
    def stumble() -> str:
        """Fail the first time."""
        if not fails:
            return "fine"
        raise OSError(fails.pop())

    fails, saver, source = ["no"], InMemorySaver(), GitHub()
    Conversation(ApprovalToolNode([stumble], crib), drive, saver).say(
        call(DELETE, id="1"), call("stumble", id="2")
    )
    talk = Conversation(ApprovalToolNode([stumble], allowing(source)), drive, saver)
    with pytest.raises(OSError, match="no"):
        talk.resume(False)
    refused, fine = answers(talk.drive(talk.graph, None, talk.config))
    assert error(refused)["code"] == "approval_denied"
    assert (fine.content, source.reached) == ("fine", [])


def test_the_reply_to_another_interrupt_is_no_leave_though_the_rules_ask_now(
    crib: Crib, github: GitHub, drive: Drive
):
    def wonder() -> str:
        """Ask a person something of its own."""
        return str(interrupt("shall I?"))

    saver = InMemorySaver()
    free = Conversation(ApprovalToolNode([wonder], allowing(GitHub())), drive, saver)
    assert questions(free.say(call(DELETE, id="1"), call("wonder", id="2"))) == ["shall I?"]
    talk = Conversation(ApprovalToolNode([wonder], crib), drive, saver)
    refused, wondered = answers(talk.resume(True))
    assert error(refused)["code"] == "approval_failed"
    assert (wondered.content, github.reached) == ("True", [])


def test_another_caller_has_no_use_for_an_approval(crib: Crib, github: GitHub, drive: Drive):
    saver = InMemorySaver()
    Conversation(ApprovalToolNode([], crib, caller=Caller("ann")), drive, saver).say(call(DELETE))
    bob = ApprovalToolNode([], crib, caller=Caller("bob"))
    [answer] = answers(Conversation(bob, drive, saver).resume(True))
    assert error(answer)["code"] == "approval_failed"
    assert not github.reached


def test_an_approval_is_spent_even_if_the_node_fails(crib: Crib, github: GitHub, drive: Drive):
    def stumble() -> str:
        """Fail the first time."""
        if not fails:
            return "fine"
        until(lambda: github.reached)
        raise OSError(fails.pop())

    fails = ["no"]
    talk = Conversation(ApprovalToolNode([stumble], crib), drive)
    talk.say(call(DELETE, id="1"), call("stumble", id="2"))
    with pytest.raises(OSError, match="no"):
        talk.resume(True)
    refused, fine = answers(talk.drive(talk.graph, None, talk.config))
    assert error(refused)["code"] == "approval_failed"
    assert fine.content == "fine"
    assert len(github.reached) == 1


def test_what_the_caller_may_not_call_is_not_even_asked_for(
    crib: Crib, github: GitHub, drive: Drive
):
    reader = Caller("ann", Scope(allowed=frozenset({"mcp_github_look"})))
    talk = Conversation(ApprovalToolNode([], crib, caller=reader), drive)
    [answer] = answers(talk.say(call(DELETE)))
    assert error(answer)["code"] == "not_allowed"


def test_bad_arguments_come_back_with_the_schema(talk: Conversation):
    [answer] = answers(talk.say(call(PULL_REQUEST, title=[1])))
    assert (error(answer)["code"], error(answer)["schema"]) == ("bad_arguments", TITLED)


def test_an_unknown_name_is_an_error_that_names_the_nearest(talk: Conversation):
    [answer] = answers(talk.say(call("mcp_github_create_pull_requests")))
    assert error(answer)["code"] == "unknown_tool"
    assert PULL_REQUEST in error(answer)["message"]


@pytest.mark.parametrize(
    ("outcome", "content", "artifact"),
    [
        (Outcome([{"type": "text", "text": "hi"}]), "hi", None),
        (Outcome(["a", "é"]), '["a", "é"]', None),
        (Outcome("hi", structured={"a": 1}), "hi", {"structured": {"a": 1}}),
        (Outcome(structured={"a": 1}), '{"a": 1}', {"structured": {"a": 1}}),
    ],
)
def test_results_become_messages(
    talk: Conversation, github: GitHub, outcome: Outcome, content: str, artifact: Any
):
    github.answer = lambda _call: outcome
    [answer] = answers(talk.say(call(LOOK)))
    assert (answer.content, answer.artifact) == (content, artifact)


def test_a_long_result_comes_in_pages(talk: Conversation, github: GitHub):
    github.answer = lambda _call: Outcome("x" * 2_000_000)
    [answer] = answers(talk.say(call(LOOK)))
    assert str(answer.content).startswith("[2.0 MB of text, 1 line; characters 1 to 24,000. Page 1")
    assert answer.artifact["handle"]


def test_the_thread_of_a_node_ends_with_it(crib: Crib):
    def threads() -> set[threading.Thread]:
        return {each for each in threading.enumerate() if each.name == "toolcrib-calls"}

    before = threads()
    conversation = Conversation(ApprovalToolNode([], crib), invoke)
    conversation.say(call(LOOK))
    started = threads() - before
    assert started
    del conversation
    gc.collect()
    for thread in started:
        thread.join(HANG_S)
    assert not threads() & started

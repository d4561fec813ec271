"""A model that plays a script, for tests of agents: offline, on the wire of every provider.

    turns = [SearchTools("weather"), CallTool("get_forecast", {"city": "Oslo"})]
    with ScriptedModel(turns) as model:
        client = Anthropic(base_url=model.url, api_key="none")

    agent under test ──HTTP──> ScriptedModel ──> ProviderApi: refuse, or reply with the next turn

    scripted_model    the server on a port of this machine; it keeps every request
    script            what the model does, step by step: search, call, say
    provider          what it knows of one provider: `ProviderApi`, and how a step becomes a call
    anthropic, gemini, openai_chat, openai_responses
                      the four providers: what they refuse, what their model sees, what they answer
    openai_functions  what OpenAI asks of a function, on both of its APIs

It is as strict as the providers are, so that a test can fail: where the real API would answer 400,
so does this one, and `Request.refusal` says why. It is no model and no mock of an SDK: the agent
under test, its framework and its SDK run as they are.

For users' tests as much as for ours; docs/guide/testing.md is the guide.
"""

from toolcrib.testing.script import CallTool, Say, SearchTools
from toolcrib.testing.scripted_model import HttpAnswer, Request, ScriptedModel

__all__ = [
    "CallTool",
    "HttpAnswer",
    "Request",
    "Say",
    "ScriptedModel",
    "SearchTools",
]

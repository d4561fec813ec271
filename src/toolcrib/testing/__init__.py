"""A model that plays a script, for tests of agents: offline, on the wire of every provider.

with ScriptedModel([Search("weather"), CallTool("get_forecast", {"city": "Oslo"})]) as model:
client = Anthropic(base_url=model.url, api_key="none")
"""

from toolcrib.testing.model import Request, ScriptedModel
from toolcrib.testing.script import CallTool, Say, Search

__all__ = ["CallTool", "Request", "Say", "ScriptedModel", "Search"]

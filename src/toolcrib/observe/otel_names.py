"""The names that OpenTelemetry has for what we tell, and ours where it has none.

The conventions for GenAI and for MCP are in development: what they change is changed here alone.
"""

from typing import Final

SERVICE: Final = "toolcrib"
SCOPE: Final = "toolcrib"

# Spans: of an MCP request, "METHOD TOOL"; of the others these.
RETRIEVAL: Final = "retrieval"
EXECUTE_TOOL: Final = "execute_tool"
SERVER_START: Final = "toolcrib.server.start"

# Metrics: histograms of seconds.
SERVER_DURATION: Final = "mcp.server.operation.duration"
CLIENT_DURATION: Final = "mcp.client.operation.duration"
DURATION_BOUNDS_S: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)

# Attributes of resources.
SERVICE_NAME: Final = "service.name"
SERVICE_VERSION: Final = "service.version"
SERVICE_INSTANCE: Final = "service.instance.id"

# Attributes of spans and metrics.
ERROR_TYPE: Final = "error.type"
METHOD: Final = "mcp.method.name"
PROTOCOL_VERSION: Final = "mcp.protocol.version"
SESSION: Final = "mcp.session.id"
REQUEST_ID: Final = "jsonrpc.request.id"
TRANSPORT: Final = "network.transport"
OPERATION: Final = "gen_ai.operation.name"
TOOL: Final = "gen_ai.tool.name"
PROMPT: Final = "gen_ai.prompt.name"
DATA_SOURCE: Final = "gen_ai.data_source.id"
SEARCH: Final = "toolcrib.search."
"""form, variants, candidates, hits, chance, confidence, abstained."""
CALL: Final = "toolcrib.call."
"""verdict, effect, repaired."""
SERVER: Final = "toolcrib.server"

# Content, sent only if the operator wants it.
QUERY_TEXT: Final = "gen_ai.retrieval.query.text"
DOCUMENTS: Final = "gen_ai.retrieval.documents"
ARGUMENTS: Final = "gen_ai.tool.call.arguments"
RESULT: Final = "gen_ai.tool.call.result"

TOOL_ERROR: Final = "tool_error"
"""The `error.type` of a request whose tool failed."""
OTHER: Final = "_OTHER"
"""In place of a name in a metric that has too many, as the conventions have it."""

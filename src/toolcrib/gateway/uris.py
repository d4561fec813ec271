"""URIs of resources, which only their servers know apart: here each says whose it is.

`fake://a` of the server `docs` is `toolcrib://docs/fake://a`. The same goes for templates, so that
what a client makes of one is what it would have made of the server's own.
"""

import re
from urllib.parse import quote

from toolcrib.sources.mcp.source import McpSource

_VARIABLE = re.compile(r"\{[^{}]*\}")


def prefix(source: McpSource) -> str:
    """What stands before every URI of this server."""
    return f"toolcrib://{quote(source.id or source.server, safe='')}/"


def fits(template: str, uri: str) -> bool:
    """Whether a URI can be one of a template: all that is fixed in it is there, in its order."""
    first, *rest = _VARIABLE.split(template)
    if not rest:
        return uri == first
    last = rest.pop()
    if not uri.startswith(first) or not uri[len(first) :].endswith(last):
        return False
    between = uri[len(first) : len(uri) - len(last)]
    for fixed in rest:
        _, found, between = between.partition(fixed) if fixed else ("", "yes", between)
        if not found:
            return False
    return True

"""What any HTTP edge of Toolcrib needs: the words of ASGI, checks of a request, a web server.

    WebServer ──> an app of ours: the guard of the gateway, or the dashboard

    asgi            the types of ASGI, a refusal with its remedy, a whole answer
    request_checks  headers that count once, host and origin, a body within bounds of size and time
    web_server      uvicorn on loopback, with bounds on what a connection may hold

The gateway and the dashboard build on it, and neither knows the other. Nothing here knows MCP: who
may ask, and for what, is decided by the app behind the web server. All of them answer on loopback
alone, and all of them refuse a request before they read its body.

The door loads a module when one of its names is first asked for: uvicorn is heavy.
"""

from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.http.asgi import (
        AUTHENTICATED,
        HEADERS,
        App,
        HttpRefusal,
        Message,
        Receive,
        Scope,
        Send,
        send_content,
        send_json,
    )
    from toolcrib.http.request_checks import (
        LOOPBACK,
        bearer_of,
        check_content,
        check_host,
        check_origin,
        headers_of,
        read_body,
        read_json_body,
        replayed,
        unauthorized,
    )
    from toolcrib.http.web_server import WebServer, listen_on_loopback
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "asgi": (
                "AUTHENTICATED",
                "App",
                "HEADERS",
                "HttpRefusal",
                "Message",
                "Receive",
                "Scope",
                "Send",
                "send_content",
                "send_json",
            ),
            "request_checks": (
                "LOOPBACK",
                "bearer_of",
                "check_content",
                "check_host",
                "check_origin",
                "headers_of",
                "read_body",
                "read_json_body",
                "replayed",
                "unauthorized",
            ),
            "web_server": ("WebServer", "listen_on_loopback"),
        },
    )

__all__ = [
    "AUTHENTICATED",
    "HEADERS",
    "LOOPBACK",
    "App",
    "HttpRefusal",
    "Message",
    "Receive",
    "Scope",
    "Send",
    "WebServer",
    "bearer_of",
    "check_content",
    "check_host",
    "check_origin",
    "headers_of",
    "listen_on_loopback",
    "read_body",
    "read_json_body",
    "replayed",
    "send_content",
    "send_json",
    "unauthorized",
]

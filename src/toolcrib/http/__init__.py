"""What any HTTP edge of Toolcrib needs: the words of ASGI, checks of a request, a web server.

    WebServer ──> an app of ours: the guard of the gateway, or the dashboard

    asgi            the types of ASGI, a refusal with its remedy, a whole answer
    request_checks  headers that count once, host and origin, a body within bounds of size and time
    client_address  the peer of a connection, or whom a trusted proxy names
    tls             a certificate that is read again when it changes
    web_server      uvicorn, with bounds on what a connection may hold

The gateway and the dashboard build on it, and neither knows the other. Nothing here knows MCP: who
may ask, and for what, is decided by the app behind the web server. All of them refuse a request
before they read its body.

The door loads a module when one of its names is first asked for: uvicorn is heavy.
"""

# pyright: reportUnusedImport=false
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
    from toolcrib.http.client_address import TrustedProxies, is_loopback, network_of, peer_of
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
    from toolcrib.http.tls import Certificate
    from toolcrib.http.web_server import WebLimits, WebServer, listen_on, listen_on_loopback
else:
    __getattr__, __dir__, __all__ = lazy_names(
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
            "client_address": ("TrustedProxies", "is_loopback", "network_of", "peer_of"),
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
            "tls": ("Certificate",),
            "web_server": ("WebLimits", "WebServer", "listen_on", "listen_on_loopback"),
        },
    )

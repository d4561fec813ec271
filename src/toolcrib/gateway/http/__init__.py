"""The gateway over HTTP: a guard that refuses, and behind it a transport for each principal.

    WebServer ──> HttpGuard ──> HttpSessions ──> HttpSessionManager ──> GatewayServer

`web_server` is uvicorn, with bounds on what a connection may hold. `guard` decides about each
request by `request_checks` and the credential; what it refuses, `asgi` answers. `sessions` keeps
one session manager of the SDK a principal, so that no session crosses. `handshake_transport` makes
the answers of the handshake era plain where they can be.
"""

"""The gateway over HTTP: a guard that refuses, and behind it a transport for each principal.

    WebServer ──> HttpGuard ──> HttpSessions ──> the SDK's transport ──> GatewayServer

`web_server` is uvicorn, with bounds on what a connection may hold. `guard` decides about each
request by `request_checks` and the credential; what it refuses, `asgi` answers. `sessions` keeps
one transport of the SDK a principal, so that no session crosses.
"""

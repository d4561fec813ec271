"""The gateway over HTTP: a guard that refuses, and behind it a transport for each principal.

    HttpListener ──> HttpGuard ──> HttpSessions ──> HttpSessionManager ──> GatewayServer

The web server and the checks of a request are those of `toolcrib.http`. `listener` has the socket
and its protection, and `drain` ends it so that nothing is lost. `guard` decides about each
request by those checks and the credential. `sessions` keeps one session manager of the SDK a
principal, so that no session crosses. `handshake_transport` makes the answers of the handshake era
plain where they can be.
"""

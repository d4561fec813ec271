"""A server from its start to its stop: everything that is true of it between two calls.

    supervisor     `ServerSupervisor`: starts it for a call, stops it idle, restarts it on a crash
    startup        one start: its turn, its install, its timeout, the progress that a caller sees
    breaker        when a server that fails may be tried again
    server_loop    the event loop of all servers, and the limits that they share
    notifications  `list_changed` and `resources/updated`: list again, tell those who watch
    memory         the last listing and its judgement, read when they are needed, and let go
    cache          the last listing on disk

The SDK is loaded by the first start, through `client`.
"""

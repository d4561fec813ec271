"""The MCP client of one connection: what is sent to a server, and what it may ask back.

    connection        `initialize`, requests within a deadline, close
    upstream_request  one request: its method and its parameters
    round_trips       a request to its end, with `InputRequiredResult` in between; its outcome
    list_requests     `tools/list` and its kin, page by page, within bounds
    client_features   elicitation, sampling, roots
    active_calls      which call a question or a log message belongs to
    subscriptions     `list_changed` and `resources/subscribe`, in both eras of the protocol

How long a server lives, and when it is tried again, is the business of `lifecycle`.
"""

"""How messages get to a server and back: stdio, Streamable HTTP, SSE.

    endpoint         the other end: a process of ours or an address, and why it cannot be reached
    stdio            a process and its pipes
    streamable_http  the SDK's transport, with bounds
    sse              the transport of old servers
    isolation        the command line that runs a server in bubblewrap, Docker or Podman
    tap              between the transport and the SDK: raw lists, redaction, notifications

Each gives the SDK a pair of streams. None knows what a tool is.
"""

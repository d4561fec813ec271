"""Requests written before any search saw them, over servers that no training text names.

    __main__     rebuilds the set on this machine: installs the servers and writes what they list
    packages     the servers: which package, at which version, and how it is started
    listing      what a server lists over stdio, and the one way to write it down

`requests.jsonl` and `servers.json` are the set, `SHA256SUMS` freezes it, and README.md says how it
was made. What the servers list is their authors' and no part of this repository.
"""

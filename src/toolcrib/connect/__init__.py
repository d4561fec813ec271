"""The thin end of the gateway: what an MCP client launches. Standard library only.

`arguments` says what was asked for, `place` where the daemon of these settings is, `starting`
starts it if nobody has, `ledger` remembers what is under way, and `shim` is the loop between.

A module here may import neither `dataclasses` nor `pathlib`, `asyncio` or `logging`: together they
cost more than all the rest, and a client waits for it.
"""

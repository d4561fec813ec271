"""The configuration files of MCP clients: their servers become ours, and go back.

A client (Claude Desktop, Cursor, Codex and others) keeps its servers in a file of its own. An
import takes these servers over and puts the shim, `toolcrib connect`, in their place. An export
writes our servers back. Nothing is written before a person has seen the plan.

    Client → ClientFile → ClientDocument → ChangePlan → apply_plan
    which    its path     text, entries     what would    writes both files,
    client                                  change        keeps a Backup

`clients` is the table of clients: where each keeps its file, and the `EntryFormat` of a server in
it. `files` reads and writes the disk, `client_file` knows the entries of one file. `document` edits
a text as JSON with comments (`jsonc`) or TOML (`toml`) by `spans`, and leaves all other bytes as
they are. `entry_reader` and `entry_writer` convert one server in either direction, or say why they
cannot. `plans` puts that together, `changes` applies a plan or undoes it by its `backups`. `shim`
is the entry that a client launches in place of its servers. `redaction` shows a difference without
secrets.

Only the operator's commands come here: a model never changes a client. What a server is to us, and
how our own `servers.json` is written, is the business of `toolcrib.sources.mcp`.
"""

# pyright: reportUnusedImport=false
from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.client_config.backups import Backup, Backups
    from toolcrib.client_config.changes import UndoPlan, apply_plan, plan_undo, undo_change
    from toolcrib.client_config.client_file import (
        ClientDocument,
        ClientFile,
        client_files,
        files_of,
    )
    from toolcrib.client_config.clients import CLIENTS, Client, client_named
    from toolcrib.client_config.plans import ChangePlan, export_text, plan_export, plan_import
    from toolcrib.client_config.redaction import diff
    from toolcrib.client_config.shim import shim_command
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "backups": ("Backup", "Backups"),
            "changes": ("UndoPlan", "apply_plan", "plan_undo", "undo_change"),
            "client_file": ("ClientDocument", "ClientFile", "client_files", "files_of"),
            "clients": ("CLIENTS", "Client", "client_named"),
            "plans": ("ChangePlan", "export_text", "plan_export", "plan_import"),
            "redaction": ("diff",),
            "shim": ("shim_command",),
        },
    )

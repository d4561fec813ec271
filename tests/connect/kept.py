"""First replies that a gateway has kept, for tests."""

import json
from pathlib import Path
from typing import Any

from tests.connect.fakes import files_in
from toolcrib.connect import FirstRequests, file_stamp

GREETING: dict[str, Any] = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {"listChanged": True}},
    "instructions": "as before",
}
LISTED: dict[str, Any] = {"tools": [{"name": "tool_search"}]}


def greet(id: Any, name: str = "test", version: str = "2025-11-25") -> dict[str, Any]:
    params = {"protocolVersion": version, "clientInfo": {"name": name, "version": "1"}}
    return {"jsonrpc": "2.0", "id": id, "method": "initialize", "params": params}


def listing(id: Any, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": params}


def keep(folder: Path, *read: Path, profile: str = "default") -> Path:
    """Keep both replies for these files, and for this one; where they are kept."""
    files, requests = files_in(folder), FirstRequests()
    files.make_folder()
    replies = {
        requests.name(asked["method"], asked["params"]): result
        for asked, result in ((greet(1), GREETING), (listing(2), LISTED))
    }
    stamps = {str(path): file_stamp(str(path)) for path in (Path(__file__), *read)}
    path = Path(files.surface)
    path.write_text(json.dumps({"files": stamps, "replies": {profile: replies}}))
    path.chmod(0o600)
    return path

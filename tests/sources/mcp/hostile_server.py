"""A server of the standard library alone that says strings from a file, wherever it says anything.

    python hostile_server.py STRINGS.json [refuse | exit]

Each tool, prompt and resource has its share of the strings in all of its fields. With `refuse` its
first answer is an error, with `exit` it ends at once; both in the words of the file.
"""

import io
import json
import sys

SHARE = 10
with open(sys.argv[1], encoding="ascii") as file:  # noqa: PTH123 - pathlib takes longer to load
    STRINGS = json.load(file)
SHARES = [" ".join(STRINGS[at : at + SHARE]) for at in range(0, len(STRINGS), SHARE)]
ALL = STRINGS[0]
ACTS = ("tell", "fail", "deny", "ask", "die")


def send(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def said(text):
    """A text of the length that people write, whose beginning is plain."""
    return f"Tell it all {text}"


def initialize(_params):
    able = {"tools": {}, "logging": {}, "resources": {}, "prompts": {}, "completions": {}}
    return {
        "protocolVersion": "2025-06-18",
        "capabilities": able,
        "serverInfo": {"name": ALL, "version": ALL, "title": ALL},
        "instructions": ALL,
    }


def tools(_params):
    found = [tool(name, SHARES[at % len(SHARES)]) for at, name in enumerate(ACTS)]
    found += [tool(f"more{at}", share) for at, share in enumerate(SHARES)]
    return {"tools": found + [tool(text[:100], text) for text in STRINGS[:SHARE]]}


def tool(name, text):
    field = {"type": "string", "description": text, "title": text, "default": text, "enum": [text]}
    return {
        "name": name,
        "title": text,
        "description": said(text),
        "inputSchema": {"type": "object", "properties": {"plain": field, text: field}},
        "outputSchema": {"type": "object", "description": text},
        "annotations": {"title": text, "readOnlyHint": True},
        "_meta": {"anthropic/searchHint": text, text: text},
    }


def resources(_params):
    found = [about("uri", f"hostile://{at}", text) for at, text in enumerate(SHARES)]
    return {"resources": [*found, *(about("uri", text, text) for text in STRINGS[:SHARE])]}


def templates(_params):
    return {"resourceTemplates": [about("uriTemplate", "hostile://{which}", ALL)]}


def prompts(_params):
    arguments = [{"name": "which", "description": ALL}, {"name": ALL, "description": ALL}]
    found = [{"name": f"greet{at}", "description": text} for at, text in enumerate(SHARES)]
    found += [{"name": text, "description": text} for text in STRINGS[:SHARE]]
    return {"prompts": [{**each, "title": ALL, "arguments": arguments} for each in found]}


def about(key, value, text):
    return {key: value, "name": text, "title": text, "description": text, "mimeType": "text/plain"}


def prompt(_params):
    content = {"type": "text", "text": ALL}
    return {"description": ALL, "messages": [{"role": "user", "content": content}]}


def read(params):
    return {"contents": [{"uri": params["uri"], "mimeType": "text/plain", "text": ALL}]}


def complete(_params):
    return {"completion": {"values": [said(text) for text in STRINGS[:SHARE]]}}


def call(params):
    """Progress and a log message, and then what this tool is for."""
    token, act = params.get("_meta", {}).get("progressToken"), params["name"]
    if token is not None:
        told = {"progressToken": token, "progress": 1, "message": said(ALL)}
        send(method="notifications/progress", params=told)
    notice = {"level": "error", "logger": ALL, "data": {ALL: [said(ALL)]}}
    send(method="notifications/message", params=notice)
    if act == "die":
        sys.exit(said(ALL))
    if act == "deny":
        raise LookupError(said(ALL))
    if act == "ask":
        form = {"type": "object", "properties": {"size": {"type": "string", "title": ALL}}}
        asking = {"message": said(ALL), "requestedSchema": form}
        send(id="asked", method="elicitation/create", params=asking)
        sys.stdin.readline()
    content = [{"type": "text", "text": ALL}]
    return {"content": content, "structuredContent": {ALL: ALL}, "isError": act == "fail"}


ANSWERS = {
    "initialize": initialize,
    "tools/list": tools,
    "resources/list": resources,
    "resources/templates/list": templates,
    "prompts/list": prompts,
    "prompts/get": prompt,
    "resources/read": read,
    "completion/complete": complete,
    "tools/call": call,
}


def answer(message):
    method = message["method"]
    if method not in ANSWERS or "refuse" in sys.argv:
        raise LookupError(f"no {method} {ALL}")
    return ANSWERS[method](message.get("params", {}))


def main():
    assert isinstance(sys.stderr, io.TextIOWrapper)
    sys.stderr.reconfigure(encoding="utf-8", errors="replace")
    sys.stderr.write(said(ALL) + "\n")
    sys.stderr.flush()
    if "exit" in sys.argv:
        sys.exit(said(ALL))
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        try:
            send(id=message["id"], result=answer(message))
        except LookupError as error:
            told = {"code": -32603, "message": error.args[0], "data": {ALL: ALL}}
            send(id=message["id"], error=told)


if __name__ == "__main__":
    main()

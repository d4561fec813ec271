"""A server of the standard library alone, which starts in 30 ms and misbehaves on demand.

    python fake_server.py [MODE...]

Modes: modern; hang-spawn hang-discover hang-initialize hang-list hang-page silent-stdin;
die-discover exit-at-once half-close; junk stderr malformed; endless-cursor same-cursor huge-list
many (20,000 tools in pages);
flood (pages of 1 MB without end); storm loop; grandchild stubborn; cut (one tool more); asks (tools
that ask back: `ASKING`); offers (resources, templates and prompts), bad-offers, hang-offers. What
it lists is at `TOOLS`; `tool=NAME` adds one that says its name. `rug=FILE` names a JSON file with
what it says of some of them instead, and of more, read at each listing; under "!list" it says how a
listing goes: "error" or "hang". With `tells` it tells of each change.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time

MODES = set(sys.argv[1:])
LOCK = threading.Lock()
MODERN = "modern" in MODES
LISTED = []  # one for each time
REPLIES = {}  # what was asked, by id: an event, and then the reply
HEARD = []  # what the client says of itself, and what it gives up


def write(text):
    with LOCK:
        sys.stdout.write(text)
        sys.stdout.flush()


def send(**message):
    write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")


def reply(id, **result):
    send(id=id, result=({"resultType": "complete"} if MODERN else {}) | result)


def text(id, words, **others):
    reply(id, content=[{"type": "text", "text": words}], **others)


def tool(name, **others):
    return {"name": name, "inputSchema": {"type": "object"}, "x-vendor": 1, **others}


def tools():
    pulled = {name: fields for name, fields in rug().items() if name != "!list"}
    found = [tool(name, description=f"The {name} tool") for name in TOOLS]
    found = [each | pulled.get(each["name"], {}) for each in found]
    found += [tool(name, **fields) for name, fields in pulled.items() if name not in TOOLS]
    if "storm" in MODES or "loop" in MODES:
        found.append(tool(f"seen_{len(LISTED)}"))
    if "asks" in MODES:
        found += [tool(name) for name in (*ASKING, *ASKING_ODDLY)]
    if "offers" in MODES:
        found.append(tool("touch"))
    if "cut" in MODES:
        found.append(tool("cut", annotations={"readOnlyHint": True}))
    if "malformed" in MODES:
        found += [{"name": "bare"}, {"inputSchema": 3}, {"name": "odd", "inputSchema": {}}, 7]
    return found


def rug():
    """What is pulled away under the client, tool by tool."""
    files = [mode.removeprefix("rug=") for mode in MODES if mode.startswith("rug=")]
    try:
        with open(files[0]) as file:  # noqa: PTH123 - pathlib takes longer to load than we to start
            return json.load(file)
    except (IndexError, FileNotFoundError):
        return {}


def watch_rug():
    last = rug()
    while True:
        time.sleep(0.05)
        if rug() != last:
            last = rug()
            send(method="notifications/tools/list_changed")


def flooding(number, each):
    """One of many tools that are large, and none of them too large."""
    return tool(f"t{number}_{each}", description="x" * 250_000)


def many(first):
    """One of forty pages of 500."""
    last = first + 500
    more = {"nextCursor": str(last)} if last < 20_000 else {}
    return {"tools": [tool(f"t{each}", description="One.") for each in range(first, last)], **more}


def list_tools(id, params):
    LISTED.append(id)
    cursor, number = params.get("cursor"), len(LISTED)
    caching = {"ttlMs": 0, "cacheScope": "private"} if MODERN else {}
    manner = rug().get("!list")
    if "hang-list" in MODES or ("hang-page" in MODES and cursor) or manner == "hang":
        return
    if manner == "error":
        send(id=id, error={"code": -32603, "message": "no list today"})
        return
    pages = {
        "hang-page": {"tools": tools(), "nextCursor": "2"},
        "endless-cursor": {"tools": [tool(f"t{number}")], "nextCursor": str(number)},
        "same-cursor": {"tools": [tool(f"t{number}")], "nextCursor": "again"},
        "flood": {
            "tools": [flooding(number, each) for each in range(4)],
            "nextCursor": str(number),
        },
        "huge-list": {"tools": [tool(f"t{each}") for each in range(6000)]},
        "many": many(int(cursor or 0)) if "many" in MODES else {},
    }
    page = next((pages[mode] for mode in MODES if mode in pages), {"tools": tools()})
    reply(id, **page, **caching)
    if "loop" in MODES:
        send(method="notifications/tools/list_changed")


def echo(id, given, _token):
    text(id, given.get("text", ""), structuredContent={"pid": os.getpid()})


def sleep(id, given, _token):
    time.sleep(given.get("s", 60))
    text(id, "slept")


def progress(id, given, token):
    for step in range(given.get("steps", 3)):
        params = {"progressToken": token, "progress": step, "total": 9, "message": "on"}
        send(method="notifications/progress", params=params)
        time.sleep(given.get("pause", 0.06))
    text(id, "done")


def endless(_id, _given, _token):
    with LOCK:
        try:
            while True:
                os.write(1, b"x" * 65536)
        except OSError:
            os._exit(1)


def garbage(id, _given, _token):
    for wrong in (id + 1000, "no such", None):
        send(id=wrong, result={"content": [{"type": "text", "text": "wrong"}]})
    write("not json\n{}\n[]\n\x00\xff\n" + "{" * 5000 + "\n")
    send(method="notifications/unknown", params={"a": 1})
    text(id, "right")
    text(id, "again")


def error(id, given, _token):
    if "code" in given:
        send(id=id, error={"code": given["code"], "message": "out of paper"})
    else:
        text(id, "it \x1b[31mfailed", isError=True)


def cut(id, given, _token):
    """Leave a mark in a file for each time it is reached; die of the first ones, without a word."""
    file = os.open(given["file"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(file, b"x")
    if os.fstat(file).st_size <= given["deaths"]:
        os._exit(3)
    os.close(file)
    text(id, "done")


def broken(id, _given, _token):
    write(f'{{"jsonrpc": "2.0", "id": {id}, "result": {{"content": [}}\n')


def elicitation(words):
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    return {"message": words, "requestedSchema": schema}


MESSAGE = {"role": "user", "content": {"type": "text", "text": "Hi?"}}
SAMPLING = {"messages": [MESSAGE], "maxTokens": 9, "includeContext": "allServers"}
ASKING = {
    "elicits": ("elicitation/create", lambda given: elicitation(given.get("words", "Who?"))),
    "samples": ("sampling/createMessage", lambda _: SAMPLING),
    "wants_roots": ("roots/list", lambda _: {}),
}


def question(method, params):
    """Ask the client, and wait for what it says."""
    id = f"q{len(REPLIES)}"
    REPLIES[id] = [threading.Event(), None]
    send(id=id, method=method, params=params)
    REPLIES[id][0].wait()
    return REPLIES[id][1]


def asks(id, params):
    names = list(ASKING) if params["name"] == "several" else [params["name"]]
    given = params.get("arguments") or {}
    wanted = {name: (ASKING[name][0], ASKING[name][1](given)) for name in names}
    if not MODERN:
        found = {name: question(*each) for name, each in wanted.items()}
        text(id, json.dumps(found))
    elif "samples" in wanted and "sampling" not in able(params):
        text(id, json.dumps({"samples": "without a model"}))
    elif not set(wanted) <= set(params.get("inputResponses") or ()):
        requests = {name: {"method": each[0], "params": each[1]} for name, each in wanted.items()}
        reply(id, resultType="input_required", inputRequests=requests, requestState=STATE)
    elif params.get("requestState") == STATE:
        text(id, json.dumps({name: {"result": params["inputResponses"][name]} for name in names}))
    else:
        send(id=id, error={"code": -32602, "message": "bad state"})


def able(params):
    """What the client of a request of the modern era says it can be asked."""
    return params["_meta"]["io.modelcontextprotocol/clientCapabilities"]


def needs_model(id, params):
    """Fail without a model: as the eras have it."""
    if MODERN and "sampling" not in able(params):
        needs = {"requiredCapabilities": {"sampling": {}}}
        send(id=id, error={"code": -32021, "message": "no model, no work", "data": needs})
    elif MODERN:
        asked = {"model": {"method": "sampling/createMessage", "params": SAMPLING}}
        reply(id, resultType="input_required", inputRequests=asked, requestState=STATE)
    else:
        said = question("sampling/createMessage", SAMPLING)
        text(id, json.dumps(said), isError="error" in said)


def insists(id, _params):
    """Ask for a model, whatever the client says it can be asked."""
    asked = {"model": {"method": "sampling/createMessage", "params": SAMPLING}}
    reply(id, resultType="input_required", inputRequests=asked, requestState=STATE)


def roots_or_fail(id, _params):
    """Ask for roots, as a server does that goes on without them, and then fail for its own part."""
    text(id, f"out of paper, with {json.dumps(question('roots/list', {}))}", isError=True)


def asks_late(id, params):
    """Ask only once the call was answered, or given up."""
    time.sleep(params["arguments"].get("s", 0.3))
    HEARD.append(question("elicitation/create", elicitation("late")))
    text(id, "late")


def says(id, params):
    for level in params["arguments"]["levels"]:
        send(method="notifications/message", params={"level": level, "data": {"at": level}})
    text(id, "said")


SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
HEARING = {}  # by subscription, or by resource, the resources that somebody wants to hear of
STATE = "remember me"


TOOLS = {
    "echo": echo,
    "env": lambda id, _given, _token: text(id, json.dumps(dict(os.environ))),
    "sleep": sleep,
    "progress": progress,
    "huge": lambda id, given, _token: text(id, "x" * given["size"]),
    "endless": endless,
    "crash": lambda _id, _given, _token: os._exit(3),
    "garbage": garbage,
    "error": error,
    "pid": lambda id, _given, _token: text(id, str(os.getpid())),
    "listed": lambda id, _given, _token: text(id, str(len(LISTED))),
    "broken": broken,
} | {
    name: lambda id, _given, _token, name=name: text(id, f"{name} ran")
    for name in (mode.removeprefix("tool=") for mode in sys.argv if mode.startswith("tool="))
}


def call(id, params):
    if params["name"] in MORE:
        threading.Thread(target=MORE[params["name"]], args=(id, params), daemon=True).start()
        return
    run = cut if params["name"] == "cut" else TOOLS.get(params["name"])
    if "many" in MODES:
        run = lambda id, _given, _token: text(id, params["name"])  # noqa: E731 - says who it is
    if run is None:
        send(id=id, error={"code": -32602, "message": "no such tool"})
        return
    token = params.get("_meta", {}).get("progressToken")
    threading.Thread(
        target=run, args=(id, params.get("arguments") or {}, token), daemon=True
    ).start()


def discover(id, _params):
    if "die-discover" in MODES:
        os._exit(1)
    if MODERN:
        reply(id, supportedVersions=["2026-07-28"], **ABOUT, ttlMs=0, cacheScope="private")
    elif "hang-discover" not in MODES:
        send(id=id, error={"code": -32601, "message": "Method not found"})


def initialize(id, params):
    HEARD.append(params["capabilities"])
    if "hang-initialize" not in MODES:
        info = {"name": "fake", "version": "1"}
        reply(id, protocolVersion="2025-06-18", serverInfo=info, **ABOUT)


def initialized(_id, _params):
    if "tells" in MODES:
        threading.Thread(target=watch_rug, daemon=True).start()
    if "storm" in MODES:
        threading.Thread(target=storm, daemon=True).start()
    if "half-close" in MODES:
        os.close(1)
        time.sleep(600)


def listen(id, params):
    wanted = params["notifications"]
    HEARING[id] = wanted.get("resourceSubscriptions", [])
    params = {"notifications": wanted, "_meta": {SUBSCRIPTION: id}}
    send(method="notifications/subscriptions/acknowledged", params=params)


def touch(id, params):
    """Say that a resource is another, to whoever wants to hear of it."""
    uri = params["arguments"]["uri"]
    if uri == "fake://more":
        RESOURCES.append({"uri": uri, "name": "more"})
        send(method="notifications/resources/list_changed")
    for who, uris in list(HEARING.items()):
        meta = {"_meta": {SUBSCRIPTION: who}} if MODERN else {}
        if uri in uris:
            send(method="notifications/resources/updated", params={"uri": uri, **meta})
    text(id, str(sorted(uri for uris in HEARING.values() for uri in uris)))


def subscribe(id, params):
    HEARING[params["uri"]] = [params["uri"]]
    reply(id)


def unsubscribe(id, params):
    HEARING.pop(params["uri"], None)
    reply(id)


ASKING_ODDLY = {
    "several": asks,
    "says": says,
    "heard": lambda id, _params: text(id, json.dumps(HEARD)),
    "asks_late": asks_late,
    "needs_model": needs_model,
    "insists": insists,
    "roots_or_fail": roots_or_fail,
}
MORE = {
    "touch": touch,
    **ASKING_ODDLY,
    **dict.fromkeys(ASKING, asks),
}
OFFERS = {
    "resources": {"listChanged": True, "subscribe": True},
    "prompts": {"listChanged": True},
    "completions": {},
}
ABOUT = {
    "capabilities": {"tools": {"listChanged": True}, **(OFFERS if "offers" in MODES else {})},
    "instructions": "Fake things.\nMore.",
}
RESOURCES = [
    {"uri": "fake://a", "name": "a", "description": "The a", "mimeType": "text/plain", "x": 1},
    {"uri": "fake://shared", "name": "shared"},
]
TEMPLATES = [{"uriTemplate": "fake://item/{id}", "name": "item"}]
PROMPTS = [
    {"name": "greet", "description": "Say hello", "arguments": [{"name": "who", "required": True}]}
]
BAD = [7, {"name": 3}, {"uri": "", "uriTemplate": "", "name": ""}, {"uri": "x", "name": {}}]


def listed(key, items):
    def answer(id, params):
        if "hang-offers" in MODES:
            return
        bad = BAD if "bad-offers" in MODES else []
        caching = {"ttlMs": 0, "cacheScope": "private"} if MODERN else {}
        second = params.get("cursor") == "2"
        more = {} if second else {"nextCursor": "2"}
        reply(id, **{key: [*bad, *items[1:]] if second else items[:1]}, **more, **caching)

    return answer


def read(id, params):
    uri = params["uri"]
    if uri == "fake://gone":
        send(id=id, error={"code": -32002, "message": "Resource not found"})
        return
    contents = [{"uri": uri, "mimeType": "text/plain", "text": f"{sys.argv[1:]} {uri}"}]
    caching = {"ttlMs": 0, "cacheScope": "private"} if MODERN else {}
    reply(id, contents=contents, **caching)


def prompt(id, params):
    who = (params.get("arguments") or {}).get("who", "nobody")
    words = {"type": "text", "text": f"Hello, {who}\u200b!"}
    reply(id, description="A greeting", messages=[{"role": "user", "content": words}])


def complete(id, params):
    words = [params["argument"]["value"] + end for end in ("da", "na")]
    before = (params.get("context") or {}).get("arguments") or {}
    of = params["ref"].get("name") or params["ref"].get("uri")
    reply(id, completion={"values": [*words, *before.values(), of], "total": 2, "hasMore": False})


def cancelled(_id, params):
    HEARD.append({"cancelled": params})
    HEARING.pop(params.get("requestId"), None)


METHODS = {
    "resources/list": listed("resources", RESOURCES),
    "resources/templates/list": listed("resourceTemplates", TEMPLATES),
    "prompts/list": listed("prompts", PROMPTS),
    "resources/read": read,
    "resources/subscribe": subscribe,
    "resources/unsubscribe": unsubscribe,
    "prompts/get": prompt,
    "completion/complete": complete,
    "notifications/cancelled": cancelled,
    "server/discover": discover,
    "initialize": initialize,
    "notifications/initialized": initialized,
    "tools/list": list_tools,
    "tools/call": call,
    "subscriptions/listen": listen,
}


def handle(message):
    id, method = message.get("id"), message.get("method")
    if method is None and id in REPLIES:
        REPLIES[id][1] = {key: message[key] for key in ("result", "error") if key in message}
        REPLIES[id][0].set()
    elif method in METHODS:
        METHODS[method](id, message.get("params") or {})
    elif id is not None and method:
        send(id=id, error={"code": -32601, "message": "Method not found"})


def storm():
    for _ in range(10_000):
        send(method="notifications/tools/list_changed")
        time.sleep(0.0001)


def flood():
    for _ in range(9999):
        sys.stderr.write("E" * 9999 + "\n")


def prepare():
    if "exit-at-once" in MODES:
        sys.stderr.write("no licence found\n")
        sys.exit(3)
    if "stubborn" in MODES:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "grandchild" in MODES:
        loop = [sys.executable, "-S", "-c", "import time\nwhile True: time.sleep(60)"]
        subprocess.Popen(loop, start_new_session=True)
        subprocess.Popen(loop)
    if "junk" in MODES:
        write("Starting up...\n\n{not json}\n")
    if "stderr" in MODES:
        threading.Thread(target=flood, daemon=True).start()
    if "hang-spawn" in MODES:
        time.sleep(600)


def main():
    prepare()
    for line in sys.stdin:
        handle(json.loads(line))
        if "silent-stdin" in MODES and "tools/list" in line:
            break
    while "stubborn" in MODES or "silent-stdin" in MODES:
        time.sleep(60)


if __name__ == "__main__":
    main()

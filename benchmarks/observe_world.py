"""What events are measured in: made-up tools and events, a gateway in a home, and its dashboard."""

import http.client
import json
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from benchmarks.folder import SEED
from benchmarks.home import Home
from benchmarks.processes import cpu_seconds
from toolcrib.model import Event, EventKind, JsonObject
from toolcrib.store import EventFile, Retention

VERBS = "create list update delete send read find open close merge move copy".split()
NOUNS = (
    "invoice ticket page issue repository customer mail file label branch comment order payment"
    " calendar meeting note task project channel message report contract"
).split()
SERVERS = ("office", "code", "shop", "desk", "files")
CLIENTS = ("cursor", "claude-code", "zed")
DAYS = 30.0
FAILED = 0.04
KINDS: Mapping[EventKind, int] = {
    "search": 35,
    "call": 45,
    "reveal": 10,
    "list": 5,
    "client": 3,
    "server": 2,
}
"""How many of a hundred events are of a kind."""
IN_CONVERSATION = 25
BATCH = 2_000
DUMP_SERVER = Path(__file__).with_name("dump_server.py")
FORM = "application/x-www-form-urlencoded"
SETTINGS = """
builtin_tools = false
plugins = false
[embed]
embedder = "none"
[apps]
enabled = false
[observe]
enabled = {enabled}
keep_queries = true
"""


def made_up_tools(number: int) -> list[Mapping[str, Any]]:
    """Tools as a server lists them."""
    chance = Random(SEED)
    return [_tool(chance, place) for place in range(number)]


def _tool(chance: Random, place: int) -> Mapping[str, Any]:
    verb, noun, of = chance.choice(VERBS), chance.choice(NOUNS), chance.choice(NOUNS)
    about = f"{verb.capitalize()} a {noun} of a {of}: by its name, or all {noun}s that fit."
    text = {"type": "string", "description": f"The {noun} to {verb}."}
    schema = {"type": "object", "properties": {noun: text, of: {"type": "string"}}}
    return {"name": f"{verb}_{noun}_{of}_{place}", "description": about, "inputSchema": schema}


def made_up_queries(number: int) -> list[str]:
    """What people might ask of such tools, no two alike."""
    chance = Random(SEED + 1)
    return [
        f"{chance.choice(VERBS)} the {chance.choice(NOUNS)} of our {chance.choice(NOUNS)} {place}"
        for place in range(number)
    ]


def write_events(path: Path, number: int, now: float) -> None:
    """Fill a log with events of a month: searches, reveals, calls, lists and others."""
    maker, first = EventMaker(), now - DAYS * 86_400
    with closing(EventFile(path, Retention(number, DAYS + 1, DAYS))) as file:
        for start in range(0, number, BATCH):
            places = range(start, min(start + BATCH, number))
            file.write(
                [maker.event(each, first + (now - first) * each / number) for each in places]
            )


class EventMaker:
    """Makes up events of some clients that talk one after the other."""

    def __init__(self) -> None:
        self._chance = Random(SEED)
        self._names = [each["name"] for each in made_up_tools(300)]
        self._queries = made_up_queries(500)

    def event(self, place: int, at: float) -> Event:
        """The event of a place in their row, at a time."""
        chance, talk = self._chance, place // IN_CONVERSATION
        kind = chance.choices(list(KINDS), list(KINDS.values()))[0]
        facts = _facts(chance, kind, self._names)
        client = CLIENTS[talk % len(CLIENTS)]
        bare = Event(at, kind, "local@default", client, f"{talk:012x}", facts=facts)
        match kind:
            case "search":
                code = "" if facts["hits"] else "nothing_found"
                query = chance.choice(self._queries)
                return bare._replace(seconds=0.01, code=code, query=query)
            case "call":
                name, server = chance.choice(self._names), chance.choice(SERVERS)
                code = "timeout" if chance.random() < FAILED else ""
                took = chance.lognormvariate(-1.5, 1.2)
                return bare._replace(name=name, server=server, seconds=took, code=code)
            case "server":
                return bare._replace(server=chance.choice(SERVERS), seconds=1.2, code="started")
            case _:
                return bare._replace(code="connected" if kind == "client" else "")


def _facts(chance: Random, kind: EventKind, names: list[str]) -> JsonObject:
    some = chance.sample(names, chance.choice([0, 2, 4, 5, 5, 5]))
    match kind:
        case "search":
            sure = chance.choice(["high", "high", "medium", "low"])
            return {"hits": some, "confidence": sure, "chance": round(chance.random(), 3)}
        case "call":
            return {"pin": "1a2b3c", "arguments": "4d5e6f", "verdict": "allow", "effect": ""}
        case "reveal":
            return {"tools": some, "set": "0a1b2c3d4e5f", "tokens": 640}
        case "list":
            tokens = {"eager": 60_000, "sent": 1_900, "how": "counted with o200k_base"}
            return {"tools": 5, "of": 500, "mode": "search", **tokens}
        case _:
            return {}


def new_home(folder: Path, tools: int, *, enabled: bool) -> Home:
    """A home with servers that list so many made-up tools."""
    folder.mkdir(parents=True)
    home, every = Home(folder), made_up_tools(tools)
    servers: dict[str, Mapping[str, Any]] = {}
    for place, name in enumerate(SERVERS):
        file = folder / f"{name}.json"
        file.write_text(json.dumps({"tools": every[place :: len(SERVERS)]}), encoding="utf-8")
        servers[name] = {"command": sys.executable, "args": ["-S", str(DUMP_SERVER), str(file)]}
    home.configure(SETTINGS.format(enabled=str(enabled).lower()), servers)
    home.run("refresh")
    return home


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who is logged in to a dashboard; `pid` is its process."""

    pid: int
    host: str
    cookie: str

    def get(self, address: str) -> bytes:
        """A page. Raises `AssertionError` where it is refused."""
        with closing(self._asked(address)) as answer:
            body = answer.read()
            assert answer.status == 200, (address, answer.status, body[:300])  # noqa: S101
            return body

    def cpu_of(self, address: str) -> float:
        """Seconds that the dashboard computes for a page."""
        before = cpu_seconds(self.pid)
        self.get(address)
        return cpu_seconds(self.pid) - before

    def open_stream(self) -> None:
        """Be on Live: read what comes, until the dashboard ends."""
        answer = self._asked("/stream")

        def read() -> None:
            with suppress(http.client.HTTPException, OSError):
                answer.read()

        Thread(target=read, daemon=True).start()

    def _asked(self, address: str) -> http.client.HTTPResponse:
        return _ask(self.host, "GET", address, {"Cookie": self.cookie})


@contextmanager
def dashboard_of(home: Home) -> Generator[Visitor]:
    """The dashboard of a home runs meanwhile, and somebody is logged in."""
    command = home.toolcrib("dashboard", "--no-browser", "--json")
    with subprocess.Popen(command, env=home.env, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - ours
        try:
            assert process.stdout  # noqa: S101 - it is a pipe
            link = urlsplit(json.loads(process.stdout.readline())["link"])
            origin = {"Origin": f"http://{link.netloc}", "Sec-Fetch-Site": "same-origin"}
            answer = _ask(
                link.netloc,
                "POST",
                "/login",
                {**origin, "Content-Type": FORM},
                f"secret={link.fragment}",
            )
            cookie = (answer.getheader("set-cookie") or "").partition(";")[0]
            yield Visitor(process.pid, link.netloc, cookie)
        finally:
            process.terminate()


def _ask(
    host: str, method: str, address: str, headers: Mapping[str, str], body: str = ""
) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", int(host.rpartition(":")[2]), timeout=60)
    connection.request(method, address, body, {**headers, "Host": host})
    return connection.getresponse()

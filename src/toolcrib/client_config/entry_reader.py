"""Reads an entry of a client as a server of ours, or says why it has to stay where it is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolcrib.client_config.entry_format import (
    CannotConvert,
    EntryFormat,
    exact_pattern,
    with_fixed_values,
)
from toolcrib.model import Json, JsonObject
from toolcrib.sources.mcp import ServerAddress

LOCAL_TYPES = frozenset({"", "stdio", "local"})
REMOTE_TYPES = frozenset({"", "remote", "sse", *ServerAddress.HTTP_TYPES})
URLS = ("url", "serverUrl", "httpUrl")
# Keys that are read, or that mean nothing once the server is here.
SILENT = frozenset(
    {"type", "source", "command", "args", "cwd", "disabled", "enabled", "description", "name"}
    | {"icon", "gallery", "dev", "version", "required", *URLS}
)


@dataclass(frozen=True, slots=True)
class ConvertedEntry:
    """The entry as it stands in our file, and the keys that have no counterpart here."""

    entry: JsonObject
    dropped: tuple[str, ...] = ()


def read_entry(
    fmt: EntryFormat, entry: Json, home: Path, project: Path | None = None
) -> ConvertedEntry:
    """The entry in our words. Raises `CannotConvert`.

    In a project's file, paths are taken from the project's folder, as clients do.
    """
    if not isinstance(entry, Mapping):
        raise CannotConvert("it is not an object")
    if narrow := [key for key in entry if key in fmt.narrowing and entry[key] not in (None, [])]:
        raise CannotConvert(f"it has `{narrow[0]}`, which has no counterpart here")
    reader = _EntryReader(fmt, entry, _fixed(home, project), project)
    ours = dict(reader.ours())
    keys = SILENT | {fmt.env, fmt.env_names, fmt.headers, fmt.bearer, fmt.env_headers}
    keys |= {fmt.enabled_tools, fmt.disabled_tools}
    dropped = [key for key in entry if key not in keys and key not in fmt.times]
    return ConvertedEntry(ours, tuple(dropped))


def _fixed(home: Path, project: Path | None) -> Mapping[str, str]:
    """What some clients fill in, and what is the same whenever they do."""
    of_project = {"${workspaceFolder}": str(project)} if project else {}
    return {"${userHome}": str(home)} | of_project


@dataclass(frozen=True, slots=True)
class _EntryReader:
    fmt: EntryFormat
    entry: JsonObject
    fixed: Mapping[str, str]
    project: Path | None

    def ours(self) -> Iterator[tuple[str, Json]]:
        kind, address = self._text("type"), self._address()
        if address and kind in REMOTE_TYPES:
            yield from self._remote(address.url, address.kind)
        elif self.entry.get("command") and kind in LOCAL_TYPES:
            yield from self._local()
        else:
            raise CannotConvert(self._why_not(kind))
        if self.entry.get("disabled") is True or self.entry.get("enabled") is False:
            yield "disabled", True
        yield from self._tools()
        for key, (of_ours, unit_s) in self.fmt.times.items():
            value = self.entry.get(key)
            if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
                yield of_ours, value * unit_s

    def _tools(self) -> Iterator[tuple[str, Json]]:
        """Which tools there are; Gemini CLI may write the arguments of a tool behind its name."""
        for ours in ("enabled_tools", "disabled_tools"):
            theirs = getattr(self.fmt, ours)
            if theirs and self.entry.get(theirs) is not None:
                names = self._list(self.entry[theirs], theirs)
                yield ours, [exact_pattern(name.partition("(")[0].strip()) for name in names]

    def _why_not(self, kind: str) -> str:
        if kind in LOCAL_TYPES | REMOTE_TYPES:
            return "it has no command and no address; only the client knows how to reach it"
        return f"its type {kind!r} is not known here"

    def _address(self) -> ServerAddress | None:
        """The address; by streamable HTTP unless the type, the key or the path says SSE."""
        kind, old = self._text("type"), None
        for key in URLS:
            url = self._text(key)
            if (
                url
                and kind not in ServerAddress.HTTP_TYPES
                and (kind == "sse" or self._says_sse(key, url))
            ):
                old = old or ServerAddress(url, kind="sse")
            elif url:
                return ServerAddress(url)
        return old

    def _says_sse(self, key: str, url: str) -> bool:
        return self.fmt.speaks_sse and (key == self.fmt.sse or ServerAddress.is_sse(url))

    def _remote(self, address: str, kind: str) -> Iterator[tuple[str, Json]]:
        yield "type", kind
        yield "url", self._filled(address, "address")
        headers = self._texts(self.fmt.headers, "headers")
        by_variable = self._map(self.fmt.env_headers)
        headers |= {name: "${" + variable + "}" for name, variable in by_variable.items()}
        if token := self._text(self.fmt.bearer):
            headers["Authorization"] = "Bearer ${" + token + "}"
        if headers:
            yield "headers", headers

    def _local(self) -> Iterator[tuple[str, Json]]:
        command, args, env = self._command()
        yield "command", self._plain(command, "command")
        if args:
            yield "args", [self._plain(each, "arguments") for each in args]
        if env:
            yield "env", {key: self._filled(value, key) for key, value in env.items()}
        if names := self._env_names():
            yield "env_from", names
        folder = self._folder()
        if folder:
            yield "cwd", folder

    def _command(self) -> tuple[str, Sequence[str], Mapping[str, str]]:
        """The program, its arguments and its variables, in any of the ways there are."""
        command, env = self.entry.get("command"), self._map(self.fmt.env)
        if isinstance(command, str):
            return command, self._list(self.entry.get("args")), env
        if isinstance(command, Mapping):  # Zed's older way
            inner = _EntryReader(self.fmt, command, self.fixed, self.project)
            path = inner._text("path") or inner._text("command")
            return path, self._list(command.get("args")), inner._map("env") | env
        words = self._list(command)
        if not words:
            raise CannotConvert("its command cannot be read")
        return words[0], words[1:], env

    def _folder(self) -> str:
        cwd = Path(self._plain(self._text("cwd"), "folder") or ".").expanduser()
        if cwd.is_absolute():
            return str(cwd)
        if self.project:
            return str(self.project / cwd)
        if self._text("cwd"):
            raise CannotConvert("its folder is relative to where the client was started")
        return ""

    def _env_names(self) -> list[Json]:
        """Codex's list of variables: names, or tables with a name and a source."""
        names: list[Json] = []
        listed = self.entry.get(self.fmt.env_names) if self.fmt.env_names else None
        for each in listed if isinstance(listed, list | tuple) else ():
            if isinstance(each, Mapping):
                if each.get("source", "local") != "local":
                    raise CannotConvert("it hands on variables of another machine")
                each = each.get("name")  # noqa: PLW2901 - the same variable, taken out
            names.append(each)
        return names

    def _plain(self, text: str, where: str) -> str:
        """A text that is not filled in here, so it must hold no reference."""
        text = (
            with_fixed_values(text, self.fixed)
            if self.fmt.references.has_references(text)
            else text
        )
        if self.fmt.references.has_references(text):
            raise CannotConvert(
                f"its {where} refer to variables, which Toolcrib does not fill in there"
            )
        return text

    def _filled(self, text: str, where: str) -> str:
        if self.fmt.references.has_references(text):
            text = with_fixed_values(text, self.fixed)
        return self.fmt.references.ours(text, where)

    def _texts(self, key: str, where: str) -> dict[str, Json]:
        return {name: self._filled(value, where) for name, value in self._map(key).items()}

    def _text(self, key: str) -> str:
        value = self.entry.get(key) if key else ""
        return value if isinstance(value, str) else ""

    def _map(self, key: str) -> dict[str, str]:
        """An object of texts. A number or a flag, which some write, is the text that it is."""
        value = self.entry.get(key) if key else None
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            raise CannotConvert(f"its `{key}` is not an object")
        return {name: _as_text(key, each) for name, each in value.items() if each is not None}

    def _list(self, value: Json, where: str = "args") -> list[str]:
        if value is None:
            return []
        if isinstance(value, str | Mapping) or not isinstance(value, Sequence):
            raise CannotConvert(f"its `{where}` is not a list")
        return [_as_text(where, each) for each in value]


def _as_text(where: str, value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise CannotConvert(f"its `{where}` has something in it that is not text")

"""Which values of a server's configuration are secrets, and its entry without them.

To hide too little gives a secret away; to hide too much takes words from every description. So a
value is a secret by its name (`API_KEY`), or if it looks like one, and never if it is short, a
plain word or number, a path, or an e-mail address. `docs/guide/mcp.md` has the rule in full.
"""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import parse_qsl, unquote, urlsplit

from toolcrib.model import Json, JsonObject
from toolcrib.sources.mcp.config.environment import (
    LOADING,
    expand,
    expand_all,
    inherited_variables,
    referenced_values,
    references,
)
from toolcrib.sources.mcp.config.server import Isolation, ServerAddress, ServerCommand, Transport
from toolcrib.text import REDACTED, SHORTEST_SECRET, Redactor

SHORT_WORD = 9
SHORT_NUMBER = 8
SHORT_PHRASE = 16
LONG_PIECE = 16
MOST_TURNS = 4

_SECRET_NAME = re.compile(
    r"pass|pwd|secret|token|apikey|auth(?!or(?!i[sz]))|cred|cookie|session|signature|bearer|private"
    r"|webhook|jwt|dsn|access_?key|(?:^|_)(?:keys?|pat|sig|pin|otp|salt|code)(?:_|$)"
)
_PUBLIC_NAME = re.compile(
    r"(?:^|_)(?:id|name|user|username|login|email|host|hostname|port|region|zone|dir|directory"
    r"|folder|root|path|file|locale|lang|model|version|level|mode|type|method|provider|scheme"
    r"|accept|agent)$"
)
_NEVER_PUBLIC = re.compile(r"session_?id|access_?key_?id|secret_?name")
_PATH = re.compile(r"(?:[~.]{0,2}/|[A-Za-z]:[\\/]).*")
_EMAIL = re.compile(r"[^@\s:/]+@[^@\s:/]+\.[A-Za-z]{2,}")
_PLAIN = re.compile(r"(?:[A-Za-z]+|[0-9]{1,4})(?:[\s,.:;/@_=+-]+(?:[A-Za-z]+|[0-9]{1,4}))*")
_TURN = re.compile(r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def command_secrets(
    command: ServerCommand, environ: Mapping[str, str], inherits: Sequence[str] = ()
) -> frozenset[str]:
    """The secrets that a process is given: in its variables, its arguments, what it inherits.

    Raises `ConfigError` for a variable that is not set.
    """
    variables = expand_all(command.env, environ).items()
    referred = referenced_values(command.env.values(), environ).items()
    named = [
        (name, environ.get(ours, ""))
        for theirs, ours in command.env_from.items()
        for name in (theirs, ours)
    ]
    inherited = inherited_variables(command, environ, inherits).items()
    return _among(*variables, *referred, *named, *inherited, *_options(command.args))


def address_secrets(address: ServerAddress, environ: Mapping[str, str]) -> frozenset[str]:
    """The secrets that a server elsewhere is sent: in its URL, its headers, our client secret."""
    url, headers = expand(address.url, environ), expand_all(address.headers, environ)
    sent = [pair for name, value in headers.items() for pair in _header(name, value)]
    texts = [address.url, *address.headers.values()]
    if address.oauth:
        sent.append(("client_secret", expand(address.oauth.client_secret, environ)))
        texts.append(address.oauth.client_secret)
    return _among(("url", url), *sent, *referenced_values(texts, environ).items())


def _among(*values: tuple[str, str]) -> frozenset[str]:
    return frozenset(found for name, value in values for found in _secrets(name, value))


def is_secret(name: str, value: str) -> bool:
    """Whether a value of this name has to be hidden."""
    if len(value) < SHORTEST_SECRET or _is_ordinary(value):
        return False
    known_as = _snake(name)
    if _NEVER_PUBLIC.search(known_as):
        return True
    if _PUBLIC_NAME.search(known_as):
        return False
    if _SECRET_NAME.search(known_as):
        return True
    return len(value) >= SHORT_PHRASE or not _PLAIN.fullmatch(value)


def _is_ordinary(value: str) -> bool:
    """A short word or number, a path, or an e-mail address: a name does not make these secret."""
    if value.isalpha() and len(value) < SHORT_WORD:
        return True
    if value.isdecimal() and len(value) < SHORT_NUMBER:
        return True
    if _PATH.fullmatch(value):
        return not any(map(_looks_random, re.split(r"[\\/]", value)))
    return bool(_EMAIL.fullmatch(value))


def _secrets(name: str, value: str) -> Iterator[str]:
    """The secrets in one value: the parts of an address, else the value."""
    if _SCHEME.match(value):
        yield from _in_address(value)
    elif is_secret(name, value):
        yield value


def _in_address(url: str) -> Iterator[str]:
    """Who we are and what stands in the query, and pieces of the path that nobody would write."""
    try:
        parts = urlsplit(url)
    except ValueError:
        yield url
        return
    user, at, _ = parts.netloc.rpartition("@")
    if at:
        yield from (user, unquote(user))
        _, colon, password = user.partition(":")
        for each in {password, unquote(password)} if colon else {user, unquote(user)}:
            if is_secret("password", each):
                yield each
    for text in (parts.query, parts.fragment):
        for name, value in parse_qsl(text):
            if is_secret(name, value):
                yield value
    yield from filter(_looks_random, map(unquote, parts.path.split("/")))


def _header(name: str, value: str) -> Iterator[tuple[str, str]]:
    """The header, and what stands in it: a token after its scheme, the values of cookies."""
    yield name, value
    for word in re.split(r"[\s;,]+", value):
        key, _, rest = word.partition("=")
        inner = rest.strip('"')
        yield (f"{name}_{key}", inner) if inner.strip("=") else (name, word.strip('"'))
    scheme, _, given = value.partition(" ")
    if scheme.lower() == "basic":
        try:
            pair = base64.b64decode(given, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            return
        yield "secret", pair
        yield "password", pair.partition(":")[2]


def _options(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The values of options whose name says secret, and addresses: `--token T`, `--token=T`."""
    option = ""
    for argument in arguments:
        name, equals, value = argument.partition("=")
        is_option = argument.startswith("-")
        if _SCHEME.match(argument):
            yield "url", argument
        elif is_option and equals and (_SCHEME.match(value) or _SECRET_NAME.search(_snake(name))):
            yield name, value
        elif not is_option and _SECRET_NAME.search(_snake(option)):
            yield option, argument
        option = argument if is_option and not equals else ""


def _looks_random(piece: str) -> bool:
    """Letters and digits by turns, as in no name that a person gives."""
    return len(piece) >= LONG_PIECE and len(_TURN.findall(piece)) >= MOST_TURNS


def _snake(name: str) -> str:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", spaced.lower()).strip("_")


def masked_entry(transport: Transport) -> JsonObject:
    """The keys of its entry. Of variables and headers only references to ours are left."""
    return _command(transport) if isinstance(transport, ServerCommand) else _address(transport)


def _command(command: ServerCommand) -> JsonObject:
    redactor = Redactor(command_secrets(ServerCommand(command.command, command.args), {}))
    words: dict[str, Json] = {
        "command": command.command,
        "args": [redactor.text(each) for each in command.args],
        "env": _masked(command.env),
        "env_from": {**command.env_from},
        "cwd": command.cwd,
        "isolation": _isolation(command.isolation) if command.isolation else None,
    }
    return {key: value for key, value in words.items() if value}


def _isolation(isolation: Isolation) -> JsonObject:
    words: dict[str, Json] = {"tool": isolation.tool, "network": isolation.network}
    return {**words, "paths": dict(isolation.paths), "image": isolation.image}


def _address(address: ServerAddress) -> JsonObject:
    plain = address.url
    for each in references([plain]):
        plain = plain.replace(each, "")
    redactor = Redactor(address_secrets(ServerAddress(plain), {}))
    words: dict[str, Json] = {
        "type": address.kind,
        "url": redactor.text(address.url),
        "headers": _masked(address.headers),
    }
    if address.oauth:
        grant, client, issuer = address.oauth.grant, address.oauth.client_id, address.oauth.issuer
        words["oauth"] = {"grant": grant, "client_id": client, "issuer": issuer}
    return {key: value for key, value in words.items() if value}


def _masked(values: Mapping[str, str]) -> dict[str, Json]:
    """Without values, except for those that decide which code is loaded and hold no secret."""
    return {name: _masked_value(name, value) for name, value in values.items()}


def _masked_value(name: str, value: str) -> str:
    if LOADING.fullmatch(name) and not ("://" in value or _SECRET_NAME.search(_snake(name))):
        return value
    return " ".join(references([value])) or REDACTED

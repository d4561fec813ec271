"""Why a server did not start, if it is one of the usual causes, and what to do about it.

One table: what such a failure looks like on stderr, and what it means. A server may write there
what it likes. So only names of a strict form are taken from its words: of a variable, a package, a
port. A folder to remove is one that is really there.
"""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from toolcrib.sources.mcp.config.package_runner import command_name, package_runner
from toolcrib.sources.mcp.config.server import ServerCommand
from toolcrib.sources.mcp.outcome import StartDiagnosis
from toolcrib.sources.mcp.sanitize import short_line
from toolcrib.sources.mcp.server_log import error_lines, without_warnings
from toolcrib.sources.mcp.status import env_command

LONGEST_PATH = 1_000
LONGEST_CONTEXT = 200
LONGEST_NAME = 80
MOST_VARIABLES = 3
LONGEST_END = 16 * 1024
"""How much of stderr is searched, at either end."""


class StartAttempt(NamedTuple):
    """The command that was started, and its environment."""

    server: str
    command: ServerCommand
    env: Mapping[str, str]


_Explain: TypeAlias = Callable[["re.Match[str]", StartAttempt], StartDiagnosis | None]


class _Sign(NamedTuple):
    """What a cause looks like. `means` may find that it is not the cause after all."""

    pattern: "re.Pattern[str]"
    means: StartDiagnosis | _Explain


def diagnose(stderr: str, start: StartAttempt) -> StartDiagnosis | None:
    """The first cause in the table that fits the error lines, else the whole text.

    None if it is none of the usual ones.
    """
    if len(stderr) > 2 * LONGEST_END:
        stderr = f"{stderr[:LONGEST_END]}\n{stderr[-LONGEST_END:]}"
    stderr = without_warnings(stderr)
    for text in (error_lines(stderr), stderr):
        for sign in _SIGNS:
            if (found := sign.pattern.search(text)) and (
                means := _diagnosis_of(sign, found, start)
            ):
                return means
    return None


def no_command(start: StartAttempt) -> StartDiagnosis:
    """The diagnosis of a command that is not there."""
    path = Path(start.command.command)
    name = short_line(path.name, LONGEST_NAME)
    wrong = "correct its path in" if path.is_absolute() else "write its whole path into"
    program = _PROGRAMS.get(command_name(name), repr(name))
    return StartDiagnosis(
        f"its command {name!r} is not there",
        f"install {program}, or {wrong} `command`",
    )


def _diagnosis_of(
    sign: _Sign, found: "re.Match[str]", start: StartAttempt
) -> StartDiagnosis | None:
    return sign.means if isinstance(sign.means, StartDiagnosis) else sign.means(found, start)


def _damaged_npx(found: "re.Match[str]", start: StartAttempt) -> StartDiagnosis | None:
    """A package without some of its files: an install was interrupted."""
    folder = _npx_folder(found.string)
    if folder is None:
        runner = package_runner(start.command)
        if not runner or runner.name not in ("npx", "npm"):
            return None
        remedy = "remove its folder under `_npx` in npm's cache"
    else:
        remedy = f"remove the folder, `rm -rf {shlex.quote(str(folder))}`"
    return StartDiagnosis("what npx has installed of it seems damaged", remedy)


def _npx_folder(text: str) -> Path | None:
    """The npx folder that a text names, if it exists. npm names these folders by a hash."""
    for found in _NPX_FOLDER.finditer(text):
        before = text[max(0, found.start() - LONGEST_PATH) : found.start()]
        folder = Path(_SEPARATOR.split(before)[-1] + found[0])
        if folder.is_dir() and not folder.is_symlink() and (folder / "node_modules").is_dir():
            return folder
    return None


def _damaged_uv(found: "re.Match[str]", start: StartAttempt) -> StartDiagnosis | None:
    runner = package_runner(start.command)
    if not runner or runner.name not in ("uv", "uvx") or not _UV_CACHE.search(found.string):
        return None
    package = _python_package(start.command.args)
    clean = f"uv cache clean {package}" if package else "uv cache clean"
    return StartDiagnosis("what uv has installed of it seems damaged", f"run `{clean}`")


def _needs_mcp_1(_found: "re.Match[str]", start: StartAttempt) -> StartDiagnosis:
    runner = package_runner(start.command)
    if runner and runner.name in ("uv", "uvx"):
        package = _python_package(start.command.args) or "PACKAGE"
        edit = f"toolcrib edit {shlex.quote(start.server)} -- uvx --with 'mcp<2' {package} …"
        remedy = f"start it with that one, its own arguments at the end: `{edit}`"
    else:
        remedy = "install `mcp<2` where it runs"
    return StartDiagnosis("it needs version 1 of the Python package `mcp`", remedy)


def _missing_variable(found: "re.Match[str]", start: StartAttempt) -> StartDiagnosis | None:
    """The variables in a line that calls one missing, except those that it was given."""
    begin, end = found.string.rfind("\n", 0, found.start()) + 1, found.end()
    line = found.string[max(begin, found.start() - LONGEST_CONTEXT) : end + LONGEST_CONTEXT]
    named = dict.fromkeys(_VARIABLE.findall(line.partition("\n")[0]))
    names = [each for each in named if each not in start.env and not _NO_VARIABLE.match(each)]
    if not names:
        return None
    some = names[:MOST_VARIABLES]
    listed = " and ".join(some) + (" and more" if len(names) > len(some) else "")
    verb = "is" if len(names) == 1 else "are"
    return StartDiagnosis(f"{listed} {verb} not set", f"run {env_command(start.server, some)}")


def _port_taken(found: "re.Match[str]", _start: StartAttempt) -> StartDiagnosis:
    port = found["port"]
    what = f"the port {port}" if port else "the port that it listens on"
    return StartDiagnosis(
        f"{what} is taken", "end the program that has it, or give it another port"
    )


def _other_python(found: "re.Match[str]", _start: StartAttempt) -> StartDiagnosis:
    version = found["version"]
    reason = f"it needs Python {version}" if version else "it needs another Python"
    return StartDiagnosis(reason, "name one that fits: `uvx --python 3.12 …`")


def _no_package(_found: "re.Match[str]", start: StartAttempt) -> StartDiagnosis:
    runner = package_runner(start.command)
    where = f" by {runner.name}" if runner else ""
    return StartDiagnosis(
        f"its package is not found{where}",
        "correct the name or the version in `args`, or the registry that is set",
    )


def _python_package(arguments: Sequence[str]) -> str:
    """The name of the package that uv runs; "" if it does not look like one."""
    plain = [each for each in arguments if not each.startswith("-")]
    name = re.split(r"[@=<>\[~!]", plain[0])[0] if plain else ""
    return name if _PACKAGE.fullmatch(name) else ""


_PACKAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_NPX_FOLDER = re.compile(r"_npx[\\/][0-9a-f]{8,64}(?![0-9a-z])")
_SEPARATOR = re.compile(r"(?:file://)|[\s'\"`(\[]")
_UV_CACHE = re.compile(r"\b(?:archive|sdists|wheels)-v[0-9]")
_NAME = r"\b[A-Z][A-Z0-9]{1,19}(?:_[A-Z0-9]{1,19}){1,3}\b"
"""Of a variable. A model reads it, so that it must not be able to be a sentence."""
_VARIABLE = re.compile(_NAME)
_NO_VARIABLE = re.compile(r"ERR_|NODE_|NPM_|MODULE_NOT|.*_CERT(?:_|$)")
_IS_MISSING = (
    r"(?:not set|unset|missing|required?|must be (?:set|provided|defined)|undefined|not defined"
    r"|not found|not provided|is empty|environment variable)"
)
_PROGRAMS: Mapping[str, str] = {
    **dict.fromkeys(("node", "npm", "npx"), "Node.js, which has npx"),
    **dict.fromkeys(("uv", "uvx"), "uv, which has uvx"),
    **dict.fromkeys(("python", "python3", "py"), "Python"),
    **dict.fromkeys(("bun", "bunx"), "Bun"),
    "pipx": "pipx",
    "pnpm": "pnpm",
    "yarn": "Yarn",
    "deno": "Deno",
    "docker": "Docker",
    "podman": "Podman",
}
_TRUST_CERTIFICATES = StartDiagnosis(
    "a certificate on its way is not trusted",
    "name your organisation's certificates where Toolcrib is started: NODE_EXTRA_CA_CERTS for Node,"
    " SSL_CERT_FILE for Python and uv",
)
_SIGNS: Sequence[_Sign] = (
    _Sign(
        re.compile(
            r"No module named 'mcp\.server\.|This is mcp 2\.|cannot import name '\w+' from 'mcp[.']"
            r"|'(?:Server|FastMCP|MCPServer|ServerSession)' object has no attribute"
            r"|module 'mcp[\w.]*' has no attribute|No module named 'mcp\.\w+"
        ),
        _needs_mcp_1,
    ),
    _Sign(
        re.compile(
            r"ERR_MODULE_NOT_FOUND|MODULE_NOT_FOUND|Cannot find (?:module|package) '"
            r"|npm (?:error|ERR!) code (?:ENOTEMPTY|EEXIST)|ENOTEMPTY: directory not empty"
            r"|(?m:^sh: (?:[0-9]+: |line [0-9]+: )?[\w.@/-]{1,100}: (?:command )?not found)"
        ),
        _damaged_npx,
    ),
    _Sign(
        re.compile(
            r"ModuleNotFoundError: No module named"
            r"|[Ff]ailed to (?:read|deserialize|open|load)[^\n]{0,80}\bcache\b"
            r"|(?:archive|sdists|wheels)-v[0-9][^\n]{0,300}(?:No such file|not exist|os error 2)"
        ),
        _damaged_uv,
    ),
    _Sign(
        re.compile(r"permission denied while trying to connect to the [Dd]ocker"),
        StartDiagnosis(
            "it may not use Docker", "add your user to the group `docker`, or use Podman"
        ),
    ),
    _Sign(
        re.compile(r"Cannot connect to the Docker daemon|Cannot connect to Podman"),
        StartDiagnosis("Docker does not run", "start Docker"),
    ),
    _Sign(
        re.compile(r"pull access denied|manifest unknown|repository does not exist"),
        StartDiagnosis(
            "its image is not found", "correct the name in `args`, or log in to its registry"
        ),
    ),
    _Sign(
        re.compile(
            r"CERTIFICATE_VERIFY_FAILED|certificate verify failed|SELF_SIGNED_CERT"
            r"|self[- ]signed certificate|UNABLE_TO_(?:GET_ISSUER_CERT|VERIFY_LEAF)"
            r"|unable to (?:get local issuer|verify the first) certificate"
            r"|invalid peer certificate|certificate signed by unknown authority"
            r"|CERT_HAS_EXPIRED|ERR_TLS_CERT"
        ),
        _TRUST_CERTIFICATES,
    ),
    _Sign(
        re.compile(
            r"407 Proxy|Proxy Authentication Required|ProxyError|tunnel error"
            r"|tunneling socket could not|Cannot connect to proxy|ERR_PROXY|code ECONNREFUSED_PROXY"
        ),
        StartDiagnosis(
            "the proxy does not let it through",
            "correct HTTPS_PROXY and NO_PROXY where Toolcrib is started",
        ),
    ),
    _Sign(
        re.compile(
            r"npm (?:error|ERR!) code E404|npm (?:error|ERR!) 404|code ETARGET"
            r"|was not found in the package registry|No matching distribution found"
            r"|there (?:is|are) no versions? of"
        ),
        _no_package,
    ),
    _Sign(
        re.compile(r"npm (?:error|ERR!) code E40[13]|\b40[13] (?:Unauthorized|Forbidden) - GET"),
        StartDiagnosis(
            "the package registry does not let it in",
            "log in to the registry with its package manager",
        ),
    ),
    _Sign(
        re.compile(
            r"npm (?:error|ERR!) (?:code (?:ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNREFUSED|ECONNRESET"
            r"|ENETUNREACH|FETCH_ERROR)|network)|error: Failed to fetch:|Failed to fetch: `"
            r"|Network connectivity is disabled|Failed to establish a new connection"
            r"|dial tcp: lookup"
        ),
        StartDiagnosis(
            "the package registry cannot be reached",
            "see that there is a network, and that HTTPS_PROXY is set if it needs a proxy",
        ),
    ),
    _Sign(
        re.compile(
            r"EBADENGINE|(?:requires|needs|Unsupported) [^\n]{0,40}\b[Nn]ode(?:\.js)?\b"
            r"[^\n]{0,20}[0-9]|ERR_REQUIRE_ESM|ERR_UNKNOWN_BUILTIN_MODULE"
            r"|engine \"node\" is incompatible|SyntaxError: The requested module 'node:"
        ),
        StartDiagnosis(
            "it needs a newer Node.js",
            "install a current Node.js, or pin an older version of the package",
        ),
    ),
    _Sign(
        re.compile(
            r"does not satisfy Python(?P<version>[<>=!~]{1,2}[0-9.]{1,10})"
            r"|requires a different Python|No interpreter found for"
        ),
        _other_python,
    ),
    _Sign(
        re.compile(
            r"(?:EADDRINUSE|[Aa]ddress already in use|[Pp]ort is already allocated)"
            r"(?:[^\n]{0,80}?:(?P<port>[0-9]{2,5})\b)?"
        ),
        _port_taken,
    ),
    _Sign(
        re.compile(r"ENOSPC|No space left on device"),
        StartDiagnosis("the disk is full", "free some space"),
    ),
    _Sign(
        re.compile(rf"KeyError: '{_NAME}'"),
        _missing_variable,
    ),
    _Sign(
        re.compile(
            rf"{_NAME}[^\n]{{0,80}}?\b{_IS_MISSING}|\b(?i:{_IS_MISSING})\b[^\n]{{0,80}}?{_NAME}"
        ),
        _missing_variable,
    ),
    _Sign(
        re.compile(r"root-owned files"),
        StartDiagnosis(
            "npm's cache belongs to another user", 'run `sudo chown -R "$(id -u)" ~/.npm`'
        ),
    ),
    _Sign(
        re.compile(r"\bEACCES\b|\bEPERM\b|[Pp]ermission denied|Operation not permitted"),
        StartDiagnosis(
            "it may not read or write a file or a folder",
            "give your user the right to what it names below",
        ),
    ),
)

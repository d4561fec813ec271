"""The text of a file that somebody wrote by hand: small, UTF-8, or refused."""

from pathlib import Path

from toolcrib.errors import DeclarationError
from toolcrib.plain_file import read_plain_file

MAX_BYTES = 1024 * 1024


def read_text(path: Path) -> str:
    r"""All of it, with `\n` between the lines. Raises `DeclarationError` naming file and line."""
    try:
        content = read_plain_file(path, MAX_BYTES)
    except OSError as error:
        raise DeclarationError(f"{path}:1: cannot be read: {error.strerror}") from error
    return decoded(path, content).replace("\r\n", "\n")


def decoded(path: Path, content: bytes) -> str:
    """The text of a file with this content. Raises `DeclarationError` naming file and line."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DeclarationError(f"{path}:{line}: is not UTF-8; save it as UTF-8") from error

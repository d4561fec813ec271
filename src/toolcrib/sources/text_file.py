"""Text files that people write by hand: small, and UTF-8. A mistake has a line.

Apart from `declaration_file`, so that who reads JSON loads no YAML.
"""

from pathlib import Path

from toolcrib.errors import DeclarationError
from toolcrib.system import read_plain_file

MAX_BYTES = 1024 * 1024


def read_text_file(path: Path) -> str:
    r"""All of it, with `\n` between the lines. Raises `DeclarationError` naming file and line."""
    try:
        content = read_plain_file(path, MAX_BYTES)
    except OSError as error:
        raise DeclarationError(f"{path}:1: cannot be read: {error.strerror}") from error
    return decode_text(path, content).replace("\r\n", "\n")


def decode_text(path: Path, content: bytes) -> str:
    """The text of a file with this content. Raises `DeclarationError` naming file and line."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DeclarationError(f"{path}:{line}: is not UTF-8; save it as UTF-8") from error

"""Files of translations, whatever their format, as flat mappings of key to text.

The formats are those that packages ship: gettext (.po, .mo), JSON, YAML, Java properties and
JavaScript modules. Nothing here knows which language a file is in: see `locales.py`.
"""

import gettext
import json
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import yaml

Texts = Mapping[str, str]

GETTEXT = frozenset({".po", ".mo"})
MODULES = frozenset({".js", ".mjs"})
SUFFIXES = GETTEXT | MODULES | {".json", ".yaml", ".yml", ".properties"}
LARGEST = 8_000_000
READER = Path(__file__).with_name("read_module.mjs")


def read(path: Path) -> Texts:
    """What the file says, or nothing where it cannot be read: packages ship odd files."""
    if path.stat().st_size > LARGEST:
        return {}
    try:
        return _read(path)
    except (OSError, ValueError, yaml.YAMLError, RecursionError, AssertionError, LookupError):
        return {}


def read_modules(paths: Sequence[Path], at_once: int = 200) -> dict[Path, Texts]:
    """What JavaScript modules export, by one run of node for many of them."""
    found: dict[Path, Texts] = {}
    for start in range(0, len(paths), at_once):
        some = paths[start : start + at_once]
        for path, row in zip(some, _exported(some), strict=True):
            found[path] = dict(_flat(row["value"]))
    return found


def _exported(paths: Sequence[Path]) -> list[dict[str, object]]:
    """A row a module, in order, whatever else the modules print."""
    command = ["node", str(READER), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    return [json.loads(line) for line in done.stdout.split("\n") if line.startswith('{"path"')]


def _read(path: Path) -> Texts:
    match path.suffix:
        case ".mo":
            with path.open("rb") as file:
                catalog = gettext.GNUTranslations(file)
            entries: Mapping[object, object] = catalog._catalog  # noqa: SLF001 - there is no other way
            return {k: v for k, v in entries.items() if isinstance(k, str) and isinstance(v, str)}
        case ".po":
            return dict(_po(path.read_text(encoding="utf-8")))
        case ".json":
            return _json(json.loads(path.read_text(encoding="utf-8-sig")))
        case ".properties":
            return dict(_properties(path.read_text(encoding="utf-8", errors="replace")))
        case _:
            return dict(_flat(yaml.safe_load(path.read_text(encoding="utf-8"))))


def _json(value: object) -> Texts:
    """A JSON file; Jed files (gettext for JavaScript) have their texts a level further down."""
    if isinstance(value, dict) and isinstance(value.get("locale_data"), dict):
        value = next(iter(value["locale_data"].values()))
    return dict(_flat(value))


def _flat(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _flat(inner, f"{key}\x1f{name}" if key else str(name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _flat(inner, f"{key}\x1f{number}")


def _po(text: str) -> Iterator[tuple[str, str]]:
    for block in re.split(r"\n\s*\n", text):
        if "#, fuzzy" in block or "msgid_plural" in block:
            continue
        source = _po_string(block, "msgid")
        target = _po_string(block, "msgstr")
        if source and target:
            yield source, target


def _po_string(block: str, name: str) -> str:
    found = re.search(rf'^{name}\s+((?:"(?:[^"\\]|\\.)*"\s*)+)', block, re.MULTILINE)
    if not found:
        return ""
    parts = re.findall(r'"((?:[^"\\]|\\.)*)"', found[1])
    return "".join(parts).replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\")


def _properties(text: str) -> Iterator[tuple[str, str]]:
    for line in text.replace("\\\n", "").splitlines():
        key, sign, value = line.partition("=")
        if sign and not line.lstrip().startswith(("#", "!")):
            decoded = re.sub(r"\\u([0-9a-fA-F]{4})", lambda m: chr(int(m[1], 16)), value)
            yield key.strip(), decoded.replace("\\n", "\n").strip()

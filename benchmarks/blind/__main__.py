"""Rebuild the blind set on this machine, and say whether it is the one that was frozen.

    python -m benchmarks.blind DIR [--only SERVER] [--dump-only]

Installs the servers of servers.json into DIR/installed (some gigabytes), starts each with made-up
keys, and writes DIR/dumps (what each lists, one file a server) and DIR/blind (catalog.jsonl and
queries.jsonl). Then `python -m benchmarks.everyday --bench-dir DIR --set blind` measures on it.

Ends with 1 if a server listed nothing, or if a file is not what SHA256SUMS says: a server that
builds its schemas with a library lists them a little differently once that library has changed.
`--dump-only` installs nothing, so that the servers can be started where there is no network.
"""

import json
import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from shutil import copyfile
from subprocess import CalledProcessError

from benchmarks.blind.listing import NoListing, canonical, digest, list_tools
from benchmarks.blind.packages import Package, packages

HERE = Path(__file__).parent
SUMS = HERE / "SHA256SUMS"
CATALOG, QUERIES = Path("blind/catalog.jsonl"), Path("blind/queries.jsonl")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = ArgumentParser(prog="python -m benchmarks.blind", description=__doc__)
    parser.add_argument("folder", type=Path, help="where all of it goes")
    parser.add_argument("--only", action="append", help="this server alone; may be repeated")
    parser.add_argument("--dump-only", action="store_true", help="install nothing")
    said = parser.parse_args(arguments)
    folder: Path = said.folder.resolve()
    for name in ("dumps", "home", QUERIES.parent):
        (folder / name).mkdir(parents=True, exist_ok=True)
    wanted = [each for each in packages() if not said.only or each.server in said.only]
    failed = [
        each.server for each in wanted if not _dumped(each, folder, install=not said.dump_only)
    ]
    copyfile(HERE / "requests.jsonl", folder / QUERIES)
    (folder / CATALOG).write_text("".join(_catalog(folder / "dumps")), encoding="utf-8")
    changed = [name for name, sum_ in frozen().items() if _sum(folder / name) != sum_]
    print(f"{len(wanted) - len(failed)} servers listed their tools, {len(failed)} did not")
    print("not as frozen:", ", ".join(changed) if changed else "none")
    return 1 if failed or changed else 0


def _dumped(package: Package, folder: Path, *, install: bool) -> bool:
    """Whether the server listed its tools; what it lists is written down."""
    place, home = folder / "installed" / package.server, folder / "home"
    try:
        if install:
            package.install(place)
        env = package.environment(home, os.environ["PATH"])
        text = canonical(list_tools(package.command(place), env, home))
    except (CalledProcessError, NoListing, OSError) as error:
        print(f"{package.server}: {error}", file=sys.stderr)
        return False
    (folder / "dumps" / f"{package.server}.json").write_text(text, encoding="utf-8")
    return True


def _catalog(dumps: Path) -> Iterable[str]:
    """The lines of the catalog, by server and name."""
    for file in sorted(dumps.glob("*.json")):
        for tool in json.loads(file.read_text(encoding="utf-8"))["tools"]:
            shared = {key: tool[key] for key in ("name", "title", "description") if key in tool}
            line = {"id": f"{file.stem}::{tool['name']}", **shared}
            line |= {"parameters": tool.get("inputSchema", {}), "server": file.stem}
            yield json.dumps(line, ensure_ascii=False) + "\n"


def frozen() -> Mapping[str, str]:
    """The SHA-256 of every file of the set, by its name in the folder."""
    lines = SUMS.read_text(encoding="utf-8").splitlines()
    return {name: sum_ for sum_, name in (line.split("  ", 1) for line in lines)}


def _sum(file: Path) -> str:
    return digest(file.read_text(encoding="utf-8")) if file.exists() else ""


if __name__ == "__main__":
    sys.exit(main())

"""Writes what the code already knows: docs/api.md, docs/settings.md, docs/cli.md, and tools.json.

python scripts/write_docs.py            write them
python scripts/write_docs.py --check    fail if they are not as they would be written
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from inspect import cleandoc
from pathlib import Path
from typing import cast

from typer.main import get_group

sys.path.append(str(Path(__file__).parents[1]))  # as a program, its neighbours are not in sight

from scripts.api_page import api_page
from toolcrib.cli.app import RootGroup, app
from toolcrib.cli.command_table import GROUPS
from toolcrib.cli.groups import CommandEntry, CommandGroup, Run
from toolcrib.cli.help import HasParameters, HelpGroup, words
from toolcrib.model import ToolInfo
from toolcrib.settings import ProfileSettings, documented
from toolcrib.settings.schema import Documented
from toolcrib.sources.builtin_tools import DECLARATIONS
from toolcrib.sources.declaration_file import parse_yaml
from toolcrib.sources.function_source import FunctionSource
from toolcrib.sources.text_file import read_text_file
from toolcrib.sources.tools_yaml import declare_tools, tool_entries

ROOT = Path(__file__).parent.parent


def settings_page() -> str:
    """Every setting with its default, by section."""
    sections: dict[str, list[Documented]] = {}
    of_profile = documented(ProfileSettings, "gateway.profiles.NAME.")
    for each in (*documented(), *of_profile):
        sections.setdefault(each.key.rpartition(".")[0], []).append(each)
    return "\n".join([SETTINGS_INTRODUCTION, *map(_section, sections, sections.values())])


def cli_page() -> str:
    """Every command with its arguments and options, in the groups of the help."""
    return "\n".join([CLI_INTRODUCTION, *map(_group, GROUPS, GROUPS.values())])


def tool_listing() -> str:
    """The tools that come with Toolcrib, as they are listed without loading their functions."""
    source = FunctionSource()
    tools = declare_tools(source, DECLARATIONS, platform="linux")
    references = tool_entries(parse_yaml(read_text_file(DECLARATIONS), DECLARATIONS), [])
    listing = {
        tool.name: {
            "function": references[tool.name].function,
            "links": {
                link: where.removeprefix(str(DECLARATIONS))
                for (name, link), where in source.links.items()
                if name == tool.name
            },
            "facts": _facts(tool),
        }
        for tool in tools
    }
    return json.dumps(listing, ensure_ascii=False, indent=1) + "\n"


def _facts(tool: ToolInfo) -> Mapping[str, object]:
    """What is not so by itself, but the name, and what depends on the machine and its files."""
    plain, own = asdict(ToolInfo(name="", description="")), asdict(tool)
    return {
        key: value
        for key, value in own.items()
        if value != plain[key] and key not in {"name", "module", "platform_available"}
    }


def _section(name: str, settings: list[Documented]) -> str:
    rows = [f"| `{each.key}` | `{each.default}` | {each.description} |" for each in settings]
    title = f"## [{name}]" if name else "## At the top"
    return "\n".join([title, "", "| key | default | meaning |", "|---|---|---|", *rows, ""])


def _group(title: str, commands: Mapping[str, CommandEntry]) -> str:
    return "\n".join([f"## {title}", "", *map(_command, commands, commands.values())])


def _command(name: str, entry: CommandEntry) -> str:
    shown, command = cast("RootGroup", get_group(app)).load(name), entry.load()
    if not isinstance(command, CommandGroup):
        return _leaf("###", name, shown, command)
    text = [f"### {name}", "", cleandoc(command.help), ""]
    each = [
        _leaf("####", f"{name} {action}", cast("HelpGroup", shown).commands[action], run)
        for action, run in command.commands.items()
    ]
    return "\n".join([*text, *each])


def _leaf(level: str, name: str, shown: HasParameters, run: Run) -> str:
    parameters = list(words(shown))
    usage = " ".join(["    toolcrib", name, *(each.usage for each in parameters)])
    rows = [f"| `{_cell(each.spelling)}` | {each.help} |" for each in parameters]
    text = cleandoc(run.__doc__ or "")
    return "\n".join([f"{level} {name}", "", usage, "", text, "", "| | |", "|---|---|", *rows, ""])


def _cell(text: str) -> str:
    """A text as it stands in a table, where a bar would end the cell."""
    return text.replace("|", "\\|")


SETTINGS_INTRODUCTION = """\
# Settings

Written by `scripts/write_docs.py`; the words are those in `settings/sections.py`.

Put the keys that you change into `config.toml`, in the configuration folder of your user
(`~/.config/toolcrib` on Linux):

```toml
index = "auto"
skills = ["skills"]

[search]
limit = 5

[embed]
embedder = "openai"
model = "text-embedding-3-small"
```

Or set one in the environment. Write it in capitals behind `TOOLCRIB_`, with two underscores after
the section, and with commas in a list. The environment goes before the file:

```sh
TOOLCRIB_SEARCH__LIMIT=8 TOOLCRIB_SKILLS=a,b toolcrib search "send a mail"
```

`--config FILE` or the variable `TOOLCRIB_CONFIG` names another file. Relative paths in a file start
from its folder. No file is read from the working directory: settings name code to import, and a
cloned repository must not choose that
([decision 0004](decisions/0004-no-settings-from-the-working-directory.md)). An unknown key is an
error that names the nearest key. In Python, `load_settings(os.environ)` reads all this, once.
"""

CLI_INTRODUCTION = """\
# Command line

Written by `scripts/write_docs.py`; the words are those of `toolcrib COMMAND --help`.

Before the command: `--config FILE` names the settings file, `--mcp-config FILE` a file with MCP
servers and `--tools MODULE` a Python module whose functions are tools (both may be given more than
once), `--version` shows the version. Every command but `connect` takes `--json`. Exit codes: 0 for
done, 1 for a bar that was not reached or a call that did not end well, 2 for input that cannot be
used; then one line on standard error says why and what to do.

A table is as wide as the terminal. In a pipe or a file each row is one line, whole:
`toolcrib list | grep github`. There is no colour there, nor where `NO_COLOR` is set.

On a terminal a description stands below its row, cut to two lines, and an error below the table
with what to do about it. Names are never cut: copy them as they are. Where there is little room,
columns of less use are left out; a pipe and `--json` have them all.

`toolcrib --install-completion` teaches your shell (bash, zsh, fish, PowerShell) to complete
commands, options and the names of tools, servers, clients, profiles, keys and apps. Names are read
from what is stored: Tab starts no server.
"""

PAGES = {
    "docs/api.md": api_page,
    "docs/settings.md": settings_page,
    "docs/cli.md": cli_page,
    "src/toolcrib/tools/tools.json": tool_listing,
}


def main(arguments: list[str]) -> int:
    """Write the pages, or compare them."""
    stale = [name for name, page in PAGES.items() if _read(name) != page()]
    if "--check" in arguments:
        print("\n".join(f"{name} is stale: run scripts/write_docs.py" for name in stale))
        return int(bool(stale))
    for name in stale:
        (ROOT / name).write_text(PAGES[name](), encoding="utf-8")
    return 0


def _read(name: str) -> str:
    path = ROOT / name
    return path.read_text(encoding="utf-8") if path.exists() else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

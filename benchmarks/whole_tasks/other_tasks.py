"""Tasks about a repository, the web, time and a graph."""

import json
import re
from typing import Any

from benchmarks.whole_tasks.file_tasks import query, read, rows, write
from benchmarks.whole_tasks.ground import PRODUCTS
from benchmarks.whole_tasks.task import Results, ToolCall, WholeTask, always

REPO = {"repo_path": "{work}/repo"}
_LOG = ToolCall("git_log", {**REPO, "max_count": 14})
_COMMIT = re.compile(r"Commit: (\w+)\n.*\nDate: (\S+).*\nMessage: (.*)")


def _touching(results: Results) -> list[str]:
    commits = _COMMIT.findall(results[0][0])
    return [
        f"{sha[:8]} {about}"
        for (sha, _, about), shown in zip(commits, results[1], strict=True)
        if "+++ b/app/billing.py" in shown
    ]


HISTORY = WholeTask(
    name="commits that touch a file",
    servers=("git", "filesystem"),
    request="Which of the 14 commits in {work}/repo changed app/billing.py? Write short hash and"
    " message of each, newest first, to {work}/billing.txt, and tell me how many there are.",
    queries=("show commit log", "show a commit with its changes", "write file"),
    turns=(
        always(_LOG),
        lambda results: [
            ToolCall("git_show", {**REPO, "revision": sha})
            for sha, _, _ in _COMMIT.findall(results[0][0])
        ],
        lambda results: [write("{work}/billing.txt", "\n".join(_touching(results)))],
    ),
    answer=lambda results: len(_touching(results)),
    programs=(
        """\
print(await git.git_log(repo_path="{work}/repo", max_count=1))
(await git.git_show(repo_path="{work}/repo", revision="HEAD"))[:400]""",
        """\
import re
log = await git.git_log(repo_path="{work}/repo", max_count=14)
lines = []
for sha, about in re.findall(r"Commit: (\\w+)\\n.*\\n.*\\nMessage: (.*)", log):
    shown = await git.git_show(repo_path="{work}/repo", revision=sha)
    if "+++ b/app/billing.py" in shown:
        lines.append(f"{sha[:8]} {about}")
await filesystem.write_file(path="{work}/billing.txt", content="\\n".join(lines))
len(lines)""",
    ),
)


def _notes(results: Results) -> str:
    found = [about.partition(": ") for _, _, about in _COMMIT.findall(results[0][0])]
    parts = []
    for kind in ("feat", "fix"):
        parts += [f"## {kind}", *(f"- {rest}" for of, _, rest in found if of == kind)]
    return "\n".join(parts)


RELEASE = WholeTask(
    name="release notes from commits",
    servers=("git", "filesystem"),
    request="Write {work}/NOTES.md from the last 14 commits of {work}/repo: a heading '## feat' and"
    " one '## fix', under each the messages of that kind as a list, newest first, without the"
    " kind. How many lines has it?",
    queries=("show commit log", "write file"),
    turns=(always(_LOG), lambda results: [write("{work}/NOTES.md", _notes(results))]),
    answer=lambda results: len(_notes(results).splitlines()),
    programs=(
        'await git.git_log(repo_path="{work}/repo", max_count=2)',
        """\
import re
log = await git.git_log(repo_path="{work}/repo", max_count=14)
lines = []
for kind in ["feat", "fix"]:
    lines.append(f"## {kind}")
    lines += [f"- {text}" for text in re.findall(rf"Message: {kind}: (.*)", log)]
await filesystem.write_file(path="{work}/NOTES.md", content="\\n".join(lines))
len(lines)""",
    ),
)

_PRICE = re.compile(r"Price: (\d+) euros")


def _fetch(name: str) -> ToolCall:
    return ToolCall("fetch", {"url": f"{{site}}/{name}"})


def _price(text: str) -> int:
    return int(_PRICE.findall(text)[0])


PRICES = WholeTask(
    name="compare eight pages",
    servers=("fetch",),
    request=f"Which is the cheapest of our products, and what does it cost? The pages are {{site}}/"
    f"NAME, for {', '.join(PRODUCTS)}.",
    queries=("fetch a web page",),
    turns=(always(*map(_fetch, PRODUCTS)),),
    answer=lambda results: [*min(zip(map(_price, results[0]), PRODUCTS, strict=True))],
    programs=(
        '(await fetch.fetch(url="{site}/chair"))[:600]',
        f"""\
import asyncio, re
names = {json.dumps(PRODUCTS)}
pages = await asyncio.gather(*[fetch.fetch(url=f"{{site}}/{{name}}") for name in names])
prices = [int(re.findall(r"Price: (\\d+) euros", page)[0]) for page in pages]
min(zip(prices, names))""",
    ),
)


def _updates(results: Results) -> list[ToolCall]:
    """Each price of a page, for the product with that name."""
    listed = rows(results[0][0])
    return [
        ToolCall(
            "write_query",
            {"query": f"UPDATE products SET price = {_price(page)} WHERE id = {row['id']}"},  # noqa: S608 - ours
        )
        for row, page in zip(listed, results[1], strict=True)
    ]


UPDATE = WholeTask(
    name="prices from pages into a database",
    servers=("sqlite", "fetch"),
    request="Bring the column price of the table products (id, name, price) up to date. The price"
    " of each is on {site}/NAME. What is the sum of the prices?",
    queries=("run select query", "run update query", "fetch a web page"),
    turns=(
        always(query("SELECT id, name FROM products")),
        lambda results: [_fetch(row["name"]) for row in rows(results[0][0])],
        _updates,
    ),
    answer=lambda results: sum(map(_price, results[1])),
    programs=(
        """\
print(await sqlite.read_query(query="SELECT id, name FROM products LIMIT 2"))
(await fetch.fetch(url="{site}/chair"))[:600]""",
        """\
import json, re
found = await sqlite.read_query(query="SELECT id, name FROM products")
total = 0
for row in json.loads(found.replace("'", '"')):
    page = await fetch.fetch(url=f"{site}/{row['name']}")
    price = int(re.findall(r"Price: (\\d+) euros", page)[0])
    await sqlite.write_query(query=f"UPDATE products SET price = {price} WHERE id = {row['id']}")
    total += price
total""",
    ),
)


def _convert(zone: str) -> ToolCall:
    source = {"source_timezone": "Europe/Berlin", "time": "15:00"}
    return ToolCall("convert_time", {**source, "target_timezone": zone})


def _local(text: str) -> str:
    return json.loads(text)["target"]["datetime"][11:16]


ZONES = ("America/New_York", "America/Sao_Paulo", "Asia/Kolkata", "Asia/Tokyo", "Australia/Sydney")

MEETING = WholeTask(
    name="a meeting in five time zones",
    servers=("time",),
    request="We meet at 15:00 in Berlin. When is that in New York, São Paulo, Kolkata, Tokyo and"
    " Sydney?",
    queries=("convert time between time zones",),
    turns=(always(*map(_convert, ZONES)),),
    answer=lambda results: dict(zip(ZONES, map(_local, results[0]), strict=True)),
    programs=(
        f"""\
zones = {json.dumps(ZONES)}
times = {{}}
for zone in zones:
    found = await time_.convert_time(
        source_timezone="Europe/Berlin", time="15:00", target_timezone=zone)
    times[zone] = found["target"]["datetime"][11:16]
times""",
    ),
)

CLOCK = WholeTask(
    name="one call",
    servers=("time",),
    request="It is 15:00 in Berlin. What time is it in Tokyo?",
    queries=("convert time between time zones",),
    turns=(always(_convert("Asia/Tokyo")),),
    answer=lambda results: _local(results[0][0]),
    programs=(
        """\
found = await time_.convert_time(
    source_timezone="Europe/Berlin", time="15:00", target_timezone="Asia/Tokyo")
found["target"]["datetime"][11:16]""",
    ),
)


def _of_graph(results: Results, kind: str) -> list[str]:
    relations: list[dict[str, Any]] = json.loads(results[0][0])["relations"]
    return [f"{each['from']}: {each['to']}" for each in relations if each["relationType"] == kind]


LEADERS = WholeTask(
    name="a list from a knowledge graph",
    servers=("memory", "filesystem"),
    request="Write who leads what in our knowledge graph to {work}/leaders.txt, one a line as 'WHO:"
    " WHAT'. How many are there?",
    queries=("read knowledge graph", "write file"),
    turns=(
        always(ToolCall("read_graph", {})),
        lambda results: [write("{work}/leaders.txt", "\n".join(_of_graph(results, "leads")))],
    ),
    answer=lambda results: len(_of_graph(results, "leads")),
    programs=(
        """\
graph = await memory.read_graph()
leads = [each for each in graph["relations"] if each["relationType"] == "leads"]
lines = [f"{each['from']}: {each['to']}" for each in leads]
await filesystem.write_file(path="{work}/leaders.txt", content="\\n".join(lines))
len(lines)""",
    ),
)

PEOPLE = {
    "Maria Lopez": "leads the project",
    "Tom Becker": "was on the phone from Lyon",
    "Aiko Tanaka": "does the data work, knows the old warehouse",
    "Sam Okafor": "builds the web pages, is new",
    "Petra Novak": "does the contracts",
}
_ENTITIES = [
    {"name": name, "entityType": "person", "observations": [about]}
    for name, about in PEOPLE.items()
]
_RELATIONS = [
    {"from": "Maria Lopez", "to": "Tom Becker", "relationType": "reports to"},
    {"from": "Aiko Tanaka", "to": "Sam Okafor", "relationType": "shows around"},
    {"from": "Tom Becker", "to": "Petra Novak", "relationType": "calls"},
]

PROSE = WholeTask(
    name="people of a note into a graph",
    servers=("filesystem", "memory"),
    request="Read {work}/notes/kickoff.md and put the people in it into the knowledge graph, with"
    " what it says of them and how they are related. How many people are there?",
    queries=("read text file", "create entities in knowledge graph", "create relations"),
    turns=(
        always(read("{work}/notes/kickoff.md")),
        always(
            ToolCall("create_entities", {"entities": _ENTITIES}),
            ToolCall("create_relations", {"relations": _RELATIONS}),
        ),
    ),
    answer=lambda _results: len(PEOPLE),
    programs=(
        '(await filesystem.read_text_file(path="{work}/notes/kickoff.md"))["content"]',
        f"""\
await memory.create_entities(entities={json.dumps(_ENTITIES)})
await memory.create_relations(relations={json.dumps(_RELATIONS)})
{len(PEOPLE)}""",
    ),
)

OTHER_TASKS = (HISTORY, RELEASE, PRICES, UPDATE, MEETING, CLOCK, LEADERS, PROSE)

"""Tasks about files and a database."""

import ast
from typing import Any

from benchmarks.whole_tasks.ground import KINDS, REGIONS
from benchmarks.whole_tasks.task import Results, ToolCall, WholeTask, always


def read(path: str) -> ToolCall:
    return ToolCall("read_text_file", {"path": path})


def write(path: str, content: str) -> ToolCall:
    return ToolCall("write_file", {"path": path, "content": content})


def query(text: str) -> ToolCall:
    return ToolCall("read_query", {"query": text})


def rows(text: str) -> list[dict[str, Any]]:
    """What the SQLite server says: a list as Python writes it."""
    return ast.literal_eval(text)


def _cells(text: str) -> list[list[str]]:
    return [line.split(",") for line in text.strip().splitlines()[1:]]


def _revenue(results: Results) -> Any:  # noqa: ANN401 - as JSON has it
    sold = (
        sum(int(units) * int(price) for _, _, units, price in _cells(text)) for text in results[0]
    )
    return dict(zip(REGIONS, sold, strict=True))


TOTALS = WholeTask(
    name="totals of three CSV files",
    servers=("filesystem",),
    request="What is the revenue of each region? The files are {work}/sales/north.csv, south.csv"
    " and west.csv.",
    queries=("read text file",),
    turns=(always(*(read(f"{{work}}/sales/{region}.csv") for region in REGIONS)),),
    answer=_revenue,
    programs=(
        '(await filesystem.read_text_file(path="{work}/sales/north.csv", head=3))["content"]',
        """\
totals = {}
for region in ["north", "south", "west"]:
    found = await filesystem.read_text_file(path=f"{work}/sales/{region}.csv")
    rows = [line.split(",") for line in found["content"].strip().splitlines()[1:]]
    totals[region] = sum(int(row[2]) * int(row[3]) for row in rows)
totals""",
    ),
)


def _todos(results: Results) -> list[str]:
    """The files are told one after the other, each behind its path and a colon."""
    found: list[str] = []
    for part in results[1][0].split("\n---\n"):
        path, _, text = part.partition(":\n")
        name = path.rpartition("/")[2]
        found += [
            f"{name}: {line.partition('# TODO: ')[2]}"
            for line in text.splitlines()
            if "TODO" in line
        ]
    return found


TODOS = WholeTask(
    name="TODOs of a source folder",
    servers=("filesystem",),
    request="Collect all TODO comments in the Python files under {work}/src in {work}/TODO.md,"
    " one a line, with the file's name. How many are there?",
    queries=("search files by pattern", "read several files", "write file"),
    turns=(
        always(ToolCall("search_files", {"path": "{work}/src", "pattern": "**/*.py"})),
        lambda results: [ToolCall("read_multiple_files", {"paths": results[0][0].splitlines()})],
        lambda results: [write("{work}/TODO.md", "\n".join(_todos(results)))],
    ),
    answer=lambda results: len(_todos(results)),
    programs=(
        """\
found = await filesystem.search_files(path="{work}/src", pattern="**/*.py")
todos = []
for path in found["content"].splitlines():
    text = (await filesystem.read_text_file(path=path))["content"]
    name = path.split("/")[-1]
    for line in text.splitlines():
        if "# TODO: " in line:
            todos.append(f"{name}: {line.split('# TODO: ')[1]}")
await filesystem.write_file(path="{work}/TODO.md", content="\\n".join(todos))
len(todos)""",
    ),
)


def _listed(results: Results) -> list[str]:
    return [line.removeprefix("[FILE] ") for line in results[0][0].splitlines()]


INBOX = WholeTask(
    name="sort a folder by kind",
    servers=("filesystem",),
    request="Sort the files in {work}/inbox into a folder for each extension, there. How many were"
    " there of each?",
    queries=("list directory", "create directory", "move file"),
    turns=(
        always(ToolCall("list_directory", {"path": "{work}/inbox"})),
        lambda _: [ToolCall("create_directory", {"path": f"{{work}}/inbox/{k}"}) for k in KINDS],
        lambda results: [
            ToolCall(
                "move_file",
                {
                    "source": f"{{work}}/inbox/{name}",
                    "destination": f"{{work}}/inbox/{name.partition('.')[2]}/{name}",
                },
            )
            for name in _listed(results)
        ],
    ),
    answer=lambda results: {
        kind: sum(name.endswith(kind) for name in _listed(results)) for kind in KINDS
    },
    programs=(
        '(await filesystem.list_directory(path="{work}/inbox"))["content"][:200]',
        """\
listed = (await filesystem.list_directory(path="{work}/inbox"))["content"]
names = [line.split("] ")[1] for line in listed.splitlines() if line.startswith("[FILE]")]
counts = {}
for name in names:
    kind = name.split(".")[-1]
    if kind not in counts:
        await filesystem.create_directory(path=f"{work}/inbox/{kind}")
    counts[kind] = counts.get(kind, 0) + 1
    source, destination = f"{work}/inbox/{name}", f"{work}/inbox/{kind}/{name}"
    await filesystem.move_file(source=source, destination=destination)
counts""",
    ),
)


def _reminder(name: str, due: str) -> str:
    return f"Dear {name},\n\nyou owe us {due} euros. Please pay within two weeks.\n\nYours, Ann\n"


REMINDERS = WholeTask(
    name="a letter to each customer",
    servers=("filesystem",),
    request="Write a reminder to each customer in {work}/customers.csv that owes more than 300, as"
    " {work}/letters/NAME.txt. Text: 'Dear NAME, (empty line) you owe us DUE euros. Please pay"
    " within two weeks. (empty line) Yours, Ann'. To whom did you write?",
    queries=("read text file", "create directory", "write file"),
    turns=(
        always(
            read("{work}/customers.csv"), ToolCall("create_directory", {"path": "{work}/letters"})
        ),
        lambda results: [
            write(f"{{work}}/letters/{name}.txt", _reminder(name, due))
            for name, _, due in _cells(results[0][0])
            if int(due) > 300
        ],
    ),
    answer=lambda results: [name for name, _, due in _cells(results[0][0]) if int(due) > 300],
    programs=(
        '(await filesystem.read_text_file(path="{work}/customers.csv", head=3))["content"]',
        """\
text = (await filesystem.read_text_file(path="{work}/customers.csv"))["content"]
await filesystem.create_directory(path="{work}/letters")
written = []
for line in text.strip().splitlines()[1:]:
    name, mail, due = line.split(",")
    if int(due) > 300:
        letter = f"Dear {name},\\n\\nyou owe us {due} euros. Please pay within two weeks."
        letter += "\\n\\nYours, Ann\\n"
        await filesystem.write_file(path=f"{work}/letters/{name}.txt", content=letter)
        written.append(name)
written""",
    ),
)

_BEST = (
    "SELECT c.name, c.city, SUM(o.total) AS total FROM customers c JOIN orders o ON"
    " o.customer_id = c.id GROUP BY c.id ORDER BY total DESC LIMIT 10"
)


def _best(results: Results) -> str:
    lines = [f"{row['name']},{row['city']},{row['total']}" for row in rows(results[2][0])]
    return "\n".join(["name,city,total", *lines])


QUERY = WholeTask(
    name="query a database, save the answer",
    servers=("sqlite", "filesystem"),
    request="Who are our ten best customers by the sum of their orders? Save name, city and total"
    " as {work}/best.csv, and tell me the first. The database knows.",
    queries=("list database tables", "describe table", "run select query", "write file"),
    turns=(
        always(ToolCall("list_tables", {})),
        always(*(ToolCall("describe_table", {"table_name": t}) for t in ("customers", "orders"))),
        always(query(_BEST)),
        lambda results: [write("{work}/best.csv", _best(results))],
    ),
    answer=lambda results: _best(results).splitlines()[1],
    programs=(
        "await sqlite.list_tables()",
        """\
for table in ["customers", "orders"]:
    print(await sqlite.describe_table(table_name=table))""",
        f"""\
import json
found = await sqlite.read_query(query="{_BEST}")
rows = json.loads(found.replace("'", '"'))
lines = [f"{{row['name']}},{{row['city']}},{{row['total']}}" for row in rows]
text = "\\n".join(["name,city,total", *lines])
await filesystem.write_file(path="{{work}}/best.csv", content=text)
lines[0]""",
    ),
)


COUNT = WholeTask(
    name="one query",
    servers=("sqlite",),
    request="How many orders are above 1000? The table orders has a column total.",
    queries=("run select query",),
    turns=(always(query("SELECT COUNT(*) AS n FROM orders WHERE total > 1000")),),
    answer=lambda results: results[0][0],
    programs=(
        'await sqlite.read_query(query="SELECT COUNT(*) AS n FROM orders WHERE total > 1000")',
    ),
)

FILE_TASKS = (TOTALS, TODOS, INBOX, REMINDERS, QUERY, COUNT)

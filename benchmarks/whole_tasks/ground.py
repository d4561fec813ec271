"""What the tasks are about: files, a repository, a database, a graph, pages of the web.

Everything is made up and the same in every run, so that each way to do a task finds the same.
"""

import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from threading import Thread

from benchmarks.playground import NOBODY

SHOWN_FOLDER, SHOWN_SITE = "/home/ann/work", "http://intranet.example"
"""What stands for the folder and the site where tokens are counted: theirs differ in every run."""
REGIONS = ("north", "south", "west")
PRODUCTS = ("chair", "desk", "lamp", "shelf", "sofa", "stool", "table", "wardrobe")
COMMITTED = ("app/billing.py", "app/mail.py", "app/users.py", "README.md")
KINDS = {"pdf": 7, "jpg": 8, "csv": 5, "txt": 4}
FIRST_COMMIT_S = 1_760_000_000
DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class Ground:
    """A folder, and the address of a site."""

    folder: Path
    site: str

    def filled(self, text: str) -> str:
        """The text with the folder and the site that it means."""
        return text.replace("{work}", str(self.folder)).replace("{site}", self.site)

    def shown(self, text: str) -> str:
        """The text as it is counted."""
        return text.replace(str(self.folder), SHOWN_FOLDER).replace(self.site, SHOWN_SITE)

    def make(self) -> None:
        """Make everything in the folder, anew."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        chance = Random(1)
        _write_files(self.folder, chance)
        _write_database(self.folder / "shop.db", chance)
        _write_graph(self.folder / "memory.json")
        _make_repository(self.folder / "repo", chance)

    def left(self) -> Mapping[str, str]:
        """What is there now, by path; a database by its statements."""
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        return {
            str(path.relative_to(self.folder)): _text(path)
            for path in sorted(files)
            if ".git" not in path.parts
        }


def _text(path: Path) -> str:
    if path.suffix != ".db":
        return path.read_text(encoding="utf-8")
    with closing(sqlite3.connect(path)) as database:
        return "\n".join(database.iterdump())


def _write_files(folder: Path, chance: Random) -> None:
    texts = {f"sales/{region}.csv": _sales(chance) for region in REGIONS}
    texts |= {f"src/{name}.py": _module(name, chance) for name in PRODUCTS}
    texts |= {"notes/kickoff.md": KICKOFF, "customers.csv": _customers()}
    for kind, number in KINDS.items():
        texts |= {f"inbox/scan-{place:02}.{kind}": f"{kind} {place}\n" for place in range(number)}
    for name, text in texts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def _sales(chance: Random) -> str:
    rows = [
        f"2026-{1 + number % 12:02}-{1 + number % 28:02},{chance.choice(PRODUCTS)},"
        f"{chance.randint(1, 40)},{chance.randint(20, 900)}"
        for number in range(120)
    ]
    return "\n".join(["date,product,units,price", *rows, ""])


def _customers() -> str:
    people = ("Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana", "Ivo", "Jo")
    rows = [f"{name},{name.lower()}@example.org,{60 * n}" for n, name in enumerate(people, 1)]
    return "\n".join(["name,mail,due", *rows, ""])


def _module(name: str, chance: Random) -> str:
    lines = [f'"""Everything about a {name}."""', "", "import logging", ""]
    for number in range(14):
        lines += ["", f"def {name}_step_{number}(order: dict, count: int = {number}) -> dict:"]
        lines += [f'    """Do step {number} for an order of a {name}."""']
        if chance.random() < 0.2:
            lines += [f"    # TODO: check the {chance.choice(PRODUCTS)} of step {number}"]
        lines += [f'    logging.info("{name} %s", order["id"])']
        lines += [f'    return {{**order, "step": {number}, "count": count}}', ""]
    return "\n".join(lines)


KICKOFF = """\
# Kick-off, 3 November

We met at the Hamburg office. Maria Lopez leads the project and reports to Tom Becker, who joined
by phone from Lyon. The data work is done by Aiko Tanaka; she knows the old warehouse better than
anyone else and has asked for two weeks to write down what is in it. Sam Okafor builds the web
pages. He is new, and Aiko will show him around. For the contracts we need Petra Novak, who was not
there: Tom calls her on Monday.

We agreed to begin with the returns desk, since that is where customers wait longest. Maria wants a
first version before Christmas. Sam doubts that, and would rather leave the labels out. We did not
settle it. The printers are an old sore point: nobody has a contract for them, and Petra should look
at the one of 2022 again.

Next meeting on the 17th, by video. Tom brings the numbers of October.
"""


def _write_database(file: Path, chance: Random) -> None:
    with closing(sqlite3.connect(file)) as database, database:
        database.executescript(
            "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT);"
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, product TEXT,"
            " total INTEGER, placed TEXT);"
            "CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT, price INTEGER);"
        )
        cities = ("Berlin", "Lyon", "Porto", "Graz")
        customers = [(n, f"customer {n}", chance.choice(cities)) for n in range(1, 61)]
        orders = [
            (n, chance.randint(1, 60), chance.choice(PRODUCTS), chance.randint(20, 2000))
            for n in range(1, 301)
        ]
        database.executemany("INSERT INTO customers VALUES (?, ?, ?)", customers)
        database.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, '2026-10-01')", orders)
        products = [(number, name, 0) for number, name in enumerate(PRODUCTS, 1)]
        database.executemany("INSERT INTO products VALUES (?, ?, ?)", products)


def _write_graph(file: Path) -> None:
    """As the memory server keeps it: one JSON object a line."""
    people = [f"person {number}" for number in range(40)]
    entities = [
        {"type": "entity", "name": name, "entityType": "person", "observations": [f"is no. {n}"]}
        for n, name in enumerate(people)
    ]
    relations = [
        {
            "type": "relation",
            "from": name,
            "to": f"project {n % 5}",
            "relationType": "leads" if n % 8 == 0 else "works on",
        }
        for n, name in enumerate(people)
    ]
    file.write_text("\n".join(map(json.dumps, [*entities, *relations])), encoding="utf-8")


def _make_repository(folder: Path, chance: Random) -> None:
    """Fourteen commits, one a day, each on one or two of four files."""
    (folder / "app").mkdir(parents=True)
    _git(folder, 0, "init", "-q", "-b", "main")
    for number in range(14):
        touched = chance.sample(COMMITTED, chance.randint(1, 2))
        for name in touched:
            with (folder / name).open("a", encoding="utf-8") as file:
                file.writelines(f"{name} {number}: line {line}\n" for line in range(20))
        kind = chance.choice(("feat", "fix", "docs"))
        _git(folder, number, "add", ".")
        about = f"{kind}: step {number} of {' and '.join(touched)}"
        _git(folder, number, "commit", "-q", "-m", about)


def _git(folder: Path, day: int, *words: str) -> None:
    date = f"{FIRST_COMMIT_S + day * DAY_S} +0000"
    dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    command = ["git", "-C", str(folder), *NOBODY, *words]
    subprocess.run(command, check=True, env={**os.environ, **dates})  # noqa: S603 - a folder of ours


class _Shop(BaseHTTPRequestHandler):
    """A page for each product, with what shops write around a price."""

    def do_GET(self) -> None:
        name = self.path.rpartition("/")[2]
        found = name in PRODUCTS
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(_product_page(name).encode() if found else b"")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - theirs
        """Say nothing."""


def _product_page(name: str) -> str:
    place = PRODUCTS.index(name)
    reviews = "".join(
        f"<h3>{3 + number % 3} of 5 stars</h3><p>Bought this {name} for room {number}. It came in"
        f" {number + 2} days, in one piece, and looks just as it does in the pictures.</p>"
        for number in range(12)
    )
    return (
        f"<html><head><title>{name}</title></head><body><article><h1>The {name}</h1>"
        f"<p>Our {name} is made of oak from forests nearby, and is put together without a tool.</p>"
        f"<p>Price: {40 + 17 * (place * 5 % 8)} euros</p><h2>Reviews</h2>{reviews}"
        "</article></body></html>"
    )


class _Site(ThreadingHTTPServer):
    request_queue_size = 64  # as many clients as tasks have at once; the default is five


@contextmanager
def shop() -> Generator[str]:
    """The address of a site on this machine."""
    with _Site(("127.0.0.1", 0), _Shop) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()

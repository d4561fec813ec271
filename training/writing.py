"""A language model invents tools and writes requests, in every kind that people and agents type.

    python -m training.writing TEXTS MODEL.gguf OUT --seconds 200

It goes on with pages: some tools with requests that we wrote, then a tool alone. OUT gets what
TEXTS had and what was written, a kind beginning with `made_`. What it writes is not looked at
again: the teacher says where each text belongs, and a bad one is a text, too.
"""

import argparse
import itertools
import random
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from tokenizers import Tokenizer

from training import language_model
from training.gguf import Gguf
from training.language_model import LanguageModel, chunks, ending, numbers
from training.requests import FOLDER, Asked
from training.texts import Texts, Tool, described, load, write

ROWS = 1536
EXAMPLES, TASK_EXAMPLES, SERVERS = 3, 5, 3
"""How many tools, tasks, and servers with their tools stand before what is to be written."""
TOOL_MOST = 72
"""So many pieces of a tool are read."""
KINDS = ("short", "plain", "hint", "zh", "hint_zh")
TASK = "task"
WAYS = ("agent", "spoken", "hurried", "mixed", "long", "situation")
INVENTED = 0.12
"""The share of the time in which tools are invented."""
SHORTEST, LONGEST = 4, 260
_LINE = re.compile(r"^\s*(?:[-*\d.)]+\s*)?([a-z_]+):\s*[\"“]?(.*?)[\"”]?\s*$")
_TOOL = re.compile(r"^\s*- ([\w ./-]{3,60}?): (.{12,400}?)(?: \(([\w, ]*)\))?\s*$")
_TALKS = re.compile(r"\b(the user|this tool|the tool|tool:|as an ai)\b", re.IGNORECASE)


class Page(NamedTuple):
    """What to go on with: the beginning of all rows, their own ends, and what to make of each."""

    before: str
    rows: Sequence[str]
    of: Sequence[Sequence[int]]
    first: str


class Writer:
    """The model, and how long it writes."""

    def __init__(self, model: LanguageModel, cut: Tokenizer) -> None:
        self._model, self._cut = model, cut
        self._ends = ending(cut, lambda text: "\n\n" in text)

    def write(self, page: Page, most: int, heat: float) -> Iterator[tuple[Sequence[int], str]]:
        before = numbers(self._cut, [page.before], 2000)[0]
        rows = numbers(self._cut, page.rows, 4 * TOOL_MOST)
        made = self._model.write(before, rows, most, self._ends, heat)
        texts = self._cut.decode_batch(made)
        yield from ((of, page.first + text) for of, text in zip(page.of, texts, strict=True))


def shortened(text: str, cut: Tokenizer) -> str:
    """The beginning of a description."""
    found = cut.encode(text, add_special_tokens=False)
    return text if len(found.ids) <= TOOL_MOST else text[: found.offsets[TOOL_MOST - 1][1]]


class Pages:
    """Pages of each sort, with other examples every time."""

    def __init__(self, texts: Texts, samples: Sequence[Sequence[str]], cut: Tokenizer) -> None:
        self.tools = [shortened(described(tool), cut) for tool in texts.tools]
        self._owner = [tool.server for tool in texts.tools]
        self._servers: dict[str, list[int]] = {}
        for number, server in enumerate(self._owner):
            self._servers.setdefault(server, []).append(number)
        self._kinds = _examples(texts.asked)
        self._ways = [*_samples(samples)]
        self._tasks = _tasks(texts.asked)

    def kinds(self, places: Sequence[int], chance: random.Random) -> Page:
        """The kinds that we wrote most of."""
        some = chance.sample(sorted(self._kinds), min(EXAMPLES, len(self._kinds)))
        before = "".join(_sheet(self.tools[n], self._kinds[n], KINDS) for n in some)
        return self._page(before, places, KINDS[0])

    def ways(self, places: Sequence[int], chance: random.Random) -> Page:
        """Other ways to ask, in an order of their own on each page."""
        some = chance.sample(self._ways, min(EXAMPLES, len(self._ways)))
        order = chance.sample(WAYS, len(WAYS))
        before = "".join(_sheet(tool, said, order) for tool, said in some)
        return self._page(before, places, order[0])

    def _page(self, before: str, places: Sequence[int], first: str) -> Page:
        rows = [f"Tool: {self.tools[n]}\n{first}:" for n in places]
        return Page(before, rows, [(n,) for n in places], f"{first}:")

    def tasks(self, places: Sequence[int], chance: random.Random) -> Page:
        """Two or three tools, of one server or of several, for one request."""
        every = chance.choice(self._tasks)
        some = chance.sample(every, min(TASK_EXAMPLES, len(every)))
        before = "".join(f"{self._several(each.tools)}task: {each.text}\n\n" for each in some)
        of = [self._with_others(n, chance) for n in places]
        return Page(before, [f"{self._several(each)}task:" for each in of], of, "task:")

    def _with_others(self, number: int, chance: random.Random) -> Sequence[int]:
        count, near = chance.choice((1, 1, 2)), self._servers[self._owner[number]]
        among = near if len(near) > count and chance.random() < 0.6 else range(len(self.tools))
        return (number, *(n for n in chance.sample(among, count) if n != number))

    def _several(self, places: Sequence[int]) -> str:
        return "".join(f"Tool: {self.tools[n]}\n" for n in places)

    def servers(self, topics: Sequence[str], chance: random.Random) -> Page:
        """Servers of these names with a few tools each."""
        large = [found for server, found in self._servers.items() if server and len(found) > 2]
        some = chance.sample(large, min(SERVERS, len(large)))
        before = "".join(self._server(chance.sample(each, min(5, len(each)))) for each in some)
        rows = [f"Server: {topic}\n-" for topic in topics]
        return Page(before, rows, [()] * len(rows), "-")

    def _server(self, places: Sequence[int]) -> str:
        told = [self.tools[n].rpartition(" | ")[2] for n in places]
        return "".join([f"Server: {self._owner[places[0]]}\n", *(f"- {t}\n" for t in told), "\n"])


def _examples(asked: Iterable[Asked]) -> Mapping[int, Mapping[str, str]]:
    """The tools that have a request of each of the kinds, and one of each."""
    found: dict[int, dict[str, str]] = {}
    for kind, tools, text in asked:
        if kind in KINDS and len(tools) == 1:
            found.setdefault(tools[0], {})[kind] = text
    return {tool: said for tool, said in found.items() if len(said) == len(KINDS)}


def _samples(rows: Iterable[Sequence[str]]) -> Iterator[tuple[str, Mapping[str, str]]]:
    tool, said = "", {}
    for kind, *cells in rows:
        if kind == "tool":
            tool, said = described(Tool(*cells, "")), {}
        else:
            said[kind] = cells[0]
            if len(said) == len(WAYS):
                yield tool, said


def _tasks(asked: Iterable[Asked]) -> Sequence[Sequence[Asked]]:
    """Requests for two or three tools, the English ones and the others, where there are any."""
    every = [each for each in asked if each.kind in {"multi", "task"} and len(each.tools) <= 3]
    own = [each for each in every if each.kind == "multi"] or every
    return [
        found for latin in (True, False) if (found := [e for e in own if e.text.isascii() == latin])
    ]


def _sheet(tool: str, said: Mapping[str, str], order: Sequence[str]) -> str:
    lines = [f"{kind}: {said[kind]}\n" for kind in order]
    return "".join([f"Tool: {tool}\n", *lines, "\n"])


def said(of: Sequence[int], text: str) -> Iterator[Asked]:
    """The requests on a page; what is no line of a known kind is left out."""
    for line in text.strip().split("\n"):
        match = _LINE.match(line)
        if not match or match[1] not in {*KINDS, *WAYS, TASK} or _TALKS.search(match[2]):
            continue
        if SHORTEST <= len(match[2]) <= LONGEST:
            yield Asked(f"made_{match[1]}", of, " ".join(match[2].split()))


def tools_on(topic: str, text: str) -> Iterator[Tool]:
    """The tools on a page of a server."""
    for line in text.strip().split("\n"):
        match = _TOOL.match(line)
        if match:
            name = "_".join(match[1].split())
            yield Tool(topic, name, match[2], " ".join((match[3] or "").replace(",", " ").split()))


def invented(pages: Pages, writer: Writer, topics: Sequence[str], until: float) -> list[Tool]:
    """Tools for the topics, each name once a topic."""
    chance, found = random.Random(1), {}
    rows = [*topics]
    while time.time() < until:
        chance.shuffle(rows)
        for part in chunks(len(rows), ROWS):
            page = pages.servers(rows[part], chance)
            for topic, (_, text) in zip(rows[part], writer.write(page, 200, 1.15), strict=True):
                for tool in tools_on(topic, text):
                    found.setdefault((topic, tool.name.lower()), tool)
            say(f"{len(found)} tools invented")
            if time.time() > until:
                break
    return [*found.values()]


def requested(
    pages: Pages, writer: Writer, first: int, until: float, rows: int
) -> Iterator[Sequence[Asked]]:
    """Requests for all tools until the time is up; for those from `first` on half as many."""
    chance = random.Random(2)
    sorts: Sequence[Callable[[Sequence[int], random.Random], Page]]
    sorts = (pages.kinds, pages.ways, pages.ways, pages.kinds, pages.tasks)
    queues = [_endless(len(pages.tools), first, number) for number in range(len(sorts))]
    for sort, queue in itertools.cycle(zip(sorts, queues, strict=True)):
        if time.time() > until:
            return
        page = sort([*itertools.islice(queue, rows)], chance)
        most = 60 if sort == pages.tasks else 150
        made = [asked for of, text in writer.write(page, most, 0.9) for asked in said(of, text)]
        yield made


def _endless(count: int, first: int, seed: int) -> Iterator[int]:
    chance = random.Random(seed)
    while True:
        some = [*range(first), *chance.sample(range(first, count), (count - first) // 2)]
        yield from chance.sample(some, len(some))


def say(text: str) -> None:
    print(f"[writing {time.strftime('%H:%M:%S')}] {text}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.writing", description=__doc__)
    parser.add_argument("texts", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, default=200)
    parser.add_argument("--rows", type=int, default=ROWS, help="written at a time")
    parser.add_argument("--topics", type=int, help="at most so many")
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    texts, file = load(args.texts), Gguf(args.model)
    cut, model = language_model.tokenizer(file), language_model.loaded(file, device)
    writer = Writer(model.bfloat16().eval(), cut)
    say("ready")
    started = time.time()
    samples = [line.split("\t") for line in _lines("samples.tsv")]
    topics = _lines("topics.txt")[: args.topics] * 2
    pages = Pages(texts, samples, cut)
    more = invented(pages, writer, topics, started + INVENTED * args.seconds)
    whole = Texts([*texts.tools, *more], texts.asked)
    pages, made = Pages(whole, samples, cut), {}
    known = {each.text.lower() for each in texts.asked}
    for batch in requested(pages, writer, len(texts.tools), started + args.seconds, args.rows):
        made |= {each.text.lower(): each for each in batch if each.text.lower() not in known}
        say(f"{len(made)} requests; {batch[:1]}")
    write(Texts(whole.tools, [*whole.asked, *made.values()]), args.out)
    say(f"{len(more)} tools, {len(made)} requests")


def _lines(name: str) -> list[str]:
    return (FOLDER / name).read_text("utf-8").splitlines()


if __name__ == "__main__":
    main()

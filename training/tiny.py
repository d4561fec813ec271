"""A model of made-up text, to see in a minute on a CPU that the way to the real one is passable.

What the real one fetches is written here, where fetching leaves it: two packages with
translations, a teacher that knows nothing, a table of characters. So are the sets. The text is
put together from our own lists.
"""

import json
import random
import re
from collections.abc import Iterable, Mapping
from itertools import islice, product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from training import own_text, requests
from training.arguments import POOL
from training.corpus import Ours
from training.fetch import CHARACTERS, TEACHER, Package
from training.recipe import Recipe
from training.teacher import LAYERS, PARTS

NPM = Package("npm", "tiny", "0", "Apache-2.0", "tiny")
PYPI = Package("pypi", "tiny", "0", "Apache-2.0", "tiny-pypi")
WIDTH, INNER, POSITIONS = 384, 1536, 128
WRITTEN, FUNCTION_LINES, NONE = 4, 12, 8
"""How many tools have written requests; how much there is of our own functions, and for no tool."""
TOOLS, LABELLED, ASKED = 90, 75, 5
"""How many tools there are (training looks at the 84 nearest of each); how many of them have
queries; how many a set is measured on."""

SAVED: Mapping[str, str] = {
    "en": "Save the file",
    "zh-CN": "保存文件",
    "zh-TW": "儲存檔案",
    "ja": "ファイルを保存",
    "ko": "파일 저장",
    "ru": "Сохранить файл",
    "de": "Datei speichern",
    "fr": "Enregistrer le fichier",
    "es": "Guardar el archivo",
    "pt": "Salvar o arquivo",
    "it": "Salva il documento",
}


def recipe() -> Recipe:
    """Two packages, few requests, a few small steps."""
    own = _own()
    plan = "--layers 2 --steps-a 4 --batch-a 16 --steps-b 3 --batch-b 16".split()
    plans = {"one": plan, "other": [*plan, "--seed", "2"]}
    fits = {"fit-1": "--steps 2 --batch 8 --keep-batch 8 --unfit 8 --part 0.1".split()}
    return Recipe([NPM, PYPI], Ours(own, 20, _written(own)), plans, fits)


def write(work: Path) -> Path:
    """All that fetching would leave in the folder, and the sets; the folder of these."""
    own = _own()
    _write_translations(NPM.place(work), PYPI.place(work), own)
    _write_teacher(TEACHER.place(work), own)
    _write(CHARACTERS.place(work) / "TSCharacters.txt", ["檔\t档", "電\t电", "腦\t脑", "載\t载"])
    _write_sets(work / "sets", own)
    return work / "sets"


def _own() -> own_text.Own:
    """A few of every list."""
    whole = own_text.load()
    return whole._replace(
        actions=whole.actions[:6],
        things=whole.things[:15],
        forms=whole.forms[:6],
        scenes=whole.scenes[-4:],
    )


def _written(own: own_text.Own) -> requests.Written:
    """A request of every kind for some tools without queries, and the beginnings of the rest."""
    whole = requests.load()
    asked = [
        (str(tool["id"]), kind, f"{kind} {tool['name']}")
        for tool in islice(_tools(own), LABELLED, LABELLED + WRITTEN)
        for kind in requests.SOURCES
    ]
    return requests.Written(asked, whole.functions[:FUNCTION_LINES], whole.none[:NONE])


def _write_translations(npm: Path, pypi: Path, own: own_text.Own) -> None:
    for language, text in SAVED.items():
        _write(npm / f"i18n/{language}.json", [json.dumps({"save": text})])
    entries = [f'msgid "{english}"\nmsgstr "{chinese}"\n' for english, chinese in own.things]
    _write(pypi / "locale/zh_CN/LC_MESSAGES/things.po", entries)


def _write_teacher(folder: Path, own: own_text.Own) -> None:
    """BERT's shape and names with weights of chance, and a vocabulary of our English words."""
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    said = [english for english, _ in own_text.requests(own, 500, random.Random(1))]
    words = {word for text in said for word in re.findall("[a-z]{2,}", text.lower())}
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters]
    pieces += [f"##{letter}" for letter in letters] + sorted(words)
    _write(folder / "vocab.txt", pieces)
    save_file(_weights(len(pieces)), folder / "model.safetensors")


def _weights(pieces: int) -> dict[str, NDArray[np.float32]]:
    chance = np.random.default_rng(1)

    def drawn(*shape: int) -> NDArray[np.float32]:
        return chance.normal(0, 0.05, shape).astype(np.float32)

    found = {
        "embeddings.word_embeddings.weight": drawn(pieces, WIDTH),
        "embeddings.position_embeddings.weight": drawn(POSITIONS, WIDTH),
        "embeddings.token_type_embeddings.weight": drawn(2, WIDTH),
        "embeddings.LayerNorm.weight": np.ones(WIDTH, np.float32),
        "embeddings.LayerNorm.bias": drawn(WIDTH),
    }
    heads = [f"attention.self.{part}" for part in ("query", "key", "value")]
    for number, part in product(range(LAYERS), [*heads, *PARTS.values()]):
        name = f"encoder.layer.{number}.{part}"
        to = INNER if part == PARTS["up"] else WIDTH
        of = INNER if part == PARTS["down"] else WIDTH
        norm = part.endswith("LayerNorm")
        found[f"{name}.weight"] = np.ones(WIDTH, np.float32) if norm else drawn(to, of)
        found[f"{name}.bias"] = drawn(to)
    return found


def _write_sets(sets: Path, own: own_text.Own) -> None:
    rows = list(islice(_tools(own), TOOLS))
    pool = sets / POOL
    _write_json(pool / "tools.jsonl", [{"source": "metatool", **row} for row in rows[:LABELLED]])
    asked = [{"source": "metatool", **_asked(row, "positive")} for row in rows[:LABELLED]]
    _write_json(pool / "pairs.jsonl", asked)
    _write_json(pool / "mcp_docs_unlabelled.jsonl", rows[LABELLED:])
    few = rows[:ASKED]  # so few that every one is among the first five: any model is worth keeping
    _write_json(sets / "few/catalog.jsonl", few)
    none = {"query": "good morning", "relevant": []}
    _write_json(sets / "few/queries.jsonl", [*(_asked(row, "relevant") for row in few), none])


def _tools(own: own_text.Own) -> Iterable[dict[str, object]]:
    """Every thing with one action after the other: "get_weather", "list_weather"."""
    for action, (thing, _) in product(own.actions, own.things):
        verb = action.english[0]
        name = f"{verb} {thing}".replace(" ", "_").replace("-", "_")
        parameters = {"type": "object", "properties": {"where": {"type": "string"}}}
        text = f"{verb.capitalize()} the {thing}."
        yield {"id": name, "name": name, "description": text, "parameters": parameters}


def _asked(tool: Mapping[str, object], right: str) -> dict[str, object]:
    return {"query": f"please {str(tool['name']).replace('_', ' ')}", right: [tool["id"]]}


def _write_json(file: Path, rows: Iterable[Mapping[str, object]]) -> None:
    _write(file, [json.dumps(row) for row in rows])


def _write(file: Path, lines: Iterable[str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

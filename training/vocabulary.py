"""Which pieces the model knows: BERT's that our text needs, and pieces of other languages."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import jieba
from tokenizers import Tokenizer as Trainable
from tokenizers.models import WordPiece
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.trainers import WordPieceTrainer

from toolcrib.embed.bundled.tokenizer import WordPieceTokenizer, folded
from training.parallel import Pair

SPECIAL = ("[PAD]", "[CLS]", "[SEP]")
ENGLISH = 16_000
CHINESE_WORDS = 5_000
JAPANESE, KOREAN = 900, 1_300
RUSSIAN, LATIN = 1_600, 2_600

_HAN = re.compile(r"[\u4e00-\u9fff]+")
_KANA = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]+")
_HANGUL = re.compile(r"[\uac00-\ud7af]+")


def choose(
    english: Sequence[str],
    pairs: Sequence[Pair],
    bert: Sequence[str],
    simplified: Mapping[str, str],
) -> list[str]:
    """All pieces in order: special ones, English, Chinese, Japanese, Korean, Russian, the rest."""
    texts = _by_language(pairs)
    chinese = [
        text.translate(str.maketrans(dict(simplified))) for text in texts["zh"] + texts["zht"]
    ]
    parts = [
        SPECIAL,
        _english(english + [p.english for p in pairs], bert),
        _chinese(chinese),
        _grams(texts["ja"], _KANA, JAPANESE),
        _grams(texts["ko"], _HANGUL, KOREAN),
        _trained(texts["ru"], RUSSIAN),
        _trained([t for lang in ("de", "fr", "es", "pt", "it") for t in texts[lang]], LATIN),
    ]
    return list(dict.fromkeys(piece for part in parts for piece in part))


def simplified_characters(folder: Path) -> dict[str, str]:
    """Traditional to simplified characters, from OpenCC's table; those that change alone."""
    file = next(folder.rglob("TSCharacters.txt"))
    rows = (line.split("\t") for line in file.read_text(encoding="utf-8").splitlines())
    table = {old: new.split()[0] for old, new in rows}
    return {old: new for old, new in table.items() if old != new and len(old) == len(new) == 1}


def _by_language(pairs: Iterable[Pair]) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {
        language: [] for language in ("zh", "zht", "ja", "ko", "ru", "de", "fr", "es", "pt", "it")
    }
    for pair in pairs:
        texts[pair.language].append(folded(pair.other))
    return texts


def _english(texts: Iterable[str], bert: Sequence[str]) -> list[str]:
    """BERT's pieces: letters and digits, then by use in our text, then in BERT's own order."""
    whole = WordPieceTokenizer(bert, {})
    used: Counter[int] = Counter()
    for text in texts:
        used.update(whole.numbers(text, most=256))
    latin = [n for n, piece in enumerate(bert) if re.fullmatch(r"(##)?[a-z0-9+%$@#]+", piece)]
    single = [n for n in latin if len(bert[n].removeprefix("##")) == 1]
    often = sorted((n for n in latin if used[n] > 1), key=lambda n: -used[n])
    rest = [n for n in latin if used[n] <= 1 and not bert[n].isdigit()]
    return [bert[n] for n in dict.fromkeys([*single, *often, *rest])][:ENGLISH]


def _chinese(texts: Sequence[str]) -> list[str]:
    words: Counter[str] = Counter()
    characters: Counter[str] = Counter()
    for text in texts:
        for run in _HAN.findall(text):
            characters.update(run)
            words.update(w for w in jieba.cut(run) if 1 < len(w) <= 4)
    often = [word for word, count in words.most_common(CHINESE_WORDS) if count >= 8]
    return [c for c, count in characters.most_common() if count > 1] + often


def _grams(texts: Iterable[str], run: re.Pattern[str], most: int) -> Iterator[str]:
    """Characters, and the most frequent stretches of two to six that begin or end a run."""
    characters: Counter[str] = Counter()
    grams: Counter[str] = Counter()
    for text in texts:
        for found in run.findall(text):
            characters.update(found)
            if 2 <= len(found) <= 6:
                grams[found] += 2
            grams.update(found[:n] for n in (2, 3, 4) if len(found) > n)
    yield from (c for c, count in characters.most_common(most) if count > 2)
    yield from (gram for gram, _ in grams.most_common(most))


def _trained(texts: Iterable[str], most: int) -> list[str]:
    """The most useful pieces, by name: the trainer has another order of equals in every run."""
    model = Trainable(WordPiece(unk_token="[UNK]"))
    model.pre_tokenizer = Whitespace()
    trainer = WordPieceTrainer(vocab_size=most + 400, min_frequency=5, show_progress=False)
    model.train_from_iterator(texts, trainer)
    pieces = sorted(model.get_vocab(), key=model.get_vocab().__getitem__)
    return sorted([p for p in pieces if re.fullmatch(r"(##)?[^\W_]+", p)][:most])

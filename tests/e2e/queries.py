"""Queries that nobody would ask: the same for the same seed."""

from collections.abc import Callable, Iterator
from random import Random

from tests.catalogs import CHINESE, NOUNS, VERBS

MEGABYTE = 1_000_000
MEGABYTE_EVERY = 250

OPERATORS = """
    AND OR NOT NEAR NEAR(a,b,2) name: {name description}: -name: ^read * read* "read "" ' ( ) + - ~
    bm25(x) MATCH rowid:1 'x'--  ;DROP 1=1 /* %s %_ \\ \\x00 $(id) ../.. <b> {{x}} ${x} #{x} =1+1
""".split()
CHARACTERS = [
    *"\0\x01\x07\x1b\x7f\x85\x9b\t\r\n\x0b\x0c",
    *"\ud800\udbff\udc00\udfff\udcff",  # halves of pairs
    *"\u202e\u2066\u2069\u200b\u200d\u200f\ufeff\u2028\u2029\u00ad",  # directions and widths
    *"\U000e0001\U000e0061\U000e007f",  # tags
    *"👩‍👩‍👧‍👦🇨🇭🏽️⃣😀",
    *"éÅß\u0130\u0131ſ\ufb01Ⅷ①㎏ﷺ\u0301\u0345",  # what folds to something else
    *"読む書く파일ไฟล์файл",
    *"·_-.:/,;!?\"'`“”「」，。；",
]
PATTERNS = """
    (a+)+$ (a|a)*b (.*)*x ((a{1,9}){1,9}){1,9} a{9999999} [ ( ) * ? + \\ \\1 (?=x) (?<!x)y (?P<x>
    (?i) [^ [z-a] \\p{Han} \\p{Nope} \\u{110000} ^ $ .* . | || a||b [[:alpha:]] \\Q \\bfile\\b {
""".split()


def queries(seed: int, count: int) -> Iterator[str]:
    """So many queries; one in a few hundred is a megabyte long."""
    chance = Random(seed)
    for number in range(count):
        query = chance.choice(MAKERS)(chance)
        yield _stretched(query) if number % MEGABYTE_EVERY == 0 else query


def _stretched(query: str) -> str:
    return (query or " ") * (MEGABYTE // max(len(query), 1))


def _word(chance: Random) -> str:
    return chance.choice(chance.choice((VERBS, NOUNS, CHINESE)))


def _words(chance: Random) -> str:
    return " ".join(_word(chance) for _ in range(chance.randint(1, 8)))


def _operators(chance: Random) -> str:
    some = [chance.choice((_word(chance), chance.choice(OPERATORS))) for _ in range(6)]
    return chance.choice(("", " ")).join(some)


def _characters(chance: Random) -> str:
    return "".join(chance.choices(CHARACTERS, k=chance.randint(1, 20)))


def _mixed(chance: Random) -> str:
    parts = [chance.choice((_word(chance), chance.choice(CHARACTERS))) for _ in range(9)]
    return "".join(parts)


def _any_characters(chance: Random) -> str:
    return "".join(chr(chance.randrange(0x110000)) for _ in range(chance.randint(1, 12)))


def _select(chance: Random) -> str:
    names = [
        chance.choice((f"tool_{chance.randrange(250)}", _mixed(chance), ""))
        for _ in range(chance.choice((0, 1, 3, 6)))
    ]
    return chance.choice(("select:", "SELECT :", " select: ")) + ",".join(names)


def _required(chance: Random) -> str:
    some = [
        chance.choice(("+", "+", "")) + chance.choice((_word, _mixed))(chance) for _ in range(4)
    ]
    return " ".join(some)


def _pattern(chance: Random) -> str:
    return f"/{chance.choice(PATTERNS)}{chance.choice(('', _word(chance), _characters(chance)))}/"


def _long_word(chance: Random) -> str:
    return chance.choice((_word(chance), chance.choice(CHARACTERS))) * chance.choice(
        (9, 50, 500, 3000)
    )


def _nested(chance: Random) -> str:
    return chance.choice("([{\"'`*-+/“「") * chance.choice((1, 9, 900)) + _word(chance)


def _blank(chance: Random) -> str:
    return chance.choice(["", " ", "\u3000", "\n" * 99, "select:", "//", "/ /", "+", "``", '""'])


def _misspelt(chance: Random) -> str:
    letters = list(f"tool_{chance.randrange(250)}")
    letters[chance.randrange(len(letters))] = chance.choice(CHARACTERS)
    return "".join(letters)


MAKERS: tuple[Callable[[Random], str], ...] = (
    _words,
    _operators,
    _characters,
    _mixed,
    _any_characters,
    _select,
    _required,
    _pattern,
    _long_word,
    _nested,
    _blank,
    _misspelt,
)

"""A request in plain words for a tool, made from what the tool says of itself.

It is a guess for a person to correct. It takes the first sentence of the description, leaves out
what only documentation says, and puts the verb into a word that people use: a request that repeats
the tool's own words would only measure that equal words find each other.
"""

import re
from collections.abc import Sequence
from hashlib import blake2b

from toolcrib.model import Capability, Entry
from toolcrib.text import detect_language, is_unspaced, without_hidden, words

MOST_WORDS = 12
FEWEST_WORDS = 4
LONGEST_CHINESE = 24
LONGEST_READ = 2_000
"""Characters of a description that are looked at."""

PLAIN_VERBS = {
    "show me": "get list retrieve fetch return obtain read view display show describe",
    "look for": "search find query locate discover",
    "make": "create generate build produce",
    "put in": "add insert append",
    "change": "update modify edit set alter adjust",
    "get rid of": "delete remove drop erase clear destroy",
    "start": "run execute launch trigger invoke",
    "end": "stop terminate kill abort",
    "double-check": "verify validate",
    "have a look at": "analyze analyse inspect check examine review",
    "work out": "calculate compute estimate determine count",
    "turn": "convert transform",
    "send": "submit post deliver",
    "keep": "save store write record",
    "bring over": "import download upload copy export",
    "set side by side": "compare diff",
}
_PLAIN = {verb: plain for plain, verbs in PLAIN_VERBS.items() for verb in verbs.split()}
MANNERS = ("{}", "can you {}?", "I want to {}", "please {}", "{}, please", "I need to {}")
ME_MANNERS = ("{}", "can you {}?", "please {}", "{}, please")
"""For a verb that says "me" already: nobody wants to show me something."""
NO_VERB_MANNERS = ("I need help with {}", "what about {}?", "help me with {}")

_MARKUP = re.compile(
    r"`{3}.*?(?:`{3}|\Z)|https?://\S+|<[^<>]*>|\([^()]*\)|\[[^\[\]]*\]|[*_#`]", re.DOTALL
)
_SENTENCE_END = re.compile(r"(?<=[\w)])[.!?:;](?:\s|$)|[。！？；]|\n|\s[-–—]\s")
_PREAMBLE = re.compile(
    r"\W*(?:(?:this|the|a|an)\s+)?(?:(?:tool|function|endpoint|api|command|method|utility)\b\s*)?"
    r"(?:(?:that|which|is|can be|may be|should be|will be|be)\s+)*(?:used\s+)?"
    r"(?:(?:use|call)\s+(?:this|it)(?:\s+(?:tool|function))?\s+)?"
    r"(?:(?:allows?|lets?|enables?|helps?)\s+(?:you|users?|the\s+(?:user|agent|model)|agents?)\s+)?"
    r"(?:when\s+you\s+(?:want|need)\s+)?(?:(?:to|for|will|can)\s+)?",
    re.IGNORECASE,
)
_TECHNICAL = re.compile(
    r"\b(?:specified|given|provided|existing|specific|certain|various|particular|"
    r"corresponding|optionally|asynchronously)\s+",
    re.IGNORECASE,
)
_DETAIL = re.compile(
    r",|;|\s(?:by|using|via|based on|including|such as|which|that|where|within|so that|"
    r"and returns?|with (?:the|optional|support|full))\s",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"\ban? (?=(\w))", re.IGNORECASE)
_YOUR = re.compile(r"\byour\b", re.IGNORECASE)
_HANGING = frozenset("a an the of for to in into on back from with and or".split())
_CHINESE_PREAMBLE = re.compile(
    r"(?:该|此|本|这个)?(?:工具|接口|函数|功能)?(?:可以|能够|可)?(?:用于|用来)?"
)
_CHINESE_DETAIL = re.compile(r"[，,、；;（(:：]")


def plain_request(entry: Entry) -> str:
    """What somebody might ask that this one is for; never empty, on one line.

    Equal for equal definitions.
    """
    name = " ".join(words(entry.bare)) or entry.bare
    text = _first_sentence(entry.capability) or name
    if detect_language(text) == "zh":
        asked = _CHINESE_DETAIL.split(_CHINESE_PREAMBLE.sub("", text, count=1))[0]
        return f"帮我{(asked or text)[:LONGEST_CHINESE]}"
    verb, rest = _parts(text) if _parts(text)[0] else _parts(name)
    manners = _manners(verb, name)
    asked = " ".join([*_plain_verb(verb, rest), *rest])
    return manners[_draw(entry) % len(manners)].format(asked)


def _plain_verb(verb: str, rest: Sequence[str]) -> Sequence[str]:
    """The verb as people say it; its last word may follow already ("Search for notes")."""
    plain = _PLAIN.get(verb, verb).split()
    return plain[:-1] if rest and len(plain) > 1 and plain[-1] == rest[0].lower() else plain


def _first_sentence(capability: Capability) -> str:
    """The first sentence of the description, or else the title, without markup."""
    for text in (capability.description, capability.title):
        clean = _MARKUP.sub(" ", without_hidden(text[:LONGEST_READ]))
        for sentence in (" ".join(each.split()) for each in _SENTENCE_END.split(clean)):
            if len(words(sentence)) > 1 or any(map(is_unspaced, words(sentence))):
                return sentence
    return ""


def _parts(sentence: str) -> tuple[str, Sequence[str]]:
    """The verb of a sentence without its ending, and what follows, without the details."""
    plain = _TECHNICAL.sub("", _PREAMBLE.sub("", sentence, count=1))
    plain = _ARTICLE.sub(lambda found: "an " if found[1] in "aeiouAEIO" else "a ", plain)
    plain = _YOUR.sub("my", plain)
    starts = (plain[: found.start()] for found in _DETAIL.finditer(plain))
    short = next((each for each in starts if len(each.split()) >= FEWEST_WORDS), plain)
    some = [each.strip(".,:;!?-'\"") for each in short.split()[:MOST_WORDS]]
    while some and some[-1].lower() in _HANGING:
        some.pop()
    first, *rest = list(filter(None, some)) or [""]
    return _base_verb(first.lower()), rest


def _base_verb(word: str) -> str:
    """The word without the ending of a verb, if it is a verb that we know by then."""
    bases = [word.removesuffix(ending) for ending in ("", "s", "es", "ing", "d", "ed")]
    bases += [f"{word.removesuffix('ing')}e", f"{word.removesuffix('ies')}y"]
    bases += [word.removesuffix("ing")[:-1]]
    third = word[:-1] if word.endswith("s") and not word.endswith("ss") else word
    return next((base for base in bases if base in _PLAIN), third)


def _manners(verb: str, name: str) -> Sequence[str]:
    """How somebody may begin; what is no verb as far as we know needs one of ours."""
    if _PLAIN.get(verb) == "show me":
        return ME_MANNERS
    return MANNERS if verb in _PLAIN or verb in words(name) else NO_VERB_MANNERS


def _draw(entry: Entry) -> int:
    """A number that stays the same for a name, so that two runs write the same requests."""
    digest = blake2b(entry.name.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest)

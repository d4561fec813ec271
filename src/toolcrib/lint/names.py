"""Rules about names."""

from collections.abc import Iterator

from toolcrib.lint.shelf import Shelf, Told
from toolcrib.text.words import words

GENERIC = frozenset(
    """
    action add answer apply ask call check close command compute convert create data delete do
    edit exec execute fetch file find generate get go handle help info input insert invoke item
    list load main make message new open output parse ping post process put query read remove
    request run save search send set show start status stop submit task test text tool update
    upload use value view work write
    """.split(),
)

# Written without vowels, and words all the same.
KNOWN = frozenset(
    """
    by css csv db dns fly gql grpc gtm html http https js json jwt kb kpi llm mcp md mr my npm pdf
    php png pr qr rpc rss s3 sdk sftp sky smb sms smtp sql ssh ssl svg tcp tls tld try tv txt vm
    vpn wcs ws xml xlsx yml crm cms cdn tts stt gpt gps gcp ltm ftp sns mfs dsp dsl
    """.split(),
)
LONGEST_WORD = 5


def generic_name(shelf: Shelf) -> Iterator[Told]:
    """Its name is one word that could be any tool's."""
    for entry in shelf.entries.values():
        if entry.bare.lower() in GENERIC:
            message = (
                f"is named {entry.bare!r}, which could be anything; add its object to the name"
            )
            yield Told(entry.name, message)


def abbreviated_name(shelf: Shelf) -> Iterator[Told]:
    """Its name has an abbreviation in it, and it has no `search_hint` to write it out."""
    for entry in shelf.entries.values():
        if entry.capability.kind == "tool" and not entry.capability.search_hint:
            short = [word for word in words(entry.bare) if _is_abbreviation(word)]
            known = set(words(entry.capability.description))
            if missing := [word for word in short if word not in known]:
                told = ", ".join(repr(word) for word in missing)
                yield Told(entry.name, f"has {told} in its name; write it out in a search_hint")


def renamed(shelf: Shelf) -> Iterator[Told]:
    """Models see another name than the one it has: too long, taken, or with illegal characters."""
    for name, entry in shelf.entries.items():
        if not name.endswith(entry.bare):
            message = f"is {entry.bare!r:.80} to its source; shorten that, or its server's id"
            yield Told(name, message)


def _is_abbreviation(word: str) -> bool:
    spelt = word.isascii() and word.isalpha() and 1 < len(word) <= LONGEST_WORD
    return spelt and word not in KNOWN and set("aeiouy").isdisjoint(word)

"""Rules about names, parameters and declared links.

Descriptions of parameters are searched, and models call by them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from toolcrib.lint.catalog import LintCatalog, LintRemark
from toolcrib.model import Json, ToolInfo
from toolcrib.text import nearest_names, words

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


def generic_name(shelf: LintCatalog) -> Iterator[LintRemark]:
    """Its name is one word that could be any tool's."""
    for entry in shelf.entries.values():
        if entry.bare.lower() in GENERIC:
            message = (
                f"is named {entry.bare!r}, which could be anything; add its object to the name"
            )
            yield LintRemark(entry.name, message)


def abbreviated_name(shelf: LintCatalog) -> Iterator[LintRemark]:
    """Its name has an abbreviation in it, and it has no `search_hint` to write it out."""
    for entry in shelf.entries.values():
        if entry.capability.kind == "tool" and not entry.capability.search_hint:
            short = [word for word in words(entry.bare) if _is_abbreviation(word)]
            known = set(words(entry.capability.description))
            if missing := [word for word in short if word not in known]:
                told = ", ".join(repr(word) for word in missing)
                yield LintRemark(
                    entry.name, f"has {told} in its name; write it out in a search_hint"
                )


def renamed(shelf: LintCatalog) -> Iterator[LintRemark]:
    """Models see another name than the one it has: too long, taken, or with illegal characters."""
    for name, entry in shelf.entries.items():
        if not name.endswith(entry.bare):
            message = f"is {entry.bare!r:.80} to its source; shorten that, or its server's id"
            yield LintRemark(name, message)


def _is_abbreviation(word: str) -> bool:
    spelt = word.isascii() and word.isalpha() and 1 < len(word) <= LONGEST_WORD
    return spelt and word not in KNOWN and set("aeiouy").isdisjoint(word)


# The rule about declared links.


def unknown_link(shelf: LintCatalog) -> Iterator[LintRemark]:
    """It says that it is often used with something that is not here, or is several things."""
    bare = Counter(entry.bare for entry in shelf.entries.values())
    for name, entry in shelf.entries.items():
        if entry.capability.kind == "tool":
            for link in entry.capability.often_with:
                if link not in shelf.entries and bare[link] != 1:
                    near = nearest_names(link, list(shelf.entries), limit=1)
                    maybe = f"; did you mean {near[0]}?" if near else ""
                    yield LintRemark(
                        name,
                        f"names {link!r} in often_with, and no one tool is called so{maybe}",
                    )


# The rule about parameters: their descriptions are searched, and models call by them.

MOST_NAMED = 5


def undocumented_parameter(shelf: LintCatalog) -> Iterator[LintRemark]:
    """Some of its parameters have no description."""
    for name, entry in shelf.entries.items():
        if isinstance(entry.capability, ToolInfo):
            bare = [key for key, each in _properties(entry.capability) if not _described(each)]
            if bare:
                more = f" and {len(bare) - MOST_NAMED} more" if len(bare) > MOST_NAMED else ""
                told = ", ".join(bare[:MOST_NAMED])
                yield LintRemark(
                    name, f"says nothing of its parameters {told}{more}; describe them"
                )


def _properties(tool: ToolInfo) -> Iterator[tuple[str, Json]]:
    properties = tool.parameters.get("properties")
    if isinstance(properties, Mapping):
        yield from properties.items()


def _described(schema: Json) -> bool:
    if not isinstance(schema, Mapping):
        return True
    said = schema.get("description")
    return "$ref" in schema or (isinstance(said, str) and bool(said.strip()))

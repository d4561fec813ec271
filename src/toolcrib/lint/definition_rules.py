"""Rules about names, parameters and declared links.

Descriptions of parameters are searched, and models call by them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from toolcrib.lint.catalog import LintCatalog, LintRemark
from toolcrib.model import Json, ToolInfo
from toolcrib.text import did_you_mean, words

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
NO_ABBREVIATIONS = frozenset(
    """
    by css csv db dns fly gql grpc gtm html http https js json jwt kb kpi llm mcp md mr my npm pdf
    php png pr qr rpc rss s3 sdk sftp sky smb sms smtp sql ssh ssl svg tcp tls tld try tv txt vm
    vpn wcs ws xml xlsx yml crm cms cdn tts stt gpt gps gcp ltm ftp sns mfs dsp dsl
    """.split(),
)
LONGEST_WORD = 5
MOST_NAMED = 5
"""Of parameters without a description, in one message."""


def generic_name(catalog: LintCatalog) -> Iterator[LintRemark]:
    """Its name is one word that could be any tool's."""
    for entry in catalog.entries.values():
        if entry.bare.lower() in GENERIC:
            message = (
                f"is named {entry.bare!r}, which could be anything; add its object to the name"
            )
            yield LintRemark(entry.name, message)


def abbreviated_name(catalog: LintCatalog) -> Iterator[LintRemark]:
    """Its name has an abbreviation in it, and it has no `search_hint` to write it out."""
    for entry in catalog.entries.values():
        if entry.kind == "tool" and not entry.capability.search_hint:
            short = [word for word in words(entry.bare) if _is_abbreviation(word)]
            described = set(words(entry.description))
            if missing := [repr(word) for word in short if word not in described]:
                message = f"has {', '.join(missing)} in its name; write it out in a search_hint"
                yield LintRemark(entry.name, message)


def renamed(catalog: LintCatalog) -> Iterator[LintRemark]:
    """Models see another name than the one it has: too long, taken, or with illegal characters."""
    for name, entry in catalog.entries.items():
        if not name.endswith(entry.bare):
            message = f"is {entry.bare!r:.80} to its source; shorten that, or its server's id"
            yield LintRemark(name, message)


def unknown_link(catalog: LintCatalog) -> Iterator[LintRemark]:
    """It says that it is often used with something that is not here, or is several things."""
    bare = Counter(entry.bare for entry in catalog.entries.values())
    for name, entry in catalog.entries.items():
        links = entry.often_with if entry.kind == "tool" else ()
        for link in links:
            if link not in catalog.entries and bare[link] != 1:
                remedy = did_you_mean(link, list(catalog.entries)) or "take it out"
                message = f"names {link!r} in often_with, but no one tool has that name; {remedy}"
                yield LintRemark(name, message)


def undocumented_parameter(catalog: LintCatalog) -> Iterator[LintRemark]:
    """Some of its parameters have no description."""
    for name, entry in catalog.entries.items():
        if isinstance(entry.capability, ToolInfo):
            bare = [key for key, each in _properties(entry.capability) if not _described(each)]
            if bare:
                more = f" and {len(bare) - MOST_NAMED} more" if len(bare) > MOST_NAMED else ""
                some = ", ".join(bare[:MOST_NAMED])
                message = f"says nothing of its parameters {some}{more}; describe them"
                yield LintRemark(name, message)


def _is_abbreviation(word: str) -> bool:
    short = word.isascii() and word.isalpha() and 1 < len(word) <= LONGEST_WORD
    return short and word not in NO_ABBREVIATIONS and set("aeiouy").isdisjoint(word)


def _properties(tool: ToolInfo) -> Iterator[tuple[str, Json]]:
    properties = tool.parameters.get("properties")
    if isinstance(properties, Mapping):
        yield from properties.items()


def _described(schema: Json) -> bool:
    if not isinstance(schema, Mapping):
        return True
    text = schema.get("description")
    return "$ref" in schema or (isinstance(text, str) and bool(text.strip()))

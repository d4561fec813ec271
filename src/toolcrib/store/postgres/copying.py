"""Copies all that lasts from files into a database, or back, and counts it on both sides."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from toolcrib.errors import StoreError
from toolcrib.store.postgres.copied_tables import COPIED_TABLES
from toolcrib.store.postgres.copy_ends import CopyEnd, keys_for
from toolcrib.store.source_protocol import DocumentName

DOCUMENTS: Final[Mapping[DocumentName, bytes]] = {
    "servers.json": b'{"mcpServers": {}}\n',
    "rules.json": b'{"rules": []}\n',
}
"""Those that are copied, and what stands for none. Settings are those of a machine, and stay."""


class CopiedKind(NamedTuple):
    """How many things of a kind there were, and how many there are now at the other end."""

    kind: str
    read: int
    written: int


def copy_stores(source: CopyEnd, target: CopyEnd, *, replace: bool) -> Sequence[CopiedKind]:
    """Put all that the source has in place of what the target has, and count both.

    Raises `StoreError`: if the target has something and `replace` is not said, if the two have
    different install keys, if decisions are in doubt, or if less has arrived than was sent. Nothing
    of the source is changed. After a failure it can be repeated with `replace`.
    """
    if source.stores.install_key != target.stores.install_key:
        raise StoreError(
            "the two have different install keys, so no decision would count; set"
            " `install_key_file` to the `install.key` in the state folder of the files"
        )
    there = {kind: number for kind, number in counts(target).items() if number}
    if there and not replace:
        what = ", ".join(f"{number} {kind}" for kind, number in there.items())
        raise StoreError(f"the target is not empty ({what}); say --replace to replace all of it")
    _copy_trust(source, target)
    _copy_sources(source, target)
    for table in COPIED_TABLES:
        target.put_rows(table, source.rows(table))
    return list(_compared(counts(source), counts(target)))


def counts(end: CopyEnd) -> Mapping[str, int]:
    """How many things of each kind an end has."""
    filed = end.stores.decisions.filed()
    return {
        "sources": len(filed),
        "decisions": sum(len(each.rows) for each in filed),
        "keys": len(end.stores.keys.all()),
        "logins": len(end.logins()),
        "documents": sum(end.stores.documents.document(each) is not None for each in DOCUMENTS),
        "listings": len(end.listing_keys()),
        **{table.kind: len(end.rows(table)) for table in COPIED_TABLES if table.is_counted},
    }


def _copy_trust(source: CopyEnd, target: CopyEnd) -> None:
    """Decisions, keys, logins."""
    decided = source.stores.decisions
    target.stores.decisions.restore(decided.filed(), trusted=decided.trusts_first_sight)
    target.stores.keys.replace([*keys_for(target, source.stores.keys.all())])
    logins = source.logins()
    for gone in {each.server for each in target.logins()} - {each.server for each in logins}:
        target.stores.logins.forget(gone)
    for server, login in logins:
        target.stores.logins.write(server, login)


def _copy_sources(source: CopyEnd, target: CopyEnd) -> None:
    """Documents, and listings with how the last start failed."""
    for name, nothing in DOCUMENTS.items():
        before = target.stores.documents.document(name)
        written = source.stores.documents.document(name)
        if before or written:
            content = written.content if written else nothing
            target.stores.documents.put_document(name, content, before and before.version)
    listed = source.listing_keys()
    for gone in {*target.listing_keys()} - {*listed}:
        target.stores.listings.forget_listing(gone)
    for key in listed:
        if listing := source.stores.listings.listing(key):
            target.stores.listings.put_listing(key, listing)
            target.stores.listings.put_failure(key, source.stores.listings.failure(key))


def _compared(read: Mapping[str, int], written: Mapping[str, int]) -> Iterator[CopiedKind]:
    for kind, number in read.items():
        if written[kind] < number:
            problem = f"of {number} {kind} only {written[kind]} have arrived"
            raise StoreError(f"{problem}; stop whoever writes there, and copy again")
        yield CopiedKind(kind, number, written[kind])

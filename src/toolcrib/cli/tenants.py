"""The commands `toolcrib tenants`: list, add, disable, enable, edit."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolcrib.cli.consent import at_terminal
from toolcrib.cli.editor import edited
from toolcrib.cli.global_options import GlobalOptions
from toolcrib.cli.groups import CommandGroup
from toolcrib.cli.screen import AsJson, console, print_json, safe, table
from toolcrib.client_config import diff
from toolcrib.errors import ConfigError
from toolcrib.settings import Settings, checked_tenant, load_settings, read_tenant_document
from toolcrib.store import postgres
from toolcrib.system import read_plain_file
from toolcrib.text import list_nearest
from toolcrib.wiring import shared_site_of, tenant_places_of

if TYPE_CHECKING:  # the extra may not be there, and then that is said
    from toolcrib.store import DocumentStore, StoredDocument
    from toolcrib.store.postgres import Tenant, TenantRegistry
    from toolcrib.wiring import SharedSite

DOCUMENT = "settings.toml"
LARGEST = 1024 * 1024
Name = Annotated[str, typer.Argument(metavar="TENANT", help="The tenant, by its name.")]


def list_tenants(context: typer.Context, as_json: AsJson = False) -> None:
    """List the tenants of the shared store, and which of them are switched off."""
    with _site(context) as (_, site):
        _show(site.shared.tenants, as_json=as_json)


def add_tenant(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is called.")],
    as_json: AsJson = False,
) -> None:
    """Add a tenant, which owns nothing yet.

    Whatever you write for a tenant adds it too: `TOOLCRIB_TENANT=acme toolcrib keys add ann`.

        toolcrib tenants add acme
    """
    checked_tenant(name)
    with _site(context) as (_, site):
        if not site.shared.tenants.add(name):
            raise ConfigError(f"there is a tenant {name!r} already; take another name")
        _show(site.shared.tenants, as_json=as_json)


def disable_tenant(context: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Switch a tenant off: none of its keys and people is served.

    Gateways that run hear of it at once, and end its connections. What it owns stays.

        toolcrib tenants disable acme
    """
    _switch(context, name, disabled=True, as_json=as_json)


def enable_tenant(context: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Switch a tenant on again.

    toolcrib tenants enable acme
    """
    _switch(context, name, disabled=False, as_json=as_json)


def edit_tenant(
    context: typer.Context,
    name: Name,
    source: Annotated[
        str,
        typer.Option("--from", metavar="FILE", help="Take what this file says; `-`: stdin."),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Change the settings of a tenant: how it searches, its approvals, profiles and limits.

    They go over those of the gateway. Without `--from`, on a terminal, they open in your editor
    (`VISUAL`, `EDITOR`), until they can be used. Gateways that run take them at once. What is about
    the process or the machine is refused: addresses, TLS, paths, models.

        toolcrib tenants edit acme
        toolcrib tenants edit acme --from acme.toml
    """
    with _site(context) as (settings, site):
        _known(site.shared.tenants, name)
        places = tenant_places_of(settings, name, site.key)
        documents = postgres.PostgresStores(site.shared, places).documents
        before = documents.document(DOCUMENT)
        text = before.content.decode() if before else ""
        put = partial(_put, documents, name, before)
        after = _taken(source, put) if source else _by_hand(name, text, put)
    lines = diff(text, after, name, "toml")
    if as_json:
        print_json({"tenant": name, "changed": after != text, "diff": lines, "settings": after})
        return
    for line in lines:
        style = "green" if line.startswith("+") else "red" if line.startswith("-") else None
        console().print(safe(line), style=style, soft_wrap=True)
    console().print(safe(f"{name} is {'changed' if after != text else 'as it was'}."))


TENANTS = CommandGroup(
    """List the tenants of a shared store; add one, switch one off or on, change its settings.

Each has its own servers, rules, keys, decisions and events. Other commands work for the tenant that
`TOOLCRIB_TENANT` names. `gateway.tenants` says which of them a gateway serves.

    toolcrib tenants list
    toolcrib tenants add acme
    TOOLCRIB_TENANT=acme toolcrib keys add ann
    toolcrib tenants edit acme
    toolcrib tenants disable acme
""",
    {
        "list": list_tenants,
        "add": add_tenant,
        "disable": disable_tenant,
        "enable": enable_tenant,
        "edit": edit_tenant,
    },
)


@contextmanager
def _site(context: typer.Context) -> "Generator[tuple[Settings, SharedSite]]":
    """The settings as they stand here, and the database that they name."""
    options: GlobalOptions = context.obj
    settings = load_settings(os.environ, options.config)
    site = shared_site_of(settings, os.environ)
    try:
        yield settings, site
    finally:
        site.shared.close()


def _switch(context: typer.Context, name: str, *, disabled: bool, as_json: bool) -> None:
    with _site(context) as (_, site):
        _known(site.shared.tenants, name)
        site.shared.tenants.switch(name, disabled=disabled)
        _show(site.shared.tenants, as_json=as_json)


def _known(tenants: "TenantRegistry", name: str) -> None:
    """Raises `ConfigError` with the nearest names if there is no such tenant."""
    if tenants.find(name) is None:
        near = list_nearest(name, [each.name for each in tenants.all()])
        raise ConfigError(f"there is no tenant {name!r}; nearest: {near}")


def _put(documents: "DocumentStore", name: str, before: "StoredDocument | None", text: str) -> None:
    """Write what can be used. Raises `ConfigError` for what cannot, and `StoreError`."""
    content = text.encode()
    read_tenant_document(content, name)
    documents.put_document(DOCUMENT, content, before.version if before else None)


def _taken(source: str, put: "partial[None]") -> str:
    try:
        said = sys.stdin.buffer.read() if source == "-" else read_plain_file(Path(source), LARGEST)
        text = said.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{source}: cannot be read: {error}") from error
    put(text)
    return text


def _by_hand(name: str, text: str, put: "partial[None]") -> str:
    if not at_terminal():
        todo = "name a file by `--from`, or run it on a terminal, where your editor opens"
        raise ConfigError(f"nothing to change: {todo}")
    after = edited(text, name, put, ending=".toml")
    return text if after is None else after


def _show(tenants: "TenantRegistry", *, as_json: bool) -> None:
    every = tenants.all()
    if as_json:
        print_json([_facts(each) for each in every])
        return
    rows = [(each.name, _state(each), _day(each.made_at)) for each in every]
    columns = ("tenant", "state", "made")
    console().print(table("", columns, rows) if rows else "There are no tenants.")


def _facts(tenant: "Tenant") -> dict[str, object]:
    return {"name": tenant.name, "disabled": tenant.disabled, "made_at": tenant.made_at}


def _state(tenant: "Tenant") -> str:
    return "off" if tenant.disabled else "on"


def _day(since: float) -> str:
    return datetime.fromtimestamp(since, UTC).astimezone().strftime("%Y-%m-%d %H:%M")

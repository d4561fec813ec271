"""The commands `toolcrib db`: migrate, status, copy."""

import os
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolcrib.cli.global_options import GlobalOptions
from toolcrib.cli.groups import CommandGroup
from toolcrib.cli.screen import AsJson, console, print_json, safe, table
from toolcrib.errors import ConfigError
from toolcrib.settings import DEFAULT_TENANT, Settings, is_address, load_settings
from toolcrib.store import postgres
from toolcrib.wiring import (
    database_of,
    retention_of,
    shared_key_of,
    store_places_of,
    tenant_places_of,
)

if TYPE_CHECKING:  # the extra may not be there, and then that is said
    from toolcrib.store.postgres import CopyEnd, Database, DatabaseStatus

PLACE = "The address of a database, or `files`: your own; or the path of a catalog file."
Store = Annotated[
    str | None,
    typer.Option(
        "--store", metavar="ADDRESS", help="Another database, or another role, than `store` says."
    ),
]


def migrate_command(context: typer.Context, store: Store = None, as_json: AsJson = False) -> None:
    """Bring the database up to date: make its tables, or change them.

    It does all that is missing, or nothing. Several may run at once. A gateway starts on a database
    that is up to date, and says so if it is not.

        toolcrib db migrate
        toolcrib db migrate --store postgresql://owner@db.example.com/toolcrib
    """
    with closing(_database(context, store)) as database:
        taken = postgres.migrate(database)
        if as_json:
            print_json({"database": database.address.shown, "migrated": taken})
            return
        done = f"{', '.join(taken)}; " if taken else ""
        console().print(safe(f"{done}{database.address.shown} is up to date."), soft_wrap=True)


def status_command(context: typer.Context, store: Store = None, as_json: AsJson = False) -> None:
    """Show how far the database is: the steps that it has behind it, and those that it lacks.

    toolcrib db status
    """
    with closing(_database(context, store)) as database:
        status = postgres.database_status(database)
        if as_json:
            print_json(
                {
                    "database": database.address.shown,
                    "done": [step._asdict() for step in status.done],
                    "missing": status.missing,
                }
            )
            return
        _show(database, status)


def copy_command(
    context: typer.Context,
    source: Annotated[str, typer.Argument(metavar="FROM", help=PLACE)],
    target: Annotated[str, typer.Argument(metavar="TO", help="The same.")],
    tenant: Annotated[
        str, typer.Option("--tenant", metavar="NAME", help="The tenant of the database.")
    ] = DEFAULT_TENANT,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace what is there; else it must be empty.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Copy all that lasts from your files into a database, or back, and count it.

    Stop the gateways first. Decisions, keys, logins, servers, rules, listings, events, use and
    reveals are copied; nothing is changed where they come from. Both sides need the same install
    key: set `install_key_file` to the `install.key` of your files. What lasts for minutes stays
    behind (tickets, reveal sets, results), and so do settings, vectors and packs.

        toolcrib db copy files postgresql://toolcrib@db.example.com/toolcrib
        toolcrib db copy postgresql://toolcrib@db.example.com/toolcrib files --replace
    """
    with _ends(context, source, target, tenant) as (one, other):
        copied = postgres.copy_stores(one, other, replace=replace)
    if as_json:
        print_json([each._asdict() for each in copied])
        return
    lines = [(each.kind, f"{each.read:,}", f"{each.written:,}") for each in copied]
    console().print(table("", ("kind", "read", "written"), lines))


DB = CommandGroup(
    """Bring the database of a shared store up to date, look how far it is, or copy into it.

The setting `store` names the database, without a password:

    store = "postgresql://toolcrib@db.example.com/toolcrib"
    store_password_env = "STORE_PASSWORD"

    toolcrib db migrate
    toolcrib db status
    toolcrib db copy files postgresql://toolcrib@db.example.com/toolcrib
""",
    {"migrate": migrate_command, "status": status_command, "copy": copy_command},
)


def _database(context: typer.Context, store: str | None) -> "Database":
    options: GlobalOptions = context.obj
    changes = {} if store is None else {"TOOLCRIB_STORE": store}
    return database_of(_settings(options, changes), os.environ)


def _settings(options: GlobalOptions, changes: Mapping[str, str]) -> Settings:
    """The settings as they stand here: nothing is fetched from a database that may not be ready."""
    return load_settings({**os.environ, **changes}, options.config)


@contextmanager
def _ends(
    context: typer.Context, source: str, target: str, tenant: str
) -> "Generator[tuple[CopyEnd, CopyEnd]]":
    """The two ends of a copy, in order. Raises `ConfigError` unless one of them is a database."""
    options: GlobalOptions = context.obj
    into_database = is_address(target)
    address, place = (target, source) if into_database else (source, target)
    if not is_address(address) or is_address(place):
        raise ConfigError("one of FROM and TO has to be a database, the other `files`")
    settings = _settings(options, {"TOOLCRIB_STORE": address})
    path = "" if place == "files" else str(Path(place).absolute())
    places = store_places_of(settings.model_copy(update={"store": path}))
    key = shared_key_of(settings, os.environ)
    with closing(postgres.SharedDatabase(database_of(settings, os.environ))) as shared:
        stores = postgres.PostgresStores(shared, tenant_places_of(settings, tenant, key))
        database = postgres.DatabaseEnd(stores, postgres.TenantDatabase(shared.database, tenant))
        files = postgres.FileEnd(places._replace(retention=retention_of(settings)), key)
        with closing(files.stores):
            yield (files, database) if into_database else (database, files)


def _show(database: "Database", status: "DatabaseStatus") -> None:
    rows = [(f"{step.number}", step.name, _day(step.at)) for step in status.done]
    rows += [("", name, "missing") for name in status.missing]
    console().print(table("", ("step", "name", "done"), rows))
    todo = "run `toolcrib db migrate`" if status.missing else "it is up to date"
    console().print(safe(f"{database.address.shown}: {todo}."), soft_wrap=True)


def _day(since: float) -> str:
    return datetime.fromtimestamp(since, UTC).astimezone().strftime("%Y-%m-%d %H:%M")

"""Whether apps can join, and can be launched."""

import shutil
from collections.abc import Iterator

from toolcrib.cli.checks.finding import Finding, Patient
from toolcrib.errors import SourceError
from toolcrib.sources.apps.address import public_file, read_address
from toolcrib.sources.apps.cache import SDKToolsCache
from toolcrib.sources.private_file import runs

AREA = "apps"


def check_apps(patient: Patient) -> Iterator[Finding]:
    """Who lets them join, and whether the command of each is there."""
    if not patient.settings.apps.enabled:
        yield Finding(AREA, "ok", "apps are switched off")
        return
    folder = patient.settings.state_folder / "apps"
    try:
        address = read_address(public_file(folder))
        here = f"process {address.pid}" if runs(address.pid) else "nobody"
    except SourceError:
        here = "nobody"
    known, _ = SDKToolsCache(folder / "known").read_all()
    yield Finding(AREA, "ok", f"{len(known)} known; {here} lets apps join now")
    for app in known:
        launch = patient.settings.apps.launch.get(app.name) or app.launch
        if launch and not shutil.which(launch[0]):
            message = f"{app.name}: its command {launch[0]!r} is not there"
            yield Finding(
                AREA, "warning", message, f"toolcrib apps forget {app.name}, or correct it"
            )

"""The tools that come with Toolcrib: plain typed functions, declared in tools.yaml.

    tools.yaml ──> function ──> raises an ordinary error, or returns JSON
                      │ paths?
                      └─ roots(): the folders that this call may touch

    files, edits, text_search   read, change and search files, within the roots of the call
    web                         a page of the internet as text
    clock, arithmetic           times and time zones; arithmetic without `eval`
    data, compare, encodings    JSON and CSV; differences; hashes, Base64, identifiers
    notes                       notes that last
    environment                 the machine that this runs on

What they are built on:

    roots        which folders a call may touch, and which files no tool ever touches
    file_tree    the files below a folder, and glob patterns
    text_files   UTF-8 text, read up to a limit, written whole or not at all
    http_client  the one way out to the web; private networks are refused

A function here raises an ordinary error whose message says what to do next; whoever runs it makes
that the outcome of the call. Nothing here is registered by being imported: `toolcrib.sources`
declares these functions by the tools.yaml of this package. A tools.yaml of a user may name them
too, as `toolcrib.tools.files:read_file`, so the modules of the tools keep their names.
"""

# pyright: reportUnusedImport=false
from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.tools.file_tree import walk_files
    from toolcrib.tools.roots import ADD_TO_ROOTS, OwnFiles, Roots, is_file_tool, working_in
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "file_tree": ("walk_files",),
            "roots": ("ADD_TO_ROOTS", "OwnFiles", "Roots", "is_file_tool", "working_in"),
        },
    )

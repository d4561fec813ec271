"""What Toolcrib needs of the operating system: processes, threads, pipes, files, clocks.

Every stage above may use it, and it knows none of them. Nothing here speaks MCP or HTTP.

    ChildProcess ──> launcher ──> the command ──> whatever it starts
         │ pipes
         └─ PipeWriter, bounded_lines, OutputEnds

    child_process       a command without a shell, ended with everything that it started
    launcher            the program that stands between us and the command, and sees to its end
    process_tree        the processes below one of ours, and the memory that they take
    pipe                lines of bounded length, the two ends of a long output, writes that wait
    event_loop          an event loop in a thread of its own; a plain function in a thread
    fair_places         a few places that all callers share, none taking all of them
    deadline            how long a call has, and the clock that stands still while it asks
    files               plain files of bounded size; private files: locked, written in one step
    network             which addresses are of the open internet, and which a name stands for
    packages            whether a package is there in the version that something needs
    memory              what nobody reaches any more is freed, and the system gets it back
    last_good_copy      what a file of the operator said when it could last be used
    daemon_folder       where the runtime files of the daemon are
    connection_limiter  bounds connections that have shown no credential yet

The shim of the gateway (`toolcrib.connect`) reads `daemon_folder` and has to be up at once. So this
door loads a module when one of its names is first asked for, and `daemon_folder` needs the standard
library alone. The same goes for `launcher`: it is a program of its own, started for every server.

Locks are taken with filelock, and processes are looked at with psutil, in this package and nowhere
else. What belongs to one protocol stays with it: how an MCP server is started and spoken to is in
`toolcrib.sources.mcp`.
"""

# pyright: reportUnusedImport=false
from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.system.child_process import ChildProcess
    from toolcrib.system.connection_limiter import ConnectionLimiter
    from toolcrib.system.daemon_folder import RUN_FOLDER_VARIABLE, run_folder, run_folders
    from toolcrib.system.deadline import (
        CallQuestions,
        DeadlineTimer,
        deadline_passed,
        done_in_time,
    )
    from toolcrib.system.event_loop import BackgroundLoop, run_in_thread
    from toolcrib.system.fair_places import FairPlaces, is_fair
    from toolcrib.system.files import (
        FileLock,
        create_private_file,
        file_locked,
        make_private_folder,
        private_file_replaced,
        read_plain_file,
        read_private_file,
        sweep_temporary_files,
        sync_files,
        write_private_copy,
        write_private_file,
    )
    from toolcrib.system.last_good_copy import LastGoodCopies
    from toolcrib.system.memory import Collector, give_memory_back, have_one_heap
    from toolcrib.system.network import addresses_of, is_public
    from toolcrib.system.packages import require_package
    from toolcrib.system.pipe import (
        LONGEST_LINE,
        ByteReader,
        LineReader,
        OutputEnds,
        PipeLine,
        PipeWriter,
        bounded_lines,
    )
    from toolcrib.system.process_tree import (
        ProcessInfo,
        is_running,
        list_process_tree,
        resident_bytes,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "child_process": ("ChildProcess",),
            "connection_limiter": ("ConnectionLimiter",),
            "daemon_folder": ("RUN_FOLDER_VARIABLE", "run_folder", "run_folders"),
            "deadline": ("CallQuestions", "DeadlineTimer", "deadline_passed", "done_in_time"),
            "event_loop": ("BackgroundLoop", "run_in_thread"),
            "fair_places": ("FairPlaces", "is_fair"),
            "files": (
                "FileLock",
                "create_private_file",
                "file_locked",
                "make_private_folder",
                "private_file_replaced",
                "read_plain_file",
                "read_private_file",
                "sweep_temporary_files",
                "sync_files",
                "write_private_copy",
                "write_private_file",
            ),
            "last_good_copy": ("LastGoodCopies",),
            "memory": ("Collector", "give_memory_back", "have_one_heap"),
            "network": ("addresses_of", "is_public"),
            "packages": ("require_package",),
            "pipe": (
                "ByteReader",
                "LONGEST_LINE",
                "LineReader",
                "OutputEnds",
                "PipeLine",
                "PipeWriter",
                "bounded_lines",
            ),
            "process_tree": ("ProcessInfo", "is_running", "list_process_tree", "resident_bytes"),
        },
    )

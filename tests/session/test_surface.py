"""What deferring saves on a surface of 19 tools: files, shell, web, sessions, storage, todos, time.

Every name and description stays in the list; only the parameters wait. Others measured 39 % of the
list and 55 % of the parameters on a surface of this size, so ours may save no less.
"""

import json

from tests.session.deck import crib_of
from toolcrib import Session
from toolcrib.model import JsonObject, ToolInfo
from toolcrib.text import tool_definition

PATH = "path: string! Absolute path of the file in the workspace, with forward slashes"
SURFACE = {
    "read_file": (
        "Read a text file from the workspace, whole or some of its lines, with their numbers.",
        PATH,
        "offset: integer Number of the first line to read, from 1; the first line if left out",
        "limit: integer How many lines to read at most; 2000 lines if it is left out",
    ),
    "write_file": (
        "Write a text file in the workspace; it is made with its folders if it is not there.",
        PATH,
        "content: string! The whole new content of the file, in UTF-8 and without a marker",
        "encoding: text|base64 How the content is given; base64 is for files that are no text",
    ),
    "edit_file": (
        "Replace one exact piece of text in a file by another, and show the lines around it.",
        PATH,
        "old_text: string! The text to replace, letter by letter, with all of its white space",
        "new_text: string! The text that stands in its place; empty to remove the old one",
        "replace_all: boolean Whether to replace every occurrence; else there may be only one",
    ),
    "list_directory": (
        "List the files and folders below a folder of the workspace, with sizes and times.",
        "path: string! Absolute path of the folder, with forward slashes",
        "depth: integer How many levels of folders to go down; one level if it is left out",
        "include_hidden: boolean Whether files whose names begin with a dot are listed too",
    ),
    "grep_files": (
        "Search the files of the workspace for lines that match a regular expression.",
        "pattern: string! The regular expression, in the syntax of RE2, for one line",
        "path: string Folder or file to search in; the whole workspace if it is left out",
        "glob: string Which files to read, as a glob such as **/*.py; all if it is left out",
        "max_results: integer After how many matching lines to stop; 100 if it is left out",
    ),
    "delete_file": (
        "Delete a file or a folder from the workspace; this cannot be taken back.",
        PATH,
        "recursive: boolean Whether a folder that is not empty is deleted with all in it",
    ),
    "bash": (
        "Run a command in a shell of the sandbox, and return its output and its exit code.",
        "command: string! The command line, as one would type it at the prompt of a shell",
        "timeout_ms: integer After how many milliseconds to end it; two minutes by default",
        "working_directory: string The folder to run it in; the workspace if it is left out",
        "background: boolean Whether to return at once, with an id to ask for its output by",
    ),
    "web_fetch": (
        "Fetch a page from the web and return its text, its title and its links.",
        "url: string! The address of the page, with https and a public host name",
        "format: markdown|text|html In which form to return the content of the page",
        "max_bytes: integer How much of the page to read at most; one megabyte by default",
        "headers: object More headers to send with the request, by their names",
    ),
    "get_session_info": (
        "Tell about this session: its id, its title, its agent and when it was begun.",
        "include_usage: boolean Whether to tell how many tokens it has used up to now too",
    ),
    "write_session_title": (
        "Give this session a short title, which its user sees in the list of sessions.",
        "title: string! The title, in the language of the user, of at most sixty characters",
    ),
    "kv_store": (
        "Keep a value under a key for later, in this session or for all sessions of the agent.",
        "key: string! The key, of letters, digits, dots and dashes, of at most 128 characters",
        "value: string! The value to keep, as text; use JSON for anything that has parts",
        "scope: session|agent Whether other sessions of this agent may read it too",
        "ttl_seconds: integer After how many seconds it is forgotten; never if it is left out",
    ),
    "kv_get": (
        "Read a value that was kept under a key before, with the time at which it was kept.",
        "key: string! The key under which the value was kept, letter by letter",
        "scope: session|agent Where to look for the key: in this session or with the agent",
    ),
    "kv_list": (
        "List the keys under which something is kept, in order, without their values.",
        "prefix: string How the keys have to begin; all keys are listed if it is left out",
        "scope: session|agent Where to look for keys: in this session or with the agent",
        "limit: integer How many keys to list at most; one hundred if it is left out",
    ),
    "secret_store": (
        "Keep a secret for tools that need it; no model and no log ever shows it again.",
        "name: string! The name of the secret, in capital letters, as in an environment",
        "value: string! The secret itself, which is encrypted before it is stored anywhere",
        "description: string What the secret is for, for whoever looks at the list of them",
    ),
    "write_todos": (
        "Write the list of what is to be done in this task, in place of the former list.",
        "todos: array! All entries of the list, each with its text, its state and its priority",
        "note: string What has changed since the last list, in a sentence for the user",
    ),
    "get_current_time": (
        "Tell the current date and time in a time zone, in the format that is wanted.",
        "timezone: string A time zone of the IANA, such as Europe/Berlin; UTC if left out",
        "format: iso8601|unix|human How to write the time; iso8601 if it is left out",
    ),
    "spawn_subagent": (
        "Start another agent on a part of the task, with a context of its own.",
        "task: string! What the agent has to do, with all that it has to know for that",
        "agent: string The name of the kind of agent; a general one if it is left out",
        "tools: array The names of the tools that it may use; those of this agent if left out",
        "max_turns: integer After how many turns it has to end; thirty if it is left out",
    ),
    "get_subagent_result": (
        "Ask for the result of an agent that was started before, or wait until it is there.",
        "id: string! The id of the agent, as the call that has started it returned it",
        "wait_ms: integer How many milliseconds to wait for the result; not at all by default",
    ),
}


def parameter(text: str) -> JsonObject:
    kind, _, description = text.partition(" ")
    words = kind.rstrip("!")
    typed: JsonObject = {"type": "string", "enum": words.split("|")} if "|" in words else {}
    return {"description": description, **(typed or {"type": words})}


def tool(name: str) -> ToolInfo:
    description, *lines = SURFACE[name]
    fields = dict(line.split(": ", 1) for line in lines)
    required = [key for key, text in fields.items() if text.split()[0].endswith("!")]
    properties = {key: parameter(text) for key, text in fields.items()}
    schema = {"type": "object", "properties": properties, "required": required}
    closed: JsonObject = {**schema, "additionalProperties": False}
    return ToolInfo(name=name, description=description, parameters=closed)


def sizes(session: Session) -> tuple[int, int]:
    """The bytes of the list of a first request, and those of its parameters."""
    tools = session.active_tools()
    schemas = (json.dumps(each.parameters, separators=(",", ":")) for each in tools)
    return sum(len(tool_definition(each).encode()) for each in tools), sum(map(len, schemas))


def test_stubs_save_39_percent_of_the_list_and_55_percent_of_the_parameters():
    crib = crib_of(map(tool, SURFACE), style="stub")
    session, eager = crib.session(), crib.session(tool_search="off")
    assert len(session.active_tools()) == 19
    (whole, schemas), (search, its_schema) = sizes(eager), sizes_of_search(session)
    whole, schemas = whole + search, schemas + its_schema  # the other surface has its search too
    sent, stubs = sizes(session)
    assert 10_000 < whole < 12_000
    assert 7_000 < schemas < 8_500
    assert 1 - sent / whole >= 0.39
    assert 1 - stubs / schemas >= 0.55


def sizes_of_search(session: Session) -> tuple[int, int]:
    search = session.search_tool
    assert search
    return len(tool_definition(search)), len(json.dumps(search.parameters, separators=(",", ":")))

"""All commands in one place, in the groups that `toolcrib --help` shows.

Each has its home, `module:name`, and the first line of its docstring, so that help and completion
load no command. A test holds these lines to the docstrings.
"""

from collections.abc import Mapping

from toolcrib.cli.groups import CommandEntry

GROUPS: Mapping[str, Mapping[str, CommandEntry]] = {
    "Start here": {
        "setup": CommandEntry(
            "setup:setup_command",
            "Set everything up: find your MCP clients, take over their servers, list the tools.",
        ),
        "tour": CommandEntry(
            "tour:tour_command", "Take a short tour: index what is there, search, and see why."
        ),
        "help": CommandEntry(
            "guide:help_command", "Print a page of the guide, as messages and other pages name it."
        ),
    },
    "Find and call": {
        "search": CommandEntry("search:search_command", "Find capabilities for a need."),
        "call": CommandEntry("call:call_command", "Call a tool and print what it returns."),
        "run": CommandEntry(
            "run:run_command",
            "Run a program that calls tools, and print what it prints and its last value.",
        ),
        "recipes": CommandEntry(
            "recipes:RECIPES",
            "Keep programs as tools: save one, review one, look at what models propose.",
        ),
        "show": CommandEntry(
            "catalog:show_command", "Show one capability in full, with its schema."
        ),
        "list": CommandEntry(
            "catalog:list_command", "List everything in the pool, hidden or not, with its state."
        ),
        "why": CommandEntry(
            "search:why_command", "Explain why a query finds a capability, or does not."
        ),
        "hints": CommandEntry(
            "hints:hints_command", "Show what a tool is used with, before it and after it."
        ),
    },
    "Servers": {
        "servers": CommandEntry(
            "servers:servers_command",
            "List the configured MCP servers: the state of each, and what to do about it.",
        ),
        "add": CommandEntry(
            "add:add_command", "Add an MCP server to your servers, and list its tools."
        ),
        "edit": CommandEntry(
            "edit:edit_command", "Change one of your servers, and list its tools."
        ),
        "remove": CommandEntry(
            "servers:remove_command", "Remove a server that was added, and all that is known of it."
        ),
        "enable": CommandEntry(
            "switches:enable_command", "Switch MCP servers, or single tools of them, on again."
        ),
        "disable": CommandEntry(
            "switches:disable_command", "Switch MCP servers, or single tools of them, off."
        ),
        "refresh": CommandEntry(
            "refresh:refresh_command",
            "Start the configured MCP servers once and remember what they list.",
        ),
        "login": CommandEntry(
            "login:login_command", "Log in to a remote MCP server (OAuth), then list its tools."
        ),
    },
    "Clients": {
        "import": CommandEntry(
            "clients:import_command", "Take over the servers of MCP clients, and serve them as one."
        ),
        "export": CommandEntry(
            "clients:export_command",
            "Write your servers into a client's file, in place of the gateway.",
        ),
        "connect": CommandEntry(
            "serve:connect_command",
            "Be the MCP server that a client launches: a pipe to the daemon.",
            stays=True,
        ),
    },
    "Gateway": {
        "gateway": CommandEntry(
            "gateway:GATEWAY", "Look at the running gateway, stop it, or let it reload."
        ),
        "serve": CommandEntry(
            "serve:serve_command", "Serve everything as one MCP server on this machine.", stays=True
        ),
        "keys": CommandEntry(
            "keys:KEYS", "List the keys of clients, make one, rotate one, or take one back."
        ),
        "apps": CommandEntry(
            "apps:APPS", "List the apps that have registered; change or forget one."
        ),
    },
    "Trust and rules": {
        "rules": CommandEntry("rules:RULES", "Show the rules about calls, or remove one."),
        "allow": CommandEntry(
            "verdicts:allow_command",
            "Let calls of a server, or of single tools, through without approval.",
        ),
        "ask": CommandEntry(
            "verdicts:ask_command",
            "Have calls of a server, or of single tools, approved one by one.",
        ),
        "deny": CommandEntry(
            "verdicts:deny_command", "Let nobody call a server, or single tools of it."
        ),
        "approvals": CommandEntry(
            "approvals:APPROVALS", "Show the calls that wait for your approval, and decide."
        ),
        "review": CommandEntry(
            "review:review_command",
            "Show the MCP tools and servers that wait for review, and decide about them.",
        ),
    },
    "Check": {
        "dashboard": CommandEntry(
            "dashboard:dashboard_command",
            "Open the dashboard in the browser: what waits for you, and how the servers are.",
        ),
        "doctor": CommandEntry(
            "doctor:doctor_command", "Look for what may keep Toolcrib from working; say what to do."
        ),
        "logs": CommandEntry(
            "logs:logs_command",
            "Show the log of an MCP server: its starts and ends, and what it writes to stderr.",
        ),
        "events": CommandEntry(
            "events:events_command",
            "Show what happened, the newest last: searches, calls, approvals, servers, clients and"
            " more.",
        ),
        "calls": CommandEntry(
            "events:calls_command",
            "Show the last calls, the newest last: who called what, what the rules said, how it"
            " ended.",
        ),
        "tokens": CommandEntry(
            "tokens:tokens_command", "Count what your tools cost a model, and what deferring saves."
        ),
    },
    "Shared store": {
        "db": CommandEntry(
            "db:DB",
            "Bring the database of a shared store up to date, look how far it is, or copy into it.",
        ),
        "tenants": CommandEntry(
            "tenants:TENANTS",
            "List the tenants of a shared store; add one, switch one off or on, change its"
            " settings.",
        ),
    },
    "Develop": {
        "index": CommandEntry(
            "index:index_command",
            "Build the index anew and wait for all vectors, so that the next start has everything.",
        ),
        "lint": CommandEntry(
            "lint:lint_command", "Find tools that searchers will miss or confuse."
        ),
        "eval": CommandEntry(
            "eval:EVAL",
            "Measure how well search finds your tools: write cases, run them, compare settings.",
        ),
    },
}
"""All commands by name, as the help shows them, in the order in which a newcomer needs them."""

"""What is asked of the real servers: a search in a user's words, the tool, and what it says."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Errand:
    """A need, the tool for it, and words of its answer."""

    query: str
    tool: str
    words: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])


def errands(playground: Path) -> list[Errand]:
    """One for each of the servers."""
    return [
        Errand("echo a message", "mcp_everything_echo", "hello", {"message": "hello"}),
        Errand(
            "read a text file",
            "mcp_filesystem_read_text_file",
            "a note for the test",
            {"path": str(playground / "note.txt")},
        ),
        Errand("read the knowledge graph", "mcp_memory_read_graph", "entities"),
        Errand(
            "git status of a repository",
            "mcp_git_git_status",
            "note.txt",
            {"repo_path": str(playground)},
        ),
        Errand(
            "what time is it in another time zone",
            "mcp_time_get_current_time",
            "Asia/Tokyo",
            {"timezone": "Asia/Tokyo"},
        ),
        Errand("budget allocations and benchmarks", "mcp_budget_get-budget-data", "Budget"),
        Errand("retention of cohorts over time", "mcp_cohorts_get-cohort-data", "Cohort"),
        Errand("customers by segment", "mcp_customers_get-customer-data", "Enterprise"),
        Errand(
            "lint files with ESLint",
            "mcp_eslint_lint-files",
            "tidy.js",
            {"filePaths": [str(playground / "tidy.js")]},
        ),
        Errand(
            "convert a SQL query to REST",
            "mcp_postgrest_sqlToRest",
            "/books",
            {"sql": "select * from books"},
        ),
        Errand("SaaS scenario projections", "mcp_scenarios_get-scenario-data", "SaaS"),
        Errand("system information: CPU and memory", "mcp_system_get-system-info", "cpu"),
    ]

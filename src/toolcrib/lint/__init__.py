"""Which tools searchers will miss or confuse, and what their authors should put right.

    entries → LintCatalog → each LintRule yields LintRemarks → lint → LintFindings, worst first

linter             the table of all rules with their severities, and `lint`, which runs them
catalog            what is looked at: searchable entries, their texts, and what each one's own
                   description finds
description_rules  missing, empty, short, long or copied descriptions
neighbour_rules    tools that read almost alike, or that their own description does not find
definition_rules   names, parameters and declared links

A rule is a generator over the catalog: it yields a remark for each capability that breaks it. The
message of a finding says what is wrong and what to write instead. A new rule is such a function
and a line in the table; docs/guide/lint.md lists the same rules for people, and a test holds the
two together.

Only definitions are judged: no tool is called, no server is started, no model is asked. Words are
compared by BM25 alone, without the embedder, so that the same catalog always gives the same
findings. `toolcrib lint` prints them.
"""

# pyright: reportUnusedImport=false
from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.lint.linter import LintFinding, findings_by_source, lint
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "linter": ("LintFinding", "findings_by_source", "lint"),
        },
    )

"""The operator's desk: what waits for a decision, what is different, the verdict, the rules.

    a server lists a tool ──▶ its definition is new or changed ──▶ it waits
    `toolcrib review`     ──▶ Desk.items: what differs, field by field
      with `--approve`    ──▶ Desk.approve: this definition, and no other, may be shown and called
      with `--reject`     ──▶ Desk.reject: left out until it changes again

    desk        what waits, and the decision about it: `Desk`, `ReviewItem`
    changes     the difference between two definitions, or configurations, for a person: `Change`
    rule_desk   the operator's rules about calls, written to `rules.json`

What is decided on is what was seen: a definition that changes between the look and the decision is
not decided on. Decisions are kept by `store`, sealed; `sources.mcp` judges by them what a server
lists; the rules are read by `execute.RuleFile`.

No model may reach this package. Only the operator's commands import it, and a contract holds that.
It is not the approval of one call: that is `execute`, with its approvers and tickets.
"""

# pyright: reportUnusedImport=false
from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.review.changes import Change
    from toolcrib.review.desk import Desk, ReviewItem, find_item, undecided
    from toolcrib.review.rule_desk import drop_rule, put_rules
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "changes": ("Change",),
            "desk": ("Desk", "ReviewItem", "find_item", "undecided"),
            "rule_desk": ("drop_rule", "put_rules"),
        },
    )

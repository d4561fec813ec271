"""The call: one door that leads to a tool, the gates before it, and the outcome behind it.

    Call ──▶ name ──▶ state, pin ──▶ rights ──▶ approval ──▶ arguments ──▶ source ──▶ Outcome
             resolution   gates      gates      approval     arguments     dispatch

`Door.execute` is the only function that reaches a tool. Library, adapters, gateway and command
line all come through it, and no gate can be left out. A gate says no by raising `CallRefused`; the
caller gets an `Outcome` whose error names the gate, the reason and the next step. What a model says
never raises.

    door           the flow above; what the operator set (`CallPolicy`)
    caller         who calls, verified by the host: `Caller`
    resolution     which tool a name means: of this request first, then of the pool
    gates          state, pin and rights; `CallRefused`
    rulebook       the operator's rules, in order, and the default: allow, ask or deny
    rule_file      `rules.json`, read again whenever it changed
    approval       who is asked where the rules say "ask": an `Approver`, or later a ticket
    tickets        approvals given later, for one call each
    cover          one question for several calls of a program: what it covers, what is used up
    arguments      checked against the schema, and repaired (`repair`) where that makes them fit
    schema_gate    JSON Schema from strangers, bounded (`meter`) before it is used; `schema_reader`
                   follows its references
    dispatch       one source, one deadline, at most one more try of a `read`
    results        a long result, page by page: `result_text` is what of it is text, `pages` cuts
                   it by tokens, `line_search` greps in it
    call_record    what is kept of every call, however it ended

It is not search: which tools a model gets to see is for `session` and `gateway` to say. Nothing
here approves: that is the operator's side, `review` and the command line.
"""

# pyright: reportUnusedImport=false
from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.execute.approval import Approver, DenyingApprover, approval_needed, running_for
    from toolcrib.execute.arguments import ArgumentCheck, is_little
    from toolcrib.execute.caller import Caller
    from toolcrib.execute.cover import Cover, CoveredTool
    from toolcrib.execute.door import CallPolicy, Door
    from toolcrib.execute.gates import CallRefused, check_state, ruled_out
    from toolcrib.execute.repair import ARGUMENT_WRAPPERS
    from toolcrib.execute.resolution import VisibleTools, per_request_tools, tools_of_request
    from toolcrib.execute.rule_file import MOST_RULES, RuleFile, read_rules
    from toolcrib.execute.rulebook import ProfileRules, Rule, Rulebook, Verdict
    from toolcrib.execute.schema_reader import pointed_at
    from toolcrib.execute.tickets import ApprovalRequest, Ticket, Tickets
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "approval": ("Approver", "DenyingApprover", "approval_needed", "running_for"),
            "arguments": ("ArgumentCheck", "is_little"),
            "caller": ("Caller",),
            "cover": ("Cover", "CoveredTool"),
            "door": ("CallPolicy", "Door"),
            "gates": ("CallRefused", "check_state", "ruled_out"),
            "repair": ("ARGUMENT_WRAPPERS",),
            "resolution": ("VisibleTools", "per_request_tools", "tools_of_request"),
            "rule_file": ("MOST_RULES", "RuleFile", "read_rules"),
            "rulebook": ("ProfileRules", "Rule", "Rulebook", "Verdict"),
            "schema_reader": ("pointed_at",),
            "tickets": ("ApprovalRequest", "Ticket", "Tickets"),
        },
    )

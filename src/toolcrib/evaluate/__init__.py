"""How well search finds what it should, on a catalog and queries with known answers.

    catalog.jsonl, queries.jsonl → load_suite → EvalSuite
    cases.yaml → load_cases → EvalCases, over the entries of a crib
    EvalSuite, settings → open_search → Search over that catalog
    Search, cases → evaluate → EvalResult: what each found, EvalScores of all and of each split
    two results → compare → CaseChanges;  one or two → Report → a page to look at
    entries, recorded use → draft_cases → write_cases → a first cases.yaml, to be corrected

cases         the files: JSON lines or YAML, every key checked, unused keys reported
evaluation    runs the same search as everywhere, without the cut, on an index of its own
measures      recall@k, nDCG@10, MRR; for unanswerable queries the share that is left empty
calibration   the chance that search gave against what came of it
comparison    which cases two settings answer differently, and which answer is better
report        all of it as one HTML page, with the curve that `chart` draws and `report.css`
draft         a first set of cases: from use, by `phrasing` from the tools, and `unanswerable` ones
case_file     writes them, with what a person needs to correct them

A query with an empty list `relevant` is unanswerable: search should abstain. Equivalent tools count
as one (`equiv`), one relevant tool may be enough (`relevance: any`), and grades weigh in nDCG.

The scores of one run compare with those of another on the same files alone. Nothing of the catalog
is stored, except the vectors of its tools where the caller gives a cache for them.

It is not a benchmark: speed, peers and the tables of the documentation are in `benchmarks/`, which
builds on this package. `toolcrib eval` prints the result; docs/eval.md tells how to write a suite.
"""

# pyright: reportUnusedImport=false
from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.evaluate.case_file import write_cases
    from toolcrib.evaluate.cases import (
        EvalCase,
        EvalCases,
        EvalSuite,
        load_cases,
        load_catalog,
        load_suite,
    )
    from toolcrib.evaluate.comparison import CaseChange, CaseOutcome, compare
    from toolcrib.evaluate.draft import DraftEvidence, catalog_texts, draft_cases
    from toolcrib.evaluate.evaluation import EvalResult, evaluate, open_search, open_search_of
    from toolcrib.evaluate.measures import EvalScores
    from toolcrib.evaluate.report import Report, ReportSide
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "case_file": ("write_cases",),
            "cases": (
                "EvalCase",
                "EvalCases",
                "EvalSuite",
                "load_cases",
                "load_catalog",
                "load_suite",
            ),
            "comparison": ("CaseChange", "CaseOutcome", "compare"),
            "draft": ("DraftEvidence", "catalog_texts", "draft_cases"),
            "evaluation": ("EvalResult", "evaluate", "open_search", "open_search_of"),
            "measures": ("EvalScores",),
            "report": ("Report", "ReportSide"),
        },
    )

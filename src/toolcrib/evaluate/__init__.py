"""How well search finds what it should, on a catalog and queries with known answers.

    catalog.jsonl, queries.jsonl → load_suite → EvalSuite
    EvalSuite, settings → open_search → Search over that catalog
    Search, cases → evaluate → EvalResult: ranked ids, EvalScores of all and of each split

cases       the files: one JSON object a line, every key checked, unused keys reported
evaluation  runs the same search as everywhere, without the cut, on an index of its own
measures    recall@k, nDCG@10, MRR; for unanswerable queries the share that is left empty

A query with an empty list `relevant` is unanswerable: search should abstain. Equivalent tools count
as one (`equiv`), one relevant tool may be enough (`relevance: any`), and grades weigh in nDCG.

The scores of one run compare with those of another on the same files alone. Nothing of the catalog
is stored, except the vectors of its tools where the caller gives a cache for them.

It is not a benchmark: speed, peers and the tables of the documentation are in `benchmarks/`, which
builds on this package. `toolcrib eval` prints the result; docs/eval.md tells how to write a suite.
"""

from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.evaluate.cases import EvalSuite, load_suite
    from toolcrib.evaluate.evaluation import EvalResult, evaluate, open_search
    from toolcrib.evaluate.measures import EvalScores
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "cases": ("EvalSuite", "load_suite"),
            "evaluation": ("EvalResult", "evaluate", "open_search"),
            "measures": ("EvalScores",),
        },
    )

__all__ = [
    "EvalResult",
    "EvalScores",
    "EvalSuite",
    "evaluate",
    "load_suite",
    "open_search",
]

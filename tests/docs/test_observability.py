"""The page about observability names every metric, every attribute and every span that there is."""

import re
from pathlib import Path

from toolcrib.observe import METRICS, otlp
from toolcrib.observe import otel_names as names

PAGE = (Path(__file__).parents[2] / "docs" / "guide" / "observability.md").read_text("utf-8")
RESOURCE = {names.SERVICE_NAME, names.SERVICE_VERSION, names.SERVICE_INSTANCE}


def test_every_metric_is_there_with_its_labels_and_no_other():
    rows = re.findall(r"^\| `(toolcrib_\w+)` \| (.*?) \|", PAGE, re.MULTILINE)
    listed = [(name, tuple(re.findall(r"`(\w+)`", labels))) for name, labels in rows]
    assert listed == [(metric.name, metric.labels) for metric in METRICS]


def test_every_name_of_the_conventions_is_there():
    values = {value for key, value in vars(names).items() if key.isupper()}
    texts = {value for value in values if isinstance(value, str)} - RESOURCE
    for name in texts - {names.SEARCH, names.CALL}:
        assert name in PAGE, name


def test_every_fact_that_is_sent_is_there():
    for name in otlp._FACTS.values():
        last = name.rpartition(".")[2]
        assert f"`{name}`" in PAGE or f"`.{last}`" in PAGE, name

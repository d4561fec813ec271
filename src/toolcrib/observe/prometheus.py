"""The page of Prometheus, by its own library: the extra `metrics`."""

from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from toolcrib.observe.metrics import METRICS, Durations, Labels, Metric, Samples
from toolcrib.store import BOUNDS_S

CONTENT_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4


def metrics_page(samples: Samples) -> bytes:
    """These samples as text; a metric that has none is named all the same."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Samples(samples))
    return generate_latest(registry)


class _Samples(Collector):
    def __init__(self, samples: Samples) -> None:
        self._samples = samples

    def collect(self) -> Iterator[Family]:
        """As the library has it."""
        for metric in METRICS:
            yield _family(metric, self._samples.get(metric.name, {}))


def _family(metric: Metric, found: Mapping[Labels, float | Durations]) -> Family:
    if metric.kind == "histogram":
        histogram = HistogramMetricFamily(metric.name, metric.help, labels=metric.labels)
        for labels, each in found.items():
            if isinstance(each, Durations):
                histogram.add_metric(labels, _buckets(each), each.seconds)
        return histogram
    make = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
    family = make(metric.name, metric.help, labels=metric.labels)
    for labels, each in found.items():
        if not isinstance(each, Durations):
            family.add_metric(labels, each)
    return family


def _buckets(durations: Durations) -> list[tuple[str, float]]:
    """What took at most so long, by the bound."""
    bounds = [*map(str, BOUNDS_S), "+Inf"]
    return list(zip(bounds, accumulate(durations.buckets), strict=True))

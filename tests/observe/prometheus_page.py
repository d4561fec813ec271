"""A page for Prometheus, read by its own parser."""

from prometheus_client.parser import text_string_to_metric_families

from toolcrib.observe import METRICS

PageSamples = dict[str, dict[tuple[str, ...], float]]


def read_page(page: bytes) -> PageSamples:
    """The samples by their names, and by the values of their labels, in the order of `METRICS`.

    A metric without any is there, too, by its own name.
    """
    labels = {metric.name.removesuffix("_total"): (*metric.labels, "le") for metric in METRICS}
    found: PageSamples = {}
    for family in text_string_to_metric_families(page.decode()):
        found.setdefault(family.name, {})
        for sample in family.samples:
            order = [name for name in labels[family.name] if name in sample.labels]
            assert len(order) == len(sample.labels), sample
            values = tuple(sample.labels[name] for name in order)
            found.setdefault(sample.name, {})[values] = sample.value
    return found

"""What the benchmark of tenants spreads and reports; the whole of it takes minutes."""

from argparse import Namespace

from benchmarks.replicas.tenants import Look, Result, SeededTenant, Standing, report, sample, spread

SAID = Namespace(tenants=100, smallest=10, largest=1_000)


def test_a_size_ten_times_as_large_is_ten_times_as_rare_and_all_are_mixed():
    sizes = [size for _, size in spread(SAID)]
    assert len(sizes) == SAID.tenants
    assert (min(sizes), max(sizes)) == (10, 1_000)
    assert sum(size < 100 for size in sizes) > 5 * sum(size >= 100 for size in sizes)
    assert sizes != sorted(sizes)
    assert len({name for name, _ in spread(SAID)}) == SAID.tenants


def test_one_of_each_class_of_sizes_is_searched_again():
    tenants = [SeededTenant(str(size), size, "") for size in (1_000, 10, 18, 32, 56, 100, 178, 562)]
    assert [each.tools for each in sample(tenants)] == [18, 56, 178, 1_000]


def test_the_report_has_medians_by_size_and_what_fits():
    looks = [Look(10, 0.001, 0.002), Look(12, 0.003, 0.004), Look(1_000, 0.5, 0.6)]
    standing = Standing(7, 20.4, 22.6, 12)
    text = report(Result(looks, looks[:2], looks[2:], standing, standing), SAID)
    assert "| tenants searched | 4 | 3 |" in text
    assert "| tenants open in the end | 7 | 7 |" in text
    assert "| 10–12 | 2.0 | 2.0 | 3.0 | - | - |" in text
    assert "| 1,000–1,000 | 500.0 | - | - | 500.0 | 600.0 |" in text

import pytest

from tests.cli.conftest import Run


@pytest.fixture
def home(tmp_path, monkeypatch: pytest.MonkeyPatch) -> str:
    config = tmp_path / "settings.toml"
    config.write_text('store = ":memory:"\nplugins = false\n', encoding="utf-8")
    for variable in ("TOOLCRIB_TOOL_SEARCH", "ENABLE_TOOL_SEARCH"):
        monkeypatch.delenv(variable, raising=False)
    return str(config)


def test_the_figures_add_up(run: Run, home: str):
    figures = run("--config", home, "tokens", "--json").json
    assert figures["how"] == "counted with o200k_base"
    assert figures["saved"] == figures["eager"] - figures["deferred"] > 0
    assert figures["share"] == pytest.approx(figures["saved"] / figures["eager"])
    assert figures["eager"] == sum(each["eager"] for each in figures["sources"])
    assert figures["tools"] == sum(each["tools"] for each in figures["sources"])
    assert 0 < figures["break_even"] <= figures["tools"]


def test_the_table_has_each_source_and_the_sum(run: Run, home: str):
    figures = run("--config", home, "tokens", "--json").json
    head, builtin, told, total, verdict = run("--config", home, "tokens").out.splitlines()
    assert head.split() == ["source", "tools", "eager", "deferred", "saved"]
    assert builtin.split()[:2] == ["builtin", str(figures["tools"])]
    assert told.startswith("(search tool, note, summary)")
    assert total.split() == [
        "all",
        *(f"{figures[key]:,}" for key in ("tools", "eager", "deferred", "saved")),
    ]
    assert verdict.startswith(f"Deferring saves {figures['share']:.1%} of each request's tools")
    assert f"revealed {figures['break_even']} of them" in verdict


def test_with_nothing_deferred_it_says_so(run: Run, home: str):
    ran = run("--config", home, "tokens", "--mode", "off")
    assert "Nothing is deferred" in ran.out
    assert "(search tool" not in ran.out


def test_a_mode_that_is_none_is_an_error(run: Run, home: str):
    assert "is no mode" in str(run("--config", home, "tokens", "--mode", "some").error)

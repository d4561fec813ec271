from pathlib import Path

from tests.cli.conftest import Run


def test_the_index_is_stored_and_told_about(run: Run, config: str):
    stats = run("--config", config, "index", "--json").json
    assert (stats["capabilities"], stats["kinds"], stats["embedder"]) == (
        1,
        {"skill": 1},
        "bundled",
    )
    assert Path(stats["store"]).suffix == ".index"
    assert Path(stats["store"]).exists()
    assert Path(stats["store"]).stat().st_size


def test_the_index_lies_in_the_state_folder(run: Run, home: Path):
    ran = run("index")
    assert ran.code == 0
    [store] = home.rglob("*.index")
    assert str(store) in ran.out.replace("\n", "")
    assert "capabilities 2" in ran.out


def test_or_in_the_catalog_file_if_that_is_set(run: Run, config: str):
    file = Path(config)
    file.write_text(f'index = "sqlite"\n{file.read_text()}')
    stats = run("--config", config, "index", "--json").json
    assert Path(stats["store"]) == file.with_name("catalog.db")
    assert Path(stats["store"]).stat().st_size


def test_nothing_can_be_kept_in_memory(run: Run, config: str):
    file = Path(config)
    file.write_text(f'index = "memory"\n{file.read_text()}')
    ran = run("--config", config, "index")
    assert ran.code != 0
    assert 'set it to "auto"' in str(ran.error)


def test_a_search_after_it_finds_the_same(run: Run, config: str):
    before = run("--config", config, "search", "forms", "--json").json
    run("--config", config, "index")
    assert run("--config", config, "search", "forms", "--json").json == before


def test_an_index_can_be_built_again_and_again(run: Run, config: str):
    for _ in range(3):
        assert run("--config", config, "index", "--json").json["capabilities"] == 1

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from benchmarks import reliability
from benchmarks.curve import Panel, drawn_panels
from benchmarks.reliability import AS_IT_IS, MORE, Said, _curves
from toolcrib.evaluate.calibration import Forecast, Reliability, ReliabilityBin
from toolcrib.settings import EmbedSettings, Settings

SVG = "{http://www.w3.org/2000/svg}"


def said(language: str, count: int, *, answerable: bool) -> list[Said]:
    return [Said(language, answerable, Forecast(0.9, answerable))] * count


def test_half_of_the_second_curve_has_no_answer_where_there_are_enough():
    every = {
        "everyday": [
            *said("English", 6, answerable=True),
            *said("English", 1, answerable=False),
            *said("Chinese", 2, answerable=True),
        ],
        "bfcl": said("English", 50, answerable=False),
        "acebench_zh": said("Chinese", 1, answerable=False),
    }
    english = _curves("English", every)
    assert (english[AS_IT_IS].size, english[MORE].size) == (7, 12)
    [both] = english[MORE].bins
    assert both.observed == 0.5
    chinese = _curves("Chinese", every)
    assert (chinese[AS_IT_IS].size, chinese[MORE].size) == (2, 3)


def test_each_language_is_a_panel_with_its_curves_and_errors():
    curve = Reliability([ReliabilityBin(3, 0.2, 0.1), ReliabilityBin(5, 0.9, 0.8)])
    panels = [Panel(name, [curve, curve], ["one", "two"]) for name in ("English", "Chinese")]
    picture = ET.fromstring(drawn_panels(panels))
    assert len(picture.findall(f"{SVG}svg")) == 2
    assert len(list(picture.iter(f"{SVG}polyline"))) == 4
    assert len(list(picture.iter(f"{SVG}circle"))) == 8
    assert {"English", "Chinese", "one", "two"} <= {
        each.text for each in picture.iter(f"{SVG}text")
    }


def test_it_is_one_command(
    bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    catalog = (bench / "mcp_big" / "catalog.jsonl").read_text(encoding="utf-8")
    requests = [
        {"id": "1", "query": "weather in a city", "relevant": ["sky::get_forecast"]},
        {"id": "2", "query": "发送消息", "relevant": ["chat::send_message"], "split": "zh_single"},
        {"id": "3", "query": "bake a cake", "relevant": []},
    ]
    for name in ("everyday", *reliability.UNANSWERABLE):
        folder = bench / name
        folder.mkdir()
        (folder / "catalog.jsonl").write_text(catalog, encoding="utf-8")
        text = "".join(f"{json.dumps(each)}\n" for each in requests)
        (folder / "queries.jsonl").write_text(text, encoding="utf-8")
    words = Settings(store=":memory:", embed=EmbedSettings(embedder="none"))
    monkeypatch.setattr(reliability, "SETTINGS", words)
    svg = tmp_path / "reliability.svg"
    reliability.main(["--bench-dir", str(bench), "--svg", str(svg)])
    printed = capsys.readouterr()
    assert "| English | everyday | 2 |" in printed.out
    assert "| Chinese | with more unanswerable ones | 1 |" in printed.out
    assert "bfcl: 1 requests" in printed.err
    assert ET.parse(svg)


def test_without_the_sets_it_says_so(bench: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit, match="2"):
        reliability.main(["--bench-dir", str(bench)])
    assert "no set 'acebench_en'" in capsys.readouterr().err

from xml.etree import ElementTree as ET

from benchmarks.curve import Curve, drawn

SVG = "{http://www.w3.org/2000/svg}"


def test_each_curve_is_a_line_with_its_name_within_the_picture():
    curves = [Curve("one", [(50, 0), (100, 100)]), Curve("two", [(60, 10), (90, 40)])]
    picture = ET.fromstring(drawn(curves))
    _, _, width, height = map(float, picture.attrib["viewBox"].split())
    lines = picture.findall(f"{SVG}polyline")
    assert len(lines) == 2
    for line in lines:
        for point in line.attrib["points"].split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= width
            assert 0 <= y <= height
    assert {"one", "two"} <= {text.text for text in picture.findall(f"{SVG}text")}

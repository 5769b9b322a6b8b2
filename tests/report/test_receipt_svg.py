"""The receipt as a picture for pages: true to size, told in words too, readable without colour, safe to embed."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.memory.facts import facts
from vllmdoctor.languages import LANGUAGES
from vllmdoctor.memory.receipt import Receipt, receipt_of
from vllmdoctor.report.receipt_svg import _COLOURS, _PATTERNS, receipt_svg

SVG = "{http://www.w3.org/2000/svg}"
SHORT = {
    "vllm_version": "0.11.0", "gpu_total_gib": 24.0, "gpu_memory_utilization": 0.9, "weights_gib": 15.0,
    "activation_peak_gib": 1.5, "non_torch_gib": 0.1, "available_kv_gib": 5.0, "required_kv_gib": 8.0, "cuda_graph_gib": 0.5,
}  # fmt: skip


def parsed(receipt: Receipt, language: str = "en", width_px: int = 640) -> ElementTree.Element:
    return ElementTree.fromstring(receipt_svg(receipt, language, width_px=width_px))


def texts(svg: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in svg.iter(f"{SVG}text")]


def bar(svg: ElementTree.Element) -> dict[str, tuple[float, float]]:
    """Left and width of each part of the bar, which is the first of its class in the picture."""
    found: dict[str, tuple[float, float]] = {}
    for box in svg.iter(f"{SVG}rect"):
        style = box.get("class", "")
        if style.startswith("vd-part "):
            found.setdefault(style.split()[-1], (float(box.attrib["x"]), float(box.attrib["width"])))
    return found


def test_the_parts_are_as_long_as_their_sizes() -> None:
    """640 px less two edges of 8 for 24 GiB: 26 px for a GiB."""
    parts = bar(parsed(receipt_of(facts(**SHORT))))
    assert parts["vd-weights"] == (8.0, 390.0)
    assert parts["vd-activation_peak"] == (398.0, 39.0)
    assert parts["vd-kv_available"] == pytest.approx((439.6, 130.0))
    assert parts["vd-outside"] == pytest.approx((582.6, 49.4))


def test_the_budget_has_a_line_and_the_numbers_stand_in_words() -> None:
    svg = parsed(receipt_of(facts(**SHORT)))
    lines = [path.attrib["d"] for path in svg.iter(f"{SVG}path") if path.get("class") == "vd-end"]
    assert [line.split("V")[0] for line in lines] == ["M569.6 28"]  # 8 + 21.6 × 26
    shown = texts(svg)
    assert {"budget 21.60 GiB", "weights", "15.00 GiB", "one request needs", "8.00 GiB", "missing", "3.00 GiB"} <= set(
        shown
    )


def test_a_model_larger_than_the_gpu_shows_where_the_gpu_ends() -> None:
    told = facts(gpu_total_gib=24.0, gpu_memory_utilization=0.9, weights_gib=30.0, available_kv_gib=-9.0)
    assert "GPU 24.00 GiB" in texts(parsed(receipt_of(told)))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_screen_reader_is_told_everything(language: str) -> None:
    svg = parsed(receipt_of(facts(**SHORT)), language)
    assert (svg.get("role"), svg.get("lang")) == ("img", language)
    named = {element.get("id"): element for element in svg}
    title, description = (named[mark].text or "" for mark in svg.attrib["aria-labelledby"].split())
    assert "24.00 GiB" in title
    for size in ("15.00", "1.50", "0.10", "5.00", "8.00", "3.00", "21.60"):
        assert f"{size} GiB" in description
    if language != "en":
        assert "weights" not in description


def test_letters_and_patterns_tell_the_parts_apart_without_colour() -> None:
    shown = {**SHORT, "other_processes_gib": 1.0, "activation_peak_gib": 1.0}
    assert {"W", "A", "N", "G", "?", "K", "O"} <= set(texts(parsed(receipt_of(facts(**shown)))))
    assert len(set(_PATTERNS.values())) == len(_PATTERNS) == len(_COLOURS) - 2, "only one has none but the empty part"


def test_it_takes_nothing_from_elsewhere() -> None:
    source = receipt_svg(receipt_of(facts(**SHORT)))
    assert not re.search(r"<script|\bon\w+=|href|@import|@font-face|url\((?!#)", source)
    assert source.count("http") == 1, "the namespace"


def test_two_on_one_page_do_not_share_their_patterns() -> None:
    one, other = (receipt_svg(receipt_of(facts(**{**SHORT, "weights_gib": gib}))) for gib in (15.0, 14.5))
    marks = [set(re.findall(r' id="([^"]+)"', source)) for source in (one, other)]
    assert not marks[0] & marks[1]
    for source, own in zip((one, other), marks, strict=True):
        assert set(re.findall(r"url\(#([^)]+)\)", source)) <= own


def luminance(colour: str) -> float:
    """Of a colour as in WCAG 2."""
    parts = (int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5))
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("background", ["#ffffff", "#1e1e1e"])
def test_the_colours_stand_out_on_light_and_dark_pages(background: str) -> None:
    for colour in _COLOURS.values():
        if colour != "none":
            light, dark = sorted((luminance(colour), luminance(background)), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 3, colour


def test_too_little_known_draws_nothing() -> None:
    assert receipt_svg(receipt_of(facts(gpu_total_gib=24.0))) == ""


sizes = st.floats(0.0, 300.0, allow_nan=False)


@settings(deadline=None, max_examples=60)
@given(
    st.floats(1.0, 300.0),
    sizes,
    sizes,
    st.floats(-50.0, 300.0),
    sizes,
    st.integers(0, 2000),
    st.sampled_from(LANGUAGES),
)
def test_any_receipt_is_a_picture_that_stays_within_its_frame(
    total: float, weights: float, peak: float, kv: float, others: float, width: int, language: str
) -> None:
    told = facts(gpu_total_gib=total, gpu_memory_utilization=0.9, weights_gib=weights, activation_peak_gib=peak,
                 available_kv_gib=kv, other_processes_gib=others)  # fmt: skip
    svg = parsed(receipt_of(told), language, width)
    edge, bottom = float(svg.attrib["width"]), float(svg.attrib["height"])
    for element in (*svg.iter(f"{SVG}rect"), *svg.iter(f"{SVG}text")):
        x, y = float(element.attrib["x"]), float(element.attrib["y"])
        assert x >= 0 and x + float(element.get("width", 0)) <= edge + 0.6
        assert y >= 0 and y + float(element.get("height", 0)) <= bottom

"""Raise and lower: the same direction in every language, and the one that the remedy declares."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatch

import pytest

from tests.i18n.directions import direction_faults, directions, swapped
from tests.i18n.test_rules import KNOWN, STATES, TRANSLATIONS, UNKNOWN, _setting, all_texts
from vllmdoctor.report.rendering import Rendering
from vllmdoctor.rules.model import Fix

# Read by hand: the translation says the same with a word for another direction ("a small loss of accuracy" is
# "accuracy goes down a little"; "smaller weights or more GPUs" has "increase the GPUs"). Rule and place, * for any.
ACCEPTED = {
    "vi": (
        "*.cost next-divisor|change-tensor-parallel-size|to-visible-gpus|no-expert-parallel",
        "*.cost fp8-and-shorter-context|raise-mm-limit",
        "cuda-oom-inference does_not_help.raise-utilization.text",
        "cuda-oom-profiling does_not_help.raise-context-for-images.text",
        "max-model-len-above-derived causes.encoder.text",
        "max-model-len-exceeds-kv-cache verify.concurrency.text",
        "no-cache-blocks fixes.*.lower-max-model-len.why",
        "speculative-config-invalid does_not_help.more-gpus.title",
    ),
    "ja": (
        "*.cost enforce-eager|install-c-compiler|native-sampler|no-expert-parallel|rope-scaling",
        "*.cost fp8-and-shorter-context|to-context-length|to-sequences|for-draft-tokens",
        "*.cost raise-mm-limit|raise-max-num-batched-tokens",
        "*.why quantized-weights|lower-max-num-batched-tokens|lower-max-model-len|more-host-memory|raise-max-loras",
        "auto-fit-max-model-len-failed causes.weights-fill-the-budget.text",
        "cpu-swap-space-exhausted fixes.*.raise-gpu-memory-utilization.why",
        "cuda-oom-graph-capture first_check",
        "cuda-oom-graph-capture fixes.*.fewer-cuda-graph-sizes.why",
        "cuda-oom-inference does_not_help.raise-utilization.text",
        "cuda-oom-loading-weights causes.loading-before-splitting.text",
        "cuda-oom-profiling fixes.*.lower-gpu-memory-utilization.why",
        "cuda-oom-unknown-phase causes.while-loading.text",
        "custom-all-reduce-failed does_not_help.enforce-eager.text",
        "disk-full fixes.*.move-hub-cache.why",
        "kv-cache-preemption causes.many-requests.text",
        "max-model-len-exceeds-kv-cache verify.concurrency.text",
        "multimodal-profiling-budget first_check",
        "nccl-init-hang first_check",
        "no-cache-blocks first_check",
        "no-cache-blocks does_not_help.raise-beyond-the-gpu.text",
        "speculative-config-invalid does_not_help.more-gpus.title",
        "swap-space-too-large causes.default-on-small-machine.text",
    ),
}


def accepted(place: tuple[str, str], language: str) -> bool:
    name = " ".join(place)
    for pattern in ACCEPTED[language]:
        part, _, remedies = pattern.partition(" ")
        several = part.startswith("*.")
        patterns = [f"* fixes.*.{remedy}{part[1:]}" for remedy in remedies.split("|")] if several else [pattern]
        if any(fnmatch(name, one) for one in patterns):
            return True
    return False


@STATES
@pytest.mark.parametrize("language", TRANSLATIONS)
def test_texts_turn_the_same_way_as_in_english(language: str, state: int) -> None:
    """Read what it shows against the English. If the direction is right, reword it, or name the place in ACCEPTED."""
    english, texts = all_texts("en", state), all_texts(language, state)
    found = {place: direction_faults(texts[place], english[place], language) for place in english}
    assert not {place: faults for place, faults in found.items() if faults and not accepted(place, language)}


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_swapped_directions_are_noticed(language: str) -> None:
    """Every direction of every text is turned round; the few that are missed stand in texts with both directions."""
    english, texts = all_texts("en", UNKNOWN), all_texts(language, UNKNOWN)
    places = {(text, english[place]): place for place, text in texts.items() if not accepted(place, language)}
    noticed = [
        bool(direction_faults(wrong, original, language))
        for text, original in places
        for wrong in swapped(text, language)
    ]
    assert len(noticed) > 200
    assert sum(noticed) > 0.9 * len(noticed)


def test_titles_with_a_swapped_direction_are_all_noticed() -> None:
    for language in TRANSLATIONS:
        english, texts = all_texts("en", UNKNOWN), all_texts(language, UNKNOWN)
        titles = [place for place in english if place[1].endswith("title") and not accepted(place, language)]
        titles = [place for place in titles if len(directions(english[place], "en")) == 1]
        wrong = [(place, text) for place in titles for text in swapped(texts[place], language)]
        assert len(wrong) > 30
        assert all(direction_faults(text, english[place], language) for place, text in wrong)


@pytest.mark.parametrize("language", ["en", *TRANSLATIONS])
def test_remedies_say_the_direction_in_which_they_turn(language: str) -> None:
    turned = [fix for fix in _fixes(language) if fix.remedy.direction]
    assert len({fix.remedy.id for fix in turned}) > 10
    for fix in turned:
        other = {"up": "down", "down": "up"}[fix.remedy.direction]
        for rendering in _setting(language)[1]:
            said = directions(rendering.text(fix.remedy.title), language)
            assert other not in said, f"{fix.remedy.id}: {rendering.text(fix.remedy.title)}"


@pytest.mark.parametrize("language", ["en", *TRANSLATIONS])
def test_mentions_of_a_remedys_own_option_turn_its_way(language: str) -> None:
    """ "Raise `--max-model-len`" stands nowhere in a fix that lowers it."""
    rendering = _setting(language)[1][KNOWN]
    wrong = {
        (fix.remedy.id, text)
        for fix in _fixes(language)
        for option, text in _texts_about_options(fix, rendering)
        for way in turned_ways(text, option, language)
        if fix.remedy.direction and way != fix.remedy.direction
    }
    assert not wrong


def test_ways_of_an_option() -> None:
    assert turned_ways("Lower `--max-num-seqs` or raise `--x`.", "max_num_seqs", "en") == ["down"]
    assert turned_ways("Hãy tăng `--max-num-seqs` lên 8.", "max_num_seqs", "vi") == ["up"]
    assert turned_ways("`max_num_seqs` を下げます。", "max_num_seqs", "ja") == ["down"]
    assert turned_ways("`--max-num-seqs` を8に増やします。", "max_num_seqs", "ja") == ["up"]


VERBS = {
    "en": {"up": r"(?:rais|increas)\w+ {option}", "down": r"(?:lower|reduc|decreas)\w* {option}"},
    "vi": {"up": r"(?:tăng|nâng) {option}", "down": r"(?:giảm|hạ) {option}"},
    "ja": {
        "up": r"{option} ?を[^。、を]{{0,20}}(?:上げ|増や|大きく|引き上げ)",
        "down": r"{option} ?を[^。、を]{{0,20}}(?:下げ|減ら|小さく|引き下げ)",
    },
}


def turned_ways(text: str, option: str, language: str) -> list[str]:
    """The directions in which a text tells to turn an option."""
    name = rf"`(?:--)?{option.replace('_', '[-_]')}`"
    verbs = VERBS[language].items()
    return [way for way, verb in verbs if re.search(verb.format(option=name), text, re.IGNORECASE)]


def _fixes(language: str) -> list[Fix]:
    return [fix for rule in _setting(language)[0].values() for fix in rule.fixes]


def _texts_about_options(fix: Fix, rendering: Rendering) -> Iterator[tuple[str, str]]:
    """Each option that the remedy sets, with each text that tells what to do."""
    texts = [rendering.text(one) for one in (fix.remedy.title, fix.remedy.text, fix.remedy.effect, fix.text)]
    yield from ((option, text) for option in fix.remedy.changes.arguments for text in texts)


def test_directions() -> None:
    assert directions("Raise `--max-model-len`", "en") == {"up"}
    assert directions("Giảm --max-model-len", "vi") == {"down"}
    assert directions("Nâng cấp vLLM", "vi") == set()
    assert directions("コンテキスト長を下げる", "ja") == {"down"}
    assert direction_faults("Tăng tham số.", "Lower the option.", "vi")
    assert not direction_faults("Giảm tham số.", "Lower the option.", "vi")
    assert direction_faults("空きが増えます。", "Less room.", "ja")

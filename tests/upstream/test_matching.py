"""Which signature belongs to which template, whatever the placeholders held."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.upstream.trees import signature
from vllmdoctor.rules.model import Signature
from vllmdoctor.upstream.glob import glob_match
from vllmdoctor.upstream.matching import links
from vllmdoctor.upstream.relaxed import FILLING, relaxed_pattern
from vllmdoctor.upstream.templates import RAISE, WARNING, Template, pieces_of


def template(
    text: str, exception: str = "ValueError", kind: str = RAISE, file: str = "vllm/config/model.py"
) -> Template:
    return Template(kind, exception, file, "verify", text)


def linked(signature: Signature, one: Template) -> str:
    """pattern, sample, or none."""
    found = links([signature], [one])
    return "none" if not found else "pattern" if found[0].by_pattern else "sample"


@pytest.mark.parametrize(
    "pattern, text",
    [
        (r"max seq len \((?P<n>\d{1,9})\) is larger", "The max seq len ({self.max_model_len}) is larger than {n}"),
        (r"needs (?P<need>\d+\.\d+) GiB, only (?P<left>[\d.]{1,9}\d) GiB", "needs {a:.2f} GiB, only {b:.2f} GiB left"),
        (r"Unknown dtype: '?(?P<x>[\w.-]{1,60})'?", "Unknown dtype: {dtype!r}"),
        (r"Model architectures \['(?P<x>\w{1,80})'\] are not", "Model architectures {names} are not supported"),
        (r"No file at (?P<x>/[\w./-]{1,99}) or beside it", "No file at {path} or beside it"),
        (r"^ValueError: group \d of \d{2} is empty", "group %d of %d is empty"),
        (r"Value error, (?P<x>\w{1,40}) must be positive \[type=value_error", "{name} must be positive"),
        (r"rank \d+\b(?! of none) is (?:out of bounds|lost)", "rank {rank} is out of bounds"),
    ],
)
def test_a_pattern_takes_its_template(pattern: str, text: str) -> None:
    assert linked(signature(pattern), template(text)) == "pattern"


@pytest.mark.parametrize(
    "pattern, text",
    [
        (r"max seq len \(\d+\) is larger", "The max seq len ({n}) is smaller than {m}"),
        (r"quantization (?:awq|gptq) is broken", "{method} is broken"),
        (r"must be positive", "{anything}"),
        (r"group \d+ is empty", "group of {name} and {other} is empty"),
    ],
)
def test_another_wording_is_not_taken(pattern: str, text: str) -> None:
    assert linked(signature(pattern), template(text)) == "none"


def test_unless_and_scope_hold_back() -> None:
    text = "Unknown dtype: {x} of the draft model"
    assert linked(signature(r"Unknown dtype: \w+", unless="draft model"), template(text)) == "none"
    warning = template("Block size {n} is unusual", kind=WARNING)
    assert linked(signature(r"Block size \d+ is unusual"), warning) == "none"
    assert linked(signature(r"Block size \d+ is unusual", scope="warning"), warning) == "pattern"


def test_a_sample_shows_the_template_that_the_pattern_names_a_value_of() -> None:
    one = signature(r"max_tokens must be at least 1, got -\d+", "ValueError: max_tokens must be at least 1, got -5.")
    assert linked(one, template("{parameter_name} must be at least 1, got {value}.")) == "sample"


def test_a_sample_may_be_cut() -> None:
    sample = "ValueError: The prompt (7) is longer than what the model's context has"
    one = signature(r"prompt \(7\) is longer than what", sample)
    assert linked(one, template("The prompt ({n}) is longer than what the model's context has room for")) == "sample"


def test_words_inside_of_a_value_make_no_link() -> None:
    sample = "Exception in worker 1 while calling load: CUDA out of memory of the device"
    one = signature("CUDA out of memory of the device", sample)
    assert linked(one, template("Exception in worker {rank} while calling {method}: {error}")) == "none"


def test_a_message_that_is_part_of_another_makes_no_link() -> None:
    one = signature(r"Prefix caching is not supported", "ValueError: Prefix caching is not supported")
    assert linked(one, template("caching is not supported")) == "none"


def test_glob_tells_what_the_placeholders_held() -> None:
    pieces = pieces_of("rank {rank} of {size} took {a}{b} s")
    match = glob_match(pieces, "rank 3 of 8 took 1.5 s")
    assert match is not None
    assert match.values == ("3", "8", "1.5", "")
    assert glob_match(pieces, "rank 3 of 8") is None


@given(
    st.lists(st.sampled_from(["ab ", "{x}", "c", "{y}", " d:"]), max_size=6), st.text(alphabet="abcd: 1", max_size=6)
)
@settings(max_examples=100, deadline=None)
def test_a_filled_template_is_always_found(parts: list[str], value: str) -> None:
    text = "".join(value if part.startswith("{") else part for part in parts)
    match = glob_match(pieces_of("".join(parts)), text)
    assert match is not None
    assert len(match.values) == sum(part.startswith("{") for part in parts)


@pytest.mark.parametrize("pattern", [r"(a)\1 twice over", r"[^x]{3} and (?i:more) words", r"(?>atomic) group"])
def test_relaxed_patterns_compile(pattern: str) -> None:
    try:
        expected = relaxed_pattern(pattern)
    except Exception as problem:  # atomic groups need Python 3.11
        pytest.skip(str(problem))
    assert expected.search("x") is None


def test_a_relaxed_pattern_still_takes_real_text() -> None:
    relaxed = relaxed_pattern(r"took (?P<t>\d+\.\d{2}) s(?: on (?P<gpu>GPU \d))?")
    assert relaxed.search("took 1.25 s on GPU 3")
    assert relaxed.search(f"took {FILLING} s")
    assert not relaxed.search("took ages s")


def test_a_signature_that_asks_for_a_frame_takes_only_messages_raised_there() -> None:
    asking = signature("is not supported", frames=r"vllm/config/\w{1,20}\.py verify ")
    text = "this value is not supported"
    assert linked(asking, template(text, file="vllm/config/model.py")) == "pattern"
    assert linked(asking, template(text, file="vllm/lora/model.py")) == "none"

import pytest

from vllmdoctor.logs.paste import without_markup

from .samples import exceptions


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("# [BUG]RuntimeError: no room", "RuntimeError: no room"),
        ("### Startup on WSL2 fails (RuntimeError: UVA is not available)", "RuntimeError: UVA is not available)"),
        ('[Bug]: Serve with LoRA error "ValueError: x is unsupported"', 'ValueError: x is unsupported"'),
        ("- ValueError: no room", "ValueError: no room"),
        ("1. `ValueError: no room`", "ValueError: no room"),
        ("**torch.cuda.OutOfMemoryError: no room**", "torch.cuda.OutOfMemoryError: no room"),
        ("使用vllm推理，报错 TypeError: no room", "TypeError: no room"),
        ("vllm起動時のエラー：RuntimeError: no room", "RuntimeError: no room"),
        ("ImportError: no module ‘resource’", "ImportError: no module 'resource'"),
        ("It always ends in “ ValueError: no room”", 'ValueError: no room"'),
        ("E       RuntimeError: no room", "RuntimeError: no room"),
        ("E   torch.cuda.OutOfMemoryError: no room", "torch.cuda.OutOfMemoryError: no room"),
        ("FAILED tests/a.py::test_b[1] - RuntimeError: no room", "RuntimeError: no room"),
    ],
)
def test_an_exception_loses_what_leads_to_it(raw: str, text: str) -> None:
    assert without_markup(raw) == text


@pytest.mark.parametrize(
    "raw",
    [
        "Error in inspecting model architecture 'X': ValueError: y",  # the beginning tells the failure
        "[rank0]: ValueError: x",  # a process, not a title's tag
        "[Worker 3] ValueError: x",
        "2025-01-01 10:00:00 ValueError: x",
        "I set it, and RuntimeError: x came up",
        "# of errors: 3",
        "E RuntimeError: x",  # one letter of a sentence, not pytest's margin
        "FAILED to start - RuntimeError: x",
    ],
)
def test_other_lines_keep_their_beginning(raw: str) -> None:
    assert without_markup(raw) == raw


def test_a_title_is_an_exception() -> None:
    (found,) = exceptions("# [Bug]: start fails with ValueError: no room\n\nHow can I solve it?")
    assert (found.exception, found.text) == ("ValueError", "ValueError: no room")

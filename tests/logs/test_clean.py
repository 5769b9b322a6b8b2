import pytest

from vllmdoctor.logs.clean import LONGEST_LINE, sub_lines


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[0;36m(APIServer pid=1)\x1b[0;0m \x1b[32mINFO\x1b[0m x", "(APIServer pid=1) INFO x"),
        ("^[[0;36m(APIServer pid=1)^[[0;0m text^M", "(APIServer pid=1) text"),
        ("[36m(LLMRayActor pid=9)[0m text", "(LLMRayActor pid=9) text"),
        (r"\u001b[1;31mError\u001b[0m", "Error"),
        ("\ufeffINFO\x00 a\u200bb\u00a0c", "INFO ab c"),
        ("\x1b]0;title\x07text\r", "text"),
        ("keeps\ttabs", "keeps\ttabs"),
        # An export of CloudWatch: rows of CSV, escapes and returns spelled as octal numbers.
        (
            '1700000000123,"#033[1;36m(EngineCore_0 pid=9)#033[0;0m   File ""/srv/x.py"", line 4#015"',
            '1700000000123 (EngineCore_0 pid=9)   File "/srv/x.py", line 4',
        ),
        ("1700000000123,no quotes needed", "1700000000123 no quotes needed"),
        # A single bracketed "1m" without ESC is a duration as likely as a colour.
        ("took [1m of work]", "took [1m of work]"),
    ],
)
def test_escape_sequences_and_their_debris_vanish(raw: str, shown: str) -> None:
    assert sub_lines(raw) == [shown]


def test_progress_bar_keeps_first_and_last_two_states() -> None:
    states = [f"Loading shards: {n}% Completed | {n}/100 [00:01<00:03, 1.2it/s]" for n in range(0, 100, 10)]
    assert sub_lines("\r".join(states)) == [states[0], states[-2], states[-1]]


def test_text_between_progress_bars_is_kept() -> None:
    bars = [f"Loading: {n}%|##| {n}/9 [00:01<00:03, 1.2it/s]" for n in range(9)]
    shown = sub_lines("\r".join([*bars, "CUDA error: out of memory", *bars]))
    assert "CUDA error: out of memory" in shown
    assert len(shown) == 7


def test_logger_line_glued_to_a_progress_bar_stands_for_itself() -> None:
    bar = "Processed prompts:   0%|  | 34/10000 [00:29<3:36:54, output: 7561.83 toks/s]"
    header = "INFO 06-16 21:24:15 metrics.py:341] Avg"
    assert sub_lines(bar + header) == [bar, header]


def test_huge_line_is_cut_but_its_end_stays() -> None:
    (shown,) = sub_lines("a" * 50_000_000 + "THE END")
    assert len(shown) <= LONGEST_LINE + 3
    assert shown.endswith("THE END")

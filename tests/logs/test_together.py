"""Two ranks' logs of one start are one run; restarts and other starts are not."""

from __future__ import annotations

import pytest

from vllmdoctor.logs import Run
from vllmdoctor.logs.together import moment_of

from .samples import read


def rank(number: int, day: str, minute: int, last: str) -> str:
    return "\n".join(
        [
            f"INFO {day} 10:{minute:02d}:00 [api_server.py:10] vLLM API server version 0.11.0",
            f"INFO {day} 10:{minute:02d}:01 [utils.py:23] non-default args: {{'node_rank': {number}}}",
            f"(Worker_TP{number} pid=2) INFO {day} 10:{minute:02d}:12 [gpu_model_runner.py:1] Starting to load model x...",
            f"(Worker_TP{number} pid=2) ERROR {day} 10:{minute + 1:02d}:{number:02d} [w.py:1] {last}",
        ]
    )


def messages(run: Run) -> list[str]:
    return [record.text for record in run.records if record.level == "ERROR"]


def test_two_ranks_are_one_start_in_the_order_of_time() -> None:
    log = read(rank(9, "05-22", 0, "second"), rank(3, "05-22", 0, "first"))
    assert len(log.runs) == 1
    assert messages(log.runs[0]) == ["first", "second"]
    assert [record.index for record in log.runs[0].records] == list(range(len(log.runs[0].records)))


def test_the_restarts_of_two_ranks_go_together_pair_by_pair() -> None:
    one = rank(1, "05-22", 0, "a") + "\n" + rank(1, "05-22", 5, "b")
    two = rank(2, "05-22", 0, "c") + "\n" + rank(2, "05-22", 5, "d")
    assert [messages(run) for run in read(one, two).runs] == [["a", "c"], ["b", "d"]]


def test_starts_at_other_times_stay_apart() -> None:
    assert len(read(rank(1, "05-22", 0, "a"), rank(2, "05-22", 30, "b")).runs) == 2
    assert len(read(rank(1, "05-22", 0, "a"), rank(1, "05-23", 0, "b")).runs) == 2


def test_without_times_several_inputs_are_one_start() -> None:
    plain = "vLLM API server version 0.11.0\nnon-default args: {'port': 1}\nsome text"
    assert len(read(plain, plain).runs) == 1
    assert len(read(plain + "\n" + plain, plain).runs) == 2


def test_a_chain_of_exceptions_stays_a_chain_when_records_are_numbered_anew() -> None:
    chain = """
Traceback (most recent call last):
  File "/opt/vllm/a.py", line 1, in f
    g()
KeyError: 'inner'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/opt/vllm/b.py", line 1, in g
    h()
RuntimeError: outer"""
    log = read(rank(1, "05-22", 0, "a") + chain, rank(2, "05-22", 0, "b") + chain)
    records = {record.index: record for record in log.runs[0].records}
    outer = [record for record in records.values() if record.text == "RuntimeError: outer"]
    assert len(outer) == 2
    for record in outer:
        assert record.chained_from is not None
        inner = records[record.chained_from]
        assert (inner.text, inner.first.input) == ("KeyError: 'inner'", record.first.input)


def test_a_run_ends_where_the_input_that_it_begins_in_ends() -> None:
    run = read(rank(1, "05-22", 0, "a"), rank(2, "05-22", 0, "b")).runs[0]
    assert (run.first.input, run.last.input) == (0, 0)


@pytest.mark.parametrize(
    "time, moment",
    [
        ("05-22 10:00:01", (5, 22, 10, 0, 1)),
        ("2025-05-22T10:00:01.250Z", (5, 22, 10, 0, 1)),
        ("2025/05/22 10:00:01,250", (5, 22, 10, 0, 1)),
        ("May  2 10:00:01", (5, 2, 10, 0, 1)),
        ("10:00:01", None),
        ("1716372000000", None),
        (None, None),
    ],
)
def test_times_of_different_formats_are_compared(time: str | None, moment: tuple[int, ...] | None) -> None:
    assert moment_of(time) == moment

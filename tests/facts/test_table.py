"""Which of several readings stands for a fact, and what is worked out from others."""

from __future__ import annotations

import pytest

from vllmdoctor.facts.model import COMPUTED, DEFAULT, READ, Origin, Scalar
from vllmdoctor.facts.table import Reading, combined, completed, lookup_in
from vllmdoctor.rules.expressions import UNKNOWN
from vllmdoctor.rules.model import FactBook

from .helpers import book, name, values


def chosen(combine: str, *readings: Scalar) -> Scalar:
    declared = FactBook(names={"x": name("number", combine=combine)})
    found = [Reading("x", value, Origin(0, line)) for line, value in enumerate(readings, start=1)]
    return combined(found, declared)["x"].value


@pytest.mark.parametrize(("combine", "value"), [("first", 2.0), ("last", 3.0), ("min", 1.0), ("max", 5.0)])
def test_combine_says_which_reading_stands(combine: str, value: float) -> None:
    assert chosen(combine, 2.0, 5.0, 1.0, 3.0) == value


def test_of_texts_min_and_max_keep_the_first() -> None:
    assert chosen("max", "b", "c", "a") == "b"


def test_the_origin_is_that_of_the_chosen_reading() -> None:
    declared = FactBook(names={"x": name("number", "GiB", combine="min")})
    fact = combined([Reading("x", 5.0, Origin(0, 4)), Reading("x", 1.0, Origin(1, 9))], declared)["x"]
    assert (fact.origin, fact.unit, fact.kind) == (Origin(1, 9), "GiB", READ)


@pytest.mark.parametrize("order", [1, -1])
def test_what_was_printed_wins_over_what_was_counted(order: int) -> None:
    declared = FactBook(names={"x": name("integer", combine="last")})
    readings = [Reading("x", 8, Origin(0, 1)), Reading("x", 2, Origin(0, 2), COMPUTED)][::order]
    assert combined(readings, declared)["x"].value == 8


def test_an_undeclared_name_is_no_fact() -> None:
    assert combined([Reading("nobody_knows", 1, Origin(0, 1))], book()) == {}


def test_memory_of_the_worst_rank_decides() -> None:
    found = values(
        """
        (Worker_TP0 pid=8) INFO 05-22 10:00:00 [gpu_worker.py:298] Available KV cache memory: 8.03 GiB
        (Worker_TP1 pid=9) INFO 05-22 10:00:00 [gpu_worker.py:298] Available KV cache memory: 7.11 GiB
        (Worker_TP0 pid=8) INFO 05-22 10:00:00 [gpu_model_runner.py:1] Model loading took 15.0 GiB memory and 3.1 seconds
        (Worker_TP1 pid=9) INFO 05-22 10:00:00 [gpu_model_runner.py:1] Model loading took 15.4 GiB memory and 3.3 seconds
        """
    )
    assert (found["available_kv_gib"], found["weights_gib"]) == (7.11, 15.4)


@pytest.mark.parametrize(
    ("version", "utilization", "engine"),
    [
        ("0.6.3", 0.9, "V0"),
        ("0.11.0", 0.9, "V1"),
        ("0.19.1", 0.9, "V1"),
        ("0.20.0", 0.92, "V1"),
        ("0.32.0+cpu", 0.92, "V1"),
    ],
)
def test_defaults_are_those_of_the_version(version: str, utilization: float, engine: str) -> None:
    found = completed(combined([Reading("vllm_version", version, Origin(0, 1))], book()), book())
    assert (found["gpu_memory_utilization"].value, found["gpu_memory_utilization"].kind) == (utilization, DEFAULT)
    assert found["engine"].value == engine


def test_between_the_engines_nothing_is_guessed() -> None:
    """0.8 has both: which one ran is told by its lines or not at all."""
    found = completed(combined([Reading("vllm_version", "0.8.5", Origin(0, 1))], book()), book())
    assert "engine" not in found


def test_without_a_version_there_are_no_defaults() -> None:
    assert completed({}, book()) == {}


def test_the_budget_is_worked_out_and_marked_as_computed() -> None:
    found = completed(
        combined(
            [Reading("gpu_total_gib", 80.0, Origin(0, 1)), Reading("gpu_memory_utilization", 0.9, Origin(0, 2))], book()
        ),
        book(),
    )
    assert (found["requested_gib"].value, found["requested_gib"].kind) == (72.0, COMPUTED)


def test_a_read_fact_is_never_replaced_by_a_computed_one() -> None:
    readings = [
        Reading("gpu_total_gib", 80.0, Origin(0, 1)),
        Reading("gpu_memory_utilization", 0.9, Origin(0, 2)),
        Reading("requested_gib", 71.27, Origin(0, 3)),
    ]
    found = completed(combined(readings, book()), book())
    assert (found["requested_gib"].value, found["requested_gib"].kind) == (71.27, READ)


@pytest.mark.parametrize(("block", "tokens"), [(None, 1478 * 16), (32, 1478 * 32)])
def test_tokens_of_the_kv_cache_from_its_blocks(block: int | None, tokens: int) -> None:
    readings = [Reading("gpu_blocks", 1478, Origin(0, 1))]
    readings += [Reading("block_size_tokens", block, Origin(0, 1))] if block else []
    assert completed(combined(readings, book()), book())["kv_cache_tokens"].value == tokens


def test_a_lookup_knows_what_it_does_not_know() -> None:
    assert lookup_in({})("gpu_total_gib") is UNKNOWN

"""The four things that changed over the releases, row by row of the table of releases."""

from __future__ import annotations

import pytest

from vllmdoctor.memory.eras import V0, V1, era_of


@pytest.mark.parametrize(
    "version, engine, counts_others, free_check, graphs_inside, default",
    [
        ("0.2.7", V0, True, False, False, 0.90),
        ("0.3.0", V0, True, False, False, 0.90),
        ("0.3.3", V0, False, False, False, 0.90),
        ("0.6.3.post1", V0, False, False, False, 0.90),
        ("0.6.4", V0, True, False, False, 0.90),
        ("0.6.4.post1", V1, False, False, False, 0.90),
        ("0.6.5", V0, False, False, False, 0.90),
        ("0.10.2", V0, False, False, False, 0.90),
        ("0.6.5", V1, True, False, False, 0.90),
        ("0.9.0", V1, True, False, False, 0.90),
        ("0.9.1", V1, False, True, False, 0.90),
        ("0.10.2", V1, False, True, False, 0.90),
        ("0.11.0", V1, False, True, False, 0.90),
        ("0.19.1", V1, False, True, False, 0.90),
        ("0.20.0", V1, False, True, True, 0.92),
        ("0.26.0", V1, False, True, True, 0.92),
        ("0.33.0", V1, False, True, True, 0.92),
        ("v0.30.1rc2.dev14+g1a2b3c", V1, False, True, True, 0.92),
    ],
)
def test_each_row(
    version: str, engine: str, counts_others: bool, free_check: bool, graphs_inside: bool, default: float
) -> None:
    era = era_of(version, engine=engine)
    assert era is not None
    assert (era.engine, era.counts_others, era.free_check) == (engine, counts_others, free_check)
    assert (era.graphs_inside, era.default_utilization) == (graphs_inside, default)


@pytest.mark.parametrize("version, inside", [("0.22.1", False), ("0.28.0", False), ("0.29.0", True), ("0.33.0", True)])
def test_the_second_runner_estimates_no_graphs_until_0_28(version: str, inside: bool) -> None:
    era = era_of(version, model_runner="V2")
    assert era is not None
    assert era.graphs_inside is inside


@pytest.mark.parametrize(
    "version, asked, running",
    [("0.7.3", "", V0), ("0.8.0", "", V1), ("0.8.5", V0, V0), ("0.11.0", V0, V1), ("0.5.0", V1, V0), ("0.7.3", V1, V1)],
)
def test_the_engine_that_runs(version: str, asked: str, running: str) -> None:
    era = era_of(version, engine=asked)
    assert era is not None
    assert era.engine == running


def test_nccl_moved_before_the_snapshot_and_the_byte_option_came() -> None:
    old, new = era_of("0.10.1"), era_of("0.11.0")
    assert old is not None and new is not None
    assert (old.nccl_inside, new.nccl_inside) == (True, False)
    assert (old.has_kv_bytes_option, new.has_kv_bytes_option) == (False, True)


@pytest.mark.parametrize("version", ["", "unknown", "main", "dev"])
def test_no_version_no_era(version: str) -> None:
    assert era_of(version) is None

"""Which way to move gpu_memory_utilization: the table cell by cell, and every fix that the shipped rules offer."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from tests.diagnosis.helpers import log_of
from tests.memory.facts import facts
from vllmdoctor.diagnosis.causality import Placed
from vllmdoctor.diagnosis.judging import finding_of
from vllmdoctor.diagnosis.matching import Match
from vllmdoctor.diagnosis.model import ROOT_CAUSE, Finding
from vllmdoctor.diagnosis.sense import argument_values
from vllmdoctor.diagnosis.state import read_state
from vllmdoctor.facts.model import Fact, Scalar
from vllmdoctor.facts.table import lookup_in
from vllmdoctor.memory import directions as d
from vllmdoctor.memory.eras import engine_of
from vllmdoctor.rules.load import load_catalogue
from vllmdoctor.rules.model import Catalogue
from vllmdoctor.rules.versions import release_of

# Columns: V0 up to 0.6.3 | V0 since 0.6.4, V1 0.6.5 to 0.9.0 | V1 0.9.1 to 0.19 | V1 since 0.20
CELLS = {
    d.NO_BLOCKS: ("up", "up", "up bounded", "up bounded eager"),
    d.V0_TOO_LONG: ("up shorter", "up shorter", "up shorter", "n/a"),
    d.V1_TOO_LONG: ("n/a", "up shorter", "up bounded shorter", "up bounded shorter eager"),
    d.NOT_FREE: ("n/a", "n/a", "down free", "down free"),
    d.OOM_LOADING: ("none", "none", "none", "none"),
    d.OOM_PROFILING: ("none batch", "none batch", "none batch", "none batch"),
    d.OOM_KV: ("down free", "down", "down", "down"),
    d.OOM_CAPTURE: ("down eager", "down eager", "down eager", "down eager"),
    d.OOM_CAPTURE_ESTIMATE: ("n/a", "n/a", "none eager", "none eager"),
    d.OOM_SERVING: ("down batch", "down batch", "down batch", "down batch"),
    d.OOM_SAMPLER_EARLY: ("n/a", "none batch", "none batch", "none batch"),
    d.OOM_SAMPLER_LATE: ("n/a", "down batch", "down batch", "down batch"),
    d.PROFILING_ASSERT: ("none", "none", "none", "none"),
}
_WORDS = {"up": d.UP, "down": d.DOWN, "none": d.NO_EFFECT, "n/a": d.ABSENT}


@pytest.mark.parametrize("column", d.COLUMNS)
@pytest.mark.parametrize("symptom", d.SYMPTOMS)
def test_each_cell(symptom: str, column: str) -> None:
    direction, *also = CELLS[symptom][d.COLUMNS.index(column)].split()
    assert d.direction_for(symptom, column) == d.Direction(
        _WORDS[direction],
        bounded="bounded" in also,
        shorter_context="shorter" in also,
        eager="eager" in also,
        smaller_batch="batch" in also,
        free_gpu="free" in also,
    )


@dataclass(frozen=True)
class Version:
    text: str
    engine: str
    runner: str = "V1"

    @property
    def release(self) -> tuple[int, int, int]:
        release = release_of(self.text)
        assert release is not None and engine_of(release, self.engine) == self.engine
        return release

    @property
    def column(self) -> str:
        return d.column_of(self.release, self.engine)

    def __str__(self) -> str:
        return f"{self.text}-{self.engine}" + ("-runner-V2" if self.runner == "V2" else "")


VERSIONS = (
    Version("0.2.7", "V0"), Version("0.5.4", "V0"), Version("0.6.3", "V0"),
    Version("0.6.4", "V0"), Version("0.7.3", "V0"), Version("0.8.5", "V0"), Version("0.7.3", "V1"), Version("0.8.5", "V1"), Version("0.9.0", "V1"),
    Version("0.9.2", "V1"), Version("0.10.2", "V1"), Version("0.11.0", "V1"), Version("0.19.1", "V1"),
    Version("0.20.0", "V1"), Version("0.24.0", "V1"), Version("0.24.0", "V1", "V2"), Version("0.30.0", "V1", "V2"),
)  # fmt: skip


def test_the_versions_reach_every_column() -> None:
    assert {version.column for version in VERSIONS} == set(d.COLUMNS)


@dataclass(frozen=True)
class Symptom:
    rule: str
    signature: str  # words of the signature's pattern that fits
    values: dict[str, Scalar] = field(default_factory=dict)


_OOM = {"alloc_request_gib": 0.5, "this_process_gib": 22.0, "free_gib": 0.2}
_SHORT = {"available_kv_gib": 2.5, "required_kv_gib": 3.5, "free_gib": 23.6}
RULES = {
    d.NO_BLOCKS: Symptom("no-cache-blocks", "No available memory", {"available_kv_gib": -0.5, "free_gib": 23.6}),
    d.V0_TOO_LONG: Symptom("max-model-len-exceeds-kv-cache", "larger than the maximum", {**_SHORT, "kv_cache_tokens": 20480}),
    d.V1_TOO_LONG: Symptom("max-model-len-exceeds-kv-cache", "To serve at least", {**_SHORT, "estimated_max_model_len": 20480}),
    d.NOT_FREE: Symptom("free-memory-below-utilization", "Free memory on device", {"free_gib": 18.0}),
    d.OOM_LOADING: Symptom("cuda-oom-loading-weights", "out of memory", _OOM),
    d.OOM_PROFILING: Symptom("cuda-oom-profiling", "out of memory", _OOM),
    d.OOM_KV: Symptom("cuda-oom-kv-cache-allocation", "out of memory", {**_OOM, "available_kv_gib": 5.0}),
    d.OOM_CAPTURE: Symptom("cuda-oom-graph-capture", "out of memory", {**_OOM, "kv_cache_tokens": 20480}),
    d.OOM_CAPTURE_ESTIMATE: Symptom("cuda-oom-graph-capture", "out of memory", {**_OOM, "graph_profiling": True}),
    d.OOM_SERVING: Symptom("cuda-oom-inference", "out of memory", {**_OOM, "kv_cache_tokens": 20480}),
    d.OOM_SAMPLER_EARLY: Symptom("cuda-oom-profiling", "warming up", {**_OOM, "warmup_requests": 256}),
    d.OOM_SAMPLER_LATE: Symptom("cuda-oom-profiling", "warming up", {**_OOM, "warmup_requests": 256, "kv_cache_tokens": 20480}),
    d.PROFILING_ASSERT: Symptom("memory-profiling-error", "Error in memory profiling"),
}  # fmt: skip


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue()


def known(symptom: str, version: Version) -> dict[str, Fact]:
    """A GPU with 24 GiB of which 0.8 may be used; 14 GiB of weights."""
    return facts(
        vllm_version=version.text, engine=version.engine, model_runner=version.runner, gpu_total_gib=24.0,
        gpu_memory_utilization=0.8, requested_gib=19.2, weights_gib=14.0, max_model_len=32768, max_num_seqs=256,
        tensor_parallel_size=1, **{"cuda_graph_gib": 2.0, **RULES[symptom].values},
    )  # fmt: skip


def finding(symptom: str, version: Version, catalogue: Catalogue) -> Finding:
    """The rule's finding on its own sample, with the facts of that version."""
    rule = catalogue.rules[RULES[symptom].rule]
    signature = next(s for s in rule.signatures if RULES[symptom].signature in " ".join(s.samples))
    text = next(sample for sample in signature.samples if RULES[symptom].signature in sample)
    state = read_state(log_of(f"ERROR 11-29 11:18:50 [core.py:1] {text}").runs[0].records, catalogue.facts)
    record = state.records[0]
    match = Match(rule, signature, record, 0, record.first, (), 0)
    told = known(symptom, version)
    found = finding_of(Placed(rule, ROOT_CAUSE, "", (match,)), state, told, catalogue)
    return found


def offered(found: Finding) -> dict[str, float | None]:
    """Directions of the fixes that change gpu_memory_utilization, with the value that they set."""
    directions: dict[str, float | None] = {}
    for choice in found.fixes:
        if "gpu_memory_utilization" in choice.fix.remedy.changes.arguments:
            value = argument_values(choice.fix, lookup_in(found.facts)).get("value")
            directions[choice.fix.remedy.direction] = value if isinstance(value, float) else None
    return directions


def remedies(found: Finding) -> set[str]:
    return {choice.fix.remedy.id for choice in found.fixes}


def estimates_graphs(version: Version) -> bool:
    """Sizes are captured for an estimate since 0.18.1, by the second runner since 0.29.0."""
    return version.release >= ((0, 29, 0) if version.runner == "V2" else (0, 18, 1))


CASES = [
    (symptom, version)
    for symptom in d.SYMPTOMS
    for version in VERSIONS
    if d.direction_for(symptom, version.column).utilization != d.ABSENT
    and not (symptom == d.V0_TOO_LONG and version.engine == "V1")
    and not (symptom in (d.V1_TOO_LONG, d.OOM_SAMPLER_EARLY, d.OOM_SAMPLER_LATE) and version.engine == "V0")
    and not (symptom == d.OOM_CAPTURE_ESTIMATE and not estimates_graphs(version))
]


# Cells in which a rule still offers what does not help
@pytest.mark.parametrize("symptom, version", CASES, ids=str)
def test_rules_move_the_utilization_that_way(symptom: str, version: Version, catalogue: Catalogue) -> None:
    wanted = d.direction_for(symptom, version.column).utilization
    found = finding(symptom, version, catalogue)
    moved = offered(found)
    assert set(moved) == ({wanted} if wanted in (d.UP, d.DOWN) else set())
    value = moved.get(wanted)
    if value is not None:
        utilization, most = 0.8, float(found.facts["free_gib"].value) / 24.0 if symptom != d.NO_BLOCKS else 0.99
        assert value > utilization if wanted == d.UP else 0 < value < utilization
        assert not d.direction_for(symptom, version.column).bounded or value <= most


_KV_ROWS = (d.NO_BLOCKS, d.V1_TOO_LONG)


@pytest.mark.parametrize("symptom, version", [case for case in CASES if case[0] in _KV_ROWS], ids=str)
def test_rules_offer_eager_only_where_graphs_are_in_the_budget(
    symptom: str, version: Version, catalogue: Catalogue
) -> None:
    helps = d.eager_enlarges_kv(version.release, version.runner)
    assert ("enforce-eager" in remedies(finding(symptom, version, catalogue))) is helps


@pytest.mark.parametrize(
    "symptom, version", [case for case in CASES if case[0] in (d.OOM_CAPTURE, d.OOM_CAPTURE_ESTIMATE)], ids=str
)
def test_rules_offer_eager_when_graphs_do_not_fit(symptom: str, version: Version, catalogue: Catalogue) -> None:
    assert "enforce-eager" in remedies(finding(symptom, version, catalogue))


@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_rules_free_the_gpu_for_cache_blocks_only_where_others_count(version: Version, catalogue: Catalogue) -> None:
    helps = d.freeing_others_helps(version.release, version.engine)
    assert ("free-the-gpu" in remedies(finding(d.NO_BLOCKS, version, catalogue))) is helps


@pytest.mark.parametrize(
    "symptom, version", [case for case in CASES if d.direction_for(case[0], case[1].column).shorter_context], ids=str
)
def test_rules_shorten_the_context_where_it_cures(symptom: str, version: Version, catalogue: Catalogue) -> None:
    assert "lower-max-model-len" in remedies(finding(symptom, version, catalogue))


@pytest.mark.parametrize(
    "symptom, version", [case for case in CASES if d.direction_for(case[0], case[1].column).smaller_batch], ids=str
)
def test_rules_make_the_batch_smaller_where_it_helps(symptom: str, version: Version, catalogue: Catalogue) -> None:
    assert remedies(finding(symptom, version, catalogue)) & {"lower-max-num-batched-tokens", "lower-max-num-seqs"}


@pytest.mark.parametrize("version", [v for v in VERSIONS if v.column in (d.CHECKED, d.GRAPHS_INSIDE)], ids=str)
def test_rules_free_the_gpu_when_it_is_not_free(version: Version, catalogue: Catalogue) -> None:
    assert "free-the-gpu" in remedies(finding(d.NOT_FREE, version, catalogue))

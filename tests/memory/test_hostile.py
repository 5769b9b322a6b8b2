"""Configs with any value in any place: a plan, or an error that the command line can print; never anything else."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.memory.facts import CONFIGS, document
from vllmdoctor.errors import VllmDoctorError
from vllmdoctor.memory.config import read_config
from vllmdoctor.memory.gpus import GpuKind
from vllmdoctor.memory.plan import Plan, PlanRequest, alternatives, plan_for
from vllmdoctor.memory.plan_document import plan_document

NAMES = sorted(path.stem for path in CONFIGS.glob("*.json"))
values = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 3), st.sampled_from([10**9, 10**30, 1.5, float("nan"), "", "x", [], {}, [0], ["x"], {"a": 1}])
)  # fmt: skip


@given(st.sampled_from(NAMES), st.data())
@settings(max_examples=150)
def test_any_value_in_any_place(name: str, data: st.DataObject) -> None:
    config = document(name)
    part = config
    if isinstance(config.get("text_config"), dict) and data.draw(st.booleans()):
        part = config["text_config"]
    for key in data.draw(st.lists(st.sampled_from(sorted(part)), min_size=1, max_size=2)):
        part[key] = data.draw(values)
    with suppress(VllmDoctorError):
        plan = plan_for(PlanRequest(read_config(config, "config.json"), None, GpuKind("RTX 3090", 23.58, 8.6)))
        assert isinstance(plan, Plan)
        plan_document("m", "m", plan, alternatives(plan, 1), 1)

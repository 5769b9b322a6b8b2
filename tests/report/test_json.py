"""The JSON follows its published schema and is the same bytes every time."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.report import builders as made
from vllmdoctor.diagnosis.model import Diagnosis
from vllmdoctor.facts.model import Fact
from vllmdoctor.report.build import build_report
from vllmdoctor.report.json import report_json


@pytest.fixture(scope="module")
def schema(checkout: Path) -> Draft202012Validator:
    document = json.loads((checkout / "docs" / "schema" / "report.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(document)
    return Draft202012Validator(document)


def json_of(diagnosis: Diagnosis) -> str:
    return report_json(build_report(diagnosis, made.CATALOGUE, made.INPUTS), version="1.2.3")


@pytest.mark.parametrize("name", ["failure", *made.others()])
def test_follows_the_schema(schema: Draft202012Validator, name: str) -> None:
    diagnosis = made.failure(runs=3) if name == "failure" else made.others()[name]
    schema.validate(json.loads(json_of(diagnosis)))


def test_schema_refuses_what_is_not_a_report(schema: Draft202012Validator) -> None:
    document: dict[str, Any] = json.loads(json_of(made.failure()))
    for change in ({"status": "fine"}, {"extra": 1}, {"findings": []}, {"facts": {"x": {"value": 1}}}):
        assert not schema.is_valid({**document, **change}), change


def test_same_input_gives_the_same_bytes() -> None:
    diagnosis = made.failure()
    other_order = replace(diagnosis, facts=dict(reversed(list(diagnosis.facts.items()))))
    assert json_of(diagnosis) == json_of(other_order)


def test_content() -> None:
    document = json.loads(json_of(made.failure()))
    assert document["tool"] == {"name": "vllmdoctor", "version": "1.2.3"}
    assert document["facts"]["available_kv_gib"] == {
        "value": 2.5,
        "unit": "GiB",
        "kind": "read",
        "origin": {"input": 0, "line": 41},
    }
    assert document["facts"]["gpu_memory_utilization"]["origin"] is None
    assert document["findings"][0]["fixes"][0]["arguments"] == {"max_model_len": "20480"}
    assert "✗" not in document["headline"]


def test_characters_stay_readable_and_controls_do_not_get_through() -> None:
    text = json_of(made.failure("ValueError: 日本語 \x1b]0;title\x07 \x00 end"))
    assert "日本語" in text
    assert "\\u001b" not in text
    assert "\\u0000" not in text


def test_infinity_is_no_json_number(schema: Draft202012Validator) -> None:
    diagnosis = replace(made.failure(), facts={"available_kv_gib": Fact("available_kv_gib", float("inf"), "GiB")})
    document = json.loads(json_of(diagnosis), parse_constant=pytest.fail)
    assert document["facts"]["available_kv_gib"]["value"] is None
    schema.validate(document)

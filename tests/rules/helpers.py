"""Small rule folders for tests: good ones, and ones with a single thing changed."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from vllmdoctor.rules.check.folder import Check, open_rule_folder

Doc = dict[str, Any]

REMEDY: Doc = {
    "id": "lower-length",
    "title": {"known": "Lower the length to {value:int} tokens", "unknown": "Lower the length"},
    "text": "Use `--max-model-len`.",
    "cost": "Longer prompts are rejected.",
    "changes": {"arguments": {"max_model_len": "{value:raw|<tokens>}"}},
}

RULE: Doc = {
    "id": "length-too-long",
    "category": "memory",
    "title": {"known": "No room for {max_model_len} tokens", "unknown": "No room for one request"},
    "summary": "The KV cache is smaller than one request.",
    "first_check": "Do you need that length?",
    "signatures": [
        {
            "pattern": r"the length \((?P<max_model_len>\d{1,9})\) does not fit",
            "versions": ">=0.2.0",
            "raised": ["vllm/engine.py"],
            "samples": ["ValueError: the length (4096) does not fit"],
        }
    ],
    "causes": [{"id": "default-length", "title": "The default length", "when": "max_model_len > 1024"}],
    "fixes": [{"remedy": "lower-length", "arguments": {"value": "floor(max_model_len / 2, 16)"}}],
    "does_not_help": [{"id": "restart", "title": "A restart", "text": "The numbers stay the same."}],
    "verify": [{"id": "size", "text": "The size is printed.", "log": "KV cache size: … tokens"}],
    "references": [{"title": "Documentation", "url": "https://docs.vllm.ai/en/latest/"}],
}

FACTS: Doc = {
    "facts": [
        {"name": "max_model_len", "type": "integer", "unit": "tokens", "title": "context length"},
        {"name": "vllm_version", "type": "text", "title": "vLLM version"},
    ],
    "lines": [
        {"pattern": r"Using max model len (?P<max_model_len>[\d,]{1,12})", "samples": ["Using max model len 4,096"]}
    ],
    "marks": [
        {"mark": "ready", "pattern": "Application startup complete", "samples": ["Application startup complete."]}
    ],
    "noise": [
        {
            "id": "leaks",
            "pattern": "leaked semaphore objects",
            "why": "harmless",
            "samples": ["3 leaked semaphore objects"],
        }
    ],
}


class Folder:
    """A rules folder under construction: change a copy of a good document, write all, look at what a check finds."""

    def __init__(self, tmp_path: Path) -> None:
        self.path = tmp_path / "rules"
        self.files: dict[str, Any] = {
            "memory/length-too-long.yaml": copy.deepcopy(RULE),
            "remedies/lower-length.yaml": copy.deepcopy(REMEDY),
            "facts/names.yaml": copy.deepcopy(FACTS),
        }
        self.taxonomy = "id\tcategory\tdescription\nlength-too-long\tmemory\ttoo long\n"

    @property
    def rule(self) -> Doc:
        rule: Doc = self.files["memory/length-too-long.yaml"]
        return rule

    @property
    def remedy(self) -> Doc:
        remedy: Doc = self.files["remedies/lower-length.yaml"]
        return remedy

    @property
    def facts(self) -> Doc:
        facts: Doc = self.files["facts/names.yaml"]
        return facts

    def add_rule(self, **changes: Any) -> Doc:
        """A second good rule, `other-failure`, with other texts in its log lines."""
        rule = copy.deepcopy(RULE)
        rule["id"] = "other-failure"
        rule["signatures"][0] |= {"pattern": "another thing broke", "samples": ["RuntimeError: another thing broke"]}
        rule["causes"][0].pop("when")
        rule["title"] = "Another thing broke"
        rule["fixes"][0].pop("arguments")
        rule |= changes
        self.files["memory/other-failure.yaml"] = rule
        self.taxonomy += "other-failure\tmemory\tanother\n"
        return rule

    def write(self) -> Path:
        for name, document in self.files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = (
                document if isinstance(document, str) else yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
            )
            path.write_text(text, encoding="utf-8")
        (self.path / "taxonomy.tsv").write_text(self.taxonomy, encoding="utf-8")
        return self.path

    def found_by(self, check: Check) -> list[str]:
        """`field: text` of everything that one check finds."""
        return [f"{issue.field}: {issue.text}" for issue in check.issues(open_rule_folder(self.write()))]


Change = Callable[[Folder], object]


def put(group: str, index: int, **values: Any) -> Change:
    """A change of some fields of the rule's n-th entry of a list."""
    return lambda folder: folder.rule[group][index].update(values)


def lookup_of(values: Mapping[str, Any]) -> Callable[[str], Any]:
    """The facts of a test; everything else is unknown."""
    from vllmdoctor.rules.expressions import UNKNOWN

    return lambda name: values.get(name, UNKNOWN)

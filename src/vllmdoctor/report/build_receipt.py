"""A finding in, the receipt of the GPU's memory out, when the finding is about it and the log tells enough."""

from __future__ import annotations

from collections.abc import Iterator

from vllmdoctor.diagnosis.model import CONSEQUENCE, Finding
from vllmdoctor.diagnosis.model import WARNING as WARNING_ROLE
from vllmdoctor.memory.receipt import Receipt, receipt_of
from vllmdoctor.rules.model import Rule

_GPU_FACTS = frozenset({"gpu_total_gib", "free_gib", "available_kv_gib", "required_kv_gib", "kv_cache_tokens"})


def receipt_for(finding: Finding) -> Receipt | None:
    """None for findings about other memory (the host's, /dev/shm), for consequences, and when too little is known."""
    if finding.rule.category != "memory" or finding.role in (CONSEQUENCE, WARNING_ROLE):
        return None
    if not _GPU_FACTS.intersection(_facts_of(finding.rule)):
        return None
    receipt = receipt_of(finding.facts)
    return receipt if receipt.drawable else None


def _facts_of(rule: Rule) -> Iterator[str]:
    """Facts that the rule's texts and fixes speak about."""
    for text in (rule.title, rule.summary):
        for template in (text.known, text.unknown):
            yield from template.facts()
    for fix in rule.fixes:
        for expression in (fix.when, *fix.arguments.values()):
            yield from expression.facts() if expression else ()

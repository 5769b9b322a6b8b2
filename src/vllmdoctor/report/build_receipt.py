"""A finding in, the receipt of the GPU's memory and what follows from it out, when the finding is about that memory."""

from __future__ import annotations

from collections.abc import Iterator

from vllmdoctor.diagnosis.model import CONSEQUENCE, Finding
from vllmdoctor.diagnosis.model import WARNING as WARNING_ROLE
from vllmdoctor.memory.advice import Advice, advice_for
from vllmdoctor.memory.receipt import Receipt, receipt_of
from vllmdoctor.rules.model import Rule

_GPU_FACTS = frozenset({"gpu_total_gib", "free_gib", "available_kv_gib", "required_kv_gib", "kv_cache_tokens"})


def receipt_for(finding: Finding) -> Receipt | None:
    """None for findings about other memory (the host's, /dev/shm), for consequences, and when too little is known."""
    if not _is_about_the_gpu(finding):
        return None
    receipt = receipt_of(finding.facts)
    return receipt if receipt.drawable else None


def advice_of(finding: Finding) -> Advice | None:
    """None as for the receipt, when nothing can be computed, and where an allocation failed.

    There the budget was met: what lacks is outside of it, so the bounds that hold for the KV cache would mislead.
    """
    if not _is_about_the_gpu(finding) or "alloc_request_gib" in finding.facts:
        return None
    advice = advice_for(finding.facts)
    bounds = (advice.utilization.low, advice.utilization.high, advice.to_free_gib, advice.longest_context)
    return None if all(bound is None for bound in bounds) else advice


def _is_about_the_gpu(finding: Finding) -> bool:
    if finding.rule.category != "memory" or finding.role in (CONSEQUENCE, WARNING_ROLE):
        return False
    platform = finding.facts.get("platform")
    if platform is not None and platform.value == "cpu":
        return False
    return not _GPU_FACTS.isdisjoint(_facts_of(finding.rule))


def _facts_of(rule: Rule) -> Iterator[str]:
    """Facts that the rule's texts and fixes speak about."""
    for text in (rule.title, rule.summary):
        for template in (text.known, text.unknown):
            yield from template.facts()
    for fix in rule.fixes:
        for expression in (fix.when, *fix.arguments.values()):
            yield from expression.facts() if expression else ()

"""A plan in, what is said of it out: the verdict in a sentence, its bounds as rows, remarks. Drawn by text and HTML."""

from __future__ import annotations

import math

from vllmdoctor.memory.plan import NO, TIGHT, Plan, derived_max_model_len
from vllmdoctor.report import words as w
from vllmdoctor.report.words import Words

MOST_CHANGES = 4

Row = tuple[str, tuple[str, str, str]]  # label; low, best and high as shown


def plan_sentence(plan: Plan, model: str, gpus: int, words: Words) -> str:
    """The verdict; what is missing in GiB where it does not fit."""
    gpu = f"{gpus} × {plan.request.gpu.name}" if gpus > 1 else plan.request.gpu.name
    names = {"model": model, "gpu": gpu, "tokens": f"{plan.max_model_len:,}"}
    if plan.verdict != NO:
        message = w.PLAN_TIGHT if plan.verdict == TIGHT else w.PLAN_FITS
        return words(message, **names, requests=_number(plan.concurrency.best))
    if plan.kv_available_gib.best >= plan.kv_needed_gib:
        return words(w.PLAN_NOT_FREE, **names, gib=f"{plan.budget_gib - plan.free_gib.best:.2f} GiB")
    if plan.kv_available_gib.best <= 0:
        return words(w.PLAN_NO_KV, **names, gib=f"{-plan.kv_available_gib.best:.2f} GiB")
    return words(w.PLAN_DOES_NOT_FIT, **names, gib=f"{plan.missing_gib:.2f} GiB")


def plan_rows(plan: Plan, words: Words) -> list[Row]:
    amounts = (
        (words(w.RECEIPT_PARTS["weights"]), plan.weights_gib, "GiB"),
        (words(w.RECEIPT_PARTS["kv_available"]), plan.kv_available_gib, "GiB"),
        (words(w.KV_TOKENS), plan.kv_tokens, ""),
        (words(w.CONCURRENCY, tokens=f"{plan.max_model_len:,}"), plan.concurrency, "x"),
        (words(w.LONGEST_CONTEXT), plan.longest_context, ""),
    )
    return [(label, (_shown(a.low, unit), _shown(a.best, unit), _shown(a.high, unit))) for label, a, unit in amounts]


def plan_notes(plan: Plan, words: Words) -> list[str]:
    """What the estimate rests on, and what else to know."""
    low, high = plan.utilization_interval
    interval = f"({low:.3f}, {high:.3f}]" if low < high else words(w.INTERVAL_EMPTY)
    source, era = words.said(plan.weights_source), words.said(plan.era.name)
    notes = [
        words(w.PLAN_BASIS, source=source, version=plan.request.version, era=era),
        words(w.PLAN_INTERVAL, interval=interval),
    ]
    if plan.cache.fixed_bytes:
        notes.append(words(w.PLAN_HYBRID, mib=f"{plan.cache.fixed_bytes / 2**20:,.0f} MiB"))
    own = derived_max_model_len(plan.request.config)
    if plan.max_model_len > own:
        notes.append(words(w.PLAN_TOO_LONG, tokens=f"{own:,}"))
    if plan.request.gpu.unified:
        notes.append(words(w.PLAN_UNIFIED))
    return notes


def _shown(value: float, unit: str) -> str:
    if not math.isfinite(value):
        return "∞"
    if unit == "GiB":
        return f"{value:.2f} GiB"
    return f"{value:.2f}x" if unit == "x" else f"{int(value):,}"


def _number(value: float) -> str:
    return "∞" if not math.isfinite(value) else f"{value:.1f}"

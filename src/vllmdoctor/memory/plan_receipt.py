"""A plan in, its likely amounts as a receipt out, so that it is drawn like the receipt of a log."""

from __future__ import annotations

from vllmdoctor.facts.model import COMPUTED, DEFAULT
from vllmdoctor.memory import receipt as r
from vllmdoctor.memory.plan import Plan


def receipt_of_plan(plan: Plan) -> r.Receipt:
    others = plan.request.others_gib
    amounts = {
        r.TOTAL: plan.total_gib,
        r.BUDGET: plan.budget_gib,
        r.WEIGHTS: plan.weights_gib.best,
        r.ACTIVATION: plan.activation_gib.best,
        r.NON_TORCH: plan.non_torch_gib.best,
        r.CUDA_GRAPHS: plan.graphs_gib.best,
        r.KV_AVAILABLE: plan.kv_available_gib.best,
        r.KV_NEEDED: plan.kv_needed_gib,
        r.OTHERS: others if others else None,
        r.DEFICIT: plan.missing_gib or None,
    }
    lines = tuple(r.ReceiptLine(name, amounts[name], _kind(name, amounts[name], plan)) for name in r.NAMES)
    return r.Receipt(lines, plan.era, plan.era.graphs_inside)


def _kind(name: str, gib: float | None, plan: Plan) -> str:
    if gib is None:
        return ""
    return DEFAULT if name == r.BUDGET and plan.request.gpu_memory_utilization is None else COMPUTED

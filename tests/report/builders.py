"""Hand-made diagnoses: one for each status, with the rules and facts that the tests of the report speak about."""

from __future__ import annotations

from vllmdoctor.diagnosis.model import (
    CAUSE_NOT_IN_LOG,
    CONFIRMED,
    CONSEQUENCE,
    FAILURE,
    HEALTHY,
    NO_VLLM_LOG,
    POSSIBLE,
    ROOT_CAUSE,
    RULED_OUT,
    UNRECOGNIZED,
    WARNING,
    ChosenFix,
    Diagnosis,
    Evidence,
    Finding,
    JudgedCause,
    RunVerdict,
    Unrecognized,
)
from vllmdoctor.facts.model import COMPUTED, DEFAULT, READ, Fact, Origin
from vllmdoctor.logs.model import ENGINE_CORE, Frame, Line, Process, Record
from vllmdoctor.report.model import InputReport
from vllmdoctor.rules.expressions import parse_expression
from vllmdoctor.rules.model import (
    Catalogue,
    Cause,
    Caution,
    Changes,
    FactBook,
    FactName,
    Fix,
    Reference,
    Remedy,
    Rule,
    Signature,
    Verification,
)
from vllmdoctor.rules.texts import parse_text

MESSAGE = (
    "ValueError: To serve at least one request with the model's max seq len (32768), (4.00 GiB KV cache is needed, which "
    "is larger than the available KV cache memory (2.50 GiB)."
)
ENGINE = Process(ENGINE_CORE, "EngineCore", 7)
INPUTS = (InputReport("startup.log", ("vllm-log",), 120, ()),)

BOOK = FactBook(
    names={
        name.name: name
        for name in (
            FactName("model", "text", "", "first", "model"),
            FactName("max_model_len", "integer", "tokens", "last", "context length"),
            FactName("required_kv_gib", "number", "GiB", "last", "KV cache of one request"),
            FactName("available_kv_gib", "number", "GiB", "min", "KV cache memory"),
            FactName("estimated_max_model_len", "integer", "tokens", "min", "longest context that fits"),
            FactName("other_processes_gib", "number", "GiB", "max", "memory of other processes"),
            FactName("gpu_memory_utilization", "number", "", "last", "gpu_memory_utilization"),
        )
    }
)

LOWER = Remedy(
    id="lower-max-model-len",
    title=parse_text(
        {"known": "Lower the context length to {value:int} tokens", "unknown": "Lower the context length"}
    ),
    text=parse_text("`--max-model-len` is the longest prompt plus answer."),
    effect=parse_text({"known": "One request of {value:int} tokens fits.", "unknown": "One request needs less."}),
    cost=parse_text("Shorter prompts."),
    changes=Changes(arguments={"max_model_len": parse_text("{value|TOKENS}")}),
)
FP8 = Remedy(
    id="fp8-kv-cache",
    title=parse_text("Store the KV cache in fp8"),
    text=parse_text("Half the bytes per token."),
    effect=parse_text("About twice as many tokens fit."),
    cost=parse_text("Small accuracy loss."),
    changes=Changes(arguments={"kv_cache_dtype": parse_text("fp8")}),
)
RULE = Rule(
    id="max-model-len-exceeds-kv-cache",
    category="memory",
    role="cause",
    severity="fatal",
    phase="kv-cache-allocation",
    title=parse_text(
        {
            "known": "The KV cache cannot hold one request of {max_model_len} tokens",
            "unknown": "The KV cache cannot hold one request",
        }
    ),
    summary=parse_text(
        {
            "known": "One request needs {required_kv_gib} of KV cache, {available_kv_gib} is left.",
            "unknown": "One request needs more KV cache than is left.",
        }
    ),
    signatures=(Signature("max seq len", "error", (MESSAGE,)),),
    first_check=parse_text("Do you need that context length?"),
    causes=(
        Cause("long", parse_text("Long context"), parse_text("The default."), parse_expression("max_model_len >= 32768")),
        Cause("others", parse_text("Other processes"), parse_text("They hold memory."), parse_expression("other_processes_gib > 1")),
        Cause("small", parse_text("Little memory"), parse_text("Weights fill it."), parse_expression("available_kv_gib < 1")),
    ),
    fixes=(
        Fix("lower", LOWER, parse_text("Rounded down to a block."), arguments={"value": parse_expression("floor(estimated_max_model_len, 16)")}),
        Fix("fp8", FP8, parse_text("Tokens need half.")),
    ),
    does_not_help=(
        Caution("lower-util", parse_text("Lowering `--gpu-memory-utilization`"), parse_text("the cache shrinks with it.")),
    ),
    verify=(
        Verification(
            "size",
            parse_text("The cache must hold it."),
            log=parse_text({"known": "GPU KV cache size: ≥ {estimated_max_model_len} tokens", "unknown": "GPU KV cache size: …"}),
        ),
    ),
    references=(Reference("vLLM documentation", "https://docs.vllm.ai/"),),
)  # fmt: skip
WRAPPER = Rule(
    id="engine-core-init-failed",
    category="wrapper",
    role="consequence",
    severity="fatal",
    phase="any",
    title=parse_text("The engine core did not start"),
    summary=parse_text("The reason stands above."),
    signatures=(),
)
STALE_WARNING = Rule(
    id="cpu-swap",
    category="memory",
    role="warning",
    severity="notice",
    phase="any",
    title=parse_text("Swap is large"),
    summary=parse_text("Most of the memory goes to swap."),
    signatures=(),
)
CATALOGUE = Catalogue(
    "en",
    {rule.id: rule for rule in (RULE, WRAPPER, STALE_WARNING)},
    {"lower-max-model-len": LOWER, "fp8-kv-cache": FP8},
    BOOK,
)


def fact(name: str, value: bool | int | float | str, kind: str = READ) -> Fact:
    return Fact(name, value, BOOK.unit_of(name), kind, Origin(0, 41) if kind == READ else None)


FACTS = {
    one.name: one
    for one in (
        fact("model", "meta-llama/Llama-3.1-8B-Instruct"),
        fact("max_model_len", 32768),
        fact("required_kv_gib", 4.0),
        fact("available_kv_gib", 2.5),
        fact("estimated_max_model_len", 20490, COMPUTED),
        fact("gpu_memory_utilization", 0.9, DEFAULT),
    )
}


def line(number: int, text: str = MESSAGE, process: Process = ENGINE) -> Line:
    return Line(0, number, text, process)


def root_finding(text: str = MESSAGE, facts: dict[str, Fact] | None = None) -> Finding:
    return Finding(
        rule=RULE,
        role=ROOT_CAUSE,
        evidence=(Evidence(line(41, text), text),),
        count=2,
        facts=FACTS if facts is None else facts,
        causes=(
            JudgedCause(RULE.causes[0], CONFIRMED),
            JudgedCause(RULE.causes[1], POSSIBLE, ("other_processes_gib",)),
            JudgedCause(RULE.causes[2], RULED_OUT),
        ),
        fixes=(ChosenFix(RULE.fixes[0], True), ChosenFix(RULE.fixes[1], False, ("other_processes_gib",))),
        does_not_help=RULE.does_not_help,
        verify=RULE.verify,
    )


def wrapper_finding() -> Finding:
    text = "RuntimeError: Engine core initialization failed. See root cause above."
    return Finding(WRAPPER, CONSEQUENCE, (Evidence(line(97, text), text),), 1, FACTS, explained_by=RULE.id)


def warning_finding() -> Finding:
    return Finding(STALE_WARNING, WARNING, (Evidence(line(12, "swap"), "swap"),), 1, FACTS)


def verdict(number: int, status: str = FAILURE, rule: str = RULE.id) -> RunVerdict:
    return RunVerdict(number, line(number * 10), line(number * 10 + 9), status, rule)


def failure(text: str = MESSAGE, facts: dict[str, Fact] | None = None, runs: int = 1) -> Diagnosis:
    return Diagnosis(
        status=FAILURE,
        findings=(wrapper_finding(), warning_finding(), root_finding(text, facts)),
        facts=FACTS if facts is None else facts,
        runs=tuple(verdict(number) for number in range(1, runs + 1)),
    )


def unrecognized(text: str = "RuntimeError: quux 7 failed") -> Diagnosis:
    raised = line(63, text)
    record = Record(
        index=3,
        kind="exception",
        text=text,
        process=ENGINE,
        level="ERROR",
        time=None,
        place=None,
        section="log",
        text_lines=(raised,),
        starts=(0,),
        first=line(50, "Traceback (most recent call last):"),
        last=raised,
        exception="RuntimeError",
        frames=(Frame("/home/alice/venv/vllm/worker.py", 12, "load_model"),),
    )
    return Diagnosis(
        UNRECOGNIZED,
        (),
        FACTS,
        (verdict(1, UNRECOGNIZED, ""),),
        Unrecognized(record, "loading-weights", (RULE.id,)),
    )


def others() -> dict[str, Diagnosis]:
    """The statuses without a root cause."""
    return {
        HEALTHY: Diagnosis(HEALTHY, (warning_finding(),), FACTS, (verdict(1, HEALTHY, ""),), notices={"requests-rejected": "3"}),
        UNRECOGNIZED: unrecognized(),
        CAUSE_NOT_IN_LOG: Diagnosis(
            CAUSE_NOT_IN_LOG,
            (wrapper_finding(),),
            FACTS,
            (verdict(1, CAUSE_NOT_IN_LOG, ""),),
            missing=("stderr", "kernel-log"),
        ),
        NO_VLLM_LOG: Diagnosis(NO_VLLM_LOG, (), {}, ()),
    }  # fmt: skip

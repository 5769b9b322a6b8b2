"""The program's own sentences: a message in, its wording in the user's language out. Rules bring their own texts.

English is the message id. `_` and `_n` only mark messages for extraction (`make messages`); the gettext catalogue of
the language replaces the wording. See docs/translating.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from vllmdoctor.errors import InputError, RuleError, VllmDoctorError
from vllmdoctor.languages import Translations, shipped_translations, translated
from vllmdoctor.languages import marked as _

Plural = tuple[str, str]


class Words:
    """All sentences in one language; English where the catalogue has none."""

    def __init__(self, language: str = "en", translations: Translations | None = None) -> None:
        self.language = language
        self._translations = translations or shipped_translations(language)

    def __call__(self, message: str, /, **values: object) -> str:
        wording = self._translations.gettext(message) if self._translations else message
        return wording.format(**values) if values else wording

    def counted(self, message: Plural, count: int, /, **values: object) -> str:
        """The singular or plural wording; `{count}` in it is the number."""
        if self._translations:
            wording = self._translations.ngettext(*message, count)
        else:
            wording = message[0] if count == 1 else message[1]
        return wording.format(count=f"{count:,}", **values)

    def said(self, text: str) -> str:
        """A `Message`, a fact's title or another text of the catalogue; what is not in it stays as it is."""
        return translated(text, self._translations)

    def error(self, problem: VllmDoctorError) -> tuple[str, str]:
        """What is wrong, and what to do ("" when the error does not say)."""
        if isinstance(problem, InputError):
            return f"{problem.name}: {self.said(problem.problem)}", self.said(problem.hint)
        if isinstance(problem, RuleError):
            return f"{problem.place}: {self.said(problem.problem)}", ""
        return self.said(problem.args[0]) if problem.args else str(problem), ""

    def listed(self, names: Iterable[str]) -> str:
        return self(_COMMA).join(names)

    def for_status(self, status: str) -> str:
        return self(_STATUS_HEADLINES[status])

    def for_missing(self, code: str) -> str:
        """What to get so that the cause can be named; the code itself when there is no sentence for it."""
        return self(_MISSING[code]) if code in _MISSING else code

    def for_notice(self, code: str, value: str) -> str:
        """A remark on the whole log; `code: value` when there is no sentence for it."""
        if code in _COUNTED_NOTICES and value.isdigit():
            return self.counted(_COUNTED_NOTICES[code], int(value))
        if code in _NOTICES:
            message = _NOTICES[code] if value else _NOTICES_WITHOUT_VALUE.get(code, _NOTICES[code])
            return self(message, value=self.said(value))
        return f"{code}: {value}" if value else code


def _n(singular: str, plural: str) -> Plural:
    return (singular, plural)


_COMMA = _(", ")
_STATUS_HEADLINES: Mapping[str, str] = {
    "healthy": _("No failure in this log"),
    "failure": _("vLLM failed"),
    "unrecognized-failure": _("vLLM failed with an error that no rule knows"),
    "cause-not-in-log": _("vLLM failed, but the cause is not in this log"),
    "no-vllm-log": _("This is not a vLLM log"),
}

_MISSING: Mapping[str, str] = {
    "stderr": _(
        "Only standard output is here; tracebacks go to standard error. Start again with both in one file: "
        "`vllm serve … 2>&1 | tee startup.log`"
    ),
    "stdout": _(
        "Only standard error is here. Start again with both in one file: `vllm serve … 2>&1 | tee startup.log`"
    ),
    "worker-log": _(
        "The error happened in another rank or on another node. Get that process's log too "
        "(`kubectl logs` of every pod, `ray logs` on its node) and give all files to `vllmdoctor analyze`"
    ),
    "earlier-lines": _(
        "The log is cut at the front. Get it from the start: `docker logs CONTAINER`, `journalctl -u UNIT -b`, or "
        "`kubectl logs POD --previous`"
    ),
    "later-lines": _("The log stops before the end. Wait for the process to exit and take the whole log"),
    "debug": _("Start again with `VLLM_LOGGING_LEVEL=DEBUG`, which logs what vLLM did right before"),
    "kernel-log": _("The kernel may have killed the process. Look at `dmesg -T | grep -i -E 'oom|killed|xid'`"),
    "exit-code": _(
        "How the process ended is not in the log: `echo $?`, `docker inspect CONTAINER`, or "
        "`kubectl describe pod POD` (137 means killed, often for memory)"
    ),
    "client": _("The reason stands in the answer that the client got: log the response body of the failed request"),
    "vllm-log": _("Give vLLM's own output: what `vllm serve` prints, both standard output and standard error"),
}

_NOTICES: Mapping[str, str] = {
    "log-ends-early": _("The log ends during {value}, before the server is ready."),
    "incomplete-input": _("A part of the input could not be read: {value}"),
    "interrupted": _("vLLM was stopped from outside ({value})."),
    "shutdown": _("vLLM shut down in order."),
    "not-ready": _("Nothing in the log says that the server became ready."),
    "mixed-languages": _("Some texts are not translated yet and are shown in English."),
    "several-failures": _("More than one independent failure is in this run."),
    "rule-too-slow": _(
        "A pattern of {value} took too long and was skipped; `vllmdoctor rules check DIR` tells which pattern it is."
    ),
}
_NOTICES_WITHOUT_VALUE: Mapping[str, str] = {
    "log-ends-early": _("The log ends before the server is ready."),
    "incomplete-input": _("A part of the input could not be read."),
    "interrupted": _("vLLM was stopped from outside."),
}
_COUNTED_NOTICES: Mapping[str, Plural] = {
    "requests-rejected": _n(
        "{count} request was rejected; the reason is in the client's answer.",
        "{count} requests were rejected; the reason is in the client's answer.",
    ),
    "earlier-runs": _n(
        "{count} earlier run is in the log; this is the last one.",
        "{count} earlier runs are in the log; this is the last one.",
    ),
    "warnings-only": _n("{count} warning, no failure.", "{count} warnings, no failure."),
}

HEADLINE_ENDS_EARLY = _("No failure in this log, which ends during {phase}")
HEADLINE_HEALTHY_WARNINGS = _n(
    "No failure in this log; {count} warning", "No failure in this log; {count} warnings"
)  # fmt: skip
HEADLINE_UNRECOGNIZED = _("vLLM failed with an error that no rule knows: {exception}")

TRANSLATION_MISSING = _("This rule is not translated yet; its texts are in English.")
TRANSLATION_STALE = _("The translation of this rule is older than the English text.")
ESTIMATE = _(" (estimate)")
ESTIMATE_WORDS = _("estimate|about|roughly|approximately|≈|~|up to")
WOULD_DECIDE = _("would decide: {facts}")
DEPENDS_ON = _("depends on {facts}, not known from this log")

IN_BRACKETS = _(" ({note})")
WHY_HERE = _("Why here")
CAUSE_NOTE = _("{state}; {because}")
COSTS = _("costs: {cost}")
RISKS: Mapping[str, str] = {"low": _("risk: low"), "medium": _("risk: medium"), "high": _("risk: high")}
FIXES = _("Fixes")
CAUSES = _("Causes")
CHECK_FIRST = _("Check first")
DOES_NOT_HELP = _("Does not help")
THEN_EXPECT = _("Then expect")
ALSO_IN_LOG = _("Also in the log")
EARLIER_RUNS = _("Earlier runs")
NOTE = _("Note")
SEEN = _("Seen")
FACTS = _("Facts read from the log")
READ_MORE = _("Read more")
MORE_WITH_ALL = _("`--all` shows every fix, cause and fact")
MORE_FIXES = _n("{count} more with `--all`", "{count} more with `--all`")
MORE_LINES = _n("{count} more", "{count} more")
FURTHER_FIXES = _n("{count} more fix", "{count} more fixes")
TO_NAME_THE_CAUSE = _("To name the cause")
WRAPPER = _("wrapper, line {line}")
CONSEQUENCE_AT = _("follows from it, line {line}")
WARNING_AT = _("warning, line {line}")
CONTRIBUTES_AT = _("contributes, line {line}")
SECOND_CAUSE = _("A second, independent failure")
CAUSE_STATES: Mapping[str, str] = {
    "confirmed": _("confirmed"),
    "likely": _("likely"),
    "possible": _("possible"),
    "ruled-out": _("ruled out"),
}
KINDS: Mapping[str, str] = {"read": _("read"), "computed": _("estimate"), "default": _("default")}
SAME_FAILURE = _n("the same failure {count} time before", "the same failure {count} times before")
SAME_FAILURE_AT_LEAST = _n(
    "the same failure at least {count} time before", "the same failure at least {count} times before"
)
LINES = _("lines {first}-{last}")
OTHER_RUNS = _("{count} runs, the last in {place}: {title}")
OTHER_RUNS_AT_LEAST = _("at least {count} runs, the last in {place}: {title}")
RUN_TIMES = _n("{count} time in this run", "{count} times in this run")
RUN_TIMES_AT_LEAST = _n("at least {count} time in this run", "at least {count} times in this run")

RAISED = _("Raised at")
IN_SOURCE = _("In vLLM")
IN_FUNCTION = _("{file} in {function}")
TEMPLATE = _("Template")
HELD = _("{name} was {value}")
LAST_PHASE = _("Last good phase")
NEAREST = _("Nearest rules")
REPORT_IT = _("Report it")
HOW_TO_REPORT = _(
    "Look the message up in the vLLM issues. To have it added here, open an issue with this report "
    "(`--format json`), the whole log and `vllm collect-env`"
)
NOT_A_LOG_HINT = _(
    "What `vllmdoctor` reads: the output of `vllm serve` or of a script that uses vLLM, and `nvidia-smi`."
)
LEFT_OUT = _("Shortened: `vllmdoctor analyze` on the log shows the rest.")
EVIDENCE_AGAIN = _("(the same)")
FACT, VALUE, SOURCE = _("Fact"), _("Value"), _("From")
FACTS_COUNTED = _n("{count} fact", "{count} facts")
TOOL_VERSIONS = _("Versions")
FIRST_FIX = _("Fix: {title}")
WARNINGS_SEEN = _("Warnings: {titles}")
RECOGNIZED = _("Recognised in it")
NOTHING_RECOGNIZED = _("nothing")

RECEIPT = _("Memory")
RECEIPT_OF_GPU = _("of a GPU with {total}")
RECEIPT_BUDGET = _("budget {gib}")
RECEIPT_BUDGET_ROW = _("budget (total × gpu_memory_utilization)")
RECEIPT_PART, RECEIPT_SIZE = _("Part"), _("Size")
RECEIPT_INSIDE, RECEIPT_BESIDE = _("in the budget"), _("beside the budget")
RECEIPT_NEEDED = _("one request needs")
RECEIPT_MISSING = _("missing")
UTILIZATION_BETWEEN = _("values of gpu_memory_utilization that can work: above {low}, up to {high}")
UTILIZATION_ABOVE = _("gpu_memory_utilization would have to be above {low}, and that much must be free at the start")
UTILIZATION_NONE = _("no value of gpu_memory_utilization can work: above {low} is needed, {high} of the GPU is free")
UTILIZATION_BEYOND = _("no value of gpu_memory_utilization can work: more is needed than the GPU has")
RECEIPT_PARTS: Mapping[str, str] = {
    "weights": _("weights"),
    "activation_peak": _("activations (peak)"),
    "non_torch": _("outside of PyTorch"),
    "cuda_graphs": _("CUDA graphs"),
    "untold": _("not told, in the budget"),
    "kv_available": _("KV cache"),
    "other_processes": _("other processes"),
    "outside": _("beyond the budget"),
}
PLAN_FITS = _("{model} fits on {gpu}: {requests} requests of {tokens} tokens at a time")
PLAN_TIGHT = _("{model} probably fits on {gpu}, with little to spare: {requests} requests of {tokens} tokens at a time")
PLAN_DOES_NOT_FIT = _("{model} does not fit on {gpu}: the KV cache lacks {gib} for one request of {tokens} tokens")
PLAN_NO_KV = _("{model} does not fit on {gpu}: what is needed before the KV cache exceeds the budget by {gib}")
PLAN_NOT_FREE = _("{model} does not start on {gpu}: {gib} less is free than the budget")
ESTIMATE_OF = _("Estimate")
LOW, BEST, HIGH = _("low"), _("best"), _("high")
KV_TOKENS = _("tokens in the KV cache")
CONCURRENCY = _("requests of {tokens} tokens")
LONGEST_CONTEXT = _("longest context")
KV_PER_TOKEN = _("KV cache per token and GPU")
THEN_RUN = _("Then run")
WOULD_FIT = _("One of these would fit")
WITH_GPUS = _("with {count} such GPUs")
NOTHING_FITS = _("No single change makes it fit: take a smaller or quantized model, or more GPUs.")
INTERVAL_EMPTY = _("none")
PLAN_BASIS = _("weights from {source}; arithmetic of {era} (vLLM {version})")
PLAN_INTERVAL = _("values of --gpu-memory-utilization that can work: {interval}")
PLAN_HYBRID = _("a long request keeps {mib} that do not grow with its length (windows or states)")
PLAN_TOO_LONG = _("vLLM refuses more than the {tokens} tokens of the model's own config")
PLAN_UNIFIED = _("the GPU shares main memory: what the system and other programs use is missing from it")

VERSION, MODEL, KV_CACHE, GPU, CONTEXT = _("vLLM"), _("model"), _("KV cache"), _("GPU"), _("context length")
TOKENS = _("{count} tokens")

SEVERAL_RULES = _("Several rules are about this")
NO_RULE_KNOWS = _("No rule knows this message: {message}")
GIVE_WHOLE_LOG = _("Give the whole log to `vllmdoctor analyze`: the lines around the message often tell more.")
MESSAGES = _("Messages")
MEANING = _("What it means")
VERSIONS = _("vLLM versions")
WHERE_RAISED = _("Raised in")
REFERENCES = _("References")
RELATED = _("Related")
EFFECT = _("Effect")
FORMS: Mapping[str, str] = {
    "cli": _("Command line"),
    "python": _("Python"),
    "compose": _("Docker Compose"),
    "kubernetes": _("Kubernetes"),
}

# Comments in printed commands.
COMMAND_WITHOUT = _("without {options}")
COMMAND_PLUS_OTHERS = _("plus your other options")
COMMAND_PLUS_OWN = _("plus your own {options}")
BEFORE_IMPORT = _("before vllm is imported")

# Names that stand in reports as they are, and have wordings in other languages: phases, units.
_NAMES = (
    _("install"), _("configuration"), _("download"), _("distributed-init"), _("loading-weights"), _("profiling"),
    _("kv-cache-allocation"), _("compilation"), _("graph-capture"), _("warm-up"), _("serving"), _("sleep-mode"),
    _("shutdown"),
)  # fmt: skip

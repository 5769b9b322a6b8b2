"""The sentences of the site's pages: messages for the catalogues, as in `report.words`."""

from __future__ import annotations

from collections.abc import Mapping

from vllmdoctor.languages import marked as _

Plural = tuple[str, str]


def _n(singular: str, plural: str) -> Plural:
    return (singular, plural)


LANGUAGE_NAMES: Mapping[str, str] = {"en": "English", "vi": "Tiếng Việt", "ja": "日本語"}

SITE_DESCRIPTION = _("Why vLLM failed to start or died, and what to do, by the message in its log.")
DARK, LIGHT = _("Switch to dark mode"), _("Switch to light mode")

# Navigation
HOME = _("Home")
ANALYZE = _("Analyze a log")
ERRORS = _("Errors")
ALL_MESSAGES = _("All messages")
REMEDIES = _("Remedies")
GUIDES = _("Guides")
REFERENCE = _("Reference")
CLI_REFERENCE = _("Command line")
REPORT_SCHEMA = _("Report (JSON)")
RULES_SCHEMA = _("Rule files (YAML)")
CHANGELOG = _("Changelog")

CATEGORIES: Mapping[str, str] = {
    "memory": _("Memory"),
    "config": _("Configuration"),
    "model": _("Model files"),
    "gpu": _("GPU and driver"),
    "build": _("Installation and compilation"),
    "distributed": _("Several GPUs and nodes"),
    "server": _("Server and requests"),
    "wrapper": _("Wrappers"),
}
CATEGORY_TEXTS: Mapping[str, str] = {
    "memory": _(
        "GPU memory, main memory and shared memory: the KV cache does not fit, an allocation fails, or the kernel ends "
        "the process."
    ),
    "config": _("Options, values and combinations that vLLM refuses, before or while it builds the engine."),
    "model": _("The model's files: access, downloads, configuration, weights, tokenizer, and what Transformers knows."),
    "gpu": _("Driver, device and hardware: what the CUDA, ROCm or NVML call behind the traceback says."),
    "build": _(
        "Libraries, compilers and caches: imports that fail, kernels that cannot be built, broken installations."
    ),
    "distributed": _("Processes that do not find each other, wait for each other, or see each other die."),
    "server": _("The HTTP server, its port and sockets, and requests that it rejects."),
    "wrapper": _(
        "Messages that only report that another process failed. They are never the cause: the cause is printed above "
        "them, or is missing from the log."
    ),
}
SEVERITIES: Mapping[str, str] = {
    "fatal": _("the server does not start or dies"),
    "degraded": _("the server runs, but badly"),
    "request": _("one request fails, the server goes on"),
    "notice": _("for your information"),
}

# Rule pages
RULE_DESCRIPTION = _("{title}: what it means, how to tell the causes apart, and fixes for vLLM. {summary}")
PHASE = _("Phase")
THE_MESSAGE = _("The message")
EXAMPLE = _("An example, analyzed")
EXAMPLE_TEXT = _("What `vllmdoctor analyze startup.log` prints for this log:")
EXAMPLE_LOG = _n("The log of the example ({count} line)", "The log of the example ({count} lines)")
ANALYZE_YOURS = _("[Analyze your own log]({link}): it is read in your browser, nothing is uploaded.")
FACTS_READ = _("What is read from the log")
IN_EXAMPLE = _("In the example")
ALSO_USED = _("Also used, where the log tells them: {facts}")
LINE_OF_LOG = _("line {line}")
CAUSES_APART = _("Causes, and how to tell them apart")
CONFIRMED_BY = _("Told apart by: {facts}")
NEEDS = _("Depends on: {facts}")
WHAT_IT_DOES = _("What this change really does")
VERIFY = _("How to see that it worked")
OTHER_WORDINGS = _("Versions, and other wordings of the message")
WORDING = _("Wording")
ANY_VERSION = _("any")
FROM_PROGRAM = _("printed by {program}")
ALL_WORDINGS = _n("{count} wording", "{count} wordings")
RELATED_ERRORS = _("Related errors")
MORE_OF_CATEGORY = _("More of this category")
PREVIOUS, NEXT = _("Previous"), _("Next")
NOT_A_CAUSE = _("This is never the cause. Look for the first error above it; when there is none, the log is cut.")

# Remedy pages
REMEDY_DESCRIPTION = _("{title}: what it really does in vLLM, what it costs, and which errors it helps against.")
USED_BY = _("Helps against")
COST = _("Cost")
DOWN_OR_UP: Mapping[str, str] = {"up": _("the value goes up"), "down": _("the value goes down")}
DIRECTION = _("Direction")
SINCE = _("vLLM versions that have it")
BY_VERSION = _("By version: which way it helps")
BY_VERSION_TEXT = _(
    "Read from the source of the releases 0.1.7 to 0.33.0: which way `--gpu-memory-utilization` has to move, by what "
    "the log says."
)
LOG_SAYS = _("The log says")
REMEDIES_TEXT = _("What can be changed, what each change really does, and what it costs.")

# Lists
CATEGORY_DESCRIPTION = _("{category}: {count} errors of vLLM with their causes and fixes. {text}")
ALL_MESSAGES_TEXT = _("Every wording that is recognized, with the page that explains it. Type to filter.")
FILTER = _("Filter the messages")
FILTERED = _("{count} messages")

# Home
HOME_TITLE = _("Why did vLLM fail?")
HOME_TEXT = _(
    "Paste the log of a vLLM that failed to start or died. You get the root cause above the wrappers, the fix with the "
    "numbers of your log, and an honest “I don't know” when no rule knows it."
)
PASTE_HERE = _("Paste your log here: the whole of it, with the traceback")
ANALYZE_IT = _("Analyze")
NOTHING_LEAVES = _("Nothing leaves your browser: the analyzer runs in this page.")
OR_FILES = _("Drop files, `.gz` archives or `nvidia-smi` output on [the analyzer's page]({link}).")
ON_YOUR_MACHINE = _("On your own machine")
ON_YOUR_MACHINE_TEXT = _("The same analyzer, for pipes, CI and logs of gigabytes:")
BY_CATEGORY = _("Errors by category")
COMMON_ERRORS = _("Frequent errors")
ERRORS_COUNTED = _n("{count} error", "{count} errors")
SEE_ALSO = _("Guides")

# Notices
PAGE_MISSING = _("This page is not translated yet and is shown in English. [Read it in English]({link}).")
PAGE_STALE = _("This translation is older than the English text. [Read it in English]({link}).")
NOT_FOUND = _("This page does not exist")
NOT_FOUND_TEXT = _("Search for the message, or go to the start page.")
START_PAGE = _("Start page")
BEST_MATCH = _("Recognized")
LONG_PASTE = _("This is long for a search. Analyze it as a log instead?")
SKIP_TO_ANALYZER = _("Open it in the analyzer")
COPYRIGHT = _("Apache-2.0. Nothing you paste leaves your browser.")
SEARCH_DIALOG = _("Search")
HOW_TO_APPLY = _("How to apply it")
WAYS: Mapping[str, str] = {
    "up": _("raise"),
    "down": _("lower"),
    "no effect": _("does not matter"),
    "n/a": _("this message does not exist"),
}
BOUNDED = _("up to free ÷ total")

"""A language in, the Markdown of the page out on which a log is pasted and analyzed in the browser."""

from __future__ import annotations

from html import escape

from vllmdoctor.languages import marked as _
from vllmdoctor.report.words import Words
from vllmdoctor.site import markdown as md
from vllmdoctor.site.pages.widgets import field, noscript, sentences_block
from vllmdoctor.site.plain import description

TITLE = _("Analyze a vLLM log")
LEAD = _(
    "Paste the log of a vLLM that failed to start or died. You get the root cause, the fixes with the numbers of your "
    "log, and the lines that prove it."
)
PRIVATE = _(
    "**Nothing you paste leaves your browser.** This page may only connect to its own site (Content-Security-Policy "
    "`connect-src 'self'`), and the analyzer runs here."
)
MADE_OF = _("The analyzer is vllmdoctor on Python in WebAssembly (Pyodide): [licences]({link}).")
LOG = _("The log: all that vLLM printed, with the traceback")
FILES = _("Choose files…")
FILES_HINT = _(
    "Or drop files anywhere on this page: several at once, also .gz, .bz2, .xz, .zst, .zip and .tar; logs of several "
    "ranks belong together. At most 50 MB."
)
CHOSEN = _("Chosen files")
TABLE = _("Add nvidia-smi output (optional)")
TABLE_HINT = _("From the same machine: it tells what else is on the GPU, and how much is free.")
ANALYZE = _("Analyze")
CLEAR = _("Clear")
KEYS = _("Ctrl+Enter analyzes.")
EXAMPLES = _("Examples")
EXAMPLE_NAMES = {
    "kv-cache": _("KV cache too small"),
    "port-in-use": _("port in use"),
    "worker-killed": _("worker killed"),
    "unknown-architecture": _("unknown architecture"),
    "healthy": _("a healthy start"),
}
_TABLES = {"kv-cache": " data-table"}
REPORT = _("Report")
COPY_MARKDOWN = _("Copy as Markdown for a bug report (redacted)")
COPY_JSON = _("Copy JSON")
SAVE_JSON = _("Download JSON")
THE_LOG = _("The log")
INPUT = _("Input")
WRAP = _("Wrap long lines")
EARLIER, LATER = _("Earlier lines"), _("Later lines")
BACK = _("Back to the report")

# What the script says; {…} is filled in by it.
SENTENCES = {
    "remove": _("Remove {name}"),
    "loading": _("Loading the analyzer (about 7 MB, once)…"),
    "python": _("Starting Python…"),
    "rules": _("Preparing the rules…"),
    "ready": _("The analyzer is ready."),
    "analyzing": _("Analyzing…"),
    "done": _("Done in {seconds} s. The report is below."),
    "candidates": _("Possible matches while the analyzer loads, by words alone; this is no diagnosis:"),
    "noCandidates": _("No known message was found by words alone; the analyzer looks closer."),
    "empty": _("Paste a log or choose a file first."),
    "tooLarge": _(
        "That is {size} MB; this page takes up to {most} MB. The command line reads logs of any size: "
        "vllmdoctor analyze FILE"
    ),
    "notLoaded": _("The analyzer could not be loaded ({problem}). Reload the page, or use the command line."),
    "failed": _("The analysis broke off ({problem}). Please report this, with the log if you can share it."),
    "unreadable": _("{name} cannot be read ({problem})."),
    "fromFile": _(
        "This page was opened as a file, from where a browser does not start the analyzer. Use the command line: "
        "vllmdoctor analyze FILE"
    ),
    "copied": _("Copied."),
    "notCopied": _("The browser did not allow copying."),
    "gap": _("Lines {first} to {last} are not shown: of a large log only the telling lines are kept."),
    "marked": _("Line {line} of {total}"),
    "cleared": _("Cleared."),
    "pasted": _("A large paste was taken as a file."),
}


def page(language: str) -> str:
    """Everything with its front matter; the page lies at /{language}/analyze/."""
    words = Words(language)
    meta = {
        "title": words(TITLE),
        "description": description(f"{words(LEAD)} {words(PRIVATE)}".replace("*", "").replace("`", "")),
        "template": "analyze.html",
        "hide": ["navigation", "toc"],
    }
    lines = [
        f"# {md.escaped(words(TITLE))} {{ #analyze }}",
        "",
        md.escaped(words(LEAD)),
        "",
        *_app(words),
        "",
        md.inline(words(PRIVATE)),
        "",
        _made_of(words),
        "",
    ]
    return md.page(meta, lines)


def _made_of(words: Words) -> str:
    before, _, rest = words(MADE_OF).partition("[")
    label, _, after = rest.partition("]({link})")
    link = f'<a class="vd-link" href="../../engine/LICENSES.txt">{escape(label)}</a>'
    return f'<p markdown="0">{escape(before)}{link}{escape(after)}</p>'


def _app(words: Words) -> list[str]:
    """HTML without empty lines, which would end the block."""
    examples = " ".join(
        f'<button type="button" class="vd-example" data-example="{name}"{_TABLES.get(name, "")}>'
        f"{escape(words(label))}</button>"
        for name, label in EXAMPLE_NAMES.items()
    )
    return [
        f'<div class="vd-app" id="vd-app" data-engine="../../engine/" data-language="{words.language}" markdown="0">',
        '<form class="vd-paste" id="vd-form">',
        field(
            "vd-log",
            words(LOG),
            '<textarea id="vd-log" rows="9" wrap="off" spellcheck="false" autocomplete="off" autocapitalize="off" '
            'aria-describedby="vd-keys"></textarea>',
        ),
        '<div class="vd-files">',
        f'<button type="button" id="vd-choose">{escape(words(FILES))}</button>',
        f'<input type="file" id="vd-file" multiple hidden aria-label="{escape(words(FILES))}">',
        f'<p class="vd-hint">{escape(words(FILES_HINT))}</p>',
        f'<ul id="vd-chosen" aria-label="{escape(words(CHOSEN))}" hidden></ul>',
        "</div>",
        f"<details><summary>{escape(words(TABLE))}</summary>",
        field(
            "vd-table",
            words(TABLE_HINT),
            '<textarea id="vd-table" rows="5" wrap="off" spellcheck="false" autocomplete="off" '
            'autocapitalize="off"></textarea>',
        ),
        "</details>",
        '<p class="vd-actions">',
        f'<button type="submit" class="md-button md-button--primary" id="vd-analyze">{escape(words(ANALYZE))}</button>',
        f'<button type="button" class="md-button" id="vd-clear">{escape(words(CLEAR))}</button>',
        f'<span class="vd-hint" id="vd-keys">{escape(words(KEYS))}</span>',
        "</p>",
        f'<p class="vd-examples"><span>{escape(words(EXAMPLES))}:</span> {examples}</p>',
        "</form>",
        '<p class="vd-progress"><span id="vd-state" role="status" aria-live="polite"></span>'
        '<progress id="vd-busy" aria-labelledby="vd-state" hidden></progress></p>',
        '<div class="vd-problem" id="vd-problem" role="alert" hidden></div>',
        '<div class="vd-candidates" id="vd-candidates" hidden></div>',
        '<div class="vd-results" id="vd-results" hidden>',
        '<div class="vd-answer">',
        f'<div class="vd-tools" role="group" aria-label="{escape(words(REPORT))}">',
        f'<button type="button" id="vd-copy-markdown">{escape(words(COPY_MARKDOWN))}</button>',
        f'<button type="button" id="vd-copy-json">{escape(words(COPY_JSON))}</button>',
        f'<button type="button" id="vd-save-json">{escape(words(SAVE_JSON))}</button>',
        "</div>",
        '<div id="vd-report"></div>',
        "</div>",
        '<div class="vd-pane" id="vd-pane">',
        f'<h2 id="vd-pane-title">{escape(words(THE_LOG))}</h2>',
        f'<p class="vd-pane-head"><label for="vd-input">{escape(words(INPUT))}</label> <select id="vd-input"></select> '
        f'<label class="vd-wrap"><input type="checkbox" id="vd-wrap" checked> {escape(words(WRAP))}</label> '
        f'<span id="vd-marked" role="status"></span> '
        f'<button type="button" id="vd-back" hidden>{escape(words(BACK))}</button></p>',
        '<div class="vd-log" id="vd-lines" tabindex="0" role="region" aria-labelledby="vd-pane-title">',
        f'<button type="button" id="vd-earlier" hidden>{escape(words(EARLIER))}</button>',
        '<div id="vd-rows" class="vd-rows--wrapped"></div>',
        f'<button type="button" id="vd-later" hidden>{escape(words(LATER))}</button>',
        "</div>",
        "</div>",
        "</div>",
        noscript(words),
        sentences_block("vd-sentences", SENTENCES, words),
        "</div>",
    ]

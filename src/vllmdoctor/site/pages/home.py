"""The start page of a language: the paste box first, then errors by category, frequent errors, the command line."""

from __future__ import annotations

from html import escape

from vllmdoctor.report.inline import plain_text
from vllmdoctor.site import markdown as md
from vllmdoctor.site import words as s
from vllmdoctor.site.context import Site
from vllmdoctor.site.messages import message_title
from vllmdoctor.site.plain import description

# In the order in which a message that several of them share leads to them.
FREQUENT = (
    "no-cache-blocks",
    "max-model-len-exceeds-kv-cache",
    "free-memory-below-utilization",
    "cuda-oom-unknown-phase",
    "cuda-oom-loading-weights",
    "cuda-oom-inference",
    "engine-core-init-failed",
    "architecture-unsupported",
    "gated-or-unauthorized",
    "bfloat16-unsupported",
    "nccl-error",
    "no-kernel-image",
    "driver-too-old",
    "port-in-use",
    "context-length-exceeded",
    "unrecognized-argument",
)
GUIDES = ("getting-started", "read-a-log", "memory", "plan")


def page(site: Site, guides: dict[str, str]) -> str:
    """`guides` gives the title of each guide by its name."""
    words = site.words
    lines = [
        f"# {md.escaped(words(s.HOME_TITLE))} {{ #home }}",
        "",
        md.escaped(words(s.HOME_TEXT)),
        "",
        *_paste_box(site),
        *md.heading(2, md.escaped(words(s.BY_CATEGORY)), "categories"),
        *_categories(site),
        *md.heading(2, md.escaped(words(s.COMMON_ERRORS)), "frequent"),
        *_frequent(site),
        *md.heading(2, md.escaped(words(s.ON_YOUR_MACHINE)), "command-line"),
        md.escaped(words(s.ON_YOUR_MACHINE_TEXT)),
        "",
        *md.fenced("pip install vllmdoctor\nvllm serve MODEL 2>&1 | tee startup.log | vllmdoctor analyze -", "sh"),
        "",
        *md.heading(2, md.escaped(words(s.SEE_ALSO)), "guides"),
        *(f"- {md.link(guides[name], f'guide/{name}.md')}" for name in GUIDES if name in guides),
    ]
    meta = {
        "title": words(s.HOME_TITLE),
        "description": description(words(s.HOME_TEXT)),
        "hide": ["navigation", "toc"],
    }
    return md.page(meta, lines)


def _paste_box(site: Site) -> list[str]:
    """A form that hands the text to the analyzer's page within the browser; it has no address to send to."""
    words = site.words
    label = escape(words(s.PASTE_HERE))
    return [
        '<form class="paste-box" data-analyze="analyze/" markdown="0">',
        f'<label for="paste">{label}</label>',
        '<textarea id="paste" rows="7" wrap="off" spellcheck="false" autocomplete="off" autocapitalize="off">',
        "</textarea>",
        f'<p><button type="submit" class="md-button md-button--primary">{escape(words(s.ANALYZE_IT))}</button> '
        f"<span>{escape(words(s.NOTHING_LEAVES))}</span></p>",
        "</form>",
        "",
        words(s.OR_FILES, link="analyze/index.md"),
        "",
    ]


def _categories(site: Site) -> list[str]:
    words = site.words
    rows = []
    for name, rules in site.by_category.items():
        count = words.counted(s.ERRORS_COUNTED, len(rules))
        head = md.link(words(s.CATEGORIES[name]), f"categories/{name}.md")
        rows += [f"- **{head}** ({md.escaped(count)})  ", f"    {md.escaped(words(s.CATEGORY_TEXTS[name]))}"]
    return ['<div class="category-grid" markdown="1">', "", *rows, "", "</div>", ""]


def _frequent(site: Site) -> list[str]:
    rows = []
    for name in FREQUENT:
        rule = site.catalogue.rules[name]
        rows.append(f"- {md.link(plain_text(site.title(rule)), f'rules/{name}.md')}  ")
        rows.append(f"    {md.code(message_title(site.message(rule)))}")
    return [*rows, ""]

"""A language in, the HTML of the memory calculator out: `vllmdoctor plan` in the browser."""

from __future__ import annotations

import json
from html import escape

from vllmdoctor.languages import marked as _
from vllmdoctor.memory.gpus import gpu_choices
from vllmdoctor.report.words import Words
from vllmdoctor.site.pages.widgets import field, noscript, sentences_block

CONFIG = _("The model's config.json")
CONFIG_HINT = _("On Hugging Face: Files, config.json, raw. Paste it, or choose the file.")
CHOOSE = _("Choose config.json…")
MODEL = _("Its name, for the command (optional)")
GPU = _("GPU")
OTHER_GPU = _("another size: {example}")
GPU_MEMORY = _("Its memory, for another GPU")
GPUS = _("How many")
MAX_MODEL_LEN = _("--max-model-len (empty: the model's own)")
UTILIZATION = _("--gpu-memory-utilization (empty: vLLM's default)")
KV_DTYPE = "--kv-cache-dtype"
TENSOR_PARALLEL = _("--tensor-parallel-size (empty: all GPUs)")
CALCULATE = _("Does it fit?")
EXAMPLE = _("Llama-3.1-8B as an example")
SENTENCES = {
    "loading": _("Loading the calculator (about 7 MB, once)…"),
    "python": _("Starting Python…"),
    "rules": _("Preparing…"),
    "calculating": _("Calculating…"),
    "done": _("Done. The estimate is below."),
    "empty": _("Paste the model's config.json first."),
    "notLoaded": _("The calculator could not be loaded ({problem}). Reload the page, or use the command line."),
    "failed": _("The calculation broke off ({problem})."),
    "fromFile": _("This page was opened as a file, from where a browser does not start the calculator."),
    "copied": _("Copied."),
    "notCopied": _("The browser did not allow copying."),
}
_EXAMPLE_CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "max_position_embeddings": 131072,
    "model_type": "llama",
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "vocab_size": 128256,
}
_DTYPES = ("auto", "fp8")
_FIRST_GPU = "RTX 4090"
_COMMAND = "vllmdoctor plan config.json --gpu 'RTX 4090'"


def widget(language: str) -> str:
    """One block of HTML without empty lines, for a page two folders below /{language}/."""
    words = Words(language)
    return "\n".join(
        [
            f'<div class="vd-app vd-calculator" id="vd-calculator" data-engine="../../../engine/" '
            f'data-language="{language}" markdown="0">',
            '<form class="vd-paste" id="vd-plan">',
            field(
                "vd-config",
                words(CONFIG),
                '<textarea id="vd-config" rows="8" spellcheck="false" autocomplete="off" autocapitalize="off" '
                'aria-describedby="vd-config-hint"></textarea>',
            ),
            '<div class="vd-files">',
            f'<button type="button" id="vd-choose">{escape(words(CHOOSE))}</button>',
            f'<button type="button" id="vd-example" data-config="{escape(json.dumps(_EXAMPLE_CONFIG))}">'
            f"{escape(words(EXAMPLE))}</button>",
            '<input type="file" id="vd-file" accept=".json,application/json" hidden '
            f'aria-label="{escape(words(CHOOSE))}">',
            f'<p class="vd-hint" id="vd-config-hint">{escape(words(CONFIG_HINT))}</p>',
            "</div>",
            '<div class="vd-grid">',
            field("vd-model", words(MODEL), '<input id="vd-model" placeholder="org/model" autocomplete="off">'),
            field("vd-gpu", words(GPU), _gpus(words)),
            field("vd-gpu-size", words(GPU_MEMORY), '<input id="vd-gpu-size" placeholder="24GiB" disabled>'),
            field("vd-gpus", words(GPUS), '<input id="vd-gpus" type="number" min="1" max="64" value="1">'),
            field("vd-tensor", words(TENSOR_PARALLEL), '<input id="vd-tensor" type="number" min="1">'),
            field("vd-length", words(MAX_MODEL_LEN), '<input id="vd-length" type="number" min="1">'),
            field(
                "vd-share",
                words(UTILIZATION),
                '<input id="vd-share" type="number" min="0.01" max="1" step="0.01" placeholder="0.92">',
            ),
            field("vd-dtype", KV_DTYPE, _select("vd-dtype", _DTYPES)),
            "</div>",
            '<p class="vd-actions">',
            f'<button type="submit" class="md-button md-button--primary">{escape(words(CALCULATE))}</button>',
            "</p>",
            "</form>",
            '<p class="vd-progress"><span id="vd-state" role="status" aria-live="polite"></span>'
            '<progress id="vd-busy" aria-labelledby="vd-state" hidden></progress></p>',
            '<div class="vd-problem" id="vd-problem" role="alert" hidden></div>',
            '<div id="vd-estimate"></div>',
            noscript(words, _COMMAND),
            sentences_block("vd-sentences", SENTENCES, words),
            "</div>",
        ]
    )


def _gpus(words: Words) -> str:
    options = "".join(
        f'<option value="{escape(name)}"{" selected" if name == _FIRST_GPU else ""}>{escape(name)}</option>'
        for name in gpu_choices()
    )
    other = f'<option value="">{escape(words(OTHER_GPU, example="24GiB"))}</option>'
    return f'<select id="vd-gpu">{options}{other}</select>'


def _select(name: str, values: tuple[str, ...]) -> str:
    options = "".join(f'<option value="{value}">{value}</option>' for value in values)
    return f'<select id="{name}">{options}</select>'

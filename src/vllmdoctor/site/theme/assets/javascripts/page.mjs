// Every page: the paste box of the start page, the choice of language, the filter of the messages, code in tables.

import { searchable } from "./finder.mjs";
import { toAnalyzer } from "./handover.mjs";

const SHORT_CODE = 32;

for (const form of document.querySelectorAll("form[data-analyze]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    toAnalyzer(form.querySelector("textarea").value, new URL(form.dataset.analyze, location.href).href);
  });
}

for (const link of document.querySelectorAll(".md-select__link[hreflang]")) {
  link.addEventListener("click", () => {
    link.hash = location.hash;
    try {
      localStorage.setItem("vllmdoctor-language", link.hreflang);
    } catch {
      // Then the start page goes by the browser's languages.
    }
  });
}

const filter = document.getElementById("message-filter");
if (filter) {
  const items = [...document.querySelectorAll(".message-list li")].map((item) => [item, item.textContent.toLowerCase()]);
  const output = document.querySelector('output[for="message-filter"]');
  filter.addEventListener("input", () => {
    const words = searchable(filter.value).toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const [item, text] of items) {
      item.hidden = !words.every((word) => text.includes(word));
      shown += item.hidden ? 0 : 1;
    }
    output.textContent = output.dataset.template.replace("{count}", shown.toLocaleString(document.documentElement.lang));
  });
}

// A browser breaks `--max-model-len` at its dashes; names and options in tables stay whole, messages may break.
for (const code of document.querySelectorAll(".md-typeset table:not(.wordings table) td code")) {
  const text = code.textContent;
  const first = code.closest("td").cellIndex === 0;
  if (text.length <= SHORT_CODE && (first || !/\s/.test(text))) code.classList.add("short");
}

// The theme wraps tables; one that scrolls is reached by keyboard, too.
addEventListener("load", () => {
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  document.querySelectorAll(".md-typeset__scrollwrap").forEach((wrap) => observer.observe(wrap));
});

// The search box: recognizes pasted messages, composes accents, knows flags, offers long pastes to the analyzer.

import { Finder, searchable, worthShowing } from "./finder.mjs";
import { toAnalyzer } from "./handover.mjs";

const LONG = 200;
const SHORTEST = 3;

const sentences = JSON.parse(document.getElementById("site-sentences")?.textContent || "{}");
const base = JSON.parse(document.getElementById("__config")?.textContent || "{}").base || ".";

const isSearchBox = (element) => element instanceof HTMLInputElement && element.dataset.mdComponent === "search-query";

let finder = null;

function loadFinder() {
  finder ||= fetch(new URL("../messages.json", import.meta.url))
    .then((answer) => (answer.ok ? answer.json() : []))
    .then((rules) => new Finder(rules))
    .catch(() => new Finder([]));
  return finder;
}

function made(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

// Our own results stand above the theme's, in an element of their own: the theme redraws its list as it likes.
function resultsAbove(box) {
  const place = box.closest(".md-search")?.querySelector(".md-search__scrollwrap");
  if (!place) return null;
  let above = place.querySelector(".search-above");
  if (!above) {
    above = made("div", { className: "search-above" });
    above.setAttribute("aria-live", "polite");
    place.prepend(above);
  }
  return above;
}

let latest = 0;

async function showBest(box, text) {
  const current = (latest += 1);
  const known = await loadFinder();
  if (current !== latest) return; // typed on meanwhile
  const above = resultsAbove(box);
  if (!above) return;
  const found = text.trim().length < SHORTEST ? [] : worthShowing(known.find(text));
  const parts = [];
  if (text.length >= LONG) {
    const button = made("button", { type: "button", className: "md-button md-button--primary", textContent: sentences.to_analyzer });
    button.addEventListener("click", () => toAnalyzer(text, `${base}/analyze/`));
    parts.push(made("p", { id: "search-offer" }, sentences.long_paste, " ", button));
  }
  if (found.length) {
    const rows = found.map((one) => {
      const link = made("a", { className: "search-best", href: `${base}/rules/${one.id}/`, textContent: one.title });
      return made("li", {}, link, ...(one.text ? [made("code", { textContent: one.text })] : []));
    });
    parts.push(made("p", { className: "search-label", textContent: sentences.best_match }), made("ol", {}, ...rows));
  }
  above.replaceChildren(...parts);
}

document.addEventListener("focusin", (event) => isSearchBox(event.target) && loadFinder(), { capture: true });

document.addEventListener(
  "input",
  (event) => {
    const box = event.target;
    if (!isSearchBox(box)) return;
    const given = box.value; // patterns know `--flag` with its dashes
    const wanted = searchable(given);
    if (wanted !== given) box.value = wanted;
    if (box.dataset.pasted && !sameWords(box.dataset.pasted, wanted)) delete box.dataset.pasted;
    showBest(box, box.dataset.pasted || given);
  },
  { capture: true },
);

const sameWords = (one, other) => searchable(one).replace(/\s+/g, "") === other.replace(/\s+/g, "");

// A box of one line drops the line ends of what is pasted; the analyzer needs them.
document.addEventListener(
  "paste",
  (event) => {
    const text = event.clipboardData?.getData("text/plain") || "";
    if (isSearchBox(event.target) && text.length >= LONG) event.target.dataset.pasted = text;
  },
  { capture: true },
);

document.addEventListener(
  "keydown",
  (event) => {
    if (event.key !== "Enter" || !isSearchBox(event.target)) return;
    const best = resultsAbove(event.target)?.querySelector("a.search-best");
    if (!best) return;
    event.preventDefault();
    event.stopPropagation();
    best.click();
  },
  { capture: true },
);

// The search box: composed characters, flags that begin with dashes, long pastes; the start page's paste box.
(() => {
  "use strict";
  const LONG = 200;
  const HANDED_OVER = "vllmdoctor-paste";

  const sentences = JSON.parse(document.getElementById("site-sentences")?.textContent || "{}");
  const base = JSON.parse(document.getElementById("__config")?.textContent || "{}").base || ".";

  const toAnalyzer = (text, address) => {
    try {
      sessionStorage.setItem(HANDED_OVER, text);
    } catch {
      // Without storage the reader pastes once more.
    }
    location.href = address;
  };

  // A dash before a word means "not" to the search, and accents may come in decomposed.
  const searchable = (text) => text.normalize("NFC").replace(/(^|\s)-+(?=\w)/g, "$1");

  const offerAnalyzer = (box, text) => {
    const output = box.closest(".md-search")?.querySelector(".md-search__output .md-search__scrollwrap");
    let offer = document.getElementById("search-offer");
    if (text.length < LONG) {
      offer?.remove();
      return;
    }
    if (!output) return;
    if (!offer) {
      offer = document.createElement("p");
      offer.id = "search-offer";
      offer.className = "search-offer";
      const button = document.createElement("button");
      button.type = "button";
      button.className = "md-button md-button--primary";
      button.textContent = sentences.to_analyzer || "";
      button.addEventListener("click", () => toAnalyzer(offer.dataset.text, `${base}/analyze/`));
      offer.append(sentences.long_paste || "", " ", button);
      output.prepend(offer);
    }
    offer.dataset.text = text;
  };

  document.addEventListener(
    "input",
    (event) => {
      const box = event.target;
      if (!(box instanceof HTMLInputElement) || box.dataset.mdComponent !== "search-query") return;
      offerAnalyzer(box, box.dataset.pasted || box.value);
      delete box.dataset.pasted;
      const wanted = searchable(box.value);
      if (wanted !== box.value) box.value = wanted;
    },
    { capture: true },
  );

  // A box of one line drops the line ends of what is pasted; the analyzer needs them.
  document.addEventListener(
    "paste",
    (event) => {
      const box = event.target;
      if (!(box instanceof HTMLInputElement) || box.dataset.mdComponent !== "search-query") return;
      const text = event.clipboardData?.getData("text/plain") || "";
      if (text.length >= LONG) box.dataset.pasted = text;
    },
    { capture: true },
  );

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
      output.textContent = output.dataset.template.replace("{count}", shown.toLocaleString());
    });
  }
})();

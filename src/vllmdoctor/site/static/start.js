// Goes to the language that the reader chose before, else the first of the browser's languages that there is.
(() => {
  "use strict";
  const known = ["en", "vi", "ja"];
  let chosen = null;
  try {
    chosen = localStorage.getItem("vllmdoctor-language");
  } catch {
    // Storage may be forbidden; the browser's languages decide then.
  }
  const wishes = [chosen, ...(navigator.languages || [navigator.language])];
  const language = wishes.map((wish) => String(wish || "").slice(0, 2).toLowerCase()).find((wish) => known.includes(wish));
  const go = () => {
    const link = document.querySelector(`[data-language="${language || "en"}"]`);
    if (link) location.replace(link.href + location.search + location.hash);
  };
  document.readyState === "loading" ? document.addEventListener("DOMContentLoaded", go) : go();
})();

// Small things that the analyzer's page and the calculator share.

export const byId = (id) => document.getElementById(id);

/** The sentences of the page with {names} filled in. */
export function sentencesOf(id) {
  const texts = JSON.parse(byId(id)?.textContent || "{}");
  return (key, values = {}) => (texts[key] ?? "").replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

export async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedTheOldWay(text); // a page without https
  }
}

function copiedTheOldWay(text) {
  const box = document.createElement("textarea");
  box.value = text;
  box.className = "vd-offscreen";
  document.body.append(box);
  box.select();
  const done = document.execCommand("copy");
  box.remove();
  return done;
}

/** Buttons marked data-copy copy the code beside them; `said` is told whether it worked. */
export function serveCopyButtons(container, said) {
  container.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const done = await copied(button.parentElement.querySelector("code").textContent);
    said(done);
    if (!done) return;
    button.classList.add("vd-copy--done");
    setTimeout(() => button.classList.remove("vd-copy--done"), 2000);
  });
}

export const openedAsFile = () => location.protocol === "file:";

// A text that one page of the site hands to the analyzer's page, within the browser.

const NAME = "vllmdoctor-paste";
const PLACE = new URL(NAME, import.meta.url).href; // the key in the store; nothing lies there

export async function toAnalyzer(text, address) {
  try {
    sessionStorage.setItem(NAME, text);
  } catch {
    await keepLarge(text).catch(() => {}); // without any storage the reader pastes once more
  }
  location.href = address;
}

/** The text that another page has handed over, once; "" when there is none. */
export async function takeHandedOver() {
  try {
    const text = sessionStorage.getItem(NAME);
    sessionStorage.removeItem(NAME);
    return text ?? (await takeLarge());
  } catch {
    return "";
  }
}

// The storage of a session holds a few megabytes.
async function keepLarge(text) {
  const store = await caches.open(NAME);
  await store.put(PLACE, new Response(text));
}

async function takeLarge() {
  if (!globalThis.caches || !(await caches.has(NAME))) return "";
  const kept = await (await caches.open(NAME)).match(PLACE);
  await caches.delete(NAME);
  return kept ? kept.text() : "";
}

// The page on which a log is pasted: what is given goes to the worker, and its report into the page.
import { candidatesIn, textOf } from "./candidates.mjs";
import { EngineClient } from "./engine-client.mjs";
import { takeHandedOver } from "./handover.mjs";
import { LogPane } from "./log-pane.mjs";
import { byId, copied, openedAsFile, sentencesOf, serveCopyButtons } from "./page-tools.mjs";

const MOST_BYTES = 50 * 2 ** 20;
const LARGE_PASTE = 1_000_000;
const PASTED_NAME = "pasted.log";
const TABLE_NAME = "nvidia-smi.txt";

const app = byId("vd-app");
const say = sentencesOf("vd-sentences");
const engineUrl = new URL(app.dataset.engine, location.href).href;
const language = app.dataset.language;

const log = byId("vd-log");
const table = byId("vd-table");
const state = byId("vd-state");
const busy = byId("vd-busy");
const results = byId("vd-results");
const report = byId("vd-report");

let files = [];
let answer;
let run = 0;

const client = new EngineClient({
  engineUrl,
  language,
  stage: (name) => (state.textContent = say(name)),
  progress: (bytes) => {
    if (busy.hasAttribute("value")) busy.value = Math.min(busy.value + bytes, busy.max);
  },
});
const pane = new LogPane({ fetchLines: (input, first, last) => client.request("lines", { input, first, last }), say });

// ---- what is given

function inputs() {
  const given = files.map((file) => ({ name: file.name, content: file, table: false }));
  if (log.value.trim()) given.unshift({ name: PASTED_NAME, content: log.value, table: false });
  if (given.length && table.value.trim()) given.push({ name: TABLE_NAME, content: table.value, table: true });
  else if (table.value.trim()) given.push({ name: TABLE_NAME, content: table.value, table: false });
  return given;
}

function addFiles(added) {
  files.push(...added);
  showFiles();
  preload();
}

function showFiles() {
  const list = byId("vd-chosen");
  list.hidden = files.length === 0;
  list.replaceChildren(
    ...files.map((file, index) => {
      const remove = document.createElement("button");
      remove.type = "button";
      remove.textContent = "×";
      remove.setAttribute("aria-label", say("remove", { name: file.name }));
      remove.addEventListener("click", () => {
        files.splice(index, 1);
        showFiles();
        byId("vd-choose").focus();
      });
      const item = document.createElement("li");
      item.append(`${file.name} (${sizeOf(file.size)}) `, remove);
      return item;
    }),
  );
}

const sizeOf = (bytes) => (bytes < 1e6 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / 2 ** 20).toFixed(1)} MiB`);

// ---- the analyzer

/** Begins to load when the visitor begins; a problem is told when the analyzer is needed. */
function preload() {
  if (openedAsFile() || client.started) return;
  busy.hidden = false;
  state.textContent = say("loading");
  client
    .start()
    .then(() => {
      if (!busyWith) idle(say("ready"));
    })
    .catch(() => {
      if (!busyWith) idle("");
    });
}

let busyWith = 0;

function idle(text) {
  busy.hidden = true;
  busy.removeAttribute("value"); // how much is left is not known until a log is read
  state.textContent = text;
}

function problem(text) {
  const box = byId("vd-problem");
  box.textContent = text;
  box.hidden = !text;
}

async function analyze() {
  problem("");
  if (openedAsFile()) return problem(say("fromFile"));
  const given = inputs();
  if (!given.length) {
    problem(say("empty"));
    return log.focus();
  }
  const size = given.reduce((sum, { content }) => sum + (content.size ?? content.length), 0);
  if (size > MOST_BYTES) {
    return problem(say("tooLarge", { size: Math.ceil(size / 2 ** 20), most: MOST_BYTES / 2 ** 20 }));
  }
  const current = (run += 1);
  busyWith = current;
  results.hidden = true;
  busy.hidden = false;
  if (!client.ready) {
    state.textContent = say("loading");
    showCandidates(given, current);
  }
  try {
    await client.start();
  } catch (failure) {
    if (!failure.stopped) finished(current, () => problem(say("notLoaded", { problem: failure.message })));
    return;
  }
  if (current !== run) return;
  state.textContent = say("analyzing");
  if (size > LARGE_PASTE) {
    busy.max = size;
    busy.value = 0;
  }
  const begin = performance.now();
  try {
    const got = await client.request("analyze", { inputs: given });
    if (current !== run) return;
    const seconds = ((performance.now() - begin) / 1000).toFixed(1);
    finished(current, () => show(got, seconds));
  } catch (failure) {
    if (failure.stopped) return;
    const text = failure.unreadable
      ? say("unreadable", { name: failure.unreadable, problem: failure.message })
      : say("failed", { problem: failure.message });
    finished(current, () => problem(text));
  }
}

function finished(current, then) {
  if (current !== run) return;
  busyWith = 0;
  idle("");
  byId("vd-candidates").hidden = true;
  then();
}

async function showCandidates(given, current) {
  const box = byId("vd-candidates");
  try {
    const response = await fetch(new URL(`literals.${language}.json`, engineUrl));
    const { rules } = await response.json();
    const found = candidatesIn(await textOf(given), rules);
    if (current !== busyWith) return;
    const list = document.createElement("ul");
    list.append(
      ...found.map(({ id, title }) => {
        const link = document.createElement("a");
        link.href = `../rules/${id}/`;
        link.textContent = title;
        const item = document.createElement("li");
        item.append(link);
        return item;
      }),
    );
    box.replaceChildren(say(found.length ? "candidates" : "noCandidates"), list);
    box.hidden = false;
  } catch {
    box.hidden = true; // only a comfort
  }
}

// ---- the report

async function show(got, seconds) {
  if (got.error) return problem([got.error.message, got.error.hint].filter(Boolean).join(". "));
  answer = got;
  report.innerHTML = got.html; // made by report.html, where every text is escaped
  results.hidden = false;
  state.textContent = say("done", { seconds });
  const proof = report.querySelector(".vd-evidence [data-line]")?.dataset;
  const first = proof && { input: Number(proof.input), line: Number(proof.line) };
  await pane.reset(JSON.parse(got.json).inputs, first);
  const headline = report.querySelector("h2");
  headline?.focus({ preventScroll: true });
  headline?.scrollIntoView({ block: "start" });
  app.dispatchEvent(new CustomEvent("vd-report", { bubbles: true }));
}

function clear() {
  run += 1;
  if (busyWith) client.stop();
  busyWith = 0;
  files = [];
  answer = undefined;
  log.value = table.value = "";
  showFiles();
  problem("");
  byId("vd-candidates").hidden = true;
  results.hidden = true;
  report.replaceChildren();
  idle(say("cleared"));
  log.focus();
}

async function example(name, hasTable) {
  problem("");
  preload();
  try {
    const [text, smi] = await Promise.all([exampleFile(`${name}.log`), hasTable ? exampleFile(`${name}.nvidia-smi.txt`) : ""]);
    files = [];
    showFiles();
    log.value = text;
    table.value = smi;
  } catch (failure) {
    return problem(say("notLoaded", { problem: failure.message }));
  }
  analyze();
}

async function exampleFile(name) {
  const response = await fetch(new URL(`examples/${name}`, engineUrl));
  if (!response.ok) throw new Error(response.status);
  return response.text();
}

const tellCopied = (done) => (state.textContent = say(done ? "copied" : "notCopied"));

function save(text, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// ---- listeners

byId("vd-form").addEventListener("submit", (event) => {
  event.preventDefault();
  analyze();
});
byId("vd-form").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    analyze();
  }
});
log.addEventListener("focus", preload);
log.addEventListener("paste", (event) => {
  const text = event.clipboardData?.getData("text/plain") ?? "";
  if (text.length < LARGE_PASTE) return;
  event.preventDefault(); // megabytes make a text area slow
  addFiles([new File([text], PASTED_NAME, { type: "text/plain" })]);
  state.textContent = say("pasted");
});
byId("vd-clear").addEventListener("click", clear);
byId("vd-choose").addEventListener("click", () => {
  preload();
  byId("vd-file").click();
});
byId("vd-file").addEventListener("change", (event) => {
  addFiles([...event.target.files]);
  event.target.value = "";
});
for (const button of app.querySelectorAll("[data-example]")) {
  button.addEventListener("click", () => example(button.dataset.example, "table" in button.dataset));
}
byId("vd-copy-markdown").addEventListener("click", async () => tellCopied(await copied(answer.markdown)));
byId("vd-copy-json").addEventListener("click", async () => tellCopied(await copied(answer.json)));
byId("vd-save-json").addEventListener("click", () => save(answer.json, "vllmdoctor-report.json"));
serveCopyButtons(report, tellCopied);
report.addEventListener("click", (event) => {
  const button = event.target.closest("[data-line]");
  if (button) pane.show(Number(button.dataset.input), Number(button.dataset.line), { asker: button });
});

const holdsFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
document.addEventListener("dragover", (event) => {
  if (!holdsFiles(event)) return;
  event.preventDefault();
  app.classList.add("vd-app--drop");
});
document.addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) app.classList.remove("vd-app--drop");
});
document.addEventListener("drop", (event) => {
  app.classList.remove("vd-app--drop");
  if (!holdsFiles(event)) return;
  event.preventDefault();
  addFiles([...event.dataTransfer.files]);
});

if (openedAsFile()) problem(say("fromFile"));
takeHandedOver().then((text) => {
  if (!text) return;
  if (text.length < LARGE_PASTE) log.value = text;
  else addFiles([new File([text], PASTED_NAME, { type: "text/plain" })]);
  analyze();
});

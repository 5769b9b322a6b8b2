// The memory calculator: a config.json and a GPU go to the worker, the estimate into the page.
import { EngineClient } from "./engine-client.mjs";
import { byId, openedAsFile, sentencesOf, serveCopyButtons } from "./page-tools.mjs";

const app = byId("vd-calculator");
const say = sentencesOf("vd-sentences");
const state = byId("vd-state");
const busy = byId("vd-busy");
const config = byId("vd-config");
const estimate = byId("vd-estimate");
const client = new EngineClient({
  engineUrl: new URL(app.dataset.engine, location.href).href,
  language: app.dataset.language,
  stage: (name) => (state.textContent = say(name)),
});
let run = 0;

const problem = (text) => {
  byId("vd-problem").textContent = text;
  byId("vd-problem").hidden = !text;
};

const options = () => ({
  model: byId("vd-model").value,
  gpu: byId("vd-gpu").value || byId("vd-gpu-size").value,
  gpus: byId("vd-gpus").value,
  max_model_len: byId("vd-length").value,
  gpu_memory_utilization: byId("vd-share").value,
  kv_cache_dtype: byId("vd-dtype").value,
  tensor_parallel_size: byId("vd-tensor").value,
});

async function calculate() {
  problem("");
  if (openedAsFile()) return problem(say("fromFile"));
  if (!config.value.trim()) {
    problem(say("empty"));
    return config.focus();
  }
  const current = (run += 1);
  busy.hidden = false;
  if (!client.ready) state.textContent = say("loading");
  try {
    await client.start();
  } catch (failure) {
    return ended(() => problem(say("notLoaded", { problem: failure.message })));
  }
  state.textContent = say("calculating");
  try {
    const answer = await client.request("plan", { config: config.value, options: options() });
    if (current !== run) return;
    ended(() => show(answer));
  } catch (failure) {
    ended(() => problem(say("failed", { problem: failure.message })));
  }
}

function ended(then) {
  busy.hidden = true;
  state.textContent = "";
  then();
}

function show(answer) {
  estimate.replaceChildren();
  if (answer.error) return problem([answer.error.message, answer.error.hint].filter(Boolean).join(". "));
  estimate.innerHTML = answer.html; // made by report.html, where every text is escaped
  state.textContent = say("done");
  app.dispatchEvent(new CustomEvent("vd-estimate", { bubbles: true }));
}

byId("vd-plan").addEventListener("submit", (event) => {
  event.preventDefault();
  calculate();
});
byId("vd-gpu").addEventListener("change", (event) => {
  byId("vd-gpu-size").disabled = Boolean(event.target.value);
});
byId("vd-choose").addEventListener("click", () => byId("vd-file").click());
byId("vd-file").addEventListener("change", async (event) => {
  const [file] = event.target.files;
  if (file) config.value = await file.text();
  event.target.value = "";
});
byId("vd-example").addEventListener("click", (event) => {
  config.value = JSON.stringify(JSON.parse(event.target.dataset.config), null, 2);
  calculate();
});
serveCopyButtons(estimate, (done) => (state.textContent = say(done ? "copied" : "notCopied")));

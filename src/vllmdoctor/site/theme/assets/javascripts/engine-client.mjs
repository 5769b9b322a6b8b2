// The page's side of the worker.

/** Speaks to one worker, which is started when it is first needed and again after `stop`. */
export class EngineClient {
  constructor({ engineUrl, language, stage, progress = () => {} }) {
    this.settings = { engineUrl, language };
    this.stage = stage;
    this.progress = progress;
    this.waiting = new Map();
    this.last = 0;
  }

  get ready() {
    return Boolean(this.isReady);
  }

  /** Loads the analyzer; further calls wait for the first. */
  start() {
    this.started ??= this.begin();
    return this.started;
  }

  async begin() {
    this.worker = newWorker(new URL("engine-worker.mjs", import.meta.url).href);
    this.worker.addEventListener("message", ({ data }) => this.received(data));
    this.worker.addEventListener("error", (event) => this.broke(event.message || "worker"));
    try {
      await this.ask("start", this.settings);
      this.isReady = true;
    } catch (problem) {
      this.stop();
      throw problem;
    }
  }

  async request(name, values) {
    await this.start();
    return this.ask(name, values);
  }

  /** Ends the worker with whatever it is doing. */
  stop() {
    this.worker?.terminate();
    this.started = this.worker = undefined;
    this.isReady = false;
    this.broke("stopped");
  }

  ask(request, values) {
    const id = (this.last += 1);
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ id, request, ...values });
    });
  }

  received({ id, stage, read, answer, problem, unreadable }) {
    if (stage) return this.stage(stage);
    if (read) return this.progress(read);
    const { resolve, reject } = this.waiting.get(id) ?? {};
    this.waiting.delete(id);
    if (problem !== undefined) reject?.(Object.assign(new Error(problem), { unreadable }));
    else resolve?.(answer);
  }

  broke(problem) {
    for (const { reject } of this.waiting.values()) reject(Object.assign(new Error(problem), { stopped: problem === "stopped" }));
    this.waiting.clear();
  }
}

/**
 * A worker that the page's Content-Security-Policy holds for. One that is loaded from an address of the site would have
 * the policy of the server's answer, which a static site cannot set; one from a blob has the page's.
 */
function newWorker(address) {
  const source = new Blob([`import ${JSON.stringify(address)};`], { type: "text/javascript" });
  const url = URL.createObjectURL(source);
  const worker = new Worker(url, { type: "module" });
  worker.addEventListener("message", () => URL.revokeObjectURL(url), { once: true });
  return worker;
}

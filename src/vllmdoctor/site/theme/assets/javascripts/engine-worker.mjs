// The page's worker: answers one request at a time with the analyzer.
import { startEngine } from "./engine.mjs";

let engine;

const requests = {
  async start({ engineUrl, language }) {
    const manifest = await (await fetched(new URL("manifest.json", engineUrl), { cache: "no-cache" })).json();
    // The digest in the address keeps files of two releases apart in the browser's cache.
    const address = (name) => new URL(`${name}?v=${manifest.files[name].digest}`, engineUrl).href;
    const { loadPyodide } = await import(address("pyodide.mjs"));
    engine = await startEngine({
      language,
      loadPyodide,
      indexURL: engineUrl,
      stdLibURL: address("python_stdlib.zip"),
      read: async (name) => new Uint8Array(await (await fetched(address(name))).arrayBuffer()),
      stage: (name) => postMessage({ stage: name }),
    });
  },

  async analyze({ inputs }) {
    const read = [];
    for (const { name, content, table } of inputs) read.push({ name, table, bytes: await bytesOf(name, content) });
    return engine.analyze(read, (bytes) => postMessage({ read: bytes }));
  },

  lines: ({ input, first, last }) => engine.lines(input, first, last),

  plan: ({ config, options }) => engine.plan(config, options),
};

self.addEventListener("message", async ({ data: { id, request, ...values } }) => {
  try {
    postMessage({ id, answer: await requests[request](values) });
  } catch (problem) {
    postMessage({ id, problem: lastLine(problem), unreadable: problem.unreadable });
  }
});

async function fetched(address, options) {
  const response = await fetch(address, options);
  if (!response.ok) throw new Error(`${response.status} ${new URL(address).pathname}`);
  return response;
}

async function bytesOf(name, content) {
  if (typeof content === "string") return new TextEncoder().encode(content);
  try {
    return new Uint8Array(await content.arrayBuffer());
  } catch (problem) {
    throw Object.assign(new Error(problem.message), { unreadable: name });
  }
}

/** Of a Python traceback the exception. */
function lastLine(problem) {
  const lines = String(problem?.message ?? problem).trim().split("\n");
  return lines[lines.length - 1];
}

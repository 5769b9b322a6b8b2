// node conformance.mjs ENGINE_FOLDER SCRIPTS_FOLDER REQUESTS ANSWERS: runs the browser's analyzer in Node.
// Requests: {language, logs: [{name, path, table}] or [[…several inputs of one analysis]], plans: [{config, options}]}.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

process.on("uncaughtException", (problem) => {
  console.error(problem.message ?? problem); // without the line of minified code that Node would add
  process.exit(1);
});
const [folder, scripts, requestsFile, answersFile] = process.argv.slice(2);
const script = (name) => import(pathToFileURL(path.join(scripts, name)));
const { startEngine } = await script("engine.mjs");
const { candidatesIn } = await script("candidates.mjs");
const { loadPyodide } = await import(pathToFileURL(path.join(folder, "pyodide.mjs")));
const requests = JSON.parse(fs.readFileSync(requestsFile, "utf8"));
const bytesOf = (file) => new Uint8Array(fs.readFileSync(file));
const cpuSeconds = () => {
  const used = process.cpuUsage();
  return (used.user + used.system) / 1e6;
};

const begin = cpuSeconds();
const engine = await startEngine({
  language: requests.language,
  loadPyodide,
  indexURL: path.resolve(folder) + path.sep,
  stdLibURL: path.resolve(folder, "python_stdlib.zip"),
  read: async (name) => bytesOf(path.join(folder, name)),
});
const answers = { readyCpu: cpuSeconds() - begin, logs: [], plans: [], lines: [] };
const { rules } = JSON.parse(fs.readFileSync(path.join(folder, `literals.${requests.language}.json`), "utf8"));
for (const log of requests.logs) {
  const inputs = [log].flat().map(({ name, path: file, table }) => ({ name, table: Boolean(table), bytes: bytesOf(file) }));
  const started = cpuSeconds();
  const answer = engine.analyze(inputs);
  const cpu = cpuSeconds() - started;
  const candidates = candidatesIn(new TextDecoder().decode(inputs[0].bytes), rules).map(({ id }) => id);
  answers.logs.push({ cpu, candidates, first: engine.lines(0, 1, 2), ...answer });
}
for (const plan of requests.plans) answers.plans.push(engine.plan(plan.config, plan.options));
fs.writeFileSync(answersFile, JSON.stringify(answers));
process.exit(0);

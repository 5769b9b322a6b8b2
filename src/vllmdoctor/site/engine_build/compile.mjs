// node compile.mjs PYODIDE_FOLDER WORK_FOLDER SCRIPT: runs `build` of the script over the work folder, in Pyodide.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [pyodideFolder, workFolder, script] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(path.join(pyodideFolder, "pyodide.mjs")));
// Sets are hashed alike in every run: the order of constants in compiled code depends on it.
const python = await loadPyodide({ indexURL: `${path.resolve(pyodideFolder)}${path.sep}`, env: { PYTHONHASHSEED: "0" } });
python.FS.mkdirTree("/build");
python.FS.mount(python.FS.filesystems.NODEFS, { root: path.resolve(workFolder) }, "/build");
try {
  python.runPython(fs.readFileSync(script, "utf8"));
  python.runPython("build(Path('/build'))");
} catch (problem) {
  console.error(problem.message); // without the line of minified code that Node would add
  process.exit(1);
}

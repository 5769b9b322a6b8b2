// The analyzer in Pyodide. Runs in the page's worker and, for tests, in Node: it is given how to read the engine's files.

const PACKAGES = "/lib/python3.14/site-packages";
const LOGS = "/logs";

/**
 * Loads Python, our modules and the rules in one language, and analyzes a small log once.
 * `read(name)` gives the bytes of a file of the engine, `loadPyodide` is Pyodide's own, `indexURL` where its parts lie,
 * `stdLibURL` its standard library; `stage(name)` is told what begins: "python", "rules".
 */
export async function startEngine({ language, loadPyodide, indexURL, stdLibURL, read, stage = () => {} }) {
  stage("python");
  const modules = read("vllmdoctor.zip");
  const catalogue = read(`catalogue.${language}.json`);
  const lock = read("pyodide-lock.json").then((bytes) => new TextDecoder().decode(bytes));
  const python = await loadPyodide({
    indexURL,
    stdLibURL,
    lockFileContents: lock,
    packageBaseUrl: indexURL,
    env: { HOME: "/home/pyodide", PYTHONDONTWRITEBYTECODE: "1" },
  });
  stage("rules");
  python.unpackArchive(await modules, "zip", { extractDir: PACKAGES });
  python.FS.mkdirTree(`${PACKAGES}/vllmdoctor/data`);
  python.FS.writeFile(`${PACKAGES}/vllmdoctor/data/catalogue.json`, await catalogue);
  python.FS.mkdirTree(LOGS);
  python.FS.chdir(LOGS);
  const program = python.pyimport("vllmdoctor.site.in_browser");
  program.prepare(language);
  return new Engine(python, program, language);
}

class Engine {
  constructor(python, program, language) {
    this.python = python;
    this.program = program;
    this.language = language;
  }

  /**
   * Inputs are {name, bytes, table}: `table` is true for nvidia-smi output. Gives status, json, html, markdown or error.
   * `progress` is told the bytes read since its last call.
   */
  analyze(inputs, progress) {
    const names = uniqueNames(inputs.map((input) => input.name));
    inputs.forEach((input, index) => this.python.FS.writeFile(`${LOGS}/${names[index]}`, input.bytes));
    try {
      const chosen = (table) => names.filter((_, index) => Boolean(inputs[index].table) === table);
      return this.called("analyze", chosen(false), chosen(true), this.language, progress);
    } finally {
      names.forEach((name) => this.python.FS.unlink(`${LOGS}/${name}`));
    }
  }

  /** Rows of number and text of an input of the last analysis. */
  lines(input, first, last) {
    return JSON.parse(this.program.log_lines(input, first, last));
  }

  /** The calculator's answer: fits, html, json or error. */
  plan(config, options) {
    return this.called("plan", config, JSON.stringify(options), this.language);
  }

  called(name, ...values) {
    const given = values.map((value) => (Array.isArray(value) ? this.python.toPy(value) : value));
    const answer = this.program[name](...given);
    const plain = answer.toJs({ dict_converter: Object.fromEntries });
    answer.destroy();
    given.forEach((value) => value?.destroy?.());
    return plain;
  }
}

/** File names as they are shown, made different from each other, without folders. */
export function uniqueNames(names) {
  const taken = new Set();
  return names.map((given) => {
    const name = given.split(/[\\/]/).pop() || "log";
    let shown = name;
    for (let number = 2; taken.has(shown); number += 1) shown = `${number}-${name}`;
    taken.add(shown);
    return shown;
  });
}

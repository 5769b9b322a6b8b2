// A view of the log beside the report: the lines around the one that was asked for, more on demand.
import { byId } from "./page-tools.mjs";

const AROUND = 150;
const MORE = 300;

export class LogPane {
  /** `fetchLines(input, first, last)` gives {name, total, lines: [[number, text]]}. */
  constructor({ fetchLines, say }) {
    this.fetchLines = fetchLines;
    this.say = say;
    this.select = byId("vd-input");
    this.rows = byId("vd-rows");
    this.select.addEventListener("change", () => this.show(Number(this.select.value), 1, { mark: false }));
    byId("vd-earlier").addEventListener("click", () => this.extend(-MORE));
    byId("vd-later").addEventListener("click", () => this.extend(MORE));
    byId("vd-wrap").addEventListener("change", ({ target }) => {
      this.rows.classList.toggle("vd-rows--wrapped", target.checked);
    });
    byId("vd-back").addEventListener("click", () => this.asker?.focus());
  }

  /** The inputs of a new report, and of the line to begin at its input and line; the reader stays where they are. */
  async reset(inputs, first) {
    this.window = undefined;
    this.asker = undefined;
    byId("vd-back").hidden = true;
    byId("vd-marked").textContent = "";
    this.select.replaceChildren(...inputs.map((input, index) => new Option(input.name, index)));
    this.select.closest("p").classList.toggle("vd-pane-head--single", inputs.length < 2);
    this.rows.replaceChildren();
    if (first) await this.show(first.input, first.line, { focus: false });
    else if (inputs.length) await this.show(0, 1, { mark: false });
  }

  /** Shows a line; `asker` is what the reader comes back to. */
  async show(input, line, { mark = true, focus = true, asker } = {}) {
    const current = this.window;
    if (!current || current.input !== input || line < current.first || line > current.last) {
      await this.load(input, Math.max(1, line - AROUND), line + AROUND);
    }
    this.select.value = String(input);
    this.rows.querySelector(".vd-row--marked")?.classList.remove("vd-row--marked");
    this.rows.querySelector("[aria-current]")?.removeAttribute("aria-current");
    if (!mark) return;
    const row = this.rows.querySelector(`[data-number="${line}"]`);
    if (!row) return;
    row.classList.add("vd-row--marked");
    row.setAttribute("aria-current", "true");
    byId("vd-marked").textContent = this.say("marked", { line, total: this.window.total });
    this.asker = asker;
    byId("vd-back").hidden = !asker;
    const box = byId("vd-lines");
    box.scrollTop += row.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 3;
    box.scrollLeft = 0;
    if (!focus) return;
    const area = box.getBoundingClientRect();
    if (area.top < 0 || area.bottom > innerHeight) byId("vd-pane").scrollIntoView({ block: "nearest" });
    box.focus({ preventScroll: true });
  }

  async load(input, first, last) {
    const answer = await this.fetchLines(input, first, last);
    this.window = { input, first, last: Math.min(last, answer.total), total: answer.total };
    this.rows.replaceChildren(...this.rowsOf(answer.lines));
    this.showEnds();
  }

  /** More lines at one end; what is seen stays where it is. */
  async extend(count) {
    const { input, first, last, total } = this.window;
    const box = byId("vd-lines");
    if (count < 0) {
      const begin = Math.max(1, first + count);
      const answer = await this.fetchLines(input, begin, first - 1);
      const before = box.scrollHeight;
      this.rows.prepend(...this.rowsOf(answer.lines));
      this.window.first = begin;
      this.showEnds();
      box.scrollTop += box.scrollHeight - before;
    } else {
      const answer = await this.fetchLines(input, last + 1, last + count);
      this.rows.append(...this.rowsOf(answer.lines));
      this.window.last = Math.min(last + count, total);
      this.showEnds();
    }
  }

  showEnds() {
    byId("vd-earlier").hidden = this.window.first <= 1;
    byId("vd-later").hidden = this.window.last >= this.window.total;
  }

  rowsOf(lines) {
    const rows = [];
    let before = lines.length ? lines[0][0] - 1 : 0;
    for (const [number, text] of lines) {
      if (number > before + 1) rows.push(gap(this.say("gap", { first: before + 1, last: number - 1 })));
      rows.push(row(number, text));
      before = number;
    }
    return rows;
  }
}

function row(number, text) {
  const made = document.createElement("div");
  made.className = "vd-row";
  made.dataset.number = number;
  const place = document.createElement("span");
  place.className = "vd-number";
  place.textContent = number;
  const code = document.createElement("code");
  code.textContent = text || " ";
  made.append(place, code);
  return made;
}

function gap(text) {
  const made = document.createElement("p");
  made.className = "vd-gap";
  made.textContent = text;
  return made;
}

// A pasted message or a few words in, the rules they are about out. Reads the index of vllmdoctor.site.finder.

const WORD = /[a-z0-9_]+|[\u3040-\u30ff\u3400-\u9fff]+/g;
const ACCENTS = /[\u0300-\u036f]/g;
const CANDIDATES = 12;
const MATCHED = 0.5;
const ALONE = 0.3;
const RANK = 0.1;
const MOST = 3;

// A dash before a word means "not" to the theme's search, and accents may come in decomposed.
export const searchable = (text) => text.normalize("NFC").replace(/(^|\s)-+(?=\w)/g, "$1");

export function folded(text) {
  const plain = text.toLowerCase().normalize("NFKD").replace(ACCENTS, "").replace(/đ/g, "d");
  return plain.normalize("NFC");
}

// Words and pairs of neighbouring words; pairs of characters in Japanese, which has no blanks; no numbers.
export function features(text) {
  const found = new Set();
  let previous = "";
  for (const [run] of folded(text).matchAll(WORD)) {
    if (run > "\u3000") {
      for (let i = 0; i < Math.max(1, run.length - 1); i += 1) found.add(run.slice(i, i + 2));
      previous = "";
    } else if (/^\d+$/.test(run)) {
      previous = "";
    } else {
      found.add(run);
      if (previous) found.add(`${previous} ${run}`);
      previous = run;
    }
  }
  return found;
}

export class Finder {
  constructor(rules) {
    this.rules = new Map(rules.map((rule) => [rule.id, rule]));
    this.documents = [];
    for (const rule of rules) {
      for (const text of rule.wordings) this.documents.push({ id: rule.id, text, features: features(text) });
      const named = `${rule.id.replaceAll("-", " ")} ${rule.title}`;
      this.documents.push({ id: rule.id, text: "", features: features(named) });
    }
    this.counts = new Map();
    for (const document of this.documents) {
      for (const one of document.features) this.counts.set(one, (this.counts.get(one) || 0) + 1);
    }
    for (const document of this.documents) document.weight = this.weightOf(document.features);
  }

  weight(feature) {
    const count = this.counts.get(feature);
    const all = this.documents.length;
    return count ? Math.log(1 + all / (count + 0.5)) : Math.log(1 + 2 * all) / 4;
  }

  weightOf(found) {
    let sum = 0;
    for (const one of found) sum += this.weight(one);
    return sum;
  }

  // The rules that come near, best first: {id, title, text, score, matched}. `matched`: a signature fits the query.
  find(query) {
    const wanted = features(query);
    const whole = this.weightOf(wanted);
    if (!whole) return [];
    const best = new Map();
    for (const document of this.documents) {
      let common = 0;
      for (const one of wanted) if (document.features.has(one)) common += this.weight(one);
      if (!common) continue;
      const score = (0.8 * common) / whole + (0.2 * common) / document.weight;
      if (score > (best.get(document.id)?.score || 0)) best.set(document.id, { ...document, score });
    }
    const candidates = [...best.values()].sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1)).slice(0, CANDIDATES);
    const line = query.split(/\s+/).join(" ").trim();
    const scored = candidates.map((candidate) => this.judged(candidate, line));
    return scored.sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1)).slice(0, MOST);
  }

  judged({ id, text, score }, line) {
    const rule = this.rules.get(id);
    const fitting = rule.patterns.filter(([pattern, unless]) => fits(pattern, line) && !(unless && fits(unless, line)));
    const alone = fitting.some(([, , decides]) => decides);
    const bonus = (fitting.length ? MATCHED : 0) + (alone ? ALONE : 0) + RANK * rule.rank;
    return { id, text, title: rule.title, score: score + bonus, matched: fitting.length > 0 };
  }
}

const compiled = new Map();

function fits(pattern, line) {
  if (!compiled.has(pattern)) {
    try {
      compiled.set(pattern, new RegExp(pattern)); // without "u", which refuses escapes that Python takes
    } catch {
      compiled.set(pattern, null); // a construct that only Python knows
    }
  }
  return compiled.get(pattern)?.test(line) ?? false;
}

// What is worth showing: a signature that fits, or words most of which one rule has.
export function worthShowing(found) {
  const matched = found.filter((one) => one.matched);
  if (matched.length) return matched;
  return found.filter((one) => one.score >= 0.45);
}

// Literals of the rules in, likely rules out: an answer by words alone until the analyzer has loaded.

const MOST = 4;
const READ_BYTES = 2_000_000;

/** The rules whose literals are in the text, those with long ones of their own first. */
export function candidatesIn(text, rules) {
  const folded = text.replace(/\s+/g, " ");
  const found = [];
  for (const rule of rules) {
    // The longest stand first.
    const own = rule.own.find((one) => folded.includes(one))?.length ?? 0;
    const shared = rule.shared.find((one) => folded.includes(one))?.length ?? 0;
    const weight = Math.max(own, shared / 2);
    if (weight) found.push({ id: rule.id, title: rule.title, weight });
  }
  return found.sort((one, other) => other.weight - one.weight).slice(0, MOST);
}

/** The beginning and the end of what was given, as far as it is plain text. */
export async function textOf(inputs) {
  const parts = [];
  for (const { content } of inputs) {
    if (typeof content === "string") {
      parts.push(content.slice(0, READ_BYTES), content.slice(READ_BYTES).slice(-READ_BYTES));
    } else {
      const pieces = [content.slice(0, READ_BYTES)];
      if (content.size > READ_BYTES) pieces.push(content.slice(Math.max(READ_BYTES, content.size - READ_BYTES)));
      for (const piece of pieces) parts.push(await piece.text());
    }
  }
  return parts.filter((part) => !part.slice(0, 1000).includes("\0")).join("\n");
}

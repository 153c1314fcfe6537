// Texts with what differs, what metrics mark, and what a claim is about.

const MOST_WORDS = 1500;

const tokensOf = (text) => [...text.matchAll(/[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu)].map((one) => [one.index, one.index + one[0].length, one[0].toLowerCase()]);

// The parts of a text, [start, end], whose words another text does not have at that place.
function differing(text, other) {
  const [own, their] = [tokensOf(text), tokensOf(other)];
  if (own.length > MOST_WORDS || their.length > MOST_WORDS) return [];
  const kept = commonWords(own.map((one) => one[2]), their.map((one) => one[2]));
  const found = [];
  own.forEach(([start, end], at) => {
    if (kept[at]) return;
    const last = found.at(-1);
    if (last && !kept[at - 1] && at > 0) last[1] = end; else found.push([start, end]);
  });
  return found;
}

// Of each word, whether it is in the longest common subsequence.
function commonWords(own, their) {
  const width = their.length + 1;
  const best = new Uint16Array((own.length + 1) * width);
  for (let i = own.length - 1; i >= 0; i -= 1) {
    for (let j = their.length - 1; j >= 0; j -= 1) {
      const here = i * width + j;
      best[here] = own[i] === their[j] ? best[here + width + 1] + 1 : Math.max(best[here + width], best[here + 1]);
    }
  }
  const kept = new Uint8Array(own.length);
  for (let i = 0, j = 0; i < own.length && j < their.length;) {
    if (own[i] === their[j]) { kept[i] = 1; i += 1; j += 1; } else if (best[(i + 1) * width + j] >= best[i * width + j + 1]) i += 1; else j += 1;
  }
  return kept;
}

// The sentence of a text that shares most words with a claim, [start, end]; null if none shares half of them.
function closest(text, claim) {
  const wanted = new Set(tokensOf(claim).map((one) => one[2]).filter((one) => one.length > 2));
  if (!wanted.size) return null;
  let best = null;
  let most = 0.5;
  for (const sentence of text.matchAll(/[^.!?\n]+(?:[.!?]+(?=\s|$)|[.!?](?=\S)[^.!?\n]*)*/g)) {
    const own = new Set(tokensOf(sentence[0]).map((one) => one[2]));
    const share = [...wanted].filter((one) => own.has(one)).length / wanted.size;
    if (share > most || (share === most && !best)) {
      most = share;
      const lead = sentence[0].length - sentence[0].trimStart().length;
      best = [sentence.index + lead, sentence.index + sentence[0].length];
    }
  }
  return best;
}

// A text whose spans, [start, end, class, title, number], are marked; where they overlap, all of their classes hold.
function marked(text, spans) {
  const cuts = [...new Set([0, text.length, ...spans.flatMap(([start, end]) => [Math.max(0, start), Math.min(text.length, end)])])].sort((a, b) => a - b);
  const parts = [];
  for (let at = 0; at + 1 < cuts.length; at += 1) {
    const over = spans.filter(([start, end]) => start <= cuts[at] && end >= cuts[at + 1]);
    const piece = visible(text.slice(cuts[at], cuts[at + 1]));
    if (!over.length) { parts.push(piece); continue; }
    const told = over.map((one) => one[3]).filter(Boolean).join(", ");
    const numbers = over.filter((one) => one[4] !== undefined && one[0] === cuts[at]).map((one) => el("sup", { "aria-hidden": "true" }, String(one[4])));
    parts.push(el("mark", { class: over.map((one) => one[2]).join(" "), title: told || null }, numbers, piece));
  }
  return parts;
}

const LONG = 900; // characters of a text, and of the word of a verdict
const WORD = 120;

// A text under its title; long ones are folded.
function textBlock(title, text, spans = [], left = 0, open = false) {
  const body = el("div", { class: "x-text", dir: "auto" }, text === "" ? el("span", { class: "quiet" }, "(empty)") : marked(text, spans), left > 0 && el("span", { class: "quiet" }, ` … ${plural(left, "character")} left out`));
  if (text.length <= LONG || open) return el("div", { class: "x-block" }, el("h4", {}, title), body);
  return el("details", { class: "x-block", open: spans.length > 0 }, el("summary", {}, title, el("small", {}, ` ${plural(text.length, "character")}`)), body);
}

// Verdicts of a judge: those of an example, which say whether they are favourable, else those in the details.
function verdictsOf(data, chunk, at, model, metric) {
  const local = at % data.cards.every;
  const known = chunk.shown[at]?.[model]?.metrics[metric];
  const columns = chunk.details[metric];
  const details = pick(columns, model, local);
  const good = data.cards.good[metric] ?? {};
  const listed = known && known.verdicts.length ? known.verdicts : detailVerdicts(details, good);
  const remarks = pick(chunk.remarks[metric], model, local);
  return {
    reason: (known && known.reason) || remarks || (details && typeof details.reason === "string" ? details.reason : ""),
    verdicts: listed.map(([text, verdict, favourable, reason]) => ({ text, verdict, good: favourable, reason })),
    replies: pick(chunk.replies[metric], model, local) ?? [],
    details: listed.length ? null : details,
  };
}

function detailVerdicts(details, good) {
  if (!details) return [];
  const found = [];
  Object.entries(details).forEach(([name, value]) => {
    if (typeof value === "string" && name === "word") found.push(["", value, good[value.slice(0, WORD)] ?? null, ""]);
    if (!Array.isArray(value)) return;
    value.filter((one) => one && typeof one === "object" && typeof one.verdict === "string").forEach((one) => {
      const [key, first] = Object.entries(one)[0];
      const text = typeof first === "string" ? first : `${capital(words(key))} ${first}`;
      found.push([text, one.verdict, good[one.verdict.slice(0, WORD)] ?? null, typeof one.reason === "string" ? one.reason : ""]);
    });
  });
  return found;
}

// A model's entry of a column; one that equals the first model's is stored once.
function pick(columns, model, local) {
  if (!columns) return null;
  const column = columns[model] === 0 ? columns[0] : columns[model];
  return column ? column[local] ?? null : null;
}

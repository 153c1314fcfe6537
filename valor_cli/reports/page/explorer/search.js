// Search over ids, file names, titles and, once they are loaded, all texts.

const EXACT = 1; // ranks of hits, best first
const STEM = 2;
const IN_ID = 3;
const IN_FILE = 4;
const IN_TEXT = 5;

const normal = (text) => text.replace(/\s+/g, " ").trim().toLowerCase();

function stem(file) {
  const name = file.slice(Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\")) + 1);
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(0, dot) : name;
}

// Words that may have any space between them, in any case.
const patternOf = (wanted) => new RegExp(wanted.split(" ").map((one) => one.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")).join("\\s+"), "iu");

// By sample the rank of its hit, 0 without one.
function searched(data, text) {
  const wanted = normal(text);
  const ranks = new Uint8Array(data.count);
  const lower = lowered(data);
  const found = foundTexts(data, wanted);
  const pattern = patternOf(wanted);
  for (let at = 0; at < data.count; at += 1) {
    const file = lower.files ? lower.files[at] : "";
    if (lower.ids[at] === wanted) ranks[at] = EXACT;
    else if (file !== "" && (file === wanted || stem(file) === wanted)) ranks[at] = STEM;
    else if (lower.ids[at].includes(wanted)) ranks[at] = IN_ID;
    else if (file.includes(wanted)) ranks[at] = IN_FILE;
    else if ((data.titles && pattern.test(data.titles[at])) || (found && found[at])) ranks[at] = IN_TEXT;
  }
  return ranks;
}

const lowers = new WeakMap();

function lowered(data) {
  if (!lowers.has(data)) {
    lowers.set(data, {
      ids: Array.from(data.ids, (one) => String(one).toLowerCase()),
      files: data.files && data.files.map((one) => (one ?? "").toLowerCase()),
    });
  }
  return lowers.get(data);
}

const textHits = new Map();

const foundTexts = (data, wanted) => textHits.get(wanted)?.found;

// Search all chunks of texts, those in files too; `tell(done, all)` after each. False if a later search took its place.
let latest = "";
async function searchTexts(data, text, tell) {
  const wanted = normal(text);
  latest = wanted;
  if (!data.cards || wanted.length < 2) return false;
  const known = textHits.get(wanted);
  if (known?.done) return true;
  const found = new Uint8Array(data.count);
  const pattern = patternOf(wanted);
  textHits.clear();
  textHits.set(wanted, { found, done: false });
  const { chunks, every } = data.cards;
  for (let number = 0; number < chunks.length; number += 1) {
    if (number + 1 < chunks.length) chunkOf(data, number + 1); // read while this one is searched
    const chunk = await chunkOf(data, number);
    if (latest !== wanted) return false;
    Object.values(chunk.texts).forEach((columns) => columns.forEach((column) => {
      if (!column) return;
      for (let at = 0; at < column.length; at += 1) {
        if (column[at] !== null && !found[number * every + at] && pattern.test(column[at])) found[number * every + at] = 1;
      }
    }));
    Object.entries(chunk.shown).forEach(([at, models]) => {
      if (Object.values(models).some((one) => Object.values(one.texts).some((shown) => pattern.test(shown.text)))) found[at] = 1;
    });
    tell(number + 1, chunks.length);
  }
  textHits.set(wanted, { found, done: true });
  return true;
}

const kept = new Map();

// A chunk of texts; the last few are kept.
function chunkOf(data, number) {
  if (!kept.has(number)) {
    kept.set(number, data.table.json(data.cards.chunks[number]));
    if (kept.size > 8) kept.delete(kept.keys().next().value);
  }
  return kept.get(number);
}

// Small pieces of pages: elements, whose texts are set as texts, and numbers in words.

function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  setAll(node, attributes);
  node.append(...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false));
  return node;
}

function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  setAll(node, attributes);
  node.append(...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false));
  return node;
}

function setAll(node, attributes) {
  Object.entries(attributes).forEach(([name, value]) => {
    if (value === null || value === undefined || value === false) return;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "hidden") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  });
}

const bdi = (text) => el("bdi", {}, visible(String(text)));

const count = (value) => value.toLocaleString("en-US");

const plural = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;

function number(value, unit = "fraction") {
  if (value === null || Number.isNaN(value)) return "–";
  if (Math.abs(value) >= 1e15) return value.toPrecision(3);
  if (unit === "count" && Number.isInteger(value)) return count(value).replace("-", "−");
  if (value !== 0 && Math.abs(value) < 0.0005) return value.toExponential(1).replace("-", "−");
  return value.toLocaleString("en-US", { minimumFractionDigits: 3, maximumFractionDigits: 3 }).replace("-", "−");
}

// A score as short as it can be: 0.5, 0.43, 0.0312.
const short = (value) => String(Number(value.toFixed(4)));

// Characters that reorder, hide or say nothing that can be seen are named.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u180e\u200b\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\u{e0000}-\u{e01ef}]+/gu;
const NAMES = { 0: "NUL", 7: "BEL", 8: "BS", 11: "VT", 12: "FF", 13: "CR", 27: "ESC", 127: "DEL" };

function visible(text) {
  return text.replace(/\r\n/g, "\n").replace(HIDDEN, (found) => {
    const all = Array.from(found, (one) => NAMES[one.codePointAt(0)] ?? `U+${one.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`);
    return all.length > 3 ? `‹${all[0]} and ${all.length - 1} more hidden characters›` : all.map((one) => `‹${one}›`).join("");
  });
}

const words = (name) => name.replaceAll("_", " ");

const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

// Titles of the fields of a sample: "Question", "Context 2".
const FIELDS = { user_input: "Question", response: "Response", references: "Reference", retrieved_contexts: "Context", reference_contexts: "Reference context", history: "History" };

function fieldTitle(field, several = false) {
  const parts = /^(\w+)\[(\d+)\]$/.exec(field);
  const name = parts ? parts[1] : field;
  const title = FIELDS[name] ?? capital(visible(words(name)));
  return parts && (several || parts[2] !== "0") ? `${title} ${Number(parts[2]) + 1}` : title;
}

let serial = 0;
const freshId = (name) => { serial += 1; return `explorer-${name}-${serial}`; };

// Only the last of quick calls is made, once the page has been drawn.
function settled(act) {
  let waiting = 0;
  return (...given) => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => act(...given));
  };
}

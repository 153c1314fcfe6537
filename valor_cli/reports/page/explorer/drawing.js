// Images with ground truth and detections as SVG, with zoom and pan that several drawings share.

const SIDES = ["fn", "tp", "fp"];

// Where images are: beside the page, or in it.
function imageSource(source, photos) {
  const where = (parts) => new Map(parts.flatMap((part) => part.keys.map((key) => [key, part.blob])));
  const [images, overlays] = [where(source.photos), where(source.overlays)];
  const read = async (known, key) => (known.has(key) ? (await photos.plain(known.get(key)))[key] ?? null : null);
  return {
    ...source,
    has: (at, models) => Boolean(source.links[at]) || images.has(String(at)) || models.some((_, model) => source.links[`${at} ${model}`] || overlays.has(`${at} ${model}`)),
    any: Object.keys(source.links).length > 0 || images.size > 0 || overlays.size > 0,
    of: async (at) => source.links[at] ?? read(images, String(at)),
    overlay: async (at, model) => source.links[`${at} ${model}`] ?? read(overlays, `${at} ${model}`),
  };
}

// The objects of a sample as one model sees it: [{truth, kind, label, score, box, rings, id, iou, about}].
function objectsOf(data, model, at) {
  const one = data.objects && data.objects.models[model];
  const drawn = (data.outlined && data.outlined[at] && data.outlined[at][model]) || [];
  return one ? recorded(data.objects.labels, one, at, drawn) : drawn.map(outlined);
}

function recorded(labels, one, at, drawn) {
  const found = [];
  const box = (boxes, place) => boxes.subarray(4 * place, 4 * place + 4);
  // Objects without a saved outline may have that of an example.
  const rings = (side, place, shape) => { const own = one.shapes ? ringsOf(one.shapes[side], place) : []; return own.length || !shape ? own : shape[5]; };
  for (let place = one.gtStart[at]; place < one.gtStart[at + 1]; place += 1) {
    const shape = one.gtIds && drawn.find((other) => other[0] && other[1] === one.gtIds[place]);
    found.push({
      truth: true, kind: one.gtIgnored[place] ? "ignored" : "gt", label: labels[one.gtLabels[place]], score: null, found: one.gtFound[place],
      box: box(one.gtBoxes, place), rings: rings("gt", place, shape), id: one.gtIds ? one.gtIds[place] : place - one.gtStart[at], iou: NaN, size: one.gtSizes[place], about: null,
    });
  }
  for (let place = one.start[at]; place < one.start[at + 1]; place += 1) {
    const about = aboutOf(one, place);
    const label = labels[one.labels[place]];
    const shape = drawn.find((other) => !other[0] && other[2] === label && Math.abs(other[3] - one.scores[place]) < 1e-9);
    found.push({
      truth: false, kind: KINDS[one.outcomes[place]], label, score: one.scores[place], found: -1, box: box(one.boxes, place), rings: rings("found", place, shape),
      id: place - one.start[at], iou: one.ious[place], size: one.sizes[place], about: about < 0 ? null : labels[one.gtLabels[one.gtStart[at] + about]],
    });
  }
  return found;
}

const OLD_KINDS = { true_positive: "tp", unmatched: "background", missed: "gt", found: "gt" };

function outlined([truth, id, label, score, outcome, rings]) {
  const all = rings.flat();
  const xs = all.filter((_, at) => at % 2 === 0);
  const ys = all.filter((_, at) => at % 2 === 1);
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const box = all.length ? [left, top, Math.max(...xs) - left, Math.max(...ys) - top] : [0, 0, 0, 0];
  const kind = OLD_KINDS[outcome] ?? outcome;
  return { truth: Boolean(truth), kind, label, score, found: outcome === "missed" ? -1 : 2, box, rings, id, iou: NaN, size: Math.sqrt(box[2] * box[3]), about: null };
}

// The outcome of an object at a threshold; null if it is below.
function outcomeAt(thing, threshold) {
  if (thing.truth) return thing.kind === "ignored" ? "ignored" : thing.found >= threshold ? "found" : "fn";
  return thing.score !== null && thing.score < threshold ? null : thing.kind;
}

const sideOf = (outcome) => (outcome === "tp" || outcome === "found" ? "tp" : outcome === "fn" ? "fn" : outcome === "ignored" ? "ignored" : "fp");

const outcomeWords = (outcome) => (outcome === "found" ? "found" : KIND_WORDS[KINDS.indexOf(outcome)] ?? words(outcome));

// The size of the image, or of all its objects.
function frameOf(data, at, things) {
  const [width, height] = data.sizes ? [data.sizes[2 * at], data.sizes[2 * at + 1]] : [0, 0];
  if (width && height) return [0, 0, width, height];
  const right = Math.max(1, ...things.map(({ box }) => box[0] + box[2]));
  const bottom = Math.max(1, ...things.map(({ box }) => box[1] + box[3]));
  return [0, 0, right * 1.03, bottom * 1.03];
}

// A drawing; `wanted(thing, outcome)` says what is drawn.
function draw(data, at, things, { threshold, wanted, captions, name }) {
  const frame = frameOf(data, at, things);
  const node = svg("svg", { class: "x-drawing", viewBox: frame.join(" "), role: "img", "aria-label": name, preserveAspectRatio: "xMidYMid meet" });
  node.append(svg("rect", { class: "x-ground", x: frame[0], y: frame[1], width: frame[2], height: frame[3] }));
  placeImage(data, at, node, frame);
  const shown = things.map((thing) => [thing, outcomeAt(thing, threshold)]).filter(([thing, outcome]) => outcome && wanted(thing, outcome));
  // Large ones lie below small ones, so that each can be pointed at.
  shown.sort(([one], [other]) => other.box[2] * other.box[3] - one.box[2] * one.box[3]);
  const named = captioned(shown, captions, frame);
  node.append(svg("g", { class: "x-objects-drawn" }, shown.map(([thing, outcome]) => drawObject(thing, outcome, named.has(thing)))));
  return node;
}

async function placeImage(data, at, node, frame) {
  const source = await data.images.of(at);
  if (source === null || source === undefined) return;
  const image = svg("image", { href: source, x: frame[0], y: frame[1], width: frame[2], height: frame[3], preserveAspectRatio: "none" });
  node.classList.add("x-photo");
  node.querySelector(".x-ground").after(image);
}

const ACROSS = 52; // characters of captions across a drawing, about

// The objects that have a caption: of those wanted, the ones whose captions hide no other, errors first.
function captioned(shown, captions, frame) {
  const named = new Set();
  const taken = [];
  const size = frame[2] / ACROSS;
  const right = ([, outcome]) => (outcome === "tp" || outcome === "found" ? 1 : 0);
  [...shown].sort((one, other) => right(one) - right(other)).forEach(([thing, outcome]) => {
    if (captions === "none" || !captions || (captions === "errors" && right([thing, outcome]))) return;
    const [x, y, , height] = thing.box;
    const top = thing.truth ? y + height : y - 2 * size;
    const box = [x, top, x + size * (thing.label.length + (thing.truth ? 1 : 6)), top + 2 * size];
    if (taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])) return;
    taken.push(box);
    named.add(thing);
  });
  return named;
}

// The labels that a model gave the pixels of an image; a picture of its own size, which may be several side by side.
async function placeOverlay(data, at, model, node, ready = () => {}) {
  const source = await data.images.overlay(at, model);
  if (!source) return;
  const picture = new Image();
  picture.src = source;
  await picture.decode();
  const frame = [0, 0, picture.naturalWidth, picture.naturalHeight];
  node.setAttribute("viewBox", frame.join(" "));
  node.replaceChildren(svg("image", { href: source, x: 0, y: 0, width: frame[2], height: frame[3] }));
  ready();
}

function drawObject(thing, outcome, named) {
  const [x, y, width, height] = thing.box;
  const told = `${thing.truth ? "Ground truth" : "Detection"} ${visible(thing.label)}${thing.score === null ? "" : ` ${short(thing.score)}`}, ${outcomeWords(outcome)}`;
  const about = thing.truth || Number.isNaN(thing.iou) || !thing.iou ? "" : `, IoU ${thing.iou.toFixed(2)}${thing.about === null ? "" : ` with ${visible(thing.about)}`}`;
  const shape = thing.rings.length
    ? svg("path", { d: thing.rings.map(pathOf).join("") })
    : svg("rect", { x, y, width, height });
  const group = svg("g", { class: `x-o x-${outcome}${thing.truth ? " x-gt" : ""}` }, svg("title", {}, told + about), shape);
  if (named) group.append(svg("text", { x, y: thing.truth ? y + height : y, dy: thing.truth ? "1em" : "-.25em" }, visible(thing.label) + (thing.score === null ? "" : ` ${thing.score.toFixed(2)}`)));
  return group;
}

function pathOf(ring) {
  let path = "";
  for (let at = 0; at + 1 < ring.length; at += 2) path += `${at ? "L" : "M"}${ring[at]} ${ring[at + 1]}`;
  return `${path}z`;
}

// A small drawing: the boxes of each outcome as one path.
function drawSmall(data, model, at, threshold, wanted) {
  const frame = frameOf(data, at, data.sizes ? [] : objectsOf(data, model, at));
  const node = svg("svg", { class: "x-drawing", viewBox: frame.join(" "), "aria-hidden": "true", preserveAspectRatio: "xMidYMid meet" });
  node.append(svg("rect", { class: "x-ground", x: frame[0], y: frame[1], width: frame[2], height: frame[3] }));
  placeImage(data, at, node, frame);
  placeOverlay(data, at, model, node);
  const paths = new Map();
  objectsOf(data, model, at).forEach((thing) => {
    const outcome = outcomeAt(thing, threshold);
    if (!outcome || !wanted(thing, outcome)) return;
    const [x, y, width, height] = thing.box;
    const name = `x-o x-${outcome}${thing.truth ? " x-gt" : ""}`;
    paths.set(name, `${paths.get(name) ?? ""}M${x} ${y}h${width}v${height}h${-width}z`);
  });
  node.append(svg("g", { class: "x-objects-drawn" }, [...paths].map(([name, path]) => svg("g", { class: name }, svg("path", { d: path })))));
  return node;
}

// Zoom and pan of drawings that show the same part: by wheel, drag, pinch and keys.
function zoomer() {
  const nodes = new Set();
  let frame = null;
  let part = null;
  const apply = () => nodes.forEach((node) => {
    node.setAttribute("viewBox", part.join(" "));
    scaleText(node, part);
  });
  const clamp = () => {
    part[2] = Math.min(frame[2], Math.max(frame[2] / 40, part[2]));
    part[3] = (part[2] * frame[3]) / frame[2];
    [0, 1].forEach((side) => { part[side] = Math.min(frame[side] + frame[side + 2] - part[side + 2], Math.max(frame[side], part[side])); });
  };
  const zoom = (factor, x, y) => {
    const [px, py] = [x ?? part[0] + part[2] / 2, y ?? part[1] + part[3] / 2];
    const width = Math.min(frame[2], Math.max(frame[2] / 40, part[2] / factor));
    const real = part[2] / width;
    part = [px - (px - part[0]) / real, py - (py - part[1]) / real, width, part[3] / real];
    clamp();
    apply();
  };
  const move = (dx, dy) => { part[0] += dx; part[1] += dy; clamp(); apply(); };
  const whole = () => { part = [...frame]; apply(); };
  const add = (node) => {
    const given = node.getAttribute("viewBox").split(" ").map(Number);
    if (!frame || given.some((one, at) => one !== frame[at])) { frame = given; part = [...given]; }
    if (nodes.has(node)) { apply(); return; }
    nodes.add(node);
    new ResizeObserver(() => { if (node.isConnected && part) apply(); }).observe(node);
    listen(node);
  };
  const at = (node, event) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(node.getScreenCTM().inverse());
    return [point.x, point.y];
  };
  const listen = (node) => {
    const pointers = new Map();
    node.addEventListener("wheel", (event) => { event.preventDefault(); zoom(Math.exp(-event.deltaY / 400), ...at(node, event)); }, { passive: false });
    node.addEventListener("pointerdown", (event) => { pointers.set(event.pointerId, event); node.setPointerCapture(event.pointerId); });
    node.addEventListener("pointermove", (event) => {
      const before = pointers.get(event.pointerId);
      if (!before) return;
      const scale = node.getScreenCTM().a;
      if (pointers.size === 2) {
        const other = [...pointers.values()].find((one) => one.pointerId !== event.pointerId);
        const distance = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
        if (distance(before) > 0) zoom(distance(event) / distance(before), ...at(node, event));
      } else move((before.clientX - event.clientX) / scale, (before.clientY - event.clientY) / scale);
      pointers.set(event.pointerId, event);
    });
    ["pointerup", "pointercancel"].forEach((kind) => node.addEventListener(kind, (event) => pointers.delete(event.pointerId)));
    node.addEventListener("dblclick", whole);
  };
  return { add, zoom, whole, move: (dx, dy) => part && move(dx * part[2], dy * part[3]), reset: () => { frame = null; nodes.clear(); }, renew: () => nodes.clear(), ready: () => Boolean(part) };
}

// Captions have the same size on the screen at every zoom.
function scaleText(node, part) {
  const box = node.getBoundingClientRect();
  const scale = Math.max(part[2] / Math.max(box.width, 1), part[3] / Math.max(box.height, 1));
  node.style.fontSize = `${12 * scale}px`;
}

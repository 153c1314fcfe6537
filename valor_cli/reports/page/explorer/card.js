// The card of a sample: every model side by side, in a dialog.

function sampleCard(app) {
  const { data } = app;
  const body = el("div", { class: "x-card-body" });
  const title = el("h3", { id: "explorer-card-title", tabindex: "-1" });
  const where = el("output", { class: "count" });
  const link = el("a", { class: "x-permalink" }, "Link");
  const close = () => dialog.close();
  const step = (by) => { const next = app.list.next(app.shown, by); if (next !== undefined) app.open(next); };
  const before = el("button", { type: "button", onclick: () => step(-1), title: "k or ←" }, "Previous");
  const after = el("button", { type: "button", onclick: () => step(1), title: "j or →" }, "Next");
  const dialog = el("dialog", { class: "x-card", "aria-labelledby": "explorer-card-title" },
    el("header", { class: "x-card-head" }, title, link, where, el("span", { class: "x-buttons" }, before, after, el("button", { type: "button", onclick: close, "aria-label": "Close", title: "Esc" }, "✕"))),
    body);
  const zoom = zoomer();
  const options = { gt: true, outcomes: { tp: true, fp: true, fn: true, ignored: false }, label: "", captions: "errors", image: true };

  dialog.addEventListener("close", () => { zoom.reset(); app.closed(); });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) close(); });
  dialog.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    const act = {
      j: () => step(1), k: () => step(-1), ArrowRight: () => step(1), ArrowLeft: () => step(-1),
      "+": () => zoom.zoom(1.4), "=": () => zoom.zoom(1.4), "-": () => zoom.zoom(1 / 1.4), 0: () => zoom.whole(),
    }[event.key];
    if (act && (!["+", "=", "-", "0"].includes(event.key) || zoom.ready())) { event.preventDefault(); act(); }
  });

  const show = async (at) => {
    const fresh = app.shown !== at || !dialog.open;
    app.shown = at;
    const name = visible(idOf(data, at));
    title.replaceChildren(el("bdi", {}, name), data.files && data.files[at] && data.files[at] !== idOf(data, at) ? el("small", {}, bdi(data.files[at])) : "");
    const place = app.list.place(at);
    where.textContent = place < 0 ? "not in the list" : `${count(place + 1)} of ${count(app.selection.order.length)}`;
    before.disabled = place <= 0;
    after.disabled = place < 0 || place + 1 >= app.selection.order.length;
    link.href = `#${anchorOf(data, at)}`;
    if (fresh) zoom.reset();
    const parts = await partsOf(app, at, options, zoom, () => show(at));
    if (app.shown !== at) return;
    const focused = fresh ? null : document.activeElement?.dataset?.option;
    body.replaceChildren(...parts.filter(Boolean));
    if (focused) body.querySelector(`[data-option="${CSS.escape(focused)}"]`)?.focus();
    if (!dialog.open) dialog.showModal();
    if (fresh) { body.scrollTop = 0; title.focus({ preventScroll: true }); }
  };
  return { node: dialog, show, close, isOpen: () => dialog.open };
}

async function partsOf(app, at, options, zoom, again) {
  const { data } = app;
  const parts = [];
  if (data.objects) await Promise.all(data.objects.models.map((one) => one && Promise.all([one.loadBoxes(), one.loadShapes()])));
  const each = data.models.map((_, model) => objectsOf(data, model, at));
  if (each.some((one) => one.length) || data.images.has(at, data.models)) parts.push(...imageParts(app, at, each, options, zoom, again));
  if (data.cards) parts.push(...(await textParts(app, at)));
  const models = data.models.map((_, model) => model);
  const slices = (data.slices ?? []).filter((one) => inSlice(one, models, at));
  if (slices.length) parts.push(el("p", { class: "note" }, `${slices.length === 1 ? "Slice" : "Slices"}: `, slices.map((one, place) => [place ? ", " : "", bdi(one.shown)])));
  parts.push(valueTable(app, at));
  return parts;
}

function imageParts(app, at, each, options, zoom, again) {
  const { data } = app;
  const threshold = app.selection.goal.threshold;
  const labels = [...new Set(each.flat().map((one) => one.label))].sort();
  if (options.label && !labels.includes(options.label)) options.label = "";
  const wanted = (thing, outcome) => {
    if (options.label && thing.label !== options.label) return false;
    if (thing.truth && outcome === "found") return options.gt && options.outcomes.tp;
    return options.outcomes[sideOf(outcome)];
  };
  const check = (name, text, read, write) => el("label", { class: `x-check x-${name}` }, el("input", {
    type: "checkbox", "data-option": name, checked: read(), onchange: (event) => { write(event.target.checked); again(); },
  }), text);
  const outcome = (name, text) => check(name, text, () => options.outcomes[name], (value) => { options.outcomes[name] = value; });
  const detected = Boolean(data.objects) || each.flat().some((one) => one.score !== null);
  const tools = el("div", { class: "x-tools", role: "group", "aria-label": "What is drawn" },
    outcome("tp", "True positives"), outcome("fp", "False positives"), outcome("fn", "False negatives"), outcome("ignored", "Ignored"),
    check("gt", "Ground truth found", () => options.gt, (value) => { options.gt = value; }),
    el("label", { class: "x-field" }, "Label ", el("select", { "data-option": "label", onchange: (event) => { options.label = event.target.value; again(); } },
      el("option", { value: "" }, "all"), labels.map((label) => el("option", { value: label, selected: label === options.label }, visible(label))))),
    el("label", { class: "x-field" }, "Names ", el("select", { "data-option": "captions", onchange: (event) => { options.captions = event.target.value; again(); } },
      ["errors", "all", "none"].map((one) => el("option", { value: one, selected: one === options.captions }, one)))),
    data.objects && thresholdInput(app),
    zoomTools(zoom));
  zoom.renew();
  const panels = data.models.map((name, model) => {
    const node = draw(data, at, each[model], { threshold, wanted, captions: options.captions, name: `${visible(name)}: image ${visible(idOf(data, at))}` });
    node.classList.add("x-zoomed");
    zoom.add(node);
    placeOverlay(data, at, model, node, () => zoom.add(node));
    const counts = ["tp", "fp", "fn"].map((side) => {
      const these = each[model].map((thing) => [thing, outcomeAt(thing, threshold)]).filter(([, found]) => found && found !== "found" && sideOf(found) === side && found !== "ignored");
      return el("span", { class: `x-n x-${side}` }, count(these.length), el("small", {}, side.toUpperCase()));
    });
    return el("figure", { class: "x-panel" }, el("figcaption", {}, el("strong", {}, bdi(name)), detected && each[model].length > 0 && el("span", {}, counts)), node, data.images.left[at] && el("p", { class: "note" }, `No image: ${visible(data.images.left[at])}.`), objectTable(each[model], threshold, wanted, node));
  });
  const colours = Object.entries(data.images.colours);
  const legend = colours.length > 0 && el("ul", { class: "x-legend" }, colours.slice(0, 60).map(([label, colour]) => el("li", {}, svg("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" }, svg("rect", { width: 10, height: 10, fill: colour })), bdi(label))));
  return [detected || each.flat().length ? tools : zoomTools(zoom), legend, el("div", { class: "x-models x-images", style: `--n:${acrossOf(data.models.length)}` }, panels)];
}

// How many images stand side by side.
const acrossOf = (models) => (models <= 3 ? models : models === 4 ? 2 : 3);

const zoomTools = (zoom) => el("span", { class: "x-buttons" },
  [["+", 1.4, "Zoom in"], ["−", 1 / 1.4, "Zoom out"]].map(([text, factor, name]) => el("button", { type: "button", "aria-label": name, title: name, onclick: () => zoom.zoom(factor) }, text)),
  el("button", { type: "button", title: "0", onclick: () => zoom.whole() }, "Whole image"));

// The objects of a drawing as a table; pointing at a row shows its box.
function objectTable(things, threshold, wanted, node) {
  const shown = things.map((thing) => [thing, outcomeAt(thing, threshold)]).filter(([thing, outcome]) => outcome && outcome !== "found" && wanted(thing, outcome));
  if (!shown.length) return "";
  const order = { fn: 0, fp: 1, tp: 2, ignored: 3 };
  shown.sort(([one, a], [other, b]) => order[sideOf(a)] - order[sideOf(b)] || (other.score ?? 0) - (one.score ?? 0));
  const rows = shown.map(([thing, outcome]) => el("tr", { onpointerenter: () => point(node, thing, true), onpointerleave: () => point(node, thing, false) },
    el("td", {}, el("span", { class: `x-dot x-${outcome}` }), outcomeWords(outcome)),
    el("td", {}, bdi(thing.label), thing.about !== null && thing.about !== thing.label ? el("small", {}, " on ", bdi(thing.about)) : ""),
    el("td", { class: "num" }, thing.score === null ? "–" : short(thing.score)),
    el("td", { class: "num" }, Number.isNaN(thing.iou) || !thing.iou ? "–" : thing.iou.toFixed(2)),
    el("td", { class: "num" }, `${Math.round(thing.size)}`)));
  return el("details", { class: "x-objects" }, el("summary", {}, plural(shown.length, "object")),
    el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Objects" }, el("table", {}, el("thead", {}, el("tr", {}, ["Outcome", "Label", "Score", "IoU", "Size, px"].map((one, at) => el("th", { scope: "col", class: at > 1 ? "num" : null }, one)))), el("tbody", {}, rows))));
}

function point(node, thing, on) {
  node.querySelector(".x-pointer")?.remove();
  if (on) { const [x, y, width, height] = thing.box; node.append(svg("rect", { class: "x-pointer", x, y, width, height })); }
}

async function textParts(app, at) {
  const { data } = app;
  const chunk = await chunkOf(data, Math.floor(at / data.cards.every));
  const local = at % data.cards.every;
  const models = data.models.map((_, model) => model);
  const shown = (model) => chunk.shown[at]?.[model]?.texts ?? {};
  const fields = [...new Set([...Object.keys(chunk.texts), ...models.flatMap((model) => Object.keys(shown(model)))])].filter((one) => !["ground_truth", "prediction"].includes(one));
  const textOf = (field, model) => shown(model)[field] ?? (pick(chunk.texts[field], model, local) === null ? null : { text: pick(chunk.texts[field], model, local), left: 0 });
  const metrics = data.metrics.filter((one) => one.primary).map((one) => one.of);
  const judged = models.map((model) => metrics.map((metric) => [metric, verdictsOf(data, chunk, at, model, metric)]));
  const shared = [];
  const own = [];
  fields.forEach((field) => {
    const texts = models.map((model) => textOf(field, model));
    const said = texts.filter(Boolean);
    if (!said.length) return;
    const same = field !== "response" && said.every((one) => one.text === said[0].text);
    (same ? shared : own).push([field, texts]);
  });
  const several = (field) => fields.some((one) => one !== field && one.split("[")[0] === field.split("[")[0]);
  const parts = [];
  const reading = { history: 0, user_input: 1, references: 2, reference_contexts: 4, retrieved_contexts: 5 };
  const rank = ([field]) => reading[field.split("[")[0]] ?? 3;
  const passages = fields.filter((field) => field.includes("contexts")).flatMap((field) => models.map((model) => textOf(field, model)?.text)).filter(Boolean).map(normal);
  const isClaim = ({ text }) => text && !passages.some((passage) => passage.includes(normal(text).slice(0, 200)) && text.length > 200);
  const claims = models.map((model, place) => judged[place].flatMap(([, one]) => one.verdicts.filter(isClaim)));
  const original = originalOf(app, at);
  if (original) parts.push(original);
  const source = data.originals && data.originals[at] !== data.originalMissing ? data.originals[at] : -1;
  const before = source < 0 ? null : await chunkOf(data, Math.floor(source / data.cards.every));
  // A text of a perturbed copy beside that of its original, with the words that differ there.
  const beside = (field, model, text, block) => {
    const own = before && ["user_input", "response"].includes(field) && pick(before.texts[field], model, source % data.cards.every);
    return own ? el("div", { class: "x-beside" }, block, textBlock(`${fieldTitle(field)} of the original`, own, differing(own, text).map(([start, end]) => [start, end, "x-diff", ""]))) : block;
  };
  if (shared.length) {
    parts.push(el("div", { class: "x-shared" }, shared.sort((a, b) => rank(a) - rank(b)).map(([field, texts]) => {
      const first = texts.find(Boolean);
      const spans = [...markSpans(first), ...(field.includes("contexts") ? evidence(first.text, claims.flat()) : [])];
      return beside(field, texts.indexOf(first), first.text, textBlock(fieldTitle(field, several(field)), first.text, spans, first.left));
    })));
  }
  const panels = models.map((model, place) => el("article", { class: "x-panel" },
    el("h4", { class: "x-model" }, bdi(data.models[model])),
    own.sort((a, b) => rank(a) - rank(b)).map(([field, texts]) => {
      const text = texts[model];
      if (!text) return null;
      const other = texts[model === 0 ? 1 : 0] ?? null;
      const differs = other && field === "response" ? differing(text.text, other.text).map(([start, end]) => [start, end, "x-diff", ""]) : [];
      const about = field === "response" ? claimSpans(text.text, claims[place]) : field.includes("contexts") ? evidence(text.text, claims[place]) : [];
      return beside(field, model, text.text, textBlock(fieldTitle(field, several(field)), text.text, [...markSpans(text), ...differs, ...about], text.left, field === "response"));
    }),
    judged[place].filter(([, one]) => one.verdicts.length || one.reason || one.replies.length).map(([metric, one]) => judgement(app, at, model, metric, one)),
    furtherDetails(data, judged[place])));
  parts.push(el("div", { class: "x-models", style: `--n:${data.models.length}` }, panels));
  return parts;
}

const markSpans = (shown) => (shown.marks ?? []).map(([start, end, kind]) => [start, end, "x-marked", visible(kind)]);

// Sentences of a response that unfavourable claims are about, and of a context that favourable ones are.
const claimSpans = (text, claims) => claims.filter((one) => one.good === false).map((one) => [closest(text, one.text), one]).filter(([span]) => span).map(([span, one]) => [...span, "x-claim", `${visible(one.verdict)}: ${visible(one.text)}`]);

const evidence = (text, claims) => claims.filter((one) => one.good === true).map((one) => [closest(text, one.text), one]).filter(([span]) => span).map(([span, one]) => [...span, "x-evidence", `closest to: ${visible(one.text)}`]);

// What a metric says of a response: its value, verdicts with reasons, and folded what the judge replied.
function judgement(app, at, model, metric, one) {
  const { data } = app;
  const index = data.metrics.findIndex((other) => other.of === metric && other.primary);
  const side = { true: ["✓", "for"], false: ["✗", "against"] };
  return el("section", { class: "x-judgement" },
    el("h5", {}, el("span", {}, visible(data.metrics[index].name)), valueCell(data, index, model, at)),
    one.reason && el("p", { class: "x-reason", dir: "auto" }, visible(one.reason)),
    one.verdicts.length > 0 && el("ul", { class: "x-verdicts" }, one.verdicts.map((verdict) => {
      const [sign, name] = side[verdict.good] ?? ["–", "neither"];
      return el("li", { class: `x-${name}` }, el("span", { class: "x-sign", "aria-hidden": "true" }, sign), el("span", {},
        el("b", {}, visible(verdict.verdict)), verdict.text && el("span", { dir: "auto" }, `: ${cut(verdict.text)}`), verdict.reason && el("small", { dir: "auto" }, visible(verdict.reason))));
    })),
    one.replies.length > 0 && el("details", { class: "x-raw" }, el("summary", {}, plural(one.replies.length, "judge reply", "judge replies")), one.replies.map(said),
      one.replies.every((pair) => pair.length < 2) && el("p", { class: "note" }, "Prompts are not kept: ", el("code", {}, "judge: {keep_prompts: true}"), " keeps them.")));
}

// What a judge replied, and folded what it was asked.
const said = ([reply, prompt]) => [
  prompt && el("details", {}, el("summary", {}, "Prompt"), el("pre", { tabindex: "0" }, visible(prompt))),
  el("pre", { tabindex: "0" }, visible(reply)),
];

// What metrics keep of a response beside its value, as they keep it.
function furtherDetails(data, judged) {
  const told = judged.filter(([, one]) => one.details && Object.keys(one.details).length);
  if (!told.length) return "";
  const named = Object.fromEntries(told.map(([metric, one]) => [data.metrics.find((other) => other.of === metric).metric, one.details]));
  return el("details", { class: "x-raw" }, el("summary", {}, "Details of metrics"), el("pre", { tabindex: "0" }, visible(JSON.stringify(named, null, 1))));
}

const BRIEF = 300;

const cut = (text) => visible(text.length > BRIEF ? `${text.slice(0, BRIEF)} …` : text);

// A perturbed sample links to its original, and an original to its copies.
function originalOf(app, at) {
  const { data } = app;
  if (!data.originals) return null;
  const own = data.originals[at];
  const open = (place) => el("button", { type: "button", onclick: () => app.open(place) }, bdi(idOf(data, place)));
  if (own !== data.originalMissing) return el("p", { class: "x-original" }, "Perturbed copy of ", open(own), flips(data, own, at) && "whose verdict it flips");
  const copies = [];
  data.originals.forEach((one, place) => { if (one === at) copies.push(place); });
  const flipped = copies.filter((copy) => flips(data, at, copy));
  const others = copies.filter((copy) => !flipped.includes(copy));
  const told = (text, some) => some.length > 0 && [text, some.slice(0, MOST_COPIES).map(open), some.length > MOST_COPIES && `and ${count(some.length - MOST_COPIES)} more`];
  return copies.length ? el("p", { class: "x-original" }, told("Perturbed copies whose verdict flipped: ", flipped), told("Perturbed copies: ", others)) : null;
}

const MOST_COPIES = 12;

// Whether a metric passes one of two samples and fails the other, for some model.
const flips = (data, one, other) => data.metrics.some((metric, index) => metric.judged && data.models.some((_, model) => {
  const verdicts = [one, other].map((at) => verdictOf(data, index, model, at));
  return verdicts[0] !== verdicts[1] && verdicts.every((verdict) => verdict === PASSED || verdict === FAILED);
}));

function valueTable(app, at) {
  const { data } = app;
  const source = data.originals && data.originals[at] !== data.originalMissing ? data.originals[at] : -1;
  const cell = (index, model) => [valueCell(data, index, model, at), source >= 0 && el("small", {}, " original ", valueCell(data, index, model, source))];
  const rows = data.metrics.map((metric, index) => [metric, index]).filter(([, index]) => data.models.some((_, model) => !Number.isNaN(valueOf(data, index, model, at)) || statusOf(data, index, model, at)));
  const own = data.pairs ? data.models.map((_, model) => data.pairs.models[model]) : [];
  const named = (key, missing) => own.map((one) => (one && one[key][at] !== one[missing] ? bdi(data.pairs.labels[one[key][at]]) : "–"));
  const labelled = own.some((one) => one && one.truth[at] !== one.truthMissing);
  if (!rows.length && !labelled) return "";
  const line = (name, cells) => el("tr", {}, el("th", { scope: "row" }, name), cells.map((cell) => el("td", { class: "num" }, cell)));
  return el("div", { class: "scroll x-values", tabindex: "0", role: "group", "aria-label": "Values of this sample" }, el("table", {},
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Value"), data.models.map((name) => el("th", { scope: "col", class: "num" }, bdi(name))))),
    el("tbody", {},
      labelled && [line("ground truth", named("truth", "truthMissing")), line("prediction", named("predicted", "predictedMissing"))],
      rows.map(([metric, index]) => line(visible(metric.name), data.models.map((_, model) => cell(index, model)))))));
}

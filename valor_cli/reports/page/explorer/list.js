// The list of samples: rows or tiles, of which only those in view are in the page.

const ROW = { wide: 60, narrow: 92 };
const TILE = { width: 216, height: 172, line: 17, lines: 4 };
const SPARE = 4; // rows beyond the edge

function sampleList(app) {
  const { data } = app;
  const pictured = data.images.any || Boolean(data.objects) || Boolean(data.outlined);
  const space = el("div", { class: "x-space" });
  const box = el("div", {
    class: "x-list", role: "listbox", tabindex: "0", "aria-label": "Samples; Enter opens one", id: "explorer-list",
  }, space);
  const heads = el("div", { class: "x-heads", "aria-hidden": "true" });
  const made = new Map();
  let order = new Uint32Array(0);
  let active = 0;
  let tiles = pictured && matchMedia("(min-width: 641px)").matches;

  const perRow = () => (tiles ? Math.max(1, Math.floor(box.clientWidth / TILE.width)) : 1);
  const height = () => (tiles ? TILE.height + TILE.line * Math.min(data.models.length, TILE.lines) : box.clientWidth < 640 ? ROW.narrow : ROW.wide);

  const render = () => {
    const across = perRow();
    const tall = height();
    box.classList.toggle("x-tiles", tiles);
    box.style.maxHeight = `${Math.max(Math.ceil(order.length / across) * tall, 160) + 2}px`;
    space.style.height = `${Math.ceil(order.length / across) * tall}px`;
    const first = Math.max(0, Math.floor(box.scrollTop / tall) - SPARE) * across;
    const last = Math.min(order.length, (Math.ceil((box.scrollTop + box.clientHeight) / tall) + SPARE) * across);
    made.forEach((node, place) => { if (place < first || place >= last) { node.remove(); made.delete(place); } });
    for (let place = first; place < last; place += 1) {
      if (!made.has(place)) {
        const node = option(place);
        made.set(place, node);
        space.append(node);
      }
      const node = made.get(place);
      node.style.top = `${Math.floor(place / across) * tall}px`;
      node.style.height = `${tall}px`;
      node.style.left = tiles ? `${((place % across) / across) * 100}%` : "0";
      node.style.width = tiles ? `${100 / across}%` : "100%";
    }
    mark();
  };

  const option = (place) => {
    const at = order[place];
    const node = el("div", {
      role: "option", id: `explorer-option-${place}`, class: "x-row", "aria-setsize": order.length, "aria-posinset": place + 1, "data-sample": at,
      onclick: () => { active = place; app.open(at); },
    });
    node.append(...(tiles ? tileOf(app, at) : rowOf(app, at, pictured)));
    return node;
  };

  const mark = () => {
    made.forEach((node, place) => node.setAttribute("aria-selected", String(place === active)));
    if (made.has(active)) box.setAttribute("aria-activedescendant", `explorer-option-${active}`);
    else box.removeAttribute("aria-activedescendant");
  };

  const reach = () => {
    const tall = height();
    const top = Math.floor(active / perRow()) * tall;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + tall > box.scrollTop + box.clientHeight) box.scrollTop = top + tall - box.clientHeight;
    render();
  };

  const go = (place) => { active = Math.min(Math.max(place, 0), Math.max(order.length - 1, 0)); reach(); };

  box.addEventListener("scroll", settled(render));
  box.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(box.clientHeight / height())) * perRow();
    const step = { ArrowDown: perRow(), ArrowUp: -perRow(), j: 1, k: -1, PageDown: page, PageUp: -page, Home: -order.length, End: order.length }[event.key]
      ?? (tiles ? { ArrowRight: 1, ArrowLeft: -1 }[event.key] : undefined);
    if (step !== undefined) { event.preventDefault(); go(active + step); }
    if ((event.key === "Enter" || event.key === " ") && order.length) { event.preventDefault(); app.open(order[active]); }
  });
  new ResizeObserver(settled(() => { made.forEach((node) => node.remove()); made.clear(); render(); })).observe(box);

  const show = (selection, keep) => {
    order = selection.order;
    if (!keep) { box.scrollTop = 0; active = 0; }
    active = Math.min(active, Math.max(order.length - 1, 0));
    made.forEach((node) => node.remove());
    made.clear();
    heads.replaceChildren(...headsOf(app, tiles));
    box.classList.toggle("x-none", order.length === 0);
    box.dataset.empty = "No sample matches these filters.";
    render();
  };

  const toggle = pictured && el("div", { class: "x-views", role: "group", "aria-label": "View" }, ["Tiles", "Rows"].map((name) => el("button", {
    type: "button", "aria-pressed": String(tiles === (name === "Tiles")),
    onclick: (event) => {
      tiles = name === "Tiles";
      [...event.currentTarget.parentElement.children].forEach((one) => one.setAttribute("aria-pressed", String(one === event.currentTarget)));
      show(app.selection, false);
    },
  }, name)));

  return {
    node: el("div", { class: "x-listing" }, heads, box), toggle, show,
    select: (at) => { const place = order.indexOf(at); if (place >= 0) go(place); },
    focus: () => box.focus(),
    next: (at, step) => { const place = order.indexOf(at); return place < 0 ? order[0] : order[place + step]; },
    place: (at) => order.indexOf(at),
  };
}

function headsOf(app, tiles) {
  const { data } = app;
  if (tiles || (data.models.length === 1 && !data.objects && !data.metrics.length)) return [];
  return [el("span", { class: "x-grow" }, "Sample"), ...data.models.map((name) => el("span", { class: "x-cell" }, bdi(name)))];
}

function nameOf(data, at) {
  const file = data.files ? data.files[at] : null;
  const id = idOf(data, at);
  return file && file !== id ? [bdi(id), el("small", {}, bdi(file))] : [bdi(id)];
}

function rowOf(app, at, pictured) {
  const { data } = app;
  const title = data.titles ? data.titles[at] : "";
  return [
    pictured && thumbnail(app, at),
    el("span", { class: "x-grow" }, el("span", { class: "x-name" }, nameOf(data, at)), title && el("span", { class: "x-title" }, bdi(title))),
    ...data.models.map((name, model) => el("span", { class: "x-cell" }, data.models.length > 1 && el("span", { class: "x-of" }, bdi(name)), cellOf(app, model, at))),
  ].filter(Boolean);
}

function tileOf(app, at) {
  const { data } = app;
  return [
    thumbnail(app, at),
    el("span", { class: "x-name" }, nameOf(data, at)),
    el("span", { class: "x-cells" }, data.models.slice(0, TILE.lines).map((name, model) => el("span", { class: "x-cell" }, data.models.length > 1 && el("span", { class: "x-of" }, bdi(name)), cellOf(app, model, at)))),
  ];
}

// The image with the errors of the model that the filters ask about.
function thumbnail(app, at) {
  const { data, selection } = app;
  const box = el("span", { class: "x-thumb" });
  const model = selection.goal.models[0];
  const ready = data.objects && data.objects.models[model] ? data.objects.models[model].loadBoxes() : Promise.resolve();
  ready.then(() => box.append(drawSmall(data, model, at, selection.goal.threshold, shownBy(app))));
  return box;
}

// What thumbnails draw: what the filters ask for, else errors and what is right.
function shownBy(app) {
  const { data, state, selection } = app;
  const outcomes = new Set(state.outcome.flatMap((name) => OUTCOMES[name] ?? []));
  const labels = new Set(selection.goal.labels.map((at) => (data.objects ? data.objects.labels[at] : null)));
  return (thing, outcome) => {
    if (labels.size && !labels.has(thing.label)) return false;
    return !outcomes.size || (outcome !== "found" && outcomes.has(KINDS.indexOf(outcome)));
  };
}

// What one model made of a sample.
function cellOf(app, model, at) {
  const { data, selection } = app;
  const parts = [];
  const tally = app.tally && app.tally[model];
  if (tally) {
    parts.push(...["tp", "fp", "fn"].map((side) => el("span", { class: `x-n x-${side}${tally[side][at] ? "" : " x-zero"}`, title: outcomeText(side) }, `${count(tally[side][at])}`, el("small", {}, side.toUpperCase()))));
  }
  if (!tally || selection.goal.metric >= 0) {
    const metric = selection.goal.metric >= 0 ? selection.goal.metric : mainMetric(data);
    if (metric >= 0) parts.push(valueCell(data, metric, model, at));
    if (!tally && metric >= 0) parts.push(verdictStrip(data, model, at));
  }
  const own = data.pairs && data.pairs.models[model];
  if (own && !data.metrics.length) parts.push(el("span", { class: `x-value x-v-${VERDICTS[labelVerdict(data, model, at)][1]}` }, VERDICTS[labelVerdict(data, model, at)].slice(0, 3).filter((_, place) => place !== 1).join(" ")));
  if (own && own.predicted[at] !== own.predictedMissing) parts.push(el("small", {}, own.truth[at] !== own.truthMissing && own.truth[at] !== own.predicted[at] && [bdi(data.pairs.labels[own.truth[at]]), " → "], bdi(data.pairs.labels[own.predicted[at]])));
  return parts;
}

// A small square for each metric of samples: what it says, and how good its value is.
function verdictStrip(data, model, at) {
  const metrics = [...data.metrics.keys()].filter((index) => data.metrics[index].primary);
  if (metrics.length < 2) return "";
  return el("span", { class: "x-strip", "aria-hidden": "true" }, metrics.slice(0, 16).map((index) => {
    const metric = data.metrics[index];
    const verdict = verdictOf(data, index, model, at);
    const value = valueOf(data, index, model, at);
    const shade = verdict === SCORED && value >= 0 && value <= 1 ? `opacity:${(0.2 + 0.8 * (metric.better === "lower" ? 1 - value : value)).toFixed(2)}` : null;
    return el("i", { style: shade, class: `x-s-${VERDICTS[verdict][1]}`, title: `${visible(metric.name)}: ${Number.isNaN(value) ? VERDICTS[verdict][2] : number(value, metric.unit)}` });
  }));
}

const VERDICTS = [["✓", "pass", "passed"], ["✗", "fail", "failed"], ["!", "error", "error"], ["–", "none", "unscored"], ["", "scored", ""]];

// A value with its verdict in a sign.
function valueCell(data, metric, model, at) {
  const verdict = verdictOf(data, metric, model, at);
  const value = valueOf(data, metric, model, at);
  const [sign, name, word] = VERDICTS[verdict];
  const status = verdict === ERROR || verdict === UNSCORED ? words(statusOf(data, metric, model, at) || word) : "";
  const text = status || (data.metrics[metric].binary ? word : number(value, data.metrics[metric].unit));
  return el("span", { class: `x-value x-v-${name}`, title: status || word || null }, sign && el("span", { "aria-hidden": "true" }, sign), ` ${text}`);
}

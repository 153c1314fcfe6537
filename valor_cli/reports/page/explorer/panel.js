// The filters: each value with the number of samples or objects that it would leave.

const MOST = 8; // values of a filter shown before one asks for more

function filterPanel(app) {
  const { data } = app;
  const several = data.models.length > 1;
  const metrics = data.metrics.map((one) => one.name);
  const select = (name, label, options, read) => {
    const box = el("select", { id: freshId(name), onchange: (event) => app.set({ [name]: event.target.value }) }, options.map(([value, text]) => el("option", { value }, text)));
    return { node: el("div", { class: "x-pick" }, el("label", { for: box.id }, label), box), update: () => { box.value = read ? read() : app.state[name]; } };
  };
  const amount = (name, label, step = "any") => {
    const box = el("input", { type: "number", step, "aria-label": label, placeholder: label, onchange: (event) => app.set({ [name]: event.target.value === "" ? null : Number(event.target.value) }) });
    return { node: box, update: () => { if (document.activeElement !== box) box.value = app.state[name] ?? ""; } };
  };
  const group = (title, ...nodes) => el("fieldset", {}, el("legend", {}, title), nodes);
  const parts = [];
  const updates = [];
  const use = (...made) => { updates.push(...made.map((one) => one.update)); return made.map((one) => one.node); };
  const names = data.names.map((name, at) => [name, visible(data.models[at])]);

  if (several) {
    parts.push(group("Model", ...use(select("model", "Of", [["", "any model"], ...names]))));
    const change = changeFilter(app);
    parts.push(group("Compare", ...use(change, select("than", "Against", [["", "the other"], ...names]))));
  }
  const outcomes = outcomeFilter(app);
  parts.push(group("Outcome", ...use(outcomes)));
  if (metrics.length) {
    const low = amount("min", "Min");
    const high = amount("max", "Max");
    const which = select("metric", "Metric", [["", data.objects ? "choose a metric" : visible(metrics[mainMetric(data)])], ...metrics.map((name) => [name, visible(name)])], () => (metricAt(data, app.state.metric) >= 0 && app.state.metric ? metrics[metricAt(data, app.state.metric)] : ""));
    parts.push(group("Value", ...use(which), el("div", { class: "x-range" }, use(low), el("span", { "aria-hidden": "true" }, "to"), use(high))));
  }
  if (data.slices) parts.push(group("Slice", ...use(valueFilter(app, "slice", data.slices.map((one) => one.shown), data.slices.map((one) => one.name)))));
  if (data.objects || data.pairs) {
    const labels = (data.objects ?? data.pairs).labels;
    const values = (data.objects ?? data.pairs).names;
    if (labels.length > 1) parts.push(group("Label", ...use(valueFilter(app, "label", labels, values))));
    if (labels.length > 1) parts.push(group("Confusion: label → taken for", ...use(pairFilter(app, labels, values))));
  }
  if (data.objects) {
    const presets = [["small, below 32", null, 32], ["medium", 32, 96], ["large, from 96", 96, null]];
    const buttons = presets.map(([name, least, below]) => el("button", { type: "button", class: "x-value-button", "aria-pressed": "false", onclick: () => { const on = app.state.min_size === least && app.state.max_size === below; app.set({ min_size: on ? null : least, max_size: on ? null : below }); } }, name));
    updates.push(() => presets.forEach(([, least, below], at) => buttons[at].setAttribute("aria-pressed", String(app.state.min_size === least && app.state.max_size === below && (least !== null || below !== null)))));
    parts.push(group("Size of the object, pixels", buttons, el("div", { class: "x-range" }, use(amount("min_size", "From", "1")), el("span", { "aria-hidden": "true" }, "to"), use(amount("max_size", "Below", "1")))));
  }
  const node = el("div", { class: "x-filters" }, parts);
  const folded = el("details", { class: "x-fold" }, el("summary", {}, "Filters"), node);
  const wide = matchMedia("(min-width: 901px)");
  const unfold = () => { folded.open = wide.matches; };
  wide.addEventListener("change", unfold);
  unfold();
  return { node: folded, update: () => updates.forEach((one) => one()) };
}

// A value of a filter as a button with its count.
function valueButton(name, text, total, pressed, act) {
  return el("button", { type: "button", class: `x-value-button${name ? ` x-k-${name}` : ""}${total ? "" : " x-zero"}`, "aria-pressed": String(pressed), onclick: act },
    el("span", {}, text), el("span", { class: "x-count" }, count(total)));
}

// Buttons are made anew with each count; the focus stays on the one that has it.
function replaceButtons(box, buttons) {
  const at = [...box.children].indexOf(document.activeElement);
  box.replaceChildren(...buttons);
  if (at >= 0) box.children[Math.min(at, box.children.length - 1)]?.focus();
}

const toggled = (list, value) => (list.includes(value) ? list.filter((one) => one !== value) : [...list, value]);

function outcomeFilter(app) {
  const { data } = app;
  const box = el("div", { class: "x-buttons-list" });
  const button = (name, text, total) => valueButton(name, text, total, app.state.outcome.includes(name), () => app.set({ outcome: toggled(app.state.outcome, name) }));
  const ofObjects = (kinds) => [
    button("tp", "True positives", kinds[0]), button("fp", "False positives", kinds[1] + kinds[2] + kinds[3] + kinds[4] + kinds[5]),
    ...[1, 2, 3, 4, 5].filter((kind) => kinds[kind] || app.state.outcome.includes(KINDS[kind])).map((kind) => { const one = button(KINDS[kind], capital(KIND_WORDS[kind]), kinds[kind]); one.classList.add("x-sub"); one.title = KIND_MEANINGS[KINDS[kind]]; return one; }),
    button("fn", "False negatives", kinds[7]), ...(kinds[6] ? [button("ignored", "Ignored", kinds[6])] : []),
  ];
  const ofSamples = (outcomes, metric) => {
    const judged = metric < 0 || data.metrics[metric].judged;
    return SAMPLE_OUTCOMES.map((name, at) => [name, at]).filter(([name, at]) => outcomes[at] || app.state.outcome.includes(name) || (judged && at < 2)).map(([name, at]) => button(name, capital(name), outcomes[at]));
  };
  return {
    node: box,
    update: () => {
      const { kinds, outcomesOf } = app.selection;
      if (data.objects && ["won", "lost"].includes(app.state.change)) {
        box.replaceChildren(el("p", { class: "note" }, "Ground truths that one of the two models finds and the other does not."));
        return;
      }
      const buttons = data.objects ? ofObjects(kinds) : ofSamples(kinds, outcomesOf);
      replaceButtons(box, buttons.length ? buttons : [el("p", { class: "note" }, "This metric has no threshold, so no sample passes or fails. Set a range of its value below.")]);
    },
  };
}

function changeFilter(app) {
  const { data } = app;
  const box = el("select", { id: freshId("change"), onchange: (event) => app.set({ change: event.target.value }) });
  return {
    node: el("div", { class: "x-pick" }, el("label", { for: box.id }, "Samples"), box),
    update: () => {
      const { model, than } = app.selection.context;
      const [one, other] = [visible(data.models[model]), visible(data.models[than])];
      const right = data.objects ? "finds what" : "right,";
      const wrong = data.objects ? "does not" : "wrong";
      const options = [["", "all"], ["won", `${one} ${right} ${other} ${wrong}`], ["lost", `${other} ${right} ${one} ${wrong}`], ["better", `${one} better`], ["worse", `${one} worse`]];
      box.replaceChildren(...options.map(([value, text]) => el("option", { value }, text)));
      box.value = app.state.change;
    },
  };
}

// Labels or slices: the state has the values chosen, the selection the count of each.
function valueFilter(app, name, labels, values) {
  const box = el("div", { class: "x-buttons-list x-scroll" });
  const find = el("input", { type: "search", "aria-label": `Find a ${name}`, placeholder: `Find a ${name}`, oninput: () => update() });
  const update = () => {
    const counts = app.selection[`${name}s`];
    const wanted = find.value.trim().toLowerCase();
    const order = [...labels.keys()].filter((at) => labels[at].toLowerCase().includes(wanted));
    const chosen = (at) => app.state[name].includes(values[at]);
    order.sort((one, other) => chosen(other) - chosen(one) || counts[other] - counts[one] || one - other);
    replaceButtons(box, order.slice(0, 200).map((at) => valueButton("", bdi(labels[at]), counts[at], chosen(at), () => app.set({ [name]: toggled(app.state[name], values[at]) }))));
  };
  return { node: el("div", {}, labels.length > MOST ? find : "", box), update };
}

function pairFilter(app, labels, values) {
  const box = el("div", { class: "x-buttons-list x-scroll" });
  return {
    node: box,
    update: () => {
      const pairs = [...app.selection.pairs].sort((one, other) => other[1] - one[1]).slice(0, 60);
      const { truth, predicted } = app.state;
      const buttons = pairs.map(([pair, total]) => {
        const [right, wrong] = [Math.floor(pair / labels.length), pair % labels.length];
        const on = truth === values[right] && predicted === values[wrong];
        return valueButton("", el("span", {}, bdi(labels[right]), " → ", bdi(labels[wrong])), total, on, () => app.set(on ? { truth: "", predicted: "" } : { truth: values[right], predicted: values[wrong] }));
      });
      replaceButtons(box, buttons.length ? buttons : [el("p", { class: "note" }, "No label is taken for another here.")]);
    },
  };
}

// What is filtered, as chips that take it away.
function filterChips(app) {
  const { data } = app;
  const box = el("div", { class: "x-chips", role: "group", "aria-label": "Filters in use" });
  const metric = () => visible(data.metrics[app.selection.goal.metric >= 0 ? app.selection.goal.metric : mainMetric(data)]?.name ?? "value");
  const update = () => {
    const { state, selection } = app;
    const chips = [];
    const chip = (text, changes) => chips.push(el("button", { type: "button", class: "x-chip", onclick: () => app.set(changes) }, visible(text), el("span", { "aria-hidden": "true" }, " ✕"), el("span", { class: "vh" }, " remove this filter")));
    if (state.q) chip(`“${state.q}”`, { q: "" });
    if (state.model) chip(`model ${state.model}`, { model: "" });
    if (state.change) {
      const [one, other] = [data.models[selection.context.model], data.models[selection.context.than]];
      const told = { won: `${one} right, ${other} wrong`, lost: `${other} right, ${one} wrong`, better: `${one} better than ${other}`, worse: `${one} worse than ${other}` };
      chip(told[state.change] ?? state.change, { change: "" });
    }
    state.outcome.forEach((one) => chip(OUTCOMES[one] ? outcomeText(one) : one, { outcome: state.outcome.filter((other) => other !== one) }));
    state.label.forEach((one) => chip(one, { label: state.label.filter((other) => other !== one) }));
    state.slice.forEach((one) => chip(one, { slice: state.slice.filter((other) => other !== one) }));
    if (state.truth || state.predicted) chip(`${state.truth || "any label"} → ${state.predicted || "any label"}`, { truth: "", predicted: "" });
    if (state.min_size !== null || state.max_size !== null) chip(`size ${rangeText(state.min_size, state.max_size, "below")} px`, { min_size: null, max_size: null });
    if (state.min !== null || state.max !== null) chip(`${metric()} ${rangeText(state.min, state.max, "up to")}`, { min: null, max: null });
    if (chips.length > 1) chips.push(el("button", { type: "button", class: "x-clear", onclick: () => app.clear() }, "Clear all"));
    box.replaceChildren(...chips);
  };
  return { node: box, update };
}

const outcomeText = (name) => ({ fp: "false positives", tp: "true positives", fn: "false negatives" }[name] ?? KIND_WORDS[KINDS.indexOf(name)] ?? name);

function rangeText(least, most, upTo) {
  if (least === null) return `${upTo} ${most}`;
  return most === null ? `from ${least}` : `${least} to ${upTo === "below" ? "below " : ""}${most}`;
}

// The score threshold: what it makes of precision, recall, F1, counts and every drawing.

function thresholdInput(app) {
  const value = app.selection.goal.threshold;
  const box = el("input", { type: "range", min: 0, max: 1, step: 0.01, value, "aria-label": "Score threshold", "data-option": "threshold", oninput: (event) => app.set({ threshold: Number(event.target.value) }, { redraw: true }) });
  return el("label", { class: "x-field x-slider" }, "Score ≥ ", box, el("output", {}, short(value)));
}

function thresholdPanel(app) {
  const { data } = app;
  const slider = el("input", { type: "range", min: 0, max: 1, step: 0.01, id: "explorer-threshold", oninput: (event) => app.set({ threshold: Number(event.target.value) }) });
  const exact = el("input", { type: "number", min: 0, max: 1, step: "any", "aria-label": "Score threshold, exact", onchange: (event) => { if (event.target.value !== "") app.set({ threshold: Number(event.target.value) }); } });
  const subject = el("p", { class: "x-subject" });
  const table = el("tbody");
  const change = el("p", { class: "note", role: "status" });
  const chart = el("figure", { class: "x-chart" });
  const spreads = el("div", { class: "x-spreads" });
  const curves = el("details", { class: "x-curves" }, el("summary", {}, "Curve and histograms"), el("div", { class: "x-drawn" }, chart, spreads));
  const byLabel = el("tbody");
  const labelled = el("details", { class: "x-by-label", ontoggle: () => showLabels() }, el("summary", {}, "By label"),
    el("div", { class: "scroll tall", tabindex: "0", role: "group", "aria-label": "By label" }, el("table", {}, el("thead", {}, el("tr", {}, ["Label", "Objects", "TP", "FP", "FN", "Precision", "Recall", "F1", "Best F1", "at score"].map((one, at) => el("th", { scope: "col", class: at ? "num" : null }, one)))), byLabel)));
  const node = el("div", { class: "x-threshold" },
    el("div", { class: "x-measures" },
      el("div", { class: "x-slide" }, el("label", { for: slider.id }, "Score threshold"), slider, exact), subject,
      el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Values at this threshold" }, el("table", {}, el("thead", {}, el("tr", {}, ["Model", "Precision", "Recall", "F1", "TP", "FP", "FN", "Best F1"].map((one, at) => el("th", { scope: "col", class: at ? "num" : null }, one)))), table)),
      change),
    curves, labelled);
  const wide = matchMedia("(min-width: 641px)");
  const unfold = () => { curves.open = wide.matches; };
  wide.addEventListener("change", unfold);
  unfold();

  const ranks = new Map();
  const rankOf = (model, labels) => {
    const key = `${model} ${labels.join(",")}`;
    if (!ranks.has(key)) {
      const rank = ranked(data.objects.models[model], flags(data.objects.labels.length, labels));
      if (ranks.size > 40) ranks.clear();
      ranks.set(key, { rank, best: bestThreshold(rank), line: lineOf(rank) });
    }
    return ranks.get(key);
  };

  const update = () => {
    const { goal } = app.selection;
    const threshold = goal.threshold;
    if (document.activeElement !== slider) slider.value = threshold;
    if (document.activeElement !== exact) exact.value = short(threshold);
    subject.replaceChildren(goal.labels.length ? "Of " : "Of all labels", ...goal.labels.flatMap((at, place) => [place ? " and " : "", bdi(data.objects.labels[at])]));
    const known = data.models.map((_, model) => data.objects.models[model] && rankOf(model, goal.labels));
    const row = (name, found, model) => {
      const at = measures(found.rank, threshold);
      const best = Number.isNaN(found.best.threshold) ? "–" : el("button", { type: "button", title: `Set the threshold to ${short(found.best.threshold)}`, onclick: () => app.set({ threshold: found.best.threshold }) }, `${number(found.best.f1)} at ${found.best.threshold.toFixed(2)}`);
      return el("tr", {}, el("th", { scope: "row" }, bdi(name)), ["precision", "recall", "f1"].map((one) => el("td", { class: "num" }, number(at[one]))), ["tp", "fp", "fn"].map((side) => el("td", { class: "num" }, el("a", { href: formatHash({ ...app.state, model: data.names.length > 1 ? data.names[model] : "", outcome: [side], sample: "" }) }, count(at[side])))), el("td", { class: "num" }, best));
    };
    const focused = [...table.querySelectorAll("button")].indexOf(document.activeElement);
    table.replaceChildren(...known.map((found, model) => found && row(data.models[model], found, model)).filter(Boolean));
    if (focused >= 0) table.querySelectorAll("button")[focused]?.focus();
    const shown = goal.models.find((model) => known[model]);
    if (shown === undefined) return;
    tellChange(known[shown], data.models[shown], threshold);
    chart.replaceChildren(...curveChart(app, known[shown], data.models[shown]));
    showSpreads(shown, goal);
    if (labelled.open) showLabels();
  };

  // What the threshold changes against the one that the page begins with.
  const tellChange = (found, name, threshold) => {
    const first = data.threshold;
    const [now, before] = [measures(found.rank, threshold), measures(found.rank, first)];
    const signed = (value) => `${value > 0 ? "+" : value < 0 ? "−" : "±"}${count(Math.abs(value))}`;
    change.replaceChildren(...(threshold === first ? [`${short(first)} is the threshold of this run’s values.`] : [
      bdi(name), ` against ${short(first)}: `, ["tp", "fp", "fn"].map((side) => `${side.toUpperCase()} ${signed(now[side] - before[side])}`).join(", "), `, F1 ${number(before.f1)} → ${number(now.f1)}`].flat()));
  };

  // Histograms follow when the slider rests.
  let waiting = 0;
  const showSpreads = (model, goal) => {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const one = data.objects.models[model];
      await one.loadBoxes();
      spreads.replaceChildren(...spreadCharts(one, flags(data.objects.labels.length, goal.labels), goal.threshold));
    }, 120);
  };

  const showLabels = () => {
    if (!labelled.open) return;
    const { goal } = app.selection;
    const model = goal.models.find((one) => data.objects.models[one]);
    const lines = data.objects.labels.map((name, at) => ({ name, at, found: labelRanks(data, model)[at] })).filter(({ found }) => found.rank.positives + found.rank.fp.length);
    const shown = lines.map((line) => ({ ...line, values: measures(line.found.rank, goal.threshold) })).sort((one, other) => (one.values.f1 || 0) - (other.values.f1 || 0));
    byLabel.replaceChildren(...shown.map(({ name, at, found, values }) => el("tr", {},
      el("th", { scope: "row" }, el("a", { href: formatHash({ ...app.state, label: [data.objects.names[at]], sample: "" }) }, bdi(name))), el("td", { class: "num" }, count(found.rank.positives)),
      ["tp", "fp", "fn"].map((side) => el("td", { class: "num" }, count(values[side]))), ["precision", "recall", "f1"].map((one) => el("td", { class: "num" }, number(values[one]))),
      el("td", { class: "num" }, found.best.f1 < 0 ? "–" : number(found.best.f1)), el("td", { class: "num" }, Number.isNaN(found.best.threshold) ? "–" : short(found.best.threshold)))));
  };
  return { node, update };
}

// Ranked scores of each label of a model, made once.
const rankedLabels = new WeakMap();
function labelRanks(data, model) {
  const one = data.objects.models[model];
  if (!rankedLabels.has(one)) {
    const size = data.objects.labels.length;
    const [right, wrong, positives] = [new Uint32Array(size), new Uint32Array(size), new Uint32Array(size)];
    one.outcomes.forEach((outcome, at) => { if (outcome === 0) right[one.labels[at]] += 1; else if (outcome < 6) wrong[one.labels[at]] += 1; });
    one.gtLabels.forEach((label, at) => { if (!one.gtIgnored[at]) positives[label] += 1; });
    const [tp, fp] = [right, wrong].map((counts) => Array.from(counts, (total) => new Float64Array(total)));
    right.fill(0);
    wrong.fill(0);
    one.outcomes.forEach((outcome, at) => {
      const label = one.labels[at];
      if (outcome === 0) { tp[label][right[label]] = one.scores[at]; right[label] += 1; } else if (outcome < 6) { fp[label][wrong[label]] = one.scores[at]; wrong[label] += 1; }
    });
    rankedLabels.set(one, tp.map((scores, label) => {
      const rank = { tp: scores.sort(), fp: fp[label].sort(), positives: positives[label] };
      return { rank, best: bestThreshold(rank) };
    }));
  }
  return rankedLabels.get(one);
}

const STEPS = 200;

const lineOf = (rank) => Array.from({ length: STEPS + 1 }, (_, at) => measures(rank, at / STEPS));

const CHART = { width: 420, height: 190, left: 30, right: 8, top: 8, bottom: 24 };

// Precision, recall and F1 by threshold over the full range.
function curveChart(app, { line, best }, name) {
  const { width, height, left, right, top, bottom } = CHART;
  const x = (value) => left + value * (width - left - right);
  const y = (value) => height - bottom - value * (height - top - bottom);
  const path = (key) => line.map((one, at) => [one[key], at]).filter(([value]) => !Number.isNaN(value)).map(([value, at], place) => `${place ? "L" : "M"}${x(at / STEPS).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const threshold = app.selection.goal.threshold;
  const now = line[Math.round(Math.min(1, Math.max(0, threshold)) * STEPS)];
  const grid = [0, 0.25, 0.5, 0.75, 1];
  const node = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Precision, recall and F1 of ${visible(name)} by score threshold` },
    grid.map((value) => svg("path", { class: "x-grid", d: `M${left} ${y(value)}H${width - right}` })),
    grid.map((value) => svg("text", { class: "x-tick", x: left - 6, y: y(value) + 4, "text-anchor": "end" }, String(value))),
    grid.map((value) => svg("text", { class: "x-tick", x: x(value), y: height - 8, "text-anchor": "middle" }, String(value))),
    ["precision", "recall", "f1"].map((key) => svg("path", { class: `x-line x-line-${key}`, d: path(key) })),
    best.f1 >= 0 && svg("circle", { class: "x-best", cx: x(best.threshold), cy: y(best.f1), r: 4 }, svg("title", {}, `Best F1 ${number(best.f1)} at ${short(best.threshold)}`)),
    svg("path", { class: "x-now", d: `M${x(threshold)} ${top}V${height - bottom}` }));
  const follow = (event) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(node.getScreenCTM().inverse());
    app.set({ threshold: Math.round(Math.min(1, Math.max(0, (point.x - left) / (width - left - right))) * 100) / 100 });
  };
  node.addEventListener("click", follow);
  const key = [["precision", "Precision"], ["recall", "Recall"], ["f1", "F1"]].map(([one, text]) => el("li", {}, svg("svg", { viewBox: "0 0 22 8", "aria-hidden": "true" }, svg("path", { class: `x-line x-line-${one}`, d: "M1 4h20" })), `${text} ${number(now[one])}`));
  return [node, el("figcaption", {}, el("ul", { class: "x-key" }, key), app.data.models.length > 1 ? el("span", {}, bdi(name)) : "")];
}

// Histograms of score, IoU and size by outcome.
function spreadCharts(one, labels, threshold) {
  const detections = (value) => (add) => {
    for (let at = 0; at < one.scores.length; at += 1) {
      if (one.scores[at] < threshold || one.outcomes[at] > 5 || (labels && !labels[one.labels[at]])) continue;
      add(one.outcomes[at] === 0 ? 0 : 1, value(at));
    }
  };
  const missed = (add) => {
    for (let at = 0; at < one.gtLabels.length; at += 1) {
      if (!one.gtIgnored[at] && !(one.gtFound[at] >= threshold) && (!labels || labels[one.gtLabels[at]])) add(2, one.gtSizes[at]);
    }
  };
  // Sizes on a scale of powers of two, as few objects are large.
  const log = (size) => Math.log2(Math.max(size, 1)) / 10;
  const scores = histogram(25, 1, (add) => { for (let at = 0; at < one.scores.length; at += 1) if (one.outcomes[at] < 6 && (!labels || labels[one.labels[at]])) add(one.outcomes[at] === 0 ? 0 : 1, one.scores[at]); });
  const ious = histogram(25, 1, detections((at) => one.ious[at]));
  const sized = histogram(30, 1, (add) => { detections((at) => log(one.sizes[at]))(add); missed((side, size) => add(side, log(size))); });
  return [
    spreadChart("Score", scores, [[0, "0"], [0.5, "0.5"], [1, "1"]], threshold),
    spreadChart("IoU", ious, [[0, "0"], [0.5, "0.5"], [1, "1"]]),
    spreadChart("Size, pixels", sized, [[0.3, "8"], [0.5, "32"], [log(96), "96"], [0.8, "256"], [1, "1024"]]),
  ];
}

function spreadChart(title, sides, ticks, now) {
  const [width, height, base] = [380, 66, 50];
  const bins = sides[0].length;
  const top = Math.max(1, ...Array.from({ length: bins }, (_, at) => sides[0][at] + sides[1][at] + sides[2][at]));
  const bars = [];
  for (let at = 0; at < bins; at += 1) {
    let under = 0;
    ["tp", "fp", "fn"].forEach((side, place) => {
      const total = sides[place][at];
      if (!total) return;
      const tall = (total / top) * (base - 6);
      bars.push(svg("rect", { class: `x-bar x-fill-${side}`, x: (at / bins) * width + 0.5, y: base - under - tall, width: width / bins - 1, height: tall }, svg("title", {}, `${count(total)} ${outcomeText(side)}`)));
      under += tall;
    });
  }
  const told = ["true positives", "false positives", "false negatives"].map((name, side) => `${count(sides[side].reduce((sum, one) => sum + one, 0))} ${name}`).join(", ");
  return el("figure", { class: "x-spread" }, el("figcaption", {}, title),
    svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}: ${told}` }, svg("path", { class: "x-grid", d: `M0 ${base}H${width}` }), bars,
      now !== undefined && svg("path", { class: "x-now", d: `M${now * width} 0V${base}` }),
      ticks.map(([value, text]) => svg("text", { class: "x-tick", x: Math.min(width - 2, Math.max(2, value * width)), y: height - 4, "text-anchor": value === 0 ? "start" : value === 1 ? "end" : "middle" }, text))));
}

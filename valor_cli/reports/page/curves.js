"use strict";
(() => {
  // The curves of the label that is chosen: one threshold, marked in all of its charts.
  const { known, names, show } = plots;
  const byId = (id) => document.getElementById(id);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const source = byId("curve-data");
  if (!source) return;
  const { plot, columns = [], curves = [], counts = [], rocs = [] } = JSON.parse(source.textContent);
  all("svg[data-kind=spread]").forEach((svg) => {
    plots.chart(svg, plot, { points: true }).show(plots.lines_of(svg, plot));
  });
  const pick = byId("curve");
  if (!pick) return;
  pick.parentElement.hidden = false;
  byId("more").hidden = true;

  const column = (index) => columns[index] || [];
  const kind = (model) => `m${model % 6}`;
  const line = (model, xs, ys) => ({ model, name: names[model], kind: kind(model), xs, ys });
  const closest = (values, wanted) => values.reduce((best, value, index) => (Math.abs((value ?? Infinity) - wanted) < Math.abs((values[best] ?? Infinity) - wanted) ? index : best), 0);
  const falling = (values) => { const seen = values.filter(known); return seen.length > 1 && seen[0] > seen.at(-1); };
  // The point that a threshold makes: of falling scores the last that is not below it.
  const reached = (scores, threshold) => {
    if (falling(scores)) return Math.max(0, scores.findLastIndex((score) => known(score) && score >= threshold));
    return threshold === Infinity ? scores.length - 1 : closest(scores, threshold);
  };
  const cells = (root) => all(".reader tbody tr", root).map((row) => all("td", row));
  const views = [];
  // By a point of the curves, or by a threshold.
  let moment = { index: 0 };
  const point_of = (model, scores) => (known(moment.index) ? Math.min(moment.index, scores.length - 1) : reached(scores, moment.threshold));
  let shown = [];
  const threshold_of = (model) => {
    if (!known(moment.index)) return moment.threshold;
    const own = shown.find((one) => one.model === model) || shown[0];
    return own ? own.at[point_of(model, own.at)] : null;
  };
  // The samples at the threshold of the cursor.
  const samples = Object.assign(document.createElement("a"), { textContent: "Samples at this threshold", hidden: true });
  pick.closest(".head").append(samples);
  const lead = () => {
    const threshold = shown.length && threshold_of(shown[0].model);
    samples.hidden = !known(threshold) || !byId("explorer");
    if (!samples.hidden) samples.href = `#explore?threshold=${threshold}${pick.selectedIndex ? `&label=${encodeURIComponent(pick.value)}` : ""}`;
  };
  const move = (next) => { moment = next; views.forEach((view) => view.point()); lead(); };

  // Precision, recall and F1.
  const stage = byId("stage");
  if (stage) {
    const slider = stage.querySelector("input");
    const rows = cells(stage);
    const axes = { pr: (one) => line(one.model, one.recall, one.precision), f1: (one) => line(one.model, one.at, one.f1) };
    const tell = {
      pr: (one, index) => { const own = shown.find(({ model }) => model === one.model); return `${show(one.ys[index])} at recall ${show(one.xs[index])}${known(own.at[index]) ? `, threshold ${show(own.at[index])}` : ""}`; },
      f1: null,
    };
    const words = {
      pr: (one) => { const at = closest(one.xs.map((x, index) => (known(one.ys[index]) ? x : null)), 0.5); return `${one.name}: precision ${show(one.ys[at])} at recall ${show(one.xs[at])}`; },
      f1: (one) => { const at = one.ys.reduce((best, y, index) => (known(y) && y > (one.ys[best] ?? -1) ? index : best), 0); return `${one.name}: best F1 ${show(one.ys[at])} at threshold ${show(one.xs[at])}`; },
    };
    const heads = { pr: "Precision and recall", f1: "F1 by score threshold" };
    const charts = all("svg[data-kind]", stage).map((svg) => ({
      kind: svg.dataset.kind,
      figure: svg.closest("figure"),
      chart: plots.chart(svg, plot, { near: svg.dataset.kind === "pr" ? "xy" : "x", tell: tell[svg.dataset.kind], read: (_, index) => move({ index }) }),
    }));
    const point = () => {
      if (!shown.length) return;
      charts.forEach(({ kind: which, chart }) => {
        const marks = shown.flatMap((one) => {
          const { xs, ys } = axes[which](one);
          const at = point_of(one.model, one.at.length ? one.at : xs);
          return known(xs[at]) && known(ys[at]) ? [{ model: one.model, kind: kind(one.model), x: xs[at], y: ys[at] }] : [];
        });
        // guides for each of many models would hide the curves
        const guides = which === "pr" ? marks.filter(() => shown.length <= 4) : marks.slice(0, 1).map(({ x }) => ({ x }));
        chart.mark(marks, guides);
      });
      rows.flat().forEach((cell) => { cell.textContent = "–"; });
      shown.forEach((one) => {
        const at = point_of(one.model, one.at.length ? one.at : one.recall);
        [one.at, one.precision, one.recall, one.f1].forEach((values, index) => { rows[one.model][index].textContent = show(values[at]); });
      });
      const [{ at, recall }] = shown;
      slider.value = point_of(0, at.length ? at : recall);
      slider.setAttribute("aria-valuetext", `threshold ${show(at[slider.value])}, recall ${show(recall[slider.value])}`);
    };
    views.push({
      select: (label) => {
        shown = curves[label].map(([model, ...at]) => { const [scores, recall, precision, f1] = at.map(column); return { model, at: scores, recall, precision, f1 }; });
        charts.forEach(({ kind: which, figure, chart }) => {
          const found = shown.map(axes[which]).filter(({ ys }) => ys.length);
          figure.hidden = !found.length;
          chart.title(`${heads[which]}, ${pick.value}`);
          chart.show(found, { told: found.map(words[which]).join("; ") });
        });
        stage.querySelector(".reader").hidden = stage.hidden = !shown.length;
        if (!shown.length) return null;
        const [{ recall, f1 }] = shown;
        slider.max = Math.max(...shown.map((one) => one.recall.length)) - 1;
        return { index: f1.length ? f1.reduce((best, value, index) => (known(value) && value > (f1[best] ?? -1) ? index : best), 0) : Math.round((recall.length - 1) / 2) };
      },
      point,
    });
    slider.addEventListener("input", () => move({ index: Number(slider.value) }));
  }

  // The receiver operating characteristic; no score is above all scores.
  const roc = byId("roc");
  if (roc) {
    const slider = roc.querySelector("input");
    const rows = cells(roc);
    let [lines, thresholds] = [[], []];
    const threshold = (value) => (value === Infinity ? "above all scores" : show(value));
    const chart = plots.chart(roc.querySelector("svg"), plot, {
      near: "xy",
      read: ({ model }, index) => move({ threshold: lines.find((one) => one.model === model).scores[index] }),
      tell: (one, index) => `${show(one.ys[index])} at ${show(one.xs[index])}, threshold ${threshold(lines.find(({ model }) => model === one.model).scores[index])}`,
    });
    views.push({
      select: (label) => {
        lines = rocs[label].map(([model, area, ...at]) => { const [scores, across, up] = at.map(column); return { model, area, scores: scores.map((score) => score ?? Infinity), across, up }; });
        roc.hidden = !lines.length;
        if (!lines.length) return null;
        roc.querySelector("figure").hidden = roc.querySelector(".reader").hidden = false;
        chart.title(`ROC, ${pick.value}`);
        chart.show(lines.map(({ model, across, up }) => line(model, across, up)), { told: lines.map(({ model, area }) => `${names[model]}: area under the curve ${show(area)}`).join("; ") });
        thresholds = [...new Set(lines.flatMap((one) => one.scores))].sort((a, b) => b - a);
        slider.max = thresholds.length - 1;
        // where the first model is furthest above the diagonal
        const [{ scores, across, up }] = lines;
        return { threshold: scores[up.reduce((far, value, index) => (value - across[index] > up[far] - across[far] ? index : far), 0)] };
      },
      point: () => {
        if (!lines.length) return;
        rows.flat().forEach((cell) => { cell.textContent = "–"; });
        chart.mark(lines.map((one) => {
          const at = reached(one.scores, threshold_of(one.model) ?? -Infinity);
          [one.up[at], one.across[at], one.area].forEach((value, index) => { rows[one.model][index].textContent = show(value); });
          return { model: one.model, kind: kind(one.model), x: one.across[at], y: one.up[at] };
        }));
        const wanted = threshold_of(lines[0].model) ?? -Infinity;
        slider.value = reached(thresholds, wanted);
        roc.querySelector("output").textContent = threshold(wanted === -Infinity ? thresholds.at(-1) : wanted);
        slider.setAttribute("aria-valuetext", `threshold ${threshold(thresholds[slider.value])}`);
      },
    });
    slider.addEventListener("input", () => move({ threshold: thresholds[slider.value] }));
  }

  // Counts, stacked along their thresholds.
  const counted = byId("counted");
  if (counted) {
    const slider = counted.querySelector("input");
    const sides = { truths: [1, 2, 3], predictions: [1, 4, 5] };
    const kinds = ["", "true positive", "misclassification", "no prediction", "misclassification", "hallucination"];
    const number = (value) => (Number.isInteger(value) ? value.toLocaleString("en") : value.toFixed(3));
    let found = new Map();
    const charts = all("svg[data-kind]", counted).map((svg) => ({
      model: svg.dataset.model,
      side: svg.dataset.kind,
      figure: svg.closest("figure"),
      chart: plots.chart(svg, plot, {
        areas: true,
        read: (_, index) => move({ threshold: found.get(svg.dataset.model)[0][index] }),
        tell: (one, index) => number(one.own[Math.min(index, one.own.length - 1)]),
      }),
    }));
    const stacked = (own, side) => {
      // one threshold alone would be an area of no width
      const xs = own[0].length > 1 ? own[0] : [own[0][0] - 0.01, own[0][0] + 0.01];
      let below = xs.map(() => 0);
      return sides[side].filter((at) => own[at].length).map((at) => {
        below = below.map((value, index) => value + own[at][Math.min(index, own[at].length - 1)]);
        return { model: at, name: kinds[at], kind: `a${at}`, xs, ys: below, own: own[at] };
      });
    };
    const at_of = (model, own) => reached(own[0], threshold_of(Number(model)) ?? 0);
    views.push({
      select: (label) => {
        found = new Map(counts[label].map(([model, ...at]) => [String(model), at.map(column)]));
        counted.hidden = !found.size;
        counted.querySelector(".reader").hidden = !found.size;
        if (!found.size) return null;
        const totals = [...found.values()].flatMap((own) => Object.keys(sides).flatMap((side) => stacked(own, side).at(-1).ys));
        const by = plots.step(Math.max(1, ...totals));
        const top = by * Math.ceil(Math.max(1, ...totals) / by);
        charts.forEach(({ model, side, figure, chart }) => {
          const own = found.get(model);
          figure.hidden = !own;
          if (!own) return;
          const middle = closest(own[0], 0.5);
          const lines = stacked(own, side);
          chart.show(lines, { top, told: `at threshold ${show(own[0][middle])}: ${lines.map((one) => `${one.name} ${number(one.own[middle])}`).join(", ")}` });
        });
        const [first] = found.values();
        slider.max = first[0].length - 1;
        return { threshold: first[0][closest(first[0], 0.5)] };
      },
      point: () => {
        if (!found.size) return;
        charts.forEach(({ model, chart }) => {
          const own = found.get(model);
          if (own) chart.mark([], [{ x: own[0][at_of(model, own)] }]);
        });
        all("tbody tr", counted).forEach((row) => {
          const own = found.get(row.dataset.model);
          all("td", row).forEach((cell, index) => { cell.textContent = own && own[index].length ? number(own[index][at_of(row.dataset.model, own)]) : "–"; });
        });
        const [[model, first]] = found;
        slider.value = at_of(model, first);
        slider.setAttribute("aria-valuetext", `threshold ${number(first[0][slider.value])}`);
      },
    });
    slider.addEventListener("input", () => { const [first] = found.values(); move({ threshold: first[0][slider.value] }); });
  }

  const select = () => {
    const [first] = views.map((view) => view.select(pick.selectedIndex)).filter(Boolean);
    if (first) move(first);
  };
  pick.addEventListener("change", select);
  select();
})();

"use strict";
(() => {
  // The receiver operating characteristic of the label chosen among the curves.
  const stage = document.getElementById("roc");
  if (!stage) return;
  const { plot, columns, rocs } = JSON.parse(document.getElementById("curve-data").textContent);
  const pick = document.getElementById("curve");
  const svg = stage.querySelector("svg");
  const slider = stage.querySelector("input");
  const rows = [...stage.querySelectorAll("tbody tr")].map((row) => [...row.querySelectorAll("td")]);
  const x = (value) => plot.left + plot.w * value;
  const y = (value) => plot.top + plot.h * (1 - value);
  const show = (value) => (value === null || value === undefined ? "–" : value.toFixed(3));
  const draw = (tag, attributes) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    Object.entries(attributes).forEach(([name, item]) => node.setAttribute(name, item));
    return node;
  };
  // [model, area, scores, false positive rates, true positive rates]; no score is above all scores
  let lines = [];
  let thresholds = [];
  const reached = (scores, threshold) => Math.max(0, scores.findLastIndex((score) => score >= threshold));

  const point = () => {
    const threshold = thresholds[slider.value];
    const told = threshold === Infinity ? "above all scores" : show(threshold);
    const marks = svg.querySelector(".cursor");
    marks.replaceChildren();
    rows.flat().forEach((cell) => { cell.textContent = "–"; });
    lines.forEach(([model, area, scores, across, up]) => {
      const index = reached(scores, threshold);
      marks.append(draw("circle", { class: `m${model % 6}`, cx: x(across[index]), cy: y(up[index]), r: 4 }));
      [up[index], across[index], area].forEach((value, at) => { rows[model][at].textContent = show(value); });
    });
    stage.querySelector("output").textContent = told;
    slider.setAttribute("aria-valuetext", `threshold ${told}`);
  };

  const select = () => {
    lines = rocs[pick.selectedIndex].map(([model, area, ...at]) => [model, area, ...at.map((index) => columns[index])]);
    lines = lines.map(([model, area, scores, ...rates]) => [model, area, scores.map((score) => score ?? Infinity), ...rates]);
    stage.hidden = !lines.length;
    if (!lines.length) return;
    const paths = lines.map(([model, , , across, up]) => draw("path", { class: `m${model % 6}`, d: `M${across.map((value, index) => `${x(value).toFixed(1)} ${y(up[index]).toFixed(1)}`).join("L")}` }));
    svg.querySelector(".lines").replaceChildren(...paths);
    const caption = `ROC, ${pick.value}`;
    stage.querySelector("figure").hidden = false;
    stage.querySelector("figcaption").textContent = caption;
    svg.setAttribute("aria-label", caption);
    thresholds = [...new Set(lines.flatMap((line) => line[2]))].sort((a, b) => b - a);
    slider.max = thresholds.length - 1;
    // where the first model is furthest above the diagonal
    const [, , scores, across, up] = lines[0];
    const best = up.reduce((far, value, index) => (value - across[index] > up[far] - across[far] ? index : far), 0);
    slider.value = thresholds.indexOf(scores[best]);
    point();
  };

  ["pointermove", "pointerdown"].forEach((kind) => svg.addEventListener(kind, (event) => {
    const box = svg.getBoundingClientRect();
    const across = ((event.clientX - box.left) / box.width) * plot.width;
    const down = ((event.clientY - box.top) / box.height) * plot.height;
    let best = [Infinity, 0];
    lines.forEach(([, , scores, ...rates]) => scores.forEach((score, index) => {
      const far = Math.hypot(x(rates[0][index]) - across, y(rates[1][index]) - down);
      if (far < best[0]) best = [far, score];
    }));
    slider.value = thresholds.indexOf(best[1]);
    point();
  }));
  stage.querySelector(".reader").hidden = false;
  slider.addEventListener("input", point);
  pick.addEventListener("change", select);
  select();
})();

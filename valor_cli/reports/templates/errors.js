"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // A choice of panels shows one of them; without scripts all of them stand.
  all("select[data-panels]").forEach((select) => {
    const holder = document.getElementById(select.dataset.panels);
    const panels = [...holder.children];
    const show = () => panels.forEach((panel, index) => { panel.hidden = index !== select.selectedIndex; });
    select.addEventListener("change", show);
    holder.classList.add("chosen");
    select.parentElement.hidden = false;
    show();
  });

  // Counts of the label chosen among the curves, stacked along its score thresholds.
  const counted = () => {
    const stage = document.getElementById("counted");
    if (!stage) return;
    const { plot, columns, counts } = JSON.parse(document.getElementById("curve-data").textContent);
    const pick = document.getElementById("curve");
    const slider = stage.querySelector("input");
    const sides = { truths: [1, 2, 3], predictions: [1, 4, 5] };
    const show = (value) => (Number.isInteger(value) ? value.toLocaleString("en") : value.toFixed(3));
    const draw = (tag, attributes, text = "") => {
      const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
      Object.entries(attributes).forEach(([name, item]) => node.setAttribute(name, item));
      node.textContent = text;
      return node;
    };
    let lines = new Map();
    const x = (value) => plot.left + plot.w * value;
    const total = (line, side) => line[0].map((_, index) => sides[side].reduce((sum, at) => sum + (line[at] ? line[at][index] : 0), 0));

    const step = (most) => {
      const unit = 10 ** Math.floor(Math.log10(most / 4 || 1));
      return Math.max(1, unit * [1, 2, 5, 10].find((times) => times * unit >= most / 4));
    };

    const stack = (svg, line, y) => {
      // one threshold alone would be an area of no width
      const xs = line[0].length > 1 ? line[0] : [line[0][0] - 0.01, line[0][0] + 0.01];
      let below = xs.map(() => 0);
      return sides[svg.dataset.side].filter((at) => line[at]).map((at) => {
        const above = below.map((value, index) => value + line[at][Math.min(index, line[at].length - 1)]);
        const points = (values) => xs.map((value, index) => `${x(value).toFixed(1)} ${y(values[index]).toFixed(1)}`);
        const d = `M${[...points(above), ...points(below).reverse()].join("L")}z`;
        below = above;
        return draw("path", { class: `a${at}`, d });
      });
    };

    const point = () => {
      const index = Number(slider.value);
      all("svg", stage).forEach((svg) => {
        const line = lines.get(svg.dataset.model);
        const d = line && `M${x(line[0][index])} ${plot.top}v${plot.h}`;
        svg.querySelector(".cursor").replaceChildren(...(line ? [draw("path", { d })] : []));
      });
      all("tbody tr", stage).forEach((row) => {
        const line = lines.get(row.dataset.model);
        all("td", row).forEach((cell, at) => { cell.textContent = line ? show(line[at][index]) : "–"; });
      });
      const [first] = lines.values();
      slider.setAttribute("aria-valuetext", `threshold ${show(first[0][index])}`);
    };

    const select = () => {
      lines = new Map(counts[pick.selectedIndex].map(([model, ...at]) => [String(model), at.map((index) => columns[index])]));
      stage.hidden = !lines.size;
      if (!lines.size) return;
      const totals = [...lines.values()].flatMap((line) => Object.keys(sides).flatMap((side) => total(line, side)));
      const by = step(Math.max(1, ...totals));
      const top = by * Math.ceil(Math.max(1, ...totals) / by);
      const y = (value) => plot.top + plot.h * (1 - value / top);
      all("svg", stage).forEach((svg) => {
        const line = lines.get(svg.dataset.model);
        svg.closest("figure").hidden = !line;
        if (!line) return;
        svg.querySelector(".areas").replaceChildren(...stack(svg, line, y));
        const levels = Array.from({ length: top / by + 1 }, (_, at) => at * by);
        svg.querySelector(".levels").replaceChildren(...levels.flatMap((level) => [
          draw("path", { d: `M${plot.left} ${y(level)}h${plot.w}` }),
          draw("text", { x: plot.left - 5, y: y(level) + 4, "text-anchor": "end" }, level < 10000 ? level : `${level / 1000}k`),
        ]));
      });
      const [first] = lines.values();
      slider.max = first[0].length - 1;
      slider.value = first[0].reduce((best, value, index) => (Math.abs(value - 0.5) < Math.abs(first[0][best] - 0.5) ? index : best), 0);
      point();
    };

    all("svg", stage).forEach((svg) => ["pointermove", "pointerdown"].forEach((kind) => svg.addEventListener(kind, (event) => {
      const box = svg.getBoundingClientRect();
      const across = ((event.clientX - box.left) / box.width) * plot.width;
      const xs = lines.get(svg.dataset.model)[0];
      slider.value = xs.reduce((best, value, index) => (Math.abs(x(value) - across) < Math.abs(x(xs[best]) - across) ? index : best), 0);
      point();
    })));
    slider.addEventListener("input", point);
    pick.addEventListener("change", select);
    select();
  };
  counted();

  // A picture of three panels takes the whole width when it is pressed, and gives it back.
  all("button.overlay").forEach((button) => button.addEventListener("click", () => {
    const large = button.closest(".card").classList.toggle("large");
    button.setAttribute("aria-expanded", large);
    if (large) button.closest(".card").scrollIntoView({ block: "nearest" });
  }));

  // One stop of the tab key for each drawing; the arrows go through its objects.
  all(".drawing").forEach((drawing) => {
    drawing.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const objects = all(".o", drawing);
      if (!step || !objects.length) return;
      event.preventDefault();
      const now = objects.indexOf(document.activeElement);
      objects[now < 0 ? (step > 0 ? 0 : objects.length - 1) : (now + step + objects.length) % objects.length].focus();
    });
  });
})();

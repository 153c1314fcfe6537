"use strict";
(() => {
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  const theme = () => {
    const button = one("#theme");
    const system = matchMedia("(prefers-color-scheme: dark)");
    const root = document.documentElement;
    const store = (value) => { try { return value ? localStorage.setItem("valor-theme", value) : localStorage.getItem("valor-theme"); } catch { return null; } };
    const dark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
    const tell = () => { button.textContent = dark() ? "Light" : "Dark"; button.setAttribute("aria-label", `Switch to ${dark() ? "light" : "dark"} colours`); };
    const kept = store();
    if (kept === "dark" || kept === "light") root.dataset.theme = kept;
    button.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; store(root.dataset.theme); tell(); });
    system.addEventListener("change", tell);
    button.hidden = false;
    tell();
  };

  const sorting = (table) => {
    const body = table.tBodies[0];
    const heads = all("th[scope=col]", table.tHead);
    const rows = [...body.rows];
    const read = (row, column) => row.cells[column].textContent;
    const value = (text) => Number.parseFloat(text.replace(/[,$<≥ ]/g, "").replace("−", "-"));
    const sort = (column, direction) => {
      const sign = direction === "ascending" ? 1 : -1;
      const keys = new Map(rows.map((row) => [row, column ? value(read(row, column)) : read(row, 0)]));
      const order = column
        ? (a, b) => Number.isNaN(keys.get(a)) - Number.isNaN(keys.get(b)) || sign * (keys.get(a) - keys.get(b)) || 0
        : (a, b) => sign * keys.get(a).localeCompare(keys.get(b));
      body.append(...[...rows].sort(order));
      heads.forEach((head, index) => head.setAttribute("aria-sort", index === column ? direction : "none"));
    };
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        const first = column ? "descending" : "ascending";
        sort(column, now === "none" ? first : now === "ascending" ? "descending" : "ascending");
      });
    });
  };

  const filtering = () => {
    const box = one(".filter");
    if (!box) return;
    const count = one(".count");
    const tables = all("#label-views table").map((table) => [...table.tBodies[0].rows]);
    const rows = tables.flat();
    const total = tables[0].length;
    const names = rows.map((row) => row.cells[0].textContent.toLowerCase());
    box.hidden = false;
    one("input", box).addEventListener("input", (event) => {
      const wanted = event.target.value.trim().toLowerCase();
      let shown = 0;
      rows.forEach((row, index) => {
        row.hidden = !names[index].includes(wanted);
        shown += !row.hidden;
      });
      count.textContent = wanted ? `${shown / tables.length} of ${total} labels` : `${total} labels`;
    });
  };

  const curves = () => {
    const source = one("#curve-data");
    if (!source) return;
    one("#curve").parentElement.hidden = false;
    one("#more").hidden = true;
    if (!one("#stage")) return;
    const { plot, columns, curves: drawn } = JSON.parse(source.textContent);
    const stage = one("#stage");
    const pick = one("#curve");
    const slider = one("input[type=range]", stage);
    const cells = all(".reader tbody tr", stage).map((row) => all("td", row));
    const x = (value) => plot.left + plot.w * value;
    const y = (value) => plot.top + plot.h * (1 - value);
    const known = (value) => value !== null && value !== undefined;
    const show = (value) => (known(value) ? value.toFixed(3) : "–");
    const draw = (tag, attributes) => {
      const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
      Object.entries(attributes).forEach(([name, item]) => node.setAttribute(name, item));
      return node;
    };
    // [model, thresholds, recall, precision, f1] with the columns in place of their indexes
    const lines = () => drawn[pick.selectedIndex].map(([model, ...at]) => [model, ...at.map((index) => columns[index] || [])]);
    const axes = { pr: ([, , recall, precision]) => [recall, precision], f1: ([, thresholds, , , f1]) => [thresholds, f1] };
    const path = (xs, ys) => {
      let pen = "M";
      return xs.map((value, index) => {
        if (!known(value) || !known(ys[index])) { pen = "M"; return ""; }
        const part = `${pen}${x(value).toFixed(1)} ${y(ys[index]).toFixed(1)}`;
        pen = "L";
        return part;
      }).join("");
    };

    const point = () => {
      const index = Number(slider.value);
      all("svg[data-kind]", stage).forEach((svg) => {
        const marks = one(".cursor", svg);
        marks.replaceChildren();
        lines().forEach((line, order) => {
          const [xs, ys] = axes[svg.dataset.kind](line);
          if (!known(xs[index]) || !known(ys[index])) return;
          const [cx, cy] = [x(xs[index]), y(ys[index])];
          // guides for each of many models would hide the curves
          if (svg.dataset.kind === "pr" ? lines().length <= 4 : !order) marks.append(draw("path", { d: svg.dataset.kind === "pr" ? `M${cx} ${plot.top + plot.h}V${cy}H${plot.left}` : `M${cx} ${plot.top}v${plot.h}` }));
          marks.append(draw("circle", { class: `m${line[0] % 6}`, cx, cy, r: 4 }));
        });
      });
      cells.flat().forEach((cell) => { cell.textContent = "–"; });
      lines().forEach(([model, thresholds, recall, precision, f1]) => {
        [thresholds, precision, recall, f1].forEach((column, at) => { cells[model][at].textContent = show(column[index]); });
      });
      if (!lines().length) return;
      const [, thresholds, recall] = lines()[0];
      slider.setAttribute("aria-valuetext", `threshold ${show(thresholds[index])}, recall ${show(recall[index])}`);
    };

    const select = () => {
      const shown = lines();
      const title = pick.value;
      all("figure", stage).forEach((figure) => {
        const svg = one("svg", figure);
        const kind = svg.dataset.kind;
        const group = one(".lines", svg);
        const found = shown.filter((line) => axes[kind](line)[1].length);
        figure.hidden = !found.length;
        group.replaceChildren(...found.map((line) => draw("path", { class: `m${line[0] % 6}`, d: path(...axes[kind](line)) })));
        const caption = `${kind === "pr" ? "Precision and recall" : "F1 by score threshold"}, ${title}`;
        one("figcaption", figure).textContent = caption;
        svg.setAttribute("aria-label", caption);
      });
      one(".reader", stage).hidden = stage.hidden = !shown.length;
      if (!shown.length) return;
      const f1 = shown[0][4];
      slider.max = Math.max(...shown.map((line) => line[2].length)) - 1;
      slider.value = f1.length ? f1.reduce((best, value, index) => (known(value) && value > (f1[best] ?? -1) ? index : best), 0) : Math.round(slider.max / 2);
      point();
    };

    const follow = (svg) => (event) => {
      const box = svg.getBoundingClientRect();
      const across = ((event.clientX - box.left) / box.width) * plot.width;
      const down = ((event.clientY - box.top) / box.height) * plot.height;
      let best = [Infinity, 0];
      lines().forEach((line) => {
        const [xs, ys] = axes[svg.dataset.kind](line);
        xs.forEach((value, index) => {
          if (!known(value) || !known(ys[index])) return;
          const far = Math.hypot(x(value) - across, svg.dataset.kind === "pr" ? y(ys[index]) - down : 0);
          if (far < best[0]) best = [far, index];
        });
      });
      slider.value = best[1];
      point();
    };

    all("svg[data-kind]", stage).forEach((svg) => {
      const at = follow(svg);
      svg.addEventListener("pointermove", at);
      svg.addEventListener("pointerdown", at);
    });
    slider.addEventListener("input", point);
    pick.addEventListener("change", select);
    select();
  };

  theme();
  all(".sortable").forEach(sorting);
  filtering();
  curves();
  addEventListener("beforeprint", () => all("details").forEach((part) => { part.open = true; }));
})();

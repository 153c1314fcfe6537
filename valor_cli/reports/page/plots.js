"use strict";
// A chart as SVG in; the same on a canvas that can be pointed at, zoomed and moved, out. The SVG
// stays: for print, and where no script runs.
const plots = (() => {
  const names = [...document.querySelectorAll("#model-names li")].map((item) => item.textContent);
  const known = (value) => value !== null && value !== undefined;
  const show = (value) => (known(value) ? value.toFixed(3) : "–");
  const node = (tag, attributes = {}, text = "") => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    Object.entries(attributes).forEach(([name, item]) => made.setAttribute(name, item));
    made.textContent = text;
    return made;
  };
  const element = (tag, name, text = "") => Object.assign(document.createElement(tag), { className: name, textContent: text });
  const within = (low, high, value) => Math.min(high, Math.max(low, value));
  const step = (most) => {
    const unit = 10 ** Math.floor(Math.log10(most / 4 || 1));
    return Math.max(1, unit * [1, 2, 5, 10].find((times) => times * unit >= most / 4));
  };

  // Lines of their own xs as columns of one x: undefined where a line has no point, null in a gap.
  const aligned = (lines) => {
    const sorted = lines.map(({ xs, ys }) => {
      const order = xs.map((value, index) => [value, index]).filter(([value]) => known(value));
      if (order.length && order[0][0] > order.at(-1)[0]) order.reverse();
      return order.sort((a, b) => a[0] - b[0]).map(([value, index]) => [value, known(ys[index]) ? ys[index] : null, index]);
    });
    const slots = new Map();
    sorted.forEach((points) => {
      const here = new Map();
      points.forEach(([value]) => here.set(value, (here.get(value) || 0) + 1));
      here.forEach((count, value) => slots.set(value, Math.max(count, slots.get(value) || 0)));
    });
    const starts = new Map();
    const xs = [];
    [...slots.keys()].sort((a, b) => a - b).forEach((value) => {
      starts.set(value, xs.length);
      for (let at = 0; at < slots.get(value); at += 1) xs.push(value);
    });
    const origins = [];
    const columns = sorted.map((points) => {
      const column = new Array(xs.length).fill(undefined);
      const origin = new Array(xs.length).fill(-1);
      const used = new Map();
      points.forEach(([value, y, index]) => {
        const at = starts.get(value) + (used.get(value) || 0);
        used.set(value, (used.get(value) || 0) + 1);
        column[at] = y;
        origin[at] = index;
      });
      origins.push(origin);
      return column;
    });
    return { data: [xs, ...columns], origins };
  };

  // How the style sheet wants an element of the SVG, as a canvas takes it.
  const look = (target) => {
    const style = getComputedStyle(target);
    const dash = style.strokeDasharray === "none" ? [] : style.strokeDasharray.split(",").map(Number.parseFloat);
    const fill = style.fill.replace("rgb(", "rgba(").replace(")", `, ${style.fillOpacity})`);
    return { stroke: style.stroke, dash, fill };
  };
  const colour = (name) => {
    const probe = element("i", "", "");
    probe.style.color = `var(--${name})`;
    document.body.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  };
  let colours = null;
  const theme = (name) => {
    colours ??= Object.fromEntries(["text", "quiet", "line", "bg"].map((each) => [each, colour(each)]));
    return colours[name];
  };
  const all = [];
  const repaint = () => requestAnimationFrame(() => { colours = null; all.forEach((one) => one.repaint()); });
  new MutationObserver(repaint).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);

  // What the SVG shows: the same lines in its own units.
  const drawing = (svg, plot) => {
    const x = (value) => plot.left + plot.w * value;
    const y = (value, top) => plot.top + plot.h * (1 - value / top);
    const path = ({ xs, ys }, top) => {
      let pen = "M";
      return xs.map((value, index) => {
        if (!known(value) || !known(ys[index])) { pen = "M"; return ""; }
        const part = `${pen}${x(value).toFixed(1)} ${y(ys[index], top).toFixed(1)}`;
        pen = "L";
        return part;
      }).join("");
    };
    const area = ({ xs, ys }, below, top) => {
      const points = (values) => xs.map((value, index) => `${x(value).toFixed(1)} ${y(values[index], top).toFixed(1)}`);
      return `M${[...points(ys), ...points(below).reverse()].join("L")}z`;
    };
    const levels = (top) => {
      const by = step(top);
      const found = Array.from({ length: Math.floor(top / by + 1e-6) + 1 }, (_, at) => at * by);
      svg.querySelector(".levels").replaceChildren(...found.flatMap((level) => [
        node("path", { d: `M${plot.left} ${y(level, top)}h${plot.w}` }),
        node("text", { x: plot.left - 5, y: y(level, top) + 4, "text-anchor": "end" }, level < 10000 ? level : `${level / 1000}k`),
      ]));
    };
    return {
      lines: (lines, top, stacked) => {
        if (stacked) levels(top);
        svg.querySelector(stacked ? ".areas" : ".lines").replaceChildren(...lines.map((line, at) => node("path", {
          class: line.kind,
          d: stacked ? area(line, at ? lines[at - 1].ys : line.ys.map(() => 0), top) : path(line, top),
        })));
      },
      marks: (marks, guides) => svg.querySelector(".cursor").replaceChildren(
        ...guides.map(({ x: at, y: level }) => node("path", { d: known(level) ? `M${x(at)} ${plot.top + plot.h}V${y(level, 1)}H${plot.left}` : `M${x(at)} ${plot.top}v${plot.h}` })),
        ...marks.map((mark) => node("circle", { class: mark.kind, cx: x(mark.x), cy: y(mark.y, 1), r: 4 })),
      ),
    };
  };

  // The chart on a canvas, with its tools. `read` gets the line and the point nearest to the cursor,
  // `tell` says what a point of a line is worth.
  const chart = (svg, plot, { near = "x", read = () => {}, tell = null, areas = false, points = false } = {}) => {
    const figure = svg.closest("figure");
    const drawn = drawing(svg, plot);
    const [x_name, y_name] = [...svg.querySelectorAll(".axis")].map((label) => label.textContent);
    const live = element("div", "live");
    const tip = element("div", "tip");
    const tools = element("div", "tools");
    let [lines, top, stacked, marks, guides] = [[], 1, areas, [], []];
    let [origins, view, u, pointed] = [[], { x: [0, 1], y: [0, 1] }, null, false];
    const zoomed = () => view.x[0] > 0 || view.x[1] < 1 || view.y[0] > 0 || view.y[1] < top;

    const shapes = () => svg.querySelectorAll(stacked ? ".areas path" : ".lines path");
    const paint = (at, name) => look(shapes()[at] || svg)[name];
    const name = () => {
      const part = ([low, high]) => `${show(low)} to ${show(high)}`;
      const seen = zoomed() ? `, shown are ${x_name.replace(" →", "")} ${part(view.x)}, ${y_name} ${part(view.y)}` : "";
      live.setAttribute("aria-label", `${svg.getAttribute("aria-label")}${seen}. Plus and minus zoom, arrows move, Escape shows all`);
    };
    const apply = () => {
      name();
      reset.hidden = !zoomed();
      out.disabled = !zoomed();
      if (u) u.batch(() => ["x", "y"].forEach((axis) => u.setScale(axis, { min: view[axis][0], max: view[axis][1] })));
    };
    // Lines along an edge are not cut in half.
    const padded = ([low, high]) => [low - (high - low) / 80, high + (high - low) / 80];
    const whole = () => { view = { x: [0, 1], y: [0, top] }; apply(); };
    // About the first marked point: there is something to see.
    const zoom = (times) => {
      const middle = marks.find((one) => ["x", "y"].every((axis) => view[axis][0] <= one[axis] && one[axis] <= view[axis][1]));
      ["x", "y"].forEach((axis) => {
        const most = axis === "x" ? 1 : top;
        const [low, high] = view[axis];
        const size = Math.min(most, Math.max(most / 200, (high - low) * times));
        const at = middle ? middle[axis] : (low + high) / 2;
        const start = within(0, most - size, at - (size * (at - low)) / (high - low));
        view[axis] = [start, start + size];
      });
      apply();
    };
    const pan = (axis, part) => {
      const most = axis === "x" ? 1 : top;
      const size = view[axis][1] - view[axis][0];
      const start = within(0, most - size, view[axis][0] + part * size);
      view[axis] = [start, start + size];
      apply();
    };

    const nearest = (at) => {
      const column = u.data[at + 1];
      let best = [Infinity, null];
      column.forEach((value, index) => {
        if (!known(value)) return;
        const across = Math.abs(u.valToPos(u.data[0][index], "x") - u.cursor.left);
        const down = Math.abs(u.valToPos(value, "y") - u.cursor.top);
        const far = near === "x" ? across + down / 1000 : Math.hypot(across, down);
        if (far < best[0]) best = [far, index];
      });
      return best;
    };
    const told = () => {
      if (!u || u.cursor.left < 0 || !pointed) { tip.hidden = true; return; }
      const found = lines.map((_, at) => nearest(at));
      const rows = found.flatMap(([, index], at) => (index === null ? [] : [[at, origins[at][index]]]));
      tip.hidden = !rows.length;
      if (!rows.length) return;
      const first = found.reduce((best, one, at) => (one[0] < found[best][0] ? at : best), 0);
      read(lines[first], origins[first][found[first][1]]);
      const head = element("b", "", `${x_name.replace(" →", "")} ${show(u.posToVal(u.cursor.left, "x"))}`);
      tip.replaceChildren(head, ...rows.map(([at, index]) => {
        const row = element("span", "");
        const swatch = element("i", "");
        swatch.style.background = stacked ? paint(at, "fill") : paint(at, "stroke");
        const name = element("bdi", "", lines[at].name);
        row.append(swatch, name, ` ${tell ? tell(lines[at], index) : show(lines[at].ys[index])}`);
        return row;
      }));
      const [wide, high] = [u.over.clientWidth - tip.offsetWidth, u.over.clientHeight - tip.offsetHeight];
      const beside = u.cursor.left > u.over.clientWidth / 2 ? u.cursor.left - 14 - tip.offsetWidth : u.cursor.left + 14;
      tip.style.left = `${within(0, Math.max(0, wide), beside)}px`;
      tip.style.top = `${within(0, Math.max(0, high), u.cursor.top - tip.offsetHeight / 2)}px`;
    };

    const mark = (self) => {
      const { ctx, bbox } = self;
      const ratio = uPlot.pxRatio;
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left - 6 * ratio, bbox.top - 6 * ratio, bbox.width + 12 * ratio, bbox.height + 12 * ratio);
      ctx.clip();
      ctx.lineWidth = ratio;
      ctx.strokeStyle = theme("quiet");
      ctx.setLineDash([3 * ratio, 3 * ratio]);
      guides.forEach(({ x: across, y: up }) => {
        const at = self.valToPos(across, "x", true);
        const level = known(up) ? self.valToPos(up, "y", true) : bbox.top;
        ctx.beginPath();
        ctx.moveTo(at, bbox.top + bbox.height);
        ctx.lineTo(at, level);
        if (known(up)) ctx.lineTo(bbox.left, level);
        ctx.stroke();
      });
      ctx.setLineDash([]);
      ctx.lineWidth = 2.2 * ratio;
      ctx.fillStyle = theme("bg");
      marks.forEach((one) => {
        ctx.strokeStyle = paint(lines.findIndex((line) => line.kind === one.kind && line.model === one.model), "stroke");
        ctx.beginPath();
        ctx.arc(self.valToPos(one.x, "x", true), self.valToPos(one.y, "y", true), 4 * ratio, 0, 2 * Math.PI);
        ctx.fill();
        ctx.stroke();
      });
      ctx.restore();
    };

    const axis = (label, size) => ({
      stroke: () => theme("quiet"),
      font: "12px system-ui, sans-serif",
      labelFont: "12px system-ui, sans-serif",
      label,
      labelSize: 18,
      labelGap: 0,
      size,
      gap: 4,
      grid: { stroke: () => theme("line"), width: 1 },
      ticks: { show: false },
    });
    const selected = (self) => {
      const { left, top: over, width, height } = self.select;
      if (width < 4 && height < 4) return;
      const across = [self.posToVal(left, "x"), self.posToVal(left + width, "x")];
      const up = [self.posToVal(over + height, "y"), self.posToVal(over, "y")];
      if (width >= 4) view.x = [within(0, 1, across[0]), within(0, 1, across[1])];
      if (height >= 4) view.y = [within(0, top, up[0]), within(0, top, up[1])];
      self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      apply();
    };
    const options = (width) => ({
      width,
      height: Math.round(Math.max(180, (width * plot.height) / plot.width)),
      legend: { show: false },
      scales: { x: { time: false, auto: false, range: () => padded(view.x) }, y: { auto: false, range: () => padded(view.y) } },
      axes: [axis(x_name, 22), axis(y_name, 40)],
      cursor: {
        points: { show: points },
        drag: { x: true, y: true, uni: 24, dist: 6, setScale: false },
        bind: { dblclick: () => () => { whole(); return null; } },
        dataIdx: (self, at, closest) => (at ? nearest(at - 1)[1] : closest),
      },
      series: [{}, ...lines.map((_, at) => ({
        stroke: () => (stacked ? theme("bg") : paint(at, "stroke")),
        width: stacked ? 0.75 : 2,
        dash: stacked ? [] : paint(at, "dash"),
        fill: stacked ? () => paint(at, "fill") : undefined,
        points: { show: false },
      }))],
      bands: stacked ? lines.slice(1).map((_, at) => ({ series: [at + 2, at + 1] })) : [],
      hooks: { draw: [mark], setSelect: [selected], setCursor: [told] },
    });
    const build = () => {
      const width = live.clientWidth;
      if (!width || !lines.length) return;
      if (u) u.destroy();
      const made = aligned(lines);
      ({ origins } = made);
      u = new uPlot(options(width), made.data, live);
      u.over.append(tip);
      tip.hidden = true;
    };

    const button = (text, label, act) => {
      const made = element("button", "", text);
      made.type = "button";
      made.title = label;
      if (text !== label) made.setAttribute("aria-label", label);
      made.addEventListener("click", act);
      return made;
    };
    const reset = button("Reset zoom", "Reset zoom", () => { whole(); live.focus({ preventScroll: true }); });
    const out = button("−", "Zoom out", () => zoom(1.6));
    tools.append(reset, out, button("+", "Zoom in", () => zoom(1 / 1.6)));
    const keys = {
      "+": () => zoom(1 / 1.6),
      "=": () => zoom(1 / 1.6),
      "-": () => zoom(1.6),
      ArrowLeft: () => pan("x", -0.15),
      ArrowRight: () => pan("x", 0.15),
      ArrowUp: () => pan("y", 0.15),
      ArrowDown: () => pan("y", -0.15),
      Escape: whole,
    };
    live.addEventListener("keydown", (event) => {
      const act = keys[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      if (!zoomed() && !["+", "="].includes(event.key)) return;
      event.preventDefault();
      act();
    });
    ["pointerenter", "pointerdown", "pointermove"].forEach((kind) => live.addEventListener(kind, (event) => {
      pointed = true;
      if (event.pointerType !== "touch" || !u) return;
      const box = u.over.getBoundingClientRect();
      u.setCursor({ left: within(0, box.width, event.clientX - box.left), top: within(0, box.height, event.clientY - box.top) });
    }));
    live.tabIndex = 0;
    live.setAttribute("role", "application");
    live.setAttribute("aria-roledescription", "chart that zooms");
    live.setAttribute("aria-describedby", svg.getAttribute("aria-describedby"));
    live.setAttribute("aria-keyshortcuts", "+ - ArrowLeft ArrowRight ArrowUp ArrowDown Escape");
    svg.classList.add("drawn");
    svg.after(live);
    figure.prepend(tools);
    new ResizeObserver(() => {
      const width = live.clientWidth;
      if (!width) return;
      if (!u) { build(); return; }
      if (width !== u.width) u.setSize({ width, height: options(width).height });
    }).observe(live);

    const handle = {
      show: (next, { top: most = 1, told: words = null } = {}) => {
        lines = next;
        top = most;
        drawn.lines(lines, top, stacked);
        if (words !== null) figure.querySelector(".told").textContent = words;
        view = { x: [0, 1], y: [0, top] };
        build();
        apply();
      },
      mark: (next, lined = []) => {
        [marks, guides] = [next, lined];
        drawn.marks(marks, guides);
        if (u) u.redraw(false, false);
      },
      title: (text) => {
        figure.querySelector("figcaption").textContent = text;
        svg.setAttribute("aria-label", text);
      },
      repaint: () => { if (u) u.redraw(false, false); },
    };
    all.push(handle);
    return handle;
  };

  // The lines of an SVG, read off it.
  const lines_of = (svg, plot) => [...svg.querySelectorAll(".lines path")].map((path) => {
    const points = path.getAttribute("d").slice(1).split(/[ML]/).map((point) => point.split(" ").map(Number));
    const model = Number(path.dataset.model);
    return {
      model,
      name: names[model] || "",
      kind: path.getAttribute("class"),
      xs: points.map(([x]) => (x - plot.left) / plot.w),
      ys: points.map(([, y]) => 1 - (y - plot.top) / plot.h),
    };
  });

  return { chart, lines_of, names, known, show, step };
})();

"use strict";
(() => {
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const make = (tag, properties = {}, ...children) => { const node = Object.assign(document.createElement(tag), properties); node.append(...children); return node; };
  const FILTERED = 14;

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

  // Headings of the lowest row sort; undefined values come last, whatever the direction.
  const sorting = (table) => {
    const body = table.tBodies[0];
    const width = body.rows[0].cells.length;
    const rows = [...body.rows];
    // A heading over several columns holds their place; those below it come in order.
    const heads = [];
    const below = [...(table.tHead.rows[1]?.cells ?? [])];
    [...table.tHead.rows[0].cells].forEach((cell) => { if (cell.colSpan > 1) heads.push(...below.splice(0, cell.colSpan)); else heads.push(cell); });
    const value = (text) => Number.parseFloat(text.replace(/[,$<≥+ ]/g, "").replace("−", "-"));
    const sort = (column, direction) => {
      const sign = direction === "ascending" ? 1 : -1;
      const text = (row) => row.cells[column].textContent.trim();
      const numbers = rows.every((row) => /^[–\s]*$/.test(text(row)) || !Number.isNaN(value(text(row))));
      const keys = new Map(rows.map((row) => [row, numbers ? value(text(row)) : text(row)]));
      const order = numbers
        ? (a, b) => Number.isNaN(keys.get(a)) - Number.isNaN(keys.get(b)) || sign * (keys.get(a) - keys.get(b)) || 0
        : (a, b) => sign * keys.get(a).localeCompare(keys.get(b));
      body.append(...[...rows].sort(order));
      heads.forEach((head, index) => head.tagName === "TH" && head.setAttribute("aria-sort", index === column ? direction : "none"));
    };
    heads.slice(0, width).forEach((head, column) => {
      if (head.tagName !== "TH") return;
      const button = make("button", { type: "button" }, ...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        const first = column ? "descending" : "ascending";
        sort(column, now === "none" ? first : now === "ascending" ? "descending" : "ascending");
      });
    });
  };

  // Long tables are filtered by the names of their rows.
  const filtering = (table) => {
    const rows = [...table.tBodies[0].rows];
    if (rows.length <= FILTERED) return;
    const count = make("output", { textContent: `${rows.length} rows` });
    const input = make("input", { type: "search", placeholder: "Filter rows", autocomplete: "off" });
    input.setAttribute("aria-label", `Filter rows: ${table.caption.textContent}`);
    table.closest(".scroll").before(make("div", { className: "filter" }, input, count));
    input.addEventListener("input", () => {
      const wanted = input.value.trim().toLowerCase();
      rows.forEach((row) => { row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted); });
      count.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`;
    });
  };

  // A choice of panels shows one of them; without scripts all of them stand.
  const choosing = (select) => {
    const panels = [...document.getElementById(select.dataset.panels).children];
    const show = () => panels.forEach((panel, index) => { panel.hidden = index !== select.selectedIndex; });
    select.addEventListener("change", show);
    panels[0].parentElement.classList.add("chosen");
    select.parentElement.hidden = false;
    show();
  };

  theme();
  all("table.sortable").forEach((table) => { sorting(table); filtering(table); });
  all("select[data-panels]").forEach(choosing);
  addEventListener("beforeprint", () => all("details").forEach((part) => { part.open = true; }));
})();

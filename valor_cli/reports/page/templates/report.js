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

  theme();
  all(".sortable").forEach(sorting);
  filtering();
  addEventListener("beforeprint", () => all("details").forEach((part) => { part.open = true; }));
})();

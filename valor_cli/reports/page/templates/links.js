"use strict";
(() => {
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const PREFIX = "sample-";
  const SHOWN = 30;

  // What a link names is shown and focused, whatever it stands in.
  const target = () => {
    let name = location.hash.slice(1);
    try { name = decodeURIComponent(name); } catch { return null; }
    if (!name.startsWith(PREFIX)) return null;
    return document.getElementById(name) || one(`[id^="${CSS.escape(`${name}.`)}"]`);
  };
  const reveal = () => {
    const found = target();
    if (!found) return;
    const around = [];
    for (let at = found; at; at = at.parentElement) around.unshift(at);
    around.forEach((part) => {
      if (part.tagName === "DETAILS") part.open = true;
      if (part.hidden) part.dispatchEvent(new Event("reveal"));
      if (part.popover && !part.matches(":popover-open")) part.showPopover();
    });
    found.tabIndex = -1;
    found.focus({ preventScroll: true });
    found.scrollIntoView({ block: found.offsetHeight > innerHeight / 2 ? "start" : "center", behavior: "instant" });
  };
  addEventListener("hashchange", reveal);
  document.addEventListener("click", (event) => {
    const link = event.target.closest(`a[href^="#${PREFIX}"]`);
    if (link && link.getAttribute("href") === location.hash) reveal();
  });
  reveal();

  // One field searches the ids and texts of all samples on the page.
  const searching = () => {
    const box = one("#find");
    if (!box) return;
    const panel = one("#found");
    const list = one("ul", panel);
    let samples = null;
    const words = (node) => node.textContent.replace(/\s+/g, " ").trim();
    const place = (node) => {
      const heading = words(one("h2", node.closest("section")));
      const dialog = node.closest("[popover]");
      const group = node.closest("section > div > div");
      const title = dialog ? dialog.getAttribute("aria-label") : group && one("h3", group) ? words(one("h3", group)) : "";
      return title ? `${heading}: ${title}` : heading;
    };
    const index = () => {
      const found = new Map();
      all(`[id^="${PREFIX}"]`).forEach((node) => {
        const key = node.id.split(".")[0];
        const text = words(node);
        if (!found.has(key)) found.set(key, { name: words(one("bdi", node)), places: [] });
        found.get(key).places.push({ node, text, low: text.toLowerCase() });
      });
      return [...found.values()];
    };
    const around = (text, low, wanted) => {
      const at = low.indexOf(wanted);
      const from = Math.max(0, at - 40);
      return `${from ? "…" : ""}${text.slice(from, at + wanted.length + 60)}${at + wanted.length + 60 < text.length ? "…" : ""}`;
    };
    const add = (parent, tag, text) => { const node = document.createElement(tag); node.textContent = text; parent.append(node); return node; };
    const item = (sample, places, wanted) => {
      const line = document.createElement("li");
      add(line, "a", sample.name).href = `#${places[0].node.id}`;
      if (!sample.name.toLowerCase().includes(wanted)) add(line, "small", around(places[0].text, places[0].low, wanted));
      add(line, "small", `${place(places[0].node)}${places.length > 1 ? ` and ${places.length - 1} more` : ""}`);
      return line;
    };
    const close = () => { panel.hidden = true; list.replaceChildren(); };
    const search = () => {
      const wanted = box.value.replace(/\s+/g, " ").trim().toLowerCase();
      if (!wanted) { close(); return; }
      samples ??= index();
      const hits = [];
      samples.forEach((sample) => {
        const named = sample.name.toLowerCase().includes(wanted);
        const places = named ? sample.places : sample.places.filter(({ low }) => low.includes(wanted));
        if (places.length) hits.push([sample, places]);
      });
      list.replaceChildren(...hits.slice(0, SHOWN).map(([sample, places]) => item(sample, places, wanted)));
      const count = `${hits.length} of the ${samples.length} samples on this page`;
      one("output", panel).textContent = hits.length > SHOWN ? `${count}; the first ${SHOWN}` : hits.length ? count : `None of the ${samples.length} samples on this page`;
      panel.hidden = false;
    };
    box.closest("label").hidden = false;
    box.addEventListener("input", search);
    box.addEventListener("focus", search);
    const header = box.closest("header");
    header.addEventListener("keydown", (event) => {
      const stops = [box, ...all("a", list)];
      const now = stops.indexOf(document.activeElement);
      if (event.key === "Escape" && !panel.hidden) { event.preventDefault(); box.value = ""; box.focus(); close(); return; }
      if (event.key === "Enter" && now === 0 && stops[1]) { event.preventDefault(); stops[1].click(); return; }
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step || now < 0 || panel.hidden) return;
      event.preventDefault();
      stops[Math.min(Math.max(now + step, 0), stops.length - 1)].focus();
    });
    list.addEventListener("click", (event) => { if (event.target.closest("a")) panel.hidden = true; });
    document.addEventListener("pointerdown", (event) => { if (!header.contains(event.target)) panel.hidden = true; });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target.closest("input, select, textarea, [contenteditable]")) return;
      event.preventDefault();
      box.focus();
      box.select();
    });
  };
  searching();
})();

// The explorer: filters, list, card and threshold over one state, which is in the URL.

async function explore(root) {
  const source = JSON.parse(document.getElementById("explorer-data").textContent);
  const table = columnTable("c", source.blobs);
  const data = await readSamples(source, table);
  data.images = imageSource(source.images, columnTable("p", source.photos));
  data.outlined = source.outlines === null ? null : await table.json(source.outlines);
  const app = { data, state: emptyState(), selection: null, tally: null, shown: null };
  app.state.threshold = null;
  if (source.objects) {
    root.querySelector(".x-status").textContent = "Reading objects …";
    data.objects = await readObjects(source, table);
  }
  await build(app, root);
}

async function build(app, root) {
  const { data } = app;
  const refresh = async (keep) => {
    if (data.objects) {
      const sized = app.state.min_size !== null || app.state.max_size !== null;
      if (sized) await Promise.all(data.objects.models.map((one) => one && one.loadBoxes()));
      const threshold = app.state.threshold ?? defaultThreshold(data);
      if (app.counted !== threshold) app.tally = data.objects.models.map((one) => one && tallies(one, threshold));
      app.counted = threshold;
    }
    app.selection = select(data, app.state, app.tally);
    app.parts.forEach((part) => part.update());
    app.list.show(app.selection, keep);
  };
  const drawn = settled(refresh);
  const address = settled(() => { history.replaceState(history.state, "", formatHash(app.state)); });
  app.set = (changes, { redraw = false } = {}) => {
    app.state = { ...app.state, ...changes };
    address();
    const only = Object.keys(changes).every((name) => name === "threshold");
    drawn(only && !isFiltered(app.state));
    if (redraw && app.shown !== null) app.again();
  };
  app.clear = () => app.set({ ...emptyState(), threshold: app.state.threshold, sort: app.state.sort, sample: app.state.sample });

  app.list = sampleList(app);
  const card = sampleCard(app);
  app.again = settled(() => { if (app.shown !== null && card.isOpen()) card.show(app.shown); });
  app.open = (at) => {
    app.state = { ...app.state, sample: idOf(data, at) };
    const hash = formatHash(app.state);
    if (card.isOpen()) history.replaceState(null, "", hash); else history.pushState(null, "", hash);
    app.list.select(at);
    card.show(at);
  };
  app.closed = () => {
    const at = app.shown;
    app.shown = null;
    if (app.state.sample !== "") {
      app.state = { ...app.state, sample: "" };
      history.replaceState(null, "", formatHash(app.state));
    }
    if (at !== null) { app.list.select(at); app.list.focus(); }
  };

  const search = searchBox(app, drawn);
  const sorting = sortBox(app);
  const total = el("output", { class: "count", id: "explorer-count" });
  const counted = { update: () => {
    const { order, total: objects, filtered } = app.selection;
    total.textContent = `${count(order.length)} of ${plural(data.count, "sample")}${filtered ? `, ${plural(objects, "object")}` : ""}`;
  } };
  const panel = filterPanel(app);
  const chips = filterChips(app);
  const threshold = data.objects && thresholdPanel(app);
  app.parts = [search, sorting, counted, panel, chips, ...(threshold ? [threshold] : [])];
  const notes = [...data.notes, ...data.images.notes].map((note) => el("p", { class: "note" }, visible(note)));
  root.querySelector(".x-status").remove();
  root.append(
    ...(threshold ? [threshold.node] : []),
    el("div", { class: "x-body" }, panel.node,
      el("div", { class: "x-main" }, el("div", { class: "x-bar" }, search.node, sorting.node, app.list.toggle || "", total), chips.node, app.list.node,
        el("p", { class: "note x-keys" }, el("kbd", {}, "j"), " and ", el("kbd", {}, "k"), " next and previous, ", el("kbd", {}, "Enter"), " opens, ", el("kbd", {}, "/"), " searches, ", el("kbd", {}, "Esc"), " closes", stripNote(data)), notes)),
    card.node);

  const follow = async (scroll) => {
    const state = parseHash(location.hash);
    const at = state ? (state.sample ? placeOf(data, state.sample) : -1) : anchored(data, location.hash);
    if (!state && at < 0) return false;
    if (state) app.state = { ...state, sample: at < 0 ? "" : state.sample };
    await refresh(false);
    if (at >= 0) {
      app.state.sample = idOf(data, at);
      app.list.select(at);
      card.show(at);
    } else if (card.isOpen()) card.close();
    if (scroll) root.scrollIntoView({ block: "start", behavior: "instant" });
    return true;
  };
  addEventListener("hashchange", () => follow(!card.isOpen()));
  addEventListener("popstate", () => follow(false));
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, [contenteditable]")) return;
    if (event.key === "/" && !card.isOpen()) { event.preventDefault(); root.scrollIntoView({ block: "start" }); search.focus(); }
    if ((event.key === "j" || event.key === "k") && !card.isOpen() && !event.target.closest(".x-list") && root.contains(document.activeElement)) { event.preventDefault(); app.list.focus(); }
  });
  if (!(await follow(true))) await refresh(false);
}

// What the small squares of a row are.
function stripNote(data) {
  const names = data.metrics.filter((one) => one.primary).map((one) => visible(one.metric));
  return data.objects || names.length < 2 ? "" : `. Squares, from the left: ${names.slice(0, 16).join(", ")}`;
}

function placeOf(data, name) {
  for (let at = 0; at < data.count; at += 1) if (String(data.ids[at]) === name) return at;
  return -1;
}

// The sample that `#sample-ID` names; -1 without one.
function anchored(data, hash) {
  let name = hash.slice(1);
  try { name = decodeURIComponent(name); } catch { return -1; }
  return name.startsWith("sample-") ? placeOf(data, name.slice("sample-".length)) : -1;
}

function searchBox(app, drawn) {
  const box = el("input", { type: "search", id: "explorer-search", placeholder: app.data.files ? "Id, file name or text" : "Id or text", autocomplete: "off", spellcheck: "false" });
  const progress = el("output", { class: "vh" });
  let waiting = 0;
  const texts = () => {
    clearTimeout(waiting);
    if (!app.state.q || !app.data.cards) { progress.textContent = ""; return; }
    let last = performance.now();
    waiting = setTimeout(() => searchTexts(app.data, app.state.q, (done, all) => {
      progress.className = done < all ? "count" : "vh";
      progress.textContent = done < all ? `searching texts, ${done} of ${all}` : "";
      if (done < all && performance.now() - last < 1000) return;
      last = performance.now();
      drawn(true);
    }), 150);
  };
  box.addEventListener("input", () => app.set({ q: box.value }));
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { event.preventDefault(); app.set({ q: "" }); box.value = ""; }
    if (event.key === "ArrowDown") { event.preventDefault(); app.list.focus(); }
    if (event.key === "Enter" && app.selection.order.length) app.open(app.selection.order[0]);
  });
  let last = "";
  const update = () => {
    if (document.activeElement !== box) box.value = app.state.q;
    if (last !== app.state.q) { last = app.state.q; texts(); }
  };
  return { node: el("span", { class: "x-search" }, el("label", { class: "vh", for: box.id }, "Search samples"), box, progress), update, focus: () => { box.focus(); box.select(); } };
}

function sortBox(app) {
  const { data } = app;
  const kinds = [["", "automatic"], ["errors", "most errors"], ...(data.metrics.length ? [["worst", "worst value"], ["best", "best value"]] : []), ...(data.models.length > 1 ? [["difference", "largest difference"]] : []), ["id", "id"], ["order", "order of the data"]];
  const box = el("select", { id: freshId("sort"), onchange: (event) => app.set({ sort: event.target.value }) }, kinds.map(([value, text]) => el("option", { value }, text)));
  return { node: el("span", { class: "x-pick" }, el("label", { for: box.id }, "Sort"), box), update: () => { box.value = app.state.sort; } };
}

const mount = document.getElementById("explorer");
if (mount) {
  explore(mount).catch((error) => {
    const status = mount.querySelector(".x-status") ?? mount.appendChild(el("p", { class: "x-status" }));
    status.textContent = error.message;
    throw error;
  });
}

"use strict";
(() => {
  // Choosing among the samples that changed, some at a time; without scripts all of them stand.
  const holder = document.getElementById("cards");
  if (!holder) return;
  const FIRST = 12;
  const MORE = 24;
  const PAPER = Number(holder.dataset.paper);
  const by = (name) => document.getElementById(`by-${name}`);
  const [pair, metric, word, text] = ["pair", "metric", "word", "text"].map(by);
  const [more, told, none, paper] = ["more", "shown", "none", "paper"].map((id) => document.getElementById(id));
  const cards = [...holder.children].map((node, order) => ({
    node,
    order,
    words: node.textContent.toLowerCase(),
    changes: [...node.querySelectorAll("[data-size]")].map((one) => ({ ...one.dataset, size: Number(one.dataset.size) })),
  }));
  const total = cards.length;
  let ordered = cards;
  let room = FIRST;
  const samples = (count) => `${count} sample${count === 1 ? "" : "s"}`;
  const size = (card) => Math.max(0, ...card.changes.filter((one) => one.metric === metric.value).map((one) => one.size));
  const fits = (one) => (!metric?.value || one.metric === metric.value) && (!word.value || one.word === word.value);
  const wanted = (card) => (!pair?.value || card.node.dataset.pair === pair.value) && card.changes.some(fits) && card.words.includes(text.value.trim().toLowerCase());
  const kept = () => ordered.filter((card) => !card.node.hidden);

  // Cards that fit, but for which there is no room yet, are `later`; a printer gets some of those.
  const lay = () => {
    const fitting = kept();
    const count = fitting.length;
    const shown = Math.min(room, count);
    const printed = Math.max(shown, Math.min(PAPER, count));
    fitting.forEach(({ node }, at) => {
      node.classList.toggle("later", at >= shown);
      node.classList.toggle("rest", at >= printed);
    });
    const found = count === total ? samples(total) : `${count} of ${samples(total)}`;
    told.textContent = shown < count ? `${found}, ${shown} shown` : found;
    none.hidden = count > 0;
    more.hidden = shown === count;
    const rest = count - shown;
    more.textContent = rest > MORE ? `Show ${MORE} more (of ${rest})` : `Show ${rest} more`;
    if (!paper) return;
    paper.hidden = printed === count;
    paper.textContent = `On paper the first ${printed} of ${samples(count)}.`;
  };
  const choose = () => {
    cards.forEach((card) => { card.node.hidden = !wanted(card); });
    room = FIRST;
    lay();
  };
  // By one metric the widest change comes first, and is unfolded.
  const order = () => {
    ordered = metric?.value ? [...cards].sort((a, b) => size(b) - size(a) || a.order - b.order) : cards;
    holder.append(...ordered.map((card) => card.node));
    holder.querySelectorAll(".beside > .quietly").forEach((fold) => {
      fold.open = Boolean(metric?.value && fold.querySelector(`[data-metric="${metric.value}"]`));
    });
  };
  // A link to one sample shows it, whatever is chosen.
  const follow = () => {
    const target = cards.find((card) => `#${card.node.id}` === location.hash);
    if (!target || target.node.checkVisibility()) return;
    if (target.node.hidden) {
      [pair, metric, word, text].filter(Boolean).forEach((one) => { one.value = ""; });
      order();
      choose();
    }
    room = Math.max(room, kept().indexOf(target) + 1);
    lay();
    target.node.focus({ preventScroll: true });
    target.node.scrollIntoView({ behavior: "instant" });
  };

  [pair, metric, word].filter(Boolean).forEach((one) => one.addEventListener("change", () => { if (one === metric) order(); choose(); }));
  text.addEventListener("input", choose);
  more.addEventListener("click", () => {
    const next = kept()[room];
    room += MORE;
    lay();
    next.node.focus({ preventScroll: true });
    next.node.scrollIntoView({ block: "nearest" });
  });
  addEventListener("hashchange", follow);
  document.querySelector(".chosen-by").hidden = false;
  holder.classList.add("paged");
  choose();
  follow();
})();

"use strict";
(() => {
  // Choosing among the samples that changed; without scripts all of them stand, the widest first.
  const holder = document.getElementById("cards");
  if (!holder) return;
  const by = (name) => document.getElementById(`by-${name}`);
  const [pair, metric, word, text] = ["pair", "metric", "word", "text"].map(by);
  const cards = [...holder.children].map((node, order) => ({
    node,
    order,
    words: node.textContent.toLowerCase(),
    changes: [...node.querySelectorAll("[data-size]")].map((one) => ({ ...one.dataset, size: Number(one.dataset.size) })),
  }));
  const total = cards.length;
  const samples = (count) => `${count} sample${count === 1 ? "" : "s"}`;
  const size = (card) => Math.max(0, ...card.changes.filter((one) => one.metric === metric.value).map((one) => one.size));

  const choose = () => {
    const wanted = text.value.trim().toLowerCase();
    const fits = (one) => (!metric?.value || one.metric === metric.value) && (!word.value || one.word === word.value);
    let shown = 0;
    cards.forEach((card) => {
      const kept = (!pair?.value || card.node.dataset.pair === pair.value) && card.changes.some(fits) && card.words.includes(wanted);
      card.node.hidden = !kept;
      shown += kept;
    });
    document.getElementById("shown").textContent = shown === total ? samples(total) : `${shown} of ${samples(total)}`;
    document.getElementById("none").hidden = shown > 0;
  };
  const order = () => {
    const ordered = metric?.value ? [...cards].sort((a, b) => size(b) - size(a) || a.order - b.order) : cards;
    holder.append(...ordered.map((card) => card.node));
  };
  // A link to one sample shows it, whatever is chosen.
  const follow = () => {
    const target = cards.find((card) => `#${card.node.id}` === location.hash);
    if (!target?.node.hidden) return;
    [pair, metric, word, text].filter(Boolean).forEach((one) => { one.value = ""; });
    order();
    choose();
    target.node.scrollIntoView();
  };

  [pair, metric, word].filter(Boolean).forEach((one) => one.addEventListener("change", () => { if (one === metric) order(); choose(); }));
  text.addEventListener("input", choose);
  addEventListener("hashchange", follow);
  document.querySelector(".chosen-by").hidden = false;
})();

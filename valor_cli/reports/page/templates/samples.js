"use strict";
(() => {
  // A choice of a metric and a model shows their worst samples; without scripts all of them stand.
  const holder = document.getElementById("worst-groups");
  if (!holder) return;
  const groups = [...holder.children];
  const choices = ["metric", "model"].map((name) => [name, document.getElementById(`worst-${name}`)]).filter(([, select]) => select);
  if (!choices.length) return;
  const none = document.getElementById("worst-none");
  const show = () => {
    groups.forEach((group) => { group.hidden = choices.some(([name, select]) => Number(group.dataset[name]) !== select.selectedIndex); });
    none.hidden = groups.some((group) => !group.hidden);
  };
  choices.forEach(([, select]) => {
    select.addEventListener("change", show);
    select.parentElement.hidden = false;
  });
  groups.forEach((group) => group.addEventListener("reveal", () => {
    choices.forEach(([name, select]) => { select.selectedIndex = Number(group.dataset[name]); });
    show();
  }));
  holder.classList.add("chosen");
  show();
})();

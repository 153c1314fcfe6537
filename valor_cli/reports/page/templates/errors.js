"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // A choice of panels shows one of them; without scripts all of them stand.
  all("select[data-panels]").forEach((select) => {
    const holder = document.getElementById(select.dataset.panels);
    const panels = [...holder.children];
    const show = () => panels.forEach((panel, index) => { panel.hidden = index !== select.selectedIndex; });
    select.addEventListener("change", show);
    panels.forEach((panel, index) => panel.addEventListener("reveal", () => { select.selectedIndex = index; show(); }));
    holder.classList.add("chosen");
    select.parentElement.hidden = false;
    show();
  });

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

// In a frame the page is about:srcdoc, while "#gates" is an address of the page around it.
{
  const own = (url) => (String(url ?? "").startsWith("#") ? `about:srcdoc${url}` : undefined);
  for (const name of ["pushState", "replaceState"]) {
    const change = history[name].bind(history);
    history[name] = (state, unused, url) => { change(state, unused, own(url)); };
  }
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (!link || event.defaultPrevented) return;
    event.preventDefault();
    location.hash = link.getAttribute("href");
  });
}

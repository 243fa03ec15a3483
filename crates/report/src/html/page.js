"use strict";
// The page is whole without this: it shows values under the pointer or by arrow keys, hides series,
// and saves the run that the page holds.
(() => {
  const tip = document.getElementById("tip");
  let shown = null;

  const hide = () => {
    if (shown) shown.classList.remove("on");
    shown = null;
    tip.hidden = true;
  };

  const show = (dot) => {
    if (dot === shown) return;
    hide();
    shown = dot;
    dot.classList.add("on");
    tip.textContent = dot.dataset.t;
    tip.hidden = false;
    const at = dot.getBoundingClientRect();
    const middle = at.left + at.width / 2 - tip.offsetWidth / 2;
    const edge = document.documentElement.clientWidth - tip.offsetWidth - 4;
    const above = at.top - tip.offsetHeight - 8;
    tip.style.left = `${Math.max(4, Math.min(middle, edge)) + scrollX}px`;
    tip.style.top = `${(above < 0 ? at.bottom + 8 : above) + scrollY}px`;
  };

  for (const svg of document.querySelectorAll(".plot svg")) {
    // What a browser would show late, of dots that must be hit, is shown at once, of the nearest.
    for (const dot of svg.querySelectorAll("circle")) {
      dot.dataset.t = dot.textContent;
      dot.replaceChildren();
    }
    const dots = () => [...svg.querySelectorAll("circle")].filter((it) => !it.closest(".off"));

    svg.addEventListener("pointermove", (event) => {
      let nearest = null;
      let least = 60 ** 2;
      for (const dot of dots()) {
        const at = dot.getBoundingClientRect();
        const across = at.left + at.width / 2 - event.clientX;
        const up = at.top + at.height / 2 - event.clientY;
        // Whoever follows a line looks along it.
        const far = across ** 2 + (up / 2) ** 2;
        if (far < least) [nearest, least] = [dot, far];
      }
      if (nearest) show(nearest);
      else hide();
    });
    svg.addEventListener("pointerleave", hide);
    svg.addEventListener("blur", hide);
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") hide();
      if (!step) return;
      event.preventDefault();
      const all = dots();
      const now = all.indexOf(shown);
      const next = now < 0 ? (step > 0 ? 0 : all.length - 1) : (now + step + all.length) % all.length;
      if (all.length) show(all[next]);
    });
  }

  for (const key of document.querySelectorAll(".keys button")) {
    key.addEventListener("click", () => {
      const is_on = key.getAttribute("aria-pressed") === "true";
      key.setAttribute("aria-pressed", String(!is_on));
      const series = key.closest(".plot").querySelector(`g[data-k="${key.dataset.k}"]`);
      series.classList.toggle("off", is_on);
      hide();
    });
  }

  const save = document.getElementById("save");
  if (save) save.hidden = false;
  save?.addEventListener("click", async () => {
    const link = document.createElement("a");
    const packed = atob(document.getElementById("run").textContent);
    const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const text = await new Response(plain).text();
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = "run.json";
    link.click();
    URL.revokeObjectURL(link.href);
  });

  // A long table fills a small screen.
  if (matchMedia("(max-width: 44rem)").matches) {
    for (const table of document.querySelectorAll("details.table[open]")) {
      table.open = table.querySelectorAll(":scope > .wide tbody tr").length < 5;
    }
  }

  // Paper has nothing to unfold.
  addEventListener("beforeprint", () => {
    for (const folded of document.querySelectorAll("details")) folded.open = true;
  });
})();

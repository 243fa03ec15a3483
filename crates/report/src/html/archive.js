"use strict";
// Without this, runs are opened by their links and compared by the form.
(() => {
  const rows = [...document.querySelectorAll("tbody tr:not(.group)")];
  const filter = document.getElementById("filter");
  const compare = document.getElementById("compare");
  const shown = document.getElementById("shown");
  if (!filter) return;

  const ticked = () => rows.filter((row) => row.querySelector("input").checked).length;
  const update = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const group = row.parentNode.firstElementChild.textContent;
      const text = `${group} ${row.textContent}`.toLowerCase();
      const fits = words.every((word) => text.includes(word));
      // What is ticked stays in sight.
      row.hidden = !fits && !row.querySelector("input").checked;
      count += row.hidden ? 0 : 1;
    }
    for (const body of document.querySelectorAll("tbody")) {
      body.hidden = !body.querySelector("tr:not(.group):not([hidden])");
    }
    compare.disabled = ticked() < 2;
    shown.textContent = words.length ? `${count} of ${rows.length}` : "";
  };

  // Runs are sorted within their target.
  const by = new Intl.Collator(undefined, { numeric: true });
  document.querySelectorAll("thead th").forEach((head, place) => {
    if (!head.textContent) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const sign = head.ariaSort === "ascending" ? -1 : 1;
      document.querySelectorAll("thead th").forEach((it) => it.removeAttribute("aria-sort"));
      head.ariaSort = sign > 0 ? "ascending" : "descending";
      const text = (row) => row.children[place].textContent;
      rows.sort((one, other) => sign * by.compare(text(one), text(other)));
      rows.forEach((row) => row.parentNode.append(row));
    });
  });

  filter.hidden = false;
  filter.addEventListener("input", update);
  document.querySelector("table").addEventListener("change", update);
  update();
})();

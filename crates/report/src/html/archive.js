"use strict";
// Without this, runs are opened by their links and compared by the form.
(() => {
  const rows = [...document.querySelectorAll("tbody tr")];
  const filter = document.getElementById("filter");
  const compare = document.getElementById("compare");
  const shown = document.getElementById("shown");
  if (!filter) return;

  const ticked = () => rows.filter((row) => row.querySelector("input").checked).length;
  const update = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      const fits = words.every((word) => text.includes(word));
      // What is ticked stays in sight.
      row.hidden = !fits && !row.querySelector("input").checked;
      count += row.hidden ? 0 : 1;
    }
    compare.disabled = ticked() < 2;
    shown.textContent = words.length ? `${count} of ${rows.length}` : "";
  };

  filter.hidden = false;
  filter.addEventListener("input", update);
  document.querySelector("tbody").addEventListener("change", update);
  update();
})();
